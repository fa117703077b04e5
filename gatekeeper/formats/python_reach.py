"""Which test modules can reach which modules of the code, by the imports that stand in their sources."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable

from gatekeeper.formats import python_code

MAX_MODULES = 800
"""Modules that are read; in a larger project the answer may leave out tests, never name wrong ones."""
_ROOTS = ("", "src/", "lib/", "python/")


def reaching(
    tests: Iterable[str], targets: Collection[str], paths: Collection[str], read: Callable[[str], str | None]
) -> tuple[str, ...]:
    """Those of `tests` that import one of `targets`, through any modules of `paths`; conftest files count for their folder.

    `read` gives the text of a path, None for one that cannot be read.
    """
    imports: dict[str, tuple[str, ...]] = {}
    known = frozenset(p for p in paths if p.endswith(".py"))
    wanted = frozenset(targets)

    def imported(path: str) -> tuple[str, ...]:
        if path not in imports:
            imports[path] = tuple(_imports(path, read(path), known)) if len(imports) < MAX_MODULES else ()
        return imports[path]

    found = []
    for test in tests:
        seen = {test, *_conftests(test, known)}
        stack = [*seen]
        while stack:
            path = stack.pop()
            if path in wanted:
                found.append(test)
                break
            fresh = [p for p in imported(path) if p not in seen]
            seen.update(fresh)
            stack += fresh
    return tuple(found)


def _conftests(test: str, known: frozenset[str]) -> list[str]:
    folder, rows = posixpath.dirname(test), []
    while True:
        rows.append(posixpath.join(folder, "conftest.py"))
        if not folder:
            return [r for r in rows if r in known]
        folder = posixpath.dirname(folder)


def _imports(path: str, source: str | None, known: frozenset[str]) -> set[str]:
    tree = python_code.parse(source)
    found: set[str] = set()
    if tree is None:
        return found
    try:
        names = python_code.imports(tree).values()
    except (RecursionError, MemoryError):
        return found
    package = posixpath.dirname(path)
    for name in names:
        if name.startswith("."):
            level = len(name) - len(name.lstrip("."))
            start = package
            for _ in range(level - 1):
                start = posixpath.dirname(start)
            found |= _files(name.lstrip("."), [f"{start}/" if start else ""], known)
        else:
            found |= _files(name, [*_ROOTS, f"{package}/" if package else ""], known)
    return found


def _files(name: str, roots: Iterable[str], known: frozenset[str]) -> set[str]:
    """The module of that name and the packages around it; the last parts may be names inside a module."""
    parts = [p for p in name.split(".") if p]
    found = set()
    for root in roots:
        for end in range(len(parts), -1, -1):
            stem = root + "/".join(parts[:end])
            for path in (f"{stem}.py", f"{stem}/__init__.py" if stem and not stem.endswith("/") else f"{stem}__init__.py"):  # fmt: skip
                if path in known and (end or path.endswith("__init__.py")):
                    found.add(path)
    return found
