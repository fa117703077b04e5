"""What a module does, without what does nothing: docstrings, dead branches, names that nobody reads, idle statements."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterable

from gatekeeper.formats.python_code import Definition, meaning, without_docstrings


def behaviour(tree: ast.Module, used: frozenset[str] = frozenset()) -> str:
    """Text that is equal for two modules that behave alike; empty for a tree that is too deep.

    `used` are names that other modules may read, so that binding them is no idle act.
    """
    try:
        bare = without_docstrings(tree)
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
