"""One table for all kinds of manifests: who is needed, from where, how exactly."""

from __future__ import annotations

import re
from typing import Any

from gatekeeper.records import dataclass, field

MAX_TEXT = 8_000_000
"""Characters of one manifest; lock files of large projects have a few million."""
OUTSIDE = re.compile(
    r"^(?:[a-z0-9+.-]+://|git@|git\+|file:|link:|portal:|github:|gitlab:|bitbucket:|\.{1,2}/|/)", re.IGNORECASE
)
"""A requirement that is a URL, a repository or a path instead of a name."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """One requirement of one manifest."""

    name: str
    """Canonical (PEP 503) for Python; as written for npm."""
    version: str = ""
    """The exact version where pinned with == (or locked), else empty."""
    hashes: frozenset[str] = frozenset()
    source: str = ""
    """URL, VCS or path it comes from; empty for the index."""
    line: int = 1
    section: str = ""


@dataclass(frozen=True)
class Manifest:
    """A parsed manifest. `faults` are lines that could not be read: never silently dropped."""

    dependencies: tuple[Dependency, ...] = ()
    options: tuple[tuple[str, int], ...] = ()
    """Index and trust options, with their lines."""
    require_hashes: bool = False
    faults: tuple[tuple[str, int], ...] = ()
    build: dict[str, Any] = field(default_factory=dict)
    """build-system of pyproject.toml, and what else runs at build or install time."""
    own_name: str = ""


def canonical(name: str) -> str:
    """The name as indexes compare it (PEP 503)."""
    from packaging.utils import canonicalize_name

    return canonicalize_name(name)


def requirement(
    spec: str, line: int = 1, *, hashes: frozenset[str] = frozenset(), section: str = ""
) -> Dependency | None:
    """One PEP 508 requirement, or a bare URL or path; None where it is neither."""
    from packaging.requirements import InvalidRequirement, Requirement

    if OUTSIDE.match(spec):
        return Dependency(url_name(spec), hashes=hashes, source=spec[:300], line=line, section=section)
    try:
        parsed = Requirement(spec)
    except InvalidRequirement:
        return None
    pins = [s.version for s in parsed.specifier if s.operator in ("==", "===") and "*" not in s.version]
    return Dependency(
        canonical(parsed.name),
        pins[0] if len(pins) == 1 else "",
        hashes,
        (parsed.url or "")[:300],
        line,
        section,
    )


def url_name(url: str) -> str:
    """The likely name of what a URL, repository or path holds."""
    egg = re.search(r"[#&]egg=([\w.-]+)", url)
    if egg:
        return canonical(egg.group(1))
    tail = url.rstrip("/").rsplit("/", 1)[-1].split("@")[0].removesuffix(".git")
    return canonical(re.split(r"-\d", tail)[0]) or url[:100]


def as_dict(value: Any) -> dict[str, Any]:
    """`value` where it is a table, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """`value` where it is a list, else an empty one."""
    return value if isinstance(value, list) else []
