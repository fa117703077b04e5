"""A module of the tests as the place that names come from: functions, classes, fixtures, and where a helper is defined."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.inlining import values_of
from gatekeeper.formats.python_code import Function, imports
from gatekeeper.formats.python_spelling import plain
from gatekeeper.records import dataclass

_MAX_BASES = 20


@dataclass(frozen=True)
class Place:
    """One module of the tests."""

    tree: ast.Module
    functions: Mapping[str, Function]
    """Those at the top that nothing else in the module binds."""
    classes: Mapping[str, ast.ClassDef]
    imports: Mapping[str, str]
    values: Mapping[str, ast.expr]

    @property
    def defined(self) -> frozenset[str]:
        """Names of its own functions and classes."""
        return frozenset(self.functions) | frozenset(self.classes)


Finder = Callable[[str], tuple[Place, str] | None]
"""From the dotted name of an import to the module of the tests that defines it, and its name there."""


def place(tree: ast.Module) -> Place:
    """Read a module; a name that is bound twice at the top is nobody's."""
    tree = plain(tree)
    counts: Counter[str] = Counter()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            counts[node.name] += 1
        else:
            counts.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    once = [n for n in tree.body if getattr(n, "name", None) is not None and counts[n.name] == 1]  # type: ignore[attr-defined]
    functions = {n.name: n for n in once if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    classes = {n.name: n for n in once if isinstance(n, ast.ClassDef)}
    return Place(tree, functions, classes, imports(tree), values_of(tree.body))


def is_fixture(node: Function) -> bool:
    """Decorated as a fixture that gives one value: no parameters."""
    marks = [d for d in node.decorator_list if last_name(d) == "fixture"]
    if len(node.decorator_list) != 1 or not marks:
        return False
    keywords = marks[0].keywords if isinstance(marks[0], ast.Call) else []
    return not any(k.arg in ("params", "name") for k in keywords)


def lineage(home: Place, class_name: str, find: Finder) -> Iterator[tuple[Place, ast.ClassDef]]:
    """The class and its bases as far as the tests define them, nearest first."""
    waiting = [(home, class_name)]
    for _ in range(_MAX_BASES):
        if not waiting:
            return
        at, name = waiting.pop(0)
        node = at.classes.get(name)
        if node is None:
            found = find(at.imports.get(name, "")) if name in at.imports else None
            node = found[0].classes.get(found[1]) if found is not None else None
            if found is None or node is None:
                continue
            at = found[0]
        yield at, node
        waiting = [(at, last_name(b)) for b in node.bases] + waiting


def method(home: Place, class_name: str, name: str, find: Finder) -> tuple[Place, Function] | None:
    """The method that `self.name(...)` reaches; None where an attribute of this name is set anywhere in the class."""
    for at, node in lineage(home, class_name, find):
        for n in ast.walk(node):
            if isinstance(n, ast.Attribute) and n.attr == name and not isinstance(n.ctx, ast.Load):
                return None
        mine = [s for s in node.body if name in _binds(s)]
        if mine:
            one = mine[-1]
            return (at, one) if len(mine) == 1 and isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) else None
    return None


def _binds(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
