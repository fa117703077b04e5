"""A small change, its deciding run, and the second witness of it, in the real sandbox."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evidence_builder import build_evidence, build_ticket
from fake_ports import FakeGit, FakeScanner, World
from sandbox_runs import LIMITS, Runs

from gatekeeper.checks import second_witness
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.followup import Witnessed
from gatekeeper.domain.instruments import Instruments
from gatekeeper.domain.ports import Limits, Mirror
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.testrun import RunRole, SuiteRun
from gatekeeper.domain.ticket import Risk, Suite, Ticket
from gatekeeper.workflow.steps import rerun, witness
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.steps.plan import Planned, PlannedRun


class _Git(FakeGit):
    """Trees in memory that are written to disk for the sandbox."""

    def __init__(self, base: Mapping[str, str], head: Mapping[str, str], runs: Runs) -> None:
        super().__init__(base, head)
        self._runs = runs
        self._places: dict[str, Path] = {}

    def export(self, mirror: Mirror, tree: str) -> Path:
        if tree not in self._places:
            made = self.trees[tree]
            self._places[tree] = self._runs.tree({p: made.read(p).decode() for p in made.entries})
        return self._places[tree]


@dataclass(frozen=True)
class Seen:
    """What came of it."""

    decided: tuple[SuiteRun, ...]
    first: Witnessed | None
    witnessed: Witnessed | None
    evidence: Evidence
    findings: dict[str, Finding]

    @property
    def green(self) -> bool:
        """The deciding run looks like an honest green one: the witness alone can tell."""
        return all(
            r.exit_code == 0 and r.sessions and all(s.complete and s.exit_code == 0 for s in r.sessions)
            and {c.outcome.value for c in r.cases} == {"passed"}
            for r in self.decided
        )  # fmt: skip


def scene(
    runs: Runs,
    base: Mapping[str, str],
    head: Mapping[str, str],
    *,
    command: str = "python -m pytest -q",
    runner: str = "command",
    tier: Risk = Risk.MEDIUM,
    ticket: Ticket | None = None,
    limits: Limits = LIMITS,
) -> Seen:
    """Run the deciding run, then both steps of the witness, then the check. Paths with None in `head` are removed."""
    git: Any = _Git(base, head, runs)
    world = World()
    tools = replace(world.tools(), git=git, sandbox=runs.sandbox, secrets=FakeScanner("none"), limits=limits)
    mirror = git.fetch("repo", "main", "b" * 40)
    change = git.describe(mirror)
    suite = Suite("tests", runner=runner, command=command)
    instruments = Instruments(Settings(), (suite,), git.trees["t-base"])
    kinds = {p.path: instruments.kind(p.path) for p in change.paths}
    bent = tuple(p for p, k in kinds.items() if k is not None and k.bends_runs)
    merged = PlannedRun("merged-0", RunRole.MERGED, suite, "t-head")
    planned = Planned(replace(world.policy.plan({}), tier=tier), (suite,), (merged,), bent)
    checkout = Checkout(mirror, change, Settings())
    decided = (rerun.one(tools, checkout, merged, runs.environment, "r"),)
    first = witness.run(tools, checkout, planned, runs.environment, "r")
    asked = witness.recheck(tools, checkout, planned, decided, runs.environment, "r", first)
    evidence = build_evidence(base, head, runs=decided, suites=(suite,), ticket=ticket or build_ticket())
    evidence = replace(evidence, witnessed=asked)
    found = {f.code: f for f in second_witness.check(evidence)}
    return Seen(decided, first, asked, evidence, found)
