"""Which files of the tree a run has changed, looked at from outside before its file system goes.

The overlay that takes what a run writes ends with the sandbox's last process. So the command has a parent inside, a
shell, that says when the command has ended and waits until the gate has looked. The shell is a process of the tested
user: one that is killed, or made to speak early, means that nothing was seen, or is found by its having children still.

A file is compared by what only the kernel writes: a copy in the overlay has another time of change, whatever content
and dates it was given afterwards. No link is followed where content is read.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

ENDED = "/run/ended"
"""Named pipe inside: a line says that the command has ended."""
LOOKED = "/run/looked"
"""Named pipe inside: a line says that the gate has looked."""

# Around the command. Where the pipes are not to be had, the status still comes back.
THEN_LOOK = f'"$@"; code=$?; echo >{ENDED} && read -r line <{LOOKED}; exit $code'

MAX_FILES = 20_000
"""Files that are compared; a larger tree is not looked at, which would cost seconds."""
MAX_ROWS = 200
_MAX_READ = 4 * 1024 * 1024
"""Bytes of a file that are compared; a longer one that was written counts as changed."""
_FOLDER = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TreeWatch:
    """The watch over one run. `rewritten` is None until the gate could look."""

    def __init__(self, directory: Path, tree: Path, at: str) -> None:
        self._tree = tree
        self._at = at
        self.pipes = {ENDED: directory / "ended", LOOKED: directory / "looked"}
        self.rewritten: tuple[tuple[str, str], ...] | None = None
        self._fds: list[int] = []
        for (inside, path), mode in zip(self.pipes.items(), (0o622, 0o644), strict=True):
            del inside
            os.mkfifo(path)
            path.chmod(mode)
            self._fds.append(os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC))

    def register(self, selector: selectors.BaseSelector, first: Callable[[], int | None]) -> None:
        """Look when the command has ended. `first` is the host's id of the sandbox's first process, once known."""
        selector.register(self._fds[0], selectors.EVENT_READ, lambda: self._hear(first()))

    def _hear(self, first: int | None) -> None:
        with contextlib.suppress(OSError):
            os.read(self._fds[0], 4096)
        shells = _children(first) if first is not None else []
        if first is None or self.rewritten is not None:
            return
        # The command is the shell's only child: while it has one, somebody else has spoken.
        if shells and any(_children(pid) for pid in shells[:1]):
            return
        with contextlib.suppress(OSError):
            self.rewritten = differences(self._tree, f"/proc/{first}/root{self._at}")
        with contextlib.suppress(OSError):
            os.write(self._fds[1], b"\n")

    def close(self) -> None:
        """Let go of the pipes."""
        while self._fds:
            os.close(self._fds.pop())


def _children(pid: int) -> list[int]:
    """Children of a process, the oldest first; none where it is gone."""
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            words = Path(f"/proc/{pid}/task/{thread}/children").read_text(encoding="ascii").split()
            found += [int(w) for w in words]
    return sorted(found)


def differences(pristine: Path, place: str) -> tuple[tuple[str, str], ...] | None:
    """(path, how) of files of `pristine` that are otherwise at `place`; None for a tree of too many files.

    Raises `OSError` where `place` cannot be reached.
    """
    root = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        rows: list[tuple[str, str]] = []
        for count, (path, was) in enumerate(_files(pristine)):
            if count >= MAX_FILES:
                return None
            how = _how(pristine, root, path, was) if len(rows) < MAX_ROWS else None
            if how is not None:
                rows.append((os.fsencode(path).decode("utf-8", "surrogateescape"), how))
        return tuple(rows)
    finally:
        os.close(root)


def _files(top: Path) -> Iterator[tuple[str, os.stat_result]]:
    stack = [""]
    while stack:
        folder = stack.pop()
        with os.scandir(top / folder) as entries:
            for entry in sorted(entries, key=lambda e: e.name):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    stack.append(path)
                else:
                    yield path, entry.stat(follow_symlinks=False)


def _how(pristine: Path, root: int, path: str, was: os.stat_result) -> str | None:
    try:
        now = os.stat(path, dir_fd=root, follow_symlinks=False)
    except OSError:
        return "gone"
    if (now.st_ctime_ns, now.st_size, now.st_mode) == (was.st_ctime_ns, was.st_size, was.st_mode):
        return None
    if stat.S_IFMT(now.st_mode) != stat.S_IFMT(was.st_mode) or now.st_size != was.st_size:
        return "content"
    try:
        if stat.S_ISLNK(was.st_mode):
            same = os.readlink(path, dir_fd=root) == os.readlink(pristine / path)
        else:
            same = was.st_size <= _MAX_READ and _read(root, path) == (pristine / path).read_bytes()
    except OSError:
        return "content"
    return "touched" if same else "content"


def _read(root: int, path: str) -> bytes:
    """The content of a regular file below `root`. Raises `OSError` where a link, or anything else, stands on the way."""
    *folders, name = path.split("/")
    at = os.dup(root)
    try:
        for folder in folders:
            below = os.open(folder, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
        with os.fdopen(file, "rb") as stream:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise OSError("not a regular file")
            return stream.read(_MAX_READ + 1)
    finally:
        os.close(at)
