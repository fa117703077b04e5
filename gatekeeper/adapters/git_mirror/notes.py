"""Attestations in the repository's own notes, where enforcers and clones find them: one Sigstore bundle a line."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gatekeeper.adapters.git_mirror.runner import run
from gatekeeper.errors import CouldNotCheck

NOTES_REF = "refs/notes/attestations"
OFFLINE = {"GIT_ALLOW_PROTOCOL": "none"}
"""A repository may name a promisor remote in its own configuration; nothing is fetched from it."""
MAX_NOTE = 16 * 1024 * 1024
"""Bytes of one commit's note; a verdict with its results has about 10 kB."""


class GitNotesStore:
    """Implements `domain.ports.AttestationStore`. Appends only: what is stored stays, duplicates are not stored twice."""

    def put(self, repository: str, commit: str, bundles: Sequence[str]) -> str:
        """See `AttestationStore.put`."""
        lines = [b.encode("utf-8") for b in bundles]
        if any(b"\n" in line or not line for line in lines):
            raise CouldNotCheck("STORE_FAILED", "A bundle is empty or has a line break.")
        try:
            git_dir = _git_dir(repository)
            with _locked(git_dir):
                old = self._read(git_dir, commit)
                new = [line for line in lines if line not in old]
                if new:
                    self._write(git_dir, commit, b"".join(line + b"\n" for line in [*old, *new]))
        except OSError as error:
            raise CouldNotCheck(
                "STORE_FAILED", f"The repository cannot be written: {error.strerror or error}."
            ) from error
        except CouldNotCheck as error:
            if error.code == "STORE_FAILED":
                raise
            raise CouldNotCheck("STORE_FAILED", f"The statements cannot be stored: {error.message}") from error
        return NOTES_REF

    def get(self, repository: str, commit: str) -> tuple[str, ...]:
        """See `AttestationStore.get`."""
        try:
            return tuple(line.decode("utf-8", "replace") for line in self._read(_git_dir(repository), commit))
        except CouldNotCheck as error:
            if error.code == "STORE_FAILED":
                raise
            raise CouldNotCheck("STORE_FAILED", f"The statements cannot be read: {error.message}") from error
        except OSError as error:
            raise CouldNotCheck("STORE_FAILED", f"The repository cannot be read: {error.strerror or error}.") from error

    def _write(self, git_dir: Path, commit: str, content: bytes) -> None:
        if len(content) > MAX_NOTE:
            raise CouldNotCheck("STORE_FAILED", f"The note of {commit[:12]} would exceed {MAX_NOTE} bytes.")
        blob = (
            run(git_dir, ["hash-object", "-w", "--stdin"], stdin=content, extra=OFFLINE).stdout.strip().decode("ascii")
        )
        run(git_dir, ["notes", f"--ref={NOTES_REF}", "add", "-f", "-C", blob, commit], extra=OFFLINE)

    def _read(self, git_dir: Path, commit: str) -> list[bytes]:
        if commit.startswith("-"):
            raise CouldNotCheck("STORE_FAILED", f"{commit[:80]!r} names no commit.")
        listed = run(git_dir, ["notes", f"--ref={NOTES_REF}", "list", commit], ok=(0, 1, 128), extra=OFFLINE)
        oid = listed.stdout.strip().decode("ascii", "replace")
        if listed.returncode or not oid:
            return []
        size = run(git_dir, ["cat-file", "-s", oid], extra=OFFLINE).stdout.strip()
        if not size.isdigit() or int(size) > MAX_NOTE:
            raise CouldNotCheck("STORE_FAILED", f"The note of {commit[:12]} is larger than {MAX_NOTE} bytes.")
        content = run(git_dir, ["cat-file", "blob", oid], extra=OFFLINE).stdout
        return [line for line in content.split(b"\n") if line.strip()]


def _git_dir(repository: str) -> Path:
    done = run(None, ["-c", "safe.directory=*", "-C", os.path.abspath(repository), "rev-parse", "--absolute-git-dir"])
    return Path(os.fsdecode(done.stdout.rstrip(b"\n")))


@contextmanager
def _locked(git_dir: Path) -> Iterator[None]:
    """One writer at a time: a lock on the directory itself, so that nothing is left in it."""
    handle = os.open(git_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
