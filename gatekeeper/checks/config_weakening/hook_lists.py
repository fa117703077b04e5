"""Hooks of pre-commit as commands that CI runs: which of them look at every file, and which lines start them all."""

from __future__ import annotations

import re
from typing import Any

from gatekeeper.checks.config_weakening.hooks import HOMES, hook_rows

_STARTER = r"(?:[A-Z]\w*=\S* )*(?:(?:uv|poetry|pdm|hatch|pipenv) run(?: --[\w-]+)*|uvx(?: --with \S+| --[\w-]+)*|pipx run|python[0-9.]* -m)? ?"
_SPELLED = {"ruff-check": "ruff check", "ruff": "ruff check", "ruff-format": "ruff format --check"}
"""Hooks whose name is not what they run; a hook that changes files fails where it does."""


def starts_all(line: str) -> bool:
    """Every hook runs over every file."""
    found = re.fullmatch(rf"({_STARTER})(?:pre-commit|prek) run (.*)", line)
    if found is None or "SKIP=" in found.group(1):
        return False
    told = found.group(2).split()
    return bool({"-a", "--all-files", "-av", "-va"} & set(told)) and all(
        w.startswith("-") or w in ("always", "auto", "never") for w in told
    )


def over_all_files(doc: Any, *, on_service: bool) -> list[str]:
    """Commands of the hooks that nothing bounds and that come from where the tool lives, or from the repository itself."""
    if not isinstance(doc, dict) or {"files", "exclude", "default_stages"} & set(doc):
        return []
    ci = doc.get("ci")
    skipped = ci.get("skip") if isinstance(ci, dict) and on_service else None
    left = set(map(str, skipped)) if isinstance(skipped, list) else set()
    out = []
    for home, hook in hook_rows(doc):
        if {"stages", "files", "exclude", "types", "types_or", "exclude_types"} & set(hook) or str(
            hook.get("id")
        ) in left:
            continue
        if hook.get("language") in ("pygrep", "fail") or (home != "local" and home not in HOMES):
            continue
        args = hook.get("args")
        name = str(hook.get("entry") or hook.get("id"))
        out.append(" ".join([_SPELLED.get(name, name), *map(str, args if isinstance(args, list) else ())]))
    return out
