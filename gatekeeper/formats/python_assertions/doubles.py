"""Test doubles: what a test or fixture replaces while it runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.records import dataclass

_MOCKS = {"Mock", "MagicMock", "AsyncMock", "NonCallableMock", "create_autospec", "SimpleNamespace"}


@dataclass(frozen=True, slots=True)
class Double:
    """One replacement: `target` is the dotted name of what is replaced, as far as the imports tell."""

    target: str
    line: int
    function: str
    """The function it stands in; empty at module level."""
    autouse: bool = False


def dotted(node: ast.AST, names: Mapping[str, str]) -> str:
    """`a.b.c` with the first part resolved by the imports; `sys.modules["a.b"]` is `a.b`; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and last_name(node.value) == "modules":
        parts.append(str(node.slice.value))
    elif isinstance(node, ast.Call) and last_name(node) in ("import_module", "__import__") and node.args:
        if not isinstance(node.args[0], ast.Constant):
            return ""
        parts.append(str(node.args[0].value))
    elif isinstance(node, ast.Name):
        parts.append(names.get(node.id, node.id))
    else:
        return ""
    return ".".join(reversed(parts))


def doubles(root: ast.AST, names: Mapping[str, str], function: str, autouse: bool) -> Iterator[Double]:
    """All replacements below `root`."""
    for node in ast.walk(root):
        target = ""
        if isinstance(node, ast.Call):
            target = _called(node, names)
        elif isinstance(node, ast.Assign):
            for place in node.targets:
                if isinstance(place, ast.Attribute):
                    target = dotted(place, names)
        if target:
            yield Double(target, getattr(node, "lineno", 0), function, autouse)


def _called(node: ast.Call, names: Mapping[str, str]) -> str:
    name = last_name(node)
    owner = last_name(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    text = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
    if name == "setattr" or (name == "object" and owner == "patch"):
        if isinstance(text, str):
            return text
        if len(node.args) >= 2 and isinstance(node.args[1], ast.Constant) and isinstance(node.args[1].value, str):
            holder = dotted(node.args[0], names)
            return f"{holder}.{node.args[1].value}" if holder else ""
        return ""
    if name == "patch" and isinstance(text, str):
        return text
    return ""


def mocks(root: ast.AST) -> set[str]:
    """Names bound to a mock object below `root`."""
    found = set()
    for node in ast.walk(root):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and last_name(node.value) in _MOCKS:
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
    return found
