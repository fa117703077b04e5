"""Functions that assert for Go's tests, followed to what runs under their names: in the package, and in those it imports."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from gatekeeper.checks.go_tests.project import Project, is_test_file
from gatekeeper.formats.go_tests import GoCall, GoFunction, GoTestFile

Defined = tuple[str, GoFunction]
_DEPTH = 4
_TESTING = re.compile(r"testing \. (?:TB|[TBF])\b|\bTestingT\b|\bTB\b")
_OF_T = re.compile(r"(\w+)(?: , \w+){0,8} \*? ?testing \. (?:TB|[TBF])\b")
_LIBRARY = re.compile(r"(?:require|assert|is|must|check|qt|expect|td|gomega) \. (\w+) \(")
_EXACT = re.compile(
    r"!= (?!nil\b)|\b(?:DeepEqual|Equal\w*|Diff|JSONEq|YAMLEq|Exactly|ErrorIs|Is|Same|ElementsMatch|Compare|DeepEquals)\b"
)
_FAILS = {"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"}
_LEAVES = re.compile(
    r"if [^{;]{0,200}(?:os \. (?:Getenv|LookupEnv)|testing \. (?:Short|Testing)|flag \. \w+)[^{]*\{ return"
)
_GIVEN = re.compile(r"\bt \. (?:Run|Fuzz) \(([^;{]{0,300})\)")
_LOCAL = r"(?:^|[;{{(] |, |var ){name}(?: , \w+){{0,8}} (?::=|=|func) |\bvar {name} "


class Helpers:
    """The functions of one side, by package."""

    def __init__(self, project: Project, *, base: bool) -> None:
        self._project = project
        self._base = base
        self._defined: dict[str, dict[str, list[Defined]]] = {}
        self._asserts: dict[tuple[str, str], bool] = {}

    @cached_property
    def _tree(self) -> dict[str, list[str]]:
        tree = self._project.evidence.base if self._base else self._project.evidence.merged
        table: dict[str, list[str]] = {}
        for path in sorted(tree.entries):
            if path.endswith(".go") and "vendor" not in path.split("/"):
                table.setdefault(posixpath.dirname(path), []).append(path)
        return table

    def files(self, folder: str) -> Iterator[tuple[str, GoTestFile]]:
        """Files of a package that can hold functions that assert: of tests, or such as know the testing package."""
        for path in self._tree.get(folder, ()):
            if is_test_file(path) or self._speaks_of_tests(path):
                file = self._project.file(path, base=self._base)
                if file is not None:
                    yield path, file

    def _speaks_of_tests(self, path: str) -> bool:
        source = self._project.source(path, base=self._base) or ""
        return '"testing"' in source or "TestingT" in source or ".TB" in source

    def defined(self, folder: str) -> dict[str, list[Defined]]:
        """All that a package calls by a name; methods by that of the method."""
        if folder not in self._defined:
            table: dict[str, list[Defined]] = {}
            for path, file in self.files(folder):
                for name, function in file.others.items():
                    table.setdefault(name.rsplit(".", 1)[-1], []).append((path, function))
            self._defined[folder] = table
        return self._defined[folder]

    @cached_property
    def _moved(self) -> dict[str, set[str]]:
        return {}

    def assigned(self, folder: str) -> set[str]:
        """Names to which functions of the package assign."""
        if folder not in self._moved:
            self._moved[folder] = {n for _, f in self.files(folder) for n in f.assigned}
        return self._moved[folder]

    def replaced(self, folder: str, name: str) -> bool:
        """It is a variable of the package, and something assigns to it."""
        return name in self.assigned(folder) and any(name in f.declared for _, f in self.files(folder))

    def asserts(self, folder: str, name: str, depth: int = _DEPTH) -> bool:
        """Whatever runs under the name can fail a test, whenever it is called."""
        key = (folder, name)
        if key not in self._asserts:
            self._asserts[key] = False  # one that calls itself asserts nothing by that
            found = self.defined(folder).get(name, [])
            plain = bool(found) and not self.replaced(folder, name)
            self._asserts[key] = plain and all(self._plain(p, f, depth) for p, f in found)
        return self._asserts[key]

    def _plain(self, path: str, function: GoFunction, depth: int) -> bool:
        if _LEAVES.search(function.body) or self._own_t(path, function):
            return False
        if function.loses_t or function.dead or (function.returns and not function.assertions):
            return False
        if any(not condition for _, condition in function.skips) or "recover" in function.names:
            return False
        if function.returns and max(function.returns) >= 0:
            return False
        return bool(self.all(path, function, depth))

    def _own_t(self, path: str, function: GoFunction) -> bool:
        """Its `t` is of a type of the project whose methods are not those of the testing package."""
        kind = set(re.findall(r"\w+", function.parameters.split(" , ")[0])[1:])
        return any(
            name.partition(".")[0] in kind and name.partition(".")[2] in _FAILS
            for _, file in self.files(posixpath.dirname(path))
            for name in file.others
        )

    def all(self, path: str, function: GoFunction, depth: int = _DEPTH) -> Counter[str]:
        """Statements of a function that can fail a test, calls of functions that assert among them."""
        out = Counter({s: n for s, n in function.assertions.items() if not self._own_library(path, s)})
        for call in self._delegated(path, function, depth):
            out[f"call {call.owner}.{call.name}".replace("call .", "call ")] += 1
        return out

    def delegated(self, path: str, function: GoFunction) -> list[GoCall]:
        """Its calls of functions that assert."""
        return list(self._delegated(path, function, _DEPTH))

    def exact(self, path: str, function: GoFunction, depth: int = _DEPTH) -> bool:
        """It, or a function that it calls for that, compares a value as a whole with another."""
        if any(_EXACT.search(s) for s in function.assertions):
            return True
        if depth <= 0:
            return False
        file = self._project.file(path, base=self._base)
        folders = ((c, self._folder(path, file, c)) for c in self._delegated(path, function, depth))
        return any(
            self.exact(p, f, depth - 1) for c, folder in folders if folder is not None for p, f in self.defined(folder).get(c.name, [])
        )  # fmt: skip

    def any_exact(self, path: str, calls: list[str]) -> bool:
        """One of the functions that `all` names as called compares values, or is not there any more."""
        here = posixpath.dirname(path)
        for call in calls:
            name = call.removeprefix("call ").rsplit(".", 1)[-1]
            found = self.defined(here).get(name, [])
            if not found or any(self.exact(p, f) for p, f in found):
                return True
        return False

    def drawn_out(self, path: str, old: GoFunction, new: GoFunction) -> bool:
        """It calls a function of its package that says all that it said itself."""
        here = posixpath.dirname(path)
        for call in new.calls:
            found = self.defined(here).get(call.name, []) if not call.owner else []
            if len(found) == 1 and _drawn_out(old, found[0][1]) and self._gets_t(here, call, new) and not self.replaced(here, call.name):  # fmt: skip
                return True
        return False

    def hands_on(self, path: str, old: GoFunction, new: GoFunction) -> bool:
        """It gives its `t` to somebody who is not of this project, or a function that asserts to the runner."""
        file = self._project.file(path, base=self._base)
        known = {(c.owner, c.name) for c in old.calls}
        for call in new.calls:
            if (
                (call.owner, call.name) not in known
                and "t" in call.arguments
                and call.owner in (file.imports if file else {})
            ):
                folder = self._folder(path, file, call)
                if folder is None or call.name not in self.defined(folder):
                    return True
        here = posixpath.dirname(path)
        given = {n for m in _GIVEN.findall(new.body) for n in re.findall(r"\w+", m)}
        return any(n in self.defined(here) and self.asserts(here, n) for n in given)

    def calls(self, path: str, function: GoFunction) -> bool:
        """It calls a function that asserts."""
        return any(True for _ in self._delegated(path, function, _DEPTH))

    def _delegated(self, path: str, function: GoFunction, depth: int) -> Iterator[GoCall]:
        if depth <= 0 or not function.calls:
            return
        file = self._project.file(path, base=self._base)
        for call in function.calls:
            folder = self._folder(path, file, call)
            if folder is None or not self.asserts(folder, call.name, depth - 1):
                continue
            local = re.compile(_LOCAL.format(name=re.escape(call.name)))
            if not call.owner and (local.search(function.body) or re.search(rf"\b{re.escape(call.name)}\b", function.parameters)):  # fmt: skip
                continue
            if self._gets_t(folder, call, function):
                yield call

    def _folder(self, path: str, file: GoTestFile | None, call: GoCall) -> str | None:
        here = posixpath.dirname(path)
        if not call.owner or file is None or call.owner not in file.imports:
            return here if call.name in self.defined(here) else None
        return self.package(file.imports[call.owner])

    def package(self, imported: str) -> str | None:
        """The folder of the project that holds an imported package."""
        return next((f for f in self._tree if f and imported.endswith(f"/{f}") and "." in imported), None)

    def _gets_t(self, folder: str, call: GoCall, function: GoFunction) -> bool:
        """The function gets the very `t` that the runner gave, where it wants one."""
        known = {"t", "tb", *_OF_T.findall(function.body), *_OF_T.findall(function.parameters)}
        for _, made in self.defined(folder).get(call.name, []):
            for place, parameter in enumerate(_listed(made.parameters)):
                if not _TESTING.search(parameter):
                    continue
                given = call.arguments[place] if place < len(call.arguments) else ""
                if given not in known and not given.endswith(". T ( )"):
                    return False
        return True

    def _own_library(self, path: str, statement: str) -> bool:
        """`assert.Equal` of a package or variable of the project that asserts nothing."""
        match = _LIBRARY.match(statement)
        if match is None:
            return False
        owner, name = statement.split(" ", 1)[0], match[1]
        file = self._project.file(path, base=self._base)
        if file is not None and owner in file.imports:
            folder = self.package(file.imports[owner])
            return folder is not None and name in self.defined(folder) and not self.asserts(folder, name)
        return any(owner in f.declared for _, f in self.files(posixpath.dirname(path)))


def _drawn_out(old: GoFunction, function: GoFunction) -> bool:
    """The body of a test became a function, and nothing new keeps it from asserting."""
    lost = old.assertions - function.assertions
    more = (
        (function.returns, old.returns), (function.dead, old.dead), (function.skips, old.skips), (function.adrift, old.adrift),
        (function.exits, old.exits), ((1,) * function.loses_t, (1,) * old.loses_t), ((1,) * ("recover" in function.names), (1,) * ("recover" in old.names)),
    )  # fmt: skip
    return bool(old.assertions) and not lost and all(len(now) <= len(was) for now, was in more)


def _listed(parameters: str) -> list[str]:
    """Parameters one by one; brackets inside are rare enough to be cut."""
    return parameters.split(" , ")
