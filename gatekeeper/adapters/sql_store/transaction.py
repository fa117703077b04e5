"""The writing half of a transaction."""

# ruff: noqa: D102  # the port describes the methods

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import sqlalchemy as sa

from gatekeeper.adapters.sql_store import schema as s
from gatekeeper.adapters.sql_store.faults import store_failed, store_faults
from gatekeeper.adapters.sql_store.reads import Reads, select_by
from gatekeeper.adapters.sql_store.rows import to_row
from gatekeeper.domain.flake import FlakeRecord
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import (
    ArtifactRecord,
    AttestationRecord,
    AuditEntry,
    ChangeRecord,
    CredentialRecord,
    Event,
    Remembered,
    RepositoryRecord,
    ReviewRecord,
    TicketRecord,
    UsageRecord,
    VerificationRecord,
)
from gatekeeper.formats.audit_chain import FIRST, details_bytes, sealed

_REPOSITORY = re.compile(r"owners/([^/]+)/repositories/[^/]+")


def repository_of(name: str) -> str:
    """The repository that a resource name lies in, empty where it lies in none."""
    found = _REPOSITORY.match(name)
    return found.group() if found else ""


class SqlTransaction(Reads):
    """Implements `domain.service_ports.Transaction`. A reading one (`writable` False) raises at every write.

    `first_link` is called once, before the first audit entry, with the count and the digest of the chain so far.
    """

    def __init__(
        self,
        connection: sa.Connection,
        *,
        writable: bool,
        first_link: Callable[[int, str], None] = lambda _count, _digest: None,
    ) -> None:
        super().__init__(connection)
        self._writable = writable
        self._first_link = first_link
        self.last_link: AuditEntry | None = None
        """The newest audit entry of this transaction."""

    def _write(self, statement: sa.Insert | sa.Update | sa.Delete, parameters: Mapping[str, Any] | None = None) -> int:
        """Execute; number of rows that it touched."""
        if not self._writable:
            raise RuntimeError("a reading transaction cannot write")
        try:
            with store_faults():
                return self._connection.execute(statement, parameters).rowcount
        except BaseException:
            self.failed = True
            raise

    def _insert(self, table: sa.Table, record: Any, **more: Any) -> None:
        self._write(_insert_into(table), {**_row(record), **more})

    def _add(self, table: sa.Table, record: Any, **more: Any) -> None:
        """Insert; `KeyError` where the key is taken."""
        row = {**_row(record), **more}
        key = _key(table)
        if self._rows(select_by(table, _all_but(table, key), key), {f"key_{name}": row[name] for name in key}):
            raise KeyError(" ".join(str(row[name]) for name in key))
        self._write(_insert_into(table), row)

    def _save(self, table: sa.Table, record: Any) -> None:
        """Update by key; `KeyError` where there is none."""
        row = _row(record)
        key = _key(table)
        if self._write(_update_by(table, key), {**row, **{f"key_{name}": row[name] for name in key}}) != 1:
            raise KeyError(" ".join(str(row[name]) for name in key))

    def _guard_version(self, table: sa.Table, name: str, column: str, version: int) -> None:
        """Raises `KeyError` for an unknown name, `RuntimeError` for a record that was read before a later change."""
        rows = self._rows(select_by(table, _all_but(table, (column,)), ("name",)), {"key_name": name})
        if not rows:
            raise KeyError(name)
        if rows[0][column] != version:
            raise RuntimeError(f"{name} was read at {column} {version} and is at {rows[0][column]} now: read it again")

    # repositories, tickets, changes

    def add_repository(self, record: RepositoryRecord) -> None:
        found = _REPOSITORY.fullmatch(record.name)
        self._add(s.repositories, record, owner=found.group(1) if found else "")

    def add_ticket(self, record: TicketRecord) -> None:
        t = s.tickets
        newer = sa.select(sa.literal(1)).where(t.c.name == record.name, t.c.revision >= record.revision)
        if self._rows(newer.limit(1)):
            raise KeyError(f"{record.name} {record.revision}")
        self._write(sa.update(t).where(t.c.name == record.name, sa.text("newest")).values(newest=False))
        self._add(t, record, repository=repository_of(record.name), newest=True)

    def save_ticket(self, record: TicketRecord) -> None:
        self._save(s.tickets, record)

    def add_change(self, record: ChangeRecord) -> None:
        self._add(s.changes, record, repository=repository_of(record.name))

    def save_change(self, record: ChangeRecord) -> ChangeRecord:
        self._guard_version(s.changes, record.name, "version", record.version)
        stored = replace(record, version=record.version + 1)
        self._save(s.changes, stored)
        return stored

    # verifications

    def add_verification(self, record: VerificationRecord) -> None:
        self._add(s.verifications, record, repository=repository_of(record.name))

    def save_verification(self, record: VerificationRecord) -> VerificationRecord:
        self._guard_version(s.verifications, record.name, "revision", record.revision)
        stored = replace(record, revision=record.revision + 1)
        self._save(s.verifications, stored)
        return stored

    def retire_verdicts(self, record: VerificationRecord) -> list[str]:
        t, a = s.verifications, s.attestations
        others = [t.c.change == record.change, t.c.purpose == record.purpose, t.c.name != record.name]
        names = [row["name"] for row in self._rows(sa.select(t.c.name).where(sa.text("current"), *others))]
        if names:
            self._write(sa.update(t).where(t.c.name.in_(names)).values(current=False, revision=t.c.revision + 1))
            self._write(sa.update(a).where(a.c.verification.in_(names), a.c.current).values(current=False))
        return names

    # the rest

    def add_review(self, record: ReviewRecord) -> None:
        self._add(s.reviews, record)

    def add_attestation(self, record: AttestationRecord) -> None:
        if not self._rows(sa.select(sa.literal(1)).where(s.attestations.c.name == record.name)):
            self._insert(s.attestations, record, repository=repository_of(record.name))

    def add_artifact(self, record: ArtifactRecord) -> None:
        t, u = s.artifacts, s.artifact_uploaders
        there = self.artifact(record.name)
        if there is None:
            self._insert(t, record)
        elif there.expire_time < record.expire_time:
            self._write(sa.update(t).where(t.c.name == record.name).values(expire_time=record.expire_time))
        if record.uploader not in self.artifact_uploaders(record.name):
            self._write(sa.insert(u).values(artifact=record.name, principal=record.uploader))

    def add_usage(self, record: UsageRecord) -> None:
        self._add(s.usage_reports, record)

    def add_credential(self, record: CredentialRecord) -> None:
        if self.credential(record.digest) is not None:
            raise KeyError(record.id)
        self._add(s.credentials, record)

    def save_credential(self, record: CredentialRecord) -> None:
        self._save(s.credentials, record)

    def put_flake(self, record: FlakeRecord) -> None:
        try:
            self._save(s.flakes, record)
        except KeyError:
            self._insert(s.flakes, record)

    def drop_flake(self, record: FlakeRecord) -> None:
        t = s.flakes
        key = (t.c.repository == record.repository, t.c.suite == record.suite, t.c.test == record.test)
        if self._write(sa.delete(t).where(*key)) != 1:
            raise KeyError(" ".join(record.key))

    # what happened

    def remember(self, record: Remembered) -> None:
        self._add(s.requests, record)

    def event(self, event: Event) -> int:
        last = self._rows(sa.select(sa.func.max(s.events.c.sequence).label("last")))[0]["last"] or 0
        self._insert(s.events, replace(event, sequence=last + 1), repository=repository_of(event.subject))
        return int(last) + 1

    def audit(
        self,
        action: str,
        subject: str,
        actor: Principal | None,
        *,
        time: float,
        allowed: bool = True,
        reason: str = "",
        details: Any = None,
    ) -> AuditEntry:
        if not self._writable:
            raise RuntimeError("a reading transaction cannot write")
        count, previous = self._chain_end()
        if self.last_link is None:
            with store_faults():
                self._first_link(count, previous)
        entry = sealed(
            AuditEntry(
                sequence=count + 1,
                time=float(time),
                actor=actor,
                action=action,
                subject=subject,
                allowed=allowed,
                reason=reason,
                details=details_bytes(details),
                previous_digest=previous,
                digest="",
            )
        )
        self._insert(s.audit_entries, entry)
        self.last_link = entry
        return entry

    def _chain_end(self) -> tuple[int, str]:
        """(entries, digest of the last one)."""
        if self.last_link is not None:
            return self.last_link.sequence, self.last_link.digest
        t = s.audit_entries
        rows = self._rows(sa.select(t.c.sequence, t.c.digest).order_by(t.c.sequence.desc()).limit(1))
        return (rows[0]["sequence"], rows[0]["digest"]) if rows else (0, FIRST)

    def link_digest(self, sequence: int) -> str | None:
        """Digest that the chain has at `sequence`."""
        t = s.audit_entries
        rows = self._rows(sa.select(t.c.digest).where(t.c.sequence == sequence))
        return rows[0]["digest"] if rows else None


def _row(record: Any) -> dict[str, Any]:
    try:
        return to_row(record)
    except (ValueError, TypeError, RecursionError) as error:
        raise store_failed(ValueError(f"{type(record).__name__} cannot be stored: {error}")) from error


@cache
def _insert_into(table: sa.Table) -> sa.Insert:
    return sa.insert(table)


@cache
def _update_by(table: sa.Table, key: tuple[str, ...]) -> sa.Update:
    """Sets the columns that the parameters name."""
    return sa.update(table).where(*(table.c[name] == sa.bindparam(f"key_{name}") for name in key))


@cache
def _key(table: sa.Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.primary_key.columns)


@cache
def _all_but(table: sa.Table, kept: tuple[str, ...]) -> frozenset[str]:
    return frozenset(column.name for column in table.columns) - frozenset(kept)
