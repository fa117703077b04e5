"""Intake: read the ticket and the claim. A broken ticket ends the verification; a broken claim is a finding."""

from __future__ import annotations

from gatekeeper.domain.finding import Finding, from_error
from gatekeeper.domain.submission import ABSENT_CLAIM, Claim, Submission
from gatekeeper.domain.ticket import Ticket
from gatekeeper.errors import InputError
from gatekeeper.formats.claim import parse_claim
from gatekeeper.formats.ticket import parse_ticket
from gatekeeper.records import dataclass, replace
from gatekeeper.workflow.tools import Tools


@dataclass(frozen=True)
class Intake:
    """What was sent, parsed."""

    ticket: Ticket
    claim: Claim
    findings: tuple[Finding, ...]


def run(_tools: Tools, submission: Submission) -> Intake:
    """Parse ticket and claim. Raises `InputError` for a ticket that cannot be read."""
    ticket = parse_ticket(submission.ticket)
    if submission.ticket_approved:
        ticket = replace(ticket, approved=True)
    try:
        return Intake(ticket, parse_claim(submission.claim), ())
    except InputError as error:
        # The rest is still judged, so that the author hears of everything at once.
        return Intake(ticket, replace(ABSENT_CLAIM, unreadable=True), (from_error(error),))
