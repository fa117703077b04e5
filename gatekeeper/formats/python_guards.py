"""Branches that asked for the opposite of a condition on which a function does nothing of its own any more."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import chain

from gatekeeper.formats import python_code

_BLOCKS = ("body", "orelse", "finalbody")
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_NO_NAME = (ast.Call, ast.Attribute, ast.Subscript, ast.NamedExpr, ast.Await, ast.Lambda)
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip

Bindings = Mapping[str, Mapping[str, tuple[str, ...]]]
"""Condition of a branch in a function -> name that it asks for -> what binds this name in the very function, in order."""


def bindings_of(node: python_code.Definition) -> Bindings:
    """For every branch below a function; of equal conditions in several functions the first counts."""
    found: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for function in ast.walk(node):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            own = list(_own(function))
            for one in own:
                if isinstance(one, ast.If):
                    found.setdefault(ast.dump(one.test), _binders(one.test, own, skip=one))
    return found


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """What is below a function and in no function or class of its own."""
    found: list[ast.AST] = []
    stack: list[ast.AST] = [function.args, *function.body]
    while stack:
        one = stack.pop()
        found.append(one)
        if not isinstance(one, _OWN_SCOPE):
            stack += ast.iter_child_nodes(one)
    return found


def _binders(test: ast.expr, own: list[ast.AST], skip: ast.AST | None = None) -> dict[str, tuple[str, ...]]:
    """Name of a condition -> what binds it; a branch that goes itself is left out."""
    inside = {id(n) for n in ast.walk(skip)} if skip is not None else set[int]()
    rest = [n for n in own if id(n) not in inside]
    names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
    return {name: tuple(sorted(row for n in rest if (row := _binds(n, name)))) for name in names}


def _binds(node: ast.AST, name: str) -> str:
    if isinstance(node, ast.arg):
        return "argument" if node.arg == name else ""
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and getattr(node.targets[0], "id", "") == name:
        return ast.dump(node)
    if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store | ast.Del):
        return "bound"
    if isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
        return "elsewhere"
    if isinstance(node, ast.alias):
        return "imported" if (node.asname or node.name) == name else ""
    named = name in (getattr(node, "name", None), getattr(node, "rest", None))
    return "named" if named else ""


def ask_no_more(tree: python_code.Definition, condition: str, bindings: Bindings, stays: set[str]) -> None:
    """Branches on the opposite of a condition, but those of `stays`, become what they hold where it asks the same.

    That is a condition of plain names, each bound once in the function and in the same way as where it had warned.
    """
    for function in list(ast.walk(tree)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        own = _own(function)
        for node in reversed(own):
            for name in _BLOCKS if not isinstance(node, _OWN_SCOPE) else ():
                block = getattr(node, name, None)
                if isinstance(block, list):
                    setattr(
                        node, name, list(chain.from_iterable(_held(s, condition, bindings, stays, own) for s in block))
                    )
        function.body = list(chain.from_iterable(_held(s, condition, bindings, stays, own) for s in function.body))


def _held(node: ast.stmt, condition: str, bindings: Bindings, stays: set[str], own: list[ast.AST]) -> list[ast.stmt]:
    if not isinstance(node, ast.If) or node.orelse or ast.dump(node) in stays:
        return [node]
    asked = _opposite(node.test)
    if ast.dump(asked) != condition or any(isinstance(n, _NO_NAME) for n in ast.walk(asked)):
        return [node]
    known = _binders(asked, own)
    once = all(len([r for r in rows if r != "bound"]) == 1 and len(rows) <= 2 for rows in known.values())
    return list(node.body) if once and known == bindings.get(condition) else [node]


def _opposite(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _FLIPPED:
        return ast.Compare(test.left, [_FLIPPED[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)
