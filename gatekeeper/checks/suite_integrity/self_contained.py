"""Tests that try nothing but a function of their own module: they reach no code of the project, and no world outside."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.checks.suite_integrity.users import set_up
from gatekeeper.formats import python_code

_PYTEST = ("pytest.raises", "pytest.approx")
_HARMLESS = (
    "abs", "all", "any", "ascii", "bin", "bool", "bytearray", "bytes", "callable", "chr", "complex", "dict",
    "divmod", "enumerate", "filter", "float", "format", "frozenset", "hash", "hex", "int", "isinstance",
    "issubclass", "iter", "len", "list", "map", "max", "min", "next", "object", "oct", "ord", "pow", "range", "repr",
    "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "type", "zip", "NotImplemented",
    "Ellipsis",
)  # fmt: skip
_PURE = frozenset(_HARMLESS) | {
    n for n, v in vars(builtins).items() if isinstance(v, type) and issubclass(v, BaseException)
}
_MOST = 50


def tries_only_itself(situation: Situation, path: str, name: str) -> bool:
    """The target's test calls functions of its own module that went along with it, and everything it says is known to be harmless.

    Whatever the project's code does, such a test can not tell: nothing of the project is lost with it.
    """
    old, new = (python_code.parse(situation.source(path, base=base)) for base in (True, False))
    owner, _, method = name.rpartition("::")
    if old is None or "::" in owner or any(isinstance(n, ast.alias) and n.name == "*" for n in python_code.walk(old)):
        return False  # what a star gives may bear the name of anything that is known
    home = next((n for n in old.body if isinstance(n, ast.ClassDef) and n.name == owner), None) if owner else None
    inside = home.body if home is not None else old.body
    test = [n for n in inside if isinstance(n, ast.FunctionDef) and n.name == method]
    if len(test) != 1 or (owner and (home is None or home.bases or home.keywords or home.decorator_list)):
        return False
    if any(set_up(n) for n in (*old.body, *(home.body if home is not None else ()))):
        return False
    given = [a.arg for a in ast.walk(test[0].args) if isinstance(a, ast.arg)]
    if test[0].decorator_list or test[0].args.defaults or given != (["self"] if home is not None else []):
        return False
    members = {t.id for n in (home.body if home is not None else ()) if isinstance(n, ast.Assign) and _literal(n.value) for t in n.targets if isinstance(t, ast.Name)}  # fmt: skip
    called = _closed(old, test[0], members)
    left = {getattr(n, "name", "") for n in new.body} if new is not None else set()
    return bool(called) and not called & left


def _closed(tree: ast.Module, test: ast.FunctionDef, members: set[str]) -> set[str]:
    """Functions of the module that the test reaches; empty where it says anything else that is not known."""
    origins = python_code.imports(tree)
    bound = _bindings(tree.body)
    found: set[str] = set()
    stack: list[ast.FunctionDef] = [test]
    while stack and len(found) < _MOST:
        node = stack.pop()
        own = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
        own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for one in ast.walk(node):
            if isinstance(one, ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal | ast.ClassDef | ast.Lambda):
                return set()
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and (one is not node or one.decorator_list):
                return set()
            if isinstance(one, ast.Attribute) and not _known(one, origins, own, members if node is test else set()):
                return set()
            if (
                not isinstance(one, ast.Name)
                or one.id in own
                or (one.id == "pytest" and origins.get("pytest") == "pytest")
            ):
                continue
            there = bound.get(one.id, [])
            if not there and one.id in _PURE and one.id not in origins:
                continue
            if len(there) != 1 or one.id in origins:
                return set()
            if isinstance(there[0], ast.FunctionDef):
                if one.id not in found:
                    found.add(one.id)
                    stack.append(there[0])
            elif not (isinstance(there[0], ast.Assign) and _literal(there[0].value)):
                return set()
    return found if not stack else set()


def _known(node: ast.Attribute, origins: Mapping[str, str], own: set[str], members: set[str]) -> bool:
    """Part of a value that the test made itself, a constant of its class, or one of pytest's own few."""
    if node.attr.startswith("__") or not isinstance(node.ctx, ast.Load):
        return False
    first = node.value
    if isinstance(first, ast.Name) and first.id == "self":
        return node.attr in members
    if isinstance(first, ast.Name) and first.id not in own and origins.get(first.id):
        return python_code.dotted(node, dict(origins)) in _PYTEST
    return True


def _bindings(body: Iterable[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """What statements of the module, at any depth, bind each name."""
    table: dict[str, list[ast.stmt]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            table.setdefault(node.name, []).append(node)
            continue
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store | ast.Del):
                table.setdefault(one.id, []).append(node)
            elif isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                table.setdefault(one.name, []).append(node)
    return table


def _literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True
