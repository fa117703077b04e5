"""States of a change and of a verification (DESIGN section 1): which moves exist, and what a verdict leads to. Pure."""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.domain.verdict import Verdict


class VerificationState(StrEnum):
    """State of the job. A rejection is no failure of the job."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    DECIDED = "DECIDED"
    CANCELLED = "CANCELLED"
    SUPERSEDED = "SUPERSEDED"

    @property
    def final(self) -> bool:
        """True where nothing follows."""
        return self in (VerificationState.DECIDED, VerificationState.CANCELLED, VerificationState.SUPERSEDED)


class ChangeState(StrEnum):
    """State of a change: what boards show."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    VERIFICATION_FAILED = "VERIFICATION_FAILED"
    HUMAN_DECISION_NEEDED = "HUMAN_DECISION_NEEDED"
    MERGEABLE = "MERGEABLE"
    LANDING = "LANDING"
    MERGED = "MERGED"
    STALE = "STALE"
    DECLINED = "DECLINED"
    ABANDONED = "ABANDONED"

    @property
    def final(self) -> bool:
        """True where nothing follows."""
        return self in (ChangeState.MERGED, ChangeState.DECLINED, ChangeState.ABANDONED)


class TicketState(StrEnum):
    """State of one revision of a plan."""

    PROPOSED = "PROPOSED"
    APPROVED = "APPROVED"
    REJECTED = "REJECTED"
    SUPERSEDED = "SUPERSEDED"


_V = VerificationState
_C = ChangeState

VERIFICATION_MOVES: dict[VerificationState, frozenset[VerificationState]] = {
    _V.QUEUED: frozenset({_V.RUNNING, _V.CANCELLED, _V.SUPERSEDED, _V.DECIDED}),
    _V.RUNNING: frozenset({_V.RUNNING, _V.DECIDED, _V.CANCELLED, _V.SUPERSEDED}),
    _V.DECIDED: frozenset(),
    _V.CANCELLED: frozenset(),
    _V.SUPERSEDED: frozenset(),
}
"""QUEUED may be decided at once: by a fault that lets nothing run."""

_SUBMITTED = frozenset({_C.QUEUED})
_GIVEN_UP = frozenset({_C.ABANDONED, _C.DECLINED})
_ASKED = frozenset({_C.HUMAN_DECISION_NEEDED})

CHANGE_MOVES: dict[ChangeState, frozenset[ChangeState]] = {
    _C.QUEUED: _SUBMITTED | _GIVEN_UP | _ASKED | {_C.RUNNING, _C.VERIFICATION_FAILED, _C.MERGEABLE},
    _C.RUNNING: _SUBMITTED | _GIVEN_UP | _ASKED | {_C.RUNNING, _C.VERIFICATION_FAILED, _C.MERGEABLE},
    _C.VERIFICATION_FAILED: _SUBMITTED | _GIVEN_UP | _ASKED,
    _C.HUMAN_DECISION_NEEDED: _SUBMITTED | _GIVEN_UP | _ASKED | {_C.MERGEABLE, _C.VERIFICATION_FAILED},
    _C.MERGEABLE: _SUBMITTED | _GIVEN_UP | _ASKED | {_C.LANDING, _C.MERGED, _C.STALE, _C.VERIFICATION_FAILED},
    _C.LANDING: frozenset({_C.MERGED, _C.STALE, _C.MERGEABLE, _C.HUMAN_DECISION_NEEDED}),
    _C.STALE: _SUBMITTED | _GIVEN_UP | _ASKED,
    _C.MERGED: frozenset(),
    _C.DECLINED: frozenset(),
    _C.ABANDONED: frozenset(),
}


def after_verdict(verdict: Verdict, open_questions: bool) -> ChangeState:
    """Where a change stands once its newest head has this verdict. An open question holds back every acceptance."""
    if verdict is Verdict.REJECTED:
        return ChangeState.VERIFICATION_FAILED
    if verdict is Verdict.ACCEPTED and not open_questions:
        return ChangeState.MERGEABLE
    return ChangeState.HUMAN_DECISION_NEEDED
