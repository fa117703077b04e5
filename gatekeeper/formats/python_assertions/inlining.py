"""Names that stand for one value put aside for that value, so that two spellings of an assertion compare."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Mapping

_MAX_NODES = 400
"""Syntax nodes up to which a local value is put in the place of its name."""


def values_of(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """Names that are bound exactly once in these statements, nested ones included, by a plain assignment at the top."""
    stores = Counter(
        n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del))
    )
    table = {}
    for s in _straight(body):
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            place = s.targets[0]
            if isinstance(place, ast.Name) and stores[place.id] == 1:
                table[place.id] = s.value
    return table


def _straight(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run one after the other, those inside `with` and `try` included."""
    for s in body:
        yield s
        if isinstance(s, (ast.With, ast.AsyncWith, ast.Try)):
            yield from _straight(s.body)


class _Inline(ast.NodeTransformer):
    def __init__(self, known: Mapping[str, ast.expr]) -> None:
        self.known = known
        self.depth = 0
        self.budget = _MAX_NODES

    def visit_Name(self, node: ast.Name) -> ast.AST:
        value = self.known.get(node.id)
        if value is None or not isinstance(node.ctx, ast.Load) or self.depth > 4:
            return node
        size = sum(1 for _ in ast.walk(value))
        if size > self.budget:
            return node
        self.budget -= size
        self.depth += 1
        inner: ast.AST = self.visit(copy.deepcopy(value))
        self.depth -= 1
        return inner


def inlined(node: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    """`node` with names of `known` replaced by their values; the node itself where there are none."""
    if not any(isinstance(n, ast.Name) and n.id in known for n in ast.walk(node)):
        return node
    out = _Inline(known).visit(copy.deepcopy(node))
    return out if isinstance(out, ast.expr) else node


def inlined_statement(node: ast.stmt, known: Mapping[str, ast.expr]) -> ast.AST:
    """The same for a statement that is one expression; any other stays."""
    return inlined(node.value, known) if isinstance(node, ast.Expr) else node
