"""Objects of a submitted bundle: unpacked apart from the mirror, then fetched from there like from any source.

The quarantine is a repository of its own that borrows the mirror's objects. Nothing enters the mirror but what head
reaches, by the same fetch with the same checks as from the registered source; what else the bundle held is thrown away.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gatekeeper.adapters.git_mirror.bundle import MAX_UNPACKED, Header, malformed, weigh
from gatekeeper.adapters.git_mirror.runner import Caps, complaint, run
from gatekeeper.errors import CouldNotCheck, UsageError

PREFIX = ".quarantine-"
LEFT_SECONDS = 24 * 3600
_CAPS = Caps(memory=4 * 1024**3, file=MAX_UNPACKED)


@contextmanager
def quarantine(mirror: Path) -> Iterator[Path]:
    """A fresh bare repository beside the mirror that borrows its objects; removed at the end."""
    try:
        _sweep(mirror.parent)
        place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=mirror.parent))
    except OSError as error:
        raise CouldNotCheck("GIT_FAILED", f"No quarantine can be made: {error.strerror or error}.") from error
    try:
        run(None, ["init", "-q", "--bare", "--template=", str(place)])
        (place / "objects" / "info").mkdir(exist_ok=True)
        (place / "objects" / "info" / "alternates").write_text(f"{mirror}/objects\n", encoding="utf-8")
        yield place
    except OSError as error:
        raise CouldNotCheck("GIT_FAILED", f"The quarantine cannot be used: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def unpack(place: Path, mirror: Path, file: BinaryIO, found: Header, head: str) -> None:
    """Put the bundle's objects into the quarantine and see that head is whole.

    Raises `InputError` (BUNDLE_MALFORMED, BUNDLE_TOO_LARGE), `UsageError` (HEAD_NOT_FOUND) and `CouldNotCheck` (GIT_FAILED).
    """
    weigh(file, found.pack)
    os.lseek(file.fileno(), found.pack, os.SEEK_SET)
    # Objects are checked for sense when they are fetched from here, exactly as those of the registered source.
    args = ["index-pack", "--stdin", "--fix-thin", "--threads=1"]
    done = run(place, args, source=file, ok=None, caps=_CAPS)
    if done.returncode:
        raise malformed(f"git cannot unpack it: {complaint(done.stderr)}")
    kind = run(place, ["cat-file", "-t", head], ok=(0, 1, 128))
    if kind.returncode:
        raise UsageError(
            "HEAD_NOT_FOUND", f"The commit {head[:12]} is neither in the submitted bundle nor in the repository.",
            next_action="Make the bundle of the head that you submit: `git bundle create FILE TARGET..HEAD`.",
        )  # fmt: skip
    if kind.stdout.strip() != b"commit":
        raise UsageError("HEAD_NOT_FOUND", f"The object {head[:12]} of the bundle is no commit.")
    # What a complete fetch brought is whole; from there on every object of head must be there and of its kind.
    shown = {"GIT_OBJECT_DIRECTORY": f"{place}/objects", "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{mirror}/objects"}
    walk = run(
        mirror, ["rev-list", "--objects", "--quiet", head, "--not", "--all"], ok=(0, 1, 128), extra=shown, caps=_CAPS
    )
    if walk.returncode:
        raise malformed(f"the history of {head[:12]} is not whole in it: {complaint(walk.stderr)}")


def _sweep(parent: Path) -> None:
    """Remove what a killed process left a day ago or earlier."""
    limit = time.time() - LEFT_SECONDS
    for left in parent.glob(f"{PREFIX}*"):
        with suppress(FileNotFoundError):
            if left.lstat().st_mtime < limit:
                shutil.rmtree(left, ignore_errors=True)
