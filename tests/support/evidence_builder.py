"""Evidence made from two dicts of texts, for tests of the checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gatekeeper.domain.change import Change, ChangedPath
from gatekeeper.domain.evidence import Evidence, ScanReport
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.submission import Claim, ClaimedCommand
from gatekeeper.domain.testrun import (
    CaseResult,
    Engine,
    Outcome,
    RunRole,
    Session,
    SuiteReport,
    SuiteRun,
    Termination,
)
from gatekeeper.domain.ticket import Budget, Permit, Risk, Suite, Ticket
from gatekeeper.domain.tree import MemoryTree

HEAD, BASE = "a" * 40, "b" * 40
SUITE = Suite("verify", runner="command", command="python -m pytest -q")


def build_ticket(
    allowed: Sequence[str] = ("**",), forbidden: Sequence[str] = (), permits: Sequence[Permit] = ()
) -> Ticket:
    """A low-risk ticket."""
    return Ticket(
        "T-1", "title", "", tuple(allowed), tuple(forbidden), (), (SUITE.command,), tuple(permits), Risk.LOW,
        Budget(), "0" * 64,
    )  # fmt: skip


def build_cases(outcomes: Mapping[str, str]) -> tuple[CaseResult, ...]:
    """Results from `{id: outcome}`."""
    return tuple(CaseResult(i, Outcome(o)) for i, o in outcomes.items())


def build_run(
    outcomes: Mapping[str, str],
    *,
    role: RunRole = RunRole.MERGED,
    exit_code: int | None = None,
    termination: Termination = Termination.EXITED,
    suite: str = SUITE.name,
    recorded: bool = True,
    expects_records: bool = False,
) -> SuiteRun:
    """A run with one complete session; its exit status follows from the outcomes unless given."""
    cases = build_cases(outcomes)
    status = int(any(c.outcome in (Outcome.FAILED, Outcome.ERRORED) for c in cases))
    sessions = (Session(cases, len(cases), status, True),) if recorded else ()
    code = (status if exit_code is None else exit_code) if termination is Termination.EXITED else None
    engine = Engine("fake", "1", ())
    return SuiteRun(
        f"{role}-{suite}", role, suite, SUITE.command, "c" * 40, code, termination, sessions, (), engine, "", 1.0,
        expects_records=expects_records, guarantee="recorded" if recorded else "exit_status",
    )  # fmt: skip


def build_claim(outcomes: Mapping[str, str], *, cmd: str = SUITE.command, exit_code: int | None = None) -> Claim:
    """A claim about HEAD with one command and one report; ids as pytest has them."""
    cases = build_cases(outcomes)
    status = int(any(o in ("failed", "errored") for o in outcomes.values()))
    command = ClaimedCommand(cmd, status if exit_code is None else exit_code)
    return Claim(head_sha=HEAD, base_sha=BASE, commands=(command,), reports=(SuiteReport("pytest", cases),))


def build_evidence(
    base: Mapping[str, bytes | str] | None = None,
    merged: Mapping[str, bytes | str] | None = None,
    *,
    ticket: Ticket | None = None,
    claim: Claim | None = None,
    runs: Sequence[SuiteRun] = (),
    suites: Sequence[Suite] = (SUITE,),
    settings: Settings | None = None,
    base_modes: Mapping[str, str] | None = None,
    merged_modes: Mapping[str, str] | None = None,
) -> Evidence:
    """Evidence of the change from `base` to `merged`; the changed paths follow from the two."""
    old, new = MemoryTree.of(base or {}, base_modes), MemoryTree.of(merged or {}, merged_modes)
    paths = tuple(
        ChangedPath(p, old.entries.get(p), new.entries.get(p))
        for p in sorted({*old.entries, *new.entries})
        if old.entries.get(p) != new.entries.get(p)
    )
    change = Change("file:///r", "refs/heads/main", BASE, "1" * 40, BASE, HEAD, "2" * 40, "2" * 40, paths, (), ())
    nothing = ScanReport("none", "1", (), (), ())
    return Evidence(
        ticket or build_ticket(), claim or Claim(), settings or Settings(), tuple(suites), change, old, new,
        tuple(runs), nothing, nothing,
    )  # fmt: skip
