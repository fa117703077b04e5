"""Records of the service with everything that a test does not care about filled in."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import (
    ArtifactRecord,
    AttestationRecord,
    ChangeRecord,
    CredentialRecord,
    Event,
    Question,
    Remembered,
    RepositoryRecord,
    ReviewRecord,
    TicketRecord,
    UsageRecord,
    VerificationRecord,
)
from gatekeeper.domain.verdict import Mode, Verdict

REPOSITORY = "owners/acme/repositories/shop"
TICKET = f"{REPOSITORY}/tickets/T-1"
CHANGE = f"{REPOSITORY}/changes/c1"
AGENT = Principal("https://gate.example", "agent-7", "agent", "ann")
ANN = Principal("https://gate.example", "ann", "human")


def hexadecimal(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def repository(name: str = REPOSITORY, **more: Any) -> RepositoryRecord:
    record = RepositoryRecord(
        name, "https://git.example/shop.git", "https://git.example/shop", "42", ("refs/heads/main", "refs/heads/next"),
        Mode.ENFORCED, True, ANN, 100.25,
    )  # fmt: skip
    return replace(record, **more)


def ticket(name: str = TICKET, revision: int = 1, **more: Any) -> TicketRecord:
    document = b'{"id":"T-1","title":"\xc3\xa4"}'
    record = TicketRecord(
        name, revision, document, hexadecimal(f"{name} {revision}"), TicketState.PROPOSED, ANN, 101.5, 101.5
    )
    return replace(record, **more)


def change(name: str = CHANGE, **more: Any) -> ChangeRecord:
    record = ChangeRecord(
        name, TICKET, "refs/heads/main", ChangeState.QUEUED, AGENT, 102.0, 102.0, 102.0, head="a" * 40,
        verdict=Verdict.NEEDS_HUMAN, needs=({"cause": "plan", "role": "reviewer", "count": 1},),
        questions=(Question("q1", "conflict", "Which? \u0000 \ud800", AGENT, 102.0),),
        on_behalf_of=frozenset({"ann", "bob"}),
    )  # fmt: skip
    return replace(record, **more)


def verification(name: str = f"{CHANGE}/verifications/v1", **more: Any) -> VerificationRecord:
    record = VerificationRecord(
        name, name.partition("/verifications/")[0], VerificationState.QUEUED, "PRE_MERGE", Mode.ENFORCED, TICKET,
        hexadecimal("ticket"), "refs/heads/main", "a" * 40, AGENT, 1, 103.0,
    )  # fmt: skip
    return replace(record, **more)


def decided(name: str = f"{CHANGE}/verifications/v1", **more: Any) -> VerificationRecord:
    values: dict[str, Any] = {
        "state": VerificationState.DECIDED, "verdict": Verdict.ACCEPTED, "current": True,
        "report": {"verdict": "accepted", "findings": [{"line": None, "x": 1.5}]}, "repair_brief": "Mend it.",
    }  # fmt: skip
    return verification(name, **{**values, **more})


def review(name: str = f"{CHANGE}/reviews/r1", **more: Any) -> ReviewRecord:
    record = ReviewRecord(
        name, CHANGE, "APPROVE", f"{CHANGE}/verifications/v1", hexadecimal("ticket"), hexadecimal("diff"), "Fine.", ANN,
        104.0, ("f1", "f2"), b"{}", None, "",
    )  # fmt: skip
    return replace(record, **more)


def attestation(key: str = "a1", **more: Any) -> AttestationRecord:
    record = AttestationRecord(
        f"{REPOSITORY}/attestations/{hexadecimal(key)}", "VERDICT", b"\x00\xffbundle", "https://slsa.dev/vsa/v1",
        "a" * 40, "refs/heads/main", f"{CHANGE}/verifications/v1", "SHA256:abc", 105.0, Verdict.ACCEPTED,
        Mode.ENFORCED, "PRE_MERGE", True, 900.0,
    )  # fmt: skip
    return replace(record, **more)


def artifact(key: str = "x", **more: Any) -> ArtifactRecord:
    record = ArtifactRecord(f"artifacts/{hexadecimal(key)}", "CLAIM", 12, AGENT.id, 106.0, 500.0)
    return replace(record, **more)


def usage(key: str = "u1", **more: Any) -> UsageRecord:
    record = UsageRecord(key, CHANGE, "", ({"model": "m", "input_tokens": 3, "cost": 0.25},), AGENT, 107.0)
    return replace(record, **more)


def credential(key: str = "c1", **more: Any) -> CredentialRecord:
    record = CredentialRecord(
        key, hexadecimal(f"secret {key}"), ANN, frozenset({"reviewer", "operator"}), 108.0, None, None,
        frozenset({"bob"}), frozenset({"ann@acme.example"}), "laptop",
    )  # fmt: skip
    return replace(record, **more)


def event(key: str = "e1", **more: Any) -> Event:
    record = Event("gatekeeper.change.queued.v1", CHANGE, 109.0, key, AGENT, {"head": "a" * 40, "n": 1})
    return replace(record, **more)


def remembered(key: str = "req-1", **more: Any) -> Remembered:
    record = Remembered(AGENT.id, "Submit", key, hexadecimal("request"), f"{CHANGE}/verifications/v1", 110.0)
    return replace(record, **more)
