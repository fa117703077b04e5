"""The same test module under other names: what a test comes to must not depend on what it is called."""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import dataclass

from gatekeeper.formats import python_code
from gatekeeper.formats.python_source import read_module

MAX_RENAMED = 2000


@dataclass(frozen=True)
class Renamed:
    """A module whose test functions have `suffix` behind their names."""

    source: str
    names: tuple[str, ...]
    """Names of the functions that were renamed, as they were."""


def renamed(source: str, suffix: str) -> Renamed | None:
    """The module with renamed tests; None for a text that is no Python.

    A function keeps its name where anything else in the module speaks of it, and where it is more than its own affair:
    names in strings, other uses, fixtures, methods (their class may inherit them).
    """
    tree = python_code.parse(source)
    module = read_module(source)
    if tree is None or module is None:
        return None
    mentioned = _mentioned(tree)
    top = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    lines = source.split("\n")
    done: list[str] = []
    for name, test in module.tests.items():
        node = top.get(name)
        if node is None or node.lineno != test.line or mentioned[name] > 1 or len(done) >= MAX_RENAMED:
            continue
        at = node.lineno - 1
        changed, count = re.subn(rf"(\bdef\s+{re.escape(name)})(?=\s*\()", rf"\g<1>{suffix}", lines[at], count=1)
        if count:
            lines[at] = changed
            done.append(name)
    text = "\n".join(lines)
    # Lines of the file and lines of the tree can differ (form feeds, continuations): then nothing is renamed.
    if python_code.parse(text) is None:
        return Renamed(source, ())
    return Renamed(text, tuple(done))


def _mentioned(tree: ast.Module) -> Counter[str]:
    """How often each word is a name, an attribute, or a part of a string; a definition counts as one."""
    seen: Counter[str] = Counter()
    for node in python_code.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            seen[node.name] += 1
        elif isinstance(node, ast.Name):
            seen[node.id] += 1
        elif isinstance(node, ast.Attribute):
            seen[node.attr] += 1
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            seen.update(re.findall(r"\w+", node.value[:100_000]))
    return seen
