"""Parameter rows that say the same data with other words of the same names, as after a change of library.

`(zone.localize(datetime(2013, 11, 10), is_dst=False), "10 Nov")` and `(datetime(2013, 11, 10, tzinfo=zone), "10 Nov")` hold
the same numbers, texts and names. Whether they are equal only a run can tell; that the older row still holds on the
change's code is the other half of the proof, and not asked here.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Mapping

_MOST = 200
"""Rows of one test that are compared."""
_STRANGE = frozenset({"unittest"})
"""Modules of the standard library whose values may be equal to anything."""


def respelled(gone: Iterable[str], fresh: Iterable[str], names: Mapping[str, str]) -> dict[str, bool]:
    """Rows of `gone` that stand otherwise among `fresh`, one for one; True where nothing but a standard type is made.

    `names` are the imports of the module.
    """
    found: dict[str, bool] = {}
    left = [(text, tree) for text in list(fresh)[:_MOST] if (tree := _parsed(text)) is not None]
    for row in list(gone)[:_MOST]:
        old = _parsed(row)
        match = next((one for one in left if old is not None and _same_data(old, one[1])), None)
        if match is not None and old is not None:
            left.remove(match)
            found[row] = all(_standard(b, names) for a, b in _parts(old, match[1]) if ast.dump(a) != ast.dump(b))
    return found


def _parsed(row: str) -> ast.expr | None:
    try:
        return ast.parse(row, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parts(old: ast.expr, new: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The values of two rows side by side; none where they have not as many."""
    rows = [r.elts if isinstance(r, ast.Tuple | ast.List) else [r] for r in (old, new)]
    return list(zip(*rows, strict=True)) if len(rows[0]) == len(rows[1]) else []


def _same_data(old: ast.expr, new: ast.expr) -> bool:
    """As many values, one of them the same; each of the others is made by calls, of the same data."""
    parts = _parts(old, new)
    other = [(a, b) for a, b in parts if ast.dump(a) != ast.dump(b)]
    return 0 < len(other) < len(parts) and all(_made_of_the_same(a, b) for a, b in other)


def _made_of_the_same(old: ast.expr, new: ast.expr) -> bool:
    """The same constants and names; no attribute or kind of expression that the older value had not. Flags may differ."""
    if not isinstance(old, ast.Call) or not isinstance(new, ast.Call):
        return False
    was, now = (list(ast.walk(n)) for n in (old, new))
    said = [Counter(repr(n.value) for n in row if _datum(n)) for row in (was, now)]  # type: ignore[attr-defined]
    names = [{n.id for n in row if isinstance(n, ast.Name)} for row in (was, now)]
    attributes = [{n.attr for n in row if isinstance(n, ast.Attribute)} for row in (was, now)]
    kinds = [{type(n) for n in row} - {ast.keyword} for row in (was, now)]
    return said[0] == said[1] and names[0] == names[1] and attributes[1] <= attributes[0] and kinds[1] <= kinds[0]


def _datum(node: ast.AST) -> bool:
    """A constant that is no flag."""
    return isinstance(node, ast.Constant) and not isinstance(node.value, bool) and node.value is not None


def _standard(node: ast.expr, names: Mapping[str, str]) -> bool:
    """A call of something of the standard library, whose values are equal to their like alone."""
    func: ast.expr = node.func if isinstance(node, ast.Call) else node
    while isinstance(func, ast.Attribute):
        func = func.value
    root = names.get(func.id, "").split(".")[0] if isinstance(func, ast.Name) else ""
    return root in sys.stdlib_module_names and root not in _STRANGE
