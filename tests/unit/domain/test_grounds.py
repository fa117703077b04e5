"""Findings get the line they are about and what each run showed, where the evidence says so and never a guess."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import build_evidence, build_run
from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.domain.finding import Seen, finding
from gatekeeper.domain.grounds import grounded
from gatekeeper.domain.testrun import RunRole

ONE, TWO = "tests/test_a.py::test_one", "tests/test_a.py::TestX::test_two"
OLD, NEW = "a = 1\nb = 2\nc = 3\n", "a = 1\nb = 9\nc = 3\nevil = 4\n"


def one(found, runs=(), base=None, merged=None):
    evidence = build_evidence(base or {"src/x.py": OLD}, merged or {"src/x.py": NEW}, runs=runs)
    (row,) = grounded(evidence, [found])
    assert replace(row, line=found.line, seen=found.seen) == found
    return row


@pytest.mark.parametrize(
    ("quoted", "line"), [("", 2), ("evil = 4", 4), ("  evil = 4\nmore", 4), ("a = 1", 2), ("nowhere", 2)]
)
def test_the_line_is_the_quoted_one_else_the_first_that_changed(quoted, line) -> None:
    assert one(finding("SCOPE_OUTSIDE", "m", path="src/x.py", evidence=quoted)).line == line


@pytest.mark.parametrize(
    ("base", "merged", "line"),
    [({}, {"src/x.py": NEW}, 1), ({"src/x.py": OLD}, {}, None), ({"src/x.py": OLD}, {"src/x.py": "a = 1\n"}, 2),
     ({"src/x.py": b"\x00\xff"}, {"src/x.py": b"\x00\xfe"}, None)],
)  # fmt: skip
def test_new_removed_shorter_and_binary_files(base, merged, line) -> None:
    assert (
        one(finding("SCOPE_OUTSIDE", "m", path="src/x.py"), base={"k": "v", **base}, merged={"k": "v", **merged}).line
        == line
    )


def test_a_line_that_a_check_gave_stays_and_other_files_get_none() -> None:
    assert one(finding("SCOPE_OUTSIDE", "m", path="src/x.py", line=77)).line == 77
    assert one(finding("SCOPE_OUTSIDE", "m", path="src/other.py")).line is None
    assert one(finding("CLAIM_MISSING", "m")).line is None


def runs():
    return [
        build_run({ONE: "passed", f"{TWO}[a]": "failed", f"{TWO}[b]": "passed"}, role=RunRole.BASE),
        build_run({ONE: "failed", f"{TWO}[a]": "passed"}),
        build_run({"other::test": "passed"}, suite="slow"),
    ]


def seen(message, code="TEST_REMOVED", evidence=""):
    return [(s.role, s.suite, s.what) for s in one(finding(code, message, evidence=evidence), runs()).seen]


def test_each_run_of_the_suite_says_what_it_saw_of_the_tests_that_are_named() -> None:
    assert seen(f"{ONE} is gone.") == [("merged", "verify", "failed"), ("base", "verify", "passed")]
    both = [("merged", "verify", "1 not collected, 1 passed"), ("base", "verify", "1 failed, 1 passed")]
    assert seen(f"{TWO} lost rows.") == both
    assert seen(f"row {TWO}[b] is gone") == [("merged", "verify", "not collected"), ("base", "verify", "passed")]


def test_evidence_speaks_only_where_the_message_names_no_test() -> None:
    assert seen("a hook", evidence=f"{ONE}: passed") == [("merged", "verify", "failed"), ("base", "verify", "passed")]
    assert seen(f"{ONE} is gone", evidence=f"{TWO}[a]") == seen(f"{ONE} is gone")


@pytest.mark.parametrize("message", ["nothing named", "tests/test_a.py::test_unknown", "tests/test_a.py", ""])
def test_what_names_no_known_test_rests_on_no_run(message) -> None:
    assert seen(message) == []


def test_findings_about_other_things_and_those_that_know_their_runs_are_left_alone() -> None:
    assert seen(f"{ONE} has a key", code="SECRET_IN_FILE") == []
    own = (Seen("witness", "verify", "1 failed"),)
    assert one(finding("TEST_REMOVED", ONE, seen=own), runs()).seen == own


@settings(max_examples=60, deadline=None)
@given(message=st.text(max_size=200), evidence=st.text(max_size=200), path=st.sampled_from(["src/x.py", "", "a\ud800"]))
def test_no_text_breaks_it(message, evidence, path) -> None:
    one(finding("TEST_REMOVED", message + ONE, path=path or None, evidence=evidence), runs())
