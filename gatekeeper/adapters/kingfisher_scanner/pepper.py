"""The key of the digests by which secrets are compared without being kept."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gatekeeper.errors import CouldNotCheck

SIZE = 32


def load_pepper(directory: Path) -> bytes:
    """The 32 bytes of `directory/secret-pepper`, made on first use, readable for the owner alone.

    Raises `CouldNotCheck` (SECRET_SCAN_FAILED, blame gate) where the file is open to others, short, or cannot be made.
    """
    path = directory / "secret-pepper"
    try:
        if not path.exists():
            _create(directory, path)
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            state = os.fstat(fd)
            value = os.read(fd, SIZE + 1)
        finally:
            os.close(fd)
    except OSError as error:
        raise CouldNotCheck(
            "SECRET_SCAN_FAILED", f"The key of secret digests {str(path)!r} is unusable: {error.strerror}."
        ) from error
    if not stat.S_ISREG(state.st_mode) or state.st_mode & 0o077 or state.st_uid != os.geteuid() or len(value) != SIZE:
        raise CouldNotCheck(
            "SECRET_SCAN_FAILED",
            f"The key of secret digests {str(path)!r} must be {SIZE} bytes, mode 0600, owned by this user.",
        )
    return value


def _create(directory: Path, path: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    fresh = directory / f".secret-pepper.{os.getpid()}.{os.urandom(4).hex()}"
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, os.urandom(SIZE))
        os.fsync(fd)
    finally:
        os.close(fd)
    try:
        # A link appears whole or not at all, and the first of two processes wins.
        os.link(fresh, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(fresh)
