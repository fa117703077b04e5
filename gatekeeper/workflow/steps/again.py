"""Again: tests that failed in a deciding run are run again, on both trees, to tell a flake from a failure.

Just those tests, each time in a fresh sandbox; never from kept runs. What passes and fails on the target's own code
goes into the register; nothing that a change's code does can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gatekeeper.domain.flake import EXPIRY_S, FlakeRecord, Repeated, Tally, Told
from gatekeeper.domain.followup import Flaky
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.ports import TestEnvironment
from gatekeeper.domain.selection import Selection
from gatekeeper.domain.testrun import Outcome, RunRole, SuiteRun, Termination, outcomes_by_id
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.errors import GatekeeperError
from gatekeeper.formats.changed_lines import changed_code
from gatekeeper.formats.same_test import same_test
from gatekeeper.workflow.steps import rerun
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.steps.plan import Planned, PlannedRun
from gatekeeper.workflow.tools import Tools

MAX_TESTS = 20
"""Failing tests of one run that are run again; wholesale failure is no flake."""
MAX_BASE_RUNS = 20
"""Runs on the target tip of a test that failed on the change's code and passed there: a rare flake needs many."""
CERTAINTY = 3
"""A test that fails once in n runs is run 3 n times on the target tip: were it as flaky there, 19 of 20 would show it."""
MAX_WALL_S = 90.0
"""For all of it, beside what the first run of a suite took."""
MAX_FOLLOWED_S = 30.0
"""A suite that takes longer than this is not followed line by line as a whole."""
_NO_CODE = (InstrumentKind.TEST, InstrumentKind.CI, InstrumentKind.INSTRUCTIONS, InstrumentKind.GATE)
_BAD = (Outcome.FAILED, Outcome.ERRORED)


def run(
    tools: Tools, checkout: Checkout, planned: Planned, runs: Sequence[SuiteRun], where: TestEnvironment, run_id: str
) -> Flaky | None:
    """None where nothing was to be done."""
    again = _Again(tools, checkout, planned, tuple(runs), where, run_id)
    for suite in planned.suites:
        if suite.kind is SuiteKind.TEST:
            again.suite(suite)
    if not again.made and not again.left_out:
        return None
    again.remember()
    return Flaky(tuple(again.made), tuple(again.tests), tuple(again.left_out), again.trouble)


@dataclass
class _Again:
    tools: Tools
    checkout: Checkout
    planned: Planned
    runs: tuple[SuiteRun, ...]
    where: TestEnvironment
    run_id: str
    made: list[SuiteRun] = field(default_factory=list)
    tests: list[Repeated] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    trouble: tuple[str, str] | None = None
    ends: float = 0.0

    def __post_init__(self) -> None:
        self.ends = self.tools.clock.monotonic() + MAX_WALL_S
        self.times = self.tools.effort[self.planned.plan.tier].reruns

    def suite(self, suite: Suite) -> None:
        """Whatever failed on the change's code in one of the suite's deciding runs."""
        by_role = {r.role: r for r in self.runs if r.suite == suite.name}
        merged, restored = by_role.get(RunRole.MERGED), by_role.get(RunRole.BASE_INSTRUMENTS)
        failing = _failing(merged)
        self._tests(suite, merged, failing)
        # What fails with the target's own instruments alone: a flake there looks like a bent test.
        passing = _passing(merged)
        self._tests(suite, restored, tuple(t for t in _failing(restored) if t in passing))

    def _tests(self, suite: Suite, first: SuiteRun | None, tests: tuple[str, ...]) -> None:
        if first is None or not tests or self.times <= 0:
            return
        if len(tests) > MAX_TESTS:
            self.left_out.append((suite.name, f"{len(tests)} tests failed, and more than {MAX_TESTS} are no flake"))
            return
        if not _tellable(suite, first):
            self.left_out.append((suite.name, "the gate cannot tell this suite to run single tests"))
            return
        known = self._known(suite, tests)
        here = dict.fromkeys(tests, Tally(1, 1))
        for number in range(2 * self.times):
            wanted = tuple(t for t in tests if number < self.times or (t in known and not here[t].passed))
            if not wanted or self._late():
                break
            self._count(here, self._made(suite, RunRole.AGAIN, first.tree, Selection(ids=wanted)))
        alive = tuple(t for t, tally in here.items() if tally.passed)
        before = self._before(suite, {t: here[t] for t in alive})
        reached, others = self._reached(suite, first, alive)
        found = [
            Repeated(
                suite=suite.name,
                test=test,
                on=first.role,
                here=here[test],
                before=before.get(test, Tally()),
                touched=test in alive and self._touched(test),
                reaches=None if (lines := reached.get(test)) is None else bool(lines),
                sole=bool(lines) and not frozenset(lines or ()) & others,
                known=known.get(test),
            )
            for test in tests
        ]
        if all(one.told is Told.FLAKY for one in found) and not self._settled(suite, first, alive):
            found = [replace(one, settled=False) for one in found]
        self.tests += found

    def _before(self, suite: Suite, tests: Mapping[str, Tally]) -> dict[str, Tally]:
        """On the target tip, for as long as it never failed there: the rarer it fails, the more runs say anything."""
        found = dict.fromkeys(tests, Tally())
        for number in range(MAX_BASE_RUNS):
            wanted = tuple(
                test
                for test, here in tests.items()
                if number < self.times or (not found[test].failed and number * here.failed < CERTAINTY * here.runs)
            )
            if not wanted or self._late():
                break
            tree = self.checkout.change.base_tree
            run = self._made(suite, RunRole.AGAIN_ON_BASE, tree, Selection(ids=wanted))
            if run is None or not self._count(found, run):
                break  # the target has none of them
        return found

    def _reached(
        self, suite: Suite, first: SuiteRun, tests: tuple[str, ...]
    ) -> tuple[dict[str, frozenset[int]], frozenset[int]]:
        """(changed lines that each of the tests runs, those that other tests run), as far as they can be followed."""
        change, git, mirror = self.checkout.change, self.tools.git, self.checkout.mirror
        if not tests or not first.sessions or self._late():
            return {}, frozenset()
        base, merged = git.tree(mirror, change.base_tree), git.tree(mirror, change.merge_tree)
        kinds = Instruments(self.checkout.settings, self.planned.suites, base)
        leave_out = [p.path for p in change.paths if kinds.kind(p.path) in _NO_CODE]
        lines = changed_code(change, base, merged, leave_out)
        if lines is None:
            return {}, frozenset()
        if not lines:
            return dict.fromkeys(tests, frozenset()), frozenset()
        whole = first.wall_s <= MAX_FOLLOWED_S
        part = Selection(known=(), lines=lines) if whole else Selection(files=tuple(_files(tests)), lines=lines)
        run = self._made(suite, RunRole.AGAIN, first.tree, part)
        found: dict[str, frozenset[int]] = {}
        others: set[int] = set()
        for test, places in (row for s in (run.sessions if run else ()) for row in s.reached):
            if test in tests:
                found[test] = found.get(test, frozenset()) | frozenset(places)
            else:
                others |= set(places)
        return found, frozenset(others)

    def _settled(self, suite: Suite, first: SuiteRun, tests: tuple[str, ...]) -> bool:
        """The suite must end well as a whole once: what else made its status, or came after the failure, is not known."""
        if first.role is not RunRole.MERGED:
            return True
        for _ in range(self.times):
            if self._late(first.wall_s):
                return False
            run = self._made(suite, RunRole.AGAIN, first.tree, None)
            if run is not None and run.exit_code == 0 and set(tests) <= _passing(run):
                return True
        return False

    def _touched(self, test: str) -> bool:
        """The change alters the test itself, or what its file holds beside tests."""
        change, git, mirror = self.checkout.change, self.tools.git, self.checkout.mirror
        path, _, name = test.partition("::")
        if all(p.path != path for p in change.paths):
            return False
        try:
            base, merged = git.tree(mirror, change.base_tree).read(path), git.tree(mirror, change.merge_tree).read(path)
        except (KeyError, GatekeeperError):
            return True
        return not same_test(base, merged, name.partition("[")[0])

    def _known(self, suite: Suite, tests: tuple[str, ...]) -> dict[str, FlakeRecord]:
        if self.tools.flakes is None or not tests:
            return {}
        repository = self.checkout.change.repository
        try:
            found = self.tools.flakes.known(repository, suite.name, tests, self.tools.clock.now())
        except GatekeeperError as error:
            self.trouble = (error.code, error.message)
            return {}
        return {r.test: r for r in found}

    def remember(self) -> None:
        """Register what passed and failed on the target's own code."""
        if self.tools.flakes is None:
            return
        now, change = self.tools.clock.now(), self.checkout.change
        seen = [
            FlakeRecord(
                repository=change.repository,
                suite=one.suite,
                test=one.test,
                failed=one.before.failed,
                runs=one.before.runs,
                bases=(change.base,),
                first_seen=now,
                last_seen=now,
                expires_at=now + EXPIRY_S,
            )
            for one in self.tests
            if one.before.failed and one.before.passed
        ]
        try:
            if seen:
                self.tools.flakes.seen(seen)
        except GatekeeperError as error:
            self.trouble = (error.code, error.message)

    def _made(self, suite: Suite, role: RunRole, tree: str, part: Selection | None) -> SuiteRun | None:
        """One run, kept for the report. None where it did not end by itself."""
        name = f"{role.value}-{self.planned.suites.index(suite)}-{len(self.made)}"
        asked = rerun.request(
            self.tools, self.checkout, PlannedRun(name, role, suite, tree, part), self.where, self.run_id
        )
        wall = max(1.0, min(asked.limits.wall_s, self.ends - self.tools.clock.monotonic()))
        made = self.tools.sandbox.run(replace(asked, limits=replace(asked.limits, wall_s=wall)))
        made = replace(rerun.without_secrets(self.tools, made), partial=part is not None)
        self.made.append(made)
        return made if made.termination is Termination.EXITED else None

    def _count(self, tallies: dict[str, Tally], run: SuiteRun | None) -> bool:
        """Add what a run shows of these tests; True where it shows any."""
        if run is None:
            return False
        outcomes = outcomes_by_id(run.cases)
        any_ = False
        for test, tally in tallies.items():
            seen = outcomes.get(test)
            if seen and (bad := any(seen[o] for o in _BAD)) | bool(seen[Outcome.PASSED]):
                tallies[test] = Tally(tally.failed + bad, tally.runs + 1)
                any_ = True
        return any_

    def _late(self, needed: float = 0.0) -> bool:
        return self.tools.clock.monotonic() + needed >= self.ends


def _tellable(suite: Suite, run: SuiteRun) -> bool:
    """The suite can be told to run single tests: through the recorder, or as a structured runner."""
    return bool(run.sessions) or suite.runner not in ("command", "pytest")


def _failing(run: SuiteRun | None) -> tuple[str, ...]:
    if run is None or run.termination is not Termination.EXITED:
        return ()
    return tuple(i for i, seen in outcomes_by_id(run.cases).items() if any(seen[o] for o in _BAD))


def _passing(run: SuiteRun | None) -> frozenset[str]:
    if run is None:
        return frozenset()
    return frozenset(i for i, seen in outcomes_by_id(run.cases).items() if set(seen) == {Outcome.PASSED})


def _files(tests: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(t.partition("::")[0] for t in tests))
