"""A private function that moved into a class of its module: tests that call it there now say what they said."""

from __future__ import annotations

import ast

from gatekeeper.checks.suite_integrity.around import reads_the_same
from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.formats import python_code

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def called_in_its_class(situation: Situation, path: str, name: str) -> bool:
    """The test differs from the target's by the way to private functions alone: `_f(x)` is `Shop._f(x)`.

    Each was a function of a module of the code and is a method of a class there now, which the code calls itself; what the
    test gives it and expects of it is the same to the letter.
    """
    try:
        return _called_there(situation, path, name)
    except RecursionError:
        return False


def _called_there(situation: Situation, path: str, name: str) -> bool:
    old, new = situation.definition(path, name, base=True), situation.definition(path, name)
    before, after = (python_code.parse(situation.source(path, base=base)) for base in (True, False))
    if not isinstance(old, _FUNCTION) or not isinstance(new, _FUNCTION) or before is None or after is None:
        return False
    moved = _moved(situation)
    was, now = _Bare(moved), _Bare(moved)
    plain = (
        was.function(old, python_code.imports(before), situation),
        now.function(new, python_code.imports(after), situation),
    )
    return (
        bool(was.bare)
        and was.bare == now.classes
        and not now.bare
        and not was.classes
        and python_code.meaning(plain[0]) == python_code.meaning(plain[1])
        and reads_the_same(situation, path, name, situation.code_change)
    )


def _moved(situation: Situation) -> dict[str, str]:
    """Private function that a changed module had at its top and no module of the change has there now -> its one class."""
    had, left = set[str](), set[str]()
    owners: dict[str, list[str]] = {}
    called = set[str]()
    for path in situation.changed:
        if not path.endswith(".py") or situation.kind(path) is not None:
            continue
        before, after = (python_code.parse(situation.source(path, base=base)) for base in (True, False))
        had |= {n.name for n in before.body if isinstance(n, _FUNCTION)} if before is not None else set()
        if after is None:
            continue
        left |= {n for s in after.body for n in _bound(s)}
        for owner in (n for n in after.body if isinstance(n, ast.ClassDef)):
            for method in (m for m in owner.body if isinstance(m, _FUNCTION)):
                owners.setdefault(method.name, []).append(owner.name)
        called |= {
            n.func.attr
            for n in python_code.walk(after)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)
        }
    return {
        n: owners[n][0]
        for n in had - left
        if n.startswith("_") and not n.startswith("__") and len(owners.get(n, ())) == 1 and n in called
    }


def _bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, _FUNCTION):
        return {statement.name}
    if isinstance(statement, ast.ClassDef):
        return set()
    return {n.id for n in python_code.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)} | {
        (a.asname or a.name) for n in python_code.walk(statement) if isinstance(n, ast.alias) for a in [n]
    }


class _Bare(ast.NodeTransformer):
    """Calls of moved functions without the way to them, and without their imports in the test itself."""

    def __init__(self, moved: dict[str, str]) -> None:
        self._moved = moved
        self._origins: dict[str, str] = {}
        self._situation: Situation | None = None
        self.bare, self.classes = set[str](), set[str]()

    def function(self, node: ast.AST, origins: dict[str, str], situation: Situation) -> ast.AST:
        """A copy of the function, changed."""
        self._origins, self._situation = origins, situation
        copy = ast.parse(ast.unparse(node)).body[0]
        return ast.Module([ast.fix_missing_locations(self.visit(copy))], [])

    def _own(self, module: str) -> bool:
        assert self._situation is not None
        return self._situation.own(module.lstrip(".").split(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        """One that only brings moved functions under their own names goes."""
        if all(a.name in self._moved and not a.asname for a in node.names) and self._own(node.module or ""):
            return None
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`_f(...)` stays, `Shop._f(...)` becomes it where the class is imported from the project."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._moved:
            self.bare.add(node.func.id)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            name, owner = node.func.attr, node.func.value.id
            origin = self._origins.get(owner, "")
            if self._moved.get(name) == owner and origin.rpartition(".")[2] == owner and self._own(origin):
                self.classes.add(name)
                node.func = ast.Name(name, ast.Load())
        return node
