"""Comparisons that see less: the same value behind something that forgets order, number, length or spelling."""

from __future__ import annotations

import ast

from gatekeeper.formats.python_assertions.expression import Assertion, Kind, last_name

_FORGETS = {"sorted", "set", "frozenset", "len", "Counter", "abs", "round", "int", "bool", "min", "max", "sum", "any", "all", "type", "next", "hash", "id", "dir"}  # fmt: skip
_FORGETS_AS_METHOD = {"lower", "upper", "casefold", "strip", "lstrip", "rstrip", "split", "keys", "values", "count", "startswith", "endswith", "title", "swapcase"}  # fmt: skip
_KEEPS = {"list", "tuple", "dict", "str", "repr", "deepcopy", "copy"}
_DEEP = 6


def dulled(old: Assertion, new: Assertion) -> bool:
    """True where `new` asks of what `old` asked of, but through something that has one answer for different values."""
    if new.kind not in (Kind.EQUAL, Kind.NEAR, Kind.UNEQUAL, Kind.ORDER, Kind.MEMBER) or old.subject == new.subject:
        return False
    try:
        node: ast.expr = ast.parse(new.subject, mode="eval").body
        was: ast.expr = ast.parse(old.subject, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return False
    whole = ast.dump(was)
    return _behind(node, whole) or _narrower(was, node)


def _behind(node: ast.expr, whole: str) -> bool:
    forgot = False
    for _ in range(_DEEP):
        inner, forgets = _peeled(node)
        if inner is None:
            return False
        forgot = forgot or forgets
        node = inner
        if forgot and ast.dump(node) == whole:
            return True
    return False


def _peeled(node: ast.expr) -> tuple[ast.expr | None, bool]:
    """(what is inside the outermost layer, whether that layer forgets)."""
    if isinstance(node, ast.Subscript):
        return node.value, True
    if not isinstance(node, ast.Call):
        return None, False
    name = last_name(node)
    if isinstance(node.func, ast.Name) and node.args and name in _FORGETS | _KEEPS:
        return node.args[0], name in _FORGETS
    if isinstance(node.func, ast.Attribute) and name in _FORGETS_AS_METHOD:
        return node.func.value, True
    return None, False


def _narrower(was: ast.expr, now: ast.expr) -> bool:
    """The same sequence from the beginning, where it was looked at from the end or as a whole: `f()[-1]` to `f()[0]`."""
    if not isinstance(was, ast.Subscript) or not isinstance(now, ast.Subscript):
        return False
    places = [s.slice for s in (was, now)]
    return (
        ast.dump(was.value) == ast.dump(now.value)
        and all(isinstance(p, ast.Constant | ast.UnaryOp | ast.Slice) for p in places)
        and ast.dump(places[0]) != ast.dump(places[1])
    )


def calls_of(text: str) -> frozenset[str]:
    """Last names of what an expression calls; empty for what is none."""
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return frozenset()
    return frozenset(last_name(n) for n in ast.walk(tree) if isinstance(n, ast.Call))
