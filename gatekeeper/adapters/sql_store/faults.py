"""Faults of the database technology as the one error that the port promises."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator

import sqlalchemy as sa

from gatekeeper.errors import CouldNotCheck

_HINTS = (
    ("disk is full", "the disk is full", "Make room on the gate's disk."),
    ("no space left", "the disk is full", "Make room on the gate's disk."),
    ("disk i/o error", "the disk fails", "Look at the gate's disk and at the rights of its directory."),
    ("locked", "another process holds it for too long", "Look for a second gate or a tool that keeps it open."),
    ("malformed", "its file is damaged", "Restore the database from a backup; `gatekeeper audit verify` checks it."),
    ("not a database", "its file is no database", "Restore the database from a backup."),
    ("readonly", "it cannot be written", "Give the gate's user the right to write the file and its directory."),
    ("unable to open", "its file cannot be opened", "Look at the rights of the file and of its directory."),
    ("constraint", "an invariant of the record would be broken", "Report it to the gate's makers; nothing was stored."),
    ("append-only", "an append-only row would be changed", "Report it to the gate's makers; nothing was stored."),
)


@contextlib.contextmanager
def store_faults() -> Iterator[None]:
    """Turn whatever the database or its driver raises inside into `CouldNotCheck` (STORE_FAILED, blame gate)."""
    try:
        yield
    except (sa.exc.SQLAlchemyError, sqlite3.Error, OSError, UnicodeError, OverflowError) as error:
        raise store_failed(error) from error


def store_failed(error: BaseException) -> CouldNotCheck:
    """The error for one fault. Values of the statement are never in its text."""
    original = getattr(error, "orig", None) or error
    text = " ".join(str(original).split())[:200]
    for word, meaning, action in _HINTS:
        if word in text.lower():
            return CouldNotCheck(
                "STORE_FAILED", f"The store could not be used: {meaning} ({text}).", blame="gate", next_action=action
            )
    return CouldNotCheck(
        "STORE_FAILED",
        f"The store could not be used ({type(original).__name__}: {text}).",
        blame="gate",
        next_action="The gate's operator looks at the database; nothing was stored.",
    )
