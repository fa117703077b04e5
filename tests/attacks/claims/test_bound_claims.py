"""A claim is about this head and these commands: stale, foreign and narrower ones, several suites, several runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import HEAD, build_cases, build_evidence, build_run

from gatekeeper.checks.rerun_match import check
from gatekeeper.domain.submission import Claim, ClaimedCommand
from gatekeeper.domain.testrun import SuiteReport
from gatekeeper.domain.ticket import Suite, SuiteKind

UNIT = Suite("unit", runner="command", command="python -m pytest -q tests/unit")
SLOW = Suite("slow", runner="command", command="sh scripts/slow.sh")
LINT = Suite("lint", SuiteKind.LINT, runner="command", command="ruff check .")
A, B, C = "tests/unit/test_a.py::test_one", "tests/unit/test_a.py::test_two", "tests/slow/test_s.py::test_all"


def made(*commands: tuple[str, int | None], reports: list[dict[str, str]], stamp: str | None = None) -> Claim:
    return Claim(
        head_sha=HEAD,
        commands=tuple(ClaimedCommand(cmd, code) for cmd, code in commands),
        reports=tuple(SuiteReport("pytest", build_cases(r), timestamp=stamp) for r in reports),
    )


def found(claim: Claim, unit: dict[str, str], slow: dict[str, str] | None = None, **kwargs: object):
    runs = [build_run(unit, suite="unit")]
    suites = [UNIT, LINT]
    if slow is not None:
        runs.append(build_run(slow, suite="slow"))
        suites.insert(1, SLOW)
    return check(build_evidence(claim=claim, runs=runs, suites=suites))


def codes(*args: object, **kwargs: object) -> set[str]:
    return {f.code for f in found(*args, **kwargs)}


GREEN, BOTH = {A: "passed", B: "passed"}, ((UNIT.command, 0), (SLOW.command, 0))


def test_a_report_from_before_the_new_test_is_stale_by_what_it_lacks() -> None:
    old = made((UNIT.command, 0), reports=[{A: "passed"}], stamp="2001-01-01T00:00:00")
    assert codes(old, GREEN) == {"CLAIM_INCOMPLETE"}


def test_a_run_before_the_commit_with_the_same_tests_is_honest_work() -> None:
    # People test, then commit; and clocks differ. A time stamp proves nothing and refutes nothing.
    early = made((UNIT.command, 0), reports=[GREEN], stamp="2001-01-01T00:00:00")
    assert codes(early, GREEN) == set()


def test_a_report_that_still_has_removed_tests_is_stale() -> None:
    assert codes(made((UNIT.command, 0), reports=[{**GREEN, "tests/unit/test_a.py::test_old": "passed"}]), GREEN) == {
        "CLAIM_PASSED_NOT_SEEN"
    }


@pytest.mark.parametrize("head", ["d" * 40, HEAD[:6] + "e" * 34, "0" * 40])
def test_another_head_is_found(head) -> None:
    assert codes(replace(made((UNIT.command, 0), reports=[GREEN]), head_sha=head), GREEN) == {"CLAIM_OTHER_COMMIT"}


@pytest.mark.parametrize("head", [HEAD, HEAD.upper(), HEAD[:12]])
def test_the_same_head_in_another_spelling_passes(head) -> None:
    assert codes(replace(made((UNIT.command, 0), reports=[GREEN]), head_sha=head), GREEN) == set()


@pytest.mark.parametrize(
    "cmd",
    [
        UNIT.command + " -k one", UNIT.command + "/test_a.py", UNIT.command + " -x", UNIT.command + " --lf",
        UNIT.command + " -p no:randomly", UNIT.command + " || true", UNIT.command + "; true", "uv run " + UNIT.command + " -k one",
        "nice -n 5 " + UNIT.command, "echo " + UNIT.command, UNIT.command + " # all", "PYTEST_ADDOPTS='-m fast' " + UNIT.command,
    ],
)  # fmt: skip
def test_a_narrower_or_other_command_is_found(cmd) -> None:
    rows = [f for f in found(made((cmd, 0), reports=[GREEN]), GREEN) if f.code == "CLAIM_OTHER_COMMAND"]
    assert len(rows) == 1
    assert "command 1 " in rows[0].message


@pytest.mark.parametrize(
    "cmd",
    [
        "uv run " + UNIT.command, "poetry run pytest -q tests/unit", "time python3 -m pytest tests/unit -q",
        UNIT.command + " -p no:cacheprovider", UNIT.command + " -n auto --cov=src --cov-report=term",
        "PYTHONHASHSEED=0 " + UNIT.command, "pytest tests/unit --junitxml=r.xml -rA",
    ],
)  # fmt: skip
def test_the_same_command_written_otherwise_passes(cmd) -> None:
    assert codes(made((cmd, 0), reports=[GREEN]), GREEN) == set()


def test_one_report_for_two_suites_leaves_the_other_out() -> None:
    twice = made(*BOTH, reports=[GREEN, GREEN])
    assert codes(twice, GREEN, {C: "passed"}) == {"CLAIM_INCOMPLETE"}
    assert codes(made(*BOTH, reports=[GREEN, {C: "passed"}]), GREEN, {C: "passed"}) == set()


def test_the_same_tests_in_two_suites_are_counted_twice() -> None:
    said = made(*BOTH, reports=[GREEN, GREEN])
    assert codes(said, GREEN, {**GREEN, A: "failed"}) == {"CLAIM_PASSED_SEEN_FAILED", "CLAIM_EXIT_CODE"}
    assert codes(said, GREEN, GREEN) == set()


def test_a_suite_that_was_not_run_is_named() -> None:
    rows = found(made((UNIT.command, 0), reports=[GREEN, {C: "passed"}]), GREEN, {C: "passed"})
    assert [(f.code, "Suite slow" in f.message) for f in rows] == [("CLAIM_OTHER_COMMAND", True)]


def test_an_honest_red_lint_does_not_cover_for_a_green_lie() -> None:
    claim = made((UNIT.command, 0), (LINT.command, 1), reports=[{A: "passed", B: "failed"}])
    rows = [f for f in found(claim, {A: "passed", B: "failed"}) if f.code == "CLAIM_EXIT_CODE"]
    assert len(rows) == 1
    assert "command 1" in rows[0].message


def test_of_two_runs_one_red_the_truth_is_enough() -> None:
    retried = made((UNIT.command, 1), (UNIT.command, 0), reports=[{A: "failed", B: "passed"}, GREEN])
    assert codes(retried, GREEN) == set()
    assert codes(retried, {A: "failed", B: "passed"}) == set(), (
        "it failed, and the claim says so; the run itself rejects"
    )


def test_the_red_run_left_out_is_found() -> None:
    only_green = made((UNIT.command, 0), reports=[GREEN])
    assert codes(only_green, {A: "failed", B: "passed"}) == {"CLAIM_PASSED_SEEN_FAILED", "CLAIM_EXIT_CODE"}


def test_findings_say_where_and_in_which_run() -> None:
    rows = {f.code: f for f in found(made((UNIT.command, 0), reports=[GREEN]), {A: "failed", B: "passed"})}
    assert [(s.role, s.suite, s.what) for s in rows["CLAIM_PASSED_SEEN_FAILED"].seen] == [
        ("merged", "unit", "1 failed")
    ]
    assert [(s.role, s.what) for s in rows["CLAIM_EXIT_CODE"].seen] == [("merged", "exit status 1")]


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        ([], "names no command"),
        ([(UNIT.command, None)], "command 1 ended"),
        ([(UNIT.command, 0), ("", 0)], "command 2 empty"),
    ],
)
def test_which_command_says_too_little_is_said(commands, words) -> None:
    rows = [f for f in found(made(*commands, reports=[GREEN]), GREEN) if f.code == "CLAIM_COMMAND_MISSING"]
    assert [words in f.message for f in rows] == [True]
