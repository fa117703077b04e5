"""A project's settings in which nothing but its own version is another: no test runs otherwise for that."""

from __future__ import annotations

import tomllib
from typing import Any

from gatekeeper.checks.suite_integrity.situation import Situation

_MAX_TEXT = 1_000_000
_PLACES = (("project",), ("tool", "poetry"))
"""Tables of `pyproject.toml` that say `version`."""


def only_the_version(situation: Situation, path: str) -> bool:
    """True for `pyproject.toml` at the root whose tables differ by the version's text alone."""
    if path != "pyproject.toml":
        return False
    sides = [_read(situation.source(path, base=base)) for base in (True, False)]
    return sides[0] is not None and sides[0] == sides[1]


def _read(source: str | None) -> dict[str, Any] | None:
    """The tables with no version in them; None for what can not be read."""
    if source is None or len(source) > _MAX_TEXT:
        return None
    try:
        whole = tomllib.loads(source)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    for place in _PLACES:
        table: Any = whole
        for part in place:
            table = table.get(part) if isinstance(table, dict) else None
        if isinstance(table, dict) and isinstance(table.get("version"), str):
            table["version"] = ""
    return whole
