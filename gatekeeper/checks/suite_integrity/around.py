"""What a changed test reads besides itself: it must say the same as before, or follow the code as the test does."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator

from gatekeeper.checks.suite_integrity.departed import changed_support
from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.checks.suite_integrity.users import set_up
from gatekeeper.formats import python_code
from gatekeeper.formats.python_following import CodeChange, follows

_IMPORTS = (ast.Import, ast.ImportFrom)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


def reads_the_same(situation: Situation, path: str, name: str, change: CodeChange) -> bool:
    """Constants, helpers, fixtures and set-up that a test of the target reaches are as they were, or follow the code.

    So are the statements of its module that do something, and the changed files of support that it may be set up from.
    """
    if not all(_follows_as_a_whole(situation, other, change) for other in changed_support(situation, path)):
        return False
    old, new = (python_code.parse(situation.source(path, base=base)) for base in (True, False))
    tests = tuple(situation.definition(path, name, base=base) for base in (True, False))
    if old is None or new is None or None in tests:
        return False
    return _module(old, new, tests, change) and ("::" not in name or _class(old, new, name.partition("::")[0], change))


def _follows_as_a_whole(situation: Situation, path: str, change: CodeChange) -> bool:
    old, new = (python_code.parse(situation.source(path, base=base)) for base in (True, False))
    # A new one is loaded by its name alone, or stands in front of another; what cannot be read cannot be compared.
    return old is not None and new is not None and _all_carried(_rest(old.body), _rest(new.body), change)


def _rest(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements without imports and docstrings."""
    return [n for n in body if not isinstance(n, _IMPORTS) and not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))]  # fmt: skip


def _all_carried(old: list[ast.stmt], new: list[ast.stmt], change: CodeChange) -> bool:
    return len(old) == len(new) and all(_carried(o, n, change) for o, n in zip(old, new, strict=True))


def _carried(old: ast.stmt, new: ast.stmt, change: CodeChange) -> bool:
    if python_code.meaning(old) == python_code.meaning(new):
        return True
    return follows(_framed(old), _framed(new), change)


def _framed(node: ast.stmt) -> ast.stmt:
    """A statement as the body of a function, since functions are what can be compared."""
    if isinstance(node, _DEFINITIONS):
        return node
    frame = ast.parse("def _():\n    pass").body[0]
    assert isinstance(frame, ast.FunctionDef)
    frame.body = [node]
    return frame


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, _IMPORTS):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    if isinstance(node, _DEFINITIONS):
        return {node.name}
    return {n.id for n in python_code.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _read(*nodes: ast.AST) -> set[str]:
    """Names that are read, parameters (they are fixtures), and words of strings (fixtures may be asked for by name)."""
    found: set[str] = set()
    for node in nodes:
        for one in python_code.walk(node):
            if isinstance(one, ast.Name):
                found.add(one.id)
            elif isinstance(one, ast.arg):
                found.add(one.arg)
            elif isinstance(one, ast.Constant) and isinstance(one.value, str) and one.value.isidentifier():
                found.add(one.value)
    return found


def _binders(tree: ast.Module) -> dict[str, list[ast.stmt]]:
    table: dict[str, list[ast.stmt]] = {}
    for node in tree.body:
        for name in _bound(node):
            table.setdefault(name, []).append(node)
    return table


def _module(old: ast.Module, new: ast.Module, tests: tuple[object, ...], change: CodeChange) -> bool:
    if not _all_carried([*filter(_acts, old.body)], [*filter(_acts, new.body)], change):
        return False
    if not _all_carried([*filter(set_up, old.body)], [*filter(set_up, new.body)], change):
        return False
    was, now = _binders(old), _binders(new)
    if not _imports_alike(old, new, change):
        return False
    test, edited = (t for t in tests if isinstance(t, ast.AST))
    waiting, seen = sorted(_read(test, *filter(set_up, old.body))), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        before, after = was.get(name, []), now.get(name, [])
        if all(isinstance(n, _IMPORTS) for n in before):
            if not all(isinstance(n, _IMPORTS) for n in after):
                return False
        elif not _all_carried(before, after, change):
            return False
        waiting += sorted(_read(*(n for n in before if not isinstance(n, _IMPORTS))))
    fresh = _read(edited) - seen
    return all(isinstance(n, _IMPORTS) or (name in was and _all_carried(was[name], now[name], change)) for name in fresh for n in now.get(name, []))  # fmt: skip


def _imports_alike(old: ast.Module, new: ast.Module, change: CodeChange) -> bool:
    """What is imported anew comes from where the module imported before; or is of the standard library, has its own name
    there, and takes no name that came into the code.
    """
    had = {ast.dump(n) for n in old.body if isinstance(n, _IMPORTS)}
    places = set(_origins(old.body))
    for node in new.body:
        if not isinstance(node, _IMPORTS) or ast.dump(node) in had:
            continue
        if isinstance(node, ast.Import) and any(a.asname for a in node.names):
            return False
        for level, module in _origins([node]):
            foreign = level == 0 and (module or "").split(".")[0] in sys.stdlib_module_names
            if (level, module) in places:
                continue
            if not foreign or any(a.asname for a in node.names) or _bound(node) & change.new:
                return False
    return True


def _origins(rows: Iterable[ast.stmt]) -> Iterator[tuple[int, str | None]]:
    """(level, module) of every import."""
    for row in rows:
        if isinstance(row, ast.ImportFrom):
            yield row.level, row.module
        elif isinstance(row, ast.Import):
            yield from ((0, a.name) for a in row.names)


def _acts(node: ast.stmt) -> bool:
    """A statement of a module that does more than to bind a name: it may reach what the tests see."""
    if isinstance(node, _DEFINITIONS + _IMPORTS):
        return False
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return not targets or not all(isinstance(t, ast.Name) for t in targets)


def _class(old: ast.Module, new: ast.Module, name: str, change: CodeChange) -> bool:
    """Bases, decorators and whatever in the class is no test."""
    pair = [next((n for n in t.body if isinstance(n, ast.ClassDef) and n.name == name), None) for t in (old, new)]
    before, after = pair
    if before is None or after is None:
        return before is after
    heads = [[ast.dump(n) for n in (*c.bases, *c.keywords, *c.decorator_list)] for c in (before, after)]
    members = [[m for m in _rest(c.body) if not isinstance(m, _FUNCTIONS) or not m.name.startswith("test")] for c in (before, after)]  # fmt: skip
    return heads[0] == heads[1] and _all_carried(members[0], members[1], change)
