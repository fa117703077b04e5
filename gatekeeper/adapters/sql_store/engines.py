"""Connections: one engine for the single writer, one for readers, for SQLite files and for Postgres."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from gatekeeper.records import dataclass

BUSY_S = 15
"""Seconds that a statement waits for another process's lock."""
READERS = 16
"""Connections kept open for readers; four times as many at a peak."""
WRITER_LOCK = 0x676B_7374
"""Key of the Postgres advisory lock that makes writing transactions one at a time."""


@dataclass(frozen=True)
class Engines:
    """Where statements run. `writer` begins with the write lock, `reader` cannot write."""

    writer: sa.Engine
    reader: sa.Engine

    @property
    def sqlite(self) -> bool:
        """True for a SQLite file."""
        return self.writer.dialect.name == "sqlite"

    def close(self) -> None:
        """Close every connection that is not in use."""
        self.writer.dispose()
        self.reader.dispose()


def sqlite_engines(path: Path) -> Engines:
    """Engines on a file, made where it is missing: 0600 in a directory that is made 0700. Raises `OSError`."""
    private_file(path)
    writer = sa.create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_S}, pool_size=1, max_overflow=0)
    reader = sa.create_engine(
        f"sqlite:///{path}", connect_args={"timeout": BUSY_S}, pool_size=READERS, max_overflow=3 * READERS,
        pool_timeout=BUSY_S,
    )  # fmt: skip

    @sa.event.listens_for(writer, "connect")
    def set_up_writer(connection: Any, _record: Any) -> None:
        connection.isolation_level = None  # transactions are begun below, not guessed by the driver
        for pragma in ("synchronous = FULL", "foreign_keys = ON", "recursive_triggers = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(reader, "connect")
    def set_up_reader(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")

    @sa.event.listens_for(writer, "begin")
    def begin_writing(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    @sa.event.listens_for(reader, "begin")
    def begin_reading(connection: sa.Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return Engines(writer, reader)


def postgres_engines(url: str) -> Engines:
    """Engines on a Postgres database named by an SQLAlchemy URL."""
    options = f"-c lock_timeout={BUSY_S}s -c timezone=UTC"
    writer = sa.create_engine(url, connect_args={"options": options}, pool_size=1, max_overflow=0, pool_pre_ping=True)
    reader = sa.create_engine(
        url, connect_args={"options": options}, pool_size=READERS, max_overflow=3 * READERS, pool_timeout=BUSY_S,
        pool_pre_ping=True, isolation_level="REPEATABLE READ", execution_options={"postgresql_readonly": True},
    )  # fmt: skip

    @sa.event.listens_for(writer, "begin")
    def begin_writing(connection: sa.Connection) -> None:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITER_LOCK})")

    return Engines(writer, reader)


def private_directory(path: Path) -> None:
    """A directory for the gate's user alone. Raises `OSError`."""
    path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    path.mkdir(mode=0o700, exist_ok=True)
    path.chmod(0o700)


def private_file(path: Path) -> None:
    """An empty file for the gate's user alone, where there is none. Raises `OSError`, for links too."""
    private_directory(path.parent)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{str(path)!r} is no regular file")
        os.fchmod(handle, 0o600)
    finally:
        os.close(handle)
