"""The changed modules: their files, and the probes that say which of their statements were reached."""

from __future__ import annotations

import ast
import importlib.machinery
import os
from typing import Any

PROBES = "__gatekeeper_probes__"


class Source:
    """One changed module."""

    def __init__(self, root: str, row: dict[str, Any], first_probe: int) -> None:
        self.path = os.path.join(root, row["path"])
        with open(self.path, "rb") as file:
            self.data = file.read()
        self.probes = {line: first_probe + n for n, line in enumerate(row["probes"])}
        self.raising = [(int(p), int(at)) for p, at in row["raising"]]
        self.stamp = 1_000_000_000

    def write(self, data: bytes) -> None:
        """Put `data` in place. No two contents share a time stamp, so that no cached bytecode is taken for another's."""
        with open(self.path, "wb") as file:
            file.write(data)
        self.stamp += 1
        os.utime(self.path, (self.stamp, self.stamp))


def instrument(sources: list[Source]) -> None:
    """Changed statements get their probes when their module is loaded."""
    table = {os.path.realpath(s.path): s.probes for s in sources}
    original = importlib.machinery.SourceFileLoader.source_to_code

    def source_to_code(loader: Any, data: Any, path: Any, **more: Any) -> Any:
        name = os.path.realpath(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else ""
        if name in table and not isinstance(data, ast.AST):
            tree = with_probes(ast.parse(data, filename=os.fsdecode(path)), table[name])
            return compile(tree, path, "exec", dont_inherit=True, optimize=more.get("_optimization", -1))
        return original(loader, data, path, **more)

    importlib.machinery.SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign,assignment]


def with_probes(tree: Any, probes: dict[int, int]) -> Any:
    """The tree with a probe before each statement that begins on one of the lines."""
    placed = set()  # type: set[int]

    def before(statement: Any) -> list[Any]:
        line = statement.lineno
        if line not in probes or line in placed:
            return [statement]
        placed.add(line)
        made = ast.parse(f"{PROBES}[{probes[line]}] = 1").body
        for node in ast.walk(made[0]):
            if "lineno" in getattr(node, "_attributes", ()):
                ast.copy_location(node, statement)
        return [*made, statement]

    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if not isinstance(body, list) or not body or not isinstance(body[0], ast.stmt):
                continue
            new = []  # type: list[Any]
            for number, statement in enumerate(body):
                first = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
                new += [statement] if first or future else before(statement)
            setattr(node, name, new)
    return tree
