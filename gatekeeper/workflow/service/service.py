"""What every use case of the service needs, and the transaction in which a person or program acts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from gatekeeper.domain.ports import Clock, Signer
from gatekeeper.domain.principal import Caller, Principal
from gatekeeper.domain.records import Event
from gatekeeper.domain.service_ports import Blobs, Records, Transaction, VerificationQueue
from gatekeeper.errors import GatekeeperError
from gatekeeper.records import dataclass, field
from gatekeeper.workflow.tools import ApprovalVerifier

PERMISSION_CODES = frozenset(
    {"ROLE_REQUIRED", "HUMAN_REQUIRED", "APPROVAL_SELF", "CHANGE_FOREIGN", "DELEGATION_REFUSED", "WAIVER_REFUSED"}
)
"""Refusals by permission: these go to the audit log, all others leave no trace."""


@dataclass(frozen=True)
class ServiceLimits:
    """Caps that keep one client from filling the store."""

    open_questions: int = 10
    """Unanswered questions of a change."""
    active_verifications: int = 1000
    """Verifications that are not final, all together: QUEUE_FULL beyond."""
    active_each: int = 250
    """Those of one submitter: QUEUE_FULL for it alone beyond, so that nobody fills the queue for all."""
    artifact_life_s: float = 7 * 86_400.0
    """How long an uploaded artifact is kept at least."""
    approval_life_s: float = 7 * 86_400.0
    """How long an approval counts at most."""
    refusal_life_s: float = 365 * 86_400.0
    """How long a request for changes counts: longer than any verdict that it is about."""
    waiver_life_s: float = 90 * 86_400.0
    """How far away the end of a waiver may lie."""


@dataclass(frozen=True)
class Service:
    """The ports, gathered. `wiring` fills it."""

    records: Records
    blobs: Blobs
    queue: VerificationQueue
    clock: Clock
    new_id: Callable[[], str]
    """A fresh id that matches [a-z0-9]{8,64}."""
    approvals: ApprovalVerifier | None = None
    """Verifies statements that people signed themselves; None: no key of a person is known, such statements are refused."""
    desk: Signer | None = None
    """Signs what reviewers refuse at the API, so that enforcers who pin the desk hear of it; None: nothing is signed."""
    statements_required: bool = False
    """True: APPROVE needs the reviewer's own signed statement."""
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    require_source: Callable[[str], None] | None = None
    """Raises `UsageError` for a source that can never be fetched from; None: every source is taken as it is."""


@contextmanager
def acting(service: Service, caller: Caller, action: str, subject: str) -> Iterator[Transaction]:
    """A writing transaction in which `caller` does `action` (as in the audit log, "ticket.approve") to `subject`.

    A refusal by permission rolls everything back and is then recorded; what was done is recorded by `audited`.
    """
    try:
        with service.records.transaction() as tx:
            yield tx
    except GatekeeperError as error:
        if error.code in PERMISSION_CODES:
            refused(service, caller, action, subject, error.code)
        raise


def refused(service: Service, caller: Caller, action: str, subject: str, code: str) -> None:
    """Record a refusal by permission in a transaction of its own."""
    with service.records.transaction() as tx:
        tx.audit(action, subject, caller.principal, time=service.clock.now(), allowed=False, reason=code)


def audited(
    tx: Transaction, service: Service, actor: Principal | None, action: str, subject: str, **details: Any
) -> None:
    """Record in the same transaction what was done. `details` are small JSON values: codes, digests, counts."""
    tx.audit(action, subject, actor, time=service.clock.now(), details=details or None)


def note(
    tx: Transaction,
    service: Service,
    what: str,
    subject: str,
    actor: Principal | None,
    data: Mapping[str, Any] | None = None,
) -> None:
    """Append the event `gatekeeper.{what}.v1`, for instance `change.moved`, in the same transaction."""
    tx.event(
        Event(
            type=f"gatekeeper.{what}.v1",
            subject=subject,
            time=service.clock.now(),
            id=service.new_id(),
            actor=actor,
            data=dict(data or {}),
        )
    )
