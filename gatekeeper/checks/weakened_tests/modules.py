"""The modules that edited tests take their helpers and fixtures from, each read once."""

from __future__ import annotations

import functools
import posixpath
from collections.abc import Iterable

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.tree import Tree, text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.python_assertions.plainness import Plainness
from gatekeeper.formats.python_assertions.support import Look, Place, is_fixture
from gatekeeper.formats.python_assertions.support import place as read_place
from gatekeeper.formats.python_code import Function, parse

_MAX_NEAR = 200
"""Modules of the tests that are loaded with one of them."""


class Modules:
    """Those of both versions."""

    def __init__(self, evidence: Evidence, instruments: Instruments) -> None:
        self._evidence, self._instruments = evidence, instruments
        self._places: dict[tuple[bool, str], Place | None] = {}
        self._plainness: dict[tuple[bool, str], Plainness] = {}

    def read(self, *, base: bool) -> list[Place]:
        """Those of one version that were read so far."""
        return [p for (b, _), p in self._places.items() if p is not None and b == base]

    def place(self, path: str, *, base: bool) -> Place | None:
        """The module at `path` of one version; None where there is none that can be read."""
        key = (base, path)
        if key not in self._places:
            try:
                tree = parse(text(self._evidence.base if base else self._evidence.merged, path))
            except CouldNotCheck:
                tree = None
            self._places[key] = read_place(tree, path, self._of_the_tests(path)) if tree is not None else None
        return self._places[key]

    def _of_the_tests(self, path: str) -> bool:
        return self._instruments.kind(path) in (InstrumentKind.TEST, InstrumentKind.TEST_SUPPORT)

    def find(self, path: str, origin: str, *, base: bool) -> tuple[Place, str] | None:
        """The module that `origin` is imported from."""
        tree: Tree = self._evidence.base if base else self._evidence.merged
        for candidate in _modules(path, origin):
            if candidate in tree.entries:
                found = self.place(candidate, base=base)
                return (found, origin.rpartition(".")[2]) if found is not None else None
        return None

    def plainness(self, home: Place, *, base: bool) -> Plainness:
        """What may stand in the place of the helpers of tests of this module."""
        key = (base, home.path)
        if key not in self._plainness:

            def look(at: Place, origin: str) -> tuple[Place, str] | None:
                return self.find(at.path, origin, base=base)

            loaded = functools.cache(lambda: self._near(home, look, base=base))
            self._plainness[key] = Plainness(home, look, loaded)
        return self._plainness[key]

    def _near(self, home: Place, look: Look, *, base: bool) -> tuple[list[Place], bool]:
        """(the modules of the tests that are loaded with this one or came with the change, whether these are all)."""
        around = [posixpath.join(f, n) for f in _folders(home.path) for n in ("conftest.py", "__init__.py")]
        changed = [p.path for p in self._evidence.change.paths if p.path.endswith(".py") and self._of_the_tests(p.path)]
        waiting = [home, *(p for q in [*around, *changed] if (p := self.place(q, base=base)) is not None)]
        found: dict[str, Place] = {}
        while waiting and len(found) < _MAX_NEAR:
            at = waiting.pop()
            if at.path in found:
                continue
            found[at.path] = at
            origins = [o for origin in at.imports.values() for o in (origin, f"{origin}._")]
            for origin in [*origins, *(f"{s}._" for s, _ in at.stars if s.strip(".")), *(f"{p}._" for p in at.plugins)]:
                other = look(at, origin)
                if other is not None and (other[0].tests or origin[:-2] in at.plugins):
                    waiting.append(other[0])
        return list(found.values()), not waiting

    def fixtures(self, path: str, *, base: bool) -> dict[str, tuple[Place, Function]]:
        """Fixtures of the conftest files from the root down to the test."""
        table: dict[str, tuple[Place, Function]] = {}
        for folder in _folders(path):
            found = self.place(posixpath.join(folder, "conftest.py"), base=base)
            if found is None:
                continue
            plain = self.plainness(found, base=base)
            for name in [n for n in table if found.binds[n] or plain.stars(found, n)]:
                del table[name]
            table.update({n: (found, f) for n, f in found.functions.items() if is_fixture(f)})
        return table


def _folders(path: str) -> list[str]:
    """The folders around a file, the root first."""
    parts = posixpath.dirname(path).split("/") if "/" in path else []
    return ["/".join(parts[:depth]) for depth in range(len(parts) + 1)]


def _modules(path: str, origin: str) -> Iterable[str]:
    folder = posixpath.dirname(path)
    stem = origin.lstrip(".")
    dots = len(origin) - len(stem)
    module = stem.rpartition(".")[0].replace(".", "/")
    if not module and not dots:
        return
    for _ in range(max(dots - 1, 0)):
        folder = posixpath.dirname(folder)
    for root in (folder,) if dots else (folder, "", "src"):
        yield posixpath.join(root, f"{module}.py") if module else posixpath.join(root, "__init__.py")
        if module:
            yield posixpath.join(root, module, "__init__.py")
