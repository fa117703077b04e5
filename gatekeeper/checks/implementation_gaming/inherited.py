"""Methods that a class no longer overrides: they are still there, as its base gives them.

To take an override away is the same as to write `return super().method(...)` into it: a change of what it does, which
the tests judge, and no feature that is gone. It holds where the base stands in the same module, had the method before
and takes the same.
"""

from __future__ import annotations

import ast

from gatekeeper.formats import python_code
from gatekeeper.formats.python_code import Definition, Function

_MOST = 20
"""Classes above one; a longer line is made up."""


def inherited(before: ast.Module, after: ast.Module, name: str, node: Definition) -> Function | None:
    """The definition that now answers to the qualified name of a method that is gone; None where that is not certain."""
    owner, _, method = name.rpartition(".")
    if not owner or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    old, new = _from_base(before, owner, method), _from_base(after, owner, method)
    if old is None or new is None or _way_to_call(new) != _way_to_call(node) or _way_to_call(old) != _way_to_call(node):
        return None
    return new


def _from_base(tree: ast.Module, owner: str, method: str) -> Function | None:
    """The method as the bases of a class give it, in the order in which Python asks them."""
    known = dict(python_code.definitions(tree))
    # A name that is bound twice may stand for another class than the one that is read here.
    bound = [s.name for s in tree.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    bound += [n.id for n in python_code.walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    bound += python_code.imports(tree)
    at = known.get(owner)
    for _ in range(_MOST):
        if not isinstance(at, ast.ClassDef) or len(at.bases) != 1 or at.keywords or at.decorator_list:
            return None
        base = at.bases[0]
        if not isinstance(base, ast.Name) or bound.count(base.id) != 1:
            return None
        at = known.get(base.id)
        if not isinstance(at, ast.ClassDef):
            return None
        members = [s for s in at.body if getattr(s, "name", "") == method]
        found = members[0] if len(members) == 1 else None
        if isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
            return found
        if members or any(isinstance(n, ast.Name) and n.id == method for s in at.body for n in ast.walk(s)):
            return None
    return None


def _way_to_call(node: Function) -> str:
    """Parameters by name, kind and default, decorators, and whether it is awaited; annotations say nothing of it."""
    given = node.args
    names = [[a.arg for a in part] for part in (given.posonlyargs, given.args, given.kwonlyargs)]
    defaults = [ast.dump(d) if d else None for d in (*given.defaults, None, *given.kw_defaults)]
    stars = [a.arg if a else None for a in (given.vararg, given.kwarg)]
    return repr((type(node).__name__, names, defaults, stars, [ast.dump(d) for d in node.decorator_list]))
