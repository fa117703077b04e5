"""Other code gets installed, built or run than before: dependencies, locks, build hooks, CI actions, images."""

from __future__ import annotations

from gatekeeper.checks.supply_chain.dependencies import changed_dependencies
from gatekeeper.checks.supply_chain.execution import changed_execution
from gatekeeper.checks.supply_chain.hidden_code import hidden_code
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings of category supply_chain about what the change makes a machine fetch or execute."""
    return (*changed_dependencies(evidence), *changed_execution(evidence), *hidden_code(evidence))
