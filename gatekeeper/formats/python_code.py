"""Python source as the checks compare it: parsed under caps, definitions by name, literals folded, docstrings dropped."""

from __future__ import annotations

import ast
import copy
import itertools
import warnings
import weakref
from collections.abc import Callable, Iterator
from typing import Any

MAX_SOURCE = 1_000_000
"""Characters of one module that are parsed; hand-written modules are far smaller."""
_MAX_FOLDED = 10_000
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class _Kept:
    """The trees parsed last, bounded by the size of their sources: a service judges changes of any size for weeks.

    Threads share it without a lock: single operations of a dict are whole, and a tree that another thread has let go
    is parsed again.
    """

    def __init__(self, characters: int) -> None:
        self._most = characters
        self._trees: dict[str, ast.Module | None] = {}

    def get(self, source: str, make: Callable[[str], ast.Module | None]) -> ast.Module | None:
        missing = object()
        tree: Any = self._trees.pop(source, missing)
        if tree is missing:
            tree = make(source)
        self._trees[source] = tree  # at the end again: the first is the one not used for longest
        known = list(self._trees)
        size = sum(map(len, known))
        for old in known[:-1]:
            if size <= self._most:
                break
            size -= len(old)
            self._trees.pop(old, None)
        return tree  # type: ignore[no-any-return]


_kept = _Kept(4 * MAX_SOURCE)
_below: weakref.WeakKeyDictionary[ast.AST, tuple[ast.AST, ...]] = weakref.WeakKeyDictionary()


def walk(tree: ast.AST) -> Iterator[ast.AST]:
    """As `ast.walk`, remembered for modules, functions and classes: a dozen checks walk the same trees."""
    if not isinstance(tree, (ast.Module, *_DEFINITION)):
        return ast.walk(tree)
    below = _below.get(tree)
    if below is None:
        # Without the tree itself, which would keep its own entry alive.
        below = _below[tree] = tuple(itertools.islice(ast.walk(tree), 1, None))
    return itertools.chain((tree,), below)


def parse(source: str | None) -> ast.Module | None:
    """The syntax tree, or None for a text that is missing, too long, too deep or no Python.

    Trees are shared by all checks of a process: nobody may change one.
    """
    if source is None or len(source) > MAX_SOURCE or "\x00" in source:
        return None
    return _kept.get(source, _parsed)


def _parsed(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a doubtful escape in hostile code is not our warning
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Definition]]:
    """(qualified name, node) of functions, classes and methods; functions inside functions are left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _DEFINITION):
            name = f"{prefix}{node.name}"
            yield name, node
            if isinstance(node, ast.ClassDef):
                yield from definitions(node, f"{name}.")
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from definitions(node, prefix)


def functions(tree: ast.AST) -> Iterator[Function]:
    """All functions and methods at any depth."""
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def without_docstrings(tree: ast.AST) -> ast.AST:
    """A copy without docstrings and other bare constants, which do nothing."""
    bare = copy.deepcopy(tree)
    for node in ast.walk(bare):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [s for s in body if not _idle(s)]  # type: ignore[attr-defined]
    return bare


def meaning(tree: ast.AST) -> str:
    """Text that is equal for two trees that do the same: no docstrings, comments, positions or layout.

    Bare constants are taken out for the moment of the dump and put back: a copy of every tree would cost more than all
    the rest of the comparison.
    """
    taken: list[tuple[Any, list[ast.stmt]]] = []
    try:
        for node in walk(tree):
            body = getattr(node, "body", None)
            if isinstance(body, list) and any(_idle(s) for s in body):
                taken.append((node, body))
                node.body = [s for s in body if not _idle(s)]  # type: ignore[attr-defined]
        return ast.dump(tree)
    except (RecursionError, MemoryError):
        return ""
    finally:
        for node, body in taken:
            node.body = body


def _idle(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def folded(node: ast.AST, depth: int = 0) -> str | None:
    """The string that an expression of constants makes: "py" + "test", "".join(["py", "test"]), "tsetyp"[::-1], chr(112)."""
    if depth > 40:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined("", [node.left, node.right], depth)
    if isinstance(node, ast.JoinedStr):
        return _joined("", [v.value if isinstance(v, ast.FormattedValue) else v for v in node.values], depth)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        step = node.slice.step
        inner = folded(node.value, depth + 1)
        back = isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)
        return inner[::-1] if inner is not None and back and not (node.slice.lower or node.slice.upper) else None
    if isinstance(node, ast.Call):
        return _folded_call(node, depth)
    return None


def _folded_call(node: ast.Call, depth: int) -> str | None:
    if isinstance(node.func, ast.Name) and node.func.id == "chr" and len(node.args) == 1:
        arg = node.args[0]
        good = isinstance(arg, ast.Constant) and isinstance(arg.value, int) and 0 < arg.value < 0x110000
        return chr(arg.value) if good else None  # type: ignore[attr-defined]
    if isinstance(node.func, ast.Attribute):
        owner = folded(node.func.value, depth + 1)
        if owner is None:
            return None
        if node.func.attr in ("lower", "upper", "strip") and not node.args:
            return str(getattr(owner, node.func.attr)())
        if node.func.attr == "join" and len(node.args) == 1 and isinstance(node.args[0], ast.List | ast.Tuple):
            return _joined(owner, node.args[0].elts, depth)
    return None


def _joined(separator: str, nodes: list[ast.expr], depth: int) -> str | None:
    parts = [folded(n, depth + 1) for n in nodes]
    if any(p is None for p in parts):
        return None
    text = separator.join(p for p in parts if p is not None)
    return text if len(text) <= _MAX_FOLDED else None


def strings(tree: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Every string that the code can make from constants, outermost first; docstrings are left out."""
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return
    text = folded(tree)
    if text is not None:
        yield text, tree
        if isinstance(tree, ast.Constant):
            return
    for child in ast.iter_child_nodes(tree):
        yield from strings(child)


def constants(tree: ast.AST) -> set[object]:
    """Constants of the code as values: strings, numbers, and negated numbers."""
    found: set[object] = set()
    for node in walk(tree):
        if isinstance(node, ast.Constant):
            found.add(node.value)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            value = node.operand.value
            if isinstance(value, int | float):
                found.add(-value)
    return found


def imports(tree: ast.AST) -> dict[str, str]:
    """Local name -> dotted name of what was imported under it; relative imports begin with a dot."""
    table: dict[str, str] = {}
    for node in walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                table[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            for alias in node.names:
                table[alias.asname or alias.name] = f"{start}.{alias.name}" if start.strip(".") else start + alias.name
    return table


def written(node: ast.AST) -> str:
    """Source text of a tree, equal for equal trees; its dump where Python can not write it.

    A text in an f-string may hold signs, put there by the source itself or by a value in the place of its name, that no
    quotes are left for.
    """
    try:
        return ast.unparse(node)
    except ValueError:
        return ast.dump(node)


def dotted(node: ast.AST, names: dict[str, str]) -> str:
    """`a.b.c` with the first part resolved through the imports; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("__import__", "import_module")
    ):
        first = folded(node.args[0]) if node.args else None
        return ".".join([first, *reversed(parts)]) if first else ""
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([names.get(node.id, node.id), *reversed(parts)])
