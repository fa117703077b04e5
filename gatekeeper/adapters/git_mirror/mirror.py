"""`GitMirror`: fetch, describe, compose and export, all inside a bare mirror of the gate's own."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from gatekeeper.adapters.git_mirror import history
from gatekeeper.adapters.git_mirror.export import LEFT_SECONDS, export, passable
from gatekeeper.adapters.git_mirror.reader import GitTree, blobs, reader
from gatekeeper.adapters.git_mirror.runner import ATTRIBUTES, complaint, run
from gatekeeper.config import Paths
from gatekeeper.domain.change import Change, ChangedPath
from gatekeeper.domain.ports import Mirror
from gatekeeper.domain.tree import Tree
from gatekeeper.errors import CouldNotCheck, InputError, NotMergeable, UsageError

KEPT_TREES = 6
"""Listings kept in memory."""
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT = re.compile(r"[0-9a-f]{7,63}")
_REF = re.compile(r"(?!.*(\.\.|@\{|//|\.lock(/|$)|/\.))[A-Za-z0-9_][A-Za-z0-9._/+@#%,=-]{0,250}(?<![./])")

# The serving side reads the source's own configuration; what could run something there is ignored by git itself
# (uploadpack.packObjectsHook counts from protected configuration only) or overridden on its command
# line. On one machine no search for new deltas pays. The text is fixed: nothing of the caller's gets into this shell word.
_UPLOAD_PACK = (
    "GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 git -c 'safe.directory=*' -c uploadpack.allowAnySHA1InWant=true "
    "-c core.hooksPath=/dev/null -c core.fsmonitor=false -c pack.threads=1 -c pack.window=0 upload-pack"
)


class GitMirror:
    """Implements `domain.ports.GitRepositories` for repositories on this machine."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._trees: dict[tuple[Path, str], GitTree] = {}

    def _tree(self, git_dir: Path, oid: str) -> GitTree:
        """The tree, listed once: the last few are remembered, since an id never means another content."""
        found = self._trees.pop((git_dir, oid), None) or GitTree(git_dir, oid)
        self._trees[git_dir, oid] = found
        for old in list(self._trees)[:-KEPT_TREES]:
            self._trees.pop(old, None)
        return found

    # --- fetch ---

    def fetch(self, source: str, target_ref: str, head: str) -> Mirror:
        """See `GitRepositories.fetch`."""
        source = os.path.abspath(source)
        git_dir = self._mirror(source)
        self._refuse_unusable(source)
        refs = self._refs(git_dir, source)
        target = _target(target_ref, refs)
        base = refs[target]
        wanted = self._resolve(source, head, refs)
        with _locked(git_dir):
            missing = [oid for oid in dict.fromkeys((base, wanted)) if not self._has(git_dir, oid)]
            if missing:
                _unlock(git_dir)
                self._bring(git_dir, source, missing, wanted)
        for oid, what in ((base, "target"), (wanted, "head")):
            found = reader(git_dir).info(oid)
            if found is None or found[1] != "commit":
                code = "TARGET_NOT_FOUND" if what == "target" else "HEAD_NOT_FOUND"
                raise UsageError(code, f"The {what} {oid[:12]} is {found[1] if found else 'no object'}, not a commit.")
        return Mirror(git_dir, source, target, base, wanted)

    def _mirror(self, source: str) -> Path:
        if "\x00" in source or not os.path.isdir(source):
            raise UsageError("REPOSITORY_UNREADABLE", f"There is no repository directory at {source[:200]!r}.")
        name = hashlib.sha256(os.path.realpath(source).encode("utf-8", "surrogateescape")).hexdigest()[:40]
        git_dir = self._paths.mirrors / f"{name}.git"
        try:
            passable(self._paths.mirrors.parent)
            self._paths.mirrors.mkdir(exist_ok=True, mode=0o700)
            with _locked(git_dir):
                if not (git_dir / "gatekeeper-ready").exists():
                    run(None, ["init", "-q", "--bare", "--template=", str(git_dir)])
                    (git_dir / "info").mkdir(exist_ok=True)
                    (git_dir / "info" / "attributes").write_text(ATTRIBUTES, encoding="ascii")
                    (git_dir / "gatekeeper-ready").write_text("1\n", encoding="ascii")
        except OSError as error:
            raise CouldNotCheck("GIT_FAILED", f"The mirror cannot be made: {error.strerror or error}.") from error
        return git_dir

    def _refuse_unusable(self, source: str) -> None:
        """A cut history would give a wrong merge base, and would cut the mirror for all later checks."""
        asked = ["-c", "safe.directory=*", "-C", source, "rev-parse", "--is-shallow-repository", "--show-object-format"]
        shallow, _, names = run(None, asked, ok=(0, 128)).stdout.decode("ascii", "replace").strip().partition("\n")
        if names and names != "sha1":
            raise UsageError(
                "REPOSITORY_UNREADABLE",
                f"{source[:200]!r} names its objects by {names.upper()}; only SHA-1 repositories are supported yet.",
                next_action="Use a repository with the object format sha1 (`git rev-parse --show-object-format`).",
            )
        if shallow == "true":
            raise CouldNotCheck(
                "GIT_FAILED",
                f"{source[:200]!r} is a shallow clone: the history that the merge needs is not there.",
                next_action="Fetch it with `git fetch --unshallow`, or check out with the full history (fetch-depth: 0).",
            )

    def _refs(self, git_dir: Path, source: str) -> dict[str, str]:
        args = ["ls-remote", "-q", f"--upload-pack={_UPLOAD_PACK}", "--", source]
        try:
            listed = run(git_dir, args)
        except CouldNotCheck as error:
            raise UsageError(
                "REPOSITORY_UNREADABLE", f"{source[:200]!r} cannot be read as a git repository: {error.message}"
            ) from error
        refs = {}
        # Not splitlines: a ref's name may hold U+2028, and `main<U+2028>x` must not be read as another `main`.
        for line in listed.stdout.decode("utf-8", "surrogateescape").split("\n"):
            oid, _, name = line.partition("\t")
            if _SHA.fullmatch(oid):
                refs[name.removesuffix("^{}")] = oid  # an annotated tag's commit follows the tag
        return refs

    def _resolve(self, source: str, head: str, refs: Mapping[str, str]) -> str:
        if _SHA.fullmatch(head):
            return head
        for name in (head, f"refs/heads/{head}", f"refs/tags/{head}"):
            if name in refs:
                return refs[name]
        if _SHORT.fullmatch(head):
            found = {oid for oid in refs.values() if oid.startswith(head)}
            if len(found) == 1:
                return found.pop()
            args = ["-c", "safe.directory=*", "-C", source, "rev-parse", "-q", "--verify", f"{head}^{{commit}}"]
            oid = run(None, args, ok=(0, 1, 128)).stdout.decode("ascii", "replace").strip()
            if not found and _SHA.fullmatch(oid):
                return oid
        raise UsageError(
            "HEAD_NOT_FOUND", f"{head[:80]!r} is no branch or tag of {source[:200]!r} and no commit id.",
            next_action="Give the full commit id (git rev-parse HEAD) or a branch name.",
        )  # fmt: skip

    def _has(self, git_dir: Path, oid: str) -> bool:
        """True where this commit was fetched whole before: the ref is written only after a complete fetch."""
        found = reader(git_dir).info(f"refs/gatekeeper/{oid}")
        return found is not None and found[0] == oid

    def _bring(self, git_dir: Path, source: str, oids: Sequence[str], head: str) -> None:
        specs = [f"+{oid}:refs/gatekeeper/{oid}" for oid in oids]
        args = [
            "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance",
            f"--upload-pack={_UPLOAD_PACK}", "--", source, *specs,
        ]  # fmt: skip
        done = run(git_dir, args, ok=range(256))
        if done.returncode == 0:
            return
        words = complaint(done.stderr)
        if "not our ref" in words:
            raise UsageError("HEAD_NOT_FOUND", f"The commit {head[:40]} does not exist in {source[:200]!r}.")
        if "fsck error" in words or "error in object" in words or "invalid format" in words:
            raise InputError("TREE_HOSTILE", f"Git refuses the objects of this change: {words}")
        raise CouldNotCheck("GIT_FAILED", f"git fetch failed ({done.returncode}): {words}")

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
        if done.returncode == 0 and parts and _SHA.fullmatch(parts[0].decode("ascii", "replace")):
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


def _target(name: str, refs: Mapping[str, str]) -> str:
    full = name if name.startswith("refs/heads/") else f"refs/heads/{name}"
    if not _REF.fullmatch(full) or full not in refs:
        known = sorted(r.removeprefix("refs/heads/") for r in refs if r.startswith("refs/heads/"))
        raise UsageError(
            "TARGET_NOT_FOUND",
            f"There is no branch {name[:80]!r}; the repository has {', '.join(known[:10]) or 'no branch'}.",
        )
    return full


def _unlock(git_dir: Path) -> None:
    """Remove what a killed process left behind. Only under the mirror's own lock: no other git writes its refs then."""
    for lock in [*git_dir.glob("*.lock"), *(git_dir / "refs" / "gatekeeper").glob("*.lock")]:
        lock.unlink(missing_ok=True)
    limit = time.time() - LEFT_SECONDS
    for left in [*git_dir.glob("index-*"), *git_dir.glob("objects/tmp_*"), *git_dir.glob("objects/pack/tmp_*")]:
        with suppress(FileNotFoundError):
            if left.lstat().st_mtime < limit:
                shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink()


@contextmanager
def _locked(git_dir: Path) -> Iterator[None]:
    """One writer a mirror at a time, across processes."""
    with open(f"{git_dir}.lock", "w", encoding="ascii") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
