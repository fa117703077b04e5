"""Approvals travel with the verdict that rests on them, bound its life, and never come from whoever sent the change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fake_ports import World, claim, ticket

from gatekeeper.adapters.memory_durable import MemoryDurable
from gatekeeper.domain.decision import Approval
from gatekeeper.domain.statement import BINDING, VERDICT
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.verdict import Mode
from gatekeeper.workflow.pipeline import step_table, verify

NOW = 1_800_000_000.0
SENT = Submission("repo", "main", "b" * 40, ticket(), claim(), run_id="r1")
ALICE = Approval("alice@example.org", "k", "t", "d", "5" * 64, expires_at=NOW + 7, bundle='{"approval":1}')


def judged(submission: Submission = SENT, approvals: tuple[Approval, ...] = (ALICE,)) -> tuple[World, dict[str, Any]]:
    """A published verdict that rests on `approvals`, and the arguments with which they were verified."""
    world, asked = World(), {}

    def verifier(bundles: Any, **binding: Any) -> Any:
        asked.update(binding)
        return approvals, ()

    tools = world.tools(approvals=verifier, publish=True)
    verify(MemoryDurable(step_table(tools)), submission, mode=Mode.LOCAL, started=NOW)
    return world, asked


def verdict(world: World) -> Any:
    (found,) = [s for s in world.signer.statements if s["predicateType"] == VERDICT]
    return found["predicate"][BINDING]


def test_the_approvals_are_published_with_the_verdict() -> None:
    world, _ = judged()
    kept = world.store.kept["b" * 40]
    assert kept[0] == ALICE.bundle
    assert len(kept) == 3
    bare, _ = judged(approvals=())
    assert len(bare.store.kept["b" * 40]) == 2


def test_the_verdict_ends_with_the_first_approval() -> None:
    world, _ = judged()
    assert verdict(world)["expiresAt"] == "2027-01-15T08:00:07Z"
    late, _ = judged(approvals=(replace(ALICE, expires_at=NOW + 10**9),))
    none, _ = judged(approvals=())
    assert verdict(late)["expiresAt"] == verdict(none)["expiresAt"] > "2027-01-15T08:00:07Z"


def test_whoever_sent_the_change_is_barred_and_bound() -> None:
    world, asked = judged(replace(SENT, submitter="carol@example.org", on_behalf_of="dan@example.org"))
    assert {"carol@example.org", "dan@example.org", "agent@agents.example"} <= set(asked["people"])
    assert (verdict(world)["submitter"], verdict(world)["onBehalfOf"]) == ("carol@example.org", "dan@example.org")
    world, asked = judged()
    assert asked["people"] == ["agent@agents.example"]
    assert verdict(world)["submitter"] is None
