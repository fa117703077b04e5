"""Re-run: one suite on one tree in its own sandbox, and the controls that tell whose fault a failure is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gatekeeper.domain.ports import Limits, RunRequest, TestEnvironment
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.testrun import CaseResult, RunRole, SuiteRun, Termination
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.steps.plan import Planned, PlannedRun
from gatekeeper.workflow.tools import Tools


def environment(tools: Tools, submission: Submission, checkout: Checkout, planned: Planned) -> TestEnvironment:
    """Prepare the environment from the base's locks. Raises `CouldNotCheck` (blame environment)."""
    base = tools.git.tree(checkout.mirror, checkout.change.base_tree)
    settings = checkout.settings.environment
    where = tools.environments.prepare(base, settings, submission.environment)
    for toolchain in tools.toolchains:
        where = toolchain.extend(where, base, settings, planned.suites)
    return where


def limits_of(run: PlannedRun, limits: Limits) -> Limits:
    """The operator's limits, with the suite's own time-out where it is lower."""
    wall = run.suite.timeout_s
    return limits if wall is None else replace(limits, wall_s=min(wall, limits.wall_s))


def one(tools: Tools, checkout: Checkout, run: PlannedRun, where: TestEnvironment, run_id: str) -> SuiteRun:
    """Run the suite on the tree; a run of the target's own tests on the target's own code is reused where it is kept."""
    if tools.kept is None or run.role is not RunRole.BASE:
        return _run(tools, checkout, run, where, run_id)
    key = (checkout.mirror.path, run.tree_oid, where.digest, where.python, run.suite, limits_of(run, tools.limits))
    made = tools.kept.get(key, lambda: _run(tools, checkout, run, where, run_id))
    return replace(made, id=f"{run_id}-{run.id}")


def _run(tools: Tools, checkout: Checkout, run: PlannedRun, where: TestEnvironment, run_id: str) -> SuiteRun:
    tree = tools.git.export(checkout.mirror, run.tree_oid)
    made = tools.sandbox.run(
        RunRequest(
            id=f"{run_id}-{run.id}",
            role=run.role,
            suite=run.suite,
            tree_oid=run.tree_oid,
            tree=tree,
            environment=where,
            limits=limits_of(run, tools.limits),
        )
    )
    return without_secrets(tools, made)


def without_secrets(tools: Tools, run: SuiteRun) -> SuiteRun:
    """The run with secrets in its output made useless, before anything of it is stored, shown or sent.

    Names of tests stay as they are, since they are compared; what is told of them is redacted where it is told.
    """
    told = [c.detail for s in run.sessions for c in s.cases] + [c.detail for r in run.reports for c in r.cases]
    texts = dict.fromkeys(t for t in [run.log, *told] if t.strip())
    clean = dict(zip(texts, tools.secrets.redact([*texts]), strict=True))
    if all(old == new for old, new in clean.items()):
        return run

    def mended(cases: tuple[CaseResult, ...]) -> tuple[CaseResult, ...]:
        return tuple(replace(c, detail=clean.get(c.detail, c.detail)) for c in cases)

    return replace(
        run,
        log=clean.get(run.log, run.log),
        sessions=tuple(replace(s, cases=mended(s.cases)) for s in run.sessions),
        reports=tuple(replace(r, cases=mended(r.cases)) for r in run.reports),
    )


def controls(planned: Planned, checkout: Checkout, runs: Sequence[SuiteRun]) -> tuple[PlannedRun, ...]:
    """Runs on the target tip that are still needed: for every suite that did not simply pass on the merge result."""
    seen = {(r.role, r.suite) for r in runs}
    needed = []
    for index, suite in enumerate(planned.suites):
        bad = any(
            r.suite == suite.name
            and r.role is RunRole.MERGED
            and (r.termination is not Termination.EXITED or r.exit_code != 0 or not r.cases)
            for r in runs
        )
        if bad and (RunRole.BASE, suite.name) not in seen:
            needed.append(PlannedRun(f"{RunRole.BASE.value}-{index}", RunRole.BASE, suite, checkout.change.base_tree))
    return tuple(needed)
