"""The pipeline on DBOS with SQLite, in the process of the server: every step is durable, every crash is survived."""

from gatekeeper.adapters.dbos_durable.engine import DbosEngine

__all__ = ["DbosEngine"]
