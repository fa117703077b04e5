"""An expectation that names a file of the code, where that file moved as it was and the expectation only follows."""

from __future__ import annotations

import ast
import re
import sys

from gatekeeper.checks.suite_integrity.around import reads_the_same
from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.checks.suite_integrity.users import bound_in, spoken
from gatekeeper.formats import python_code

_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITION = (*_FUNCTION, ast.ClassDef)
_MOST = 5_000
_MOVE = r"\bmov(?:e|es|ed|ing)\b[^;\n]{0,150}?\bto\s+[`'\"]?"
_DENIED = re.compile(r"\b(?:not|never|keep\w*|un-?do|revert\w*)\b|n't\b", re.IGNORECASE)
Pair = tuple[ast.expr, ast.expr]


def follows_a_moved_file(situation: Situation, path: str, name: str) -> bool:
    """All that differs in the test is the path of a file that moved, and what it reads around itself is as it was."""
    old, new = situation.definition(path, name, base=True), situation.definition(path, name)
    if not isinstance(old, _FUNCTION) or not isinstance(new, _FUNCTION):
        return False
    try:
        pairs = _differences(old, new)
        if not pairs or not _moves(situation, pairs):
            return False
    except RecursionError:
        return False
    return reads_the_same(situation, path, name, situation.code_change)


def _sentences(situation: Situation) -> list[str]:
    ticket = situation.evidence.ticket
    rows = (ticket.title, ticket.goal, *ticket.acceptance)
    found = [s for row in rows for s in re.split(r"(?<=[.;!?])\s|\n(?=\s*(?:[-*]|\n))", row[:15_000])]
    return [" ".join(s.split()) for s in found if len(s) < 1_000]


def _differences(old: ast.AST, new: ast.AST) -> list[Pair] | None:
    """Expressions that differ and stand at the same place; None where anything else differs. Texts that do nothing are left out."""
    if type(old) is not type(new) or isinstance(old, ast.Constant):
        if ast.dump(old) == ast.dump(new):
            return []
        return [(old, new)] if isinstance(old, ast.expr) and isinstance(new, ast.expr) else None
    found: list[Pair] = []
    for field in old._fields:
        a, b = getattr(old, field, None), getattr(new, field, None)
        if isinstance(a, list) and isinstance(b, list):
            rows = [[n for n in x if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))] for x in (a, b)]  # fmt: skip
        elif isinstance(a, ast.AST) and isinstance(b, ast.AST):
            rows = [[a], [b]]
        elif a == b or field in ("type_comment", "kind", "ctx"):
            continue
        else:
            return None
        if len(rows[0]) != len(rows[1]):
            return [(old, new)] if isinstance(old, ast.expr) and isinstance(new, ast.expr) else None
        for one, other in zip(*rows, strict=True):
            more = _differences(one, other) if isinstance(one, ast.AST) else ([] if one == other else None)
            if more is None or len(found) > _MOST:
                return None
            found += more
    return found


def _texts(pairs: list[Pair]) -> list[tuple[str, str]] | None:
    rows = [(a.value, b.value) for a, b in pairs if isinstance(a, ast.Constant) and isinstance(b, ast.Constant)]
    if len(rows) != len(pairs):
        return None
    told = [(a, b) for a, b in rows if isinstance(a, str) and isinstance(b, str)]
    return told if len(told) == len(rows) else None


def _moves(situation: Situation, pairs: list[Pair]) -> bool:
    """One path of a file of the code became another's, nothing but the move was made there, and it is the one that was asked for."""
    texts = _texts(pairs)
    if not texts or len(set(texts)) != 1:
        return False
    old, new = texts[0]
    changed = situation.changed
    if old not in changed or new not in changed or changed[new].old is not None or changed[old].new is None:
        return False
    if any(situation.kind(p) is not None or not p.endswith(".py") for p in (old, new)):
        return False
    wanted = re.compile(rf"{_MOVE}{re.escape(new)}(?![\w./-]*\w)", re.IGNORECASE)
    return any(wanted.search(s) and not _DENIED.search(s) for s in _sentences(situation)) and _only_moved(
        situation, old, new
    )


def _only_moved(situation: Situation, old: str, new: str) -> bool:
    """What the old file lost is all that the new one defines, as it was; else it imports, and starts what the old one started."""
    before, after = (python_code.parse(situation.source(old, base=base)) for base in (True, False))
    fresh = python_code.parse(situation.source(new))
    if before is None or after is None or fresh is None:
        return False
    had, kept, came = ({n.name: python_code.meaning(n) for n in t.body if isinstance(n, _DEFINITION)} for t in (before, after, fresh))  # fmt: skip
    lost = {n: m for n, m in had.items() if n not in kept}
    left = {b for n in after.body for b in bound_in(n)} | {r[3] for n in after.body for r in _taken(n)}
    known = {python_code.meaning(s) for s in before.body}
    stem = old.removesuffix("/__init__.py").removesuffix(".py").removeprefix("src/").replace("/", ".")
    homes = {stem, stem.rpartition(".")[2], ""}
    said = spoken(*(n for n in fresh.body if isinstance(n, _DEFINITION)))
    had_imports = {row for n in python_code.walk(before) for row in _taken(n)}
    for node in (n for n in python_code.walk(fresh) if isinstance(n, ast.Import | ast.ImportFrom)):
        for row in set(_taken(node)) - had_imports:
            level, module, _, bound = row
            foreign = level == 0 and module.partition(".")[0] in sys.stdlib_module_names
            if not (module in homes and isinstance(node, ast.ImportFrom) and bound in left) and not (
                foreign and bound not in said
            ):
                return False
    return bool(lost) and came == lost and all(_imports(s) or python_code.meaning(s) in known for s in fresh.body)


def _taken(node: ast.AST) -> list[tuple[int, str, str, str]]:
    """(level, module, name, name that it is bound to) of each name that an import brings."""
    if isinstance(node, ast.Import):
        return [(0, a.name, "", a.asname or a.name.partition(".")[0]) for a in node.names]
    if isinstance(node, ast.ImportFrom):
        return [(node.level, node.module or "", a.name, a.asname or a.name) for a in node.names]
    return []


def _imports(node: ast.stmt) -> bool:
    """An import, a text, or one import instead of another that fails, perhaps with a longer search path."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return True
    if isinstance(node, ast.Expr):
        called = node.value
        if isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute):
            return called.func.attr == "insert" and isinstance(called.func.value, ast.Attribute) and called.func.value.attr == "path"  # fmt: skip
        return isinstance(called, ast.Constant)
    if not isinstance(node, ast.Try) or node.orelse or node.finalbody:
        return False
    return all(getattr(h.type, "id", "") in ("ImportError", "ModuleNotFoundError") for h in node.handlers) and all(
        _imports(s) and not isinstance(s, _DEFINITION)
        for part in (node.body, *(h.body for h in node.handlers))
        for s in part
    )
