"""Everything that was observed, as the pipeline hands it to the decision."""

from __future__ import annotations

from gatekeeper.domain.followup import Flaky, Measured, Witnessed
from gatekeeper.domain.testrun import SuiteRun
from gatekeeper.records import dataclass
from gatekeeper.workflow.steps.scan import Scanned


@dataclass(frozen=True)
class Gathered:
    """Runs, scans and what was run after them; None for what did not take place."""

    runs: tuple[SuiteRun, ...]
    secrets: Scanned | None = None
    code: Scanned | None = None
    witnessed: Witnessed | None = None
    measured: Measured | None = None
    flaky: Flaky | None = None
    environment: str = ""
    """What the tests' interpreter and packages were made from, in words."""

    @property
    def further_runs(self) -> tuple[SuiteRun, ...]:
        """Runs beyond the deciding ones and their controls: they are reported, and judged by their own checks alone."""
        parts = (self.witnessed, self.measured, self.flaky)
        return tuple(run for part in parts if part is not None for run in part.runs)
