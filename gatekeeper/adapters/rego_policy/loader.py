"""Read an OPA bundle from a directory: no link is followed, nothing is skipped, everything is bounded.

What the files say is judged by `formats.rego_bundle`; every refusal is `CouldNotCheck` POLICY_UNUSABLE with the file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from gatekeeper.formats.rego_bundle import NAME, LoadedBundle, bundle_digest, parse_bundle_files, refused

__all__ = ["LoadedBundle", "bundle_digest", "load_bundle", "refused"]

MAX_FILES = 512
MAX_FILE_BYTES = 256 * 1024
MAX_BUNDLE_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 8


def load_bundle(directory: Path) -> LoadedBundle:
    """Read, check and name the bundle. Raises `CouldNotCheck` POLICY_UNUSABLE."""
    return parse_bundle_files(_files(directory))


def _files(directory: Path) -> dict[str, bytes]:
    try:
        root = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise refused(str(directory), f"the directory cannot be opened, {error.strerror}") from error
    try:
        found: dict[str, bytes] = {}
        total = 0
        for path, content in _walk(root, "", 0):
            found[path] = content
            total += len(content)
            if len(found) > MAX_FILES or total > MAX_BUNDLE_BYTES:
                raise refused(path, f"the bundle is larger than {MAX_FILES} files or {MAX_BUNDLE_BYTES} bytes")
        return found
    finally:
        os.close(root)


def _walk(directory: int, prefix: str, depth: int) -> Iterator[tuple[str, bytes]]:
    if depth > MAX_DEPTH:
        raise refused(prefix, "the directories are nested too deep")
    for name in sorted(os.listdir(directory)):
        path = prefix + name
        if not NAME.fullmatch(path):
            raise refused(ascii(path), "names are made of letters, digits, dots, dashes and underscores")
        try:
            kind = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
            if stat.S_ISDIR(kind):
                below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
                try:
                    yield from _walk(below, path + "/", depth + 1)
                finally:
                    os.close(below)
            elif stat.S_ISREG(kind):
                yield path, _read(name, path, directory)
            else:
                raise refused(path, "it is neither a regular file nor a directory")
        except OSError as error:
            raise refused(path, f"it cannot be read, {error.strerror}") from error


def _read(name: str, path: str, directory: int) -> bytes:
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory), "rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise refused(path, f"it is larger than {MAX_FILE_BYTES} bytes")
    return content
