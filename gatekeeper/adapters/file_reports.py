"""Reports of `check` kept on this machine, so that a reviewer sees what the gate found. One file a run.

They are a convenience for people: no verdict rests on them, and a report that cannot be kept changes no verdict.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from gatekeeper.errors import InputError
from gatekeeper.formats.stored_report import MAX_REPORT, StoredReport, parse_report

KEEP = 200
"""Reports kept; older ones go, some at a time. A report has 5 to 200 kB."""
_NAME = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})-[0-9a-f]{1,64}\.json")
_WORD = re.compile(r"[0-9a-f]{1,64}")


class FileReports:
    """A directory of reports, readable by its owner alone."""

    def __init__(self, directory: Path, keep: int = KEEP) -> None:
        self._directory = directory
        self._keep = keep

    def put(self, head: str, run_id: str, text: str) -> Path:
        """Keep one report: whole or not at all. Raises `OSError`, and `ValueError` for names that are no ids."""
        if not _WORD.fullmatch(head) or not _WORD.fullmatch(run_id):
            raise ValueError("head and run id must be lowercase hex")
        data = text.encode("utf-8")
        if len(data) > MAX_REPORT:
            raise ValueError(f"the report has more than {MAX_REPORT} bytes")
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory.chmod(0o700)
        path = self._directory / f"{head}-{run_id}.json"
        draft = self._directory / f".{os.urandom(8).hex()}.draft"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        self._drop_old()
        return path

    def newest(self, head: str, target_ref: str, ticket_digest: str) -> StoredReport | None:
        """The newest readable report of this head for this branch and ticket, or None."""
        for path in self._files():
            if not path.name.startswith(f"{head}-"):
                continue
            with contextlib.suppress(OSError, InputError):
                report = parse_report(_read(path))
                if (report.head, report.target_ref, report.ticket_digest) == (head, target_ref, ticket_digest):
                    return report
        return None

    def _files(self) -> Iterator[Path]:
        """Reports, newest first."""
        found: list[tuple[int, Path]] = []
        with contextlib.suppress(OSError):
            for entry in os.scandir(self._directory):
                if _NAME.fullmatch(entry.name):
                    with contextlib.suppress(OSError):
                        found.append((entry.stat(follow_symlinks=False).st_mtime_ns, Path(entry.path)))
        yield from (path for _, path in sorted(found, reverse=True))

    def _drop_old(self) -> None:
        with contextlib.suppress(OSError):
            if len(os.listdir(self._directory)) <= self._keep + self._keep // 10:
                return  # the usual case, and it needs no look at every file
        for number, path in enumerate(self._files()):
            if number >= self._keep:
                with contextlib.suppress(OSError):
                    path.unlink()


def _read(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a regular file")
        return file.read(MAX_REPORT + 1)
