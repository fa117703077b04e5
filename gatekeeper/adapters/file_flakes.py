"""The register of flaky tests of `check`: a file of JSON lines in the gate's state, whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from gatekeeper.domain.flake import FlakeRecord
from gatekeeper.domain.principal import Principal
from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.formats.flake_record import dump, parse

MAX_RECORDS = 2_000
"""The ones that end first go first."""
MAX_BYTES = 8 * 1024 * 1024

Key = tuple[str, str, str]


class FileFlakes:
    """Implements `domain.ports.FlakeDesk`. Processes take turns at writing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def known(self, repository: str, suite: str, tests: Sequence[str], now: float) -> Sequence[FlakeRecord]:
        """See `FlakeRegister.known`."""
        table = self._read()
        found = (table.get((repository, suite, test)) for test in tests)
        return [r for r in found if r is not None and r.excuses(now)]

    def seen(self, records: Sequence[FlakeRecord]) -> None:
        """See `FlakeRegister.seen`."""
        with self._changing() as table:
            for record in records:
                old = table.get(record.key)
                table[record.key] = old.merged(record) if old is not None else record

    def records(self) -> Sequence[FlakeRecord]:
        """See `FlakeDesk.records`."""
        return [record for _, record in sorted(self._read().items())]

    def own(self, record: FlakeRecord, actor: Principal, now: float) -> None:
        """See `FlakeDesk.own`. Nobody is named beside the owner: the file is the machine's own."""
        del actor, now
        with self._changing() as table:
            old = table[record.key]
            table[record.key] = replace(old, owner=record.owner, note=record.note, expires_at=record.expires_at)

    def forget(self, record: FlakeRecord, actor: Principal, now: float) -> None:
        """See `FlakeDesk.forget`."""
        del actor, now
        with self._changing() as table:
            del table[record.key]

    def _read(self) -> dict[Key, FlakeRecord]:
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unreadable(str(error.strerror)) from error
        with os.fdopen(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid() or about.st_mode & 0o022:
                raise self._unreadable("it is not a file that this user alone can write")
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise self._unreadable(f"it has more than {MAX_BYTES} bytes")
        table: dict[Key, FlakeRecord] = {}
        for number, line in enumerate(data.splitlines(), 1):
            try:
                record = parse(line)
            except InputError as error:
                raise self._unreadable(f"line {number}: {error.message}") from error
            if record.key in table:
                raise self._unreadable(f"line {number}: a second record of the same test")
            table[record.key] = record
        return table

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[Key, FlakeRecord]]:
        """The table under a lock; what is left of it is written, unless the block raises."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(
                self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
            )
        except OSError as error:
            raise self._failed(error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            table = self._read()
            yield table
            self._write(table)
        finally:
            os.close(lock)

    def _write(self, table: dict[Key, FlakeRecord]) -> None:
        kept = sorted(table.values(), key=lambda r: r.expires_at, reverse=True)[:MAX_RECORDS]
        lines = [f"{dump(r)}\n".encode("ascii") for r in kept]
        while sum(map(len, lines)) > MAX_BYTES:
            lines.pop()
        draft = self._path.with_name(f".{os.urandom(8).hex()}.draft")
        try:
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.writelines(lines)
                draft.replace(self._path)
            finally:
                draft.unlink(missing_ok=True)
        except OSError as error:
            raise self._failed(error) from error

    def _unreadable(self, why: str) -> CouldNotCheck:
        return CouldNotCheck(
            "FLAKE_REGISTER_UNREADABLE", f"The register of flaky tests {str(self._path)!r} cannot be read: {why}."
        )

    def _failed(self, error: OSError) -> CouldNotCheck:
        return CouldNotCheck(
            "STORE_FAILED", f"The register of flaky tests {str(self._path)!r} cannot be written: {error.strerror}."
        )
