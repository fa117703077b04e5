"""The hash chain of the audit log: what one link hashes, and whether links follow one another. Pure.

digest = sha256 over the RFC 8785 form of all other fields of the entry, the digest of the entry before included. Whoever
has the entries (from the store, the API or a copy) can follow the chain with this module alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import AuditEntry
from gatekeeper.errors import InputError, VerificationRefused
from gatekeeper.formats.canonical_json import canonical

SCHEMA = "gatekeeper.audit/1"
FIRST = "0" * 64
"""`previous_digest` of the first entry."""
MAX_DETAILS = 64 * 1024
"""Bytes of one entry's details."""


def details_bytes(details: Any) -> bytes:
    """Details as they are stored and hashed; None is an empty object. Raises `InputError`."""
    data = canonical({} if details is None else details)
    if len(data) > MAX_DETAILS:
        raise InputError(
            "INPUT_TOO_LARGE", f"Details of an audit entry have {len(data)} bytes; {MAX_DETAILS} are kept."
        )
    return data


def entry_digest(entry: AuditEntry) -> str:
    """sha256 of the entry, `digest` itself left out. Raises `InputError` for values that no entry has."""
    try:
        details = entry.details.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError("INPUT_MALFORMED", "The details of an audit entry are no UTF-8.") from None
    document = {
        "schema": SCHEMA,
        "sequence": entry.sequence,
        "time": entry.time,
        "actor": _principal(entry.actor),
        "action": entry.action,
        "subject": entry.subject,
        "allowed": entry.allowed,
        "reason": entry.reason,
        "details": details,
        "previous_digest": entry.previous_digest,
    }
    return hashlib.sha256(canonical(document)).hexdigest()


def sealed(entry: AuditEntry) -> AuditEntry:
    """The entry with its digest."""
    return replace(entry, digest=entry_digest(entry))


def follow(entry: AuditEntry, count: int, digest: str) -> str:
    """Check that `entry` comes right behind `count` entries that end in `digest`; returns its digest.

    Raises `VerificationRefused` (AUDIT_BROKEN).
    """
    if entry.sequence != count + 1:
        raise broken(count + 1, f"entry {entry.sequence} stands where entry {count + 1} is expected")
    if entry.previous_digest != digest:
        raise broken(entry.sequence, "it does not follow the entry before it")
    try:
        found = entry_digest(entry)
    except InputError as error:
        raise broken(entry.sequence, error.message) from None
    if found != entry.digest:
        raise broken(entry.sequence, "its content does not have the digest that it names")
    return found


def broken(sequence: int, what: str) -> VerificationRefused:
    """The refusal that names the first entry that does not fit."""
    return VerificationRefused(
        "AUDIT_BROKEN", f"The audit log is not intact at entry {sequence}: {what}.", sequence=sequence
    )


def _principal(actor: Principal | None) -> dict[str, Any] | None:
    if actor is None:
        return None
    return {
        "issuer": actor.issuer,
        "subject": actor.subject,
        "kind": actor.kind,
        "on_behalf_of": actor.on_behalf_of,
    }
