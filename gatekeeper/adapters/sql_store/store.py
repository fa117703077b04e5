"""The store: transactions, the news counter, and the verification of the audit log."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

import sqlalchemy as sa

from gatekeeper.adapters.sql_store import schema as s
from gatekeeper.adapters.sql_store.anchor import Anchor, AnchorUnreadable, Mark
from gatekeeper.adapters.sql_store.engines import Engines, postgres_engines, sqlite_engines
from gatekeeper.adapters.sql_store.faults import store_faults
from gatekeeper.adapters.sql_store.migrate import migrate
from gatekeeper.adapters.sql_store.rows import from_row
from gatekeeper.adapters.sql_store.transaction import SqlTransaction
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import AuditEntry
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.audit_chain import FIRST, broken, follow

WRITER_WAIT_S = 30
"""Seconds that a thread waits for the other writers of its process."""
_BATCH = 500
_LOG = logging.getLogger("gatekeeper.store")


class SqlRecords:
    """Implements `domain.service_ports.Records`; threads share one."""

    def __init__(self, engines: Engines, anchor: Path) -> None:
        self._engines = engines
        self._anchor = Anchor(anchor)
        self._lock = threading.Lock()
        self._writer: int | None = None
        self._told = False

    @classmethod
    def file(cls, path: Path) -> SqlRecords:
        """A SQLite file, made or brought to this schema. Raises `CouldNotCheck` (STORE_FAILED, STORE_NEWER)."""
        with store_faults():
            engines = sqlite_engines(path)
        return cls._opened(engines, path.with_name("audit.anchor"))

    @classmethod
    def postgres(cls, url: str, anchor: Path) -> SqlRecords:
        """A Postgres database by SQLAlchemy URL; the anchor stays on this machine. Raises `CouldNotCheck`."""
        with store_faults():
            engines = postgres_engines(url)
        return cls._opened(engines, anchor)

    @classmethod
    def _opened(cls, engines: Engines, anchor: Path) -> SqlRecords:
        try:
            migrate(engines)
        except BaseException:
            engines.close()
            raise
        return cls(engines, anchor)

    def close(self) -> None:
        """Close the connections."""
        self._engines.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A writing transaction: one at a time, from its first statement on.

        Raises `RuntimeError` inside another one of the same thread, which would wait for itself.
        """
        if self._writer == threading.get_ident():
            raise RuntimeError("a writing transaction is open in this thread already")
        if not self._lock.acquire(timeout=WRITER_WAIT_S):
            raise CouldNotCheck("STORE_FAILED", f"Other writers kept the store busy for {WRITER_WAIT_S} seconds.")
        try:
            self._writer = threading.get_ident()
            with self._writing() as work:
                yield work
        finally:
            self._writer = None
            self._lock.release()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[SqlTransaction]:
        with contextlib.ExitStack() as held:
            movable = False

            def first_link(count: int, digest: str) -> None:
                """Nobody moves the anchor between this look at it and the end of the transaction."""
                nonlocal movable
                held.enter_context(self._anchor.held())
                movable = self._fits(work, Mark(count, digest))

            with store_faults():
                connection = held.enter_context(self._engines.writer.connect())
                transaction = connection.begin()
            work = SqlTransaction(connection, writable=True, first_link=first_link)
            try:
                yield work
                with store_faults():
                    work.must_be_whole()
                    transaction.commit()
            except BaseException:
                with contextlib.suppress(sa.exc.SQLAlchemyError):
                    transaction.rollback()
                raise
            if work.last_link is not None and movable:
                try:
                    self._anchor.write(Mark(work.last_link.sequence, work.last_link.digest))
                except OSError as error:  # what was decided is stored; the next entry moves the anchor
                    _LOG.error("the anchor of the audit log could not be written: %s", error)

    def _fits(self, work: SqlTransaction, end: Mark) -> bool:
        """True where the anchor belongs to the chain so far; else it stays, and `verify_audit` tells."""
        try:
            mark = self._anchor.read()
        except (AnchorUnreadable, OSError):
            mark = Mark(0, "")
        if mark is None:
            fits = end.entries == 0
        elif mark.entries >= end.entries:
            fits = mark == end
        else:
            fits = work.link_digest(mark.entries) == mark.digest
        if not fits and not self._told:
            self._told = True
            _LOG.error("the audit log does not fit its anchor %s: run `gatekeeper audit verify`", self._anchor.path)
        return fits

    @contextlib.contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A consistent view that never waits for a writer; writing methods raise `RuntimeError`."""
        with self._snapshot() as connection:
            yield SqlTransaction(connection, writable=False)

    @contextlib.contextmanager
    def _snapshot(self) -> Iterator[sa.Connection]:
        with contextlib.ExitStack() as held:
            with store_faults():
                connection = held.enter_context(self._engines.reader.connect())
                transaction = connection.begin()
                # Both databases take the snapshot with the first read; it belongs to the beginning.
                connection.execute(_SNAPSHOT).all()
            try:
                yield connection
            finally:
                with contextlib.suppress(sa.exc.SQLAlchemyError):
                    transaction.rollback()

    def latest_event(self) -> int:
        """Highest sequence of an event, 0 for none: one look at the end of the primary key."""
        with store_faults(), self._engines.reader.connect() as connection:
            return int(connection.execute(_LATEST).scalar() or 0)

    def verify_audit(self, expect: str | None = None) -> tuple[int, str]:
        """(entries, digest of the last one) of an intact chain that reaches its anchor.

        `expect` is the digest of an entry that was noted elsewhere; the chain must hold it. Reads the entries in
        pieces. Raises `VerificationRefused` (AUDIT_BROKEN) naming the first entry that does not fit.
        """
        try:
            with store_faults():
                mark = self._anchor.read()  # before the snapshot: the log only grows meanwhile
        except AnchorUnreadable:
            raise broken(1, f"its anchor {str(self._anchor.path)!r} cannot be read") from None
        count, digest, expected = 0, FIRST, expect is None
        with self._snapshot() as connection:
            for count, digest in self._followed(connection):
                expected = expected or digest == expect
                if mark is not None and count == mark.entries and digest != mark.digest:
                    raise broken(count, "it is another one than its anchor names: the log was written anew")
        if mark is None and count:
            raise broken(count, f"its anchor {str(self._anchor.path)!r} is missing")
        if mark is not None and count < mark.entries:
            raise broken(count + 1, f"it is missing: the anchor counts {mark.entries} entries")
        if not expected:
            raise broken(count, "no entry has the digest that was expected")
        return count, digest

    def anchor_again(self, actor: Principal, time: float) -> tuple[int, str]:
        """Anchor an intact chain as it is, whatever the anchor says: for an operator who restored a backup.

        The act is an entry itself. Returns what `verify_audit` would. Raises `VerificationRefused` (AUDIT_BROKEN).
        """
        with self.transaction() as work:
            with self._snapshot() as connection:
                for _ in self._followed(connection):
                    pass
            try:
                with store_faults():
                    before = self._anchor.read()
            except AnchorUnreadable:
                before = None
            details = {"entries": before.entries, "digest": before.digest} if before else {}
            entry = work.audit("audit.anchor", "audit", actor, time=time, details=details)
        with store_faults(), self._anchor.held():
            self._anchor.write(Mark(entry.sequence, entry.digest))
        return entry.sequence, entry.digest

    def _followed(self, connection: sa.Connection) -> Iterator[tuple[int, str]]:
        """(entries so far, digest) behind each entry, checked. Raises `VerificationRefused` (AUDIT_BROKEN)."""
        digest = FIRST
        for number, row in enumerate(self._chain(connection), 1):
            try:
                entry = from_row(AuditEntry, row)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                raise broken(number, "it is malformed") from None
            digest = follow(entry, number - 1, digest)
            yield number, digest

    def _chain(self, connection: sa.Connection) -> Iterator[sa.RowMapping]:
        t, last = s.audit_entries, None
        while True:
            statement = sa.select(t).order_by(t.c.sequence).limit(_BATCH)
            if last is not None:
                statement = statement.where(t.c.sequence > last)
            with store_faults():
                rows = connection.execute(statement).mappings().all()
            yield from rows
            if len(rows) < _BATCH:
                return
            last = rows[-1]["sequence"]


_SNAPSHOT = sa.select(s.repositories.c.name).limit(1)
_LATEST = sa.select(sa.func.max(s.events.c.sequence))
