"""Objects of a mirror through one `cat-file --batch-command` process a mirror, kept open and shared by threads."""

from __future__ import annotations

import atexit
import subprocess
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gatekeeper.adapters.git_mirror.paths import listing
from gatekeeper.adapters.git_mirror.runner import command, environment, run
from gatekeeper.domain.tree import GITLINK, TreeEntry
from gatekeeper.errors import CouldNotCheck

MAX_BLOB = 20 * 1024 * 1024
"""Bytes of one blob that the gate reads."""


class ObjectReader:
    """A `cat-file --batch-command` process. Thread-safe: one request at a time."""

    def __init__(self, git_dir: Path) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            command(git_dir, "cat-file", "--batch-command"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            cwd="/",
        )

    def read(self, oid: str, *, limit: int | None = MAX_BLOB) -> tuple[str, bytes] | None:
        """(type, content), or None where there is no such object.

        Raises `CouldNotCheck`: BLOB_TOO_LARGE over `limit` (the content is skipped), GIT_FAILED for a broken pipe.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise CouldNotCheck("GIT_FAILED", "git cat-file has no pipes.")
        with self._lock:
            try:
                stdin.write(b"contents " + oid.encode("ascii") + b"\n")
                stdin.flush()
                head = stdout.readline().split()
                if len(head) == 2 and head[1] == b"missing":
                    return None
                if len(head) != 3:
                    raise CouldNotCheck("GIT_FAILED", "git cat-file ended early or found a broken object.")
                size = int(head[2])
                if limit is not None and size > limit:
                    left = size + 1
                    while left:
                        left -= len(stdout.read(min(left, 1 << 20))) or left
                    raise CouldNotCheck(
                        "BLOB_TOO_LARGE", f"Object {oid[:12]} has {size} bytes; at most {limit} are read."
                    )
                content = stdout.read(size)
                if len(content) != size or stdout.read(1) != b"\n":
                    raise CouldNotCheck("GIT_FAILED", "git cat-file ended early.")
            except (OSError, ValueError) as error:
                raise CouldNotCheck("GIT_FAILED", f"git cat-file broke: {error}.") from error
        return head[1].decode("ascii"), content

    def info(self, name: str) -> tuple[str, str, int] | None:
        """(object id, type, size in bytes) of an object id or full ref name, or None. Raises `CouldNotCheck` (GIT_FAILED)."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise CouldNotCheck("GIT_FAILED", "git cat-file has no pipes.")
        with self._lock:
            try:
                stdin.write(b"info " + name.encode("ascii") + b"\n")
                stdin.flush()
                head = stdout.readline().decode("ascii", "replace").split()
                if len(head) == 2 and head[1] == "missing":
                    return None
                if len(head) != 3:
                    raise CouldNotCheck("GIT_FAILED", "git cat-file ended early or found a broken object.")
                return head[0], head[1], int(head[2])
            except (OSError, ValueError) as error:
                raise CouldNotCheck("GIT_FAILED", f"git cat-file broke: {error}.") from error

    def close(self) -> None:
        """End the process."""
        with self._lock:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process.wait(timeout=10)


_readers: dict[Path, ObjectReader] = {}
_readers_lock = threading.Lock()


def reader(git_dir: Path) -> ObjectReader:
    """The shared reader of a mirror."""
    with _readers_lock:
        found = _readers.get(git_dir)
        if found is None or found._process.poll() is not None:
            found = _readers[git_dir] = ObjectReader(git_dir)
        return found


def close_readers() -> None:
    """End all readers of this process."""
    with _readers_lock:
        for found in _readers.values():
            found.close()
        _readers.clear()


atexit.register(close_readers)


@dataclass(frozen=True)
class GitTree:
    """A tree of a mirror, read lazily. Pickles as path and oid. Implements `domain.tree.Tree`."""

    git_dir: Path
    oid: str

    @cached_property
    def entries(self) -> Mapping[str, TreeEntry]:
        """All entries by path. Raises `InputError` (TREE_HOSTILE)."""
        return listing(run(self.git_dir, ["ls-tree", "-r", "-z", "-l", "--full-tree", self.oid]).stdout)

    def read(self, path: str, *, limit: int = MAX_BLOB) -> bytes:
        """See `Tree.read`; `limit` in bytes."""
        entry = self.entries[path]
        if entry.mode == GITLINK:
            raise KeyError(path)
        found = reader(self.git_dir).read(entry.oid, limit=limit)
        if found is None or found[0] != "blob":
            raise CouldNotCheck("GIT_FAILED", f"The blob {entry.oid[:12]} is missing in the mirror.")
        return found[1]

    def __reduce__(self) -> tuple[type[GitTree], tuple[Path, str]]:
        return GitTree, (self.git_dir, self.oid)


def blobs(git_dir: Path, oids: Iterable[str]) -> dict[str, bytes]:
    """Blobs by oid; one that is missing or over the cap is left out."""
    source = reader(git_dir)
    out: dict[str, bytes] = {}
    for oid in oids:
        if oid in out:
            continue
        try:
            found = source.read(oid)
        except CouldNotCheck as error:
            if error.code != "BLOB_TOO_LARGE":
                raise
            continue
        if found is not None and found[0] == "blob":
            out[oid] = found[1]
    return out
