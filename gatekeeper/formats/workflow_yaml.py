"""YAML of CI systems and hook managers: scalars stay strings, aliases and depth are capped, nothing is constructed."""

from __future__ import annotations

from typing import Any

MAX_BYTES = 200_000
"""Characters of one document; the parser is slow and workflow files are small."""
MAX_ALIASES = 100
MAX_DEPTH = 40


def load(text: str | None) -> Any | None:
    """The first document as dicts, lists and strings; None for missing, empty, broken or over-sized text.

    Every scalar stays a string (`on` is "on", `false` is "false"), so a key never changes its meaning. Aliases are
    shared, not copied, and their number is capped; merge keys are not expanded.
    """
    if not text or len(text) > MAX_BYTES:
        return None
    import yaml

    depth = aliases = 0
    try:
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            if isinstance(event, yaml.AliasEvent):
                aliases += 1
            elif isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH or aliases > MAX_ALIASES:
                return None
        return next(iter(yaml.load_all(text, Loader=yaml.BaseLoader)), None)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return None


def walk(node: Any, at: tuple[str, ...] = (), budget: list[int] | None = None) -> list[tuple[tuple[str, ...], Any]]:
    """(path, scalar) of every leaf; list items have their index in the path. Stops after 20,000 leaves (alias bombs)."""
    left = budget if budget is not None else [20_000]
    out: list[tuple[tuple[str, ...], Any]] = []
    if left[0] <= 0 or len(at) > MAX_DEPTH:
        return out
    if isinstance(node, dict):
        for key, value in node.items():
            out += walk(value, (*at, str(key)), left)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            out += walk(value, (*at, str(index)), left)
    else:
        left[0] -= 1
        out.append((at, node))
    return out
