"""Small edits of a library's syntax tree: what the demo's agents do to code and tests."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

from library import DemoError, Library

TestNode = ast.FunctionDef


def test_node(root: Path, test_id: str) -> tuple[Path, TestNode] | None:
    """File and definition of a test; it may be inherited from a class in another file of its folder."""
    file, *names = test_id.split("[", maxsplit=1)[0].split("::")
    for path in [root / file, *sorted((root / file).parent.glob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name == names[-1]:
                return path, node
    return None


def _found(root: Path, test_id: str) -> tuple[Path, TestNode]:
    found = test_node(root, test_id)
    if found is None:
        raise DemoError(f"The test {test_id} was not found in the sources.")
    return found


def _start(node: ast.FunctionDef) -> int:
    """First line of a definition, its decorators included, from 0."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)]) - 1


def skip_test(root: Path, test_id: str) -> None:
    """Put a skip decorator on the test: red becomes green."""
    path, node = _found(root, test_id)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines.insert(_start(node), f'{" " * node.col_offset}@__import__("pytest").mark.skip(reason="flaky on CI")\n')
    path.write_text("".join(lines), encoding="utf-8")


def delete_test(root: Path, test_id: str) -> None:
    """Take the test out of its file; a class that would be empty keeps its name as an attribute."""
    path, node = _found(root, test_id)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[_start(node) : node.end_lineno] = [f"{' ' * node.col_offset}{node.name}_removed = True\n"]
    path.write_text("".join(lines), encoding="utf-8")


def assertions(node: ast.FunctionDef) -> list[ast.stmt]:
    """The statements of a test that compare something, each on lines of its own."""

    def compares(statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Assert):
            return True
        call = statement.value if isinstance(statement, ast.Expr) else None
        return (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr.startswith("assert")
            and isinstance(call.func.value, ast.Name)
        )

    return [n for n in ast.walk(node) if isinstance(n, ast.stmt) and compares(n)]


def loosen_test(root: Path, test_id: str) -> None:
    """Replace every assertion of the test by one that always holds."""
    path, node = _found(root, test_id)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for statement in sorted(assertions(node), key=lambda s: s.lineno, reverse=True):
        lines[statement.lineno - 1 : statement.end_lineno] = [f"{' ' * statement.col_offset}assert True\n"]
    path.write_text("".join(lines), encoding="utf-8")


def plain_functions(library: Library, root: Path) -> list[tuple[Path, ast.FunctionDef]]:
    """Functions of the package without a docstring whose body begins on a line of its own, file by file."""
    return [
        (path, node)
        for path in sorted((root / library.package).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and not ast.get_docstring(node) and node.body[0].lineno > node.lineno
    ]


def document(library: Library, root: Path, choose: Callable[[int], bool], most: int = 3) -> int:
    """Give docstrings to up to `most` functions whose number `choose` takes. Returns how many; no behaviour changes."""
    chosen = [item for number, item in enumerate(plain_functions(library, root)) if choose(number)][:most]
    for path in {p for p, _ in chosen}:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        nodes = sorted((n for p, n in chosen if p == path), key=lambda n: n.body[0].lineno, reverse=True)
        for node in nodes:
            first = node.body[0]
            words = node.name.strip("_").replace("_", " ") or "work"
            decorators = getattr(first, "decorator_list", [])
            line = min([first.lineno, *(d.lineno for d in decorators)]) - 1
            lines.insert(line, f'{" " * first.col_offset}"""Do the {words} of this object."""\n')
        path.write_text("".join(lines), encoding="utf-8")
    return len(chosen)


def at_beginning_of(path: Path, function: str, line: str) -> None:
    """Insert a statement before the first one of a function."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            lines = source.splitlines(keepends=True)
            lines.insert(body[0].lineno - 1, f"{' ' * body[0].col_offset}{line}\n")
            path.write_text("".join(lines), encoding="utf-8")
            return
    raise DemoError(f"{function}() was not found in {path.name}.")


def add(path: Path, text: str) -> None:
    """Append to a file, which is made where it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(before + text, encoding="utf-8")
