"""Approvals that must not count, each with its own code, and the one beside them that does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attested
import pytest

from gatekeeper.adapters.local_key_signer import LocalKeySigner, public_pem
from gatekeeper.domain.statement import approval_statement
from gatekeeper.errors import ConfigurationError
from gatekeeper.formats.approvals import verify_approvals
from gatekeeper.formats.trust import parse_trust

NOW, WHO = attested.NOW, "alice@example.org"
WANTED = {"ticket_digest": "1" * 64, "diff_digest": "2" * 64, "repository": attested.REPO, "target_ref": attested.REF}


class Desk:
    def __init__(self, folder: Path) -> None:
        self.gate, self.alice = LocalKeySigner(folder / "k" / "gate"), LocalKeySigner(folder / "k" / "alice")
        assert self.gate.public != self.alice.public
        row = f"\n[[reviewer]]\nprincipal = {json.dumps(WHO)}\npublic_key = {json.dumps(public_pem(folder / 'k' / 'alice'))}\n"
        self.text = attested.trust_text(self.gate, folder / "k" / "gate", extra=row)
        self.trust = parse_trust(self.text.encode())
        self.folder = folder

    def sign(self, signer: LocalKeySigner | None = None, **changes: Any) -> bytes:
        values: dict[str, Any] = {
            "reviewer": WHO, "decision": "approve", **WANTED, "head": "a" * 40, "issued_at": NOW - 10,
            "expires_at": NOW + 10, **changes,
        }  # fmt: skip
        return (signer or self.alice).sign(approval_statement(**values)).bundle.encode()

    def judge(
        self, *bundles: bytes, people: tuple[str, ...] = ("agent@agents.example",)
    ) -> tuple[list[str], list[str]]:
        good, bad = verify_approvals(bundles, self.trust, **WANTED, people=people, now=NOW)
        return [a.reviewer for a in good], [f.code for f in bad]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_honest_approval_counts(desk: Desk) -> None:
    assert desk.judge(desk.sign()) == ([WHO], [])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"diff_digest": "3" * 64}, "APPROVAL_OTHER_DIFF"),
        ({"ticket_digest": "3" * 64}, "APPROVAL_OTHER_TICKET"),
        ({"repository": "/srv/other"}, "APPROVAL_OTHER_REPOSITORY"),
        ({"target_ref": "refs/heads/x"}, "APPROVAL_OTHER_BRANCH"),
        ({"expires_at": NOW}, "APPROVAL_EXPIRED"),
        ({"issued_at": NOW + 900}, "APPROVAL_FROM_FUTURE"),
        ({"reviewer": "bob@example.org"}, "APPROVAL_UNKNOWN_KEY"),
        ({"decision": "request_changes"}, "APPROVAL_CHANGES_REQUESTED"),
    ],
)
def test_refused(desk: Desk, changes: dict[str, Any], code: str) -> None:
    assert desk.judge(desk.sign(**changes)) == ([], [code])


def test_nobody_approves_their_own_work(desk: Desk) -> None:
    assert desk.judge(desk.sign(), people=("Alice@Example.org ",)) == ([], ["APPROVAL_SELF"])


def test_the_gates_key_approves_nothing(desk: Desk) -> None:
    assert desk.judge(desk.sign(desk.gate)) == ([], ["APPROVAL_UNKNOWN_KEY"])
    pem = json.dumps(public_pem(desk.folder / "k" / "gate"))
    with pytest.raises(ConfigurationError):
        parse_trust(f'{desk.text}\n[[reviewer]]\nprincipal = "x"\npublic_key = {pem}\n'.encode())


def test_the_newest_answer_holds(desk: Desk) -> None:
    no, yes = desk.sign(decision="request_changes", issued_at=NOW - 5), desk.sign(issued_at=NOW - 2)
    assert desk.judge(desk.sign(), no) == ([], ["APPROVAL_CHANGES_REQUESTED"])
    assert desk.judge(yes, no) == ([WHO], [])


def test_other_statements_are_passed_over(desk: Desk) -> None:
    c = attested.change()
    others = attested.bundles(attested.verdict(c, attested.outcome(c), desk.gate), desk.gate)
    assert desk.judge(*others, desk.sign()) == ([WHO], [])
    assert desk.judge(b"{", desk.sign()) == ([WHO], ["APPROVAL_MALFORMED"])
