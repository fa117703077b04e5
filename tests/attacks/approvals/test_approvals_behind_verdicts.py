"""A gate that says "approved" is not believed where the trust file pins reviewers: their own statements must be there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import attested
import pytest

from gatekeeper.adapters.local_key_signer import LocalKeySigner, public_pem
from gatekeeper.domain.decision import Approval
from gatekeeper.domain.statement import BINDING, MAX_PEOPLE, approval_statement
from gatekeeper.errors import VerificationRefused
from gatekeeper.formats.attestation import prove
from gatekeeper.formats.trust import parse_trust

NOW, ALICE, BOB = attested.NOW, "alice@example.org", "bob@example.org"
C = attested.change()
O = attested.outcome(C)  # noqa: E741


class Desk:
    """A gate, two pinned reviewers, and a verdict that rests on Alice's approval."""

    def __init__(self, folder: Path) -> None:
        keys = folder / "k"
        self.gate = LocalKeySigner(keys / "gate")
        self.people = {ALICE: LocalKeySigner(keys / "alice"), BOB: LocalKeySigner(keys / "bob")}
        self.stranger = LocalKeySigner(keys / "stranger")
        for signer in (*self.people.values(), self.stranger):
            assert signer.public
        rows = "".join(
            f"\n[[reviewer]]\nprincipal = {json.dumps(who)}\npublic_key = {json.dumps(public_pem(keys / name))}\n"
            for who, name in ((ALICE, "alice"), (BOB, "bob"))
        )
        self.trust = parse_trust(attested.trust_text(self.gate, keys / "gate", extra=rows).encode())

    def approval(self, who: str = ALICE, signer: LocalKeySigner | None = None, **changes: Any) -> bytes:
        values: dict[str, Any] = {
            "reviewer": who, "decision": "approve", "repository": attested.REPO, "target_ref": attested.REF,
            "ticket_digest": "f" * 64, "diff_digest": C.diff_digest(), "head": C.head, "issued_at": NOW - 50,
            "expires_at": NOW + 5000, **changes,
        }  # fmt: skip
        return (signer or self.people[who]).sign(approval_statement(**values)).bundle.encode()

    def verdict(self, *approvals: bytes, names: tuple[str, ...] = (ALICE,), **binding: Any) -> list[bytes]:
        """Test result and verdict of a gate that counted these approvals, or says so."""
        import base64
        import hashlib

        digests = [
            hashlib.sha256(base64.b64decode(json.loads(a)["dsseEnvelope"]["payload"])).hexdigest() for a in approvals
        ]
        rows = [Approval(n, "", "", "", d) for n, d in zip(names, digests, strict=True)]
        statements = attested.verdict(C, O, self.gate)
        predicate = statements[-1]["predicate"]
        predicate[BINDING]["approvals"] = [
            {"reviewer": a.reviewer, "keyid": "", "digest": {"sha256": a.payload_sha256}} for a in rows
        ]
        predicate["inputAttestations"] += [
            {"name": f"approval:{a.reviewer}", "digest": {"sha256": a.payload_sha256}} for a in rows
        ]
        predicate[BINDING].update(binding)
        return attested.bundles(statements, self.gate)

    def prove(self, *bundles: bytes) -> tuple[str, ...]:
        return prove(bundles, self.trust, attested.expected(C), NOW + 1).approvals

    def refusal(self, *bundles: bytes) -> str:
        with pytest.raises(VerificationRefused) as caught:
            self.prove(*bundles)
        return caught.value.code


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_honest_approvals_beside_the_verdict_are_proven(desk: Desk) -> None:
    alice, bob = desk.approval(), desk.approval(BOB)
    assert desk.prove(alice, *desk.verdict(alice)) == (ALICE,)
    assert desk.prove(*desk.verdict(alice, bob, names=(ALICE, BOB)), bob, alice) == (ALICE, BOB)
    assert desk.prove(*desk.verdict(names=())) == ()
    # A later, second approval of the same reviewer takes nothing away, nor does one by a stranger.
    again, strange = desk.approval(issued_at=NOW), desk.approval(signer=desk.stranger)
    assert desk.prove(strange, again, alice, *desk.verdict(alice)) == (ALICE,)


def test_the_gates_word_alone_is_not_enough(desk: Desk) -> None:
    assert desk.refusal(*desk.verdict(desk.approval())) == "ATTESTATION_APPROVAL_MISSING"


def test_without_pinned_reviewers_the_gates_word_stands(desk: Desk) -> None:
    trust = replace(desk.trust, reviewers=())
    assert prove(desk.verdict(desk.approval()), trust, attested.expected(C), NOW + 1).approvals == ()


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"diff_digest": "3" * 64}, "APPROVAL_OTHER_DIFF"),
        ({"ticket_digest": "3" * 64}, "APPROVAL_OTHER_TICKET"),
        ({"repository": "/srv/other"}, "APPROVAL_OTHER_REPOSITORY"),
        ({"target_ref": "refs/heads/x"}, "APPROVAL_OTHER_BRANCH"),
        ({"expires_at": NOW}, "APPROVAL_EXPIRED"),
        ({"issued_at": NOW + 900}, "APPROVAL_FROM_FUTURE"),
        ({"decision": "request_changes"}, "APPROVAL_CHANGES_REQUESTED"),
    ],
)
def test_each_bent_approval_has_its_code(desk: Desk, changes: dict[str, Any], code: str) -> None:
    bent = desk.approval(**changes)
    assert desk.refusal(bent, *desk.verdict(bent)) == code


def test_a_key_that_is_not_pinned_approves_nothing(desk: Desk) -> None:
    for signer in (desk.stranger, desk.people[BOB]):
        forged = desk.approval(signer=signer)
        assert desk.refusal(forged, *desk.verdict(forged)) == "APPROVAL_UNKNOWN_KEY"
    own = desk.approval(signer=desk.gate)
    assert desk.refusal(own, *desk.verdict(own)) == "ATTESTATION_APPROVAL_MISSING"


@pytest.mark.parametrize(
    "binding",
    [
        {"commitAuthors": ["agent@agents.example", ALICE]},
        {"submitter": "Alice@Example.org "},
        {"onBehalfOf": ALICE},
    ],
)
def test_nobody_approves_what_they_wrote_or_sent(desk: Desk, binding: dict[str, Any]) -> None:
    alice = desk.approval()
    assert desk.refusal(alice, *desk.verdict(alice, **binding)) == "APPROVAL_SELF"


@pytest.mark.parametrize(
    "binding",
    [
        {"approvals": []},
        {"approvals": None},
        {"approvals": [{"reviewer": ALICE}]},
        {"commitAuthors": []},
        {"commitAuthors": None},
        {"commitAuthors": [f"a{n}@example.org" for n in range(MAX_PEOPLE)]},
    ],
)
def test_a_verdict_that_contradicts_itself(desk: Desk, binding: dict[str, Any]) -> None:
    alice = desk.approval()
    assert desk.refusal(alice, *desk.verdict(alice, **binding)) == "ATTESTATION_APPROVAL_MISMATCH"


def test_an_approval_stands_for_its_own_reviewer_once(desk: Desk) -> None:
    alice, bob = desk.approval(), desk.approval(BOB)
    assert desk.refusal(alice, *desk.verdict(alice, names=(BOB,))) == "ATTESTATION_APPROVAL_MISMATCH"
    twice = desk.verdict(alice, desk.approval(issued_at=NOW - 3), names=(ALICE, ALICE))
    assert desk.refusal(alice, bob, *twice) == "ATTESTATION_APPROVAL_MISMATCH"


def test_a_request_for_changes_holds_until_it_is_taken_back(desk: Desk) -> None:
    no, alice = desk.approval(BOB, decision="request_changes"), desk.approval()
    assert desk.refusal(no, alice, *desk.verdict(alice)) == "APPROVAL_CHANGES_REQUESTED"
    assert desk.refusal(no, *desk.verdict(names=())) == "APPROVAL_CHANGES_REQUESTED"
    assert desk.prove(no, desk.approval(BOB, issued_at=NOW - 1), alice, *desk.verdict(alice)) == (ALICE,)


def test_a_flood_of_approvals_hides_no_refusal(desk: Desk) -> None:
    assert desk.refusal(*[desk.approval()] * 201, *desk.verdict(names=())) == "ATTESTATION_TOO_LARGE"


def test_a_forged_envelope_around_the_same_payload_takes_nothing_away(desk: Desk) -> None:
    alice = desk.approval()
    forged = json.loads(alice)
    forged["dsseEnvelope"]["signatures"][0]["sig"] = "AAAA"
    copy = json.dumps(forged).encode()
    assert desk.prove(alice, copy, *desk.verdict(alice)) == (ALICE,)
    assert desk.refusal(copy, *desk.verdict(alice)) == "APPROVAL_UNKNOWN_KEY"
