"""One line of what `doctor` says about a machine."""

from __future__ import annotations

from gatekeeper.records import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was looked at, how it is, and what to do."""

    name: str
    state: str
    """ok; note (works, with a guarantee less or an option unused); missing (needed and not there)."""
    message: str
    todo: str = ""
    """Empty where nothing is to be done."""
