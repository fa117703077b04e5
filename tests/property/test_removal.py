"""Taking anything away from a case never moves its verdict up (DESIGN rule 5): whole cases over the real checks.

The world is faked at the ports (a fixed run, clean scans), everything between them is real: parsers, checks, verdicts.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from fake_ports import World, claim, junit, make_run, ticket
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatekeeper.adapters.memory_durable import MemoryDurable
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.testrun import Outcome, RunRole, Termination
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.workflow.pipeline import step_table, verify

TICKET: dict[str, Any] = json.loads(ticket())
CLAIM: dict[str, Any] = json.loads(
    claim(log="1 passed in 0.1s", agent={"tool": "x"}, usage=[{"model": "m", "input_tokens": 1}])
)

# Each is a whole case: (ticket, claim, outcome of the merged run). Cheats of several kinds and one honest case.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], Outcome]] = {
    "honest": (TICKET, CLAIM, Outcome.PASSED),
    "red": (TICKET, CLAIM, Outcome.FAILED),
    "skipped": (TICKET, CLAIM, Outcome.SKIPPED),
    "other commit": (TICKET, {**CLAIM, "head_sha": "c" * 40}, Outcome.PASSED),
    "other command": (TICKET, {**CLAIM, "commands": [{"cmd": "python -m pytest -q -k add", "exit_code": 0}]}, Outcome.PASSED),
    "contradiction": (TICKET, {**CLAIM, "junit_xml": junit().replace('failures="0"', 'failures="1"')}, Outcome.PASSED),
    "exit against report": (TICKET, {**CLAIM, "junit_xml": junit("failed")}, Outcome.PASSED),
    "log against report": (TICKET, {**CLAIM, "log": "1 failed, 3 passed in 0.1s"}, Outcome.PASSED),
    "empty report": (TICKET, {**CLAIM, "junit_xml": '<testsuites><testsuite name="p" tests="0"/></testsuites>'}, Outcome.PASSED),
    "no report": (TICKET, {k: v for k, v in CLAIM.items() if k != "junit_xml"}, Outcome.PASSED),
    "forbidden": ({**TICKET, "forbidden": ["src/**"]}, CLAIM, Outcome.PASSED),
    "outside": ({**TICKET, "allowed": ["docs/**"]}, CLAIM, Outcome.PASSED),
    "high": ({**TICKET, "risk": "high"}, CLAIM, Outcome.PASSED),
}  # fmt: skip


def judge(
    document: dict[str, Any] | None, sent: dict[str, Any] | None, outcome: Outcome | None, world: World | None = None
) -> Verdict:
    world = world or World()
    if outcome is not None:
        world.sandbox.by_role[RunRole.MERGED] = outcome
    submission = Submission(
        "repo", "main", "b" * 40, json.dumps(document).encode() if document is not None else b"",
        json.dumps(sent).encode() if sent is not None else None, run_id="r",
    )  # fmt: skip
    return verify(
        MemoryDurable(step_table(world.tools())), submission, mode=Mode.LOCAL, started=1_800_000_000.0
    ).verdict


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every key and element inside a document."""
    found: list[tuple[Any, ...]] = []
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in rows:
        found += [(*path, key), *places(inner, (*path, key))]
    return found


def without(value: Any, gone: list[tuple[Any, ...]]) -> Any:
    """A copy without those places; deeper and later ones first, so that indices stay right."""
    left = copy.deepcopy(value)
    for path in sorted(gone, key=lambda p: (len(p), [str(k).zfill(6) for k in p]), reverse=True):
        holder = left
        try:
            for key in path[:-1]:
                holder = holder[key]
            del holder[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue
    return left


@pytest.mark.parametrize("name", CASES)
def test_no_single_removal_from_the_claim_lifts_the_verdict(name):
    document, sent, outcome = CASES[name]
    whole = judge(document, sent, outcome)
    assert (whole is Verdict.ACCEPTED) == (name in ("honest", "log against report", "high"))
    for place in places(sent):
        assert judge(document, without(sent, [place]), outcome).rank <= whole.rank, place
    assert judge(document, None, outcome).rank <= whole.rank


# Elements of the ticket's own lists are the operator's words: taking a glob out of `forbidden` is another ticket, with
# another digest. Whole fields must be there.
@pytest.mark.parametrize("name", CASES)
def test_no_field_taken_from_the_ticket_lifts_the_verdict(name):
    document, sent, outcome = CASES[name]
    whole = judge(document, sent, outcome)
    for field in document:
        assert judge(without(document, [(field,)]), sent, outcome).rank <= whole.rank, field
    assert judge(None, sent, outcome) is Verdict.REJECTED


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_set_of_removals_lifts_the_verdict(data):
    name = data.draw(st.sampled_from(sorted(CASES)))
    document, sent, outcome = CASES[name]
    gone = data.draw(st.lists(st.sampled_from(places(sent)), max_size=6))
    assert judge(document, without(sent, gone), outcome).rank <= judge(document, sent, outcome).rank


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED])
def test_taking_records_out_of_the_run_never_lifts_the_verdict(outcome):
    whole = judge(TICKET, CLAIM, outcome)
    full = make_run(RunRole.MERGED, outcome)
    session = full.sessions[0]
    bent = [
        replace(full, sessions=()),
        replace(full, exit_code=None, termination=Termination.SIGNALLED),
        replace(full, sessions=(replace(session, cases=()),)),
        replace(full, sessions=(replace(session, complete=False, exit_code=None),)),
        replace(full, sessions=(replace(session, complete=False, collected=0, cases=()),)),
    ]
    for run in bent:
        world = World()
        world.sandbox.by_role[RunRole.MERGED] = run
        assert judge(TICKET, CLAIM, None, world).rank <= whole.rank
        if outcome is Outcome.PASSED:
            world = World()
            world.sandbox.by_role[RunRole.MERGED] = run
            assert judge(TICKET, CLAIM, None, world) is not Verdict.ACCEPTED


def test_a_world_without_any_run_accepts_nothing():
    world = World()
    world.sandbox.by_role[RunRole.MERGED] = OSError("gone")
    assert judge(TICKET, CLAIM, None, world) is Verdict.UNDECIDED
