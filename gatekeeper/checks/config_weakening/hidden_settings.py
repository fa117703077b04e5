"""Settings that still stand where they stood, and that a tool no longer reads: another file has come before theirs."""

from __future__ import annotations

from typing import Any

from gatekeeper.checks.config_weakening.keys import plain_key, plain_tool, read_there
from gatekeeper.checks.config_weakening.limits import permitted, weaker
from gatekeeper.checks.config_weakening.type_checkers import IN_STRICT
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import Tree, text
from gatekeeper.formats.tool_settings import read

_ORDER = {
    "mypy": ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg"),
    "coverage": (".coveragerc", "setup.cfg", "tox.ini", "pyproject.toml"),
    "ruff": (".ruff.toml", "ruff.toml", "pyproject.toml"),
    "flake8": ("setup.cfg", "tox.ini", ".flake8"),
    "pyright": ("pyrightconfig.json", "pyproject.toml"),
}
"""Files in the order in which a tool looks for its settings; it reads the first that has any, and no other."""
_OWN = frozenset({"mypy.ini", ".mypy.ini", ".coveragerc", ".ruff.toml", "ruff.toml", "pyrightconfig.json"})
"""Files that a tool reads as soon as they exist."""


def hidden_limits(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding for each tool that reads a file of the change now, which demands less than the one it read."""
    touched = {c.path for c in evidence.change.paths if c.new is not None}
    out = []
    for tool, files in _ORDER.items():
        if not touched & set(files):
            continue
        was, now = (_first(tree, tool, files) for tree in (evidence.base, evidence.merged))
        if was is None or now is None or files.index(now[0]) >= files.index(was[0]) or permitted(evidence, now[0]):
            continue
        left = _settings(evidence.merged, tool, was[0])
        if not left:
            continue  # it moved, and is compared as such
        had, has = was[1], now[1]
        strict = has.get("mypy.strict") is True
        lost = [
            w
            for k, v in sorted(had.items())
            if not (strict and IN_STRICT.fullmatch(k)) and (w := weaker(k, v, has.get(k)))
        ]
        lost += [w for k, v in sorted(has.items()) if k not in had and (w := weaker(k, None, v))]
        if lost:
            said = f"{now[0]} hides what {was[0]} demands of {tool}: {'; '.join(lost[:5])}."
            out.append(finding("LIMIT_LOWERED", said, path=now[0], evidence="\n".join(lost[:20]), key="; ".join(lost)))
    return tuple(out)


def _first(tree: Tree, tool: str, files: tuple[str, ...]) -> tuple[str, dict[str, Any]] | None:
    for name in files:
        table = _settings(tree, tool, name)
        if table or (table is not None and name in _OWN):
            return name, table
    return None


def _settings(tree: Tree, tool: str, name: str) -> dict[str, Any] | None:
    """Settings of one tool in one file by plain keys; None where there is no such file, or none that can be read."""
    content = text(tree, name)
    table = read(name, content) if content is not None else None
    if table is None:
        return None
    if name in (".ruff.toml", "ruff.toml", "pyrightconfig.json"):
        return {plain_key(f"{tool}.{k}"): v for k, v in table.items()}
    return {plain_key(k): v for k, v in table.items() if plain_tool(k) == tool and read_there(name, k)}
