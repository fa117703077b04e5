"""A module of the tests as the place that names come from: functions, classes, fixtures, and where a helper is defined."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from gatekeeper.formats.python_assertions.bound_names import bound_names, module_bindings, star_imports
from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.inlining import values_of
from gatekeeper.formats.python_assertions.touch import Touch
from gatekeeper.formats.python_assertions.touches import touches
from gatekeeper.formats.python_code import Function, dotted, folded, imports, walk
from gatekeeper.formats.python_spelling import plain
from gatekeeper.records import dataclass

_MAX_BASES = 20


@dataclass(frozen=True)
class Place:
    """One module."""

    tree: ast.Module
    functions: Mapping[str, Function]
    """Those at the top that nothing else in the module binds."""
    classes: Mapping[str, ast.ClassDef]
    imports: Mapping[str, str]
    values: Mapping[str, ast.expr]
    binds: Mapping[str, int]
    """How many times each name of the module is bound."""
    path: str = ""
    tests: bool = True
    """Whether it is one of the tests' own."""

    @property
    def defined(self) -> frozenset[str]:
        """Names of its own functions and classes."""
        return frozenset(self.functions) | frozenset(self.classes)

    @cached_property
    def touches(self) -> tuple[Touch, ...]:
        """What it sets on other things."""
        return touches(self.tree, self.imports)

    @cached_property
    def stars(self) -> tuple[tuple[str, int], ...]:
        """Modules all of whose names it takes, with the line."""
        return tuple(star_imports(self.tree))

    @cached_property
    def named(self) -> frozenset[str]:
        """Fixtures that have another name than their function; an empty text for a name that is computed."""
        calls = (n for n in walk(self.tree) if isinstance(n, ast.Call) and "fixture" in last_name(n))
        return frozenset(folded(k.value) or "" for c in calls for k in c.keywords if k.arg == "name")

    @cached_property
    def rows(self) -> frozenset[str]:
        """Arguments that rows give to more than the one test they stand above."""
        single = {
            id(d) for n in walk(self.tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) for d in n.decorator_list
        }  # fmt: skip
        calls = (
            n for n in walk(self.tree) if isinstance(n, ast.Call) and last_name(n) == "parametrize" and id(n) not in single
        )  # fmt: skip
        return frozenset(name for c in calls for name in row_names(c))

    @cached_property
    def plugins(self) -> frozenset[str]:
        """Modules that pytest is told to load as plugins."""
        told = [
            s.value for s in self.tree.body
            if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytest_plugins" for t in s.targets)
        ]  # fmt: skip
        return frozenset(text for v in told for n in ast.walk(v) if (text := folded(n)))

    def names_of(self, node: ast.expr) -> str:
        """The dotted name of what an expression is, the imports followed; empty where that cannot be told."""
        return dotted(node, dict(self.imports))


Look = Callable[[Place, str], tuple[Place, str] | None]
"""From a module and the dotted name of an import in it to the module of the repository that defines it, and its name there."""


def place(tree: ast.Module, path: str = "", tests: bool = True) -> Place:
    """Read a module; a name that is bound twice in it is nobody's."""
    tree = plain(tree)
    binds = module_bindings(tree)
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    once = [n for n in tree.body if isinstance(n, defined) and binds[n.name] == 1]
    functions = {n.name: n for n in once if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    classes = {n.name: n for n in once if isinstance(n, ast.ClassDef)}
    return Place(tree, functions, classes, imports(tree), values_of(tree.body), binds, path, tests)


def row_names(mark: ast.Call) -> set[str]:
    """Arguments that a `parametrize` gives values to; an empty text where they are computed."""
    first = next((k.value for k in mark.keywords if k.arg == "argnames"), None) or (mark.args[0] if mark.args else None)
    if isinstance(first, ast.List | ast.Tuple):
        return {folded(e) or "" for e in first.elts}
    text = folded(first) if first is not None else None
    return {n.strip() for n in text.split(",")} if text is not None else {""}


def is_fixture(node: Function) -> bool:
    """Decorated as a fixture that gives one value: no parameters."""
    marks = [d for d in node.decorator_list if last_name(d) == "fixture"]
    if len(node.decorator_list) != 1 or not marks:
        return False
    keywords = marks[0].keywords if isinstance(marks[0], ast.Call) else []
    return not any(k.arg in ("params", "name") for k in keywords)


def defined_class(at: Place, node: ast.expr, look: Look) -> tuple[Place, ast.ClassDef] | None:
    """The class that an expression names, where the repository defines it in a way that can be read."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name) and node.id in at.classes:
        return at, at.classes[node.id]
    found = look(at, at.names_of(node))
    if found is None or found[1] not in found[0].classes or (isinstance(node, ast.Name) and at.binds[node.id] != 1):
        return None
    return found[0], found[0].classes[found[1]]


def lineage(home: Place, class_name: str, look: Look) -> Iterator[tuple[Place, ast.ClassDef]]:
    """The class and its bases as far as the repository defines them, nearest first."""
    waiting = [(home, home.classes[class_name])] if class_name in home.classes else []
    for _ in range(_MAX_BASES):
        if not waiting:
            return
        at, node = waiting.pop(0)
        yield at, node
        waiting = [f for b in node.bases if (f := defined_class(at, b, look)) is not None] + waiting


def method(home: Place, class_name: str, name: str, look: Look) -> tuple[Place, Function] | None:
    """The method that `self.name(...)` reaches, going by the classes alone."""
    for at, node in lineage(home, class_name, look):
        mine = [s for s in node.body if any(n == name for n, _ in bound_names([s]))]
        if mine:
            one = mine[-1]
            single = len(mine) == 1 and isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name
            return (at, one) if single and at.tests and isinstance(one, Function) else None
    return None
