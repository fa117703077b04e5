"""A real library from the package registry as a git repository, with one bug put into it by a small syntax-tree edit."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


class DemoError(Exception):
    """The chosen library does not fit the demo; the message says why."""


@dataclass(frozen=True)
class Library:
    """An unpacked source distribution."""

    name: str
    version: str
    root: Path
    package: Path
    """The import package, relative to root."""
    tests: Path
    """Folder of the tests, relative to root."""


@dataclass(frozen=True)
class Edit:
    """One small change of a source file: `old` text is replaced by `new` at a line."""

    path: Path
    line: int
    function: str
    before: str
    after: str
    words: str


def download(name: str, folder: Path) -> Library:
    """Fetch and unpack the newest source distribution of `name`. Raises `DemoError`."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*(==[A-Za-z0-9.]+)?", name):
        raise DemoError(f"{name!r} is not the name of a distribution.")
    command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*command, "--no-binary", ":all:", "-d", str(folder), name], capture_output=True, text=True, timeout=300
    )
    archives = sorted(folder.glob("*.tar.gz"))
    if done.returncode or not archives:
        raise DemoError(f"The source distribution of {name} could not be fetched:\n{done.stderr.strip()[-800:]}")
    with tarfile.open(archives[0]) as archive:
        _unpack(archive, folder)
    root = next(p for p in sorted(folder.iterdir()) if p.is_dir())
    version = archives[0].name.removesuffix(".tar.gz").rpartition("-")[2]
    return Library(name.partition("==")[0], version, root, _package(root, name), _tests(root, name))


def _unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Plain files and directories only, all inside `folder`. (Debian 12's Python has no extraction filters yet.)"""
    for member in archive:
        target = (folder / member.name).resolve()
        if not target.is_relative_to(folder.resolve()):
            raise DemoError(f"The source distribution holds the path {member.name!r}, which leaves its folder.")
        if member.isdir():
            target.mkdir(parents=True, exist_ok=True)
        elif member.isreg() and (content := archive.extractfile(member)) is not None:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.read())


def _package(root: Path, name: str) -> Path:
    wanted = name.partition("==")[0].replace("-", "_").replace(".", "_").lower()
    found = [p.parent for start in (root / "src", root) for p in sorted(start.glob("*/__init__.py"))]
    found = [p for p in found if p.name not in ("tests", "test", "testing", "docs")]
    found.sort(key=lambda p: p.name.lower() != wanted)
    if not found:
        raise DemoError(f"{name} has no import package at its root or in src/; take another library with LIB=name.")
    return found[0].relative_to(root)


def _tests(root: Path, name: str) -> Path:
    for folder in ("tests", "test", "testing"):
        if any((root / folder).rglob("test_*.py")):
            return Path(folder)
    raise DemoError(f"The source distribution of {name} does not ship its tests; take another library with LIB=name.")


def requirements(library: Library) -> list[str]:
    """What the library's tests need, as far as its metadata says: pytest, its dependencies, its test extras."""
    path = library.root / "pyproject.toml"
    project = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    table = project.get("project", {})
    wanted = ["pytest", *table.get("dependencies", [])]
    groups = {**table.get("optional-dependencies", {}), **project.get("dependency-groups", {})}
    for label in ("test", "tests", "testing"):
        wanted += [r for r in groups.get(label, []) if isinstance(r, str)]
    return wanted


_FLIP: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not",
    ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_SIGN: dict[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


def bugs(library: Library) -> Iterator[Edit]:
    """Possible one-token bugs: a comparison turned round inside a function of the package."""
    for path in sorted((library.root / library.package).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        lines = source.splitlines(keepends=True)
        for function in [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef)]:
            for node in ast.walk(function):
                if not isinstance(node, ast.Compare) or len(node.ops) != 1:
                    continue
                left, right = node.left, node.comparators[0]
                if left.end_lineno != right.lineno or left.end_col_offset is None or left.end_lineno is None:
                    continue
                row = lines[right.lineno - 1]
                if not row.isascii():
                    continue
                between = row[left.end_col_offset : right.col_offset]
                kind = type(node.ops[0])
                if between.strip() != _SIGN.get(kind):
                    continue
                after = f"{row[: left.end_col_offset]} {_FLIP[kind]} {row[right.col_offset :]}"
                yield Edit(
                    path.relative_to(library.root),
                    right.lineno,
                    function.name,
                    row,
                    after,
                    f"`{between.strip()}` became `{_FLIP[kind]}`",
                )


def applied(root: Path, edit: Edit, *, undo: bool = False) -> None:
    """Write the edit into the file, or take it back."""
    path = root / edit.path
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    old, new = (edit.after, edit.before) if undo else (edit.before, edit.after)
    if lines[edit.line - 1] != old:
        raise DemoError(f"{edit.path}:{edit.line} is not what the edit expects.")
    lines[edit.line - 1] = new
    path.write_text("".join(lines), encoding="utf-8")
