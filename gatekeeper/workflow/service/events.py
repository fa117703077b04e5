"""The record of what happened: events for figures, the audit log for proof."""

from __future__ import annotations

from collections.abc import Sequence

from gatekeeper.domain.records import AuditEntry, Event, Page
from gatekeeper.workflow.service.pages import Part, part
from gatekeeper.workflow.service.repositories import known_repository
from gatekeeper.workflow.service.service import Service


def list_events(
    service: Service,
    repository: str | None,
    page: Page,
    *,
    types: Sequence[str] = (),
    since: float | None = None,
    until: float | None = None,
) -> Part[Event]:
    """Events of one repository (None: of all) in their order. Raises `RequestRefused` (REPOSITORY_UNKNOWN)."""
    with service.records.reading() as tx:
        if repository is not None:
            known_repository(tx, repository)
        return part(tx.events(repository, page, types=types, since=since, until=until), page)


def list_audit_entries(service: Service, page: Page) -> Part[AuditEntry]:
    """Entries of the chain in their order."""
    with service.records.reading() as tx:
        return part(tx.audit_entries(page), page)
