"""Flakes: tests that pass and fail on the same code. What the gate saw of one, and the register of those it knows.

A record comes from runs of the target's own code alone, never from a change's: a change cannot register its own faults.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from gatekeeper.domain.testrun import RunRole
from gatekeeper.records import dataclass, replace

EXPIRY_S = 14 * 86_400
"""Seconds that a record excuses anything after it was last seen: flakes are to be mended, not kept."""
MAX_EXPIRY_S = 90 * 86_400
MAX_BASES = 8
"""Commits named in one record, the newest last."""
MAX_WORDS = 400
"""Characters of an owner or a note."""


@dataclass(frozen=True)
class FlakeRecord:
    """One test that failed and passed on the same commit of a target branch."""

    repository: str
    """As the gate names it in what it signs; a record holds for no other."""
    suite: str
    test: str
    failed: int
    runs: int
    bases: tuple[str, ...]
    """Commits of the target on which it was seen."""
    first_seen: float
    last_seen: float
    expires_at: float
    owner: str = ""
    """Who is to mend it, as a person said."""
    note: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What it is about."""
        return self.repository, self.suite, self.test

    def excuses(self, now: float) -> bool:
        """True until it expires; a record from the future is none."""
        return self.first_seen <= now < self.expires_at and 0 < self.failed < self.runs

    def merged(self, newer: FlakeRecord) -> FlakeRecord:
        """This record with what was seen later; owner, note and a later end that a person set stay."""
        bases = [b for b in self.bases if b not in newer.bases] + list(newer.bases)
        return replace(
            self,
            failed=self.failed + newer.failed,
            runs=self.runs + newer.runs,
            bases=tuple(bases[-MAX_BASES:]),
            last_seen=max(self.last_seen, newer.last_seen),
            expires_at=max(self.expires_at, newer.expires_at),
        )


@dataclass(frozen=True, slots=True)
class Tally:
    """In how many runs of one tree a test failed."""

    failed: int = 0
    runs: int = 0

    def __str__(self) -> str:
        return f"{self.failed} of {self.runs}"

    @property
    def passed(self) -> int:
        """Runs in which it did not fail."""
        return self.runs - self.failed


class Told(StrEnum):
    """What the repeated runs say of a test that failed."""

    BROKEN = "broken"
    """It never passed on the change's code, or nothing more is known: a failure of the change."""
    UNSTABLE = "unstable"
    """It passes and fails on the change's code, and on the target's it never failed."""
    FLAKY = "flaky"
    """It passes and fails whatever the change does: on the target's code as well."""


@dataclass(frozen=True)
class Repeated:
    """One test that failed in a run that decides, run again on both trees. `runs` count the first one too."""

    suite: str
    test: str
    on: RunRole
    """The deciding run in which it failed: MERGED or BASE_INSTRUMENTS."""
    here: Tally
    """On the change's code."""
    before: Tally
    """On the target tip."""
    touched: bool
    """The change alters the test, or what stands beside it in its file."""
    reaches: bool | None = None
    """It runs lines that the change alters; None: not known."""
    sole: bool = False
    """It runs lines that the change alters and that no other test runs."""
    known: FlakeRecord | None = None
    """The register's record, not expired."""
    settled: bool = True
    """Its suite ended well in one run as a whole, where the failure may have ended it early."""

    @property
    def told(self) -> Told:
        """What it is. Only what the target itself shows excuses a failure, or that the change is out of its reach."""
        if not self.here.passed:
            return Told.BROKEN
        if self.touched or self.sole or not self.settled:
            return Told.UNSTABLE
        if self.before.failed or self.known is not None:
            return Told.FLAKY
        if self.here.failed == 1 and self.reaches is False and self.before.runs:
            return Told.FLAKY
        return Told.UNSTABLE


def flaky_tests(repeated: Sequence[Repeated], on: RunRole, suite: str | None = None) -> frozenset[str]:
    """Ids of the tests whose failure in that run is not the change's."""
    return frozenset(
        r.test for r in repeated if r.on is on and r.told is Told.FLAKY and (suite is None or r.suite == suite)
    )


def unsteady_tests(repeated: Sequence[Repeated], suite: str | None = None) -> frozenset[str]:
    """Ids of the tests that passed at least once on the change's code: to have seen them pass is no lie."""
    return frozenset(
        r.test
        for r in repeated
        if r.on is RunRole.MERGED and r.here.passed and r.here.runs and (suite is None or r.suite == suite)
    )
