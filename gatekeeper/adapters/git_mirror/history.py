"""Commits of base..head and every blob they introduced."""

from __future__ import annotations

import re
from pathlib import Path

from gatekeeper.adapters.git_mirror.paths import MAX_DEPTH, MAX_ENTRIES, hostile
from gatekeeper.adapters.git_mirror.reader import reader
from gatekeeper.adapters.git_mirror.runner import run
from gatekeeper.domain.change import Commit, HistoryBlob, Person
from gatekeeper.domain.tree import GITLINK
from gatekeeper.errors import CouldNotCheck, InputError

MAX_COMMITS = 2000
MAX_MESSAGE = 256 * 1024
"""Bytes of one commit object that are read; an honest message is far smaller."""
MAX_HISTORY = 100_000
FEW = 500
"""Objects that are asked for one by one from the open reader; more go to a process of their own at once."""
_PERSON = re.compile(r"(?P<name>.*?) ?<(?P<email>[^<>]*)> [0-9]+ [+-][0-9]{4}$", re.DOTALL)


def commits(git_dir: Path, base: str, head: str) -> tuple[Commit, ...]:
    """base..head, oldest first. Raises `InputError` (TREE_HOSTILE) for more than MAX_COMMITS or a malformed commit."""
    listed = run(git_dir, ["rev-list", "--topo-order", "--reverse", f"--max-count={MAX_COMMITS + 1}", head, f"^{base}"])
    oids = listed.stdout.decode("ascii").split()
    if len(oids) > MAX_COMMITS:
        raise InputError("TREE_HOSTILE", f"The change has more than {MAX_COMMITS} commits.")
    return tuple(commit(git_dir, oid) for oid in oids)


def commit(git_dir: Path, oid: str) -> Commit:
    """One commit object, parsed without git's own pretty-printing (which obeys configuration and encodings)."""
    try:
        found = reader(git_dir).read(oid, limit=MAX_MESSAGE)
    except CouldNotCheck as error:
        if error.code == "BLOB_TOO_LARGE":
            raise InputError(
                "TREE_HOSTILE", f"The commit {oid[:12]} has a message over {MAX_MESSAGE} bytes."
            ) from error
        raise
    if found is None or found[0] != "commit":
        raise CouldNotCheck("GIT_FAILED", f"The commit {oid[:12]} is missing in the mirror.")
    head, _, message = found[1].partition(b"\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.split(b"\n"):
        if line.startswith(b"parent ") and "author" in fields:
            continue  # git knows parents above the author only; a later line is decoration
        key, _, value = line.partition(b" ")
        if key:
            fields.setdefault(key.decode("ascii", "replace"), []).append(value.decode("utf-8", "replace"))
    if not fields.get("tree") or not fields.get("author") or not fields.get("committer"):
        raise InputError("TREE_HOSTILE", f"The commit {oid[:12]} lacks a tree, author or committer.")
    return Commit(
        oid=oid,
        tree=fields["tree"][0],
        parents=tuple(fields.get("parent", [])),
        author=_person(fields["author"][0]),
        committer=_person(fields["committer"][0]),
        message=message.decode("utf-8", "replace"),
    )


def _person(text: str) -> Person:
    found = _PERSON.match(text)
    return Person(found["name"], found["email"]) if found else Person(text[:200], "")


def blobs_introduced(git_dir: Path, history: tuple[Commit, ...]) -> tuple[HistoryBlob, ...]:
    """Every (blob, path) that some commit has and its first parent has not; a removed one is still listed.

    Merge commits are compared with each parent: what a merge itself smuggles in differs from all of them, and what came
    from the target's side is harmless to list.
    """
    if not history:
        return ()
    _refuse_bombs(git_dir, history[:-1])  # the last one's tree was listed whole before
    feed = "".join(f"{c.oid}\n" for c in history).encode("ascii")
    args = [
        "diff-tree",
        "--stdin",
        "--root",
        "-m",
        "-r",
        "-z",
        "--raw",
        "--no-renames",
        "--no-abbrev",
        "--no-ext-diff",
        "--no-textconv",
    ]
    output = run(git_dir, args, stdin=feed).stdout
    rows: dict[tuple[str, str], tuple[str, str]] = {}
    current = history[0].oid
    tokens = iter(output.split(b"\x00"))
    for token in tokens:
        if not token:
            continue
        if not token.startswith(b":"):
            current = token.strip().split(b" ")[0].decode("ascii", "replace")
            continue
        _, mode, _, oid, status = token.decode("ascii", "replace").split(" ")
        path = next(tokens, b"").decode("utf-8", "surrogateescape")
        if status.startswith("D") or mode in (GITLINK, "000000"):
            continue
        why = hostile(path)
        if why is not None:
            raise InputError("TREE_HOSTILE", f"The history has the path {path[:200]!r}: {why}.")
        rows.setdefault((oid, path), (current, mode))
        if len(rows) > MAX_HISTORY:
            raise InputError("TREE_HOSTILE", f"The history introduces more than {MAX_HISTORY} files.")
    sizes = _sizes(git_dir, sorted({oid for oid, _ in rows}))
    return tuple(HistoryBlob(oid, path, at, mode, sizes.get(oid, 0)) for (oid, path), (at, mode) in rows.items())


def _refuse_bombs(git_dir: Path, history: tuple[Commit, ...]) -> None:
    """Count the files of each tree, every object once: a few trees can list billions, which git would hold in memory."""
    source = reader(git_dir)
    known: dict[str, int] = {}

    def count(oid: str, depth: int) -> int:
        if oid in known:
            return known[oid]
        found = source.read(oid)
        if found is None or found[0] != "tree":
            raise CouldNotCheck("GIT_FAILED", f"The tree {oid[:12]} is missing in the mirror.")
        content, width, at, files = found[1], len(oid) // 2, 0, 0
        while at < len(content):
            end = content.index(b"\x00", at)
            if content.startswith(b"40000 ", at):
                if depth >= MAX_DEPTH:
                    raise InputError("TREE_HOSTILE", f"The history has a tree of more than {MAX_DEPTH} levels.")
                files += count(content[end + 1 : end + 1 + width].hex(), depth + 1)
            else:
                files += 1
            if files > MAX_ENTRIES:
                raise InputError("TREE_HOSTILE", f"The history has a tree of more than {MAX_ENTRIES} files.")
            at = end + 1 + width
        known[oid] = files
        return files

    for entry in history:
        count(entry.tree, 1)


def _sizes(git_dir: Path, oids: list[str]) -> dict[str, int]:
    if len(oids) <= FEW:
        found = {oid: reader(git_dir).info(oid) for oid in oids}
        return {oid: info[2] for oid, info in found.items() if info is not None}
    feed = "".join(f"{o}\n" for o in oids).encode("ascii")
    output = run(git_dir, ["cat-file", "--batch-check=%(objectname) %(objectsize)"], stdin=feed).stdout.decode("ascii")
    pairs = (line.split(" ") for line in output.splitlines())
    return {p[0]: int(p[1]) for p in pairs if len(p) == 2 and p[1].isdigit()}
