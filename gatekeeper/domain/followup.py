"""What the runs after the deciding ones found: a second witness, what tests can tell, flakes."""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.domain.flake import Repeated
from gatekeeper.domain.testrun import CaseResult, Outcome, SuiteRun


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
    suffix: str = ""
    """What stood behind the names of those test functions that were renamed."""

    def own(self) -> dict[str, list[CaseResult]]:
        """Results of the file's tests by the ids that they have in the tree."""
        table: dict[str, list[CaseResult]] = {}
        place = self.alias or self.file
        for case in self.run.cases:
            path, colons, rest = case.id.partition("::")
            if path != place or not self.file:
                continue
            name, bracket, parameters = rest.partition("[")
            if self.suffix:
                name = name.removesuffix(self.suffix)
            table.setdefault(self.file + colons + name + bracket + parameters, []).append(case)
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
    """Whole suites on the target tip, where the run on the merge result rewrote files of the tree."""


@dataclass(frozen=True)
class Measured:
    """Coverage and mutants of the changed lines."""

    runs: tuple[SuiteRun, ...] = ()


@dataclass(frozen=True)
class Flaky:
    """Tests that were run again because they differed."""

    runs: tuple[SuiteRun, ...] = ()
    tests: tuple[Repeated, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    """(suite, why none of its failing tests was run again)."""
    trouble: tuple[str, str] | None = None
    """(code, message): the register could not be read or written, and excuses nothing."""
