"""A small project and the four runs that the gate would make of a change to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from evidence_builder import build_evidence, build_run, build_ticket

from gatekeeper.checks import suite_integrity
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.testrun import Outcome, RunRole, SuiteRun
from gatekeeper.domain.ticket import Permit

Judge = Callable[..., dict[str, Finding]]


def _with_detail(run: SuiteRun, detail: str) -> SuiteRun:
    sessions = tuple(
        replace(s, cases=tuple(replace(c, detail=detail) if c.outcome is Outcome.FAILED else c for c in s.cases))
        for s in run.sessions
    )
    return replace(run, sessions=sessions)


@pytest.fixture
def judge() -> Judge:
    """Findings by code of the change from `base` to `merged`, given what each run showed (`{id: outcome}`)."""

    def run(
        base: Mapping[str, str],
        merged: Mapping[str, str],
        *,
        was: Mapping[str, str] | None = None,
        now: Mapping[str, str] | None = None,
        restored: Mapping[str, str] | None = None,
        probed: Mapping[str, str] | None = None,
        permits: Sequence[Permit] = (),
        detail: str = "",
        goal: str | None = None,
        allowed: Sequence[str] = ("**",),
    ) -> dict[str, Finding]:
        roles = (
            (RunRole.BASE, was),
            (RunRole.MERGED, now),
            (RunRole.BASE_INSTRUMENTS, restored),
            (RunRole.NEW_TESTS_ON_BASE, probed),
        )
        runs = [_with_detail(build_run(o, role=r), detail) for r, o in roles if o is not None]
        ticket = build_ticket(allowed=allowed, permits=permits)
        ticket = ticket if goal is None else replace(ticket, goal=goal)
        evidence = build_evidence(base, merged, runs=runs, ticket=ticket)
        return {f.code: f for f in suite_integrity.check(evidence)}

    return run
