"""The service's store in SQL: SQLite by default, Postgres where one machine is too small."""

from gatekeeper.adapters.sql_store.store import SqlRecords

__all__ = ["SqlRecords"]
