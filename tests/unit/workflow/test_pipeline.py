"""The pipeline over fakes: what every kind of fault of a step does to the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_ports import TEST_ID, World, claim, junit, make_run, ticket

from gatekeeper.adapters.memory_durable import MemoryDurable
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.testrun import Outcome, RunRole, Termination
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.errors import CouldNotCheck, InputError, NotMergeable, UsageError
from gatekeeper.workflow.pipeline import step_table, verify

SUBMISSION = Submission("repo", "main", "b" * 40, ticket(), claim(), run_id="r1")


def judge(world: World, submission: Submission = SUBMISSION, **tools):
    return verify(MemoryDurable(step_table(world.tools(**tools))), submission, mode=Mode.LOCAL, started=1_800_000_000.0)


def codes(outcome):
    return [f.code for f in outcome.findings]


def test_an_honest_fix_is_accepted_with_one_run_and_signed():
    world = World()
    outcome = judge(world)
    assert (outcome.verdict, codes(outcome)) == (Verdict.ACCEPTED, [])
    assert world.sandbox.seen == [RunRole.MERGED]
    assert outcome.attestation is not None
    assert len(world.signer.statements) == 2
    assert world.store.kept == {}


def test_publish_stores_the_statements_with_the_head():
    world = World()
    judge(world, publish=True)
    assert list(world.store.kept) == ["b" * 40]


def fault(world: World, port: str, method: str, error: Exception) -> None:
    def fails(*args, **kwargs):
        raise error

    setattr(getattr(world, port), method, fails)


@pytest.mark.parametrize(
    ("port", "method"),
    [
        ("git", "fetch"), ("git", "describe"), ("git", "tree"), ("git", "export"), ("git", "blobs"),
        ("environments", "prepare"), ("sandbox", "run"), ("secrets", "scan"), ("code", "scan"),
        ("policy", "plan"), ("policy", "decide"), ("signer", "sign"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "error", [CouldNotCheck("SANDBOX_FAILED", "broken"), OSError(28, "No space left on device"), RecursionError()]
)
def test_any_broken_tool_makes_the_change_undecided_and_blames_the_gate(port, method, error):
    world = World()
    fault(world, port, method, error)
    outcome = judge(world)
    assert outcome.verdict is Verdict.UNDECIDED
    assert outcome.findings[0].primary
    assert outcome.findings[0].blame.value == "gate"
    assert outcome.attestation is None


def test_a_broken_tool_does_not_hide_what_is_wrong_with_the_change():
    world = World()
    fault(world, "code", "scan", OSError("broken"))
    world.sandbox.by_role[RunRole.MERGED] = Outcome.FAILED
    assert judge(world).verdict is Verdict.REJECTED


def test_a_store_that_fails_makes_an_acceptance_undecided():
    world = World()
    fault(world, "store", "put", CouldNotCheck("STORE_FAILED", "full"))
    outcome = judge(world, publish=True)
    assert outcome.verdict is Verdict.UNDECIDED
    assert "STORE_FAILED" in codes(outcome)


def test_usage_errors_are_the_callers():
    world = World()
    fault(world, "git", "fetch", UsageError("HEAD_NOT_FOUND", "no such commit"))
    with pytest.raises(UsageError):
        judge(world)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotMergeable("MERGE_CONFLICT", "conflict in a.py"), "MERGE_CONFLICT"),
        (InputError("TREE_HOSTILE", "a path named .git"), "TREE_HOSTILE"),
    ],
)
def test_what_cannot_be_merged_is_rejected(error, code):
    world = World()
    fault(world, "git", "describe", error)
    outcome = judge(world)
    assert (outcome.verdict, codes(outcome)) == (Verdict.REJECTED, [code])


def test_a_broken_ticket_is_rejected_and_nothing_is_run():
    world = World()
    outcome = judge(world, replace(SUBMISSION, ticket=b"{"))
    assert (outcome.verdict, outcome.findings[0].category) == (Verdict.REJECTED, "ticket_invalid")
    assert world.sandbox.seen == []


def test_no_command_and_no_suite_proves_nothing():
    outcome = judge(World(), replace(SUBMISSION, ticket=ticket(verify=None)))
    assert outcome.verdict is Verdict.REJECTED
    assert outcome.findings[0].category == "ticket_invalid"


@pytest.mark.parametrize("sent", [None, b"{", b"[]", claim(junit_xml=None)])
def test_a_missing_or_broken_claim_is_rejected_but_everything_else_is_still_judged(sent):
    world = World()
    outcome = judge(world, replace(SUBMISSION, claim=sent))
    assert outcome.verdict is Verdict.REJECTED
    assert {f.category for f in outcome.findings} == {"evidence_mismatch"}
    assert world.sandbox.seen == [RunRole.MERGED]


def test_a_false_claim_is_rejected_for_its_evidence_and_the_control_is_run():
    world = World()
    world.sandbox.by_role[RunRole.MERGED] = Outcome.FAILED
    outcome = judge(world)
    assert outcome.verdict is Verdict.REJECTED
    assert outcome.findings[0].category == "evidence_mismatch"
    assert world.sandbox.seen == [RunRole.MERGED, RunRole.BASE, *3 * [RunRole.AGAIN]]


def test_an_honest_red_report_is_tests_failed_and_no_lie():
    world = World()
    world.sandbox.by_role[RunRole.MERGED] = Outcome.FAILED
    sent = claim(commands=[{"cmd": "python -m pytest -q", "exit_code": 1}], junit_xml=junit("failed"))
    outcome = judge(world, replace(SUBMISSION, claim=sent))
    assert outcome.verdict is Verdict.REJECTED
    assert {f.category for f in outcome.findings} == {"tests_failed"}


@pytest.mark.parametrize(
    ("termination", "code"),
    [
        (Termination.TIMED_OUT, "RUN_TIMED_OUT"),
        (Termination.OUT_OF_MEMORY, "RUN_OUT_OF_MEMORY"),
        (Termination.OUTPUT_FLOOD, "RUN_OUTPUT_FLOOD"),
        (Termination.SIGNALLED, "RUN_KILLED"),
    ],
)
def test_a_limit_reached_by_the_change_alone_is_the_changes_fault(termination, code):
    world = World()
    world.sandbox.by_role[RunRole.MERGED] = make_run(
        RunRole.MERGED, exit_code=None, termination=termination, sessions=()
    )
    outcome = judge(world)
    assert outcome.verdict is Verdict.REJECTED
    assert code in codes(outcome)


@pytest.mark.parametrize("termination", [Termination.TIMED_OUT, Termination.OUT_OF_MEMORY])
def test_a_limit_that_the_target_reaches_too_is_undecided(termination):
    world = World()
    for role in (RunRole.MERGED, RunRole.BASE):
        world.sandbox.by_role[role] = make_run(role, exit_code=None, termination=termination, sessions=())
    outcome = judge(world)
    assert outcome.verdict is Verdict.UNDECIDED
    assert "CONTROL_FAILED" in codes(outcome)


def test_a_control_that_cannot_be_made_leaves_it_undecided():
    world = World()
    world.sandbox.by_role[RunRole.MERGED] = make_run(
        RunRole.MERGED, exit_code=None, termination=Termination.TIMED_OUT, sessions=()
    )
    world.sandbox.by_role[RunRole.BASE] = CouldNotCheck("SANDBOX_FAILED", "broken")
    assert judge(world).verdict is Verdict.UNDECIDED


def test_changed_tests_call_for_the_bases_instruments_on_heads_code():
    head = {
        **World().head,
        "tests/test_app.py": "from app import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
    }
    world = World(head=head)
    judge(world)
    assert sorted(r.value for r in world.sandbox.seen) == ["base", "base_instruments", "merged", "new_tests_on_base"]
    restored = world.git.trees["t-composed-0"]
    assert restored.read("tests/test_app.py") == world.git.trees["t-base"].read("tests/test_app.py")
    assert restored.read("src/app.py") == world.git.trees["t-head"].read("src/app.py")


def test_the_policy_can_tighten_and_gives_its_reason():
    world = World()
    world.policy.verdict = Verdict.REJECTED
    outcome = judge(world)
    assert (outcome.verdict, codes(outcome)) == (Verdict.REJECTED, ["POLICY_VIOLATION"])


def test_the_policy_cannot_loosen():
    world = World()
    world.sandbox.by_role[RunRole.MERGED] = Outcome.FAILED
    world.policy.verdict = Verdict.ACCEPTED
    assert judge(world).verdict is Verdict.REJECTED


def test_steps_bear_being_run_twice():
    world = World()
    table = step_table(world.tools())

    def twice(function):
        def run(*args):
            function(*args)
            return function(*args)

        return run

    outcome = verify(
        MemoryDurable({n: twice(f) for n, f in table.items()}), SUBMISSION, mode=Mode.LOCAL, started=1_800_000_000.0
    )
    assert outcome.verdict is Verdict.ACCEPTED


def test_the_states_are_noted_in_order():
    states = []
    world = World()
    verify(
        MemoryDurable(step_table(world.tools()), lambda state, _: states.append(state)),
        SUBMISSION, mode=Mode.LOCAL, started=1_800_000_000.0,
    )  # fmt: skip
    assert states == ["INTAKE", "CHECKOUT", "PLAN", "RUNNING", "DECIDE", "ATTEST"]


def test_ids_are_what_the_fakes_say():
    assert make_run(RunRole.MERGED).cases[0].id == TEST_ID
