"""Dependencies that come from outside the index, and those among them that lie in the project itself."""

from __future__ import annotations

import posixpath
import re

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.tree import Tree
from gatekeeper.formats.package_lists import family
from gatekeeper.formats.python_requirements import Dependency, Manifest

_MANIFESTS = {
    "npm": ("package.json",),
    "go": ("go.mod",),
    "cargo": ("Cargo.toml",),
    "jvm": (),
    "python": ("pyproject.toml", "setup.py"),
}


def outside(evidence: Evidence, path: str, before: Manifest, after: Manifest) -> list[Dependency]:
    """What the change newly takes from a URL, a repository or a folder that is no part of the project."""
    had = {_origin(d.source) for d in before.dependencies if d.source}
    fresh = [d for d in after.dependencies if d.source and _origin(d.source) not in had]
    return [d for d in fresh if not _inside(evidence, path, d.source)]


def _origin(source: str) -> str:
    """A repository without the commit, and the registry of a tarball: another version of what is used is no other place."""
    registry = re.match(r"(https://[^?#]{1,200}?)/(?:@[^/]+/)?[^/]+/-/[^/]+\.tgz(?:[?#]|$)", source)
    if registry:
        return registry[1]
    if re.match(r"git(?:\+|:|@)|(?:https://)?(?:github|gitlab)", source):
        return re.split(r"[?#]", source)[0]
    return source


def _inside(evidence: Evidence, path: str, source: str) -> bool:
    """True for a folder of the project with a manifest of its own; for Python, one that the target holds already."""
    at = re.match(r"(?:path: |file:|link:|portal:)?(?!/|\w+://)([\w./@ -]{1,300})$", source)
    if at is None:
        return False
    kind = family(path)
    folder = posixpath.normpath(posixpath.join(posixpath.dirname(path), at[1]))
    if folder == ".." or folder.startswith("../"):
        return False
    trees: list[Tree] = [evidence.base] if kind == "python" else [evidence.base, evidence.merged]
    return any(posixpath.normpath(f"{folder}/{name}") in tree.entries for tree in trees for name in _MANIFESTS[kind])
