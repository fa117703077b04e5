"""Directories made once: under a lock, in a private place, moved to their name when whole."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gatekeeper.errors import CouldNotCheck

LEFT_SECONDS = 24 * 3600
"""Age of a half-made directory that no living process works on any more."""
MAX_FILES = 500_000


def built(parent: Path, name: str, make: Callable[[Path], None]) -> Path:
    """`parent/name`, made by `make(temporary directory)` where it does not exist yet.

    Raises what `make` raises, and `CouldNotCheck` (ENVIRONMENT_FAILED, blame gate) for a full or unwritable disk. A
    half-made directory never gets the name.
    """
    final = parent / name
    if final.is_dir():
        return final
    try:
        _passable(parent)
        _sweep(parent)
        with open(parent / f".{name}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if final.is_dir():
                return final
            place = Path(tempfile.mkdtemp(prefix=f".{name[:20]}-", dir=parent))
            try:
                make(place)
                _readable(place)
                os.rename(place, final)
            finally:
                shutil.rmtree(place, ignore_errors=True)
    except OSError as error:
        raise CouldNotCheck(
            "ENVIRONMENT_FAILED",
            f"The environment cannot be written below {str(parent)!r}: {error.strerror or error}.",
            blame="gate",
        ) from error
    return final


def inventory(directory: Path) -> str:
    """A digest of path, size and modification time of everything below `directory`, links unfollowed.

    Compiled files are left out: running a program writes them. Raises `CouldNotCheck` (ENVIRONMENT_FAILED) for more than
    MAX_FILES files, or for a folder that cannot be read.
    """
    mark, count, waiting = hashlib.sha256(), 0, [os.fsencode(directory)]
    try:
        while waiting:
            folder = waiting.pop()
            for entry in sorted(os.scandir(folder), key=lambda e: e.name):
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != b"__pycache__":
                        waiting.append(entry.path)
                    continue
                info = entry.stat(follow_symlinks=False)
                target = os.readlink(entry.path) if entry.is_symlink() else b""
                row = (entry.path, b"%d %d %d" % (info.st_mode, info.st_size, info.st_mtime_ns), target)
                mark.update(b"\0".join(row) + b"\0\0")
                count += 1
                if count > MAX_FILES:
                    raise CouldNotCheck(
                        "ENVIRONMENT_FAILED",
                        f"{str(directory)!r} has more than {MAX_FILES} files; that is no environment.",
                    )
    except OSError as error:
        raise CouldNotCheck(
            "ENVIRONMENT_FAILED", f"{str(directory)!r} cannot be read: {error.strerror or error}."
        ) from error
    return mark.hexdigest()


def _passable(folder: Path) -> None:
    """Make `folder` and what is missing above it, passable for the sandbox user whatever the umask of this process is."""
    if not folder.parent.is_dir():
        _passable(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)


def _readable(root: Path) -> None:
    """Folders 755, files 755 or 644, without following a link: the umask of this process must not lock the sandbox out."""
    root.chmod(0o755)
    for folder, folders, files, handle in os.fwalk(root, follow_symlinks=False):
        for name in (*folders, *files):
            mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
                wanted = 0o755 if stat.S_ISDIR(mode) or mode & 0o111 else 0o644
                if stat.S_IMODE(mode) != wanted:
                    os.chmod(Path(folder, name), wanted)


def _sweep(parent: Path) -> None:
    """Remove what a killed build left behind a day ago or earlier."""
    limit = time.time() - LEFT_SECONDS
    for entry in os.scandir(parent):
        with suppress(FileNotFoundError):
            if (
                entry.name.startswith(".")
                and entry.is_dir(follow_symlinks=False)
                and entry.stat(follow_symlinks=False).st_mtime < limit
            ):
                shutil.rmtree(entry.path, ignore_errors=True)
