"""Arguments that say what a call without them says: those equal to the default of the function that is called."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable

from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_code import Function

Signatures = Callable[[str], Iterable[tuple[Function, bool]]]
"""All functions of the code with this name, and whether each is a method."""


class _Drop(ast.NodeTransformer):
    def __init__(self, find: Signatures) -> None:
        self._find = find

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        found = list(self._find(last_name(node))) if node.args or node.keywords else []
        if not found or any(isinstance(a, ast.Starred) for a in node.args):
            return node
        tables = [_defaults(f, method=m) for f, m in found]
        while node.args and all(_equal(node.args[-1], t.get(len(node.args) - 1)) for t in tables):
            node.args.pop()
        node.keywords = [
            k for k in node.keywords if k.arg is None or not all(_equal(k.value, t.get(k.arg)) for t in tables)
        ]
        return node


def _equal(value: ast.expr, default: ast.expr | None) -> bool:
    return isinstance(default, ast.Constant) and ast.dump(value) == ast.dump(default)


def _defaults(node: Function, *, method: bool) -> dict[int | str, ast.expr]:
    """Default by position in a call, and by name."""
    names = [*node.args.posonlyargs, *node.args.args]
    first = len(names) - len(node.args.defaults)
    table: dict[int | str, ast.expr] = {}
    for place, value in enumerate(node.args.defaults, first):
        table[place - method] = value
        table[names[place].arg] = value
    table.update({a.arg: d for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None})
    return table


def without_defaults(node: Function, find: Signatures) -> Function:
    """A copy of the test that leaves to the code what the code does anyway."""
    made: Function = _Drop(find).visit(copy.deepcopy(node))
    return made
