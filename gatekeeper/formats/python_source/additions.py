"""Which tests of a changed module are new or changed, where nothing else in it is."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from gatekeeper.formats import python_code
from gatekeeper.formats.python_source.inventory import read_module


def new_or_changed(before: str | None, after: str | None) -> tuple[str, ...] | None:
    """Qualified names (`TestA::test_b`) of tests that `before` does not have, or has otherwise: body, arguments, decorators.

    None where more than tests differs, so that any test of the module may mean something else: fixtures, other functions,
    classes, statements, and imports that bind a name which the module had before or that others than these tests use. None
    too for a text that is no Python, or where one definition hides another.
    """
    old, new = read_module(before), read_module(after)
    old_tree, new_tree = python_code.parse(before), python_code.parse(after)
    if old is None or new is None or old_tree is None or new_tree is None or old.duplicates or new.duplicates:
        return None
    try:
        same = [*_rest(old_tree, set(old.tests), "")] == [*_rest(new_tree, set(new.tests), "")]
    except (RecursionError, MemoryError):
        return None
    if not same:
        return None
    changed = [
        test
        for name, test in new.tests.items()
        if (was := old.tests.get(name)) is None
        or not test.body
        or python_code.meaning(was.node) != python_code.meaning(test.node)
    ]
    if not _only_further_imports(old_tree, new_tree, [t.node for t in changed]):
        return None
    return tuple(t.name for t in changed)


def _rest(tree: ast.Module | ast.ClassDef, tests: set[str], prefix: str) -> Iterator[str]:
    """Everything but tests and imports at the top, in its order."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and prefix + node.name in tests:
            continue
        if isinstance(node, ast.Import | ast.ImportFrom) and not prefix:
            continue
        if isinstance(node, ast.ClassDef):
            yield f"class {node.name}"
            yield from (ast.dump(part) for part in (*node.bases, *node.keywords, *node.decorator_list))
            yield from _rest(node, tests, f"{prefix}{node.name}::")
            yield "end"
        else:
            yield ast.dump(node)


def _only_further_imports(old: ast.Module, new: ast.Module, tests: list[ast.AST]) -> bool:
    """The old imports are all there, and the further ones bind names that meant nothing before and that `tests` alone use.

    An import that nothing uses is there for what it does, and that reaches every test of the module.
    """
    imports = [[n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)] for tree in (old, new)]
    had, has = (Counter(ast.dump(n) for n in nodes) for nodes in imports)
    if had - has:
        return False
    further = [n for n in imports[1] if ast.dump(n) in has - had]
    bound = {(a.asname or a.name.partition(".")[0]) for n in further for a in n.names}
    nodes = [*python_code.walk(old)]
    used = {n.id for n in nodes if isinstance(n, ast.Name)} | {n.arg for n in nodes if isinstance(n, ast.arg)}
    defined = {n.name for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    future = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in further)
    needed = {n.id for t in tests for n in ast.walk(t) if isinstance(n, ast.Name)}
    return (
        not future
        and "*" not in bound
        and bound <= needed
        and not bound & (used | defined | set(python_code.imports(old)))
    )
