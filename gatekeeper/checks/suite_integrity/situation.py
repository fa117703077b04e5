"""What all parts of the check look at: results by test in each run, modules read once, permits."""

from __future__ import annotations

import ast
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.globs import matches_any, test_id_matches
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole, completed
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import Tree, text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats import python_code
from gatekeeper.formats.python_announcing import ended_ways, newly_warned
from gatekeeper.formats.python_following import CodeChange, code_change
from gatekeeper.formats.python_source import TestFunction, TestModule, read_module

_NOTES = re.compile(r"(?:CHANGE\w*|HISTORY|NEWS|AUTHORS)(?:\.txt)?$")
BAD = (Outcome.FAILED, Outcome.ERRORED)
GOOD = (Outcome.PASSED,)


class Results:
    """The results of all suites of one role, by test id (a multiset) and by function."""

    def __init__(self, cases: Iterable[CaseResult]) -> None:
        self.by_id: dict[str, list[CaseResult]] = {}
        for case in cases:
            self.by_id.setdefault(case.id, []).append(case)

    def outcomes(self, test_id: str) -> Counter[Outcome]:
        """How often each outcome; that of the module where only the module was reported (it did not load, or is skipped)."""
        rows = self.by_id.get(test_id)
        if rows is None:
            rows = self.by_id.get(test_id.split("::", 1)[0], [])
        return Counter(c.outcome for c in rows)

    def first(self, test_id: str) -> CaseResult | None:
        """The worst result of that test, or its module's."""
        rows = self.by_id.get(test_id) or self.by_id.get(test_id.split("::", 1)[0]) or []
        return min(rows, key=lambda c: c.outcome not in BAD, default=None)

    @cached_property
    def functions(self) -> dict[tuple[str, str], list[str]]:
        """(path, qualified name) -> ids with parameters."""
        table: dict[tuple[str, str], list[str]] = {}
        for test_id in self.by_id:
            if "::" in test_id:
                table.setdefault(place(test_id), []).append(test_id)
        return table


def place(test_id: str) -> tuple[str, str]:
    """(path, qualified name) of an id, parameters left out. JUnit's dotted class names are kept as they are."""
    bare = test_id.split("[", 1)[0]
    path, _, name = bare.partition("::")
    return path, name


class Situation:
    """One change, with everything read at most once."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.instruments = Instruments(evidence.settings, evidence.suites, evidence.base)
        self.changed = {p.path: p for p in evidence.change.paths}
        self._modules: dict[tuple[bool, str], TestModule | None] = {}

    def results(self, role: RunRole) -> Results | None:
        """Results of a role over all suites; None where no run of it showed a single test."""
        runs = [r for r in self.evidence.runs if r.role is role]
        cases = [self._located(c) for r in runs for c in r.cases]
        return Results(cases) if cases else None

    def _located(self, case: CaseResult) -> CaseResult:
        """JUnit knows dotted class names only: `tests.test_a.TestB::test_c` becomes an id with a path where there is one."""
        head, sep, name = case.id.partition("::")
        if not sep or "/" in head or head.endswith(".py"):
            return case
        parts = head.split(".")
        for end in range(len(parts), 0, -1):
            path = "/".join(parts[:end]) + ".py"
            if path in self.evidence.base.entries or path in self.evidence.merged.entries:
                return replace(case, id="::".join([path, *parts[end:], name]))
        place = self._classes.get(head.split("$", 1)[0])
        return replace(case, id=f"{place}::{name}") if place else case

    @cached_property
    def _classes(self) -> dict[str, str]:
        """Source files by the class name that JUnit has for them, in languages where a class lies in a file of its name."""
        table: dict[str, str] = {}
        for tree in (self.evidence.merged, self.evidence.base):
            for path in tree.entries:
                stem, dot, ending = path.rpartition(".")
                if dot and ending in ("java", "kt", "scala", "groovy"):
                    parts = stem.split("/")
                    for start in range(len(parts)):
                        table.setdefault(".".join(parts[start:]), path)
        return table

    @cached_property
    def merged(self) -> Results | None:
        """The merge result as it is."""
        return self.results(RunRole.MERGED)

    @cached_property
    def before(self) -> Results | None:
        """The target tip; of tests that need not be run there, what is known of them."""
        cases: list[CaseResult] = []
        for run in (r for r in self.evidence.runs if r.role is RunRole.BASE):
            known = self.evidence.run(RunRole.BASE_INSTRUMENTS, run.suite) or self.evidence.run(
                RunRole.MERGED, run.suite
            )
            shown = completed(run, known)
            if not run.accounted_for and known is not None and known.role is RunRole.BASE_INSTRUMENTS:
                # What the control lost, the same tests on the change's code show to exist.
                ids = {c.id for c in shown}
                shown += tuple(c for c in known.cases if c.id not in ids)
            cases += map(self._located, shown)
        return Results(cases) if cases else None

    @cached_property
    def restored(self) -> Results | None:
        """The base's instruments on the merge result; a flake that is not the change's counts as the pass it was seen to be."""
        found = self.results(RunRole.BASE_INSTRUMENTS)
        flaky = self.evidence.flaky
        if found is not None and flaky is not None:
            for test in flaky.excused(RunRole.BASE_INSTRUMENTS):
                passes = [c for r in flaky.runs for c in r.cases if c.id == test and c.outcome in GOOD]
                found.by_id[test] = passes[:1] or found.by_id[test]
        return found

    @cached_property
    def probed(self) -> Results | None:
        """The change's tests on the target tip's code."""
        return self.results(RunRole.NEW_TESTS_ON_BASE)

    def source(self, path: str, *, base: bool = False) -> str | None:
        """Text at `path` in base or merge result; None where there is none or it is too large."""
        tree: Tree = self.evidence.base if base else self.evidence.merged
        try:
            return text(tree, path)
        except CouldNotCheck:
            return None

    def module(self, path: str, *, base: bool = False) -> TestModule | None:
        """The tests that the source of a module defines."""
        key = (base, path)
        if key not in self._modules:
            self._modules[key] = read_module(self.source(path, base=base)) if path.endswith(".py") else None
        return self._modules[key]

    def function(self, path: str, name: str, *, base: bool = False) -> TestFunction | None:
        """One test by path and qualified name."""
        module = self.module(path, base=base)
        return module.tests.get(name) if module else None

    def definition(self, path: str, name: str, *, base: bool = False) -> python_code.Definition | None:
        """A function as it stands in the source, decorators included."""
        plain = name.replace("::", ".")
        tree = python_code.parse(self.source(path, base=base)) if path.endswith(".py") else None
        found = dict(python_code.definitions(tree)).get(plain) if tree is not None else None
        if found is None and tree is not None and "." in plain:
            # A test that the class takes over, or a class that the module does: its one definition in a changed module.
            owner, _, method = plain.partition(".")
            own = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == owner), None)
            owners = (
                [b.attr if isinstance(b, ast.Attribute) else getattr(b, "id", "") for b in own.bases]
                if own
                else [owner]
            )
            homes = [python_code.parse(self.source(p, base=base)) for p in self.changed if p.endswith(".py")]
            rows = [
                d
                for t in homes
                if t is not None
                for table in [dict(python_code.definitions(t))]
                for o in owners
                if (d := table.get(f"{o}.{method}")) is not None
            ]
            if not rows:
                # Taken over by way of a class in between: the one method of that name.
                trees = [t for t in homes if t is not None]
                rows = [
                    d
                    for t in trees
                    for n, d in python_code.definitions(t)
                    if n.rpartition(".")[2] == method and "." in n
                ]
            found = rows[0] if len(rows) == 1 else None
        return found

    @cached_property
    def code_change(self) -> CodeChange:
        """Words that went out of and came into the changed modules of the code."""
        paths = [p for p in self.changed if p.endswith(".py") and self.kind(p) is None]
        return code_change((self.source(p, base=True), self.source(p)) for p in paths)

    @cached_property
    def test_names(self) -> frozenset[str]:
        """Every word of the target's Python that begins like the name of a test."""
        paths = [p for p in self.evidence.base.entries if p.endswith(".py")]
        return frozenset(w for p in paths for w in re.findall(r"test\w*", self.source(p, base=True) or ""))

    @cached_property
    def code_pairs(self) -> list[tuple[str, ast.Module, ast.Module]] | None:
        """(path, tree before, tree after) of the changed modules of the code; None where anything else came, went or changed.

        Instruments and notes for people are left out: neither is what the target's own tests run on.
        """
        rows = []
        for path, changed in self.changed.items():
            if self.kind(path) is not None or path.endswith((".rst", ".md")) or _NOTES.match(posixpath.basename(path)):
                continue
            before, after = (python_code.parse(self.source(path, base=base)) for base in (True, False))
            if not path.endswith(".py") or changed.old is None or changed.new is None or not before or not after:
                return None
            rows.append((path, before, after))
        return rows

    @cached_property
    def newly_warned(self) -> dict[str, Mapping[str, frozenset[str]]] | None:
        """Module of the code -> what warns of its end there now; None where the change of the code does anything else."""
        rows = {path: newly_warned(old, new) for path, old, new in self.code_pairs or ()}
        told = {path: row for path, row in rows.items() if row is not None}
        return told if len(told) == len(rows) > 0 else None

    @cached_property
    def ended_ways(self) -> frozenset[str]:
        """What the warnings said whose branches went out of the code; empty where the change of the code does anything else."""
        rows = [ended_ways(old, new) for _, old, new in self.code_pairs or ()]
        whole = [ways for ways in rows if ways is not None]
        return frozenset(w.message for ways in whole for w in ways) if len(whole) == len(rows) else frozenset()

    def defined(self, path: str, name: str, *, base: bool = False) -> TestFunction | None:
        """As `function`; for a method that the class inherits, the one definition of the module with its name."""
        found = self.function(path, name, base=base)
        module = self.module(path, base=base)
        if found is None and module is not None and "::" in name:
            method = name.rsplit("::", 1)[-1]
            same = [t for n, t in module.tests.items() if n.rsplit("::", 1)[-1] == method]
            return same[0] if len(same) == 1 else None
        return found

    @cached_property
    def new_functions(self) -> list[tuple[str, TestFunction]]:
        """Tests of changed modules that the base does not have at that place, or has with another body or other rows."""
        out = []
        for path, changed in self.changed.items():
            module = self.module(path) if changed.new is not None else None
            for name, test in (module.tests if module else {}).items():
                old = self.function(path, name, base=True)
                if old is None or (old.body, old.decorators) != (test.body, test.decorators):
                    out.append((path, test))
        return out

    def own(self, package: str) -> bool:
        """The target has a package or module of that name."""
        entries = self.evidence.base.entries
        names = (f"{package}.py", f"src/{package}.py")
        return any(n in entries for n in names) or any(
            p.startswith((f"{package}/", f"src/{package}/")) for p in entries
        )

    def kind(self, path: str) -> InstrumentKind | None:
        """What kind of instrument a path is."""
        return self.instruments.kind(path)

    def permits(self, kinds: Iterable[PermitKind], *, test_id: str = "", path: str = "", words: str = "") -> bool:
        """True where a permit of one of the kinds names this test, this path, or something that `words` speaks of."""
        for kind in kinds:
            for permit in self.evidence.ticket.permits_of(kind):
                if test_id and any(test_id_matches(g, test_id) for g in permit.tests):
                    return True
                # A permit for single tests of a file is none for the rest of the file.
                if path and not (permit.tests and test_id) and matches_any(permit.paths, path):
                    return True
                if words and any(_spoken(n, words) for n in permit.names):
                    return True
        return False


def _spoken(name: str, words: str) -> bool:
    """The last part of a dotted name is a word of the text; `old -> new` names two."""
    if len(both := re.split(r"\s*(?:->|=>|\u2192|\s+to\s+)\s*", name, maxsplit=1)) == 2:
        return any(_spoken(n, words) for n in both)
    last = name.rsplit(".", 1)[-1].rsplit(":", 1)[-1].strip("()` ")
    return bool(last) and re.search(rf"(?<!\w){re.escape(last)}(?!\w)", words) is not None


def near(path: str, other: str) -> bool:
    """True where the instrument `other` (a conftest, a settings file) reaches the test module `path`."""
    folder = posixpath.dirname(other)
    return not folder or path.startswith(f"{folder}/")
