"""Bringing commits into a mirror: what a source has, which commit is meant, and the fetch itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from gatekeeper.adapters.git_mirror.reader import OBJECT_ID, reader
from gatekeeper.adapters.git_mirror.runner import TimedOut, complaint, run
from gatekeeper.adapters.git_mirror.sources import Source
from gatekeeper.errors import CouldNotCheck, InputError, UsageError

SHA = OBJECT_ID
_SHORT = re.compile(r"[0-9a-f]{7,63}")
_REF = re.compile(r"(?!.*(\.\.|@\{|//|\.lock(/|$)|/\.))[A-Za-z0-9_][A-Za-z0-9._/+@#%,=-]{0,250}(?<![./])")
_ABSENT = ("not our ref", "unadvertised object", "no such remote ref", "couldn't find remote ref")
_HOSTILE = ("fsck error", "error in object", "invalid format")
_LARGE = ("File too large", "Out of memory", "out of memory", "mmap failed: Cannot allocate")


class Absent(Exception):
    """The source has no such commit, or does not give it out."""


class TooLarge(Exception):
    """A fetch would bring more than is allowed; the text is git's."""


def refuse_unusable(source: Source) -> None:
    """A cut history would give a wrong merge base, and would cut the mirror for all later checks."""
    if source.directory is None:
        return  # git itself refuses to take a cut history from another machine
    asked = ["-c", "safe.directory=*", "-C", source.directory, "rev-parse", "--is-shallow-repository"]
    answer = run(None, [*asked, "--show-object-format"], ok=(0, 128)).stdout.decode("ascii", "replace")
    shallow, _, names = answer.strip().partition("\n")
    if names and names != "sha1":
        raise _other_format(source, names)
    if shallow == "true":
        raise CouldNotCheck(
            "GIT_FAILED",
            f"{source.shown} is a shallow clone: the history that the merge needs is not there.",
            next_action="Fetch it with `git fetch --unshallow`, or check out with the full history (fetch-depth: 0).",
        )


def _other_format(source: Source, name: str) -> UsageError:
    return UsageError(
        "REPOSITORY_UNREADABLE",
        f"{source.shown} names its objects by {name.upper()}; only SHA-1 repositories are supported yet.",
        next_action="Use a repository with the object format sha1 (`git rev-parse --show-object-format`).",
    )


def refs(git_dir: Path, source: Source) -> dict[str, str]:
    """All refs of the source by full name. Raises what `Source.unreachable` makes."""
    args = [*source.options, "ls-remote", "-q", *source.arguments, "--", source.address]
    try:
        listed = run(git_dir, args, extra=source.environment, timeout_s=source.list_s, caps=source.list_caps)
    except (CouldNotCheck, InputError) as error:
        raise source.unreachable(error.message) from error
    found = {}
    # Not splitlines: a ref's name may hold U+2028, and `main<U+2028>x` must not be read as another `main`.
    for line in listed.stdout.decode("utf-8", "surrogateescape").split("\n"):
        oid, _, name = line.partition("\t")
        if SHA.fullmatch(oid):
            found[name.removesuffix("^{}")] = oid  # an annotated tag's commit follows the tag
    if not found and source.directory is None:
        raise source.unreachable("what answers there has no branches; it may be no git server at all")
    if any(len(oid) == 64 for oid in found.values()):
        raise _other_format(source, "sha256")
    return found


def target(name: str, known: Mapping[str, str]) -> str:
    """The full name of a branch that the source has. Raises `UsageError` (TARGET_NOT_FOUND)."""
    full = name if name.startswith("refs/heads/") else f"refs/heads/{name}"
    if not _REF.fullmatch(full) or full not in known:
        branches = sorted(r.removeprefix("refs/heads/") for r in known if r.startswith("refs/heads/"))
        raise UsageError(
            "TARGET_NOT_FOUND",
            f"There is no branch {name[:80]!r}; the repository has {', '.join(branches[:10]) or 'no branch'}.",
        )
    return full


def resolve(source: Source, head: str, known: Mapping[str, str]) -> str:
    """The commit id that `head` means: a full id, a branch, a tag, or a short id. Raises `UsageError` (HEAD_NOT_FOUND)."""
    if SHA.fullmatch(head):
        return head
    for name in (head, f"refs/heads/{head}", f"refs/tags/{head}"):
        if name in known:
            return known[name]
    if _SHORT.fullmatch(head):
        found = {oid for oid in known.values() if oid.startswith(head)}
        if len(found) == 1:
            return found.pop()
        if not found and source.directory is not None:
            where = ["-c", "safe.directory=*", "-C", source.directory]
            args = [*where, "rev-parse", "-q", "--verify", f"{head}^{{commit}}"]
            oid = run(None, args, ok=(0, 1, 128)).stdout.decode("ascii", "replace").strip()
            if SHA.fullmatch(oid):
                return oid
    raise UsageError(
        "HEAD_NOT_FOUND", f"{head[:80]!r} is no branch or tag of {source.shown} and no commit id.",
        next_action="Give the full commit id (git rev-parse HEAD) or a branch name.",
    )  # fmt: skip


def has(git_dir: Path, oid: str) -> bool:
    """True where this commit was fetched whole before: the ref is written only after a complete fetch."""
    if is_cut(git_dir):
        return False
    found = reader(git_dir).info(f"refs/gatekeeper/{oid}")
    return found is not None and found[0] == oid


def is_cut(git_dir: Path) -> bool:
    """True where a fetch brought a history without its beginning."""
    return (git_dir / "shallow").exists()


def bring(git_dir: Path, source: Source, oids: Sequence[str]) -> None:
    """Fetch commits with all they reach, objects checked. Call under the mirror's lock.

    Raises `Absent`, `TooLarge`, `InputError` (TREE_HOSTILE) and `CouldNotCheck` (GIT_FAILED, SOURCE_UNREACHABLE).
    """
    specs = [f"+{oid}:refs/gatekeeper/{oid}" for oid in oids]
    args = [
        *source.options, "fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules",
        "--no-auto-maintenance", *source.fetching, *source.arguments, "--", source.address, *specs,
    ]  # fmt: skip
    try:
        done = run(git_dir, args, ok=None, extra=source.environment, timeout_s=source.fetch_s, caps=source.fetch_caps)
    except TimedOut as error:
        if source.directory is not None:
            raise
        raise CouldNotCheck("SOURCE_UNREACHABLE", f"{source.shown} is too slow: {error.message}") from error
    if done.returncode == 0:
        return
    words = complaint(done.stderr)
    if any(w in words for w in _ABSENT):
        raise Absent(words)
    if any(w in words for w in _HOSTILE):
        raise InputError("TREE_HOSTILE", f"Git refuses the objects of this change: {words}")
    if any(w in words for w in _LARGE):
        raise TooLarge(words)
    if source.directory is None:
        raise CouldNotCheck("SOURCE_UNREACHABLE", f"{source.shown} cannot be fetched from: {words}")
    raise CouldNotCheck("GIT_FAILED", f"git fetch failed ({done.returncode}): {words}")
