"""A change: what would land if head were merged into the current tip of the target."""

from __future__ import annotations

import hashlib

from gatekeeper.domain.tree import TreeEntry
from gatekeeper.records import dataclass


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """One path that differs between the target tip and the merge result. Renames are never folded: both sides show."""

    path: str
    old: TreeEntry | None
    new: TreeEntry | None

    @property
    def status(self) -> str:
        """A (added), D (deleted), T (kind changed, e.g. file to link) or M (content or mode changed)."""
        if self.old is None:
            return "A"
        if self.new is None:
            return "D"
        return "T" if self.old.mode[:3] != self.new.mode[:3] else "M"


@dataclass(frozen=True, slots=True)
class Person:
    """Author or committer as the commit says; never proof of who it was."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of base..head. The message is hostile text (undecodable bytes replaced, capped)."""

    oid: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str

    def co_authors(self) -> tuple[Person, ...]:
        """Persons named in Co-authored-by trailers."""
        people = []
        for line in self.message.splitlines():
            label, _, rest = line.partition(":")
            if label.strip().lower() == "co-authored-by":
                name, _, email = rest.partition("<")
                people.append(Person(name.strip(), email.rstrip().rstrip(">").strip()))
        return tuple(people)


@dataclass(frozen=True, slots=True)
class HistoryBlob:
    """A blob that some commit of base..head introduced at a path, also when a later commit removed it again."""

    oid: str
    path: str
    commit: str
    mode: str
    size: int


@dataclass(frozen=True)
class Change:
    """What would land, and the history that brings it."""

    repository: str
    """URI of the repository as the gate knows it."""
    target_ref: str
    """Fully qualified: refs/heads/..."""
    base: str
    """Commit at the tip of the target when it was fetched."""
    base_tree: str
    merge_base: str
    head: str
    head_tree: str
    merge_tree: str
    """Tree of the merge of head into base, computed in the bare mirror."""
    paths: tuple[ChangedPath, ...]
    """base_tree against merge_tree, sorted by path."""
    commits: tuple[Commit, ...]
    """base..head, oldest first."""
    history: tuple[HistoryBlob, ...]
    """Every blob new in base..head (first parent of each commit), merge_tree's own included."""

    def diff_digest(self) -> str:
        """sha256 that names the diff itself: paths, modes and blob ids, and nothing of the base around them.

        An approval binds this, so a moved target does not ask the person again while the diff stays the same.
        """
        mark = hashlib.sha256(b"gatekeeper diff v1\x00")
        for p in self.paths:
            row = [p.path, *(f"{e.mode}:{e.oid}" if e else "-" for e in (p.old, p.new))]
            mark.update("\x00".join(row).encode("utf-8", "surrogateescape") + b"\x00\n")
        return mark.hexdigest()
