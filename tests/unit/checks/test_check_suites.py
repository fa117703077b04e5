"""Lint, type and build suites: whose fault a failure is, and which complaints are new."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import build_evidence, build_run

from gatekeeper.checks import check_suites
from gatekeeper.domain.testrun import RunRole, Termination
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.domain.verdict import Blame

LINT = Suite("lint", SuiteKind.LINT, command="ruff check .")
OLD = "src/app.py:3:1: F401 `os` imported but unused\n"
NEW = "src/app.py:9:5: E711 comparison to `None`\n"


def ran(log, status, role=RunRole.MERGED, **more):
    """One run of the suite."""
    run = build_run({}, role=role, exit_code=status, recorded=False, suite="lint", **more)
    return replace(run, log=log, command=LINT.command)


def told(*runs, kind=SuiteKind.LINT, base=None, merged=None):
    files = {"src/app.py": "x\n"}
    evidence = build_evidence(base or files, merged or files, runs=runs, suites=[replace(LINT, kind=kind)])
    return check_suites.check(evidence)


def codes(*runs, **more):
    return [f.code for f in told(*runs, **more)]


@pytest.mark.parametrize("kind", [SuiteKind.LINT, SuiteKind.TYPES, SuiteKind.BUILD])
def test_a_complaint_has_its_place(kind):
    (found,) = told(ran(NEW, 1), ran("", 0, RunRole.BASE), kind=kind)
    assert (found.code, found.path, found.line) == ("CHECKS_FAILED", "src/app.py", 9)
    assert "E711" in found.message


def test_a_suite_that_passes_says_nothing():
    assert codes(ran("All checks passed!\n", 0)) == []
    assert codes(ran("warning: something\n", 0), ran("", 0, RunRole.BASE)) == []


def test_test_suites_are_not_judged_here():
    assert codes(ran(NEW, 1), kind=SuiteKind.TEST) == []


def test_only_new_complaints_are_the_changes():
    moved = OLD.replace(":3:", ":7:")
    (found,) = told(ran(moved + NEW, 1), ran(OLD, 1, RunRole.BASE))
    assert (found.code, found.line) == ("CHECKS_FAILED", 9)


def test_the_same_complaints_on_the_target_are_not_the_changes_and_no_pass():
    (found,) = told(ran(OLD.replace(":3:", ":30:"), 1), ran(OLD, 1, RunRole.BASE))
    assert (found.code, found.blame) == ("CONTROL_FAILED", Blame.ENVIRONMENT)


def test_the_same_complaint_once_more_is_new():
    assert codes(ran(OLD + OLD.replace(":3:", ":5:"), 1), ran(OLD, 1, RunRole.BASE)) == ["CHECKS_FAILED"]


def test_output_that_no_form_fits():
    assert codes(ran("bad: 3 problems\n", 1), ran("", 0, RunRole.BASE)) == ["CHECKS_FAILED"]
    assert codes(ran("bad: 3 problems\n", 1), ran("bad: 3 problems\n", 1, RunRole.BASE)) == ["CONTROL_FAILED"]
    assert codes(ran("bad: a\n", 1), ran("bad: b\n", 1, RunRole.BASE)) == ["CHECKS_FAILED"]
    assert codes(ran("bad: 3 problems\n", 2), ran("bad: 3 problems\n", 1, RunRole.BASE)) == ["CHECKS_FAILED"]


def test_a_full_log_is_not_compared():
    log = "x" * 65_000
    assert codes(ran(log, 1), ran(log, 1, RunRole.BASE)) == ["CHECKS_FAILED"]


@pytest.mark.parametrize(
    ("log", "status"),
    [
        ("/bin/sh: 1: ruff: not found\n", 127),
        ("sh: ruff: command not found\n", 127),
        ("", 127),
        ("/repo/.venv/bin/python: No module named ruff\n", 1),
    ],
)
def test_a_tool_that_is_not_there_is_nobodys_fault(log, status):
    (found,) = told(ran(log, status), ran(log, status, RunRole.BASE))
    assert (found.code, found.blame) == ("CHECK_TOOL_MISSING", Blame.ENVIRONMENT)


def test_a_tool_that_only_the_change_loses_is_the_changes_fault():
    assert codes(ran("sh: ruff: not found\n", 127), ran("", 0, RunRole.BASE)) == ["CHECKS_FAILED"]


def test_code_under_check_that_says_not_found_is_no_missing_tool():
    log = "src/app.py:1: error: No module named app2\n"
    assert codes(ran(log, 1), ran("", 0, RunRole.BASE)) == ["CHECKS_FAILED"]


def test_a_control_that_did_not_end():
    base = ran("", None, RunRole.BASE, termination=Termination.TIMED_OUT)
    assert codes(ran(NEW, 1), base) == ["CONTROL_FAILED"]


TOML = {"src/app.py": "x\n", "ruff.toml": "select = ['E']\n"}
LAX = {"src/app.py": "y\n", "ruff.toml": "select = []\n"}


def test_settings_that_only_let_the_change_pass():
    (found,) = told(ran("", 0), ran(NEW, 1, RunRole.BASE_INSTRUMENTS), base=TOML, merged=LAX)
    assert (found.code, found.path) == ("CHECKS_BENT", "ruff.toml")
    assert "E711" in found.message


def test_settings_that_settle_what_the_target_complains_of():
    runs = (ran("", 0), ran(OLD, 1, RunRole.BASE_INSTRUMENTS), ran(OLD, 1, RunRole.BASE))
    assert codes(*runs, base=TOML, merged=LAX) == []


def test_settings_under_which_nothing_changes():
    assert codes(ran("", 0), ran("", 0, RunRole.BASE_INSTRUMENTS), base=TOML, merged=LAX) == []


def test_many_complaints_are_bounded():
    log = "".join(f"src/app.py:{n}:1: E{n} problem {'x' * (n % 7)}\n" for n in range(100))
    found = told(ran(log, 1), ran("", 0, RunRole.BASE))
    assert len(found) == 21
    assert "80 more" in found[-1].message
