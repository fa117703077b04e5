"""Runs of targets' own code kept between calls of `check`: one file each, in a directory of the gate alone.

Nothing that a change's code did is ever written here, and no tested code can reach the directory: it is no part of any
sandbox. What cannot be read exactly as it was written is removed, and the run is made again.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

from gatekeeper.domain.base_run import BaseRun
from gatekeeper.domain.ports import Clock
from gatekeeper.domain.testrun import Engine, SuiteRun
from gatekeeper.errors import InputError
from gatekeeper.formats.kept_run import MAX_BYTES, decode, encode, key_digest

KEEP = 50
"""Runs kept; the oldest go first. At most `MAX_BYTES` each."""
MAX_AGE_S = 7 * 86_400
_NAME = re.compile(r"[0-9a-f]{64}\.json")


class FileKeptRuns:
    """Implements `domain.base_run.KeptBaseRuns`. A disk that fails costs the reuse, never the verification."""

    def __init__(self, directory: Path, clock: Clock, engine: Callable[[], Engine], keep: int = KEEP) -> None:
        """`engine` is the sandbox's; what records inside it is part of the environment's digest."""
        self._directory = directory
        self._clock = clock
        self._engine = engine
        self._keep = keep

    def get(self, key: BaseRun, make: Callable[[], SuiteRun]) -> SuiteRun:
        """See `KeptBaseRuns.get`."""
        digest = key_digest(key, self._engine())
        kept = self._read(digest)
        if kept is not None:
            return kept
        made = make()
        with contextlib.suppress(OSError):
            self._write(digest, made)
        return made

    def _read(self, digest: str) -> SuiteRun | None:
        path = self._directory / f"{digest}.json"
        try:
            run, made_at = decode(digest, _content(path))
        except FileNotFoundError:
            return None
        except (OSError, InputError):
            run, made_at = None, 0.0
        if run is not None and 0 <= self._clock.now() - made_at <= MAX_AGE_S:
            return run
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def _write(self, digest: str, run: SuiteRun) -> None:
        data = encode(digest, run, self._clock.now())
        if data is None:
            return
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory.chmod(0o700)
        draft = self._directory / f".{os.urandom(8).hex()}.draft"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            draft.replace(self._directory / f"{digest}.json")
        finally:
            draft.unlink(missing_ok=True)
        self._drop_old()

    def _drop_old(self) -> None:
        found = []
        for entry in os.scandir(self._directory):
            with contextlib.suppress(OSError):
                if _NAME.fullmatch(entry.name):
                    found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path))
        for _, path in sorted(found, reverse=True)[self._keep :]:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _content(path: Path) -> bytes:
    """Bytes of a regular file that is this user's alone. Raises `OSError`."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o077:
            raise PermissionError("not a file of the gate alone")
        return file.read(MAX_BYTES + 1)
