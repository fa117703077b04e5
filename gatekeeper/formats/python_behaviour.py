"""What a module does, without what does nothing: docstrings, dead branches, names that nobody reads, idle statements,
how local variables are called, switches that nobody turns.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from gatekeeper.formats.python_code import Definition, meaning, without_docstrings


def behaviour(tree: ast.Module, used: frozenset[str] = frozenset()) -> str:
    """Text that is equal for two modules that behave alike; empty for a tree that is too deep.

    `used` are names that other modules may read, so that binding them is no idle act.
    """
    try:
        bare = _locals_numbered(_switches_set(without_docstrings(tree), used))
        read = {n.id for n in ast.walk(bare) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}
        read |= {n.attr for n in ast.walk(bare) if isinstance(n, ast.Attribute)}
        read |= {n.value for n in ast.walk(bare) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        for node in ast.walk(bare):
            for name in ("body", "orelse", "finalbody"):
                body = getattr(node, name, None)
                if isinstance(body, list):
                    setattr(node, name, [s for s in body if not _idle(s, read | used)])
        return meaning(bare)
    except (RecursionError, MemoryError):
        return ""


_SEES_LOCALS = {"locals", "vars", "eval", "exec", "dir", "globals"}


def _switches_set(tree: ast.AST, used: frozenset[str]) -> ast.AST:
    """Branches on a private name of the module that is bound once, to a constant, are decided."""
    bound: dict[str, list[ast.AST]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            bound.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            for name in node.names:
                bound.setdefault(name, []).append(node)
        elif isinstance(node, ast.arg):
            bound.setdefault(node.arg, []).append(node)
    switches = {}
    for statement in getattr(tree, "body", []):
        target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        if isinstance(statement, ast.AnnAssign):
            target = statement.target
        value = getattr(statement, "value", None)
        if (
            isinstance(target, ast.Name)
            and isinstance(value, ast.Constant)
            and target.id.startswith("_")
            and len(bound[target.id]) == 1
            and target.id not in used
        ):
            switches[target.id] = bool(value.value)
    return _Decided(switches).visit(tree) if switches else tree


class _Decided(ast.NodeTransformer):
    def __init__(self, switches: dict[str, bool]) -> None:
        self._switches = switches

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        test, turned = node.test, False
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test, turned = test.operand, not turned
        if not isinstance(test, ast.Name) or test.id not in self._switches:
            return node
        taken = node.body if self._switches[test.id] is not turned else node.orelse
        return taken or ast.Pass()


def _locals_numbered(tree: ast.AST) -> ast.AST:
    """Local variables of functions by the order in which they come; parameters keep their names, which callers use."""
    for function in list(_outermost(tree)):
        names = [n for n in ast.walk(function) if isinstance(n, ast.Name)]
        kept = {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)}
        for node in ast.walk(function):
            if isinstance(node, ast.Global | ast.Nonlocal):
                kept |= set(node.names)
            elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                kept.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
                kept |= {a.asname or a.name.split(".")[0] for a in getattr(node, "names", [])} | {
                    getattr(node, "name", None) or ""
                }
        if any(n.id in _SEES_LOCALS for n in names) or any(isinstance(n, ast.ClassDef) for n in ast.walk(function)):
            continue
        stored = {n.id for n in names if isinstance(n.ctx, ast.Store)} - kept
        numbers: dict[str, str] = {}
        for name in sorted((n for n in names if n.id in stored), key=lambda n: (n.lineno, n.col_offset)):
            name.id = numbers.setdefault(name.id, f"local {len(numbers)}")
    return tree


def _outermost(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child
        else:
            yield from _outermost(child)


def _idle(node: ast.AST, read: frozenset[str] | set[str]) -> bool:
    if isinstance(node, ast.Pass):
        return True
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Constant) and not node.test.value and not node.orelse
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        unread = all(isinstance(t, ast.Name) and t.id not in read and not t.id.startswith("__") for t in targets)
        return isinstance(node, ast.Assign) and unread and isinstance(node.value, ast.Constant | ast.Name)
    if isinstance(node, ast.Import | ast.ImportFrom):
        modules = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        plain = all(m.split(".")[0] in sys.stdlib_module_names for m in modules) and modules != ["__future__"]
        return plain and all((a.asname or a.name.split(".")[0]) not in read and a.name != "*" for a in node.names)
    return False


def likeness(old: Definition, new: Definition) -> float:
    """Share (0 to 1) of what two definitions hold in common: names, attributes, constants and kinds of statements."""
    a, b = _material(old.body), _material(new.body)
    return sum((a & b).values()) / max(sum(a.values()), sum(b.values()), 1)


def _material(body: Iterable[ast.stmt]) -> Counter[str]:
    found: Counter[str] = Counter()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                found[node.id] += 1
            elif isinstance(node, ast.Attribute):
                found[f".{node.attr}"] += 1
            elif isinstance(node, ast.Constant):
                found[repr(node.value)[:200]] += 1
            elif isinstance(node, ast.stmt | ast.operator | ast.cmpop):
                found[type(node).__name__] += 1
    return found
