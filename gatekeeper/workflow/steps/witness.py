"""The second witness: test files again, each in a process of its own, under other names, beside tests that must fail.

`run` goes beside the deciding runs and looks at nothing of theirs. `recheck` comes after them: where the witness differs,
it is asked again, and the target tip is asked the same, so that a flake, an order dependence or a suite in which nothing
can be witnessed is never held against a change.
"""

from __future__ import annotations

import fnmatch
import posixpath
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gatekeeper.domain.effort import DEFAULT, Effort
from gatekeeper.domain.followup import Sight, Sighting, Uncollected, Witnessed
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.ports import Limits, RunRequest, TestEnvironment
from gatekeeper.domain.testrun import RunRole, SuiteRun
from gatekeeper.domain.ticket import Risk, Suite, SuiteKind
from gatekeeper.domain.tree import GITLINK, Tree, text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats import pytest_settings
from gatekeeper.formats.canary_tests import canaries, word
from gatekeeper.formats.nearest_tests import nearest
from gatekeeper.formats.renamed_tests import renamed
from gatekeeper.formats.runner_reach import NATIVE, reaches
from gatekeeper.formats.witness_reading import faults, indifferent, lost, passes, rewrites, unseen
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.steps.plan import Planned
from gatekeeper.workflow.steps.rerun import without_secrets
from gatekeeper.workflow.tools import Tools

MAX_MODULES = 1500
"""Modules that are looked through for imports; beyond them a test file is only found by its name."""
MAX_SOURCE = 200_000
_MOST_REASONS = 8
_MOST_UNCOLLECTED = 4
_MEANS = (InstrumentKind.RUNNER_SETTINGS, InstrumentKind.SCRIPT, InstrumentKind.SHADOW, InstrumentKind.DECLARED)


def run(tools: Tools, checkout: Checkout, planned: Planned, where: TestEnvironment, run_id: str) -> Witnessed | None:
    """First sight of every test file that is worth it; None where the tier asks for none and nothing speaks for it."""
    place = _Place(tools, checkout, planned, where, run_id)
    reasons = place.reasons()
    if planned.plan.tier is Risk.LOW and not reasons:
        return None
    effort = tools.effort.get(planned.plan.tier, DEFAULT[Risk.HIGH])
    return place.first_sights(effort, reasons)


def recheck(
    tools: Tools,
    checkout: Checkout,
    planned: Planned,
    runs: Sequence[SuiteRun],
    where: TestEnvironment,
    run_id: str,
    witnessed: Witnessed | None,
) -> Witnessed | None:
    """Ask again where the witness and the deciding run differ."""
    place = _Place(tools, checkout, planned, where, run_id)
    return place.asked_again(witnessed, runs)


class _Place:
    """One change, and how its test files are run."""

    def __init__(self, tools: Tools, checkout: Checkout, planned: Planned, where: TestEnvironment, run_id: str) -> None:
        self.tools, self.checkout, self.planned, self.where, self.run_id = tools, checkout, planned, where, run_id
        self.change = checkout.change
        self.base = tools.git.tree(checkout.mirror, self.change.base_tree)
        self.merged = tools.git.tree(checkout.mirror, self.change.merge_tree)
        self.instruments = Instruments(checkout.settings, planned.suites, self.base)
        self.count = 0
        found = pytest_settings.effective("", lambda path: text(self.base, path))
        self.patterns = tuple(pytest_settings.listed(found[1], "python_functions")) if found else ()
        self.modules = tuple(pytest_settings.listed(found[1], "python_files")) if found else ()

    def reasons(self) -> tuple[str, ...]:
        """Why the change could bend a run from within, in words."""
        found: list[str] = []
        for path in self.change.paths:
            if path.new is None or len(found) >= _MOST_REASONS:
                continue
            kind = self.instruments.kind(path.path)
            if posixpath.basename(path.path) == "conftest.py" or kind is InstrumentKind.SHADOW:
                found.append(f"{path.path}: loaded with the runner")
            elif path.path.endswith(NATIVE):
                found.append(f"{path.path}: native or compiled code")
            elif path.path.endswith(".py"):
                test = kind in (InstrumentKind.TEST, InstrumentKind.TEST_SUPPORT)
                reach = reaches(_text(self.base, path.path), _text(self.merged, path.path), test=test)
                found += [f"{path.path}: {reach[0]}"] if reach else []
        return tuple(found)

    def first_sights(self, effort: Effort, reasons: tuple[str, ...]) -> Witnessed | None:
        """Each suite's nearest test files, one after the other: beside them the deciding run needs the other core."""
        suites = [s for s in self.planned.suites if s.kind is SuiteKind.TEST]
        left_out = [f"suite {s.name}: no pytest that the recorder sees" for s in suites if not self._recorded(s)]
        suites = [s for s in suites if self._recorded(s)]
        files = self._nearest() if suites else []
        sightings: list[Sighting] = []
        begun = time.monotonic()
        tree = self._instruments_of_base()
        taken = 0
        for suite in suites:
            blind = False
            for file in _within(suite, files):
                if blind or taken >= effort.witness_files or time.monotonic() - begun > effort.witness_s:
                    left_out.append(file)
                    continue
                taken += 1
                sight = self._sight(suite, file, tree, self.merged, rename=True)
                sightings.append(Sighting(suite.name, sight))
                # Bent, or a suite in which nothing can be witnessed: asking again tells, and other files tell no more.
                blind = bool(faults(sight))
        runs = tuple(s.first.run for s in sightings)
        return Witnessed(runs, tuple(dict.fromkeys(left_out)), tuple(sightings), reasons=reasons)

    def asked_again(self, witnessed: Witnessed | None, runs: Sequence[SuiteRun]) -> Witnessed | None:
        """The same witnessed, with what was asked again where it differs from what the deciding runs showed."""
        known = witnessed or Witnessed()
        decided = {r.suite: r for r in runs if r.role is RunRole.MERGED}
        before = {r.suite: r for r in runs if r.role is RunRole.BASE}
        whole = {name for name, r in before.items() if not r.partial}
        suites = {s.name: s for s in self.planned.suites}
        made: list[SuiteRun] = []
        sightings = [self._again(s, decided.get(s.suite), suites[s.suite], made) for s in known.sightings]
        uncollected: list[Uncollected] = []
        for name, run in decided.items():
            if suites[name].kind is not SuiteKind.TEST or not run.sessions:
                continue
            for file in self._unseen(run, before.get(name)):
                control = self._control(suites[name], file)
                made.append(control.run)
                uncollected.append(Uncollected(name, file, control))
        # Whether the target branch's own run shows the same: asked only where it is not known and would excuse something.
        asked = {s.suite for s in sightings if _failing_there(s, decided.get(s.suite))} - whole
        asked |= {name for name, run in decided.items() if name not in before and rewrites(run, self.instruments)}
        controls = [self._base_run(suites[name]) for name in sorted(asked)]
        if not made and not controls:
            return witnessed
        return replace(
            known,
            runs=(*known.runs, *made, *controls),
            sightings=tuple(sightings),
            uncollected=tuple(uncollected),
            controls=tuple(controls),
        )

    def _again(self, sighting: Sighting, decided: SuiteRun | None, suite: Suite, made: list[SuiteRun]) -> Sighting:
        first = sighting.first
        if not faults(first) and not lost(first, decided) and not indifferent(first):
            return sighting
        file, tree = first.file, self.change.merge_tree
        control = self._control(suite, file)
        if faults(first) and faults(control):
            made.append(control.run)
            return replace(sighting, control=control)
        again = (
            self._sight(suite, file, tree, self.merged, rename=True),
            self._sight(suite, file, tree, self.merged, rename=False),
        )
        # Without the instruments of the target tip: what they alone explain is judged where they are compared.
        made += [s.run for s in (*again, control)]
        return replace(sighting, again=again, control=control)

    def _control(self, suite: Suite, file: str) -> Sight:
        there = file if file in self.base.entries else ""
        return self._sight(suite, there, self.change.base_tree, self.base, rename=True, beside=file)

    def _unseen(self, run: SuiteRun, before: SuiteRun | None) -> list[str]:
        """Unchanged test files in which the source shows a test that the run does not, nor explains.

        Where the target tip was run, what it shows is compared test by test elsewhere.
        """
        if before is not None:
            return []
        changed = {p.path for p in self.change.paths}
        found = []
        for file in sorted({c.id.partition("::")[0] for c in run.cases}):
            if file in changed or file not in self.base.entries:
                continue
            source = _text(self.merged, file) if file.endswith(".py") else None
            if source is not None and unseen(run, file, source):
                found.append(file)
        return found[:_MOST_UNCOLLECTED]

    def _recorded(self, suite: Suite) -> bool:
        """Pytest runs in the suite, as far as its command and the scripts in it say so."""
        if not self.where.has_recorder:
            return False
        if suite.runner == "pytest":
            return True
        if suite.runner != "command":
            return False
        own = Instruments(self.checkout.settings, (suite,), self.base)
        texts = [suite.command, *(_text(self.base, p) or "" for p in own.scripts)]
        return any("pytest" in t or "py.test" in t for t in texts)

    def _nearest(self) -> list[str]:
        """Test modules of the merge result that hold tests, nearest to the change first; those it leads to alone."""
        tests, sources = [], {}
        paths = [p for p, e in self.merged.entries.items() if p.endswith(".py") and (e.size or 0) <= MAX_SOURCE]
        # Test modules first: they are what is looked for.
        paths.sort(key=lambda p: (not self._test_module(p), p))
        for path in paths[:MAX_MODULES]:
            source = _text(self.merged, path)
            if source is None:
                continue
            sources[path] = source
            if self._test_module(path) and "def " in source:
                tests.append(path)
        touched = [p.path for p in self.change.paths]
        return nearest(touched, tests, sources)

    def _test_module(self, path: str) -> bool:
        """By its name: under the gate's rules, or those of the target's settings."""
        if posixpath.basename(path) in ("conftest.py", "__init__.py"):
            return False
        if self.instruments.kind(path) is InstrumentKind.TEST:
            return True
        return any(fnmatch.fnmatchcase(posixpath.basename(path), m) for m in self.modules[:20])

    def _instruments_of_base(self) -> str:
        """The merge result with settings, scripts and conftest files of the target tip; test modules stay."""
        restored: dict[str, tuple[str, str] | None] = {}
        for path in self.change.paths:
            kind = self.instruments.kind(path.path)
            if kind in _MEANS or posixpath.basename(path.path) == "conftest.py":
                old = path.old
                if old is None or old.mode != GITLINK:
                    restored[path.path] = (old.mode, old.oid) if old else None
        if not restored:
            return self.change.merge_tree
        return self.tools.git.compose(self.checkout.mirror, self.change.merge_tree, restored)

    def _sight(self, suite: Suite, file: str, tree: str, texts: Tree, *, rename: bool, beside: str = "") -> Sight:
        """Run one file (none: the gate's tests alone, in the folder of `beside`)."""
        token = self.tools.new_id()
        folder = posixpath.dirname(file or beside)
        if folder and not any(p.startswith(f"{folder}/") for p in texts.entries):
            folder = ""
        made = canaries(token, self.patterns)
        own = posixpath.join(folder, f"test_{word(token, 'module')}.py")
        over: dict[str, bytes] = {own: made.source}
        alias = ""
        source = _text(texts, file) if rename and file else None
        other = renamed(source, lambda name: f"test_{word(token, name)}") if source is not None else None
        if other is not None:
            alias = posixpath.join(folder, f"test_{word(token, 'alias')}.py")
            over[alias] = other.source.encode()
        self.count += 1
        run = self.tools.sandbox.run(
            RunRequest(
                id=f"{self.run_id}-witness-{token[:12]}",
                role=RunRole.WITNESS,
                suite=suite,
                tree_oid=tree,
                tree=self.tools.git.export(self.checkout.mirror, tree),
                environment=self.where,
                limits=self._limits(suite),
                over=over,
                only=(alias or file,) if file else (own,),
                last=(own,),
            )
        )
        expected = tuple((f"{own}::{name}", outcome) for name, outcome in made.expected)
        names, twins = (other.names, other.twins) if other is not None else ((), ())
        sight = Sight(without_secrets(self.tools, run), file, expected, alias, names, twins)
        if not faults(sight):
            sight = replace(sight, run=replace(sight.run, guarantee="witnessed"))
        return sight

    def _base_run(self, suite: Suite) -> SuiteRun:
        tree = self.change.base_tree
        run = self.tools.sandbox.run(
            RunRequest(
                id=f"{self.run_id}-witness-base-{suite.name}",
                role=RunRole.WITNESS,
                suite=suite,
                tree_oid=tree,
                tree=self.tools.git.export(self.checkout.mirror, tree),
                environment=self.where,
                limits=self._limits(suite),
            )
        )
        return without_secrets(self.tools, run)

    def _limits(self, suite: Suite) -> Limits:
        wall = suite.timeout_s
        limits = self.tools.limits
        return limits if wall is None else replace(limits, wall_s=min(wall, limits.wall_s))


def _failing_there(sighting: Sighting, decided: SuiteRun | None) -> bool:
    """A test that is lost on the merge result does not pass alone on the target tip either."""
    control = sighting.control
    if control is None:
        return False
    own = control.own()
    return any(n in own and not passes(control, n) for n in lost(sighting.first, decided))


def _text(tree: Tree, path: str) -> str | None:
    try:
        return text(tree, path)
    except CouldNotCheck:
        return None


def _within(suite: Suite, files: Iterable[str]) -> list[str]:
    """Files that the suite's command seems to cover: where it names folders or modules, those below them."""
    names = [w.split("::")[0].rstrip("/") for w in suite.command.split() if not w.startswith("-")]
    places = [posixpath.normpath(posixpath.join(suite.workdir, n)) for n in names if n]
    found = [f for f in files if any(f == p or f.startswith(f"{p}/") for p in places)]
    if found:
        return found
    below = "" if suite.workdir in ("", ".") else posixpath.normpath(suite.workdir) + "/"
    return [f for f in files if f.startswith(below)]
