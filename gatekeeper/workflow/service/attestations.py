"""Signed statements, handed out. Whoever enforces verifies the bundle itself."""

from __future__ import annotations

from collections.abc import Sequence

from gatekeeper.domain.records import AttestationRecord, Page
from gatekeeper.errors import RequestRefused
from gatekeeper.workflow.service.pages import Part, part
from gatekeeper.workflow.service.repositories import known_repository
from gatekeeper.workflow.service.service import Service


def get(service: Service, name: str) -> AttestationRecord:
    """One statement with its bundle. Raises `RequestRefused` (ATTESTATION_UNKNOWN)."""
    with service.records.reading() as tx:
        found = tx.attestation(name)
    if found is None:
        raise RequestRefused("ATTESTATION_UNKNOWN", f"There is no attestation {name}.", name=name)
    return found


def list_page(
    service: Service,
    repository: str,
    page: Page,
    *,
    subject_commit: str = "",
    target_ref: str = "",
    kinds: Sequence[str] = (),
    purpose: str = "",
    current_only: bool = False,
) -> Part[AttestationRecord]:
    """Statements of a repository without bundles. Raises `RequestRefused` (REPOSITORY_UNKNOWN)."""
    with service.records.reading() as tx:
        known_repository(tx, repository)
        rows = tx.attestations(
            repository,
            page,
            subject_commit=subject_commit,
            target_ref=target_ref,
            kinds=kinds,
            purpose=purpose,
            current_only=current_only,
        )
        return part(rows, page)
