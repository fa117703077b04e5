"""Re-run: one suite on one tree in its own sandbox, and the controls that tell whose fault a failure is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gatekeeper.domain.base_run import BaseRun
from gatekeeper.domain.ports import Limits, RunRequest, TestEnvironment
from gatekeeper.domain.selection import Selection
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole, SuiteRun, Termination, outcomes_by_id
from gatekeeper.domain.ticket import SuiteKind
from gatekeeper.workflow.steps import narrow
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
    """Run the suite, or the part of it that is needed, on the tree.

    A run of the target's own tests on the target's own code is reused where it is kept. Where a part was wanted and the
    suite could not be told so, the whole of it is run.
    """
    if tools.kept is None or run.role is not RunRole.BASE:
        return _run(tools, checkout, run, where, run_id)
    key = BaseRun(
        repository=str(checkout.mirror.path),
        tree=run.tree_oid,
        environment=where.digest,
        python=where.python,
        suite=run.suite,
        limits=limits_of(run, tools.limits),
        part=run.part,
        gate=tools.gate_version,
    )
    made = tools.kept.get(key, lambda: _run(tools, checkout, run, where, run_id))
    return replace(made, id=f"{run_id}-{run.id}")


def _run(tools: Tools, checkout: Checkout, run: PlannedRun, where: TestEnvironment, run_id: str) -> SuiteRun:
    asked = request(tools, checkout, run, where, run_id)
    made = tools.sandbox.run(asked)
    if run.part is not None:
        # Told apart by what came back: the part that was wanted, or not.
        whole = not _as_wanted(made, run.part)
        made = tools.sandbox.run(replace(asked, tests=(), files={})) if whole else replace(made, partial=True)
    return without_secrets(tools, made)


def request(tools: Tools, checkout: Checkout, run: PlannedRun, where: TestEnvironment, run_id: str) -> RunRequest:
    """What the sandbox is asked for."""
    part = run.part
    return RunRequest(
        id=f"{run_id}-{run.id}",
        role=run.role,
        suite=run.suite,
        tree_oid=run.tree_oid,
        tree=tools.git.export(checkout.mirror, run.tree_oid),
        environment=where,
        limits=limits_of(run, tools.limits),
        tests=part.tests if part is not None and run.suite.runner not in ("pytest", "command") else (),
        files=part.as_file() if part is not None else {},
    )


def _as_wanted(made: SuiteRun, part: Selection) -> bool:
    """The part was run, and where the other tests were to be listed, they are."""
    if made.termination is not Termination.EXITED:
        return False
    if part.known is None:
        return bool(made.cases)
    return bool(made.sessions) and all(s.complete and s.listed_ids for s in made.sessions)


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
    """Runs that compare, as far as the first ones leave a question.

    On the target tip, for every suite that did not simply pass on the merge result: all of it. Where instruments
    changed, a test is silent, or tests within the code changed: every test but those that are known to pass with the target's own instruments, and the
    names of all. Changed tests on the target's code: their own files alone.
    """
    needed = []
    for index, suite in enumerate(planned.suites):
        first = {r.role: r for r in runs if r.suite == suite.name}
        later = {r.role: r for r in planned.later if r.suite == suite}
        merged, restored = first.get(RunRole.MERGED), first.get(RunRole.BASE_INSTRUMENTS)
        base = later.get(RunRole.BASE) or PlannedRun(
            f"{RunRole.BASE.value}-{index}", RunRole.BASE, suite, checkout.change.base_tree
        )
        if suite.kind is not SuiteKind.TEST:
            # The control of a check suite: only a failure needs one.
            bad = any(
                r.termination is not Termination.EXITED or r.exit_code for r in (merged, restored) if r is not None
            )
            needed += [base] if bad and RunRole.BASE not in first else []
            continue
        target = later.get(RunRole.MERGED)
        if target is not None and merged is None:
            passed = narrow.known(restored, planned.bent)
            needed.append(replace(target, part=passed))
            if passed is None:
                continue  # how much of the others is needed, that run tells
            base = replace(base, part=_known(restored, restored))
        if RunRole.BASE not in first:
            if base.part is not None or (merged is not None and not narrow.simply_passed(merged)):
                needed.append(base)
            elif RunRole.BASE in later:
                needed.append(replace(base, part=_known(merged, restored)))
            elif merged is not None and (_holds(planned, merged) or (_silent(merged) and _recorded(merged))):
                needed.append(replace(base, part=_known(merged, merged)))
        probe = later.get(RunRole.NEW_TESTS_ON_BASE)
        if probe is not None and RunRole.NEW_TESTS_ON_BASE not in first:
            shown = merged or restored if target is not None else merged
            told = shown is not None and (shown.sessions or suite.runner not in ("command", "pytest"))
            needed.append(probe if told else replace(probe, part=None))
    return tuple(needed)


def afterwards(planned: Planned, checkout: Checkout, runs: Sequence[SuiteRun]) -> tuple[PlannedRun, ...]:
    """Runs that follow from what `controls` brought, where the merge result came behind the target's own tests.

    What waited for it; and the whole of it, if a failure may come from running a part, which is no fault of the change.
    """
    waited = [r for r in planned.later if r.role is RunRole.MERGED]
    suites = {r.suite.name for r in waited}
    needed = [r for r in controls(planned, checkout, runs) if r.suite.name in suites]
    return (*needed, *(r for r in waited if narrow.in_doubt(runs, r.suite.name)))


def once_more(planned: Planned, checkout: Checkout, runs: Sequence[SuiteRun]) -> tuple[PlannedRun, ...]:
    """The same part again, where the whole alone passed: to tell tests that need others from a flake."""
    del checkout
    restored = {r.suite: r for r in runs if r.role is RunRole.BASE_INSTRUMENTS}
    return tuple(
        replace(r, part=narrow.known(restored.get(r.suite.name), planned.bent))
        for r in planned.later
        if r.role is RunRole.MERGED and narrow.doubtful(runs, r.suite.name)
    )


ROUNDS = (controls, afterwards, once_more)
"""Runs that compare, each round with what those before it brought."""


@dataclass(frozen=True)
class Needed:
    """Runs that are needed, and whence each comes."""

    known: tuple[SuiteRun, ...]
    """Made already under another role."""
    runs: tuple[PlannedRun, ...]
    """To be made."""
    twins: tuple[tuple[PlannedRun, PlannedRun], ...] = ()
    """(one of `runs`, another run that is the same under another role)."""

    def results(self, made: Iterable[SuiteRun | None]) -> tuple[SuiteRun, ...]:
        """All of them, from what came of `runs`, in their order; None where nothing did."""
        out = list(self.known)
        for run, result in zip(self.runs, made, strict=True):
            if result is not None:
                out += [result, *(_under(twin, result) for first, twin in self.twins if first == run)]
        return tuple(out)


def shared(needed: Sequence[PlannedRun], runs: Sequence[SuiteRun]) -> Needed:
    """What of `needed` was made already: the same suite on the same tree, whole, in this verification.

    A change of tests alone has them all, since its merge result is the target's code with its tests.
    """
    made = {(r.suite, r.tree): r for r in runs if not r.partial}
    known: list[SuiteRun] = []
    rest: list[PlannedRun] = []
    twins: list[tuple[PlannedRun, PlannedRun]] = []
    for run in needed:
        old = made.get((run.suite.name, run.tree_oid)) if run.role is not RunRole.MERGED else None
        same = (r for r in rest if (r.suite, r.tree_oid, r.part) == (run.suite, run.tree_oid, run.part))
        first = next(same, None)
        if old is not None:
            known.append(_under(run, old))
        elif first is not None:
            twins.append((first, run))
        else:
            rest.append(run)
    return Needed(tuple(known), tuple(rest), tuple(twins))


def _under(run: PlannedRun, made: SuiteRun) -> SuiteRun:
    """A run as that of another role."""
    return replace(made, role=run.role, id=f"{made.id.rsplit('-', 2)[0]}-{run.id}")


def _silent(run: SuiteRun) -> bool:
    """A test did not simply pass, so it matters what it did before."""
    return any(c.outcome is not Outcome.PASSED for c in run.cases)


def _holds(planned: Planned, merged: SuiteRun) -> bool:
    """Tests that stand in files of the code changed with them: which there were, only the target tip can show."""
    return planned.collected or any(c.id.partition("::")[0] in planned.held for c in merged.cases)


def _known(merged: SuiteRun | None, restored: SuiteRun | None) -> Selection | None:
    """What need not be run on the target tip: tests that passed with the target's own instruments, and pass with the
    change's. None where the runs can not be told apart test by test.
    """
    if merged is None or restored is None or not _recorded(merged) or not _recorded(restored):
        return None
    passing = [
        {i for i, seen in outcomes_by_id(r.cases).items() if set(seen) == {Outcome.PASSED}} for r in (merged, restored)
    ]
    return Selection(known=tuple(sorted(passing[0] & passing[1])))


def _recorded(run: SuiteRun) -> bool:
    return run.termination is Termination.EXITED and bool(run.sessions) and all(s.complete for s in run.sessions)
