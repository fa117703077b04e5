"""Small changes measured in the real sandbox by the step itself, for tests of what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from textwrap import dedent
from types import SimpleNamespace
from typing import Any

from evidence_builder import build_evidence, build_ticket
from sandbox_runs import LIMITS, Runs

from gatekeeper.domain.effort import Effort
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.ports import Limits
from gatekeeper.domain.testrun import RunRole, SuiteRun
from gatekeeper.domain.ticket import Risk, Suite
from gatekeeper.workflow.steps import measure

SUITE = Suite("tests", runner="pytest")
ROOMY: Limits = replace(LIMITS, wall_s=120)


class Scene:
    """Changes from one dict of texts to another, with their runs."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs

    def measured(
        self,
        base: Mapping[str, str],
        merged: Mapping[str, str],
        *,
        tier: Risk = Risk.MEDIUM,
        budget_s: float = 90.0,
        suite: Suite = SUITE,
        title: str = "Fix the wrong result",
    ) -> Evidence:
        """The evidence of the change, its measurement included."""
        old = {p: dedent(t) for p, t in base.items()}
        new = {p: dedent(t) for p, t in merged.items()}
        evidence = build_evidence(old, new, suites=(suite,), ticket=replace(build_ticket(), title=title))
        tree = self.runs.tree(new)
        made = [self._run(tree, suite, RunRole.MERGED)]
        brought = {p: t for p, t in new.items() if p.startswith("tests/") and old.get(p) != t}
        if brought:
            made.append(self._run(self.runs.tree({**old, **brought}), suite, RunRole.NEW_TESTS_ON_BASE))
        effort = {r: Effort(mutation_s=budget_s, witness_files=0, reruns=0) for r in Risk}
        trees = {evidence.change.base_tree: evidence.base, evidence.change.merge_tree: evidence.merged}
        tools: Any = SimpleNamespace(
            effort=effort,
            limits=ROOMY,
            sandbox=self.runs.sandbox,
            git=SimpleNamespace(tree=lambda _mirror, oid: trees[oid], export=lambda _mirror, _oid: tree),
            secrets=SimpleNamespace(redact=tuple),
        )
        checkout: Any = SimpleNamespace(mirror=None, change=evidence.change, settings=evidence.settings)
        planned: Any = SimpleNamespace(plan=SimpleNamespace(tier=tier), suites=(suite,))
        found = measure.run(tools, checkout, planned, made, self.runs.environment, "scene")
        return replace(evidence, runs=tuple(made), measured=found)

    def _run(self, tree: Any, suite: Suite, role: RunRole) -> SuiteRun:
        return self.runs.sandbox.run(replace(self.runs.request(tree, suite, ROOMY), role=role))
