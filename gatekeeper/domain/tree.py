"""A tree of a commit as the checks see it: entries, and blobs read by path.

Reading is content-addressed and therefore deterministic, so a check that reads through a `Tree` stays pure. Paths are
str decoded from git's bytes with surrogateescape; they are hostile and never touch a file system here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Protocol

from gatekeeper.records import dataclass, field

REGULAR, EXECUTABLE, SYMLINK, GITLINK = "100644", "100755", "120000", "160000"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One blob, link or submodule of a tree."""

    path: str
    mode: str
    """Git file mode as six octal digits: REGULAR, EXECUTABLE, SYMLINK or GITLINK."""
    oid: str
    """Object id of the blob (of the commit, for a GITLINK)."""
    size: int | None = None
    """Bytes; None for a GITLINK."""


class Tree(Protocol):
    """A whole tree."""

    @property
    def entries(self) -> Mapping[str, TreeEntry]:
        """All entries by path."""

    def read(self, path: str) -> bytes:
        """The blob at `path` (the target text of a symlink).

        Raises `KeyError` where there is none or it is a GITLINK, and `CouldNotCheck` (BLOB_TOO_LARGE) over the cap.
        """


@dataclass(frozen=True)
class MemoryTree:
    """A tree held in memory, for tests and for synthetic cases: `MemoryTree.of({"a.py": b"..."})`."""

    entries: Mapping[str, TreeEntry]
    blobs: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Mapping[str, bytes | str], modes: Mapping[str, str] | None = None) -> MemoryTree:
        """A tree of `files` (text is encoded as UTF-8), regular files unless `modes` says otherwise."""
        blobs = {p: c.encode() if isinstance(c, str) else c for p, c in files.items()}
        entries = {}
        for path, content in blobs.items():
            oid = hashlib.sha1(b"blob %d\x00" % len(content) + content, usedforsecurity=False).hexdigest()
            entries[path] = TreeEntry(path, (modes or {}).get(path, REGULAR), oid, len(content))
        return cls(entries, blobs)

    def read(self, path: str) -> bytes:
        """See `Tree.read`."""
        return self.blobs[path]


def text(tree: Tree, path: str) -> str | None:
    """The file as text, undecodable bytes replaced; None where there is no regular file at `path`."""
    entry = tree.entries.get(path)
    if entry is None or entry.mode not in (REGULAR, EXECUTABLE):
        return None
    return tree.read(path).decode("utf-8", "replace")
