"""How much extra work a tier is worth, beyond the runs that decide."""

from __future__ import annotations

from collections.abc import Mapping

from gatekeeper.domain.ticket import Risk
from gatekeeper.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Effort:
    """Caps on what proves more than the deciding runs do; each costs time."""

    mutation_s: float
    """Wall seconds for coverage and mutants of the changed lines; 0: not measured."""
    witness_files: int
    """Test files that are run again by the second witness."""
    reruns: int
    """How often a test that differed is run again, on each of the two trees."""
    witness_s: float = 60.0
    """Wall seconds after which the second witness begins with no further file."""


DEFAULT: Mapping[Risk, Effort] = {
    Risk.LOW: Effort(mutation_s=0, witness_files=4, reruns=3),
    Risk.MEDIUM: Effort(mutation_s=30, witness_files=8, reruns=3),
    Risk.HIGH: Effort(mutation_s=120, witness_files=32, reruns=5),
}
"""By tier; the operator's settings may say otherwise."""


def measuring(effort: Mapping[Risk, Effort], seconds: float) -> Mapping[Risk, Effort]:
    """The same caps with so many seconds for mutants in every tier."""
    return {tier: replace(row, mutation_s=seconds) for tier, row in effort.items()}
