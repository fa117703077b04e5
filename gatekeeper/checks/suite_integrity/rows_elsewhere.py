"""Parameter sets that do not stand at the test itself: named in a module, at a class, for a whole module, in a fixture."""

from __future__ import annotations

import ast
import posixpath
from collections import Counter
from collections.abc import Iterator

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.formats import python_code

_MOST = 5_000
_DEPTH = 5
Row = tuple[str, ...]
"""The values of one parameter set, canonical."""


def exchanged(situation: Situation, path: str, old: str, new: str) -> bool:
    """A set that stands in the source is gone and no other says otherwise of the same first value.

    False as well where the sets can not be read: what they hold, nobody can tell then.
    """
    was, now = (rows_of(situation, path, name, base=base) for name, base in ((old, True), (new, False)))
    if was is None or now is None:
        return False
    left = list((Counter(now) - Counter(was)).elements())
    lost = list((Counter(was) - Counter(now)).elements())
    if len(lost) > _MOST // 10:
        return False
    for row in lost:
        heir = next((n for n in left if len(n) == len(row) > 1 and n[0] == row[0]), None)
        if heir is None:
            return True
        left.remove(heir)
    return False


def rows_of(situation: Situation, path: str, name: str, *, base: bool) -> list[Row] | None:
    """All parameter sets that reach a test, wherever its module says them; None where one can not be read."""
    tree = python_code.parse(situation.source(path, base=base))
    if tree is None:
        return None
    body, marks = tree.body, []
    arguments: set[str] = set()
    for part in name.split("::"):
        marks += _marks(body)
        test = next((n for n in reversed(body) if getattr(n, "name", "") == part), None)
        if not isinstance(test, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        marks += test.decorator_list
        body = test.body
        arguments = set() if isinstance(test, ast.ClassDef) else {a.arg for a in test.args.args}
    found: list[Row] = []
    sets = [*(s for m in marks for s in _sets(m, "parametrize")), *_fixtures(tree, arguments)]
    for values in sets:
        rows = _read(situation, path, tree, values, base, 0)
        if rows is None or len(found) + len(rows) > _MOST:
            return None
        found += rows
    return found or None


def _marks(body: list[ast.stmt]) -> list[ast.expr]:
    """What `pytestmark` holds in a module or class."""
    return [
        s.value
        for s in body
        if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in s.targets)
    ]


def _sets(mark: ast.expr, called: str) -> Iterator[ast.expr]:
    """The values given to a mark, or to each of a list of marks."""
    if isinstance(mark, ast.List | ast.Tuple):
        for one in mark.elts:
            yield from _sets(one, called)
    elif isinstance(mark, ast.Call) and getattr(mark.func, "attr", getattr(mark.func, "id", "")) == called:
        keyword = {"parametrize": "argvalues", "fixture": "params"}[called]
        given = next((k.value for k in mark.keywords if k.arg == keyword), None)
        if given is None and called == "parametrize" and len(mark.args) > 1:
            given = mark.args[1]
        if given is not None:
            yield given


def _fixtures(tree: ast.Module, arguments: set[str]) -> list[ast.expr]:
    return [
        values
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in arguments
        for mark in node.decorator_list
        for values in _sets(mark, "fixture")
    ]


def _read(
    situation: Situation, path: str, tree: ast.Module, values: ast.expr, base: bool, depth: int
) -> list[Row] | None:
    """The rows of one expression: a list as it stands, or under a name of this module or of one it imports."""
    if isinstance(values, ast.List | ast.Tuple | ast.Set):
        if any(isinstance(v, ast.Starred) for v in values.elts):
            return None
        return [_row(v) for v in values.elts]
    if depth >= _DEPTH:
        return None
    name = values.id if isinstance(values, ast.Name) else ""
    if name:
        said = [s for s in tree.body if isinstance(s, ast.Assign | ast.AnnAssign | ast.AugAssign) and name in _bound(s)]
        if len(said) == 1 and not isinstance(said[0], ast.AugAssign) and said[0].value is not None:
            return _read(situation, path, tree, said[0].value, base, depth + 1)
        if said:
            return None
    origin = python_code.dotted(values, python_code.imports(tree)) if depth < _DEPTH else ""
    module, _, last = origin.rpartition(".")
    home = f"{module.strip('.').replace('.', '/')}.py"
    for place in dict.fromkeys((posixpath.normpath(posixpath.join(posixpath.dirname(path), home)), home)):
        other = python_code.parse(situation.source(place, base=base)) if module.strip(".") and last else None
        if other is not None:
            return _read(situation, place, other, ast.Name(last, ast.Load()), base, depth + 1)
    return None


def _bound(statement: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {t.id for t in targets if isinstance(t, ast.Name)}


def _row(node: ast.expr) -> Row:
    """The values of a parameter set without its id and marks."""
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) == "param":
        parts = node.args
        node = parts[0] if len(parts) == 1 else node
        if len(parts) > 1:
            return tuple(map(ast.dump, parts))
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(map(ast.dump, node.elts))
    return (ast.dump(node),)
