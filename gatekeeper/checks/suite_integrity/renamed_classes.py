"""Classes of tests that got another name: tests that they inherit are told by nothing but their ids."""

from __future__ import annotations

import ast
from collections import Counter

from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.domain.testrun import Outcome
from gatekeeper.formats import python_code

_MUTATORS = frozenset({
    "append", "extend", "insert", "update", "setdefault", "pop", "popitem", "remove", "clear", "add", "discard", "sort", "reverse",
})  # fmt: skip
_BINDERS = frozenset({"setattr", "delattr", "globals", "vars", "exec", "eval", "type", "patch"})


def renamed_class(situation: Situation, path: str, name: str, ids: list[str]) -> bool:
    """Another class of the module has what this one had, with new tests at most, on the same bases, and its tests of these ids pass.

    The target's own tests of these ids must not fail on the change's code: what is merely called otherwise can not.
    """
    owner, _, rest = name.partition("::")
    merged, restored = situation.merged, situation.restored
    if not rest or merged is None or restored is None:
        return False
    if any(not (seen := restored.outcomes(i)) or any(seen[o] for o in BAD) for i in ids):
        return False
    before, after = _classes(situation, path, base=True), _classes(situation, path, base=False)
    old = before.get(owner)
    if old is None or owner in after:
        return False
    known = situation.test_names | {n.removeprefix(f"{owner}::") for p, n in restored.functions if p == path}
    heirs = [n for n, new in after.items() if n not in before and _holds(new, old, known)]
    return len(heirs) == 1 and all(
        set(merged.outcomes(i.replace(f"{path}::{owner}::", f"{path}::{heirs[0]}::", 1))) == {Outcome.PASSED}
        for i in ids
    )


def _classes(situation: Situation, path: str, *, base: bool) -> dict[str, ast.ClassDef]:
    tree = python_code.parse(situation.source(path, base=base))
    return {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)} if tree is not None else {}


def _holds(new: ast.ClassDef, old: ast.ClassDef, known: frozenset[str]) -> bool:
    """The same bases, keywords and decorators, and the members of the old class as they were; what was added is new tests."""
    frames = [[ast.dump(n) for n in (*c.bases, *c.keywords, *c.decorator_list)] for c in (old, new)]
    if frames[0] != frames[1]:
        return False
    had = Counter(python_code.meaning(s) for s in old.body)
    added = list(new.body)
    for statement in new.body:
        if had[said := python_code.meaning(statement)] > 0:
            had[said] -= 1
            added.remove(statement)
    return not had.total() and all(_plain_test(s, known) for s in added)


def _plain_test(node: ast.stmt, known: frozenset[str]) -> bool:
    """A test whose name no test of the target ever says, so that it stands in nobody's way, and that acts only when it runs."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_") or node.name in known:
        return False
    given = node.args
    notes = [a for a in ast.walk(given) if isinstance(a, ast.arg) and a.annotation is not None]
    quiet = node.returns is None or isinstance(node.returns, ast.Constant)
    alone = [a.arg for a in given.args] == ["self"] and not (given.vararg or given.kwarg or given.kwonlyargs)
    return quiet and alone and not (node.decorator_list or notes or given.defaults) and not _reaches_out(node)


def _reaches_out(node: ast.FunctionDef) -> bool:
    """It binds or changes something that is not its own: an attribute, a part of what it did not make, or a name by other means."""
    made = _made(node)
    for one in ast.walk(node):
        if isinstance(one, ast.Global | ast.Nonlocal | ast.Attribute) and not isinstance(
            getattr(one, "ctx", None), ast.Load
        ):
            return True
        if isinstance(one, ast.Subscript) and not isinstance(one.ctx, ast.Load) and _root(one) not in made:
            return True
        if isinstance(one, ast.Name) and one.id in _BINDERS:
            return True
        if isinstance(one, ast.Attribute) and one.attr.startswith("__"):
            return True
        if isinstance(one, ast.Call) and getattr(one.func, "attr", "") in _MUTATORS and _root(one.func) not in made:
            return True
    return False


def _made(node: ast.FunctionDef) -> set[str]:
    """Names that the test binds to nothing but what it displays, or what a class named like one or one of its own makes."""
    rows: dict[str, list[ast.AST | None]] = {}
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and isinstance(one.targets[0], ast.Name):
            rows.setdefault(one.targets[0].id, []).append(one.value)
    bound = Counter(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    return {n for n, values in rows.items() if len(values) == bound[n] and all(map(_makes, values))}


def _makes(value: ast.AST | None) -> bool:
    if isinstance(value, ast.Dict | ast.List | ast.Set | ast.DictComp | ast.ListComp | ast.SetComp):
        return True
    called = getattr(value.func, "attr", getattr(value.func, "id", "")) if isinstance(value, ast.Call) else ""
    return called[:1].isupper() or called in ("dict", "list", "set", "bytearray")


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return getattr(node, "id", "")
