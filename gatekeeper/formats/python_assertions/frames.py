"""Context managers that the tests define, and whether a failure inside of one gets out of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from gatekeeper.formats.python_assertions.bound_names import bound_names
from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.support import Look, Place, lineage, method
from gatekeeper.formats.python_code import Definition

_CATCH = frozenset(
    {"suppress", "raises", "assertRaises", "assertRaisesRegex", "ignored", "ExitStack", "AsyncExitStack"}
)
_OPEN = frozenset({"fixture", "contextmanager", "asynccontextmanager", "staticmethod", "classmethod"})


def frame(
    call: ast.expr, at: Place, home: Place, class_name: str, look: Look
) -> tuple[Place, Definition | None] | None:
    """What of the tests makes the frame `with call:`, None in its place where that cannot be told; None for a library's."""
    if isinstance(call, ast.Name) and call.id in at.values:
        call = at.values[call.id]
    func = call.func if isinstance(call, ast.Call) else call
    if isinstance(func, ast.Name) and at.binds[func.id] and func.id not in at.imports:
        return at, at.functions.get(func.id) or at.classes.get(func.id)
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("self", "cls"):
        if not any(func.attr in dict(bound_names(c.body)) for _, c in lineage(home, class_name, look)):
            return None
        found = method(home, class_name, func.attr, look)
        return found if found is not None else (home, None)
    origin = at.names_of(func)
    named = look(at, origin) if origin else None
    if named is None or not named[0].tests:
        return None
    return named[0], named[0].functions.get(named[1]) or named[0].classes.get(named[1])


def swallows(node: Definition | None, at: Place, look: Look) -> bool:
    """Whether a failure inside may stay inside: caught around its `yield`, or `__exit__` gives anything."""
    if node is None:
        return True
    if not isinstance(node, ast.ClassDef):
        marks = {last_name(d) for d in node.decorator_list}
        yields = any(isinstance(n, ast.Yield) for n in ast.walk(node))
        return bool(marks - _OPEN) or (yields and _caught(node.body))
    exits = [
        s for _, c in lineage(at, node.name, look) for s in c.body
        if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef) and s.name in ("__exit__", "__aexit__")
    ]  # fmt: skip
    bound = [
        n for _, c in lineage(at, node.name, look) for n, _ in bound_names(c.body) if n in ("__exit__", "__aexit__")
    ]
    if len(bound) != len(exits) or any(last_name(b) in _CATCH for b in node.bases):
        return True
    return any(_gives(r.value) for e in exits for r in ast.walk(e) if isinstance(r, ast.Return))


def _gives(value: ast.expr | None) -> bool:
    return value is not None and not (isinstance(value, ast.Constant) and not value.value)


def _caught(body: Iterable[ast.AST]) -> bool:
    for s in body:
        around = any(isinstance(n, ast.Yield) for n in ast.walk(s))
        if not around:
            continue
        if isinstance(s, ast.Try):
            inside = any(isinstance(n, ast.Yield) for b in s.body for n in ast.walk(b))
            if inside and not all(any(isinstance(n, ast.Raise) for n in h.body) for h in s.handlers):
                return True
            if any(isinstance(n, ast.Return | ast.Break | ast.Continue) for f in s.finalbody for n in ast.walk(f)):
                return True
        if isinstance(s, ast.With | ast.AsyncWith) and any(last_name(i.context_expr) in _CATCH for i in s.items):
            return True
        if _caught(c for c in ast.iter_child_nodes(s) if isinstance(c, ast.stmt | ast.ExceptHandler)):
            return True
    return False


def hushed(s: ast.With | ast.AsyncWith, body: list[ast.stmt]) -> ast.stmt:
    """The body where what it raises goes nowhere."""
    quiet = ast.Call(ast.Name("suppress", ast.Load()), [ast.Name("BaseException", ast.Load())], [])
    return ast.copy_location(ast.With([ast.withitem(quiet, None)], body), s)


def defaults(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Mapping[str, ast.expr]:
    """Parameters with a default, to which no fixture is given."""
    spec = node.args
    names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
    table = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
    return {**table, **{a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None}}
