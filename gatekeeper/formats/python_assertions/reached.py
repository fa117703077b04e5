"""Assertions that reach nothing: whatever the code does, they say the same.

`assert str(3) == "3"` asks Python, and `got = 6` before `assert got == 6` makes the question its own answer. What a name
holds is followed statement by statement; a name that nothing here binds may come from anywhere, and counts as reaching.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

_PURE = frozenset(
    {"math", "cmath", "operator", "string", "json", "re", "decimal", "fractions", "itertools", "statistics"}
)
_NOTHING = frozenset(dir(builtins)) - {"open", "globals", "locals", "vars", "__import__", "input", "print"} | _PURE
_FRAMES = (ast.With, ast.AsyncWith)


def idle_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[int]:
    """First lines of the statements of a function that use nothing but literals and what Python itself offers."""
    return frozenset(_lines(node.body, {}))


def _lines(body: list[ast.stmt], bound: dict[str, bool]) -> Iterator[int]:
    for s in body:
        if isinstance(s, ast.Assert | ast.Expr) and not _reaches(s, bound):
            yield s.lineno
        if isinstance(s, _FRAMES):
            # Names that the frame's own call says (`pytest.raises`) are none of what it asks.
            if not any(_reaches(inner, bound) for inner in s.body):
                yield s.lineno
            for item in s.items:
                _hand_over(item.context_expr, bound)
                _bind(item.optional_vars, True, bound)
        elif isinstance(s, ast.Assign):
            reaches = _hand_over(s.value, bound)
            for target in s.targets:
                _bind(target, reaches, bound)
        elif isinstance(s, ast.AnnAssign) and s.value is not None:
            _bind(s.target, _hand_over(s.value, bound), bound)
        elif isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name):
            bound[s.target.id] = bound.get(s.target.id, True) or _hand_over(s.value, bound)
        elif isinstance(s, ast.For | ast.AsyncFor):
            _bind(s.target, _hand_over(s.iter, bound), bound)
        elif isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound.update({n.id: True for n in ast.walk(s) if isinstance(n, ast.Name)})
            continue
        elif isinstance(s, ast.Expr | ast.Assert):
            _hand_over(s, bound)
        for name in ("body", "orelse", "finalbody"):
            yield from _lines(getattr(s, name, []), bound)
        for handler in getattr(s, "handlers", []):
            yield from _lines(handler.body, bound)


def _hand_over(node: ast.AST, bound: dict[str, bool]) -> bool:
    """Whether it reaches the code; then so does all that it is said with: `pkg.fill(rows)` may have put anything into `rows`."""
    reaches = _reaches(node, bound)
    if reaches:
        bound.update({n.id: True for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in bound})
    return reaches


def _bind(target: ast.expr | None, reaches: bool, bound: dict[str, bool]) -> None:
    if isinstance(target, ast.Name):
        bound[target.id] = reaches
    elif isinstance(target, ast.Attribute | ast.Subscript):
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                bound[node.id] = bound.get(node.id, True) or reaches
    elif target is not None:
        for part in getattr(target, "elts", [getattr(target, "value", None)]):
            _bind(part, reaches, bound)


def _reaches(node: ast.AST, bound: dict[str, bool]) -> bool:
    own = {a.arg for n in ast.walk(node) if isinstance(n, ast.Lambda) for a in n.args.args}
    own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return any(
        bound.get(n.id, n.id not in _NOTHING)
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and n.id not in own and not _of_the_test(node, n)
    )


def _of_the_test(node: ast.AST, name: ast.Name) -> bool:
    """`self` of `self.assertEqual(6, 6)`."""
    call = node.value if isinstance(node, ast.Expr) else None
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.value is name
        and name.id == "self"
        and call.func.attr.startswith("assert")
    )
