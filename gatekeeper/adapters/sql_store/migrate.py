"""Brings a database to the schema of this code: in one transaction under the write lock, or not at all."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from gatekeeper.adapters.sql_store.engines import Engines
from gatekeeper.adapters.sql_store.faults import store_faults
from gatekeeper.errors import CouldNotCheck

REVISIONS = ("0001", "0002")
"""Every revision of the schema, oldest first; the last is what this code works on."""
APPLICATION_ID = 0x676B7374
"""Written into the header of a SQLite file: a file of another program is never migrated."""
MIGRATIONS = Path(__file__).with_name("migrations")


def migrate(engines: Engines) -> None:
    """Upgrade where needed. Raises `CouldNotCheck` (STORE_FAILED, STORE_NEWER) and leaves the database as it was."""
    with store_faults():
        if engines.sqlite:
            _set_wal(engines)
        with engines.reader.connect() as connection:
            if _revision(connection) == REVISIONS[-1]:
                return
        with engines.writer.begin() as connection:
            found = _revision(connection)
            if found == REVISIONS[-1]:
                return  # another process was faster
            if found is None:
                _refuse_foreign(connection, engines)
            _upgrade(connection)
            if engines.sqlite:
                connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")


def _set_wal(engines: Engines) -> None:
    """Once a file: the mode stays with it. Without it readers would wait for the writer."""
    raw = engines.writer.raw_connection()
    try:
        cursor = raw.cursor()
        (mode,) = cursor.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal":
            (mode,) = cursor.execute("PRAGMA journal_mode = WAL").fetchone()
        cursor.close()
    finally:
        raw.close()
    if mode != "wal":
        raise CouldNotCheck(
            "STORE_FAILED",
            f"The database cannot use a write-ahead log on this file system (mode {mode}).",
            next_action="Keep the gate's state on a local disk.",
        )


def _revision(connection: sa.Connection) -> str | None:
    """The revision of the database, None where there is none. Raises `CouldNotCheck` (STORE_NEWER) for a later one."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    rows = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars().all()
    if not rows:
        return None
    if len(rows) > 1 or rows[0] not in REVISIONS:
        raise CouldNotCheck(
            "STORE_NEWER",
            f"The database has schema {', '.join(map(repr, rows))}; this version of the gate knows up to "
            f"{REVISIONS[-1]!r}.",
        )
    return str(rows[0])


def _refuse_foreign(connection: sa.Connection, engines: Engines) -> None:
    """A database without a revision must be empty."""
    tables = sa.inspect(connection).get_table_names()
    if tables:
        place = "file" if engines.sqlite else "database"
        raise CouldNotCheck(
            "STORE_FAILED",
            f"The {place} holds {len(tables)} tables of another program, and is left as it is.",
            next_action="Give the gate a database of its own.",
        )


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
