"""A private function that moved into a class of its module: tests that call it there now say what they said."""

from __future__ import annotations

import ast
from collections import Counter

from gatekeeper.checks.suite_integrity.around import reads_the_same
from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.formats import python_code

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def called_in_its_class(situation: Situation, path: str, name: str) -> bool:
    """The test differs from the target's by the way to private functions alone: `_f(x)` is `Shop._f(x)`.

    Each was a function of a module of the code and is a method of a class of that module now, which does what the function did
    and is called there; what the test gives it and expects of it is the same to the letter.
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


def _moved(situation: Situation) -> dict[str, tuple[str, str]]:
    """Private function that a module had at its top and no module of the change has there now -> (its class, the module).

    The method does what the function did, and nothing binds the class or that attribute of anything otherwise.
    """
    found: dict[str, tuple[str, str]] = {}
    left, spoilt = set[str](), set[str]()
    for path in situation.changed:
        if not path.endswith(".py") or situation.kind(path) is not None:
            continue
        before, after = (python_code.parse(situation.source(path, base=base)) for base in (True, False))
        if after is None:
            continue
        bound = Counter(n for s in after.body for n in _bound(s))
        left |= set(bound)
        spoilt |= {n.attr for n in python_code.walk(after) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)}  # fmt: skip
        classes = Counter(n.name for n in python_code.walk(after) if isinstance(n, ast.ClassDef))
        said = {f.attr for f in _calls(after)}
        stem = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
        for function in (n for n in (before.body if before is not None else ()) if isinstance(n, _FUNCTION)):
            name = function.name
            homes = [
                (owner.name, method)
                for owner in after.body
                if isinstance(owner, ast.ClassDef)
                and not owner.decorator_list
                and not owner.keywords
                and classes[owner.name] == 1
                and not bound[owner.name]
                for method in owner.body
                if name in _names(method)
            ]
            plain = name.startswith("_") and not name.startswith("__") and name in said and len(homes) == 1
            if plain and _does_the_same(function, *homes[0]):
                found[name] = (homes[0][0], stem) if name not in found else ("", "")
    return {n: home for n, home in found.items() if n not in left and n not in spoilt and home[0]}


def _calls(tree: ast.Module) -> list[ast.Attribute]:
    return [n.func for n in python_code.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]


def _names(node: ast.stmt) -> set[str]:
    return {node.name} if isinstance(node, (*_FUNCTION, ast.ClassDef)) else _bound(node)


def _does_the_same(function: ast.stmt, owner: str, method: ast.stmt) -> bool:
    """A static or class method with the function's body, where what stands in the class too may be asked of the class."""
    if not isinstance(function, _FUNCTION) or not isinstance(method, _FUNCTION) or function.decorator_list:
        return False
    marks = [getattr(d, "id", "") for d in method.decorator_list]
    was, now = (ast.parse(ast.unparse(n)).body[0] for n in (function, method))
    if (
        not isinstance(was, _FUNCTION)
        or not isinstance(now, _FUNCTION)
        or marks not in (["staticmethod"], ["classmethod"])
    ):
        return False
    if marks == ["classmethod"]:
        if not now.args.args or now.args.posonlyargs:
            return False
        first = now.args.args.pop(0).arg
        if any(isinstance(n, ast.Name) and n.id == first and not isinstance(n.ctx, ast.Load) for n in ast.walk(now)):
            return False
    else:
        first = owner
    now.decorator_list = []
    return python_code.meaning(was) == python_code.meaning(
        ast.fix_missing_locations(_OfTheClass({first, owner}).visit(now))
    )


class _OfTheClass(ast.NodeTransformer):
    """`cls._PATTERN` as `_PATTERN`."""

    def __init__(self, names: set[str]) -> None:
        self._names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self._names:
            return ast.copy_location(ast.Name(node.attr, node.ctx), node)
        return node


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

    def __init__(self, moved: dict[str, tuple[str, str]]) -> None:
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
            home = origin.rpartition(".")[0].rpartition(".")[2]
            if self._moved.get(name) == (owner, home) and origin.rpartition(".")[2] == owner and self._own(origin):
                self.classes.add(name)
                node.func = ast.Name(name, ast.Load())
        return node
