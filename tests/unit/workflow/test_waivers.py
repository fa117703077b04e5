"""A waiver excuses the finding it names, of the diff and ticket it was made for, until it ends; nothing beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_ports import World, claim, ticket

from gatekeeper.adapters.memory_durable import MemoryDurable
from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.submission import Submission, Waiver
from gatekeeper.domain.verdict import Effect, Mode, Verdict
from gatekeeper.formats.ticket import parse_ticket
from gatekeeper.workflow.pipeline import step_table, verify

NOW = 1_800_000_000.0
OUTSIDE = ticket(allowed=["docs/**"])


def judged(*waivers: Waiver) -> Outcome:
    """A change outside its ticket's scope, with these waivers."""
    sent = Submission("repo", "main", "b" * 40, OUTSIDE, claim(), run_id="r1", waivers=waivers)
    tools = World().tools()
    return verify(MemoryDurable(step_table(tools)), sent, mode=Mode.LOCAL, started=NOW)


@pytest.fixture
def waiver() -> Waiver:
    before = judged()
    assert before.verdict is Verdict.REJECTED
    (found,) = [f for f in before.findings if f.effect is Effect.BLOCKS]
    digest = parse_ticket(OUTSIDE).digest
    return Waiver(found.fingerprint, digest, before.diff_digest, "ada@example.org", NOW + 1e9)


def test_named_finding_is_excused_and_the_verdict_says_so(waiver: Waiver) -> None:
    after = judged(waiver)
    assert after.verdict is Verdict.ACCEPTED
    assert len(after.waived) == 1
    assert any("Waived by ada@example.org." in f.evidence for f in after.findings)


@pytest.mark.parametrize(
    "other",
    [
        {"fingerprint": "0" * 64},
        {"ticket_digest": "0" * 64},
        {"diff_digest": "0" * 64},
        {"expires_at": 0.0},
    ],
)
def test_waiver_of_something_else_excuses_nothing(waiver: Waiver, other: dict[str, object]) -> None:
    after = judged(replace(waiver, **other))
    assert (after.verdict, after.waived) == (Verdict.REJECTED, ())
