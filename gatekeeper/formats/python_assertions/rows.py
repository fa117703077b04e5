"""Parameter rows of a test, and the ids that pytest gives them."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from gatekeeper.formats.python_assertions.expression import MAX_TEXT, canonical, last_name
from gatekeeper.formats.python_assertions.inlining import inlined
from gatekeeper.formats.python_code import Function, written


def rows_of(node: Function, module: Mapping[str, ast.expr]) -> list[tuple[str, str]]:
    """(canonical row, its id) of all rows that run."""
    rows: list[tuple[str, str]] = []
    for mark in node.decorator_list:
        if not isinstance(mark, ast.Call) or last_name(mark) != "parametrize" or len(mark.args) < 2:
            continue
        values = inlined(mark.args[1], module)
        names = _argument_names(mark.args[0])
        given = next((k.value for k in mark.keywords if k.arg == "ids"), None)
        ids = given.elts if isinstance(given, (ast.List, ast.Tuple)) else []
        for at, row in enumerate(values.elts if isinstance(values, (ast.List, ast.Tuple, ast.Set)) else []):
            label = _label(ids[at]) if at < len(ids) else ""
            if isinstance(row, ast.Call) and last_name(row) == "param":
                marks = " ".join(written(k.value) for k in row.keywords if k.arg == "marks")
                if "skip" in marks or "xfail" in marks:
                    continue
                named = next((_label(k.value) for k in row.keywords if k.arg == "id"), "")
                text = canonical(row.args[0] if len(row.args) == 1 else ast.Tuple(row.args, ast.Load()))
                rows.append((text, named or label or _row_id(row.args, names, at)))
            else:
                parts = row.elts if isinstance(row, (ast.Tuple, ast.List)) and len(names) > 1 else [row]
                rows.append((canonical(row), label or _row_id(parts, names, at)))
    return rows


def looped_rows(node: Function, known: Mapping[str, ast.expr]) -> list[tuple[str, str]]:
    """Rows of a table that the test itself goes through, with or without subTest, asserting on each; they have no id."""
    rows: list[tuple[str, str]] = []
    for loop in ast.walk(node):
        if not isinstance(loop, ast.For) or not any(_asserts(n) for s in loop.body for n in ast.walk(s)):
            continue
        values = inlined(loop.iter, known)
        if isinstance(values, (ast.List, ast.Tuple)) and len(values.elts) > 1:
            rows += [(canonical(row), "") for row in values.elts if not isinstance(row, ast.Starred)]
    return rows


def _asserts(node: ast.AST) -> bool:
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and last_name(node).startswith("assert"))


def _argument_names(node: ast.expr) -> list[str]:
    if isinstance(node, (ast.List, ast.Tuple)):
        return [_label(e) for e in node.elts]
    return [n.strip() for n in _label(node).split(",")]


def _label(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _row_id(parts: list[ast.expr], names: list[str], at: int) -> str:
    """The id that pytest makes of a row without one: plain values as they print, anything else by name and position."""
    shown = []
    for place, part in enumerate(parts):
        inner = part.operand if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub) else part
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str | int | float | bool | complex | None):
            shown.append(f"{'-' if inner is not part else ''}{inner.value}")
        else:
            shown.append(f"{names[place] if place < len(names) else ''}{at}")
    return "-".join(shown)[:MAX_TEXT]
