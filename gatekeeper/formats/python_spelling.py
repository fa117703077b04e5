"""One spelling for expressions that are the same value: `dict(a=1)` and `{"a": 1}`, `tuple()` and `()`, `u"x"` and `"x"`.

Only what can be told from the source alone is respelled, and nothing where the module gives one of the names used
another meaning.
"""

from __future__ import annotations

import ast
import copy
import textwrap
import weakref

from gatekeeper.formats.python_code import walk

_BUILTINS = frozenset({"dict", "tuple", "list", "set", "frozenset", "str", "bytes"})
_MAX_TEXT = 100_000


_spelled: weakref.WeakKeyDictionary[ast.Module, ast.Module] = weakref.WeakKeyDictionary()


def plain(tree: ast.Module) -> ast.Module:
    """The module with one spelling for equal values; the tree itself where nothing is to be respelled.

    Remembered as long as the tree is: several checks read the same modules.
    """
    if not any(map(_respellable, walk(tree))):
        return tree
    made = _spelled.get(tree)
    if made is None:
        visited = _Speller(_BUILTINS - _rebound(tree)).visit(copy.deepcopy(tree))
        assert isinstance(visited, ast.Module)
        made = _spelled[tree] = visited
    return made


def _respellable(node: ast.AST) -> bool:
    """Whether a copy is worth its time: most modules have nothing of the kind."""
    if isinstance(node, ast.Constant):
        return node.kind is not None
    if isinstance(node, ast.Set):
        return len(node.elts) > 1
    if isinstance(node, ast.JoinedStr):
        return all(isinstance(v, ast.Constant) for v in node.values)
    if isinstance(node, ast.BinOp):
        return (
            isinstance(node.op, ast.Add) and isinstance(node.right, ast.Constant) and isinstance(node.right.value, str)
        )
    if not isinstance(node, ast.Call):
        return False
    given = node.args[0] if node.args else None
    if isinstance(node.func, ast.Name) and node.func.id in _BUILTINS:
        return given is None or isinstance(given, ast.List | ast.Tuple | ast.Dict)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return (name == "dedent" and isinstance(given, ast.Constant)) or (
        name == "join" and isinstance(given, ast.List | ast.Tuple)
    )


def _rebound(tree: ast.Module) -> set[str]:
    """Builtins that the module binds itself, anywhere: there the name may mean anything."""
    bound: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add(node.asname or node.name.split(".")[0])
            if node.name == "*":
                bound |= _BUILTINS
    return bound & _BUILTINS


class _Speller(ast.NodeTransformer):
    def __init__(self, known: frozenset[str]) -> None:
        self.known = known

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        node.kind = None
        return node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        self.generic_visit(node)
        node.elts.sort(key=ast.dump)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        if all(isinstance(v, ast.Constant) and isinstance(v.value, str) for v in node.values):
            return _text(node, "".join(v.value for v in node.values if isinstance(v, ast.Constant)))  # type: ignore[misc]
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = node.left, node.right
        if (
            isinstance(node.op, ast.Add) and isinstance(left, ast.Constant) and isinstance(right, ast.Constant)
            and isinstance(left.value, str) and isinstance(right.value, str)
        ):  # fmt: skip
            return _text(node, left.value + right.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in self.known:
            return _display(node, node.func.id) or node
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if len(node.args) != 1 or node.keywords:
            return node
        given = node.args[0]
        if name == "dedent" and isinstance(given, ast.Constant) and isinstance(given.value, str):
            return _text(node, textwrap.dedent(given.value))
        if name == "join" and isinstance(node.func, ast.Attribute) and isinstance(given, ast.List | ast.Tuple):
            parts = [e.value for e in given.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
            between = node.func.value
            if len(parts) == len(given.elts) and isinstance(between, ast.Constant) and isinstance(between.value, str):
                return _text(node, between.value.join(parts))
        return node


def _text(node: ast.expr, value: str) -> ast.expr:
    return ast.copy_location(ast.Constant(value), node) if len(value) <= _MAX_TEXT else node


def _display(node: ast.Call, name: str) -> ast.expr | None:
    """The display that a call of a builtin type makes; None where it depends on what is given."""
    made: ast.expr | None = None
    given = node.args[0] if len(node.args) == 1 and not node.keywords else None
    starred = isinstance(given, ast.List | ast.Tuple | ast.Set) and any(isinstance(e, ast.Starred) for e in given.elts)
    if name == "dict" and not node.args and all(k.arg for k in node.keywords):
        made = ast.Dict([ast.Constant(k.arg) for k in node.keywords], [k.value for k in node.keywords])
    elif not node.args and not node.keywords:
        empty: dict[str, ast.expr] = {
            "tuple": ast.Tuple([], ast.Load()), "list": ast.List([], ast.Load()), "str": ast.Constant(""), "bytes": ast.Constant(b""),
        }  # fmt: skip
        made = empty.get(name)
    elif isinstance(given, ast.List | ast.Tuple) and not starred:
        elements = list(given.elts)
        if name == "tuple":
            made = ast.Tuple(elements, ast.Load())
        elif name == "list":
            made = ast.List(elements, ast.Load())
        elif name == "set" and elements:
            made = ast.Set(sorted(elements, key=ast.dump))
        elif name == "frozenset" and elements:
            made = ast.Call(node.func, [ast.Set(sorted(elements, key=ast.dump))], [])
    elif isinstance(given, ast.Dict) and name == "dict":
        made = given
    return None if made is None else ast.fix_missing_locations(ast.copy_location(made, node))
