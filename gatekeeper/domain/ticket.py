"""The ticket: the plan a person approved. Only its structured fields permit anything; prose never does."""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.records import dataclass


class PermitKind(StrEnum):
    """What a permit can allow (DESIGN section 5)."""

    REMOVE_TESTS = "remove_tests"
    CHANGE_EXPECTATIONS = "change_expectations"
    SKIP_TESTS = "skip_tests"
    UPDATE_SNAPSHOTS = "update_snapshots"
    CHANGE_INSTRUMENTS = "change_instruments"
    CHANGE_INSTRUCTIONS = "change_instructions"
    ADD_DEPENDENCY = "add_dependency"
    CHANGE_CI = "change_ci"
    MIGRATE_DATA = "migrate_data"
    REMOVE_FEATURE = "remove_feature"
    RENAME_API = "rename_api"


@dataclass(frozen=True, slots=True)
class Permit:
    """One thing that is otherwise suspicious and was allowed. It covers what it names, nothing beside it."""

    kind: PermitKind
    paths: tuple[str, ...] = ()
    """Globs, same rules as `allowed`."""
    tests: tuple[str, ...] = ()
    """Test id globs; a test id is `path::name` with parameters in brackets; `*` there crosses everything."""
    names: tuple[str, ...] = ()
    reason: str = ""


class Risk(StrEnum):
    """Risk tier; the ticket's is a floor that the policy may raise."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """0 low, 1 medium, 2 high."""
        return ("low", "medium", "high").index(self.value)


class SuiteKind(StrEnum):
    """What a suite proves."""

    TEST = "test"
    LINT = "lint"
    TYPES = "types"
    BUILD = "build"


RUNNERS = ("pytest", "node", "jest", "vitest", "go", "command")
"""Runners that a suite can name. All but `command` are structured: started by the gate, results test by test."""


@dataclass(frozen=True, slots=True)
class Suite:
    """One suite to run. `command` is opaque (`sh -c` line, or one per line for a list); a structured runner names itself."""

    name: str
    kind: SuiteKind = SuiteKind.TEST
    runner: str = "command"
    """One of `RUNNERS`."""
    command: str = ""
    """A shell line (several joined by newlines run under `set -e`). For a structured runner: extra arguments, may be empty."""
    workdir: str = "."
    inputs: tuple[str, ...] = ()
    """Globs of files the suite uses beyond what the gate sees itself: changes to them are changes to an instrument."""
    reports: tuple[str, ...] = ()
    """Globs of JUnit XML files that the command writes, relative to the root of the tree."""
    timeout_s: float | None = None
    source: str = "ticket"
    """settings (the base's .gatekeeper.toml) or ticket."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Caps on one attempt; None where the ticket sets none."""

    wall_s: float | None = None
    tokens: int | None = None
    cost: float | None = None
    attempts: int | None = None


@dataclass(frozen=True)
class Ticket:
    """A parsed ticket."""

    id: str
    title: str
    goal: str
    allowed: tuple[str, ...]
    forbidden: tuple[str, ...]
    suites: tuple[str, ...]
    """Names of suites of the base's settings that the ticket asks for (it can not take any away)."""
    verify: tuple[str, ...]
    """Shell lines of the suite that the ticket adds; empty for none."""
    permits: tuple[Permit, ...]
    risk: Risk
    budget: Budget
    digest: str
    """sha256 of the canonical JSON (RFC 8785) of the whole ticket document."""
    approved: bool = False
    """True only where a trusted person's signed approval of this digest was shown."""
    acceptance: tuple[str, ...] = ()

    def permits_of(self, kind: PermitKind) -> tuple[Permit, ...]:
        """All permits of one kind."""
        return tuple(p for p in self.permits if p.kind is kind)
