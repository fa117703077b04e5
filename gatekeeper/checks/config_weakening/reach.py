"""What a setting that leaves something out really leaves out: files of the tree, and tools that anybody uses."""

from __future__ import annotations

import re
from typing import Any

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.tool_settings import is_settings, words

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


def unused(evidence: Evidence, tool: str) -> bool:
    """Nothing in the base installs, runs or sets up this tool, so what its first settings leave out was never looked at."""
    spoken = re.compile(rf"(?<![\w-]){re.escape(tool)}(?![\w])", re.IGNORECASE)
    names = (
        "tox.ini",
        "noxfile.py",
        "makefile",
        "justfile",
        "pipfile",
        "setup.py",
        "tasks.py",
        "dockerfile",
        "contributing.md",
        "readme.md",
    )
    for path in evidence.base.entries:
        name = path.rsplit("/", 1)[-1].lower()
        if (
            is_settings(path)
            or name in names
            or name.startswith(".")
            or name.endswith((".yml", ".yaml", ".sh", ".in", ".lock"))
            or ("requirements" in path.lower() and name.endswith(".txt"))
        ) and spoken.search(text(evidence.base, path) or ""):
            return False
    return True
