"""Functions that assert for tests, followed to what runs under their names: in the module, in those it imports, in place of them."""

from __future__ import annotations

import posixpath
import re
from functools import cached_property

from gatekeeper.checks.javascript_tests.project import Project, is_script
from gatekeeper.formats.javascript_assertions import Delegate, ScriptAssertion, assertions
from gatekeeper.formats.javascript_exports import ALL, DEFAULT
from gatekeeper.formats.javascript_names import Binding, How, ScriptNames, function_end, read_names
from gatekeeper.formats.javascript_reach import State
from gatekeeper.formats.javascript_tests import ScriptTest
from gatekeeper.formats.javascript_tokens import EXTENSIONS, Kind
from gatekeeper.records import dataclass

_DEPTH = 4
"""Modules and functions that are followed one into the other."""
LIBRARY = frozenset({"assert", "expect"})
RUNNER = frozenset({"test", "it", "describe", "suite"})
_ASSERTING = frozenset(
    {"strictEqual", "deepStrictEqual", "deepEqual", "notStrictEqual", "notDeepStrictEqual", "notDeepEqual", "rejects", "equal"}
)  # fmt: skip
_LIBRARIES = re.compile(r"(?:node:)?(?:assert|test)(?:/\w+)?|(?:@\w[\w-]*/)?(?:chai|vitest|expect|globals|test|jest\S*|power-assert|should|expect\.js)")  # fmt: skip
_NO_CALL = {"if", "for", "while", "switch", "catch", "function", "return", "await", "typeof", "super", "require", "import"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Helper:
    """A function of the project, by where it stands."""

    path: str
    name: str
    start: int
    end: int
    later: bool


class Helpers:
    """Functions of one side of the change."""

    def __init__(self, project: Project, *, base: bool) -> None:
        self._project = project
        self._base = base
        self._ranks: dict[tuple[str, int], int] = {}
        self._files: dict[tuple[str, str], str] = {}

    def names(self, path: str) -> ScriptNames:
        """Names of a module; none where there is no script."""
        source = self._project.source(path, base=self._base) if is_script(path) else None
        return read_names(source) if source else ScriptNames()

    def file(self, path: str, module: str) -> str:
        """Path of a relative module; empty for any other and where there is none."""
        if not module.startswith("."):
            return ""
        if (path, module) not in self._files:
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
            stem = re.sub(r"\.[cm]?jsx?$", "", place)
            tries = [place, *(p + e for p in dict.fromkeys((place, stem, f"{place}/index")) for e in EXTENSIONS)]
            tree = self._project.evidence.base if self._base else self._project.evidence.merged
            self._files[path, module] = next((t for t in tries if t in tree.entries and is_script(t)), "")
        return self._files[path, module]

    def at(self, path: str, index: int, depth: int = _DEPTH) -> Helper | None:
        """What is called at `index` of a module, where it is one function of the project and nothing replaces it."""
        names = self.names(path)
        name = names.found[index].text
        if index > 1 and names.found[index - 1].text in (".", "?."):
            whole = names.plain(names.found[index - 2].text, index)
            owner = names.found[index - 2].text
            if whole is None or (index > 2 and names.found[index - 3].text in (".", "?.")):
                return None
            if whole.how is not How.IMPORT or whole.imported not in (ALL, DEFAULT):
                return None
            if self._patched(path, owner, name) or self._replaced(path, whole.module, name):
                return None
            return self._exported(self.file(path, whole.module), name, depth)
        one = names.plain(name, index)
        return self._bound(path, name, one, depth) if one is not None else None

    def _bound(self, path: str, name: str, one: Binding, depth: int) -> Helper | None:
        if one.how is How.IMPORT:
            if self._replaced(path, one.module, name if one.imported in (ALL, DEFAULT) else one.imported):
                return None
            wanted = DEFAULT if one.imported == ALL else one.imported
            return self._exported(self.file(path, one.module), wanted, depth)
        if one.how is How.FUNCTION:
            return Helper(path, name, one.start, one.end, one.later)
        if one.how is How.VALUE and one.end > one.start:
            found = self.names(path).found
            if one.end - one.start == 1 and found[one.start].kind is Kind.NAME and depth:
                return self.at(path, one.start, depth - 1)
            if any(t.text in ("=>", "function") for t in found[one.start : one.start + 60]) and found[one.start].text in ("(", "async", "function", found[one.start].text if found[one.start + 1].text == "=>" else ""):  # fmt: skip
                return Helper(path, name, one.start, one.end, one.later)
        return None

    def _exported(self, path: str, name: str, depth: int) -> Helper | None:
        """The function that a module gives under a name."""
        if not path or depth <= 0:
            return None
        names = self.names(path)
        places = names.exports.get(name, ())
        if len(places) > 1:
            return None
        if not places:
            others = [(m, n if n != ALL else name) for e, m, n in names.passed_on if e in (name, ALL)]
            found = [self._exported(self.file(path, m), n, depth - 1) for m, n in others]
            return next((f for f in found if f is not None), None)
        at = places[0]
        if any(o in ("exports", "module.exports") and m in (name, ALL) for o, m, _ in names.patched) and not self._once(names, name):  # fmt: skip
            return None
        if at >= len(names.found):
            return None
        token = names.found[at]
        if token.kind is Kind.NAME and token.text not in ("async", "function"):
            one = names.plain(token.text, at)
            if one is not None:
                return self._bound(path, token.text, one, depth - 1)
            if names.at(token.text, at):
                return None
        later = token.text == "async" or names.found[at - 1].text == "async"
        return Helper(path, name, at, function_end(names.found, names.pairs, at), later)

    def exported(self, path: str, name: str) -> Helper | None:
        """The function that a module gives to others under a name, where it is one and nothing replaces it."""
        return self._exported(path, name, _DEPTH)

    @staticmethod
    def _once(names: ScriptNames, name: str) -> bool:
        return sum(o in ("exports", "module.exports") and m in (name, ALL) for o, m, _ in names.patched) == 1

    def _patched(self, path: str, owner: str, member: str) -> bool:
        return any(o == owner and m in (member, ALL) for o, m, _ in self.names(path).patched)

    def _replaced(self, path: str, module: str, member: str) -> bool:
        """The module, or that member of it, is something else in this file or in a changed file that starts the tests."""
        target = self.file(path, module)
        for place in (path, *self._starters):
            read = self._project.module(place, base=self._base)
            if read is not None and any(m == module if place == path else target and self.file(place, m) == target for m, _ in read.mocked):  # fmt: skip
                return True
            names = self.names(place)
            for owner, name, _ in names.patched:
                if name in (member, ALL) and (owner == module or any(b.how is How.IMPORT and b.imported in (ALL, DEFAULT) and self.file(place, b.module) == target and target for b in names.bound.get(owner, ()))):  # fmt: skip
                    return True
        return False

    @cached_property
    def _starters(self) -> tuple[str, ...]:
        """Changed scripts without tests, of the tests: set-up files and the like."""
        project = self._project
        return tuple(
            p
            for p, before, after in project.changed_scripts
            if (before if self._base else after)
            and (k := project.kind(p)) is not None
            and k.bends_runs
            and not project.tests(p, base=self._base)
        )[:50]

    def rank(self, helper: Helper, depth: int = _DEPTH) -> int:
        """Strength of its strongest assertion that runs whenever it is called."""
        key = (helper.path, helper.start)
        if key not in self._ranks:
            self._ranks[key] = 0  # one that calls itself asserts nothing by that
            found = self.said(helper, depth)
            self._ranks[key] = max((a.rank for a in found if a.state is State.LIVE), default=0)
        return self._ranks[key]

    def said(self, helper: Helper, depth: int = _DEPTH) -> tuple[ScriptAssertion, ...]:
        """Its assertions; none where the library that it asserts with is no library."""
        if self.owns(helper.path, LIBRARY | _ASSERTING, helper.start):
            return ()
        body = self.names(helper.path).found[helper.start : helper.end]
        return assertions(body, lambda i: self._delegate(helper.path, helper.start, len(body), i, depth))

    def of(self, path: str, test: ScriptTest) -> tuple[ScriptAssertion, ...]:
        """All assertions of a test, calls of functions that assert among them."""
        return assertions(test.part, lambda i: self._delegate(path, test.start, len(test.part), i, _DEPTH))

    def _delegate(self, path: str, start: int, size: int, index: int, depth: int) -> Delegate | None:
        names = self.names(path)
        at = start + index
        if at >= len(names.found) or names.found[at].text in _NO_CALL or depth <= 0:
            return None
        if at and names.found[at - 1].text in ("function", "new"):
            return None
        helper = self.at(path, at)
        if helper is None:
            return None
        inside = helper.path == path and start <= helper.start < start + size
        if inside or (rank := self.rank(helper, depth - 1)) <= 0:
            return None
        return Delegate(names.found[at].text, rank, helper.later)

    def inner(self, path: str, test: ScriptTest) -> int:
        """Strength of the strongest function that the test defines itself and calls."""
        names = self.names(path)
        best = 0
        for index, token in enumerate(test.part):
            at = test.start + index
            if token.kind is Kind.NAME and names.found[at + 1 : at + 2] and names.found[at + 1].text == "(":
                helper = self.at(path, at)
                if helper is not None and helper.path == path and test.start <= helper.start < at:
                    best = max(best, self.rank(helper))
        return best

    def owns(self, path: str, wanted: frozenset[str], index: int | None = None, depth: int = _DEPTH) -> tuple[str, int] | None:  # fmt: skip
        """(name, line) of one of the library's names that is something of the project's own; None where all are the library's.

        `index`: only what holds there.
        """
        names = self.names(path)
        read = self._project.module(path, base=self._base)
        for module, line in read.mocked if read else ():
            if not module.startswith(".") and _LIBRARIES.fullmatch(module):
                return module, line
        for owner, member, line in names.patched:
            if owner in wanted & LIBRARY and member not in ("showDiff", "includeStack", "truncateThreshold"):
                return f"{owner}.{member}", line
        for name in wanted & names.bound.keys():
            here = names.bound[name] if index is None else names.at(name, index)
            for one in here:
                if self._own(path, name, one, depth):
                    return name, one.line
        return None

    def _own(self, path: str, name: str, one: Binding, depth: int) -> bool:
        names = self.names(path)
        if one.how is How.PARAMETER:
            return one.has_default
        if one.how is How.IMPORT:
            if one.module.startswith(("#", "@/", "~")):
                return False
            target = self.file(path, one.module)
            wanted = name if one.imported == ALL else one.imported
            return bool(target) and depth > 0 and not self._gives_library(target, wanted, depth - 1)
        value = names.found[one.start : one.end]
        if one.how is How.FUNCTION or any(t.text in ("=>", "function", "class") for t in value[:40]) or (value and value[0].text == "{"):  # fmt: skip
            return not _passes_on(value)
        if one.how is How.ASSIGNED:
            return not any(t.text in ("require", "chai", "import", *LIBRARY, *RUNNER) for t in value)
        return False

    def _gives_library(self, path: str, name: str, depth: int) -> bool:
        """A module of the project hands the library on under that name."""
        names = self.names(path)
        places = names.exports.get(name, ())
        for at in places:
            token = names.found[at] if at < len(names.found) else None
            if token is None or token.text in ("async", "function", "{", "("):
                return False
            for one in names.at(token.text, at):
                if self._own(path, token.text, one, depth):
                    return False
        if places:
            return True
        return not any(
            e in (name, ALL) and (t := self.file(path, m)) and depth and not self._gives_library(t, n if n != ALL else name, depth - 1)
            for e, m, n in names.passed_on
        )  # fmt: skip


def _passes_on(value: tuple[object, ...]) -> bool:
    """The function calls, or hands on, the last of its parameters: one that wraps the runner's own."""
    texts = [getattr(t, "text", "") for t in value]
    end = texts.index(")") if ")" in texts else 0
    named = [t for t in texts[1:end] if re.fullmatch(r"[A-Za-z_$][\w$]*", t)]
    if not named:
        return False
    last, body = named[-1], texts[end + 1 :]
    return any(w == last and (body[i + 1 : i + 2] == ["("] or body[i - 1 : i] in (["("], [","], ["..."])) for i, w in enumerate(body))  # fmt: skip
