"""`GitMirror`: fetch, describe, compose and export, all inside a bare mirror of the gate's own."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gatekeeper.adapters.git_mirror import bundle as bundles
from gatekeeper.adapters.git_mirror import fetching, history, sources
from gatekeeper.adapters.git_mirror.export import LEFT_SECONDS, export, passable
from gatekeeper.adapters.git_mirror.fetching import SHA, Absent, TooLarge
from gatekeeper.adapters.git_mirror.quarantine import quarantine, unpack
from gatekeeper.adapters.git_mirror.reader import GitTree, blobs, reader
from gatekeeper.adapters.git_mirror.runner import ATTRIBUTES, run
from gatekeeper.adapters.git_mirror.sources import Remotes, Source
from gatekeeper.config import Paths
from gatekeeper.domain.change import Change, ChangedPath
from gatekeeper.domain.ports import Mirror
from gatekeeper.domain.tree import Tree
from gatekeeper.errors import CouldNotCheck, InputError, NotMergeable, UsageError

KEPT_TREES, MOST_TREES, KEPT_ENTRIES = 6, 240, 400_000
"""Listings kept in memory: as many as six always, and up to 240 as long as they have no more entries together."""


class GitMirror:
    """Implements `domain.ports.GitRepositories`. Safe to call from several threads and processes at once.

    `remotes` are the operator's settings for sources on other machines; without them there are none.
    """

    def __init__(self, paths: Paths, remotes: Remotes | None = None) -> None:
        self._paths = paths
        self._remotes = remotes
        self._trees: dict[tuple[Path, str], GitTree] = {}
        self._trees_lock = threading.Lock()

    def _tree(self, git_dir: Path, oid: str) -> GitTree:
        """The tree, listed once: the last few are remembered, since an id never means another content."""
        with self._trees_lock:
            found = self._trees.pop((git_dir, oid), None) or GitTree(git_dir, oid)
            self._trees[git_dir, oid] = found
            total = sum(tree.listed for tree in self._trees.values())
            for old in list(self._trees)[:-KEPT_TREES]:
                if total <= KEPT_ENTRIES and len(self._trees) <= MOST_TREES:
                    break
                total -= self._trees.pop(old).listed
            return found

    # --- fetch ---

    def fetch(self, source: str, target_ref: str, head: str, bundle: str | None = None) -> Mirror:
        """See `GitRepositories.fetch`."""
        where = sources.find(source, self._remotes)
        git_dir = self._mirror(where)
        fetching.refuse_unusable(where)
        known = fetching.refs(git_dir, where)
        target = fetching.target(target_ref, known)
        base = known[target]
        wanted = fetching.resolve(where, head, known)
        if bundle is None or wanted in known.values():
            self._need(git_dir, where, (base, wanted), wanted)
        else:
            self._need(git_dir, where, (base,), wanted)
            if not fetching.has(git_dir, wanted):
                self._unbundle(git_dir, where, wanted, bundle)
        for oid, what in ((base, "target"), (wanted, "head")):
            found = reader(git_dir).info(oid)
            if found is None or found[1] != "commit":
                code = "TARGET_NOT_FOUND" if what == "target" else "HEAD_NOT_FOUND"
                raise UsageError(code, f"The {what} {oid[:12]} is {found[1] if found else 'no object'}, not a commit.")
        return Mirror(git_dir, where.name, target, base, wanted)

    def _mirror(self, source: Source) -> Path:
        mark = source.name if source.directory is None else os.path.realpath(source.directory)
        name = hashlib.sha256(mark.encode("utf-8", "surrogateescape")).hexdigest()[:40]
        git_dir = self._paths.mirrors / f"{name}.git"
        ready = git_dir / "gatekeeper-ready"
        if ready.exists():
            return git_dir  # nobody waits for another's fetch here
        try:
            passable(self._paths.mirrors.parent)
            self._paths.mirrors.mkdir(exist_ok=True, mode=0o700)
            with _locked(git_dir):
                if not ready.exists():
                    run(None, ["init", "-q", "--bare", "--template=", str(git_dir)])
                    (git_dir / "info").mkdir(exist_ok=True)
                    (git_dir / "info" / "attributes").write_text(ATTRIBUTES, encoding="ascii")
                    ready.write_text("1\n", encoding="ascii")
        except OSError as error:
            raise CouldNotCheck("GIT_FAILED", f"The mirror cannot be made: {error.strerror or error}.") from error
        return git_dir

    def _need(self, git_dir: Path, source: Source, oids: Sequence[str], head: str) -> None:
        """Bring what is not there yet. The lock is taken only where something is missing."""
        if all(fetching.has(git_dir, oid) for oid in oids):
            return
        try:
            self._bring(git_dir, source, oids)
        except Absent as error:
            raise UsageError("HEAD_NOT_FOUND", f"The commit {head[:40]} does not exist in {source.shown}.") from error
        except TooLarge as error:
            others = [oid for oid in oids if oid != head]
            with suppress(TooLarge):
                if others and len(others) < len(oids):
                    self._bring(git_dir, source, others)  # the target alone is small enough, so it is the head
                    raise _too_large("The head", source, "change") from error
            raise _too_large("The target branch", source, "environment") from error

    def _bring(self, git_dir: Path, source: Source, oids: Sequence[str]) -> None:
        with _locked(git_dir):
            missing = [oid for oid in dict.fromkeys(oids) if not fetching.has(git_dir, oid)]
            if missing:
                _unlock(git_dir)
                fetching.bring(git_dir, source, missing)
                if fetching.is_cut(git_dir):
                    _unlock(git_dir)
                    raise source.unreachable("it is a shallow clone: the history that the merge needs is not there.")

    def _unbundle(self, git_dir: Path, source: Source, head: str, bundle: str) -> None:
        """Take head and what it reaches out of a bundle. Nothing that the bundle calls by a name is looked at."""
        with bundles.opened(bundle) as file:
            found = bundles.header(file)
            absent = [oid for oid in found.prerequisites if reader(git_dir).info(oid) is None]
            if absent:
                try:
                    self._bring(git_dir, source, absent)
                except Absent as error:
                    raise InputError(
                        "BUNDLE_PREREQUISITE_MISSING",
                        f"The bundle builds on {', '.join(oid[:12] for oid in absent[:5])}, which {source.shown} lacks.",
                    ) from error
                except TooLarge as error:
                    raise _too_large("What the bundle builds on", source, "change") from error
            with quarantine(git_dir) as place:
                unpack(place, git_dir, file, found, head)
                try:
                    self._bring(git_dir, sources.find(str(place), None), (head,))
                except (Absent, TooLarge) as error:
                    raise CouldNotCheck("GIT_FAILED", f"The unpacked bundle cannot be fetched from: {error}") from error

    # --- describe ---

    def describe(self, mirror: Mirror) -> Change:
        """See `GitRepositories.describe`."""
        git_dir = mirror.path
        base_commit, head_commit = history.commit(git_dir, mirror.base), history.commit(git_dir, mirror.head)
        on_top = head_commit.parents == (mirror.base,)  # the common case needs no walk
        merge_base = mirror.base if on_top else self._merge_base(git_dir, mirror.base, mirror.head)
        base = self._tree(git_dir, base_commit.tree)
        head = self._tree(git_dir, head_commit.tree)
        for tree in (base, head):
            _ = tree.entries  # refuses a hostile tree before the merge walks it
        merge_tree = self._merge(git_dir, mirror.base, mirror.head)
        merged = self._tree(git_dir, merge_tree)
        if merge_tree == base_commit.tree:
            raise NotMergeable("NOTHING_TO_MERGE", "Merging head into the target would change no file.")
        paths = tuple(
            ChangedPath(p, base.entries.get(p), merged.entries.get(p))
            for p in sorted(set(base.entries) | set(merged.entries))
            if _mark(base, p) != _mark(merged, p)
        )
        commits = (head_commit,) if on_top else history.commits(git_dir, mirror.base, mirror.head)
        return Change(
            repository=mirror.repository,
            target_ref=mirror.target_ref,
            base=mirror.base,
            base_tree=base_commit.tree,
            merge_base=merge_base,
            head=mirror.head,
            head_tree=head_commit.tree,
            merge_tree=merge_tree,
            paths=paths,
            commits=commits,
            history=history.blobs_introduced(git_dir, commits),
        )

    def _merge_base(self, git_dir: Path, base: str, head: str) -> str:
        found = run(git_dir, ["merge-base", base, head], ok=(0, 1))
        if found.returncode or not found.stdout.strip():
            raise NotMergeable("UNRELATED_HISTORIES", "Head and the target branch have no commit in common.")
        return found.stdout.split()[0].decode("ascii")

    def _merge(self, git_dir: Path, base: str, head: str) -> str:
        """The tree of the merge, computed without a work tree; attributes and drivers of the commits have no say."""
        done = run(git_dir, ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", base, head], ok=(0, 1))
        parts = [p for p in done.stdout.split(b"\x00") if p]
        if done.returncode == 0 and parts and SHA.fullmatch(parts[0].decode("ascii", "replace")):
            return parts[0].decode("ascii")
        names = [p.decode("utf-8", "replace") for p in dict.fromkeys(parts[1:])]
        shown = ", ".join(repr(n) for n in names[:10]) or "unknown files"
        raise NotMergeable("MERGE_CONFLICT", f"Head conflicts with the target in {shown}.")

    # --- trees ---

    def tree(self, mirror: Mirror, tree: str) -> Tree:
        """See `GitRepositories.tree`."""
        return self._tree(mirror.path, tree)

    def blobs(self, mirror: Mirror, oids: Sequence[str]) -> dict[str, bytes]:
        """See `GitRepositories.blobs`."""
        return blobs(mirror.path, oids)

    def compose(self, mirror: Mirror, tree: str, replace: Mapping[str, tuple[str, str] | None]) -> str:
        """See `GitRepositories.compose`. A path that is put back wins over whatever took its place as a directory or file."""
        rows = {p: (e.mode, e.oid) for p, e in self._tree(mirror.path, tree).entries.items()}
        for path in replace:
            rows.pop(path, None)
        for path, entry in replace.items():
            if entry is None:
                continue
            for other in [o for o in rows if o.startswith(f"{path}/") or path.startswith(f"{o}/")]:
                del rows[other]
            rows[path] = entry
        feed = b"".join(
            f"{m} {o}\t".encode("ascii") + p.encode("utf-8", "surrogateescape") + b"\x00" for p, (m, o) in rows.items()
        )
        try:
            with tempfile.TemporaryDirectory(prefix="index-", dir=mirror.path) as folder:
                extra = {"GIT_INDEX_FILE": f"{folder}/index"}
                run(mirror.path, ["update-index", "-z", "--add", "--index-info"], stdin=feed, extra=extra)
                return run(mirror.path, ["write-tree"], extra=extra).stdout.strip().decode("ascii")
        except OSError as error:
            raise CouldNotCheck("GIT_FAILED", f"A tree cannot be composed: {error.strerror or error}.") from error

    def export(self, mirror: Mirror, tree: str) -> Path:
        """See `GitRepositories.export`."""
        return export(self._tree(mirror.path, tree), self._paths.trees)


def _mark(tree: GitTree, path: str) -> tuple[str, str] | None:
    entry = tree.entries.get(path)
    return (entry.mode, entry.oid) if entry else None


def _too_large(what: str, source: Source, blame: str) -> CouldNotCheck:
    text = f"{what} brings more from {source.shown} than one fetch may."
    return CouldNotCheck("FETCH_TOO_LARGE", text, blame=blame)


def _unlock(git_dir: Path) -> None:
    """Remove what a killed process left behind. Only under the mirror's own lock: no other git writes its refs then."""
    if fetching.is_cut(git_dir):
        # Which commits are cut is not known, so all are fetched anew.
        shutil.rmtree(git_dir / "refs" / "gatekeeper", ignore_errors=True)
        (git_dir / "shallow").unlink()
    for lock in [*git_dir.glob("*.lock"), *(git_dir / "refs" / "gatekeeper").glob("*.lock")]:
        lock.unlink(missing_ok=True)
    limit = time.time() - LEFT_SECONDS
    for left in [*git_dir.glob("index-*"), *git_dir.glob("objects/tmp_*"), *git_dir.glob("objects/pack/tmp_*")]:
        with suppress(FileNotFoundError):
            if left.lstat().st_mtime < limit:
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink()


@contextmanager
def _locked(git_dir: Path) -> Iterator[None]:
    """One writer a mirror at a time, across threads and processes."""
    with open(f"{git_dir}.lock", "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
