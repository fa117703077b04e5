"""Sort keys of lists: what `Page.after` holds. Pure, so that the API can put them into opaque page tokens."""

from __future__ import annotations

from typing import Any

from gatekeeper.domain.records import (
    AttestationRecord,
    AuditEntry,
    ChangeRecord,
    Event,
    RepositoryRecord,
    TicketRecord,
    VerificationRecord,
)

Listed = RepositoryRecord | TicketRecord | ChangeRecord | VerificationRecord | AttestationRecord | Event | AuditEntry
"""Records that come in pages."""
MAX_SEQUENCE = 2**63 - 1


def row_key(row: Listed) -> tuple[Any, ...]:
    """The sort key of a row, JSON values alone: `Page(size, after=row_key(last))` goes on behind it."""
    if isinstance(row, RepositoryRecord):
        return (row.name,)
    if isinstance(row, Event | AuditEntry):
        return (row.sequence,)
    return (row.create_time, row.name)


def is_key(kind: type[Any], key: object) -> bool:
    """True where `key` has the shape of `row_key` of such a row: tokens come from clients."""
    if not isinstance(key, tuple):
        return False
    if kind is RepositoryRecord:
        return len(key) == 1 and _is_text(key[0])
    if kind in (Event, AuditEntry):
        return len(key) == 1 and type(key[0]) is int and 0 <= key[0] <= MAX_SEQUENCE
    return len(key) == 2 and _is_time(key[0]) and _is_text(key[1])


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value and value.isascii()


def _is_time(value: object) -> bool:
    # Infinities and NaN are not below; a whole number of any length can be compared, not converted.
    return type(value) in (int, float) and abs(value) < 2**53  # type: ignore[arg-type]
