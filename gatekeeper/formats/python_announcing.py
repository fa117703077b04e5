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
from gatekeeper.records import dataclass

_FROM = ("warnings", "typing_extensions")
_BLOCKS = ("body", "orelse", "finalbody")
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip


@dataclass(frozen=True)
class Way:
    """A branch that warned of its end and was taken out."""

    message: str
    condition: str


def newly_warned(old: ast.Module, new: ast.Module) -> Mapping[str, frozenset[str]] | None:
    """Qualified name -> messages of what warns of its end now; None where anything else differs, or a warning went.

    A warning is a call with constant arguments that stands alone, or a decorator; a class may get an `__init__` that warns
    and hands on what it got. A warning in `__init__` is one about the class.
    """
    try:
        if not all(_knows_warnings(t) for t in (old, new)):
            return None
        had, has = _told(old), _told(new)
        if any(messages - has.get(name, frozenset()) for name, messages in had.items()):
            return None
        if _silent(old, {}) != _silent(new, _members(old)):
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
        if not all(_knows_warnings(t) for t in (old, new)):
            return None
        before, after = (python_code.without_docstrings(t) for t in (old, new))
        assert isinstance(before, ast.Module)
        assert isinstance(after, ast.Module)
        voices = {n.name: m for n in before.body if isinstance(n, ast.FunctionDef) and (m := _only_warns(n))}
        spoken = {n.id for n in ast.walk(after) if isinstance(n, ast.Name)}
        kept = spoken | {getattr(n, "name", "") for n in after.body}
        before.body = [n for n in before.body if getattr(n, "name", "") not in voices.keys() - kept]
        ways: list[Way] = []
        later: dict[str, list[python_code.Definition]] = {}
        for name, node in python_code.definitions(after):
            later.setdefault(name, []).append(node)
        for name, node in list(python_code.definitions(before)):
            if isinstance(node, ast.ClassDef):
                continue
            mine: list[Way] = []
            twins = later.get(name, [])
            stays = {ast.dump(n) for twin in twins for n in ast.walk(twin) if isinstance(n, ast.If)}
            _cut(node, voices, stays, mine)
            for one in (node, *twins):
                _ask_no_more(one, {w.condition for w in mine})
            ways += mine
        for tree in (before, after):
            _drop(tree, _imports_warnings)
        return tuple(ways) if ast.dump(before) == ast.dump(after) else None
    except (RecursionError, MemoryError):
        return None


def _knows_warnings(tree: ast.Module) -> bool:
    """`warnings`, `warn` and `deprecated` mean what they say in this module, wherever they stand."""
    for node in python_code.walk(tree):
        bound = {getattr(node, "arg", None), getattr(node, "name", None)} if not isinstance(node, ast.keyword | ast.alias) else set()  # fmt: skip
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            bound.add(node.id if isinstance(node, ast.Name) else node.attr)
        if bound & {"warnings", "warn", "deprecated"}:
            return False
        if isinstance(node, ast.Import) and any((a.asname or a.name) == "warnings" and a.name != "warnings" for a in node.names):  # fmt: skip
            return False
        if isinstance(node, ast.ImportFrom) and any(
            (a.asname or a.name) in ("warnings", "warn", "deprecated")
            and (node.level or node.module not in _FROM or a.asname not in (None, a.name))
            for a in node.names
        ):
            return False
    return True


def _imports_warnings(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return all(a.name == "warnings" and a.asname is None for a in node.names)
    return (
        isinstance(node, ast.ImportFrom)
        and not node.level
        and node.module in _FROM
        and all(a.name in ("warn", "deprecated") for a in node.names)
    )


def _message(node: ast.AST, calls: tuple[str, ...] = ("warnings.warn", "warn")) -> str:
    """What a call says that warns of deprecation and does nothing else; empty for any other."""
    if not isinstance(node, ast.Call) or python_code.dotted(node.func, {}) not in calls or not node.args:
        return ""
    first, *rest = node.args
    kinds = [*rest, *(k.value for k in node.keywords if k.arg == "category")]
    others = [k for k in node.keywords if k.arg != "category"]
    plain = all(k.arg == "stacklevel" and isinstance(k.value, ast.Constant) for k in others)
    decorates = "deprecated" in calls
    named = len(kinds) == 1 and isinstance(kinds[0], ast.Name) and kinds[0].id in WARNINGS
    if not plain or not (named or (decorates and not kinds)):
        return ""
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


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
        messages = {m for d in node.decorator_list if (m := _decoration(d))}
        if not isinstance(node, ast.ClassDef):
            messages |= {m for n in ast.walk(node) if isinstance(n, ast.stmt) and (m := _warning(n))}
        if messages:
            table[name] = frozenset(messages)
    return table


def _members(tree: ast.Module) -> dict[str, set[str]]:
    """Class -> names of its own functions."""
    return {
        name: {getattr(n, "name", "") for n in node.body}
        for name, node in python_code.definitions(tree)
        if isinstance(node, ast.ClassDef)
    }


def _silent(tree: ast.Module, older: Mapping[str, set[str]]) -> str:
    """The module without its warnings; without an `__init__` that only warns where the class had none in `older`."""
    bare = python_code.without_docstrings(tree)
    for name, node in list(python_code.definitions(bare)):
        node.decorator_list = [d for d in node.decorator_list if not _decoration(d)]
        if isinstance(node, ast.ClassDef) and "__init__" not in older.get(name, {"__init__"}):
            node.body = [n for n in node.body if not (isinstance(n, ast.FunctionDef) and _hands_on(n))]
    for function in list(ast.walk(bare)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            _drop(function, lambda n: bool(_warning(n)))
    _drop(bare, _imports_warnings)
    return ast.dump(bare)


def _hands_on(node: ast.FunctionDef) -> bool:
    """An `__init__` that warns and calls its parent's with everything that it was given."""
    if node.name != "__init__" or node.decorator_list or len(node.body) != 2 or not _warning(node.body[0]):
        return False
    given, call = node.args, node.body[1]
    if given.posonlyargs or given.defaults or any(d is not None for d in given.kw_defaults) or not given.args:
        return False
    notes = [a.annotation for a in ast.walk(given) if isinstance(a, ast.arg)]
    if any(isinstance(n, ast.Call | ast.NamedExpr | ast.Lambda) for x in (*notes, node.returns) if x for n in ast.walk(x)):  # fmt: skip
        return False
    rows = [a.arg for a in given.args[1:]] + ([f"*{given.vararg.arg}"] if given.vararg else [])
    rows += [f"{a.arg}={a.arg}" for a in given.kwonlyargs] + ([f"**{given.kwarg.arg}"] if given.kwarg else [])
    wanted = ast.parse(f"super().__init__({', '.join(rows)})").body[0]
    return ast.dump(call) == ast.dump(wanted)


def _drop(tree: ast.AST, which: Callable[[ast.stmt], bool]) -> None:
    """Take statements out of every block below `tree`."""
    for node in ast.walk(tree):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [s for s in block if not (isinstance(s, ast.stmt) and which(s))])


def _only_warns(node: ast.FunctionDef) -> str:
    """What a function without parameters says that does nothing but warn."""
    rest = [s for s in node.body if not _imports_warnings(s)]
    free = node.args.args or node.args.posonlyargs or node.args.vararg or node.args.kwarg or node.args.kwonlyargs
    return _warning(rest[0]) if len(rest) == 1 and not free and not node.decorator_list else ""


def _cut(tree: ast.AST, voices: Mapping[str, str], stays: set[str], ways: list[Way]) -> None:
    """Take branches that warn, but those of `stays`, out of a function; what they had done otherwise is done always."""
    for node in ast.walk(tree):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, list(chain.from_iterable(_without(s, voices, stays, ways) for s in block)))


def _without(node: ast.AST, voices: Mapping[str, str], stays: set[str], ways: list[Way]) -> list[ast.AST]:
    if not isinstance(node, ast.If) or ast.dump(node) in stays:
        return [node]
    said = [m for s in node.body if (m := _warning(s) or _voice(s, voices))]
    if not said:
        return [node]
    ways += [Way(m, ast.dump(node.test)) for m in said]
    return list(node.orelse)


def _voice(node: ast.stmt, voices: Mapping[str, str]) -> str:
    call = node.value if isinstance(node, ast.Expr) else None
    plain = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args and not call.keywords
    return voices.get(call.func.id, "") if plain else ""  # type: ignore[union-attr]


def _ask_no_more(tree: ast.AST, conditions: set[str]) -> None:
    """Branches on the opposite of one of the conditions become what they hold."""
    for node in ast.walk(tree) if conditions else ():
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list) and any(isinstance(s, ast.If) for s in block):
                setattr(node, name, list(chain.from_iterable(_held(s, conditions) for s in block)))


def _held(node: ast.AST, conditions: set[str]) -> list[ast.AST]:
    if isinstance(node, ast.If) and not node.orelse and ast.dump(_opposite(node.test)) in conditions:
        return list(node.body)
    return [node]


def _opposite(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _FLIPPED:
        return ast.Compare(test.left, [_FLIPPED[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)
