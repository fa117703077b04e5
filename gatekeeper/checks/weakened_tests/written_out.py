"""The second look at a test: both versions with their helpers, fixtures, loops and rows written out.

A test may say through a helper what it said itself. What then stands in both is kept; what a new helper leaves out is
lost, however strong the rest of it is.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from functools import cached_property

from gatekeeper.checks.weakened_tests.compare import Loss, losses
from gatekeeper.checks.weakened_tests.modules import Modules
from gatekeeper.checks.weakened_tests.rebound import rebound
from gatekeeper.checks.weakened_tests.stand_ins import as_strong, faked
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.instruments import Instruments
from gatekeeper.domain.tree import text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.python_assertions import Assertion, Body, Kind, ModuleAssertions
from gatekeeper.formats.python_assertions.binding import NotPlain
from gatekeeper.formats.python_assertions.bound_names import local_names
from gatekeeper.formats.python_assertions.defaults import without_defaults
from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.reading import body_of
from gatekeeper.formats.python_assertions.row_bindings import bindings
from gatekeeper.formats.python_assertions.support import Place
from gatekeeper.formats.python_assertions.unfolding import Unfolder
from gatekeeper.formats.python_code import Function, definitions, parse
from gatekeeper.records import dataclass, replace

_MAX_TESTS = 300
"""Tests of one change that get the second look."""
_MAX_MODULES = 300
"""Modules of the code in which signatures are looked for."""


@dataclass(frozen=True)
class Unfolded:
    """One version of a test, once for each of its rows."""

    bodies: tuple[Body, ...]
    called: frozenset[str]
    foreign: frozenset[str]
    trees: tuple[Function, ...]
    home: Place
    frames: frozenset[str]
    hushed: bool
    strange: frozenset[str]
    """What it asserts with that reads as a test library's and is something else."""

    @property
    def whole(self) -> Body:
        """All that its rows assert together."""
        said = tuple(a for b in self.bodies for a in b.assertions)
        return replace(self.bodies[0], assertions=said) if len(self.bodies) > 1 else self.bodies[0]


class WrittenOut:
    """Reads the modules that the edited tests take their helpers from, each once."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._instruments = Instruments(evidence.settings, evidence.suites, evidence.base)
        self._modules = Modules(evidence, self._instruments)
        self._known_signatures: dict[str, list[tuple[Function, bool]]] = {}
        self._looked = 0

    def second_look(
        self, old_path: str, path: str, old: Body, new: Body, module: ModuleAssertions
    ) -> tuple[bool, list[Loss]]:
        """(every assertion of the old version stands in the new one, what it lost to what is new about it)."""
        self._looked += 1
        if self._looked > _MAX_TESTS:
            return False, []
        try:
            rows = bool(new.rows) and not old.rows
            was = self._unfolded(old_path, old.name, base=True, rows=False, beside=path)
            trusted = was.frames if was is not None else frozenset()
            now = self._unfolded(path, new.name, base=False, rows=rows, beside=old_path, trusted=trusted)
            if (
                was is None
                or now is None
                or not now.bodies
                or now.strange - was.strange
                or _bound_anew(was.home, now.home, now.trees)
            ):
                return False, []
            before = was.bodies[0]
            if _kept(before, now):
                return bool(before.live), []
            if _kept(self._shortened(was).bodies[0], self._shortened(now)):
                return bool(before.live), []
            if self._split(old_path, path, old, before, now):
                return True, []
        except (NotPlain, RecursionError):
            return False, []
        bound = {**module.bound, **dict.fromkeys(now.foreign, 1)}
        places = self._modules.read(base=False)
        imported = {
            n: o for n, o in was.home.imports.items()
            if (at := self._modules.find(old_path, o, base=True)) is None or not at[0].tests
        }  # fmt: skip
        out = faked(before, now.whole, imported, places) if now.called - was.called else []
        return False, out + _new_losses(before, now, was.called, replace(module, bound=bound))

    def rebound(self, old_path: str, path: str, name: str, called: Iterable[str]) -> frozenset[str]:
        """Those of the helpers that the test `name` calls in whose place, or in that of what they use, another may stand."""
        home, earlier = self._modules.place(path, base=False), self._modules.place(old_path, base=True)
        node = dict(definitions(home.tree)).get(name) if home is not None else None
        if home is None or not isinstance(node, Function):
            return frozenset()
        try:
            plainness = self._modules.plainness(home, base=False)
            own, local = name.rpartition(".")[0], local_names(node)
            doubtful = {n for n in called if plainness.doubtful(own, n, shadowed=n in local)}
            for n in set(called) - doubtful:
                helper = home.functions.get(n)
                if helper is not None and earlier is not None and self._uses_other(home, earlier, helper):
                    doubtful.add(n)
            return frozenset(doubtful)
        except RecursionError:
            return frozenset(called)

    def rebound_by(self, path: str) -> list[tuple[str, str]]:
        """(name, what stands for it now) of what tests assert with and the module at `path` replaces."""
        try:
            return list(rebound(self._modules, path))
        except RecursionError:
            return []

    def _uses_other(self, home: Place, earlier: Place, helper: Function) -> bool:
        """A helper that uses what the module did not mean by these names before."""
        strange = self._modules.plainness(home, base=False).standard("", helper)
        if strange:
            strange -= self._modules.plainness(earlier, base=True).standard("", earlier.tree)
        return bool(strange) or _bound_anew(earlier, home, [helper])

    def _split(self, old_path: str, path: str, old: Body, before: Body, now: Unfolded) -> bool:
        """What the test says no more stands in new tests beside it, which nothing keeps from running."""
        earlier = self._modules.place(old_path, base=True)
        known = {q for q, _ in definitions(earlier.tree)} if earlier is not None else set()
        beside = old.name.rpartition(".")[0]
        said = list(now.whole.assertions)
        for name, node in definitions(now.home.tree):
            scope, _, last = name.rpartition(".")
            fresh = name not in known and last.startswith("test") and scope in ("", beside)
            if (
                not fresh
                or not isinstance(node, Function)
                or any(last_name(d) != "parametrize" for d in node.decorator_list)
            ):
                continue
            other = self._unfolded(path, name, base=False, rows=True, beside=old_path, trusted=now.frames)
            if other is not None and other.strange - now.strange:
                continue
            if other is not None and other.bodies and not other.bodies[0].yields:
                said += other.whole.live
        return bool(before.live) and len(said) > len(now.whole.assertions) and _holds(
            before, replace(now.bodies[0], assertions=tuple(said))
        )  # fmt: skip

    def _unfolded(
        self, path: str, name: str, *, base: bool, rows: bool, beside: str, trusted: frozenset[str] | None = None
    ) -> Unfolded | None:
        home = self._modules.place(path, base=base)
        tree = home.tree if home is not None else None
        node = dict(definitions(tree)).get(name) if tree is not None else None
        if home is None or not isinstance(node, Function):
            return None
        other = self._modules.place(beside, base=not base)
        known = {**(other.imports if other is not None else {}), **home.imports}
        plainness = self._modules.plainness(home, base=base)
        unfolder = Unfolder(home, plainness, self._modules.fixtures(path, base=base), known, trusted)
        tables = bindings(node, home.values) if rows else [{}]
        trees = tuple(unfolder.function(name, node, t) for t in tables)
        made = tuple(body_of(t, name, home.values) for t in trees)
        strange = frozenset(s for t in trees for s in plainness.standard(name.rpartition(".")[0], t))
        return Unfolded(
            made, frozenset(unfolder.called), frozenset(unfolder.foreign), trees, home, frozenset(unfolder.frames),
            unfolder.hushed, strange,
        )  # fmt: skip

    def _shortened(self, one: Unfolded) -> Unfolded:
        """The same, where arguments that are the code's own defaults are not said."""
        trees = (without_defaults(t, self._signatures) for t in one.trees)
        made = tuple(body_of(t, b.name, one.home.values) for t, b in zip(trees, one.bodies, strict=True))
        return replace(one, bodies=made)

    def _signatures(self, name: str) -> list[tuple[Function, bool]]:
        if not name or name in dir(builtins):
            return []
        found = self._known_signatures.get(name)
        if found is None:
            found = []
            for path, tree in self._code:
                if f"def {name}(" in (text(self._evidence.merged, path) or ""):
                    found += [
                        (n, "." in q) for q, n in definitions(tree)
                        if isinstance(n, Function) and q.rpartition(".")[2] == name
                    ]  # fmt: skip
            self._known_signatures[name] = found
        return found

    @cached_property
    def _code(self) -> list[tuple[str, ast.Module]]:
        paths = [p for p in self._evidence.merged.entries if p.endswith(".py") and self._instruments.kind(p) is None]
        out: list[tuple[str, ast.Module]] = []
        for path in paths[:_MAX_MODULES]:
            try:
                tree = parse(text(self._evidence.merged, path))
            except CouldNotCheck:
                continue
            if tree is not None:
                out.append((path, tree))
        return out


def _bound_anew(was: Place, now: Place, trees: Iterable[ast.AST]) -> bool:
    """Something that these take from elsewhere is bound once more than it was by the module itself."""
    read = {n.id for t in trees for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return any(now.binds[n] > max(was.binds[n], n not in was.imports and not hasattr(builtins, n)) for n in read)


def _holds(old: Body, new: Body) -> bool:
    """Every assertion that could fail the old version can fail the new one, as many times."""
    left: dict[str, list[Assertion]] = {}
    for b in new.live:
        left.setdefault(b.expected, []).append(b)
    for a in old.live:
        among = left.get(a.expected, [])
        same = next((b for b in among if as_strong(a, b)), None)
        if same is None:
            return False
        among.remove(same)
    return not new.yields or old.yields


def _kept(old: Body, now: Unfolded) -> bool:
    """One row says it all, or all rows together where none can answer for another."""
    return any(_holds(old, b) for b in now.bodies) or (_unmistakable(now.bodies) and _holds(old, now.whole))


def _unmistakable(bodies: tuple[Body, ...]) -> bool:
    """What is asked of is another thing in every row, so that no row answers for another."""
    wanted: dict[str, set[tuple[str, str, str]]] = {}
    for a in (a for b in bodies for a in b.live):
        wanted.setdefault(a.subject, set()).add(a.canonical)
    return all(len(w) == 1 for w in wanted.values())


def _new_losses(old: Body, now: Unfolded, known: frozenset[str], module: ModuleAssertions) -> list[Loss]:
    """Losses that only what the new version is drawn out to can show."""
    fresh = now.called - known
    rows = len(now.bodies) > 1
    if not fresh and not rows and not now.hushed:
        return []
    whole = now.whole
    out = [
        Loss("ASSERTION_WEAKENED", b.line, a.text, b.text)
        for a in old.live if a.kind is Kind.EQUAL and a.literal
        for b in whole.live if b.kind is Kind.EQUAL and b.subject == a.subject and a.subject in b.expected
    ]  # fmt: skip
    found = losses(old, whole, module)
    return out + [f for f in found if f.code == "EXPECTED_VALUE_EDITED" or not rows]
