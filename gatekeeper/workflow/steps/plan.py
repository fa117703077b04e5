"""Plan: the tier, the suites, and which runs are needed on which tree."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from contextlib import suppress

from gatekeeper.domain.change import Change
from gatekeeper.domain.decision import Plan
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.selection import Selection
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.ticket import PermitKind, Suite, SuiteKind, Ticket
from gatekeeper.domain.tree import GITLINK, Tree, text
from gatekeeper.errors import CouldNotCheck, InputError
from gatekeeper.formats.policy_input import plan_input
from gatekeeper.records import dataclass, replace
from gatekeeper.workflow.steps import narrow
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.steps.intake import Intake
from gatekeeper.workflow.tools import Tools


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run: a role, the tree it is made on, a suite."""

    id: str
    role: RunRole
    suite: Suite
    tree_oid: str
    part: Selection | None = None
    """The tests that are needed; None for the whole suite."""


@dataclass(frozen=True)
class Planned:
    """What will be run and what the policy demands."""

    plan: Plan
    suites: tuple[Suite, ...]
    runs: tuple[PlannedRun, ...]
    bent: tuple[str, ...]
    """Changed paths that bend runs (tests, settings, scripts)."""
    later: tuple[PlannedRun, ...] = ()
    """Runs that compare: how much of each is needed follows from what the first ones show."""
    held: tuple[str, ...] = ()
    """Changed files of the code whose own examples or tests, if they run, are not all as they were."""
    collected: bool = False
    """The target's settings speak of tests in such files."""


def suites_of(ticket: Ticket, settings_suites: tuple[Suite, ...]) -> tuple[Suite, ...]:
    """The base's suites, all of them, then the ticket's own command.

    A ticket names suites to ask for them; it can take none away. Raises `InputError` (TICKET_UNKNOWN_SUITE, NO_SUITE).
    """
    known = {s.name for s in settings_suites}
    for name in ticket.suites:
        if name not in known:
            raise InputError(
                "TICKET_UNKNOWN_SUITE",
                f"The ticket asks for the suite {name!r}; the target branch has {sorted(known) or 'no settings file'}.",
                next_action="Name a suite that is there."
                if known
                else "Commit .gatekeeper.toml on the target branch, or take `suites` out of the ticket and give it a `verify` command.",
            )
    suites = list(settings_suites)
    if ticket.verify:
        name = "verify"
        while name in known:
            name += "-ticket"
        suites.append(Suite(name=name, kind=SuiteKind.TEST, runner="command", command="\n".join(ticket.verify)))
    if not suites:
        raise InputError("NO_SUITE", "Nothing says which command proves this change: no suite, no verify command.")
    return tuple(suites)


def run(tools: Tools, intake: Intake, checkout: Checkout) -> Planned:
    """Ask the policy for the tier and lay out the runs.

    Without a changed test or instrument the run on the merge result decides alone. Otherwise the base's instruments
    decide on head's code as well, beside it or, where a few test modules alone changed, before it: then of the merge result
    only what that leaves open is run. What the target tip shows is compared afterwards, as far as it is not known by then.
    """
    change, mirror = checkout.change, checkout.mirror
    base, merged = tools.git.tree(mirror, change.base_tree), tools.git.tree(mirror, change.merge_tree)
    suites = suites_of(intake.ticket, checkout.settings.suites)
    plan = tools.policy.plan(
        plan_input(
            ticket=intake.ticket,
            claim=intake.claim,
            settings=checkout.settings,
            change=change,
            base=base,
            merged=merged,
            now=tools.clock.now(),
            mode=tools.mode.value,
        )
    )
    instruments = Instruments(checkout.settings, suites, base)
    kinds = {p.path: instruments.kind(p.path) for p in change.paths}
    bent = tuple(path for path, kind in kinds.items() if kind is not None and kind.bends_runs)
    first = [(RunRole.MERGED, change.merge_tree)]
    later: list[tuple[RunRole, str, Selection | None]] = []
    tests: tuple[str, ...] = ()
    alone: frozenset[str] = frozenset()
    if bent:
        restored: dict[str, tuple[str, str] | None] = {}
        carried: dict[str, tuple[str, str] | None] = {}
        for path in change.paths:
            kind = kinds[path.path]
            if kind is None or not kind.bends_runs:
                continue
            restored[path.path] = (path.old.mode, path.old.oid) if path.old else None
            if kind in (InstrumentKind.TEST, InstrumentKind.TEST_SUPPORT) and path.new and path.new.mode != GITLINK:
                carried[path.path] = (path.new.mode, path.new.oid)
        first.append((RunRole.BASE_INSTRUMENTS, tools.git.compose(mirror, change.merge_tree, restored)))
        later.append((RunRole.BASE, change.base_tree, None))
        alone = narrow.alone(change, suites, instruments, base, merged)
        tests = tuple(p for p in carried if kinds[p] is InstrumentKind.TEST)
        if tests:
            probed = tools.git.compose(mirror, change.base_tree, carried)
            later.append((RunRole.NEW_TESTS_ON_BASE, probed, Selection(files=tests)))

    def laid_out(role: RunRole, oid: str, part: Selection | None) -> list[PlannedRun]:
        return [
            PlannedRun(f"{role.value}-{index}", role, suite, oid, part)
            for index, suite in enumerate(suites)
            if role in (RunRole.MERGED, RunRole.BASE) or suite.kind is SuiteKind.TEST
        ]

    def questions(following: list[PlannedRun]) -> list[PlannedRun]:
        """Of Python's tests, those that are new or changed: what the others do on the target tip is known."""
        probes = [
            r for r in following if r.role is RunRole.NEW_TESTS_ON_BASE and r.suite.runner in ("pytest", "command")
        ]
        if not probes:
            return following
        part = _new_tests(tests, change, base, merged)
        wanted = bool(part.files or part.functions)
        return [replace(r, part=part) if r in probes else r for r in following if wanted or r not in probes]

    runs = [run for role, oid in first for run in laid_out(role, oid, None)]
    waiting = [r for r in runs if r.role is RunRole.MERGED and r.suite.name in alone]
    runs = [r for r in runs if r not in waiting]
    means = _settings_of_base(intake.ticket, change, kinds)
    if means and any(s.kind is not SuiteKind.TEST for s in suites):
        # What lints, checks types or builds is judged with the target's settings as well, on the change's code and tests.
        role, oid = RunRole.BASE_INSTRUMENTS, tools.git.compose(mirror, change.merge_tree, means)
        strict = (i for i, s in enumerate(suites) if s.kind is not SuiteKind.TEST)
        runs += [PlannedRun(f"{role.value}-{i}", role, suites[i], oid) for i in strict]
    following = waiting + [run for role, oid, part in later for run in laid_out(role, oid, part)]
    held = tuple(p for p, kind in kinds.items() if kind is None and _holds_tests(p, base, merged))
    collected = bool(held) and _collects(suites, base)
    return Planned(plan, suites, tuple(runs), bent, tuple(questions(following)), held, collected)


def _holds_tests(path: str, base: Tree, merged: Tree) -> bool:
    """A file of the target that holds tests, if the suite runs them, and that the change does not leave as they were."""
    if not path.endswith(".py") or path not in base.entries:
        return False
    with suppress(CouldNotCheck):  # larger than what is read
        before, after = text(base, path), text(merged, path) if path in merged.entries else None
        if before is not None and (">>>" in before or "def test" in before):
            from gatekeeper.formats.python_examples import differ_in_tests

            return differ_in_tests(before, after)
    return False


def _collects(suites: Sequence[Suite], base: Tree) -> bool:
    """What the suite starts, or the target's settings of its runner, speaks of doctests or of files that are named otherwise."""
    from gatekeeper.formats.pytest_settings import ORDER

    rows = [s.command for s in suites if s.command]
    folders = {posixpath.dirname(p) for p in base.entries if posixpath.basename(p) == "conftest.py"}
    for folder in {"", *(s.workdir for s in suites), *folders}:
        for name in (*ORDER, "conftest.py"):
            path = posixpath.normpath(posixpath.join(folder, name))
            with suppress(CouldNotCheck):
                rows.append((text(base, path) or "") if path in base.entries else "")
    return any("doctest" in r or "python_files" in r for r in rows)


def _new_tests(tests: Sequence[str], change: Change, base: Tree, merged: Tree) -> Selection:
    """The tests that a change adds or alters: by name where nothing else of their file differs, else the whole file."""
    from gatekeeper.formats.python_source import new_or_changed

    old = {p.path for p in change.paths if p.old is not None}
    files, functions = [], []
    for path in tests:
        names = None
        # A bracket in a path looks like parameters in the name of a test.
        if path in old and path.endswith(".py") and "[" not in path:
            with suppress(CouldNotCheck):  # larger than what is read
                names = new_or_changed(text(base, path), text(merged, path))
        if names is None:
            files.append(path)
        else:
            functions += [f"{path}::{name}" for name in names]
    return Selection(files=tuple(files), functions=tuple(functions))


def _settings_of_base(
    ticket: Ticket, change: Change, kinds: Mapping[str, InstrumentKind | None]
) -> dict[str, tuple[str, str] | None]:
    """Changed settings and scripts of checking tools as the target has them, but for those that a permit names."""
    allowed = (PermitKind.CHANGE_INSTRUMENTS, PermitKind.ADD_DEPENDENCY, PermitKind.CHANGE_CI)
    globs = tuple(g for kind in allowed for p in ticket.permits_of(kind) for g in p.paths)
    found: dict[str, tuple[str, str] | None] = {}
    for path in change.paths:
        if kinds[path.path] in _MEANS and not matches_any(globs, path.path):
            found[path.path] = (path.old.mode, path.old.oid) if path.old else None
    return found


_MEANS = (InstrumentKind.RUNNER_SETTINGS, InstrumentKind.SCRIPT, InstrumentKind.DECLARED)
