"""Verifications as they stand. Making and cancelling them is in `submissions`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gatekeeper.domain.lifecycle import VerificationState
from gatekeeper.domain.records import Page, VerificationRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.errors import RequestRefused
from gatekeeper.workflow.service.changes import known_change
from gatekeeper.workflow.service.pages import Part, part
from gatekeeper.workflow.service.repositories import known_repository
from gatekeeper.workflow.service.service import Service


def known_verification(tx: Transaction, name: str, *, report: bool = True) -> VerificationRecord:
    """The verification. Raises `RequestRefused` (VERIFICATION_UNKNOWN)."""
    found = tx.verification(name, report=report)
    if found is None:
        raise RequestRefused("VERIFICATION_UNKNOWN", f"There is no verification {name}.", name=name)
    return found


def get(service: Service, name: str, *, report: bool = True) -> VerificationRecord:
    """One verification, in full unless `report` is false."""
    with service.records.reading() as tx:
        return known_verification(tx, name, report=report)


def snapshots(service: Service, names: Iterable[str]) -> dict[str, VerificationRecord]:
    """Those of `names` that are there, from one consistent view, without reports."""
    with service.records.reading() as tx:
        found = {name: tx.verification(name, report=False) for name in names}
    return {name: record for name, record in found.items() if record is not None}


def list_page(
    service: Service,
    repository: str,
    change: str | None,
    page: Page,
    *,
    states: Sequence[VerificationState] = (),
    head: str = "",
    current_only: bool = False,
) -> Part[VerificationRecord]:
    """Verifications of one change (None: of the whole repository). Raises `RequestRefused` (REPOSITORY_UNKNOWN,
    CHANGE_UNKNOWN).
    """
    with service.records.reading() as tx:
        known_repository(tx, repository)
        if change is not None:
            known_change(tx, change)
        rows = tx.verifications(
            change, page, repository=repository, states=states, head=head, current_only=current_only
        )
        return part(rows, page)
