"""Whether a test differs from its older version only by what the code's own source says anew: a name, a message, an entry.

A function renamed in the code and in its tests, a message reworded in both, a name added to `__all__` and to the list
that a test holds: such an edit explains itself, since the new words stand in the code as literally as in the test.
Numbers never do: a changed rate in code and test is a decision. Statements may be added to a test, never taken away.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from gatekeeper.formats import python_code
from gatekeeper.formats.python_spelling import plain
from gatekeeper.records import dataclass, field

_WORD = re.compile(r"[^\W\d_]\w*|\d[\w.]*|[^\w\s]")
_LEAVES = (ast.Return, ast.Raise, ast.Try, ast.If, ast.Match, ast.While, ast.Delete, ast.Global, ast.Nonlocal)
"""Statements that may keep later ones from running: none may be added."""
_SKIPPING = frozenset({"skip", "skipTest", "xfail", "exit", "_exit", "importorskip", "suppress", "patch", "setattr"})
_MAX_STATEMENTS = 2000


@dataclass(frozen=True)
class CodeChange:
    """Words that came into and went out of the code: of its strings, and names that it defines."""

    added: Counter[str] = field(default_factory=Counter)
    removed: Counter[str] = field(default_factory=Counter)
    gone: frozenset[str] = frozenset()
    """Names that the changed code defined and defines no more."""
    new: frozenset[str] = frozenset()
    """Names that it defines now and did not before."""
    left: frozenset[str] = frozenset()
    """Dotted names that it uses less than before."""
    taken: frozenset[str] = frozenset()
    """Dotted names that it uses more than before."""


def code_change(pairs: Iterable[tuple[str | None, str | None]]) -> CodeChange:
    """From (source before, source after) of every changed module of the code, None where there is none."""
    before, after = Counter[str](), Counter[str]()
    old_names, new_names = set[str](), set[str]()
    old_uses, new_uses = Counter[str](), Counter[str]()
    for old, new in pairs:
        for source, words, names, uses in ((old, before, old_names, old_uses), (new, after, new_names, new_uses)):
            tree = python_code.parse(source)
            if tree is not None:
                words.update(_told(tree))
                names |= set(_defined(tree))
                uses.update(d for n in python_code.walk(tree) if (d := _dotted(n)))
    return CodeChange(
        after - before, before - after, frozenset(old_names - new_names), frozenset(new_names - old_names),
        frozenset(old_uses - new_uses), frozenset(new_uses - old_uses),
    )  # fmt: skip


def _dotted(node: object) -> str:
    """`a.b.c` of a name or attributes of one; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _told(tree: ast.AST) -> Iterator[str]:
    """Words of all strings; docstrings tell nobody anything at run time."""
    for text, _ in python_code.strings(tree):
        yield from _WORD.findall(text[:20_000])
    for node in python_code.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for part in node.values:
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield from _WORD.findall(part.value[:20_000])


def _defined(tree: ast.AST) -> Iterator[str]:
    for node in python_code.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).rsplit(".", 1)[-1]
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from node.module.split(".")


def follows(old: ast.AST, new: ast.AST, change: CodeChange) -> bool:
    """True where `new` is `old` with the code's own changes carried over, and perhaps more said."""
    try:
        walk = _Walk(change)
        return walk.same(_plain(old), _plain(new)) and walk.consistent()
    except RecursionError:
        return False


def _plain(node: ast.AST) -> ast.AST:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node
    spelled = plain(ast.Module([node], []))
    return spelled.body[0]


class _Walk:
    def __init__(self, change: CodeChange) -> None:
        self.change = change
        self.renamed: dict[str, str] = {}
        self.back: dict[str, str] = {}

    def consistent(self) -> bool:
        return all(self.back[new] == old for old, new in self.renamed.items())

    def same(self, old: object, new: object) -> bool:
        was, now = _dotted(old), _dotted(new)
        if (
            was
            and now
            and was != now
            and was in self.change.left
            and now in self.change.taken
            and now.rsplit(".", 1)[-1] in self.change.new
        ):
            return True  # the code itself now uses this new name where it used the other
        if isinstance(old, ast.Constant) and isinstance(new, ast.Constant):
            return self._constants(old.value, new.value)
        if isinstance(old, ast.List | ast.Tuple | ast.Set) and type(old) is type(new):
            return self._elements(old.elts, new.elts)
        if isinstance(old, ast.Dict) and isinstance(new, ast.Dict):
            pairs: list[list[ast.expr]] = [
                [ast.Tuple([k or ast.Constant(None), v], ast.Load()) for k, v in zip(d.keys, d.values, strict=True)] for d in (old, new)
            ]  # fmt: skip
            return self._elements(*pairs)
        if isinstance(old, ast.AST) and isinstance(new, ast.AST):
            if type(old) is not type(new):
                return False
            for name in old._fields:
                a, b = getattr(old, name, None), getattr(new, name, None)
                if name in ("body", "orelse", "finalbody") and isinstance(a, list) and isinstance(b, list):
                    good = self._statements(a, b)
                elif name in ("id", "attr", "arg", "name", "asname", "module") and a != b:
                    good = self._names(a, b)
                elif name in ("ctx", "type_comment", "kind", "lineno"):
                    continue
                else:
                    good = self.same(a, b)
                if not good:
                    return False
            return True
        if isinstance(old, list) and isinstance(new, list):
            return len(old) == len(new) and all(self.same(a, b) for a, b in zip(old, new, strict=True))
        return bool(old == new)

    def _statements(self, old: list[ast.stmt], new: list[ast.stmt]) -> bool:
        """Every old statement is there, in order; what came between runs and lets the others run."""
        if len(old) > _MAX_STATEMENTS or len(new) > _MAX_STATEMENTS:
            return False
        at = 0
        for one in old:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                continue
            while at < len(new):
                kept = (dict(self.renamed), dict(self.back))
                found = self.same(one, new[at])
                at += 1
                if found:
                    break
                self.renamed, self.back = kept
                if not _harmless(new[at - 1]):
                    return False
            else:
                return False
        return all(map(_harmless, new[at:]))

    def _elements(self, old: list[ast.expr], new: list[ast.expr]) -> bool:
        """The same entries, or these and more, where the code has the new ones' words anew."""
        at = 0
        for one in old:
            while at < len(new):
                kept = (dict(self.renamed), dict(self.back))
                found = self.same(one, new[at])
                at += 1
                if found:
                    break
                self.renamed, self.back = kept
                if not self._told(new[at - 1]):
                    return False
            else:
                return False
        return all(map(self._told, new[at:]))

    def _told(self, node: ast.expr) -> bool:
        """The code speaks of this entry for the first time."""
        words = [w for n in ast.walk(node) for w in _words_of(n)]
        fresh = [w for w in words if w in self.change.added or w in self.change.new]
        return bool(fresh) and any(re.match(r"[^\W\d_]", w) for w in fresh)

    def _constants(self, old: object, new: object) -> bool:
        if type(old) is type(new) and old == new:
            return True
        if not isinstance(old, str) or not isinstance(new, str):
            return False
        before, after = Counter(_WORD.findall(old[:20_000])), Counter(_WORD.findall(new[:20_000]))
        gone, come = before - after, after - before
        if not gone and not come:
            # The same words in another order or layout: nothing that the code's words can tell.
            return "".join(old.split()) == "".join(new.split()) and bool(self.change.added or self.change.removed)
        if not any(re.match(r"[^\W\d_]{2}|\d+\.\d+", w) for w in (*gone, *come)):
            return False
        return all(w in self.change.removed or w in self.change.gone for w in gone) and all(
            w in self.change.added or w in self.change.new for w in come
        )

    def _names(self, old: object, new: object) -> bool:
        """A name of the code that it calls otherwise now, everywhere in the same way."""
        if not isinstance(old, str) or not isinstance(new, str):
            return False
        if old not in self.change.gone or new not in self.change.new:
            parts = (old.split("."), new.split("."))
            if len(parts[0]) == len(parts[1]) > 1:
                return all(a == b or self._names(a, b) for a, b in zip(*parts, strict=True))
            return False
        if self.renamed.setdefault(old, new) != new:
            return False
        return self.back.setdefault(new, old) == old


def _words_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value, *_WORD.findall(node.value[:20_000])]
    if isinstance(node, ast.Name):
        return [node.id]
    return [node.attr] if isinstance(node, ast.Attribute) else []


def _harmless(node: ast.stmt) -> bool:
    """A statement that may be added: it can make the test fail, and can not keep it from going on."""
    for one in ast.walk(node):
        if isinstance(one, _LEAVES):
            return False
        if isinstance(one, ast.Call):
            name = getattr(one.func, "attr", getattr(one.func, "id", ""))
            if name in _SKIPPING:
                return False
    return not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
