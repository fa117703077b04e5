"""Functions that only hand on to another one what they are given, and examples in which either is called."""

from __future__ import annotations

import ast
import copy
import sys

from gatekeeper.formats import python_code
from gatekeeper.formats.python_examples import Example

Delegates = dict[str, tuple[str, str]]
"""Name of a function -> (dotted name of what it calls, its arguments and decorators, whatever texts these are given, and what
the decorators themselves are)."""
_MOST = 2_000
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def delegates(source: str | None) -> Delegates:
    """Functions at the top of a module whose whole body is `return other(...)` with their own arguments in their order."""
    tree = python_code.parse(source)
    found: Delegates = {}
    counted: dict[str, int] = {}
    if tree is None:
        return {}
    for node in tree.body:
        for name in _bound(node):
            counted[name] = counted.get(name, 0) + 1
        if isinstance(node, ast.FunctionDef) and (target := _hands_on(node)):
            head = _head(node, tree)
            if head:
                found[node.name] = (target, head)
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


def _head(node: ast.FunctionDef, tree: ast.Module) -> str:
    """Empty where a decorator is none that the module defines, once, or imports from the standard library."""
    rows = [ast.parse(ast.unparse(d), mode="eval").body for d in node.decorator_list]
    for one in (n for row in rows for n in ast.walk(row) if isinstance(n, ast.Constant) and isinstance(n.value, str)):
        one.value = ""
    homes: list[str] = []
    for row in rows:
        name = python_code.dotted(row.func if isinstance(row, ast.Call) else row, {})
        here = [s for s in tree.body if isinstance(s, ast.FunctionDef) and s.name == name]
        if len(here) == 1 and sum(name in _bound(s) for s in tree.body) == 1:
            homes.append(python_code.meaning(here[0]))
        elif python_code.imports(tree).get(name.partition(".")[0], "").partition(".")[0] not in sys.stdlib_module_names:
            return ""
    return "|".join([ast.dump(node.args), *map(ast.dump, rows), *homes])


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    names = {n.id for n in python_code.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    names |= {n.name for n in python_code.walk(node) if isinstance(n, _DEFINITION)}
    return names | {(n.asname or n.name).partition(".")[0] for n in python_code.walk(node) if isinstance(n, ast.alias)}


def handed_on(table: dict[str, list[Example]], known: Delegates, module: str) -> dict[str, list[Example]]:
    """The examples with each call of such a function, by its name or the module's, written as a call of the other one."""
    return {place: [_written(e, known, module) for e in rows[:_MOST]] for place, rows in table.items()}


def binds_any(rows: list[Example], names: set[str], module: str) -> bool:
    """An example imports, assigns or defines one of these names or the module, but for a plain import of it, or is no Python."""
    for source, _ in rows:
        tree = python_code.parse(source)
        if tree is None or any(_bound(s) & {module, *names} for s in tree.body if not _plain_import(s, module)):
            return True
    return False


def _plain_import(node: ast.stmt, module: str) -> bool:
    return isinstance(node, ast.Import) and all(a.name == module and not a.asname for a in node.names)


def _written(example: Example, known: Delegates, module: str) -> Example:
    shared = python_code.parse(example[0])
    tree = copy.deepcopy(shared)  # all checks read the same tree
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
