"""Whether a test differs from its older version only by what the code's own source says anew: a name, a message, an entry.

A function renamed in the code and in its tests, a message reworded in both, a name added to `__all__` and to the list
that a test holds: such an edit explains itself, since the new words stand in the code as literally as in the test.
Numbers never do, nor values in strings: a changed rate or role in code and test is a decision, and only words of what the
code raises, warns or logs are a message. Statements may be added to a test, never taken away; what may be added says
`python_following_additions`.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from gatekeeper.formats import python_code
from gatekeeper.formats.python_following_additions import Additions
from gatekeeper.formats.python_spelling import plain
from gatekeeper.records import dataclass, field

_WORD = re.compile(r"[^\W\d_]\w*|\d[\w.]*|[^\w\s]")
_TELLS = frozenset(
    ["warn", "warn_explicit", "warning", "error", "critical", "exception", "info", "debug", "log", "fail", "abort", "deprecated"]
)  # fmt: skip
"""Last names of calls whose strings are for somebody to read."""
_PROSE = 2
"""Words from which on a string that is raised, warned of or logged is a message and no value."""
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
    ended: frozenset[str] = frozenset()
    """Names of functions, classes and parameters among `gone`."""
    begun: frozenset[str] = frozenset()
    """The same among `new`."""
    kept: frozenset[str] = frozenset()
    """Names that it defines now, whether it did before or not."""


def code_change(pairs: Iterable[tuple[str | None, str | None]]) -> CodeChange:
    """From (source before, source after) of every changed module of the code, None where there is none."""
    before, after = _Said(), _Said()
    for pair in pairs:
        for source, said in zip(pair, (before, after), strict=True):
            tree = python_code.parse(source)
            if tree is not None:
                said.take(tree)
    return CodeChange(
        after.words - before.words, before.words - after.words,
        frozenset(before.names - after.names), frozenset(after.names - before.names),
        frozenset(before.uses - after.uses), frozenset(after.uses - before.uses),
        frozenset(before.api - after.names), frozenset(after.api - before.names), frozenset(after.names),
    )  # fmt: skip


class _Said:
    """What the modules of one side say."""

    def __init__(self) -> None:
        self.words, self.uses = Counter[str](), Counter[str]()
        self.names, self.api = set[str](), set[str]()

    def take(self, tree: ast.Module) -> None:
        self.words.update(_told(tree))
        self.names |= set(_defined(tree))
        for node in python_code.walk(tree):
            if dotted := _dotted(node):
                self.uses[dotted] += 1
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self.api.add(node.name)
            elif isinstance(node, ast.arg):
                self.api.add(node.arg)


def _dotted(node: object) -> str:
    """`a.b.c` of a name or attributes of one; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _told(tree: ast.Module) -> Iterator[str]:
    """Words of the strings that are raised, warned of or logged, directly or by a name that holds them; and entries of a module's lists."""
    telling = [n for n in python_code.walk(tree) if isinstance(n, ast.Raise) or _tells(n)]
    inside = {id(n): n for one in telling for n in ast.walk(one)}
    held = {n.id for n in inside.values() if isinstance(n, ast.Name)}
    for row in tree.body:
        if isinstance(row, ast.Assign) and isinstance(row.value, ast.List | ast.Tuple | ast.Set):
            inside.update((id(n), n) for n in row.value.elts)
    for node in python_code.walk(tree):
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id in held for t in node.targets):
            inside |= {id(n): n for n in ast.walk(node.value)}
    for node in inside.values():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _WORD.findall(node.value[:20_000])


def _tells(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in _TELLS


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
        was, now = _plain(old), _plain(new)
        return walk.same(was, now) and walk.said and walk.consistent() and walk.added.harmless(was, now, change.new)
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
        self.said = False
        """Something of the code's change was carried over: what is only added explains no failure."""
        self.called = set[int]()
        """The syntax nodes of what the older test calls."""
        self.added = Additions()

    def _state(self) -> tuple[dict[str, str], dict[str, str], bool, int]:
        return dict(self.renamed), dict(self.back), self.said, len(self.added.statements)

    def _restore(self, state: tuple[dict[str, str], dict[str, str], bool, int]) -> None:
        self.renamed, self.back, self.said, count = state
        del self.added.statements[count:]

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
            and self._went(was, called=id(old) in self.called)
        ):
            self.said = True
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
            if isinstance(old, ast.Call):
                self.called.add(id(old.func))
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

    def _went(self, name: str, *, called: bool) -> bool:
        """The code has it no more, or never had it: a twin beside what tests ask of is no other name for it.

        What Python itself offers may be named, as an error that is raised; exchanged where it is called, it would count anew.
        """
        root, _, rest = name.partition(".")
        last = name.rsplit(".", 1)[-1]
        if last in self.change.gone:
            return True
        outside = root in sys.stdlib_module_names if rest else isinstance(getattr(builtins, root, None), type)
        return outside and not called and last not in self.change.kept

    def _statements(self, old: list[ast.stmt], new: list[ast.stmt]) -> bool:
        """Every old statement is there, in order; what came between runs and lets the others run."""
        if len(old) > _MAX_STATEMENTS or len(new) > _MAX_STATEMENTS:
            return False
        at = 0
        for one in old:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                continue
            while at < len(new):
                kept = self._state()
                found = self.same(one, new[at])
                at += 1
                if found:
                    break
                self._restore(kept)
                self.added.statements.append(new[at - 1])
            else:
                return False
        self.added.statements.extend(new[at:])
        return True

    def _elements(self, old: list[ast.expr], new: list[ast.expr]) -> bool:
        """The same entries, or these and more, where the code has the new ones' words anew."""
        at = 0
        for one in old:
            while at < len(new):
                kept = self._state()
                found = self.same(one, new[at])
                at += 1
                if found:
                    break
                self._restore(kept)
                if not self._told(new[at - 1]):
                    return False
            else:
                return False
        return all(map(self._told, new[at:]))

    def _told(self, node: ast.expr) -> bool:
        """The code speaks of this entry for the first time."""
        words = [w for n in ast.walk(node) for w in _words_of(n)]
        fresh = [w for w in words if w in self.change.new or w in self.change.added]
        found = any(re.match(r"[^\W\d_]", w) for w in fresh)
        self.said |= found
        return found

    def _constants(self, old: object, new: object) -> bool:
        if type(old) is type(new) and old == new:
            return True
        if not isinstance(old, str) or not isinstance(new, str):
            return False
        before, after = Counter(_WORD.findall(old[:20_000])), Counter(_WORD.findall(new[:20_000]))
        gone, come = before - after, after - before
        change = self.change
        prose = all(sum(w[0].isalpha() for w in words.elements()) >= _PROSE for words in (before, after))
        if not gone and not come:
            # The same words in another order or layout: nothing that the code's words can tell.
            good = prose and "".join(old.split()) == "".join(new.split()) and bool(change.added or change.removed)
        elif not any(re.match(r"[^\W\d_]{2}", w) for w in (*gone, *come)) or any(
            w[0].isdigit() for w in (*gone, *come)
        ):
            good = False
        else:
            good = all(w in change.ended or (prose and w in change.removed) for w in gone) and all(
                w in change.begun or (prose and w in change.added) for w in come
            )
        self.said |= good
        return good

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
        self.said = True
        return self.back.setdefault(new, old) == old


def _words_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value, *_WORD.findall(node.value[:20_000])]
    if isinstance(node, ast.Name):
        return [node.id]
    return [node.attr] if isinstance(node, ast.Attribute) else []
