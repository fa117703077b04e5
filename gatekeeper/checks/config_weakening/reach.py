"""What a setting that leaves something out really leaves out: files of the tree, and tools that anybody uses."""

from __future__ import annotations

import re
from typing import Any

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.tool_settings import words

_MADE = frozenset({
    ".git", ".hg", ".svn", ".tox", ".nox", ".eggs", ".env", ".venv", "env", "venv", "build", "dist", "__pycache__", "node_modules", "*.egg-info",
    ".mypy_cache", ".pytest_cache", ".ruff_cache", ".cache", "htmlcov", "site-packages", "_build", "*.egg", "*.pyc", ".direnv", ".idea", ".vscode",
})  # fmt: skip
"""What tools make beside a project."""


_GLOBS = ("ruff", "flake8", "pyright", "basedpyright")
"""Tools whose exclusions are names and paths with wildcards."""
_PLAIN = re.compile(r"(?!\.{1,2}(?:/|$))[\w@.-]+(?:/(?!\.{1,2}(?:/|$))[\w@.-]+)*")
_FLAT = re.compile(r"[\w./^$\\|-]+")
"""Regular expressions without repetitions and groups: nothing that a path could make slow."""


def left_out(evidence: Evidence, key: str, tool: str, before: dict[str, Any], after: dict[str, Any]) -> Effect | None:
    """What new entries of an exclusion mean: None where no file is left out that was not, ADVISES where none exists (yet), else BLOCKS.

    `exclude` and `extend-exclude` are one list in two spellings; those of `tool` mypy are regular expressions, which match anywhere.
    """
    paths = {*evidence.base.entries, *(p for p in evidence.merged.entries if not _generated(evidence, p))}
    if tool == "mypy":
        had, has = (_expressions(t.get(key)) for t in (before, after))
        gained = has - had
        if any(_found(g, paths) for g in gained):
            return Effect.BLOCKS
        return Effect.ADVISES if {g.strip("^$/\\") for g in gained} - _MADE else None
    stem = re.sub(r"extend[_-]exclude$", "exclude", key)
    twins = {stem, *(f"{stem.removesuffix('exclude')}extend{s}exclude" for s in "-_")}
    had, has = ({w.rstrip("/").removeprefix("./") for k in twins for w in words(t.get(k))} for t in (before, after))
    gained = has - had
    if tool not in _GLOBS or any(g not in _MADE and not _PLAIN.fullmatch(g) for g in gained):
        return Effect.BLOCKS  # what it leaves out cannot be told from here
    if any(f"/{g}/" in f"/{p}/" for g in gained for p in paths):
        return Effect.BLOCKS
    return Effect.ADVISES if gained - _MADE else None


def _generated(evidence: Evidence, path: str) -> bool:
    """A file that came with the change and that a generator of common use names and marks as its own."""
    if path in evidence.base.entries or not re.search(r"(?:_pb2(?:_grpc)?\.pyi?|(?:^|/)_version\.py)$", path):
        return False
    return re.search(r"(?i)generated", (text(evidence.merged, path) or "")[:600]) is not None


def _expressions(value: Any) -> set[str]:
    return {str(v) for v in value} if isinstance(value, list) else {str(value)} if value not in (None, "") else set()


def _found(expression: str, paths: set[str]) -> bool:
    """A regular expression that finds a file or folder of code from whichever folder one starts, or one of which nobody can tell."""
    try:
        wanted = re.compile(expression) if _FLAT.fullmatch(expression) and len(expression) < 500 else None
    except re.error:
        wanted = None
    if wanted is None:
        return True
    spelled = {"/".join(parts[at:end]) + ("/" if end else "") for p in paths if p.endswith((".py", ".pyi")) for parts in [p.split("/")]
               for at in range(len(parts)) for end in (None, *range(at + 1, len(parts)))}  # fmt: skip
    return any(wanted.search(f"{start}{p}") for p in spelled for start in ("", "./", "/"))


_MANY, _LARGE = 3000, 1_000_000
_SHOWN = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".svg",
    ".ico",
    ".webp",
    ".pdf",
    ".woff",
    ".woff2",
    ".ttf",
    ".mp4",
    ".zip",
    ".gz",
    ".whl",
)
_FROM_AFAR = re.compile(
    r"uses:\s*['\"]?(?!(?:actions|github|docker|pypa|codecov|coverallsapp|astral-sh|softprops|peaceiris)/|\./)\S"
    r"|prospector|pylama",
    re.MULTILINE,
)
"""Actions of others, and tools that start tools."""
_INCLUDED = re.compile(r"^\s*-?\s*include:", re.MULTILINE)
"""Definitions that CI fetches from elsewhere; under this folder the word only adds rows to a matrix."""
_MATRICES = ".github/workflows/"


def unused(evidence: Evidence, tool: str) -> bool:
    """The base speaks of this tool nowhere, so what its first settings leave out was never looked at.

    Nothing less proves it: a tool is started by scripts of any name, by other tools (`--cov` of pytest), by CI of elsewhere.
    """
    spoken = re.compile(
        r"coverage|--cov|pytest[-_]cov|codecov|coveralls" if tool == "coverage" else re.escape(tool), re.IGNORECASE
    )
    commands = [*evidence.ticket.verify, *(s.command or "" for s in evidence.suites)]
    if len(evidence.base.entries) > _MANY or any(map(spoken.search, commands)):
        return False
    for path, entry in evidence.base.entries.items():
        if path.lower().endswith(_SHOWN):
            continue
        if entry.size is None or entry.size > _LARGE or spoken.search(path):
            return False
        content = text(evidence.base, path) or ""
        if spoken.search(content):
            return False
        if path.endswith((".yml", ".yaml")) and (
            _FROM_AFAR.search(content) or (not path.startswith(_MATRICES) and _INCLUDED.search(content))
        ):
            return False
    return True
