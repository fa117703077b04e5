"""Uploaded bytes as files named by their sha256. A file has its name only once it is whole, checked and on the disk.

    blobs/incoming/<random>      being written; its writer holds a lock on it, which ends with its process
    blobs/<2 digits>/<64 digits> whole

Bytes are checked again whenever they are read: a file that changed on the disk is a fault, never an answer.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from gatekeeper.errors import CouldNotCheck, InputError

MAX_BYTES = 1024**3
"""Largest content, whatever a caller announces."""
FLOOR_BYTES = 512 * 1024**2
"""Room on the disk that uploads never take: the database and running verifications need it."""
_NAME = re.compile(r"[0-9a-f]{64}")
_PIECE = 1024 * 1024


class BlobStore:
    """Implements `domain.service_ports.Blobs` in a directory that is the gate's user's alone."""

    def __init__(self, directory: Path, *, max_bytes: int = MAX_BYTES, floor_bytes: int = FLOOR_BYTES) -> None:
        self._directory = directory
        self._incoming = directory / "incoming"
        self._max = max_bytes
        self._floor = floor_bytes

    def write(self, sha256: str, chunks: Iterable[bytes], size: int) -> Path:
        """Store `size` bytes that have this digest; nothing is left of others.

        Content that is there already is read, checked and written anew: an upload proves that the caller has the
        bytes, and mends a damaged file. Raises `InputError` (ARTIFACT_SIZE, ARTIFACT_DIGEST) and `CouldNotCheck`
        (STORAGE_FULL, STORE_FAILED); what `chunks` itself raises goes through.
        """
        if not _NAME.fullmatch(sha256):
            raise InputError("ARTIFACT_DIGEST", "A digest has 64 lowercase hexadecimal digits.")
        if not 0 <= size <= self._max:
            raise InputError("ARTIFACT_SIZE", f"{size} bytes are announced; {self._max} are the most.")
        with _faults():
            self._make_directories(sha256)
            self._need_room(size)
            handle, draft = self._draft()
        try:
            self._receive(handle, sha256, chunks, size)
            target = self._place(sha256)
            with _faults():
                os.fsync(handle)
                draft.replace(target)
                _sync_directory(target.parent)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
        finally:
            os.close(handle)
        return target

    def path(self, sha256: str) -> Path | None:
        """Where the content is; None where it is not there, and for what is no digest."""
        if not _NAME.fullmatch(sha256):
            return None
        place = self._place(sha256)
        try:
            return place if stat.S_ISREG(place.lstat().st_mode) else None
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _failed(error) from error

    def read(self, sha256: str, limit: int) -> bytes | None:
        """The content; None where it is not there. Raises `InputError` (INPUT_TOO_LARGE) above `limit` bytes."""
        place = self.path(sha256)
        if place is None:
            return None
        with _faults(), _opened(place) as file:
            size = os.fstat(file).st_size
            if size > limit:
                raise InputError("INPUT_TOO_LARGE", f"The artifact has {size} bytes; {limit} are the most here.")
            return b"".join(_pieces(file, sha256, _PIECE))

    def chunks(self, sha256: str, size: int) -> Iterator[bytes]:
        """The content in pieces of `size` bytes. Raises `CouldNotCheck` (STORE_FAILED) where it is not there, and at
        the end where it was damaged.
        """
        place = self.path(sha256)
        if place is None:
            raise CouldNotCheck("STORE_FAILED", f"The store has no content {sha256[:64]!r}.")

        def pieces() -> Iterator[bytes]:
            with _faults(), _opened(place) as file:
                yield from _pieces(file, sha256, size)

        return pieces()

    def sweep(self) -> int:
        """Remove what processes that died were writing; number of files. Drafts of living writers stay."""
        removed = 0
        with _faults():
            if not self._incoming.is_dir():
                return 0
            for entry in os.scandir(self._incoming):
                with contextlib.suppress(FileNotFoundError, BlockingIOError), _opened(Path(entry.path)) as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)
                    removed += 1
        return removed

    # writing

    def _make_directories(self, sha256: str) -> None:
        for directory in (self._directory, self._incoming, self._place(sha256).parent):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._directory.chmod(0o700)

    def _need_room(self, size: int) -> None:
        disk = os.statvfs(self._directory)
        if disk.f_bavail * disk.f_frsize - size < self._floor:
            raise CouldNotCheck(
                "STORAGE_FULL",
                f"{size} bytes do not fit: the gate keeps {self._floor} bytes of its disk free.",
                blame="gate",
            )

    def _draft(self) -> tuple[int, Path]:
        """A locked new file. `sweep` may take it before the lock is held; then another one is made."""
        while True:
            draft = self._incoming / os.urandom(16).hex()
            handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX)
                if os.fstat(handle).st_nlink:
                    return handle, draft
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)

    def _receive(self, handle: int, sha256: str, chunks: Iterable[bytes], size: int) -> None:
        digest, received, checked = hashlib.sha256(), 0, 0
        for chunk in chunks:
            received += len(chunk)
            if received > size:
                raise InputError("ARTIFACT_SIZE", f"More than the announced {size} bytes were sent.")
            digest.update(chunk)
            with _faults():
                _write_all(handle, chunk)
                if received - checked > 64 * _PIECE:  # others write too
                    checked = received
                    self._need_room(size - received)
        if received != size:
            raise InputError("ARTIFACT_SIZE", f"{received} bytes were sent, {size} were announced.")
        if digest.hexdigest() != sha256:
            raise InputError("ARTIFACT_DIGEST", f"The bytes have the digest {digest.hexdigest()}, not {sha256}.")

    def _place(self, sha256: str) -> Path:
        return self._directory / sha256[:2] / sha256


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _pieces(handle: int, sha256: str, size: int) -> Iterator[bytes]:
    digest = hashlib.sha256()
    while piece := os.read(handle, size):
        digest.update(piece)
        yield piece
    if digest.hexdigest() != sha256:
        raise CouldNotCheck("STORE_FAILED", f"The stored content {sha256} was damaged on the disk.", blame="gate")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


def _sync_directory(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _faults() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _failed(error) from error


def _failed(error: OSError) -> CouldNotCheck:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CouldNotCheck("STORAGE_FULL", "The disk of the gate is full.", blame="gate")
    return CouldNotCheck("STORE_FAILED", f"The blob store could not be used: {error.strerror or error}.", blame="gate")
