"""Modules of tests that only learned to expect a warning of deprecation: what they are without that."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection

from gatekeeper.formats import python_code
from gatekeeper.formats.python_deprecations import WARNINGS

_BLOCKS = ("body", "orelse", "finalbody")
_PLAIN = r"[\w '`,-]{8,}"
"""A filter's text that means itself, long enough to mean one message."""
_PARTIAL = ("functools", "partial")


def only_expects(old: ast.Module, new: ast.Module, messages: Collection[str]) -> bool:
    """The modules differ by nothing but what expects or ignores, in `new`, the warnings with these messages.

    That is `with pytest.deprecated_call()` or `pytest.warns` around statements, a mark that ignores a message of `messages`
    and no other, a value that was drawn out of the next statement, and a small function that calls another one instead of
    a `partial` of it. Tests of names that the module did not have may come in.
    """
    try:
        was, expected = _bare(old, messages, frozenset())
        now, expects = _bare(new, messages, _said(old))
    except (RecursionError, MemoryError):
        return False
    return was == now and not expected - expects


def _said(tree: ast.Module) -> frozenset[str]:
    """Every name that a module says in whatever way, and the words of its texts."""
    found: set[str] = set()
    for node in ast.walk(tree):
        for part in ("id", "attr", "arg", "name", "asname", "value"):
            said = getattr(node, part, None)
            found.update(re.findall(r"\w+", said) if isinstance(said, str) else ())
    return frozenset(found)


def _bare(tree: ast.Module, messages: Collection[str], known_names: frozenset[str]) -> tuple[str, Counter[str]]:
    """(the module without such expectations, these), and without tests of new names where `known_names` are given."""
    origins, frames = python_code.imports(tree), Counter[str]()
    bare = python_code.without_docstrings(tree)
    for scope in [bare, *(n for n in getattr(bare, "body", ()) if isinstance(n, ast.ClassDef))] if known_names else ():
        scope.body = [n for n in scope.body if not _new_test(n, known_names)]  # type: ignore[attr-defined]
    known = origins.get("pytest") == "pytest"
    for node in list(ast.walk(bare)) if known else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            node.decorator_list = [d for d in node.decorator_list if not _ignores(d, messages)]
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, _plain(block, messages, frames))
    for node in list(ast.walk(bare)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _draw_in(node)
        if isinstance(node, ast.FunctionDef):
            _fold(node)
        if isinstance(node, ast.Call) and python_code.dotted(node.func, origins) == ".".join(_PARTIAL):
            _spell(node)
    return ast.dump(bare), frames


def _new_test(node: ast.AST, known: frozenset[str]) -> bool:
    """A test that nothing of the older module speaks of, and whose definition does nothing."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test"):
        return False
    given = node.args
    idle = not (node.decorator_list or node.returns or given.defaults or any(given.kw_defaults))
    notes = any(a.annotation for a in ast.walk(given) if isinstance(a, ast.arg))
    return node.name not in known and idle and not notes


def _draw_in(function: python_code.Function) -> None:
    """`x = f()` and a statement that reads `x`, the only one to do so, become that statement with `f()` in it."""
    said = Counter(n.id for n in ast.walk(function) if isinstance(n, ast.Name))
    said.update(n.arg for n in ast.walk(function) if isinstance(n, ast.arg))
    said.update(w for n in ast.walk(function) if isinstance(n, ast.Global | ast.Nonlocal) for w in n.names)
    for node in ast.walk(function):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list) and len(block) > 1:
                setattr(node, name, _drawn_in(block, said))


def _drawn_in(block: list[ast.stmt], said: Counter[str]) -> list[ast.stmt]:
    out: list[ast.stmt] = []
    for node in block:
        before = out[-1] if out else None
        target = before.targets[0] if isinstance(before, ast.Assign) and len(before.targets) == 1 else None
        if (
            isinstance(before, ast.Assign)
            and isinstance(target, ast.Name)
            and isinstance(node, ast.Assert | ast.Expr | ast.Return | ast.Assign)
            and said[target.id] == 2
        ):
            put = _Put(target.id, before.value)
            put.visit(node)
            if put.done:
                out.pop()
        out.append(node)
    return out


class _Put(ast.NodeTransformer):
    """Puts a value in the place of the one name that reads it, unless that is read later or again."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self._name, self._value = name, value
        self.done = False

    def visit(self, node: ast.AST) -> ast.AST:
        """The node with the value in it."""
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return node
        if isinstance(node, ast.Name) and node.id == self._name and isinstance(node.ctx, ast.Load):
            self.done = True
            return self._value
        return self.generic_visit(node)


def _plain(block: list[ast.AST], messages: Collection[str], frames: Counter[str]) -> list[ast.AST]:
    """Statements without the frames that expect a warning, however often nested, and without marks and plain imports."""
    out: list[ast.AST] = []
    for node in block:
        if isinstance(node, ast.With):
            frames.update(ast.dump(i) for i in node.items if _expects(i))
            node.items = [i for i in node.items if not _expects(i)]
            if not node.items:
                out += _plain(list(node.body), messages, frames)
                continue
        if isinstance(node, ast.Import) and all(a.name in ("pytest", "warnings", "functools") and not a.asname for a in node.names):  # fmt: skip
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "functools" and [a.name for a in node.names] == ["partial"]:  # fmt: skip
            continue
        if isinstance(node, ast.Assign) and [getattr(t, "id", "") for t in node.targets] == ["pytestmark"]:
            marks = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
            left = [m for m in marks if not _ignores(m, messages)]
            if not left:
                continue
            node.value = ast.List(left, ast.Load())
        out.append(node)
    return out


def _expects(item: ast.withitem) -> bool:
    """A frame that fails unless a warning of deprecation comes, and lets everything else through."""
    call = item.context_expr
    if item.optional_vars is not None or not isinstance(call, ast.Call):
        return False
    called = python_code.dotted(call.func, {})
    if called == "pytest.deprecated_call":
        return not call.args and not call.keywords
    kinds = [a.id for a in call.args if isinstance(a, ast.Name)]
    return (
        called == "pytest.warns"
        and len(call.args) == len(kinds) == 1
        and kinds[0] in WARNINGS
        and all(k.arg == "match" and isinstance(k.value, ast.Constant) for k in call.keywords)
    )


def _ignores(node: ast.expr, messages: Collection[str]) -> bool:
    """A mark that ignores one of the messages: the filter begins it in plain words and names a warning of deprecation."""
    if not isinstance(node, ast.Call) or python_code.dotted(node.func, {}) != "pytest.mark.filterwarnings":
        return False
    if node.keywords or len(node.args) != 1 or not isinstance(node.args[0], ast.Constant):
        return False
    action, _, rest = str(node.args[0].value).partition(":")
    text, _, kind = rest.rpartition(":")
    return (
        action == "ignore"
        and kind in WARNINGS
        and re.fullmatch(_PLAIN, text) is not None
        and any(m.startswith(text) for m in messages)
    )


def _fold(node: ast.FunctionDef) -> None:
    """`def make(a=1, **more): return F(a=a, **more)` and `return make` become `return partial(F, a=1)`."""
    if (
        len(node.body) < 2
        or not isinstance(node.body[-1], ast.Return)
        or not isinstance(node.body[-2], ast.FunctionDef)
    ):
        return
    made, back = node.body[-2], node.body[-1].value
    given = made.args
    if not isinstance(back, ast.Name) or back.id != made.name or made.decorator_list or len(made.body) != 1:
        return
    notes = [made.returns, *(a.annotation for a in ast.walk(given) if isinstance(a, ast.arg))]
    if any(isinstance(n, ast.Call | ast.NamedExpr) for note in notes if note is not None for n in ast.walk(note)):
        return
    names = [a.arg for a in given.args]
    if (
        given.posonlyargs
        or given.vararg
        or given.kwonlyargs
        or given.kwarg is None
        or len(given.defaults) != len(names)
    ):
        return
    call = made.body[0].value if isinstance(made.body[0], ast.Return) else None
    if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
        return
    handed = sorted((k.arg or "", getattr(k.value, "id", "")) for k in call.keywords)
    more = given.kwarg.arg
    if handed != sorted([("", more), *((n, n) for n in names)]) or call.func.id in (*names, more, made.name):
        return
    keywords = [ast.keyword(n, d) for n, d in zip(names, given.defaults, strict=True)]
    folded = ast.Call(ast.Name("partial", ast.Load()), [call.func], keywords)
    _spell(folded)
    node.body = [*node.body[:-2], ast.Return(folded)]


def _spell(call: ast.Call) -> None:
    """One spelling of a `partial` with keywords alone."""
    if len(call.args) == 1 and all(k.arg for k in call.keywords):
        call.func = ast.Attribute(ast.Name(_PARTIAL[0], ast.Load()), _PARTIAL[1], ast.Load())
        call.keywords = sorted(call.keywords, key=lambda k: k.arg or "")
