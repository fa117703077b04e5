"""Changes of code that do nothing but announce the end of something, or carry out one that was announced.

Both are told by what is left once the warnings of deprecation are taken out on both sides: it must be the same tree.
So whatever fails on the changed code fails for these warnings, or for the way of use that had warned, and for nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from itertools import chain

from gatekeeper.formats import python_code
from gatekeeper.formats.python_deprecations import MADE_BY, WARNINGS
from gatekeeper.formats.python_guards import ask_no_more, bindings_of
from gatekeeper.formats.python_plain_classes import members, plain_class
from gatekeeper.formats.python_warning_imports import (
    imports_may_differ,
    imports_warnings,
    knows_warnings,
    without_imports,
)
from gatekeeper.records import dataclass

_BLOCKS = ("body", "orelse", "finalbody")
NAME = "\ufffc"
"""Stands in a message for the name of a class or module that is put in when it is given."""
_OWN_NAMES = frozenset({
    "type(self).__name__", "type(self).__qualname__", "self.__class__.__name__", "self.__class__.__qualname__",
    "cls.__name__", "cls.__qualname__", "__name__",
})  # fmt: skip


@dataclass(frozen=True)
class Way:
    """A branch that warned of its end and was taken out."""

    message: str
    condition: str
    where: str
    """Qualified name of the function, or of the outermost one around it."""


def newly_warned(old: ast.Module, new: ast.Module) -> Mapping[str, frozenset[str]] | None:
    """Qualified name -> messages of what warns of its end now; None where anything else differs, or a warning went.

    A warning is a call with constant arguments that stands alone, or a decorator; a class may get an `__init__` that warns
    and hands on what it got. A warning in `__init__` is one about the class.
    """
    try:
        if not all(knows_warnings(t) for t in (old, new)) or not imports_may_differ(old, new):
            return None
        had, has = _told(old), _told(new)
        if any(messages - has.get(name, frozenset()) for name, messages in had.items()):
            return None
        if _silent(old, frozenset()) != _silent(new, _openings(old)):
            return None
    except (RecursionError, MemoryError):
        return None
    fresh = {n: m - had.get(n, frozenset()) for n, m in has.items()}
    return {_thing(n): m for n, m in fresh.items() if m}


def ended_ways(old: ast.Module, new: ast.Module) -> tuple[Way, ...] | None:
    """Branches of `old` that warned and are gone in `new`; None where anything else differs.

    What asked for the opposite of such a branch's condition, in the same definition, need ask no more; functions of the
    module that did nothing but warn may go.
    """
    try:
        if not all(knows_warnings(t) for t in (old, new)) or not imports_may_differ(old, new):
            return None
        before, after = (python_code.without_docstrings(t) for t in (old, new))
        assert isinstance(before, ast.Module)
        assert isinstance(after, ast.Module)
        voices = {n.name: m for n in before.body if isinstance(n, ast.FunctionDef) and (m := _only_warns(n))}
        kept = {n.id for n in ast.walk(after) if isinstance(n, ast.Name)} | {getattr(n, "name", "") for n in after.body}
        ways: list[Way] = []
        later: dict[str, list[python_code.Definition]] = {}
        for name, node in python_code.definitions(after):
            later.setdefault(name, []).append(node)
        for name, node in list(python_code.definitions(before)):
            if isinstance(node, ast.ClassDef):
                continue
            mine: list[Way] = []
            stays = {ast.dump(n) for twin in later.get(name, []) for n in ast.walk(twin) if isinstance(n, ast.If)}
            bindings = bindings_of(node)
            _cut(node, voices, stays, mine, name)
            for condition in {w.condition for w in mine}:
                ask_no_more(node, condition, bindings, stays)
            ways += mine
        said = {w.message for w in ways}
        before.body = [
            n
            for n in before.body
            if not ((v := getattr(n, "name", "")) in voices and v not in kept and voices[v] in said)
        ]
        for tree in (before, after):
            without_imports(tree)
        return tuple(ways) if ast.dump(before) == ast.dump(after) else None
    except (RecursionError, MemoryError):
        return None


def _message(node: ast.AST, calls: tuple[str, ...] = ("warnings.warn", "warn")) -> str:
    """What a call says that warns of deprecation and does nothing else; empty for any other."""
    if not isinstance(node, ast.Call) or python_code.dotted(node.func, {}) not in calls or not node.args:
        return ""
    first, *rest = node.args
    kinds = [*rest, *(k.value for k in node.keywords if k.arg == "category")]
    others = [k for k in node.keywords if k.arg != "category"]
    plain = all(k.arg == "stacklevel" and type(getattr(k.value, "value", None)) is int for k in others)
    decorates = "deprecated" in calls
    named = len(kinds) == 1 and isinstance(kinds[0], ast.Name) and kinds[0].id in WARNINGS
    if not plain or not (named or (decorates and not kinds)):
        return ""
    return _text(first)


def _text(node: ast.expr) -> str:
    """A constant text, or one with nothing but the own name put in; empty for any other."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    said = ""
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            said += part.value.replace(NAME, "")
        elif (
            isinstance(part, ast.FormattedValue)
            and part.conversion == -1
            and part.format_spec is None
            and python_code.written(part.value) in _OWN_NAMES
        ):
            said += NAME
        else:
            return ""
    return said if said.replace(NAME, "").strip() else ""


def _warning(node: ast.stmt) -> str:
    return _message(node.value) if isinstance(node, ast.Expr) else ""


def _decoration(node: ast.expr) -> str:
    return _message(node, ("deprecated", "warnings.deprecated", "typing_extensions.deprecated"))


def _thing(name: str) -> str:
    owner, _, last = name.rpartition(".")
    return owner if last in MADE_BY and owner else name


def _told(tree: ast.Module) -> dict[str, frozenset[str]]:
    """Qualified name of a function or decorated class -> what it says of its end."""
    table: dict[str, frozenset[str]] = {}
    for name, node in python_code.definitions(tree):
        messages = {m for d in _decorations(tree, name, node) if (m := _decoration(d))}
        if not isinstance(node, ast.ClassDef):
            messages |= {m for n in ast.walk(node) if isinstance(n, ast.stmt) and (m := _warning(n))}
        if messages:
            table[name] = frozenset(messages)
    return table


def _decorations(tree: ast.Module, name: str, node: python_code.Definition) -> list[ast.expr]:
    """Decorators that see the plain function, whatever stands above them; of a class, the only one of a plain class."""
    given = node.decorator_list
    if isinstance(node, ast.ClassDef):
        return given if len(given) == 1 and plain_class(tree, name, decorated=True) else []
    kind = len(given) > 1 and isinstance(given[-1], ast.Name) and given[-1].id in ("staticmethod", "classmethod")
    return given[-2:-1] if kind else given[-1:]


def narrowed(old: ast.Module, new: ast.Module) -> frozenset[str]:
    """Classes of `new` that got an `__init__` which takes no arguments, where the class had none of its own."""
    openings = _openings(old)
    return frozenset(
        name
        for name, node in python_code.definitions(new)
        if name in openings
        and isinstance(node, ast.ClassDef)
        and any(isinstance(n, ast.FunctionDef) and _hands_on(n) and n.args.vararg is None for n in node.body)
    )


def _openings(tree: ast.Module) -> frozenset[str]:
    """Plain classes without an `__init__` of their own."""
    return frozenset(
        name
        for name, node in python_code.definitions(tree)
        if isinstance(node, ast.ClassDef) and "__init__" not in members(node) and plain_class(tree, name)
    )


def _silent(tree: ast.Module, openings: frozenset[str]) -> str:
    """The module without its warnings; without an `__init__` that only warns in a class of `openings`."""
    bare = python_code.without_docstrings(tree)
    assert isinstance(bare, ast.Module)
    for name, node in list(python_code.definitions(bare)):
        mute = [d for d in _decorations(bare, name, node) if _decoration(d)]
        node.decorator_list = [d for d in node.decorator_list if d not in mute]
        if name in openings:
            node.body = [n for n in node.body if not (isinstance(n, ast.FunctionDef) and _hands_on(n))]
    for function in list(ast.walk(bare)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            _drop(function, lambda n: bool(_warning(n)))
    without_imports(bare)
    return ast.dump(bare)


def _hands_on(node: ast.FunctionDef) -> bool:
    """An `__init__` that warns and calls its parent's with all that it was given: everything, or nothing at all."""
    if node.name != "__init__" or node.decorator_list or len(node.body) != 2 or not _warning(node.body[0]):
        return False
    given, call = node.args, node.body[1]
    if given.posonlyargs or given.kwonlyargs or len(given.args) != 1 or (given.vararg is None) != (given.kwarg is None):
        return False
    notes = [a.annotation for a in ast.walk(given) if isinstance(a, ast.arg)]
    if any(isinstance(n, ast.Call | ast.NamedExpr | ast.Lambda) for x in (*notes, node.returns) if x for n in ast.walk(x)):  # fmt: skip
        return False
    everything = f"*{given.vararg.arg}, **{given.kwarg.arg}" if given.vararg and given.kwarg else ""
    return ast.dump(call) == ast.dump(ast.parse(f"super().__init__({everything})").body[0])


def _drop(tree: ast.AST, which: Callable[[ast.stmt], bool]) -> None:
    """Take statements out of every block below `tree`."""
    for node in ast.walk(tree):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [s for s in block if not (isinstance(s, ast.stmt) and which(s))])


def _only_warns(node: ast.FunctionDef) -> str:
    """What a function without parameters says that does nothing but warn."""
    rest = [s for s in node.body if not imports_warnings(s, inside=True)]
    free = node.args.args or node.args.posonlyargs or node.args.vararg or node.args.kwarg or node.args.kwonlyargs
    return _warning(rest[0]) if len(rest) == 1 and not free and not node.decorator_list else ""


def _cut(tree: ast.AST, voices: Mapping[str, str], stays: set[str], ways: list[Way], where: str) -> None:
    """Take branches that warn, but those of `stays`, out of a function; what they had done otherwise is done always."""
    for node in ast.walk(tree):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, list(chain.from_iterable(_without(s, voices, stays, ways, where) for s in block)))


def _without(node: ast.AST, voices: Mapping[str, str], stays: set[str], ways: list[Way], where: str) -> list[ast.AST]:
    if not isinstance(node, ast.If) or ast.dump(node) in stays:
        return [node]
    said = [m for s in node.body if (m := _warning(s) or _voice(s, voices))]
    if not said:
        return [node]
    ways += [Way(m, ast.dump(node.test), where) for m in said]
    return list(node.orelse)


def _voice(node: ast.stmt, voices: Mapping[str, str]) -> str:
    call = node.value if isinstance(node, ast.Expr) else None
    plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args and not call.keywords
    return voices.get(call.func.id, "") if plain else ""  # type: ignore[union-attr]
