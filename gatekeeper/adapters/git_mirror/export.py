"""Trees on disk, byte for byte from blobs: cached by tree id, made whole or not at all."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gatekeeper.adapters.git_mirror.reader import GitTree
from gatekeeper.config import SANDBOX_ID
from gatekeeper.domain.tree import EXECUTABLE, GITLINK, SYMLINK
from gatekeeper.errors import CouldNotCheck

MTIME = 1_000_000_000
"""All files of a pristine tree have one old modification time, so that no run depends on when it was exported."""
KEEP, KEEP_SECONDS = 300, 3600
LEFT_SECONDS = 24 * 3600
"""Age of a half-made tree that no living process works on any more."""
MAX_TREE = 2 * 1024**3
MAX_FILE = 128 * 1024 * 1024
"""Bytes of one exported file: more than checks read, since a base may honestly hold large data that nobody changes."""


def export(tree: GitTree, cache: Path) -> Path:
    """The directory of `tree` below `cache`, made once however many ask. Raises `CouldNotCheck` (GIT_FAILED), leaving nothing half-made.

    Whoever uses it long holds a shared `flock` on the directory; it is then never swept away, and for an hour after the
    last export neither.
    """
    final = cache / tree.oid
    try:
        if not final.is_dir():
            passable(cache)
            _sweep(cache)
        with _locked(cache, tree.oid):
            if final.is_dir():
                os.utime(final)
                return final
            building = Path(tempfile.mkdtemp(prefix=".new-", dir=cache))
            try:
                _write(tree, building)
                building.rename(final)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    except OSError as error:
        raise CouldNotCheck("GIT_FAILED", f"The tree cannot be written to disk: {error.strerror or error}.") from error
    return final


@contextmanager
def _locked(cache: Path, name: str) -> Iterator[None]:
    """One maker or remover of a tree at a time, across threads and processes. A lock serves all names that begin alike."""
    locks = cache.with_name(f"{cache.name}.locks")
    locks.mkdir(exist_ok=True, mode=0o700)
    with open(locks / name[:2], "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _write(tree: GitTree, root: Path) -> None:
    """Write everything into a fresh private directory.

    Paths were validated by `listing`, the directory is new and only this process writes to it, and links are made last:
    so no write can pass through a link.
    """
    total = sum(e.size or 0 for e in tree.entries.values())
    if total > MAX_TREE:
        raise CouldNotCheck("BLOB_TOO_LARGE", f"The tree has {total} bytes; at most {MAX_TREE} are exported.")
    owner = SANDBOX_ID if os.geteuid() == 0 else -1
    made: set[str] = {""}
    links = []
    base = os.fsencode(root)

    def place(path: str) -> bytes:
        return base + b"/" + path.encode("utf-8", "surrogateescape")

    def directory(path: str) -> None:
        if path in made:
            return
        directory(path.rpartition("/")[0])
        os.mkdir(place(path), 0o755)
        made.add(path)

    for path, entry in tree.entries.items():
        directory(path.rpartition("/")[0])
        if entry.mode == GITLINK:
            directory(path)
        elif entry.mode == SYMLINK:
            links.append(path)
        else:
            mode = 0o755 if entry.mode == EXECUTABLE else 0o644
            handle = os.open(place(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
            try:
                left = memoryview(tree.read(path, limit=MAX_FILE))
                while left:
                    left = left[os.write(handle, left) :]
                os.fchmod(handle, mode)
                if owner >= 0:
                    os.fchown(handle, owner, owner)
                os.utime(handle, (MTIME, MTIME))
            finally:
                os.close(handle)
    for path in links:
        target = tree.read(path)
        if not target or b"\x00" in target or len(target) > 4000:
            raise CouldNotCheck("GIT_FAILED", f"The link {path[:80]!r} has no usable target.", blame="change")
        os.symlink(target, place(path))
        if owner >= 0:
            os.lchown(place(path), owner, owner)
    for path in sorted(made, key=len, reverse=True):
        where = place(path) if path else base
        os.chmod(where, 0o755)  # noqa: S103 - the sandbox user must pass; nothing secret is in a tree
        if owner >= 0:
            os.chown(where, owner, owner)
        if path:
            os.utime(where, (MTIME, MTIME))


def passable(folder: Path) -> None:
    """Make `folder` and what is missing above it, passable for the sandbox user whatever the umask of this process is."""
    if not folder.is_dir():
        passable(folder.parent)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)


def _sweep(cache: Path) -> None:
    """Remove the oldest trees over the count, but none that a run uses or may still use, and what a kill left half-made."""
    rows = []
    for entry in os.scandir(cache):
        with suppress(FileNotFoundError):  # another process has just renamed or removed it
            if entry.is_dir(follow_symlinks=False):
                rows.append((entry.stat(follow_symlinks=False).st_mtime, entry.name))
    rows.sort()
    now = time.time()
    surplus = max(0, len(rows) - KEEP)
    for index, (stamp, name) in enumerate(rows):
        if name.startswith("."):
            if stamp < now - LEFT_SECONDS:
                shutil.rmtree(cache / name, ignore_errors=True)
        elif index < surplus and stamp < now - KEEP_SECONDS:
            _remove(cache, name)


def _remove(cache: Path, name: str) -> None:
    """Remove a tree unless somebody holds it or has just asked for it again."""
    gone: Path | None = None
    with suppress(FileNotFoundError), _locked(cache, name):
        handle = os.open(cache / name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(handle).st_mtime >= time.time() - KEEP_SECONDS:
                return
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            gone = cache / f".old-{name}-{os.urandom(6).hex()}"
            (cache / name).rename(gone)
        except BlockingIOError:
            return
        finally:
            os.close(handle)
    if gone is not None:  # else another process removed it first
        shutil.rmtree(gone, ignore_errors=True)
