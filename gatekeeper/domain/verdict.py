"""Verdicts, effects and blames: the five words of the outcome and the order between them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What the gate says of a change, worst first (DESIGN rule 5)."""

    REJECTED = "rejected"
    UNDECIDED = "undecided"
    NEEDS_HUMAN = "needs_human"
    ACCEPTED = "accepted"

    @property
    def rank(self) -> int:
        """0 for the worst verdict, 3 for accepted."""
        return _ORDER[self]


_ORDER = {v: i for i, v in enumerate(Verdict)}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The lowest verdict; of nothing it is UNDECIDED, since empty never passes."""
    found = list(verdicts)
    return min(found, key=lambda v: v.rank) if found else Verdict.UNDECIDED


class Effect(StrEnum):
    """What a finding does to the verdict."""

    BLOCKS = "blocks"
    ASKS = "asks"
    ADVISES = "advises"


class Blame(StrEnum):
    """Whose fault it is that something is wrong or could not be checked. NONE: an ordinary finding."""

    CHANGE = "change"
    ENVIRONMENT = "environment"
    GATE = "gate"
    NONE = "none"


class Mode(StrEnum):
    """How binding a verdict is. Enforcers refuse everything but ENFORCED unless their trust file says otherwise."""

    ENFORCED = "enforced"
    SHADOW = "shadow"
    LOCAL = "local"


EXIT_STATUS = {Verdict.ACCEPTED: 0, Verdict.REJECTED: 1, Verdict.UNDECIDED: 3, Verdict.NEEDS_HUMAN: 4}
"""Process exit status of `gatekeeper check`; 2 is usage."""
