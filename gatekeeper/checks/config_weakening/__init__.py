"""The yardstick is bent: CI, limits, checkers, hooks and owners that demand less than before."""

from __future__ import annotations

from gatekeeper.checks.config_weakening.checkers import gutted_checkers
from gatekeeper.checks.config_weakening.ci import weakened_ci
from gatekeeper.checks.config_weakening.guards import weakened_guards
from gatekeeper.checks.config_weakening.gutted import gutted_runs
from gatekeeper.checks.config_weakening.hidden_settings import hidden_limits
from gatekeeper.checks.config_weakening.limits import weakened_limits
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.verdict import Effect


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings of category config_weakening, at most one a file for each kind."""
    limits = weakened_limits(evidence)
    told = {f.path for f in limits if f.effect is Effect.BLOCKS}
    return (
        *weakened_ci(evidence),
        *limits,
        *(f for f in hidden_limits(evidence) if f.path not in told),
        *gutted_checkers(evidence),
        *gutted_runs(evidence),
        *weakened_guards(evidence),
    )
