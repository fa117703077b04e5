"""Measure: what the tests can tell about the changed lines. Which are executed, and which small faults in them are noticed.

Every result comes from the tested process, so it is its claim: a measurement only ever adds doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gatekeeper.domain.followup import Measured
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.ports import GATE_FILES, RunRequest, TestEnvironment
from gatekeeper.domain.testrun import Outcome, RunRole, SuiteRun, Termination
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.domain.tree import EXECUTABLE, REGULAR, Tree, text
from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.formats.measurement_lines import parse_measurement
from gatekeeper.formats.python_mutants import ChangedCode, changed_code, mutants, round_robin
from gatekeeper.formats.python_reach import reaching
from gatekeeper.formats.python_source import read_module
from gatekeeper.workflow.measuring import job as jobs
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.steps.plan import Planned, PlannedRun
from gatekeeper.workflow.steps.rerun import limits_of, without_secrets
from gatekeeper.workflow.tools import Tools

MAX_MODULES = 60
"""Changed modules that are measured; a change of more is a sweep over the code."""
_MARGIN_S = 15.0
"""The program ends by itself at its budget; this is for its start and its last run."""
_LEAST_S = 2.0
"""Of a budget: with less no suite is begun."""
_COVER_SHARE = 0.25
"""Of the budget: what the tests may take once. Where all of them take longer, only those that import the change run."""


def run(
    tools: Tools, checkout: Checkout, planned: Planned, runs: Sequence[SuiteRun], where: TestEnvironment, run_id: str
) -> Measured | None:
    """What was measured; with notes why not, where nothing was."""
    tier = planned.plan.tier
    budget = tools.effort[tier].mutation_s
    if budget <= 0:
        return Measured(tier=tier, notes=(f"no time is set aside for it in the {tier.value} tier",))
    found = _measured(tools, checkout, planned, runs, where, run_id, budget)
    before, failed = _on_the_base(runs, found.own_tests)
    return replace(found, tier=tier, passed_before=before, failed_before=failed)


def _on_the_base(runs: Sequence[SuiteRun], own: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(tests of the change that pass on the target's code, those that fail or break there)."""
    results: dict[str, set[Outcome]] = {}
    broken: set[str] = set()
    for case in (c for r in runs if r.role is RunRole.NEW_TESTS_ON_BASE for c in r.cases):
        results.setdefault(case.id.split("[", 1)[0], set()).add(case.outcome)
        if "::" not in case.id and case.outcome in (Outcome.FAILED, Outcome.ERRORED):
            broken.add(case.id)
    failed = tuple(
        t for t in own if results.get(t, set()) & {Outcome.FAILED, Outcome.ERRORED} or t.split("::", 1)[0] in broken
    )
    return tuple(t for t in own if results.get(t) == {Outcome.PASSED} and t not in failed), failed


def _measured(
    tools: Tools,
    checkout: Checkout,
    planned: Planned,
    runs: Sequence[SuiteRun],
    where: TestEnvironment,
    run_id: str,
    budget: float,
) -> Measured:
    base = tools.git.tree(checkout.mirror, checkout.change.base_tree)
    merged = tools.git.tree(checkout.mirror, checkout.change.merge_tree)
    code, notes = changed_modules(checkout, planned, base, merged)
    if not code:
        return Measured(budget_s=budget, notes=(*notes, "no line of the code is changed that a test could tell"))
    own = own_tests(checkout, planned, base, merged)
    found: Measured | None = None
    covered: set[str] = set()
    for suite in planned.suites:
        if suite.kind is not SuiteKind.TEST:
            continue
        deciding = next((r for r in runs if r.role is RunRole.MERGED and r.suite == suite.name), None)
        why = unusable(deciding)
        if why or deciding is None:
            notes = (*notes, f"{suite.name}: {why}")
            continue
        files = {c.id.split("::", 1)[0] for c in deciding.cases}
        left = budget - sum(r.wall_s for r in found.runs) if found else budget
        if files <= covered:
            continue
        if left < _LEAST_S:
            notes = (*notes, f"{suite.name}: no time of the budget is left for it")
            continue
        covered |= files
        job = plan_job(suite, deciding, code, own, merged, left)
        now = measure(tools, checkout, job, deciding, where, run_id, left)
        found = now if found is None else jobs.merged(found, now)
    if found is None:
        return Measured(budget_s=budget, own_tests=own, notes=notes)
    # A suite that cannot be measured may run lines that no measured test runs.
    tests = [s for s in planned.suites if s.kind is SuiteKind.TEST]
    all_seen = all(not unusable(next((r for r in runs if r.role is RunRole.MERGED and r.suite == s.name), None)) for s in tests)  # fmt: skip
    return replace(found, complete=found.complete and all_seen, notes=(*notes, *found.notes))


def unusable(run: SuiteRun | None) -> str:
    """Why the tests of a run cannot be used to measure; empty where they can."""
    if run is None:
        return "it was not run on the merge result"
    if run.termination is not Termination.EXITED or run.exit_code != 0:
        return "its tests do not pass"
    if not run.sessions:
        return "only suites that run pytest can be measured"
    return "" if run.cases else "it ran no test"


def changed_modules(
    checkout: Checkout, planned: Planned, base: Tree, merged: Tree
) -> tuple[tuple[ChangedCode, ...], tuple[str, ...]]:
    """(changed modules of the code with statements in which a fault could be seen, notes about those left out)."""
    settings = checkout.settings
    instruments = Instruments(settings, planned.suites, base)
    paths = [
        p
        for p in checkout.change.paths
        if p.path.endswith(".py")
        and instruments.kind(p.path) is None
        and not matches_any((*settings.generated, *settings.vendored), p.path)
    ]
    olds = {p.path: _bytes(base, p.path) for p in paths if p.old is not None}
    notes, found = [], []
    for path in paths[:MAX_MODULES]:
        after = _bytes(merged, path.path) if path.new is not None else None
        if after is None:
            continue
        others = [data for name, data in olds.items() if name != path.path and data is not None]
        code = changed_code(path.path, olds.get(path.path), after, others=others)
        if code is None:
            notes.append(f"{path.path} cannot be read as Python by the gate")
        elif code.statements:
            found.append(code)
    if len(paths) > MAX_MODULES:
        notes.append(f"only the first {MAX_MODULES} of {len(paths)} changed modules were looked at")
    return tuple(found), tuple(notes)


def own_tests(checkout: Checkout, planned: Planned, base: Tree, merged: Tree) -> tuple[str, ...]:
    """Tests that the change brings or alters: `path::name`, `path::Class::name`."""
    instruments = Instruments(checkout.settings, planned.suites, base)
    found = []
    for path in checkout.change.paths:
        if path.new is None or not path.path.endswith(".py") or instruments.kind(path.path) is not InstrumentKind.TEST:
            continue
        after = read_module(_bytes(merged, path.path))
        before = read_module(_bytes(base, path.path)) if path.old is not None else None
        for name, test in after.tests.items() if after else ():
            old = before.tests.get(name) if before else None
            if old is None or (old.body, old.decorators) != (test.body, test.decorators):
                found.append(f"{path.path}::{name}")
    return tuple(found)


def _bytes(tree: Tree, path: str) -> bytes | None:
    entry = tree.entries.get(path)
    if entry is None or entry.mode not in (REGULAR, EXECUTABLE):
        return None
    try:
        return tree.read(path)
    except CouldNotCheck:
        return None


def plan_job(
    suite: Suite, deciding: SuiteRun, code: tuple[ChangedCode, ...], own: tuple[str, ...], merged: Tree, budget_s: float
) -> jobs.Job:
    """Choose the test files and make the mutants."""

    def read(path: str) -> str | None:
        try:
            return text(merged, path)
        except CouldNotCheck:
            return None

    took = jobs.durations(deciding)
    files = tuple(sorted(f for f in took if f in merged.entries))
    near = reaching(files, [c.path for c in code], merged.entries.keys(), read)
    chosen, complete = files, True
    room = budget_s * _COVER_SHARE
    if max(deciding.wall_s, sum(took.values())) > room:
        chosen, spent = (), 0.0
        brought = {t.split("::", 1)[0] for t in own}
        for file in sorted(near or files, key=lambda f: (f not in brought, took[f])):
            if not chosen or spent + took[file] <= room:
                chosen, spent = (*chosen, file), spent + took[file]
        complete = set(chosen) == set(files)
    rows = round_robin(m for module in code for m in mutants(module))[: jobs.MAX_MUTANTS]
    return jobs.Job(suite, chosen, tuple(f for f in near if f in chosen), own, code, rows, complete)


def measure(
    tools: Tools,
    checkout: Checkout,
    job: jobs.Job,
    deciding: SuiteRun,
    where: TestEnvironment,
    run_id: str,
    budget_s: float,
) -> Measured:
    """One sandbox: coverage, control, mutants. Raises `CouldNotCheck` where no sandbox can be had."""
    planned = PlannedRun(f"{RunRole.MEASURE.value}-{job.suite.name}", RunRole.MEASURE, job.suite, deciding.tree)
    limits = limits_of(planned, tools.limits)
    limits = replace(limits, wall_s=budget_s + _MARGIN_S)
    made = tools.sandbox.run(
        RunRequest(
            id=f"{run_id}-{planned.id}",
            role=RunRole.MEASURE,
            suite=job.suite,
            tree_oid=deciding.tree,
            tree=tools.git.export(checkout.mirror, deciding.tree),
            environment=where,
            limits=limits,
            files={**jobs.program(), jobs.JOB: job.document(deciding, budget_s, limits.memory_mib)},
            program=("{python}", "-B", f"{GATE_FILES}/{jobs.PROGRAM}", f"{GATE_FILES}/{jobs.JOB}"),
            collect=(jobs.RESULTS,),
        )
    )
    output = made.outputs[0] if made.outputs else b""
    # Sessions of runs on mutants are no results of the suite.
    made = without_secrets(tools, replace(made, outputs=(), sessions=(), expects_records=False))
    return _without_secrets(tools, results(job, made, output, budget_s))


def _without_secrets(tools: Tools, measured: Measured) -> Measured:
    """Mutants quote the code, and what went wrong quotes the tested process: no secret of either goes into a report."""
    texts = dict.fromkeys(t for m in measured.mutants for t in (m.before, m.after, m.value))
    texts.update(dict.fromkeys((*measured.notes, measured.disturbed)))
    clean = dict(zip(texts, tools.secrets.redact([*texts]), strict=True))
    return replace(
        measured,
        mutants=tuple(
            replace(m, before=clean[m.before], after=clean[m.after], value=_unless_secret(m.value, clean[m.value]))
            for m in measured.mutants
        ),
        notes=tuple(clean[n] for n in measured.notes),
        disturbed=clean[measured.disturbed],
    )


def _unless_secret(value: str, clean: str) -> str:
    """A secret and what it became differ in one letter: where one of them is known, neither is told."""
    return value if clean == value else "[redacted]"


def results(job: jobs.Job, made: SuiteRun, output: bytes, budget_s: float) -> Measured:
    """The answers, or why there are none."""
    nothing = Measured(runs=(made,), budget_s=budget_s, own_tests=job.own)
    if not output:
        if made.termination not in (Termination.EXITED, Termination.SIGNALLED):
            # A limit of the gate's own, which a busy machine reaches as well.
            why = f"the measurement was ended: {made.termination.value.replace('_', ' ')}"
            return replace(nothing, notes=(why,), limit=why)
        why = "The program that measures came to no end although it was given the time: something ended it."
        return replace(nothing, notes=("its results are missing",), disturbed=why)
    try:
        found = parse_measurement(output, probes=len(job.probes), mutants=len(job.mutants))
    except InputError as error:
        return replace(nothing, notes=("its results cannot be used",), disturbed=error.message)
    return job.measured(found, (made,), budget_s)
