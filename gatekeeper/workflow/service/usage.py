"""What models consumed, as somebody reports it. It informs budgets and figures; it proves nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatekeeper.domain.principal import Caller
from gatekeeper.domain.records import UsageRecord
from gatekeeper.errors import RequestRefused
from gatekeeper.workflow.service.changes import known_change
from gatekeeper.workflow.service.idempotency import Request, answered, remember
from gatekeeper.workflow.service.people import author_of, require_own
from gatekeeper.workflow.service.service import Service, acting, note


def report(
    service: Service,
    caller: Caller,
    change: str,
    verification: str,
    entries: tuple[Mapping[str, Any], ...],
    request: Request,
) -> UsageRecord:
    """Store a report. Raises `RequestRefused` (CHANGE_UNKNOWN, VERIFICATION_UNKNOWN, CHANGE_FOREIGN, REQUEST_ID_REUSED)."""
    with acting(service, caller, "usage.report", change) as tx:
        before = answered(tx, service, caller, request)
        if before is not None:
            return next(u for u in tx.usage(change) if u.id == before)
        found = known_change(tx, change)
        require_own(caller, found.submitter, change)
        if verification and tx.verification(verification, report=False) is None:
            raise RequestRefused("VERIFICATION_UNKNOWN", f"There is no verification {verification}.", name=verification)
        record = UsageRecord(service.new_id(), change, verification, entries, author_of(caller), service.clock.now())
        tx.add_usage(record)
        note(tx, service, "usage.reported", change, caller.principal, {"entries": len(entries), "report": record.id})
        remember(tx, service, caller, request, record.id)
        return record
