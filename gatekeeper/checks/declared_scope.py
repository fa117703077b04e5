"""The change stays inside the paths that the ticket declares, and brings no path that pretends to be another."""

from __future__ import annotations

import posixpath
import unicodedata
from collections import defaultdict

from gatekeeper.domain.change import ChangedPath
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.tree import GITLINK, SYMLINK, Tree, text
from gatekeeper.formats.confusables import path_skeleton

# Files that change what git itself does with the tree: a wide glob is no permission for them.
_CONTROL = frozenset({".gitattributes", ".gitmodules", ".gitconfig", ".lfsconfig"})
_HOPS = 16
# Values that git or its large-file extension knows; anything else is a program from somebody's configuration.
_BUILT_IN_DRIVERS = {
    "filter": frozenset({"lfs"}),
    "merge": frozenset({"lfs", "text", "binary", "union", "ours"}),
    "diff": frozenset(
        [
            "lfs",
            "ada",
            "bash",
            "bibtex",
            "cpp",
            "csharp",
            "css",
            "dts",
            "elixir",
            "fortran",
            "fountain",
            "golang",
            "html",
            "java",
            "kotlin",
            "markdown",
            "matlab",
            "objc",
            "pascal",
            "perl",
            "php",
            "python",
            "ruby",
            "rust",
            "scheme",
            "tex",
        ]
    ),
}


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings about every changed path, both sides of a rename; forbidden wins over allowed."""
    twins = _twins(evidence)
    found: list[Finding] = _twin_folders(evidence, twins)
    for changed in evidence.change.paths:
        found += _place(evidence, changed)
        if changed.new is not None and changed.new.mode == SYMLINK:
            found += _link(evidence, changed.path)
        if changed.old is None:
            found += _name(changed.path, twins.get(path_skeleton(changed.path), set()) - {changed.path})
    return tuple(found)


def _place(evidence: Evidence, changed: ChangedPath) -> list[Finding]:
    path, ticket = changed.path, evidence.ticket
    if matches_any(ticket.forbidden, path):
        return [finding("SCOPE_FORBIDDEN", f"{_show(path)} is changed; the ticket forbids it.", path=path, key="path")]
    if GITLINK in (changed.old.mode if changed.old else "", changed.new.mode if changed.new else ""):
        message = f"{_show(path)} is a submodule; its content is outside this repository and nothing can be checked."
        return [finding("SCOPE_SUBMODULE", message, path=path, key="submodule")]
    if path.rsplit("/", 1)[-1] in _CONTROL and path not in ticket.allowed:
        message = f"{_show(path)} steers git itself; the ticket must name exactly this path to allow it."
        return [finding("SCOPE_GIT_CONTROL", message, path=path, key="control")]
    if path.rsplit("/", 1)[-1] == ".gitattributes":
        drivers = _drivers(evidence, path)
        if drivers:
            message = (
                f"{_show(path)} sends files through {', '.join(drivers)}: programs that everybody's git would run and that "
                "are configured outside the repository."
            )
            return [finding("SCOPE_GIT_CONTROL", message, path=path, key="driver")]
    if not matches_any((*ticket.allowed, *evidence.settings.shared), path):
        message = f"{_show(path)} is changed; the ticket allows {', '.join(ticket.allowed[:8])}."
        return [finding("SCOPE_OUTSIDE", message, path=path, key="path")]
    return []


def _drivers(evidence: Evidence, path: str) -> list[str]:
    """Attributes that the change adds and that name a program: filters, and merge or diff drivers git does not have."""
    old = set((text(evidence.base, path) or "").splitlines())
    found = []
    for line in (text(evidence.merged, path) or "").splitlines():
        if line in old or line.lstrip().startswith("#"):
            continue
        for word in line.split()[1:]:
            name, _, value = word.partition("=")
            builtin = _BUILT_IN_DRIVERS.get(name)
            if value and builtin is not None and value not in builtin:
                found.append(word[:80])
    return found


def _link(evidence: Evidence, path: str) -> list[Finding]:
    """A new or changed link must lead, over every hop, to a place that the ticket allows."""
    place, why = path, ""
    for _ in range(_HOPS):
        try:
            target = evidence.merged.read(place).decode("utf-8", "surrogateescape")
        except KeyError:
            why = "its target cannot be read"
            break
        if not target or target.startswith("/") or "\\" in target or "\x00" in target:
            why = "its target is absolute or no plain path"
            break
        place = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        if place == ".." or place.startswith("../"):
            why = "it leads out of the repository"
            break
        if ".git" in place.lower().split("/"):
            why = "it leads into git's own directory"
            break
        parents = {"/".join(place.split("/")[:i]) for i in range(1, place.count("/") + 1)}
        if any(p in evidence.merged.entries and evidence.merged.entries[p].mode == SYMLINK for p in parents):
            why = "it leads through another link"
            break
        entry = evidence.merged.entries.get(place)
        if entry is None or entry.mode != SYMLINK:
            why = _target(evidence, place)
            break
    else:
        why = f"it takes more than {_HOPS} hops"
    if not why:
        return []
    return [finding("SCOPE_LINK", f"{_show(path)} is a symbolic link: {why}.", path=path, key="link")]


def _target(evidence: Evidence, place: str) -> str:
    """Why the end of a link is no good, or nothing. A directory counts with everything below it."""
    allowed = (*evidence.ticket.allowed, *evidence.settings.shared)
    below = [p for p in evidence.merged.entries if place in (p, ".") or p.startswith(f"{place}/")]
    for path in below or [place]:
        if matches_any(evidence.ticket.forbidden, path):
            return f"it leads to {_show(path)}, which the ticket forbids"
        if not matches_any(allowed, path):
            return f"it leads to {_show(path)}, outside the ticket's scope"
    return ""


def _name(path: str, twins: set[str]) -> list[Finding]:
    if twins:
        message = f"{_show(path)} cannot be told apart from {_show(min(twins))} by a reader or by some file systems."
        return [finding("SCOPE_TWIN_PATH", message, path=path, key="twin")]
    if any(unicodedata.category(c) in ("Cc", "Cf", "Cs") for c in path):
        message = f"{_show(path)} holds invisible, control or undecodable characters."
        return [finding("SCOPE_TWIN_PATH", message, path=path, key="invisible")]
    for segment in path.split("/"):
        words = "".join(c if c.isalpha() else " " for c in segment).split()
        if any(_mixed(word) for word in words):
            message = f"{_show(path)} mixes letters of scripts that look alike in one word."
            return [finding("SCOPE_TWIN_PATH", message, path=path, key="scripts")]
    return []


def _mixed(word: str) -> bool:
    scripts = {unicodedata.name(c, "?").split(" ", 1)[0] for c in word}
    return len(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "LISU"}) > 1


def _twins(evidence: Evidence) -> dict[str, set[str]]:
    """Paths and folders of the merge result by what a reader sees."""
    table: dict[str, set[str]] = defaultdict(set)
    for path in (*evidence.merged.entries, *_folders(evidence.merged)):
        table[path_skeleton(path)].add(path)
    return table


def _folders(tree: Tree) -> set[str]:
    found: set[str] = set()
    for path in tree.entries:
        folder = posixpath.dirname(path)
        while folder and folder not in found:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return found


def _twin_folders(evidence: Evidence, twins: dict[str, set[str]]) -> list[Finding]:
    """New folders that a reader or a file system takes for another one, the outermost of each alone."""
    fresh = _folders(evidence.merged) - _folders(evidence.base)
    found = []
    for folder in sorted(fresh):
        others = twins.get(path_skeleton(folder), set()) - {folder}
        parent = posixpath.dirname(folder)
        if not others or (parent in fresh and twins.get(path_skeleton(parent), set()) - {parent}):
            continue
        inside = next((c.path for c in evidence.change.paths if c.path.startswith(f"{folder}/")), folder)
        message = f"The folder {_show(folder)} cannot be told apart from {_show(min(others))} by a reader or by some file systems."
        found.append(finding("SCOPE_TWIN_PATH", message, path=inside, key=f"twin folder {folder}"))
    return found


def _show(path: str) -> str:
    return ascii(path) if not path.isprintable() or not path.isascii() else path
