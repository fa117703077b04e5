"""What the runs after the deciding ones found: a second witness, what tests can tell, flakes."""

from __future__ import annotations

from dataclasses import dataclass

from gatekeeper.domain.testrun import SuiteRun


@dataclass(frozen=True)
class Witnessed:
    """The second witness."""

    runs: tuple[SuiteRun, ...] = ()
    left_out: tuple[str, ...] = ()
    """Test files that it should have run and did not (a budget, a runner that cannot do it)."""


@dataclass(frozen=True)
class Measured:
    """Coverage and mutants of the changed lines."""

    runs: tuple[SuiteRun, ...] = ()


@dataclass(frozen=True)
class Flaky:
    """Tests that were run again because they differed."""

    runs: tuple[SuiteRun, ...] = ()
