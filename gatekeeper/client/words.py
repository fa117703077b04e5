"""Enums of the API as the gate's own words. A number that this version does not know is None, which is never a pass."""

from __future__ import annotations

from gatekeeper.api.v1.change_pb2 import Change
from gatekeeper.api.v1.ticket_pb2 import Ticket
from gatekeeper.api.v1.verification_pb2 import Verification
from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.verdict import Verdict

_VERDICT = {1: Verdict.REJECTED, 2: Verdict.UNDECIDED, 3: Verdict.NEEDS_HUMAN, 4: Verdict.ACCEPTED}
_VERIFICATION = {i: VerificationState(n.removeprefix("STATE_")) for n, i in Verification.State.items() if i}
_CHANGE = {i: ChangeState(n.removeprefix("STATE_")) for n, i in Change.State.items() if i}
_TICKET = {i: TicketState(n.removeprefix("STATE_")) for n, i in Ticket.State.items() if i}


def verdict_of(resource: Verification | Change) -> Verdict | None:
    """The verdict; None where there is none yet, none any more, or one this version does not know.

    A verification that was not decided has none, whatever its field says.
    """
    if isinstance(resource, Verification) and state_of(resource) is not VerificationState.DECIDED:
        return None
    return _VERDICT.get(resource.verdict)


def state_of(verification: Verification) -> VerificationState | None:
    """State of the job."""
    return _VERIFICATION.get(verification.state)


def change_state_of(change: Change) -> ChangeState | None:
    """Where a change stands."""
    return _CHANGE.get(change.state)


def ticket_state_of(ticket: Ticket) -> TicketState | None:
    """Where a plan stands."""
    return _TICKET.get(ticket.state)


def is_final(verification: Verification) -> bool:
    """True where nothing follows."""
    state = state_of(verification)
    return state is not None and state.final


def accepted(verification: Verification) -> bool:
    """True for one thing alone: decided, accepted, and the verdict still counts.

    A verdict counts no more (`current` is false) after a reviewer's request for changes, an amended ticket or a newer
    verdict of the change; what a snapshot says was true when it was sent. Whoever enforces verifies the signed verdict.
    """
    return verdict_of(verification) is Verdict.ACCEPTED and verification.current
