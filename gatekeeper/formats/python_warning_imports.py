"""Imports of the names that warn: what they mean in a module, and which of them may come or go."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from gatekeeper.formats import python_code
from gatekeeper.formats.python_deprecations import WARNINGS

_FROM = ("warnings", "typing_extensions")
_VOICES = frozenset({"warnings", "warn", "deprecated"})
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def knows_warnings(tree: ast.Module) -> bool:
    """What warns, and the classes of warnings, mean what they say in this module, wherever they stand."""
    for node in python_code.walk(tree):
        bound = {getattr(node, "arg", None), getattr(node, "name", None)} if not isinstance(node, ast.keyword | ast.alias) else set()  # fmt: skip
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            bound.add(node.id if isinstance(node, ast.Name) else node.attr)
        if bound & (_VOICES | WARNINGS):
            return False
        if isinstance(node, ast.Import) and any((a.asname or a.name) == "warnings" and a.name != "warnings" for a in node.names):  # fmt: skip
            return False
        if isinstance(node, ast.ImportFrom) and any(_other_meaning(node, a) for a in node.names):
            return False
    return True


def _other_meaning(node: ast.ImportFrom, name: ast.alias) -> bool:
    """It may give one of the names another meaning; nobody sees what a star gives."""
    bound = name.asname or name.name
    if bound == "*" or bound in WARNINGS:
        return True
    return bound in _VOICES and (bool(node.level) or node.module not in _FROM or name.asname not in (None, name.name))


def imports_warnings(node: ast.stmt, *, inside: bool = False) -> bool:
    """A statement that imports nothing but what warns; `inside` a function, nothing that may be missing."""
    if isinstance(node, ast.Import):
        return all(a.name == "warnings" and a.asname is None for a in node.names)
    if not isinstance(node, ast.ImportFrom) or node.level:
        return False
    names = {a.name for a in node.names}
    if node.module == "warnings":
        return names <= ({"warn"} if inside else {"warn", "deprecated"})
    return node.module == "typing_extensions" and names == {"deprecated"} and not inside


def imports_may_differ(old: ast.Module, new: ast.Module) -> bool:
    """Whatever `new` says of what warns has an import above it, for certain, or one that no change of imports could touch."""
    loose, before = Counter(_loose(new, frozenset())), Counter(_loose(old, frozenset()))
    movable = {a.name for tree in (old, new) for s in _movable(tree) for a in getattr(s, "names", ())}
    return not movable & loose.keys() and not loose - before


def without_imports(tree: ast.Module) -> None:
    """Take such imports out of the module and of its functions; one that stands behind a condition or in a `try` stays."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            inside = not isinstance(node, ast.Module)
            node.body = [s for s in node.body if not imports_warnings(s, inside=inside)]


def bound_by_module(tree: ast.Module) -> frozenset[str]:
    """Names of what warns that the module itself binds, where other modules may take them from."""
    return frozenset(a.name for s in tree.body if imports_warnings(s) for a in getattr(s, "names", ()))


def _movable(tree: ast.Module) -> Iterator[ast.stmt]:
    for node in python_code.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (s for s in node.body if imports_warnings(s, inside=not isinstance(node, ast.Module)))


def _loose(scope: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef, known: frozenset[str]) -> Iterator[str]:
    """Names that warn and are said where no import above them, in this scope or around it, binds them."""
    inside = not isinstance(scope, ast.Module)
    for statement in scope.body:
        yield from _said(statement, known)
        if imports_warnings(statement, inside=inside):
            known |= {a.name for a in getattr(statement, "names", ())}


def _said(node: ast.AST, known: frozenset[str]) -> Iterator[str]:
    if isinstance(node, _FUNCTION):
        local = {a.name for n in ast.walk(node) for a in getattr(n, "names", ()) if isinstance(a, ast.alias)}
        yield from _loose(node, known - local)
        for part in (*node.decorator_list, node.args, *([node.returns] if node.returns else [])):
            yield from _said(part, known)
        return
    if isinstance(node, ast.Name) and node.id in _VOICES and node.id not in known:
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _said(child, known)
