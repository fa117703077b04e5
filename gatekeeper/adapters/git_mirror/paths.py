"""Tree listings to entries, refusing every path that no honest change needs and some tool would follow elsewhere."""

from __future__ import annotations

import re

from gatekeeper.domain.tree import EXECUTABLE, GITLINK, REGULAR, SYMLINK, TreeEntry
from gatekeeper.errors import InputError

MAX_ENTRIES = 200_000
MAX_PATH, MAX_SEGMENT, MAX_DEPTH = 4000, 255, 100
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# Characters that HFS+ ignores in names: `.g\u200cit` is .git there.
_IGNORED = dict.fromkeys([0x200C, 0x200D, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF])


def hostile(path: str) -> str | None:
    """Why `path` is refused, or None."""
    if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH:
        return "the path is too long"
    segments = path.split("/")
    if len(segments) > MAX_DEPTH:
        return "the path is too deep"
    for segment in segments:
        if segment in ("", ".", ".."):
            return f"it has the segment {segment!r}"
        if len(segment.encode("utf-8", "surrogateescape")) > MAX_SEGMENT:
            return "a segment is too long"
        if "\x00" in segment:
            return "it holds NUL"
        for part in segment.split("\\"):
            plain = part.translate(_IGNORED).casefold().split(":", 1)[0].rstrip(". ")
            if plain in (".git", "git~1") or (part != segment and plain in (".", "..", "")):
                return "it would reach git's own directory or leave the tree on some system"
    return None


def listing(output: bytes) -> dict[str, TreeEntry]:
    """Entries of `ls-tree -r -z -l`. Raises `InputError` (TREE_HOSTILE) naming the first bad path."""
    entries: dict[str, TreeEntry] = {}
    for row in output.split(b"\x00"):
        if not row:
            continue
        head, _, name = row.partition(b"\t")
        fields = head.split()
        path = name.decode("utf-8", "surrogateescape")
        if len(fields) != 4:
            raise InputError("TREE_HOSTILE", f"The tree has an entry that git cannot list: {path[:80]!r}.")
        mode, _, oid, size = (f.decode("ascii", "replace") for f in fields)
        why = hostile(path)
        if why is None and mode not in (REGULAR, EXECUTABLE, SYMLINK, GITLINK):
            # Historic group-writable files are the one honest irregular mode; git itself checks them out as 644.
            if mode == "100664":
                mode = REGULAR
            else:
                why = f"it has the mode {mode}"
        if why is None and path in entries:
            why = "it stands twice in the tree"
        if why is None and not _OID.fullmatch(oid):
            why = "its object id is malformed"
        if why is not None:
            raise InputError("TREE_HOSTILE", f"The path {path[:200]!r} is refused: {why}.")
        entries[path] = TreeEntry(path, mode, oid, int(size) if size.isdigit() and len(size) < 20 else None)
        if len(entries) > MAX_ENTRIES:
            raise InputError("TREE_HOSTILE", f"The tree has more than {MAX_ENTRIES} files.")
    parents = {""}
    for path in entries:
        folder = path.rpartition("/")[0]
        while folder not in parents:
            if folder in entries:
                raise InputError("TREE_HOSTILE", f"The path {folder[:200]!r} is refused: it is a file and a folder.")
            parents.add(folder)
            folder = folder.rpartition("/")[0]
    return entries
