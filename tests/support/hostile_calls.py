"""What every refusal must be: documented for its rpc, typed, and without a trace in the store."""

from __future__ import annotations

import sqlite3
from functools import cache
from typing import Any

import api_descriptors as api
import grpc
from api_server import Running, reason_of


@cache
def documented() -> dict[str, dict[str, list[str]]]:
    return {r.name: r.errors for r in api.rpcs()}


def rows(server: Running) -> dict[str, int]:
    """Number of rows of every table but the audit log, where refusals by permission belong."""
    path = server.service.records._engines.writer.url.database
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        tables = [r[0] for r in connection.execute("select name from sqlite_master where type = 'table'")]
        return {t: connection.execute(f'select count(*) from "{t}"').fetchone()[0] for t in tables if "audit" not in t}


def files(server: Running) -> list[str]:
    """Files of the blob store."""
    root = server.service.blobs._directory if hasattr(server.service.blobs, "_directory") else None
    return sorted(str(p) for p in root.rglob("*") if p.is_file()) if root else []


def refusal(server: Running, name: str, messages: list[bytes], token: str | None = "agent", **more: Any) -> str:
    """The reason of a refusal that the contract of this rpc names. `OK` where the call was carried out."""
    try:
        server.raw(name, messages, token, **more)
    except grpc.RpcError as error:
        ended = error
    else:
        return "OK"
    status, reason = reason_of(ended)
    assert reason, f"{name} ended with {status} and no reason: {ended.details()}"
    assert reason in documented()[name].get(status, ()), f"{name} answers {status} {reason}, which is not documented"
    return reason
