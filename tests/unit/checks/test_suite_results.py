"""Findings about the gate's own runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import SUITE, build_evidence, build_run

from gatekeeper.checks.suite_results import check
from gatekeeper.domain.testrun import RunRole, Termination
from gatekeeper.domain.ticket import SuiteKind
from gatekeeper.domain.verdict import Blame

T = "tests/test_a.py::test_one"
GREEN = {T: "passed"}


def found(*runs, suite=SUITE):
    return check(build_evidence(runs=runs, suites=[suite]))


def codes(*runs, suite=SUITE) -> set[str]:
    return {f.code for f in found(*runs, suite=suite)}


def control(outcomes=GREEN, **more):
    return build_run(outcomes, role=RunRole.BASE, **more)


def test_green_passes_and_missing_does_not() -> None:
    assert codes(build_run(GREEN)) == set()
    assert codes() == {"RUN_MISSING"}
    assert {f.code for f in check(build_evidence(suites=[]))} == {"RUN_MISSING"}


def test_failures_are_named_and_capped() -> None:
    (one,) = found(build_run({T: "failed"}), control({T: "failed"}))
    assert one.code == "TESTS_FAILED"
    assert T in one.message
    assert "target branch too" in one.message
    assert len(found(build_run({f"{T}[{i}]": "failed" for i in range(50)}))) == 21


def test_status_without_a_failing_test() -> None:
    assert codes(build_run(GREEN, exit_code=1)) == {"SUITE_FAILED"}
    lint = replace(SUITE, kind=SuiteKind.LINT)
    assert codes(build_run({}, exit_code=1, recorded=False), suite=lint) == set()  # told by check_suites
    assert codes(build_run({}, recorded=False), suite=lint) == set()


@pytest.mark.parametrize("how", [t for t in Termination if t is not Termination.EXITED])
def test_limits_blame_by_control(how) -> None:
    run = build_run({}, termination=how)
    assert [f.blame for f in found(run, control())] == [Blame.CHANGE]
    assert [f.blame for f in found(run)] == [Blame.GATE]
    assert codes(run, control({}, termination=how)) == {"CONTROL_FAILED"}


def test_no_tests_and_lost_records() -> None:
    assert codes(build_run({}, exit_code=0)) == {"NO_TESTS_RAN"}
    assert [f.blame for f in found(build_run({}, exit_code=5), control())] == [Blame.CHANGE]
    assert [f.blame for f in found(build_run({}, exit_code=5), control({}, exit_code=5))] == [Blame.ENVIRONMENT]
    assert codes(build_run({}, recorded=False), control()) == {"RECORDS_MISSING"}
    assert codes(build_run({}, recorded=False, expects_records=True)) == {"RECORDS_MISSING"}
    assert codes(build_run({}, recorded=False), control({}, recorded=False)) == set()


def test_records_that_disagree() -> None:
    assert "RECORDS_INCONSISTENT" in codes(build_run({T: "failed"}, exit_code=0))
    assert "RECORDS_INCONSISTENT" not in codes(
        build_run({T: "failed"}, exit_code=0), control({T: "failed"}, exit_code=0)
    )
    run = build_run(GREEN)
    cut = replace(run, sessions=(replace(run.sessions[0], complete=False, exit_code=None),))
    assert "RECORDS_INCONSISTENT" in codes(cut)
