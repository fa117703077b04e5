"""What the parameters of a parametrised test are in each of its rows."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping

from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.inlining import inlined
from gatekeeper.formats.python_code import Function

_MOST = 60
"""Rows of one test that are looked at."""


def bindings(node: Function, values: Mapping[str, ast.expr]) -> list[dict[str, ast.expr]]:
    """One table for each combination of rows that runs; a single empty one for a test without rows that are spelled out."""
    tables: list[list[dict[str, ast.expr]]] = []
    for mark in node.decorator_list:
        if not isinstance(mark, ast.Call) or last_name(mark) != "parametrize" or len(mark.args) < 2:
            continue
        names = _names(mark.args[0])
        rows = inlined(mark.args[1], values)
        if not names or not isinstance(rows, ast.List | ast.Tuple):
            return [{}]
        made = [_row(r, names) for r in rows.elts[:_MOST]]
        tables.append([r for r in made if r is not None])
    return [
        {k: v for part in rows for k, v in part.items()} for rows in itertools.islice(itertools.product(*tables), _MOST)
    ]


def _row(row: ast.expr, names: list[str]) -> dict[str, ast.expr] | None:
    if isinstance(row, ast.Call) and last_name(row) == "param":
        if any(k.arg == "marks" for k in row.keywords):
            return None
        parts = row.args
    else:
        parts = row.elts if len(names) > 1 and isinstance(row, ast.Tuple | ast.List) else [row]
    if len(parts) != len(names) or any(isinstance(p, ast.Starred) for p in parts):
        return None
    return dict(zip(names, parts, strict=True))


def _names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [n.strip() for n in node.value.split(",") if n.strip()]
    if isinstance(node, ast.List | ast.Tuple):
        return [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
    return []
