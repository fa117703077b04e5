"""A flake is told from a failure: cheats that pass for flakes, changes that make tests flaky, and honest flaky bases."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from fake_ports import BASE_FILES, TEST_ID, World

from gatekeeper.domain.selection import SELECTION_FILE
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole, Termination
from gatekeeper.domain.verdict import Effect, Verdict

OTHER = "tests/test_app.py::test_other"


def codes(outcome):
    return {f.code for f in outcome.findings}


def test_an_honest_change_on_a_flaky_base_is_accepted_and_the_flake_is_told(gate):
    outcome = gate.judge(merged="F", again="PFP", again_on_base="PFP")
    assert outcome.verdict is Verdict.ACCEPTED
    (told,) = outcome.findings
    assert (told.code, told.effect) == ("FLAKY_TEST", Effect.ADVISES)
    assert "2 of 4 runs on the merge result" in told.message
    assert "1 of 3 on the target branch" in told.message


def test_what_was_seen_on_the_base_enters_the_register_and_nothing_else_does(gate):
    gate.judge(merged="F", again="PFP", again_on_base="PFP")
    (record,) = gate.register.records()
    assert (record.key, record.failed, record.runs) == (("repo", "verify", TEST_ID), 1, 3)
    assert record.bases == ("a" * 40,)


def test_a_cheat_that_fails_sometimes_on_purpose_is_no_flake(gate):
    outcome = gate.judge(merged="F", again="PFP", again_on_base="P")
    assert outcome.verdict is Verdict.REJECTED
    assert codes(outcome) == {"TEST_MADE_UNSTABLE"}
    assert gate.register.records() == []


def test_each_verification_of_a_change_that_fails_sometimes_leaves_the_register_empty(gate):
    for _ in range(3):
        gate.judge(merged="F", again="PF", again_on_base="P")
    assert gate.register.records() == []
    assert gate.judge(merged="F", again="PF", again_on_base="P").verdict is Verdict.REJECTED


def test_a_test_that_never_passes_on_the_change_is_a_failure_however_flaky_it_was_before(gate):
    gate.record()
    outcome = gate.judge(merged="F", again="F", again_on_base="PFP", claimed="failed")
    assert outcome.verdict is Verdict.REJECTED
    assert codes(outcome) == {"TESTS_FAILED"}
    assert "It failed in 7 of 7 runs" in outcome.findings[0].message


def test_a_failure_that_never_passes_again_is_run_on_the_base_by_no_more_than_the_control(gate):
    gate.judge(merged="F", again="F", claimed="failed")
    assert RunRole.AGAIN_ON_BASE not in gate.sandbox.seen


def test_a_rare_failure_calls_for_many_runs_of_the_base(gate):
    gate.judge(merged="F", again="P", again_on_base="P")
    assert gate.sandbox.seen.count(RunRole.AGAIN_ON_BASE) == 12


def test_once_failed_and_out_of_reach_of_the_change_is_a_flake(gate):
    gate.sandbox.reached = {TEST_ID: []}
    assert gate.judge(merged="F", again="P", again_on_base="P").verdict is Verdict.ACCEPTED


def test_once_failed_and_running_changed_lines_is_the_changes(gate):
    gate.sandbox.reached = {TEST_ID: [0], OTHER: [0]}
    outcome = gate.judge(merged="F", again="P", again_on_base="P")
    assert codes(outcome) == {"TEST_MADE_UNSTABLE"}


@pytest.mark.parametrize(
    ("reached", "verdict"),
    [({TEST_ID: [0]}, Verdict.REJECTED), ({TEST_ID: [0], OTHER: [0]}, Verdict.ACCEPTED)],
    ids=["nothing else runs the changed line", "another test does"],
)
def test_the_only_test_of_changed_lines_is_not_excused(gate, reached, verdict):
    gate.record()
    gate.sandbox.reached = reached
    assert gate.judge(merged="F", again="P", again_on_base="PF").verdict is verdict


def test_a_test_that_the_change_touches_is_not_excused(gate):
    gate.record()
    tests = BASE_FILES["tests/test_app.py"].replace("def test_add", "import random\n\n\ndef test_add")
    gate.world = World(head={**gate.world.head, "tests/test_app.py": tests})
    outcome = gate.judge(merged="F", again="P", again_on_base="PF")
    assert "TEST_MADE_UNSTABLE" in codes(outcome)
    assert outcome.verdict is Verdict.REJECTED


def test_a_new_test_beside_it_does_not_touch_it(gate):
    tests = BASE_FILES["tests/test_app.py"] + "\n\ndef test_more():\n    assert add(1, 1) == 2\n"
    gate.world = World(head={**gate.world.head, "tests/test_app.py": tests})
    assert gate.judge(merged="F", again="P", again_on_base="PF").verdict is Verdict.ACCEPTED


def test_a_suite_that_never_ends_well_as_a_whole_is_not_accepted(gate):
    # What stands behind pytest in the command was never seen to run.
    outcome = gate.judge(merged="F", again="PPPF", again_on_base="PF")
    assert outcome.verdict is Verdict.REJECTED


def test_another_failing_test_is_not_excused_with_it(gate):
    gate.sandbox.others = (CaseResult(OTHER, Outcome.FAILED),)
    outcome = gate.judge(merged="F", again="P", again_on_base="PF")
    assert outcome.verdict is Verdict.REJECTED
    assert "TESTS_FAILED" in codes(outcome)


def test_wholesale_failure_is_not_run_again(gate):
    gate.sandbox.others = tuple(CaseResult(f"{OTHER}[{n}]", Outcome.FAILED) for n in range(30))
    outcome = gate.judge(merged="F", claimed="failed")
    assert RunRole.AGAIN not in gate.sandbox.seen
    assert any("It was not run again: 31 tests failed" in f.message for f in outcome.findings)
    assert outcome.verdict is Verdict.REJECTED


def test_a_claim_that_says_passed_for_a_flake_is_no_lie(gate):
    outcome = gate.judge(merged="F", again="PF", again_on_base="P", claimed="passed")
    assert {f.category for f in outcome.findings} == {"tests_failed"}


def test_a_claim_that_says_passed_for_a_failure_is_one(gate):
    outcome = gate.judge(merged="F", again="F", claimed="passed")
    assert "CLAIM_PASSED_SEEN_FAILED" in codes(outcome)


def test_runs_again_are_of_just_these_tests_each_in_a_sandbox_of_its_own(gate):
    gate.judge(merged="F", again="PFP", again_on_base="PFP")
    again = [r for r in gate.sandbox.requests if r.role in (RunRole.AGAIN, RunRole.AGAIN_ON_BASE)]
    assert len({r.id for r in again}) == len(again)
    chosen = [json.loads(r.files[SELECTION_FILE]) for r in again if SELECTION_FILE in r.files]
    assert {tuple(c["ids"]) for c in chosen if c.get("ids")} == {(TEST_ID,)}
    assert {r.tree_oid for r in again if r.role is RunRole.AGAIN_ON_BASE} == {"t-base"}
    assert {r.tree_oid for r in again if r.role is RunRole.AGAIN} == {"t-head"}


def test_a_flake_of_the_targets_own_tests_on_the_changes_code_bends_nothing(gate):
    tests = BASE_FILES["tests/test_app.py"] + "\n\ndef test_more():\n    assert add(1, 1) == 2\n"
    gate.world = World(head={**gate.world.head, "tests/test_app.py": tests})
    gate.sandbox.reached = {}
    honest = gate.judge(merged="P", base_instruments="F", again="PPP", again_on_base="PF")
    assert honest.verdict is Verdict.ACCEPTED
    bent = gate.judge(merged="P", base_instruments="F", again="F", again_on_base="P")
    assert bent.verdict is not Verdict.ACCEPTED


def test_a_run_that_was_ended_proves_no_pass(gate):
    gate.judge(merged="F")
    real = type(gate.sandbox).run

    def ended(self, request):
        run = real(self, request)
        if request.role is not RunRole.AGAIN:
            return run
        return replace(run, exit_code=None, termination=Termination.TIMED_OUT)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(gate.sandbox), "run", ended)
        outcome = gate.judge(merged="F", again="P", claimed="failed")
    assert codes(outcome) == {"TESTS_FAILED"}
