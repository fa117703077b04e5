"""The yardstick is bent: CI, limits, checkers, hooks and owners that demand less than before."""

from __future__ import annotations

from gatekeeper.checks.config_weakening.checkers import gutted_checkers
from gatekeeper.checks.config_weakening.ci import weakened_ci
from gatekeeper.checks.config_weakening.first_settings import first_limits
from gatekeeper.checks.config_weakening.guards import weakened_guards
from gatekeeper.checks.config_weakening.gutted import gutted_runs
from gatekeeper.checks.config_weakening.hidden_settings import hidden_limits
from gatekeeper.checks.config_weakening.limits import weakened_limits
from gatekeeper.checks.config_weakening.owners import lost_owners
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.verdict import Effect


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings of category config_weakening, at most one a file for each kind."""
    limits = weakened_limits(evidence)
    told = {f.path for f in limits if f.effect is Effect.BLOCKS}
    hidden = tuple(f for f in hidden_limits(evidence) if f.path not in told)
    told |= {f.path for f in hidden}
    guards = weakened_guards(evidence)
    said = {(f.code, f.path) for f in guards if f.effect is Effect.BLOCKS}
    return (
        *weakened_ci(evidence),
        *limits,
        *hidden,
        *(f for f in first_limits(evidence) if f.path not in told),
        *gutted_checkers(evidence),
        *gutted_runs(evidence),
        *guards,
        *(f for f in lost_owners(evidence) if (f.code, f.path) not in said),
    )
