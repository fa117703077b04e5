"""What the parts of the check look at: Go files of both sides read once, results by test, permits."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.globs import matches_any, test_id_matches
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.go_tests import GoFunction, GoTestFile, read_go_tests
from gatekeeper.formats.go_tokens import name_constraint

BAD = (Outcome.FAILED, Outcome.ERRORED)
INTERFACE = re.compile(
    r"undefined: |not enough arguments in call|too many arguments in call|has no field or method|cannot use .* as "
    r"|is not in std|no required module provides package|assignment mismatch|does not implement|unknown field"
)
"""What the compiler says where a test uses an interface that is not there any more."""


def is_test_file(path: str) -> bool:
    """Whether `go test` would compile the file as one of tests."""
    name = posixpath.basename(path)
    if not name.endswith("_test.go") or name.startswith(("_", ".")):
        return False
    return not any(p == "testdata" or p.startswith(("_", ".")) for p in path.split("/")[:-1])


class Project:
    """One change, with every file read at most once."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.changed = {p.path: p for p in evidence.change.paths}
        self._files: dict[tuple[bool, str], GoTestFile | None] = {}

    def source(self, path: str, *, base: bool = False) -> str | None:
        """Text at `path`; None where there is none or it is too large."""
        tree = self.evidence.base if base else self.evidence.merged
        try:
            return text(tree, path)
        except CouldNotCheck:
            return None

    def file(self, path: str, *, base: bool = False) -> GoTestFile | None:
        """One file, read."""
        key = (base, path)
        if key not in self._files:
            source = self.source(path, base=base)
            self._files[key] = read_go_tests(source) if source is not None else None
        return self._files[key]

    def changed_tests(self) -> Iterator[tuple[str, GoTestFile | None, GoTestFile | None]]:
        """(path, before, after) of each changed file of tests."""
        for path, changed in self.changed.items():
            if is_test_file(path):
                yield (
                    path,
                    self.file(path, base=True) if changed.old is not None else None,
                    self.file(path) if changed.new is not None else None,
                )

    @cached_property
    def _folders(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for path in self.evidence.merged.entries:
            if is_test_file(path):
                table.setdefault(posixpath.dirname(path), []).append(path)
        return table

    def here(self, folder: str, name: str) -> tuple[str, GoFunction] | None:
        """The test of that name in a folder of the merge result: names are unique in a package, whatever the file."""
        for path in sorted(self._folders.get(folder, ())):
            file = self.file(path)
            if file is not None and name in file.functions:
                return path, file.functions[name]
        return None

    @cached_property
    def fresh(self) -> list[tuple[str, GoFunction]]:
        """Tests that the change brings: in a changed file, and not with the same body under the same name before."""
        found = []
        for path, old, new in self.changed_tests():
            for name, function in (new.functions if new else {}).items():
                before = old.functions.get(name) if old else None
                if before is None or before.body != function.body:
                    found.append((path, function))
        return found

    def results(self, role: RunRole) -> dict[str, list[CaseResult]]:
        """Results of Go's tests by id, over all suites of a role."""
        table: dict[str, list[CaseResult]] = {}
        for run in self.evidence.runs:
            if run.role is role:
                for case in run.cases:
                    if case.id.partition("::")[0].endswith(".go"):
                        table.setdefault(case.id, []).append(case)
        return table

    @cached_property
    def before(self) -> dict[str, list[CaseResult]]:
        """The target tip; empty where no run shows Go's tests one by one."""
        return self.results(RunRole.BASE)

    @cached_property
    def merged(self) -> dict[str, list[CaseResult]]:
        """The merge result."""
        return self.results(RunRole.MERGED)

    @cached_property
    def restored(self) -> dict[str, list[CaseResult]]:
        """The base's tests on the change's code."""
        return self.results(RunRole.BASE_INSTRUMENTS)

    @cached_property
    def probed(self) -> dict[str, list[CaseResult]]:
        """The change's tests on the base's code."""
        return self.results(RunRole.NEW_TESTS_ON_BASE)

    def outcome(self, table: dict[str, list[CaseResult]], path: str, name: str) -> Counter[Outcome]:
        """How a test went in a run, whichever file of its package held it; that of the file where it did not build."""
        folder = posixpath.dirname(path)
        found: Counter[Outcome] = Counter()
        for test_id, rows in table.items():
            place, sep, test = test_id.partition("::")
            if posixpath.dirname(place) == folder and ((sep and test == name) or (not sep and place == path)):
                found.update(c.outcome for c in rows)
        return found

    def detail(self, table: dict[str, list[CaseResult]], path: str, name: str) -> str:
        """What was told of a failing test."""
        rows = table.get(f"{path}::{name}") or table.get(path) or []
        return "\n".join(c.detail for c in rows if c.outcome in BAD)

    def permits(self, kinds: Iterable[PermitKind], path: str, name: str = "", words: Iterable[str] = ()) -> bool:
        """Whether a permit of one of the kinds names the test, its file, or something it speaks of."""
        spoken = {name, *words}
        for kind in kinds:
            for permit in self.evidence.ticket.permits_of(kind):
                if name and any(test_id_matches(g, f"{path}::{name}") for g in permit.tests):
                    return True
                if not (permit.tests and name) and matches_any(permit.paths, path):
                    return True
                last = {re.split(r"[.:/]", n)[-1].strip("()` ") for n in permit.names}
                if last & spoken:
                    return True
        return False


def excluded(path: str, file: GoTestFile | None) -> str:
    """What keeps a file from being compiled by default: its name or its constraint; empty for nothing known."""
    return " && ".join(c for c in (name_constraint(path), file.constraint if file else "") if c)
