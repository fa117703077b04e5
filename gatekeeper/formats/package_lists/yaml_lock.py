"""YAML as lock files and lists of environments are written: scalars stay strings, no anchors, no tags, capped.

Lock files have megabytes, so the parser of libyaml is used where it is there, and the tree is made from its events.
"""

from __future__ import annotations

from typing import Any

MAX_TEXT = 6_000_000
MAX_DEPTH = 30


def load(text: str) -> dict[str, Any] | None:
    """The first document where it is a table; None for anything else, and for what no tool writes into such a file."""
    if len(text) > MAX_TEXT:
        return None
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    root: list[Any] = []
    open_: list[tuple[Any, list[str]]] = []  # a table or list, and the key that waits for its value

    def put(value: Any) -> bool:
        if not open_:
            root.append(value)
            return True
        holder, key = open_[-1]
        if isinstance(holder, list):
            holder.append(value)
        elif key:
            if key[0] in holder:
                return False  # written twice: tools do not agree which one counts
            holder[key.pop()] = value
        elif isinstance(value, str):
            key.append(value)
        else:
            return False
        return True

    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.ScalarEvent):
                good = event.anchor is None and put(event.value)
            elif isinstance(event, yaml.CollectionStartEvent):
                made: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
                good = event.anchor is None and len(open_) < MAX_DEPTH and put(made)
                open_.append((made, []))
            elif isinstance(event, yaml.CollectionEndEvent):
                open_.pop()
                good = True
            elif isinstance(event, yaml.DocumentEndEvent):
                break
            else:
                good = not isinstance(event, yaml.AliasEvent)
            if not good:
                return None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return None
    return root[0] if root and isinstance(root[0], dict) else None
