"""Files of the gate that could have been damaged: the register of flakes and kept runs parse to a value or refuse."""

from __future__ import annotations

import contextlib
import json

from evidence_builder import build_run
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.adapters.bubblewrap_sandbox.records import Connection
from gatekeeper.domain.flake import FlakeRecord
from gatekeeper.domain.testrun import RunRole, SuiteRun
from gatekeeper.errors import InputError
from gatekeeper.formats.flake_record import dump, parse
from gatekeeper.formats.kept_run import decode, encode

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
RECORD = st.builds(
    FlakeRecord, TEXT, TEXT, TEXT, st.just(1), st.integers(2, 99), st.lists(TEXT, max_size=8).map(tuple),
    *[st.floats(0, 1e10)] * 3, TEXT, TEXT,
)  # fmt: skip
KEY = "k" * 64
RUN = build_run({"tests/test_a.py::a": "passed"}, role=RunRole.BASE)


@given(RECORD)
def test_a_record_comes_back_as_it_was(record):
    assert parse(dump(record).encode()) == record


@given(st.binary() | JSON.map(lambda v: json.dumps(v).encode()))
def test_any_bytes_are_a_record_or_refused(data):
    with contextlib.suppress(InputError):
        assert isinstance(parse(data), FlakeRecord)


@given(RECORD, st.sampled_from(list(FlakeRecord.__dataclass_fields__)), JSON)
def test_any_value_in_a_record_is_one_or_refused(record, name, value):
    row = {**json.loads(dump(record)), name: value}
    try:
        found = parse(json.dumps(row).encode())
    except InputError:
        return
    assert 0 < found.failed < found.runs


@given(st.binary() | JSON.map(lambda v: json.dumps(v).encode()))
def test_any_bytes_are_a_run_or_refused(data):
    try:
        decode(KEY, data)
    except InputError:
        return
    raise AssertionError("bytes that nobody wrote are a run")


@given(st.sampled_from(sorted(SuiteRun.__dataclass_fields__)), JSON)
def test_any_value_in_a_run_is_one_or_refused(name, value):
    data = encode(KEY, RUN, 1.0)
    assert data is not None
    row = json.loads(data)
    row["run"][name] = value
    try:
        found, _ = decode(KEY, json.dumps(row).encode())
    except InputError:
        return
    assert isinstance(found, SuiteRun)
    assert encode(KEY, found, 1.0) is not None


@given(st.sampled_from(["listed", "reached"]), st.dictionaries(st.sampled_from(["ids", "id", "lines"]), JSON))
def test_records_of_a_part_are_taken_or_refused(kind, fields):
    connection = Connection("nonce", "/repo")
    connection.feed(b'{"k": "start", "n": 0, "nonce": "nonce", "argv": []}')
    connection.feed(json.dumps({**fields, "k": kind, "n": 1}).encode())
    session = connection.session()
    assert not session.complete
    assert all(isinstance(i, str) for i in session.listed_ids)
    assert all(isinstance(n, int) and n >= 0 for _, places in session.reached for n in places)
