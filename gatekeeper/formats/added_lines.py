"""Which lines a change brings: by content, not by position, so that moved text is not new text."""

from __future__ import annotations

from collections import Counter


def added_lines(before: str | None, after: str) -> list[tuple[int, str]]:
    """(1-based line in `after`, text) of every line that `before` does not have as often. Linear time."""
    known = Counter((before or "").split("\n")) if before is not None else Counter[str]()
    out = []
    for number, line in enumerate(after.split("\n"), 1):
        if known[line] > 0:
            known[line] -= 1
        elif line:
            out.append((number, line))
    return out
