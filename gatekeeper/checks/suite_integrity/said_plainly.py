"""Edits of a test that its ticket describes to the letter: a file that moved, blanks at the ends of lines, a wrong emptiness."""

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
_SLIGHT = frozenset({"output", "outputs", "from", "lines", "line", "tables", "table", "text", "with", "when", "test", "tests", "format", "formats", "every", "each"})  # fmt: skip
_STRIP = r"\b(?:remov|strip|trim|drop|avoid)\w*\s+(?:the\s+|all\s+|any\s+)?trailing\s+(?:white\s?space|blanks?|spaces?)\b(?P<rest>[^.;\n]*)"
_MOVE = r"\bmov(?:e|es|ed|ing)\b[^;\n]{0,150}?\bto\s+[`'\"]?"
_EMPTY = r"[`'\"]?\s+(?:was|were|is|are|stays|stayed)\s+(?:always\s+)?(?:empty|None)\b"
_DENIED = re.compile(r"\b(?:not|never|keep\w*|un-?do|revert\w*)\b|n't\b", re.IGNORECASE)
Pair = tuple[ast.expr, ast.expr]


def said_plainly(situation: Situation, path: str, name: str) -> bool:
    """All that differs in the test is what a sentence of the ticket says, and what it reads around itself is as it was."""
    old, new = situation.definition(path, name, base=True), situation.definition(path, name)
    if not isinstance(old, _FUNCTION) or not isinstance(new, _FUNCTION):
        return False
    try:
        pairs = _differences(old, new)
        if not pairs:
            return False
        good = _strips(situation, name, pairs) or _moves(situation, pairs) or _fills(situation, old, new, pairs)
    except RecursionError:
        return False
    return good and reads_the_same(situation, path, name, situation.code_change)


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


def _strips(situation: Situation, name: str, pairs: list[Pair]) -> bool:
    """Texts without the blanks at the ends of their lines, where the ticket says so of something that the test is named for."""
    texts = _texts(pairs)
    if not texts or any("\n".join(row.rstrip(" \t") for row in a.split("\n")) != b for a, b in texts):
        return False
    named = set(re.findall(r"[a-z0-9]+", name.lower()))
    for sentence in _sentences(situation):
        said = re.search(_STRIP, sentence, re.IGNORECASE)
        if said is not None and not _DENIED.search(sentence):
            words = set(re.findall(r"[a-z0-9]{4,}", said["rest"].lower())) - _SLIGHT
            if words & named:
                return True
    return False


def _moves(situation: Situation, pairs: list[Pair]) -> bool:
    """One path of a file of the code became another's, to which the ticket says that something moves, and nothing more did."""
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


def _fills(situation: Situation, old: ast.AST, new: ast.AST, pairs: list[Pair]) -> bool:
    """What the ticket says was empty, by a dotted name, is expected to be what another assertion of the test expects already."""
    replaced = {id(a): b for a, b in pairs}
    places: dict[int, str] = {}
    expected: set[str] = set()
    for node in ast.walk(old):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "assertEqual" and len(node.args) == 2:
            left, right = node.args
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            left, right = node.left, node.comparators[0]
        else:
            continue
        if id(right) in replaced:
            places[id(right)] = python_code.dotted(left, {})
        elif isinstance(right, ast.Name):
            expected.add(f"{right.id} {python_code.dotted(left, {}).rpartition('.')[2]}")
    bound = {n.id for n in ast.walk(new) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for was, now in pairs:
        asked = places.get(id(was), "").rsplit(".", 2)[-2:]
        empty = isinstance(was, ast.Dict | ast.List | ast.Tuple) and not list(ast.iter_child_nodes(was))[1:] and not ast.literal_eval(was)  # fmt: skip
        if len(asked) != 2 or not empty or not isinstance(now, ast.Name) or now.id not in bound:
            return False
        if f"{now.id} {asked[1]}" not in expected:
            return False
        wanted = re.compile(rf"(?<!\w){re.escape('.'.join(asked))}{_EMPTY}", re.IGNORECASE)
        if not any(wanted.search(s) and not _DENIED.search(s) for s in _sentences(situation)):
            return False
    return bool(pairs)
