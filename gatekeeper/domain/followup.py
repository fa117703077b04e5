"""What the runs after the deciding ones found: a second witness, what tests can tell, flakes."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from gatekeeper.domain.flake import Repeated, flaky_tests, unsteady_tests
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole, SuiteRun
from gatekeeper.domain.ticket import Risk
from gatekeeper.records import dataclass


@dataclass(frozen=True)
class Sight:
    """One run of the second witness: one test file in a process of its own, and tests of the gate behind it."""

    run: SuiteRun
    file: str
    """The test file, by the path that it has in the tree; empty where there is none (the target tip lacks it)."""
    canaries: tuple[tuple[str, Outcome], ...]
    """(id of a test of the gate, what it must come to)."""
    alias: str = ""
    """Path under which the file was run; empty: its own."""
    names: tuple[tuple[str, str], ...] = ()
    """(name under which a test function was run, its own)."""
    twins: tuple[tuple[str, str], ...] = ()
    """(name of a copy of a test function with one assertion turned round, its own name)."""

    def own(self) -> dict[str, list[CaseResult]]:
        """Results of the file's tests by the ids that they have in the tree."""
        return self._under(dict(self.names))

    def turned(self) -> dict[str, list[CaseResult]]:
        """Results of the copies with an assertion turned round, by the ids of the tests that they are copies of."""
        twins = dict(self.twins)
        return {i: rows for i, rows in self._under(twins, only=True).items() if rows}

    def _under(self, names: Mapping[str, str], *, only: bool = False) -> dict[str, list[CaseResult]]:
        table: dict[str, list[CaseResult]] = {}
        place = self.alias or self.file
        other = () if only else {twin for twin, _ in self.twins}
        for case in self.run.cases:
            path, colons, rest = case.id.partition("::")
            if path != place or not self.file:
                continue
            name, bracket, parameters = rest.partition("[")
            if name in other or (only and name not in names):
                continue
            table.setdefault(self.file + colons + names.get(name, name) + bracket + parameters, []).append(case)
        return table


@dataclass(frozen=True)
class Sighting:
    """What the second witness saw of one test file."""

    suite: str
    first: Sight
    """On the merge result, under a name of the gate's choosing."""
    again: tuple[Sight, ...] = ()
    """The same once more, where the first differs from the deciding run: other names, then its own."""
    control: Sight | None = None
    """The target tip's own file on the target tip's code, where the first differs."""


@dataclass(frozen=True)
class Uncollected:
    """A test file in whose source stand tests that the deciding run does not show, though nothing explains it."""

    suite: str
    file: str
    control: Sight
    """The target tip's own file on the target tip's code."""


@dataclass(frozen=True)
class Witnessed:
    """The second witness."""

    runs: tuple[SuiteRun, ...] = ()
    left_out: tuple[str, ...] = ()
    """Test files that it should have run and did not (a budget, a runner that cannot do it)."""
    sightings: tuple[Sighting, ...] = ()
    uncollected: tuple[Uncollected, ...] = ()
    reasons: tuple[str, ...] = ()
    """Why there was a witness where the tier alone asks for none."""
    controls: tuple[SuiteRun, ...] = ()
    """Whole suites on the target tip, where what they show could explain what the witness saw."""


class MutantResult(StrEnum):
    """What the tests said to a mutant."""

    KILLED = "killed"
    """A test failed, or nothing could be run any more."""
    TIMED_OUT = "timed_out"
    """The tests did not end in twice their time and a second: noticed as well."""
    SURVIVED = "survived"
    """Every test passed that reaches the line."""
    NOT_TRIED = "not_tried"
    """The budget was spent, or no test reaches the line."""


@dataclass(frozen=True, slots=True)
class MeasuredMutant:
    """One small fault in a changed line, and whether the tests notice it."""

    path: str
    line: int
    kind: str
    before: str
    after: str
    """What it became, in words."""
    result: MutantResult
    test: str = ""
    """The first test that failed."""
    by_own_test: bool = False
    """True where that test is one that the change brings or alters; those are run first."""
    by_assertion: bool = False
    """True where that test failed because of what it asserts, not because something broke under it."""
    value: str = ""
    """For a fault in a value as it passes: what the first one became when it ran, `41 became 42`; empty where unknown."""


@dataclass(frozen=True, slots=True)
class MeasuredLine:
    """One changed line of code."""

    path: str
    line: int
    executed: bool | None
    """None where that is not known: it runs in a process that tests start, or not all tests were run."""
    tests: int = 0
    """Tests that reach it."""
    own_tests: int = 0
    """Those among them that the change brings or alters, as far as they were named."""
    at_import: bool = False
    """Part of no function: it runs when the module is loaded, whatever the tests look at."""
    named: tuple[str, ...] = ()
    """Some of the tests that reach it, those of the change first."""


@dataclass(frozen=True)
class Measured:
    """Coverage and mutants of the changed lines. What the tested process says of itself: it only ever adds doubt."""

    runs: tuple[SuiteRun, ...] = ()
    tier: Risk = Risk.LOW
    budget_s: float = 0.0
    lines: tuple[MeasuredLine, ...] = ()
    mutants: tuple[MeasuredMutant, ...] = ()
    complete: bool = False
    """True where all test files took part, so that a line that is not executed is executed by none."""
    own_tests: tuple[str, ...] = ()
    """Tests that the change brings or alters: `path::name`."""
    passed_before: tuple[str, ...] = ()
    """Those of them that pass on the target's code as well: alone they prove nothing about the change."""
    failed_before: tuple[str, ...] = ()
    """Those of them that fail there: they tell the change from its absence."""
    notes: tuple[str, ...] = ()
    """Why something was not measured. Without any mutant tried there is always one: that is never "fine"."""
    limit: str = ""
    """Which limit ended it before a mutant was tried; empty where none did."""
    disturbed: str = ""
    """What was wrong with the results, where they came and could not be read: tested code has meddled, or broke them."""

    @property
    def tried(self) -> tuple[MeasuredMutant, ...]:
        """Mutants that were tried."""
        return tuple(m for m in self.mutants if m.result is not MutantResult.NOT_TRIED)


@dataclass(frozen=True)
class Flaky:
    """Tests that were run again because they differed."""

    runs: tuple[SuiteRun, ...] = ()
    tests: tuple[Repeated, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """(suite, why none of its failing tests was run again)."""
    trouble: tuple[str, str] | None = None
    """(code, message): the register could not be read or written, and excuses nothing."""

    def told_elsewhere(self, suite: str) -> frozenset[str]:
        """Tests of the suite that failed in its run on the merge result and passed in another one on the same tree."""
        return unsteady_tests(self.tests, suite)

    def note(self, suite: str, test: str) -> str:
        """What is to be said with a test that failed in the suite's run on the merge result; empty for nothing."""
        for one in self.tests:
            if (one.suite, one.test, one.on) == (suite, test, RunRole.MERGED) and one.here.runs > 1:
                return f"It failed in {one.here} runs of it."
        why = dict(self.left_out).get(suite)
        return f"It was not run again: {why}." if why else ""

    def excused(self, on: RunRole) -> frozenset[str]:
        """Tests whose failure in the run of that role is not the change's."""
        return flaky_tests(self.tests, on)
