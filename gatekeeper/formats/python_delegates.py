"""Functions that only hand on to another one what they are given, and examples in which either is called."""

from __future__ import annotations

import ast

from gatekeeper.formats import python_code
from gatekeeper.formats.python_examples import Example

Delegates = dict[str, tuple[str, str]]
"""Name of a function -> (dotted name of what it calls, its arguments and decorators, whatever texts these are given)."""
_MOST = 2_000


def delegates(source: str | None) -> Delegates:
    """Functions at the top of a module whose whole body is `return other(...)` with their own arguments in their order."""
    tree = python_code.parse(source)
    found: Delegates = {}
    counted: dict[str, int] = {}
    for node in tree.body if tree is not None else ():
        for name in _bound(node):
            counted[name] = counted.get(name, 0) + 1
        if isinstance(node, ast.FunctionDef) and (target := _hands_on(node)):
            found[node.name] = (target, _head(node))
    return {n: d for n, d in found.items() if counted[n] == 1 and counted.get(d[0].partition(".")[0]) == 1}


def _hands_on(node: ast.FunctionDef) -> str:
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    given = node.args
    if len(body) != 1 or not isinstance(body[0], ast.Return) or not isinstance(body[0].value, ast.Call):
        return ""
    if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults or not given.args:
        return ""
    call = body[0].value
    handed = [a.id if isinstance(a, ast.Name) else "" for a in call.args]
    if call.keywords or handed != [a.arg for a in given.args]:
        return ""
    target = python_code.dotted(call.func, {})
    return "" if target.partition(".")[0] in handed or target.rpartition(".")[2] == node.name else target


def _head(node: ast.FunctionDef) -> str:
    rows = [ast.parse(ast.unparse(d), mode="eval").body for d in node.decorator_list]
    for one in (n for row in rows for n in ast.walk(row) if isinstance(n, ast.Constant) and isinstance(n.value, str)):
        one.value = ""
    return "|".join([ast.dump(node.args), *map(ast.dump, rows)])


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    names = {n.id for n in python_code.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return names | {(n.asname or n.name).partition(".")[0] for n in python_code.walk(node) if isinstance(n, ast.alias)}


def handed_on(table: dict[str, list[Example]], known: Delegates, module: str) -> dict[str, list[Example]]:
    """The examples with each call of such a function, by its name or the module's, written as a call of the other one."""
    return {place: [_written(e, known, module) for e in rows[:_MOST]] for place, rows in table.items()}


def _written(example: Example, known: Delegates, module: str) -> Example:
    tree = python_code.parse(example[0])
    if tree is None or "#" in example[0] or len(tree.body) != 1:
        return example
    binds = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}

    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or binds & {module, *known}:
            continue
        prefix, _, name = python_code.dotted(node.func, {}).rpartition(".")
        if name in known and prefix in ("", module):
            node.func = ast.parse(f"{prefix}.{known[name][0]}".lstrip("."), mode="eval").body

    return ast.unparse(tree), example[1]
