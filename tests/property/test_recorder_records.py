"""Hostile bytes at the gate's end of the recorder's sockets: never an exception, never a green session by accident."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.adapters.bubblewrap_sandbox.command import MAX_REPORTS
from gatekeeper.adapters.bubblewrap_sandbox.listener import split_files
from gatekeeper.adapters.bubblewrap_sandbox.records import Connection

NONCE = "n" * 32
GOOD: list[dict[str, Any]] = [
    {"k": "start", "nonce": NONCE, "argv": ["pytest"]},
    {"k": "config", "rootdir": "/repo", "inifile": None},
    {"k": "collected", "ids": ["a.py::test_a", "a.py::test_b"]},
    {"k": "case", "id": "a.py::test_a", "outcome": "passed"},
    {"k": "case", "id": "a.py::test_b", "outcome": "failed"},
    {"k": "end", "nonce": NONCE, "exit": 1, "count": 5},
]
PACKETS = [json.dumps({**record, "n": number}).encode() for number, record in enumerate(GOOD)]

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
fields = ["k", "n", "nonce", "argv", "rootdir", "inifile", "ids", "id", "outcome", "exit", "count", "file", "line"]


def fed(packets: list[bytes]) -> Connection:
    connection = Connection(NONCE, "/repo")
    for packet in packets:
        connection.feed(packet)
    return connection


def test_the_true_records_are_complete() -> None:
    session = fed(PACKETS).session()
    assert (session.complete, session.exit_code, len(session.cases)) == (True, 1, 2)


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_any_bytes(packets: list[bytes]) -> None:
    assert not fed(packets).session().complete


@given(st.integers(0, len(PACKETS) - 1), st.sampled_from(fields), values)
def test_any_value_in_any_field(at: int, field: str, value: Any) -> None:
    record = {**json.loads(PACKETS[at]), field: value}
    session = fed([*PACKETS[:at], json.dumps(record).encode(), *PACKETS[at + 1 :]]).session()
    for case in session.cases:
        case.id.encode("utf-8")


@given(st.permutations(range(len(PACKETS))), st.integers(0, len(PACKETS)))
def test_only_all_records_in_order_are_complete(order: list[int], count: int) -> None:
    chosen = order[:count]
    assert fed([PACKETS[i] for i in chosen]).session().complete == (chosen == list(range(len(PACKETS))))


@given(st.lists(st.binary(max_size=50), max_size=8))
def test_report_files_round_trip(files: list[bytes]) -> None:
    assert split_files(b"".join(b"%d\n%b" % (len(f), f) for f in files)) == files


@settings(max_examples=300)
@given(st.binary(max_size=400) | st.text("0123\n", max_size=400).map(str.encode))
def test_any_stream_of_report_files(stream: bytes) -> None:
    found = split_files(stream)
    assert len(found) <= MAX_REPORTS + 1
    assert sum(map(len, found)) <= len(stream)
    assert bool(found) == bool(stream)


def test_a_flood_of_empty_files_is_cut() -> None:
    assert len(split_files(b"0\n" * (8 << 20))) == MAX_REPORTS + 1
