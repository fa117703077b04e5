"""Events of Node.js's runners become results."""

from __future__ import annotations

import json

import pytest

from gatekeeper.domain.testrun import Outcome
from gatekeeper.errors import InputError
from gatekeeper.formats.node_events import parse_node_events


def events(*rows, runner="node", end=None, success=True):
    lines = [{"gatekeeper": 1, "runner": runner}, *rows, {"end": len(rows) if end is None else end, "success": success}]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


ROW = {"file": "test/a.test.js", "names": ["suite", "does  it"], "outcome": "passed", "line": 3, "ms": 12.5}


def test_an_id_is_path_suites_and_name():
    (case,) = parse_node_events(events(ROW), runner="node").cases
    assert (case.id, case.outcome, case.line, case.duration_s) == (
        "test/a.test.js::suite > does it",
        Outcome.PASSED,
        3,
        0.0125,
    )


def test_paths_are_relative_to_the_root_of_the_tree():
    (case,) = parse_node_events(events(ROW), runner="node", workdir="packages/web").cases
    assert case.file == "packages/web/test/a.test.js"


def test_the_same_id_may_stand_there_twice():
    assert [c.id for c in parse_node_events(events(ROW, ROW), runner="node").cases] == [
        "test/a.test.js::suite > does it"
    ] * 2


def test_a_file_without_tests_of_its_own_is_its_path():
    (case,) = parse_node_events(events({**ROW, "names": []}), runner="node").cases
    assert case.id == "test/a.test.js"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        events(ROW)[:-1],
        events(ROW, end=0),
        events(ROW, end=2),
        events(ROW) + events(ROW),
        events(ROW, runner="jest"),
        events({**ROW, "outcome": "failed"}, success=True),
        events({**ROW, "file": "../../etc/passwd"}),
        events({**ROW, "file": "/repo/a.js"}),
        events({**ROW, "file": ""}),
        events({**ROW, "outcome": "great"}),
        events({**ROW, "extra": 1}),
        events({**ROW, "names": ["a"] * 65}),
        events({**ROW, "text": "x" * 200_000}),
        events(ROW).replace(b"passed", b"pass\xff"),
    ],
    ids=[
        "empty", "no-last-newline", "counts-too-few", "counts-too-many", "twice", "other-runner", "success-with-failure",
        "outside", "absolute", "no-file", "unknown-outcome", "unknown-field", "too-many-names", "too-long", "not-utf8",
    ],
)  # fmt: skip
def test_what_no_whole_run_leaves_is_refused(data):
    with pytest.raises(InputError) as caught:
        parse_node_events(data, runner="node")
    assert caught.value.code == "REPORT_UNREADABLE"
