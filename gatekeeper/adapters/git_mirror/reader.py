"""Objects of a mirror through one `cat-file --batch-command` process a mirror, kept open and shared by threads."""

from __future__ import annotations

import atexit
import re
import subprocess
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from gatekeeper.adapters.git_mirror.paths import listing
from gatekeeper.adapters.git_mirror.runner import command, environment, run
from gatekeeper.domain.tree import GITLINK, TreeEntry
from gatekeeper.errors import CouldNotCheck

OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
MAX_BLOB = 20 * 1024 * 1024
"""Bytes of one blob that the gate reads."""
KEPT_BLOB = 256 * 1024
"""Bytes of an object that is kept in memory: the checks read the files of a change a dozen times."""
KEPT_BYTES = 4 * 1024 * 1024
"""Bytes kept of one mirror; what was not asked for longest goes first."""
MAX_READERS = 64
"""Processes kept open; a mirror that is read again after its process was ended gets a new one."""


class ObjectReader:
    """A `cat-file --batch-command` process, started when it is needed. Thread-safe: one request at a time."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._kept: dict[str, tuple[str, bytes]] = {}
        self._kept_bytes = 0

    def read(self, oid: str, *, limit: int | None = MAX_BLOB) -> tuple[str, bytes] | None:
        """(type, content), or None where there is no such object.

        Raises `CouldNotCheck`: BLOB_TOO_LARGE over `limit` (the content is skipped), GIT_FAILED for a broken pipe.
        """
        with self._lock:
            if (kept := self._again(oid, limit)) is not None:
                return kept
            try:
                stdout, head = self._ask(b"contents ", oid)
                if head is None:
                    return None
                size = int(head[2])
                content = None if limit is not None and size > limit else _exactly(stdout, size)
                _skip(stdout, 1 if content is not None else size + 1)
            except (OSError, ValueError) as error:
                self._stop()
                raise CouldNotCheck("GIT_FAILED", f"git cat-file broke: {error}.") from error
            except BaseException:
                self._stop()  # what is left in the pipe must never be read as the answer to another question
                raise
        if content is None:
            raise CouldNotCheck("BLOB_TOO_LARGE", f"Object {oid[:12]} has {size} bytes; at most {limit} are read.")
        self._keep(oid, (head[1], content))
        return head[1], content

    def _again(self, oid: str, limit: int | None) -> tuple[str, bytes] | None:
        """An object that was read before; the lock is held. A name that holds its content's digest never changes."""
        kept = self._kept.get(oid)
        if kept is None or (limit is not None and len(kept[1]) > limit):
            return None
        self._kept[oid] = self._kept.pop(oid)
        return kept

    def _keep(self, oid: str, found: tuple[str, bytes]) -> None:
        if len(found[1]) > KEPT_BLOB or not OBJECT_ID.fullmatch(oid):
            return
        with self._lock:
            if oid not in self._kept:
                self._kept_bytes += len(found[1])
            self._kept[oid] = found
            while self._kept_bytes > KEPT_BYTES:
                self._kept_bytes -= len(self._kept.pop(next(iter(self._kept)))[1])

    def info(self, name: str) -> tuple[str, str, int] | None:
        """(object id, type, size in bytes) of an object id or full ref name, or None. Raises `CouldNotCheck` (GIT_FAILED)."""
        with self._lock:
            try:
                _, head = self._ask(b"info ", name)
                return None if head is None else (head[0], head[1], int(head[2]))
            except (OSError, ValueError) as error:
                self._stop()
                raise CouldNotCheck("GIT_FAILED", f"git cat-file broke: {error}.") from error
            except BaseException:
                self._stop()
                raise

    def _ask(self, what: bytes, name: str) -> tuple[IO[bytes], list[str] | None]:
        """Send one question and read the first line of the answer: (object id, type, size), None for no such object."""
        if not name or any(c.isspace() for c in name):
            raise ValueError("a name with white space")
        if self._process is not None and self._process.poll() is not None:
            self._stop()
        process = self._process
        if process is None:
            process = self._process = subprocess.Popen(
                command(self._git_dir, "cat-file", "--batch-command"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
                cwd="/",
            )
        if process.stdin is None or process.stdout is None:
            raise ValueError("it has no pipes")
        process.stdin.write(what + name.encode("ascii") + b"\n")
        process.stdin.flush()
        head = process.stdout.readline().decode("ascii", "replace").split()
        if len(head) == 2 and head[1] == "missing":
            return process.stdout, None
        if len(head) != 3 or ("/" not in name and head[0] != name):
            raise ValueError("it ended early, or found a broken object")
        return process.stdout, head

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        process.wait()

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            self._stop()


def _exactly(stdout: IO[bytes], size: int) -> bytes:
    content = stdout.read(size)
    if len(content) != size:
        raise ValueError("it ended early")
    return content


def _skip(stdout: IO[bytes], left: int) -> None:
    while left:
        left -= len(_exactly(stdout, min(left, 1 << 20)))


_readers: dict[Path, ObjectReader] = {}
_readers_lock = threading.Lock()


def reader(git_dir: Path) -> ObjectReader:
    """The shared reader of a mirror."""
    with _readers_lock:
        found = _readers.pop(git_dir, None) or ObjectReader(git_dir)
        _readers[git_dir] = found
        surplus = [_readers.pop(old) for old in list(_readers)[:-MAX_READERS]]
    for old in surplus:
        old.close()
    return found


def close_readers() -> None:
    """End all readers of this process."""
    with _readers_lock:
        found = list(_readers.values())
        _readers.clear()
    for one in found:
        one.close()


atexit.register(close_readers)


class GitTree:
    """A tree of a mirror, read lazily. Pickles as path and oid. Implements `domain.tree.Tree`; thread-safe."""

    def __init__(self, git_dir: Path, oid: str) -> None:
        self.git_dir = git_dir
        self.oid = oid
        self._lock = threading.Lock()
        self._entries: Mapping[str, TreeEntry] | None = None

    @property
    def entries(self) -> Mapping[str, TreeEntry]:
        """All entries by path. Raises `InputError` (TREE_HOSTILE)."""
        with self._lock:
            if self._entries is None:
                self._entries = listing(
                    run(self.git_dir, ["ls-tree", "-r", "-z", "-l", "--full-tree", self.oid]).stdout
                )
            return self._entries

    @property
    def listed(self) -> int:
        """How many entries are held in memory; 0 before they were asked for."""
        return len(self._entries or ())

    def read(self, path: str, *, limit: int = MAX_BLOB) -> bytes:
        """See `Tree.read`; `limit` in bytes."""
        entry = self.entries[path]
        if entry.mode == GITLINK:
            raise KeyError(path)
        found = reader(self.git_dir).read(entry.oid, limit=limit)
        if found is None or found[0] != "blob":
            raise CouldNotCheck("GIT_FAILED", f"The blob {entry.oid[:12]} is missing in the mirror.")
        return found[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GitTree) and (self.git_dir, self.oid) == (other.git_dir, other.oid)

    def __hash__(self) -> int:
        return hash((self.git_dir, self.oid))

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
