"""What a run of the target's own code is the same by, and what keeps such runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from gatekeeper.domain.ports import Limits
from gatekeeper.domain.selection import Selection
from gatekeeper.domain.testrun import SuiteRun
from gatekeeper.domain.ticket import Suite
from gatekeeper.records import dataclass


@dataclass(frozen=True, slots=True)
class BaseRun:
    """Two with equal fields would show the same, but for chance."""

    repository: str
    tree: str
    environment: str
    """Digest of the environment."""
    python: str
    suite: Suite
    limits: Limits
    part: Selection | None
    gate: str
    """Version of the gate."""


class KeptBaseRuns(Protocol):
    """Keeps runs without a byte of a change: what decides on a change is always run for it."""

    def get(self, key: BaseRun, make: Callable[[], SuiteRun]) -> SuiteRun:
        """The run with this content, made now where there is none. Raises what `make` raises."""
