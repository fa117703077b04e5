"""Names that statements bind: by assignment, def, class, import, loop, `with`, `except`, pattern, walrus, `del`."""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Iterable, Iterator

from gatekeeper.formats.python_code import walk

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OWN_SCOPE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def bound_names(body: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """(name, what is imported under it or "") for each binding in the scope of these statements."""
    waiting: deque[ast.AST] = deque(body)
    while waiting:
        node = waiting.popleft()
        yield from ((n, o) for n, o in _binds(node))
        if isinstance(node, _DEFINITION):
            waiting.extend(node.decorator_list)
        elif isinstance(node, _OWN_SCOPE):
            waiting.extend(n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        else:
            waiting.extend(ast.iter_child_nodes(node))


def _binds(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, _DEFINITION):
        yield node.name, ""
    elif isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id, ""
    elif isinstance(node, ast.Import):
        for alias in node.names:
            first = alias.name.split(".")[0]
            yield alias.asname or first, alias.name if alias.asname else first
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if alias.name != "*":
                yield alias.asname or alias.name, f"{'.' * node.level}{node.module or ''}.{alias.name}"
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        if node.name:
            yield node.name, ""
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest, ""


def module_bindings(tree: ast.Module) -> Counter[str]:
    """How many times a module binds each of its names, `global` in a function included; the same import again is none."""
    found = [*bound_names(tree.body)]
    found += [(n, "") for s in walk(tree) if isinstance(s, ast.Global) for n in s.names]
    imported = {(n, o) for n, o in found if o}
    return Counter([*(n for n, o in found if not o), *(n for n, _ in imported)])


def local_names(function: ast.AST) -> frozenset[str]:
    """All names that a function binds at any depth, its parameters and those of functions inside it included."""
    found = {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)}
    for node in ast.iter_child_nodes(function):
        for inner in ast.walk(node):
            found.update(n for n, _ in _binds(inner))
    return frozenset(found)


def star_imports(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(module, line) of each `from module import *`; line 10**9 for one that does not stand at the top itself."""
    straight = {id(s) for s in tree.body}
    for node in walk(tree):
        if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
            yield "." * node.level + (node.module or ""), node.lineno if id(node) in straight else 10**9
