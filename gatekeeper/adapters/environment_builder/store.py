"""Directories made once: under a lock, in a private place, moved to their name when whole."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from gatekeeper.errors import CouldNotCheck


def built(parent: Path, name: str, make: Callable[[Path], None]) -> Path:
    """`parent/name`, made by `make(temporary directory)` where it does not exist yet.

    Raises what `make` raises, and `CouldNotCheck` (ENVIRONMENT_FAILED, blame gate) for a full or unwritable disk. A
    half-made directory never gets the name.
    """
    final = parent / name
    if final.is_dir():
        return final
    try:
        parent.mkdir(parents=True, exist_ok=True)
        parent.chmod(0o755)
        with open(parent / f".{name}.lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if final.is_dir():
                return final
            place = Path(tempfile.mkdtemp(prefix=f".{name[:20]}-", dir=parent))
            try:
                make(place)
                place.chmod(0o755)
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
