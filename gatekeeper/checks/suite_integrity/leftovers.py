"""What a module of tests still holds after tests left it: as it was, but for what they and the names that are gone need."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

from gatekeeper.checks.suite_integrity.users import bound_by, spoken
from gatekeeper.formats import python_code

Import = tuple[str, int, str, str]
"""(module, level, name, name that it is bound to)."""
_REACHES_ALL = re.compile(
    r"set_?up.*|tear_?down.*|pytest_.*|async[sS]et[uU]p|asyncTearDown|load_tests|pytestmark|__\w+__"
)
_WORD = re.compile(r"\w+")


def only_left(old: ast.Module, new: ast.Module, names: set[str]) -> bool:
    """`new` is `old` without some tests, uses of `names` and imports that nothing needs any more; nothing else differs.

    Tests that left are judged elsewhere, one by one. Nothing was added or moved, and what stays keeps its arguments,
    defaults, decorators and annotations.
    """
    try:
        had, has = _imports(old), _imports(new)
        said = _said(new)
        if has - had or any(row[3] in said or row[2] == "*" or row[0] == "__future__" for row in had - has):
            return False
        return _without(old.body, new.body, names | bound_by(old, names), said)
    except (RecursionError, MemoryError):
        return False


def _imports(tree: ast.Module) -> Counter[Import]:
    rows: Counter[Import] = Counter()
    for node in tree.body:
        if isinstance(node, ast.Import):
            rows.update((a.name, 0, "", a.asname or a.name.partition(".")[0]) for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            rows.update((node.module or "", node.level, a.name, a.asname or a.name) for a in node.names)
    return rows


def _said(tree: ast.Module) -> set[str]:
    """Every name that the module uses, words of its strings included: fixtures are asked for by strings as well."""
    words = {w for text, _ in python_code.strings(tree) for w in _WORD.findall(text)}
    return spoken(*(n for n in tree.body if not isinstance(n, ast.Import | ast.ImportFrom))) | words


def _without(old: Sequence[ast.stmt], new: Sequence[ast.stmt], gone: set[str], said: set[str]) -> bool:
    """The statements of `new` are those of `old` in their order, and each that is missing may go."""
    rest = [n for n in new if not _aside(n)]
    at = 0
    for node in old:
        if _aside(node):
            continue
        here = rest[at] if at < len(rest) else None
        if here is not None and _same(node, here, gone, said):
            at += 1
        elif not _may_go(node, gone, said):
            return False
    return at == len(rest)


def _aside(node: ast.stmt) -> bool:
    """Imports, which are compared by themselves, and texts that do nothing."""
    return isinstance(node, ast.Import | ast.ImportFrom) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def _same(node: ast.stmt, here: ast.stmt, gone: set[str], said: set[str]) -> bool:
    if python_code.meaning(node) == python_code.meaning(here):
        return True
    if not isinstance(node, ast.ClassDef) or not isinstance(here, ast.ClassDef) or node.name != here.name:
        return False
    heads = [[ast.dump(p) for p in (*c.bases, *c.keywords, *c.decorator_list)] for c in (node, here)]
    return heads[0] == heads[1] and _without(node.body, here.body, gone, said)


def _may_go(node: ast.stmt, gone: set[str], said: set[str]) -> bool:
    """A test, or a use of what is gone that nothing left asks for and that is not there for all tests."""
    if isinstance(node, ast.ClassDef):
        return node.name not in said and bool(spoken(node) & gone)
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name in said:
        return False
    if _REACHES_ALL.fullmatch(node.name) or "autouse" in spoken(*node.decorator_list):
        return False
    return node.name.startswith("test") or bool(spoken(node) & gone)
