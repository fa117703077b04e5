"""Pages of lists: what the store gave, cut to size, and where the next page begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from gatekeeper.domain.paging import row_key
from gatekeeper.domain.records import (
    AttestationRecord,
    AuditEntry,
    ChangeRecord,
    Event,
    Page,
    RepositoryRecord,
    TicketRecord,
    VerificationRecord,
)
from gatekeeper.records import dataclass

Row = TypeVar(
    "Row", RepositoryRecord, TicketRecord, ChangeRecord, VerificationRecord, AttestationRecord, Event, AuditEntry
)


@dataclass(frozen=True, slots=True)
class Part(Generic[Row]):
    """One page."""

    rows: Sequence[Row]
    after: tuple[Any, ...] | None
    """Key of the last row where more follow, else None."""


def part(rows: Sequence[Row], page: Page) -> Part[Row]:
    """`rows` as the store returned them for `page`: at most one more than asked."""
    kept = rows[: page.size]
    return Part(kept, row_key(kept[-1]) if len(rows) > page.size and kept else None)
