"""The reading half of a transaction. Lists page by key and leave large columns where they are."""

# ruff: noqa: D102  # the port describes the methods

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import sqlalchemy as sa

from gatekeeper.adapters.sql_store import schema as s
from gatekeeper.adapters.sql_store.faults import store_failed, store_faults
from gatekeeper.adapters.sql_store.rows import from_row
from gatekeeper.domain.flake import FlakeRecord
from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.paging import Listed, is_key
from gatekeeper.domain.records import (
    ArtifactRecord,
    AttestationRecord,
    AuditEntry,
    ChangeRecord,
    CredentialRecord,
    Event,
    Page,
    Remembered,
    RepositoryRecord,
    ReviewRecord,
    TicketRecord,
    UsageRecord,
    VerificationRecord,
)

R = TypeVar("R")
L = TypeVar("L", bound=Listed)
NO_REPORT: Mapping[str, Any] = {"report": None, "repair_brief": ""}
NO_BUNDLE: Mapping[str, Any] = {"bundle": b""}
_ACTIVE = sa.text(s.ACTIVE)  # the words of the partial indexes, so that they serve


@cache
def select_by(table: sa.Table, absent: frozenset[str], key: tuple[str, ...]) -> sa.Select[Any]:
    """A row by columns of its key, given as parameters `key_<column>`: building a statement costs more than running it."""
    conditions = [table.c[name] == sa.bindparam(f"key_{name}") for name in key]
    return sa.select(*(c for c in table.columns if c.name not in absent)).where(*conditions)


def columns(table: sa.Table, absent: Mapping[str, Any]) -> list[sa.Column[Any]]:
    """Columns of a table without those in `absent`."""
    return [c for c in table.columns if c.name not in absent]


class Reads:
    """Reads on one connection; see `domain.service_ports.Transaction`."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection
        self.failed = False
        """True once a statement failed: such a transaction must not be committed."""

    def must_be_whole(self) -> None:
        """Raises `CouldNotCheck` where a statement failed and the caller went on."""
        if self.failed:
            raise store_failed(RuntimeError("a statement of the transaction failed before"))

    def _rows(self, statement: sa.Select[Any], parameters: Mapping[str, Any] | None = None) -> Sequence[sa.RowMapping]:
        try:
            with store_faults():
                return self._connection.execute(statement, parameters).mappings().all()
        except BaseException:
            self.failed = True
            raise

    def _records(
        self,
        kind: type[R],
        statement: sa.Select[Any],
        absent: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> list[R]:
        rows = self._rows(statement, parameters)
        try:
            return [from_row(kind, row, absent) for row in rows]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            self.failed = True
            raise store_failed(ValueError(f"malformed row of {kind.__name__}")) from error

    def _record(self, kind: type[R], table: sa.Table, absent: Mapping[str, Any] | None = None, **key: Any) -> R | None:
        statement = select_by(table, frozenset(absent or ()), tuple(key))
        found = self._records(kind, statement, absent, {f"key_{name}": value for name, value in key.items()})
        return found[0] if found else None

    def _page(
        self,
        kind: type[L],
        table: sa.Table,
        page: Page,
        conditions: Sequence[sa.ColumnElement[bool]],
        absent: Mapping[str, Any] | None = None,
    ) -> list[L]:
        if page.size < 1 or (page.after is not None and not is_key(kind, page.after)):
            raise ValueError(f"{page!r} is no page of {kind.__name__}")
        statement = sa.select(*columns(table, absent or {})).where(*conditions).limit(page.size + 1)
        if kind in (Event, AuditEntry, RepositoryRecord):
            key = table.c.name if kind is RepositoryRecord else table.c.sequence
            statement = statement.order_by(key)
            if page.after is not None:
                statement = statement.where(key > page.after[0])
        else:
            statement = statement.order_by(table.c.create_time.desc(), table.c.name.desc())
            if page.after is not None:
                here = sa.tuple_(table.c.create_time, table.c.name)
                statement = statement.where(here < sa.tuple_(float(page.after[0]), page.after[1]))
        return self._records(kind, statement, absent)

    # repositories, tickets, changes

    def repository(self, name: str) -> RepositoryRecord | None:
        return self._record(RepositoryRecord, s.repositories, name=name)

    def repositories(self, owner: str | None, page: Page) -> list[RepositoryRecord]:
        conditions = [] if owner is None else [s.repositories.c.owner == owner.removeprefix("owners/")]
        return self._page(RepositoryRecord, s.repositories, page, conditions)

    def ticket(self, name: str, digest: str | None = None) -> TicketRecord | None:
        t = s.tickets
        statement = sa.select(t).where(t.c.name == name).order_by(t.c.revision.desc()).limit(1)
        if digest is not None:
            statement = statement.where(t.c.digest == digest)
        found = self._records(TicketRecord, statement)
        return found[0] if found else None

    def tickets(self, repository: str, states: Sequence[TicketState], page: Page) -> list[TicketRecord]:
        t = s.tickets
        conditions = [t.c.repository == repository, sa.text("newest"), *_among(t.c.state, states)]
        return self._page(TicketRecord, t, page, conditions)  # type: ignore[arg-type]

    def change(self, name: str) -> ChangeRecord | None:
        return self._record(ChangeRecord, s.changes, name=name)

    def changes(
        self,
        repository: str | None,
        page: Page,
        *,
        states: Sequence[ChangeState] = (),
        ticket: str = "",
        head: str = "",
    ) -> list[ChangeRecord]:
        t = s.changes
        conditions = _given(t, repository=repository or "", ticket=ticket, head=head)
        return self._page(ChangeRecord, t, page, [*conditions, *_among(t.c.state, states)])

    # verifications

    def verification(self, name: str, *, report: bool = True) -> VerificationRecord | None:
        return self._record(VerificationRecord, s.verifications, {} if report else NO_REPORT, name=name)

    def verifications(
        self,
        change: str | None,
        page: Page,
        *,
        repository: str = "",
        states: Sequence[VerificationState] = (),
        head: str = "",
        current_only: bool = False,
    ) -> list[VerificationRecord]:
        t = s.verifications
        conditions = _given(t, change=change or "", repository=repository, head=head)
        if current_only:
            conditions.append(t.c.current)
        return self._page(VerificationRecord, t, page, [*conditions, *_among(t.c.state, states)], NO_REPORT)

    def active_verifications(self, change: str | None = None) -> list[VerificationRecord]:
        t = s.verifications
        statement = sa.select(*columns(t, NO_REPORT)).where(_ACTIVE, *_given(t, change=change or ""))
        return self._records(VerificationRecord, statement.order_by(t.c.create_time, t.c.name), NO_REPORT)

    def active_count(self) -> int:
        (row,) = self._rows(sa.select(sa.func.count().label("n")).select_from(s.verifications).where(_ACTIVE))
        return int(row["n"])

    def active_submitters(self) -> list[str]:
        rows = self._rows(sa.select(s.verifications.c.submitter).where(_ACTIVE))
        return ["{issuer}#{subject}".format(**json.loads(row["submitter"])) for row in rows]

    # the rest

    def reviews(self, change: str) -> list[ReviewRecord]:
        t = s.reviews
        statement = sa.select(t).where(t.c.change == change).order_by(t.c.create_time, t.c.name)
        return self._records(ReviewRecord, statement)

    def attestation(self, name: str) -> AttestationRecord | None:
        return self._record(AttestationRecord, s.attestations, name=name)

    def attestations(
        self,
        repository: str,
        page: Page,
        *,
        subject_commit: str = "",
        target_ref: str = "",
        kinds: Sequence[str] = (),
        purpose: str = "",
        current_only: bool = False,
    ) -> list[AttestationRecord]:
        t = s.attestations
        conditions = [
            t.c.repository == repository,
            *_given(t, subject_commit=subject_commit, target_ref=target_ref, purpose=purpose),
            *_among(t.c.kind, kinds),
        ]
        if current_only:
            conditions.append(t.c.current)
        return self._page(AttestationRecord, t, page, conditions, NO_BUNDLE)

    def artifact(self, name: str) -> ArtifactRecord | None:
        return self._record(ArtifactRecord, s.artifacts, name=name)

    def artifact_uploaders(self, name: str) -> frozenset[str]:
        t = s.artifact_uploaders
        return frozenset(row["principal"] for row in self._rows(sa.select(t.c.principal).where(t.c.artifact == name)))

    def usage(self, change: str) -> list[UsageRecord]:
        t = s.usage_reports
        statement = sa.select(t).where(t.c.change == change).order_by(t.c.create_time, t.c.id)
        return self._records(UsageRecord, statement)

    def credential(self, digest: str) -> CredentialRecord | None:
        return self._record(CredentialRecord, s.credentials, digest=digest)

    def credentials(self) -> list[CredentialRecord]:
        t = s.credentials
        return self._records(CredentialRecord, sa.select(t).order_by(t.c.create_time, t.c.id))

    def flakes(self, repository: str = "", suite: str = "") -> list[FlakeRecord]:
        t = s.flakes
        conditions = _given(t, repository=repository, suite=suite)
        return self._records(FlakeRecord, sa.select(t).where(*conditions).order_by(t.c.repository, t.c.suite, t.c.test))

    def remembered(self, principal: str, method: str, request_id: str) -> Remembered | None:
        return self._record(Remembered, s.requests, principal=principal, method=method, request_id=request_id)

    def events(
        self,
        repository: str | None,
        page: Page,
        *,
        types: Sequence[str] = (),
        since: float | None = None,
        until: float | None = None,
    ) -> list[Event]:
        t = s.events
        conditions = [*_given(t, repository=repository or ""), *_among(t.c.type, types)]
        if since is not None:
            conditions.append(t.c.time >= since)
        if until is not None:
            conditions.append(t.c.time < until)
        return self._page(Event, t, page, conditions)

    def audit_entries(self, page: Page) -> list[AuditEntry]:
        return self._page(AuditEntry, s.audit_entries, page, [])


def _given(table: sa.Table, **wanted: str) -> list[sa.ColumnElement[bool]]:
    """Equality for every value that is not empty."""
    return [table.c[name] == value for name, value in wanted.items() if value]


def _among(column: sa.Column[Any], values: Sequence[str]) -> list[sa.ColumnElement[bool]]:
    """One of the values; none given means all."""
    return [column.in_([str(v) for v in values])] if values else []
