"""Tests and instruments against the target branch: what vanished, fell silent, was bent, or bends the runner.

One fault is told once: where an instrument was bent, the tests that it hides, silences or lets pass are its evidence.
"""

from __future__ import annotations

from dataclasses import replace

from gatekeeper.checks.suite_integrity.bent import bent
from gatekeeper.checks.suite_integrity.hooks import hooks
from gatekeeper.checks.suite_integrity.in_code import in_code
from gatekeeper.checks.suite_integrity.make_targets import make_targets
from gatekeeper.checks.suite_integrity.new_tests import hollow
from gatekeeper.checks.suite_integrity.outcomes import shadowed, silenced
from gatekeeper.checks.suite_integrity.own_oracles import own_oracles
from gatekeeper.checks.suite_integrity.runner import patched, shadows
from gatekeeper.checks.suite_integrity.scripts import scripts
from gatekeeper.checks.suite_integrity.settings import settings
from gatekeeper.checks.suite_integrity.silent_sources import silent_sources
from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.checks.suite_integrity.vanished import vanished
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.verdict import Effect

__all__ = ["check"]


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings about removed, hidden, silenced and bent tests, and about the instruments that could do it unseen."""
    situation = Situation(evidence)
    causes = [*shadows(situation), *patched(situation), *hooks(situation), *settings(situation), *scripts(situation)]
    causes += [f for f in make_targets(situation) if f.path not in {c.path for c in causes}]
    hidden = shadowed(situation)
    told = {f.path for f in hidden}
    effects = [
        f
        for f in (*vanished(situation), *silenced(situation), *silent_sources(situation))
        if not (f.code == "TEST_HIDDEN" and f.path in told)
    ]
    told |= {f.path for f in effects}
    effects += [f for f in (*bent(situation), *in_code(situation)) if f.path not in told]
    blocking = [f for f in causes if f.effect is Effect.BLOCKS]
    if blocking:
        # The file of such a test is as it was, or was bent by the same instrument: the instrument is the root.
        changed = situation.changed
        kept = [
            f
            for f in effects
            if f.path in changed and f.path not in {c.path for c in causes} and f.code != "TEST_HIDDEN"
        ]
        folded = [f for f in effects if f not in kept]
        if folded:
            note = "\n".join(f"{f.message}\n{f.evidence}" for f in folded)[:3000]
            first = blocking[0]
            causes[causes.index(first)] = replace(first, evidence=f"{first.evidence}\n{note}".strip())
        effects = kept
    found = [*causes, *hidden, *effects, *own_oracles(situation), *hollow(situation)]
    return tuple({f.fingerprint: f for f in found}.values())
