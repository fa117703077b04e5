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


def left_out(evidence: Evidence, key: str, before: dict[str, Any], after: dict[str, Any]) -> Effect | None:
    """What new entries of an exclusion mean: None where no file is left out that was not, ADVISES where none exists (yet), else BLOCKS.

    `exclude` and `extend-exclude` are one list in two spellings.
    """
    stem = re.sub(r"extend[_-]exclude$", "exclude", key)
    twins = {stem, *(f"{stem.removesuffix('exclude')}extend{s}exclude" for s in "-_")}
    had, has = ({w.strip("/").removeprefix("./") for k in twins for w in words(t.get(k))} for t in (before, after))
    gained = has - had
    parts = {part for p in evidence.merged.entries for part in (*p.split("/"), p, *_folders(p))}
    there = {g for g in gained if g in parts or (any(sign in g for sign in "*?[^$(|\\") and g not in _MADE)}
    if there:
        return Effect.BLOCKS
    return Effect.ADVISES if gained - _MADE else None


def _folders(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


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
    r"|^\s*-?\s*include:|prospector|pylama",
    re.MULTILINE,
)
"""Actions and CI of others, and tools that start tools."""


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
        if spoken.search(content) or (path.endswith((".yml", ".yaml")) and _FROM_AFAR.search(content)):
            return False
    return True
