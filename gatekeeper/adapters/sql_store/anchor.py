"""The second place of the audit log's end: a small file beside the database.

A chain shows every edit inside it, but not that its tail was cut off, nor that all of it was written anew. The anchor
holds how many entries there were and the digest of the last one, so that both show. It is written after each commit: a
crash in between leaves it behind the log, which is fine; ahead of the log it never is.

What stays undetectable: whoever can write the database *and* this file can replace both together. Against that, keep
what `gatekeeper audit verify` prints in a third place, and give it to `--expect` later.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from gatekeeper.adapters.sql_store.engines import private_directory
from gatekeeper.records import dataclass

_SHA256 = re.compile(r"[0-9a-f]{64}")
_MAX = 4096


@dataclass(frozen=True)
class Mark:
    """An end of the chain: number of entries and digest of the last."""

    entries: int
    digest: str


class AnchorUnreadable(Exception):
    """The file is there and is no anchor."""


class Anchor:
    """The file. Methods raise `OSError`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else moves the anchor meanwhile, in this process or another."""
        private_directory(self.path.parent)
        handle = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def read(self) -> Mark | None:
        """The mark, None where there is no file. Raises `AnchorUnreadable`."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        with os.fdopen(handle, "rb") as file:
            data = file.read(_MAX)
        try:
            row = json.loads(data)
            mark = Mark(row["entries"], row["digest"])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise AnchorUnreadable from None
        if type(mark.entries) is not int or mark.entries < 1 or not isinstance(mark.digest, str):
            raise AnchorUnreadable
        if not _SHA256.fullmatch(mark.digest):
            raise AnchorUnreadable
        return mark

    def write(self, mark: Mark) -> None:
        """Replace the mark, durably; call only while `held`."""
        draft = self.path.with_name(self.path.name + ".draft")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(json.dumps({"entries": mark.entries, "digest": mark.digest}).encode() + b"\n")
            file.flush()
            os.fsync(handle)
        draft.replace(self.path)
