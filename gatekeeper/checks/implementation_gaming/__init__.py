"""Code that behaves for the tests instead of doing what the ticket asks: compares the base's code with the merged one."""

from __future__ import annotations

from gatekeeper.checks.implementation_gaming.answers import answers
from gatekeeper.checks.implementation_gaming.copied_answers import copied_answers
from gatekeeper.checks.implementation_gaming.data_answers import data_answers
from gatekeeper.checks.implementation_gaming.disguises import disguises
from gatekeeper.checks.implementation_gaming.modules import changed_modules
from gatekeeper.checks.implementation_gaming.nothing_done import nothing_done
from gatekeeper.checks.implementation_gaming.refusals import refusals
from gatekeeper.checks.implementation_gaming.removed import removed
from gatekeeper.checks.implementation_gaming.tricks import tricks
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings of category implementation_gaming; the strongest one of each module comes alone."""
    modules = changed_modules(evidence)
    out: list[Finding] = []
    for module in modules.changed:
        found = [*tricks(module), *answers(module, modules), *refusals(module, modules), *disguises(module, modules)]
        if found:
            out.append(found[0])
    return (
        *out,
        *(copied_answers(modules) or data_answers(modules)),
        *removed(evidence, modules),
        *nothing_done(evidence, modules),
    )
