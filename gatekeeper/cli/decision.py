"""A reviewer's decision through the server: what `gatekeeper review CHANGE` does. Offline signing is in `review`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gatekeeper.cli.check import read_input
from gatekeeper.cli.connection import Session, line
from gatekeeper.errors import GatekeeperError, UsageError, reason
from gatekeeper.records import dataclass

if TYPE_CHECKING:
    from gatekeeper.client import Change, Verification

OTHERWISE = (
    "An approval answers only the question to a person. Choose --waive FINDING, --amend TICKET or --request-changes; "
    "--retry has the gate try again what it could not check."
)
"""What a reviewer can do where an approval is refused."""


@dataclass(frozen=True)
class Decision:
    """What the command line asks for; at most one of the kinds."""

    approve: bool = False
    request_changes: bool = False
    retry: bool = False
    decline: bool = False
    waive: tuple[str, ...] = ()
    """Fingerprints or codes of the findings to accept by way of exception."""
    amend: Path | None = None
    """New document of the ticket."""
    comment: str = ""
    days: float = 7.0
    key: Path | None = None
    """Own key: the approval is signed over what the local repository says, not the server."""
    repository: str = ""
    """Local repository to compare with; needed for `key`."""

    def kinds(self) -> list[str]:
        """The kinds that were asked for."""
        rows = {
            "APPROVE": self.approve, "REQUEST_CHANGES": self.request_changes, "RETRY": self.retry,
            "ABANDON": self.decline, "WAIVE": bool(self.waive), "AMEND_TICKET": self.amend is not None,
        }  # fmt: skip
        return [k for k, wanted in rows.items() if wanted]


def decide(session: Session, name: str, decision: Decision) -> int:
    """Show the change and ask where nothing was said, store the review. Status 0: it is stored."""
    from gatekeeper.cli.verification_text import headline
    from gatekeeper.client import ApiError, Review
    from gatekeeper.client.names import change_of, is_verification

    kinds = decision.kinds()
    if len(kinds) > 1:
        raise UsageError(
            "USAGE",
            "--approve, --request-changes, --waive, --amend, --retry and --decline exclude each other.",
            next_action="Give one of them, or none to be asked on a terminal.",
        )
    if kinds and kinds[0] in ("APPROVE", "WAIVE") and not is_verification(name):
        # Between looking and deciding a new head can come; nobody approves what they did not see.
        raise UsageError(
            "USAGE",
            "What you looked at must be named whole: a newer head could slip in under the name of the change.",
            next_action=f"Name the verification that you looked at, as `gatekeeper show {line(name)}` prints it.",
        )
    client = session.client
    change = client.get_change(change_of(name) if is_verification(name) else name)
    seen = name if is_verification(name) else change.latest_verification
    if not seen:
        raise UsageError(
            "VERIFICATION_UNKNOWN", f"{line(change.name)} was never submitted; there is nothing to review."
        )
    made = client.get_verification(seen)
    kind = kinds[0] if kinds else _asked(session, change, made)
    review = Review(
        kind=Review.Kind.ValueType(Review.Kind.Value(f"KIND_{kind}")),
        verification=seen,
        ticket_digest=made.ticket_digest,
        diff_digest=made.diff_digest,
        comment=decision.comment,
    )
    if kind == "WAIVE":
        review.waived_fingerprints.extend(_fingerprints(made, decision.waive))
        review.expire_time.FromSeconds(int(time.time() + decision.days * 86400))
    if decision.amend is not None:
        review.amended_ticket = read_input(decision.amend, "ticket")
    if decision.key is not None:
        if kind != "APPROVE":
            raise UsageError(
                "USAGE", "--key signs approvals, and this is another decision.", next_action="Leave --key out."
            )
        review.statement_bundle = _signed(session, change, made, decision)
    try:
        stored, after = client.create_review(review)
    except ApiError as error:
        if (kind, error.reason) == ("APPROVE", "REVIEW_NOT_POSSIBLE") and error.next_action == reason(
            error.reason
        ).next_action:
            error.next_action = OTHERWISE
        raise
    if kinds and not session.as_json:
        print(headline(made), file=sys.stderr)
    session.show(stored, lambda: _told(kind, after))
    return 0


def _told(kind: str, after: Change) -> str:
    from gatekeeper.cli.connection import word
    from gatekeeper.cli.listing import short

    return f"{kind.lower().replace('_', ' ')} is stored; {line(short(after.name))} is {word(after.state, after.State, 'STATE_')}"


def _asked(session: Session, change: Change, made: Verification) -> str:
    """Show what there is to decide on and ask."""
    from gatekeeper.cli.decision_text import shown
    from gatekeeper.client import Ticket

    if not session.as_json:
        ticket: Ticket | None
        try:
            ticket = session.client.get_ticket(made.ticket)
        except GatekeeperError:  # a reviewer may still see all else
            ticket = None
        print(f"{shown(change, made, ticket)}\n", file=sys.stderr)
    if session.as_json or not sys.stdin.isatty():
        raise UsageError(
            "USAGE",
            "There is no terminal to ask on.",
            next_action="Say --approve, --request-changes, --waive CODE, --amend FILE, --retry or --decline.",
        )
    answers = {"approve": "APPROVE", "changes": "REQUEST_CHANGES", "retry": "RETRY", "decline": "ABANDON"}
    answer = typer.prompt("decide on this change? [approve/changes/retry/decline/quit]", default="quit", err=True)
    if answer not in answers:
        raise UsageError(
            "USAGE", "Nothing was decided.", next_action="Answer approve, changes, retry or decline, when you are sure."
        )
    return answers[answer]


def _fingerprints(made: Verification, wanted: tuple[str, ...]) -> list[str]:
    """Fingerprints of the findings that are meant; a code means all findings with it."""
    found = []
    for one in wanted:
        matching = [f.fingerprint for f in made.findings if one in (f.fingerprint, f.code)]
        if not matching:
            codes = ", ".join(dict.fromkeys(line(f.code, 64) for f in made.findings))
            raise UsageError(
                "FINDING_UNKNOWN", f"{one[:80]!r} is no finding of this verification; it has {codes or 'none'}."
            )
        found += matching
    return list(dict.fromkeys(found))


def _signed(session: Session, change: Change, made: Verification, decision: Decision) -> bytes:
    """The reviewer's own statement over the diff as the local repository has it, which must be the server's."""
    from gatekeeper.cli.key import reviewer_name
    from gatekeeper.client.names import repository_of
    from gatekeeper.config import paths
    from gatekeeper.domain.statement import approval_statement, people_of
    from gatekeeper.wiring import engines, machine, signers

    assert decision.key is not None
    if not decision.repository:
        raise UsageError(
            "USAGE",
            "--key needs your own clone: what is signed is what you have, not what the server says.",
            next_action="Name it, for instance --repo . within the clone.",
        )
    reviewer = reviewer_name(decision.key)
    git = engines.git_repositories(paths())
    source = os.path.abspath(decision.repository)
    local = git.describe(git.fetch(source, made.target_ref, made.head_commit))
    if local.diff_digest() != made.diff_digest:
        raise UsageError(
            "DIFF_CHANGED", "Your clone and the server disagree about this diff; fetch the target and look again."
        )
    if reviewer.strip().casefold() in people_of(local):
        raise UsageError("APPROVAL_SELF", f"{reviewer} took part in this change and cannot review it.")
    now = machine.SystemClock().now()
    identity = session.client.get_repository(repository_of(change.name)).repository_uri
    signed = signers.reviewer_signer(decision.key).sign(
        approval_statement(
            reviewer=reviewer, decision="approve", repository=identity, target_ref=made.target_ref,
            ticket_digest=made.ticket_digest, diff_digest=made.diff_digest, head=made.head_commit, issued_at=now,
            expires_at=now + decision.days * 86400, reason=decision.comment,
        )
    )  # fmt: skip
    return signed.bundle.encode("utf-8")
