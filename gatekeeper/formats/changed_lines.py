"""Lines of Python code that a change altered, for following tests there; and whether that can be followed at all."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable

from gatekeeper.domain.change import Change
from gatekeeper.domain.tree import EXECUTABLE, REGULAR, Tree, text
from gatekeeper.formats import python_code

MAX_LINES = 5_000
MAX_TEXT = 300_000
_TEXTS = (".md", ".rst", ".txt", ".adoc", ".pyi", ".png", ".svg")


def changed_code(
    change: Change, base: Tree, merged: Tree, leave_out: Iterable[str]
) -> tuple[tuple[str, tuple[int, ...]], ...] | None:
    """((path, lines of the merge result within functions), ...), nearest lines where something was only taken out.

    `leave_out` are paths that are not code (tests). None where the change reaches further than single lines can tell:
    what runs on import, other languages and data, deleted files, too much.
    """
    found: list[tuple[str, tuple[int, ...]]] = []
    skipped = frozenset(leave_out)
    for path in change.paths:
        if path.path in skipped or path.path.lower().endswith(_TEXTS):
            continue
        if path.new is None or path.new.mode not in (REGULAR, EXECUTABLE) or not path.path.endswith(".py"):
            return None
        lines = _lines(text(base, path.path) or "", text(merged, path.path) or "")
        if lines is None:
            return None
        if lines:
            found.append((path.path, lines))
    return tuple(found) if sum(len(n) for _, n in found) <= MAX_LINES else None


def _lines(before: str, after: str) -> tuple[int, ...] | None:
    if len(before) > MAX_TEXT or len(after) > MAX_TEXT:
        return None
    tree = python_code.parse(after)
    if tree is None:
        return None
    old, new = before.splitlines(), after.splitlines()
    touched: set[int] = set()
    for kind, _, _, first, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "delete":
            touched |= {max(1, first), min(len(new), first + 1)}
        elif kind != "equal":
            touched |= set(range(first + 1, last + 1))
    touched = {
        n for n in touched if 0 < n <= len(new) and new[n - 1].strip() and not new[n - 1].lstrip().startswith("#")
    }
    inside: set[int] = set()
    named: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
            inside |= set(body)
            if not touched.isdisjoint(range(node.lineno, node.body[0].lineno)):
                # A changed signature is felt wherever the function is called.
                touched |= set(body)
                named |= set(range(node.lineno, node.body[0].lineno))
    if touched - inside - named:
        return None
    return tuple(sorted(touched & inside))
