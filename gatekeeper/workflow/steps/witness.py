"""The second witness: test files again, each in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence

from gatekeeper.domain.followup import Witnessed
from gatekeeper.domain.ports import TestEnvironment
from gatekeeper.domain.testrun import SuiteRun
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.steps.plan import Planned
from gatekeeper.workflow.tools import Tools


def run(
    tools: Tools, checkout: Checkout, planned: Planned, runs: Sequence[SuiteRun], where: TestEnvironment, run_id: str
) -> Witnessed | None:
    """None where nothing was to be done."""
    del tools, checkout, planned, runs, where, run_id
    return None
