"""Hardened git reads for `verify` and the hook: plumbing only, offline, nothing of the user's or commit's settings runs.

Inside git's quarantine of a push the object directories come through the environment; they are the only variables of
git that are passed on.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from gatekeeper.adapters.git_mirror.runner import run
from gatekeeper.domain.binding import OID, Expected
from gatekeeper.errors import UsageError, VerificationRefused

MAX_NOTE = 16 * 1024 * 1024
QUARANTINE = ("GIT_QUARANTINE_PATH", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")


class EnforcerRepository:
    """One repository as the enforcer reads it."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        if not self._path.is_dir():
            raise UsageError("REPOSITORY_UNREADABLE", f"There is no repository at {str(path)!r}.")
        found = self._git("rev-parse", "--absolute-git-dir", ok=(0, 128))
        if found.returncode:
            raise UsageError("REPOSITORY_UNREADABLE", f"{str(path)!r} is no git repository.")
        self._git_dir = Path(os.fsdecode(found.stdout).rstrip("\n"))

    @property
    def git_dir(self) -> Path:
        """The git directory."""
        return self._git_dir

    def _git(self, *args: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[bytes]:
        extra = {name: os.environ[name] for name in QUARANTINE if name in os.environ}
        where = ["-c", "safe.directory=*", "-C", str(self._path)]
        return run(None, [*where, *args], stdin=stdin, ok=ok, extra={**extra, "GIT_ALLOW_PROTOCOL": "none"})

    def commit(self, name: str) -> str:
        """The commit that a full id or a ref names. Raises `UsageError` (HEAD_NOT_FOUND)."""
        if name.startswith("-") or not name or any(c in name for c in "\x00\n"):
            raise UsageError("HEAD_NOT_FOUND", f"{name!r} names no commit.")
        done = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", ok=(0, 1, 128))
        oid = done.stdout.decode("ascii", "replace").strip()
        if done.returncode or not OID.fullmatch(oid):
            raise UsageError("HEAD_NOT_FOUND", f"{name!r} names no commit of this repository.")
        return oid

    def ref(self, name: str) -> str | None:
        """The object that a fully qualified ref points to, or None."""
        done = self._git("show-ref", "--verify", "--hash", name, ok=(0, 1, 128))
        oid = done.stdout.decode("ascii", "replace").strip()
        return oid if done.returncode == 0 and OID.fullmatch(oid) else None

    def facts(self, commit: str) -> tuple[str, tuple[str, ...]]:
        """(tree, parents) of a commit, from the raw object."""
        raw = self._git("cat-file", "commit", commit).stdout
        tree, parents = "", []
        for line in raw.split(b"\n\n", 1)[0].decode("utf-8", "replace").split("\n"):
            word, _, rest = line.partition(" ")
            if word == "tree" and not tree:
                tree = rest
            elif word == "parent":
                parents.append(rest)
            elif word != "tree":
                break  # git reads tree and parents from the top only
        return tree, tuple(parents)

    def is_ancestor(self, old: str, new: str) -> bool:
        """True where `new` contains `old`."""
        return self._git("merge-base", "--is-ancestor", old, new, ok=(0, 1)).returncode == 0

    def attestations(self, commit: str, notes: str | None) -> list[bytes]:
        """Bundles that the notes tree at commit `notes` holds for `commit`, one a line, unverified."""
        if notes is None:
            return []
        paths = [commit, f"{commit[:2]}/{commit[2:]}", f"{commit[:2]}/{commit[2:4]}/{commit[4:]}"]
        asked = "".join(f"{notes}:{p}\n" for p in paths).encode()
        found: list[bytes] = []
        for line in self._git("cat-file", "--batch-check", stdin=asked).stdout.decode("utf-8", "replace").splitlines():
            parts = line.split(" ")
            if len(parts) != 3 or parts[1] != "blob":
                continue
            if int(parts[2]) > MAX_NOTE:
                raise VerificationRefused(
                    "ATTESTATION_TOO_LARGE", f"The note of {commit} is larger than {MAX_NOTE} bytes."
                )
            found += [x for x in self._git("cat-file", "blob", parts[0]).stdout.split(b"\n") if x.strip()]
        return found

    def landing(self, old: str, new: str) -> list[Expected]:
        """What must be proven for the target to move from `old` to `new`; proof of any one entry is enough.

        Either the new tip itself was judged, or it is a two-parent merge of the judged head onto the old tip. The
        branch's name is left empty here. Raises `VerificationRefused` (ATTESTATION_NOT_FAST_FORWARD).
        """
        if old == new or not self.is_ancestor(old, new):
            raise VerificationRefused("ATTESTATION_NOT_FAST_FORWARD", f"{new} does not build on {old}.")
        tree, parents = self.facts(new)
        heads = [new]
        if len(parents) == 2 and parents[0] == old:
            heads.append(parents[1])
        return [Expected(target_ref="", head=h, base=old, landing_tree=tree) for h in heads]

    def old_tip(self, commit: str, ref: str) -> str:
        """The base to demand where the caller names none: the ref's tip, or what `commit` was put on if it is the tip."""
        tip = self.ref(ref)
        if tip is not None and tip != commit:
            return tip
        parents = self.facts(commit)[1]
        if not parents:
            raise VerificationRefused(
                "ATTESTATION_NOT_FAST_FORWARD", f"{commit} has no parent; name the base with --old."
            )
        return parents[0]
