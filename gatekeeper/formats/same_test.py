"""Whether a test reads the same in two versions of its module, with all that stands beside tests there."""

from __future__ import annotations

import ast

from gatekeeper.formats import python_code

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def same_test(before: bytes, after: bytes, name: str) -> bool:
    """True where the test (`test_a`, `TestB::test_c`) and everything of the module that is no test mean the same.

    False where one of the two cannot be read.
    """
    old, new = _split(before), _split(after)
    if old is None or new is None:
        return False
    return old[1] == new[1] and old[0].get(name) is not None and old[0].get(name) == new[0].get(name)


def _split(source: bytes) -> tuple[dict[str, str], list[str]] | None:
    """({qualified name of a test: its meaning}, meanings of the rest in order)."""
    tree = python_code.parse(source.decode("utf-8", "replace"))
    try:
        return None if tree is None else _parts(tree)
    except RecursionError:
        return None


def _parts(tree: ast.Module) -> tuple[dict[str, str], list[str]]:
    tests: dict[str, str] = {}
    rest: list[str] = []
    for node in tree.body:
        if isinstance(node, _FUNCTION) and _is_test(node):
            tests[node.name] = ast.dump(node)
        elif isinstance(node, ast.ClassDef) and any(_is_test(n) for n in node.body):
            inner = [n for n in node.body if isinstance(n, _FUNCTION) and _is_test(n)]
            tests |= {f"{node.name}::{n.name}": ast.dump(n) for n in inner}
            rest += [f"class {node.name}", *map(ast.dump, (*node.bases, *node.keywords, *node.decorator_list))]
            rest += [ast.dump(n) for n in node.body if not _is_test(n)]
        else:
            rest.append(ast.dump(node))
    return tests, rest


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, _FUNCTION) and node.name.startswith("test")
