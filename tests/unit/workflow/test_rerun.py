"""Which runs compare, how much of each suite they are, and which were made already under another role."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from evidence_builder import SUITE, build_run

from gatekeeper.domain.selection import Selection
from gatekeeper.domain.testrun import RunRole, Session, SuiteRun, Termination, completed
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.workflow.steps.plan import Planned, PlannedRun
from gatekeeper.workflow.steps.rerun import Needed, controls, shared

A, B, C, NEW = "tests/test_a.py::a", "tests/test_a.py::b", "tests/test_c.py::c", "tests/test_new.py::n"
FILES = Selection(files=("tests/test_new.py",))


@dataclass
class Tree:
    base_tree: str = "base"


@dataclass
class Checkout:
    change: Tree


CHECKOUT = Checkout(Tree())


def planned(suite: Suite = SUITE, *, bent: bool = True) -> Planned:
    later = (
        PlannedRun("base-0", RunRole.BASE, suite, "base"),
        PlannedRun("new_tests_on_base-0", RunRole.NEW_TESTS_ON_BASE, suite, "probe", FILES),
    )
    return Planned(None, (suite,), (), (), later if bent else ())  # type: ignore[arg-type]


def needed(runs, plan=None) -> dict[RunRole, PlannedRun]:
    return {r.role: r for r in controls(plan or planned(), CHECKOUT, runs)}  # type: ignore[arg-type]


def restored(outcomes) -> SuiteRun:
    return build_run(outcomes, role=RunRole.BASE_INSTRUMENTS)


def test_a_clean_run_with_nothing_bent_decides_alone():
    assert needed([build_run({A: "passed"})], planned(bent=False)) == {}


def test_what_passes_with_both_kinds_of_instruments_is_not_run_on_the_base():
    found = needed([build_run({A: "passed", B: "passed", NEW: "passed"}), restored({A: "passed", B: "passed"})])
    assert found[RunRole.BASE].part == Selection(known=(A, B))
    assert found[RunRole.NEW_TESTS_ON_BASE].part == FILES


@pytest.mark.parametrize("silent", ["skipped", "xfailed", "xpassed", "failed", "errored"])
@pytest.mark.parametrize("where", ["merged", "restored"])
def test_a_test_that_does_not_pass_in_both_is_run_on_the_base(silent, where):
    odd, plain = {A: "passed", B: silent}, {A: "passed", B: "passed"}
    runs = [build_run(odd if where == "merged" else plain, exit_code=0), restored(plain if where == "merged" else odd)]
    assert needed(runs)[RunRole.BASE].part == Selection(known=(A,))


def test_a_test_that_is_gone_is_run_on_the_base():
    assert needed([build_run({A: "passed"}), restored({A: "passed", B: "passed"})])[RunRole.BASE].part == Selection(
        known=(A,)
    )


def test_an_id_that_came_to_two_outcomes_is_not_known():
    twice = build_run({A: "passed"})
    cases = (*twice.sessions[0].cases, *build_run({A: "skipped"}).sessions[0].cases)
    twice = replace(twice, sessions=(Session(cases, 2, 0, True),))
    assert needed([twice, restored({A: "passed"})])[RunRole.BASE].part == Selection(known=())


@pytest.mark.parametrize(
    "merged",
    [
        build_run({A: "failed"}),
        build_run({}, exit_code=0),
        build_run({A: "passed"}, exit_code=1),
        build_run({A: "passed"}, termination=Termination.TIMED_OUT),
    ],
    ids=["failed", "no tests", "status", "ended"],
)
@pytest.mark.parametrize("bent", [True, False])
def test_the_base_is_run_as_a_whole_where_the_merge_result_did_not_simply_pass(merged, bent):
    assert needed([merged, restored({A: "passed"})], planned(bent=bent))[RunRole.BASE].part is None


@pytest.mark.parametrize(
    "runs",
    [
        [build_run({A: "passed"})],
        [build_run({A: "passed"}), build_run({A: "passed"}, role=RunRole.BASE_INSTRUMENTS, recorded=False)],
        [
            build_run({A: "passed"}),
            replace(restored({A: "passed"}), sessions=(Session((), 0, 0, complete=False),)),
        ],
        [],
    ],
    ids=["no run with the base's instruments", "not recorded", "incomplete", "nothing"],
)
def test_the_base_is_run_as_a_whole_where_single_tests_are_not_known(runs):
    assert needed(runs)[RunRole.BASE].part is None


def test_new_tests_are_run_with_their_whole_suite_where_nothing_is_recorded():
    opaque = build_run({A: "passed"}, recorded=False)
    assert needed([opaque])[RunRole.NEW_TESTS_ON_BASE].part is None


def test_a_silent_test_asks_what_it_was_before_even_where_nothing_is_bent():
    found = needed([build_run({A: "passed", B: "skipped"})], planned(bent=False))
    assert found[RunRole.BASE].part == Selection(known=(A,))


def test_a_check_that_is_no_test_is_compared_as_a_whole():
    lint = replace(SUITE, kind=SuiteKind.LINT)
    assert needed([build_run({}, exit_code=1)], planned(lint, bent=False))[RunRole.BASE].part is None


def test_the_same_tree_is_not_run_twice():
    merged = replace(build_run({A: "passed", NEW: "passed"}), id="r1-merged-0", tree="probe")
    own = replace(restored({A: "passed"}), id="r1-base_instruments-0", tree="base")
    found = shared(controls(planned(), CHECKOUT, [merged, own]), [merged, own])  # type: ignore[arg-type]
    assert found.runs == ()
    assert {(r.id, r.role, r.cases) for r in found.results(())} == {
        ("r1-base-0", RunRole.BASE, own.cases),
        ("r1-new_tests_on_base-0", RunRole.NEW_TESTS_ON_BASE, merged.cases),
    }


@pytest.mark.parametrize("change", [{"partial": True}, {"tree": "other"}, {"suite": "other"}])
def test_another_run_is_not_shared(change):
    own = replace(restored({A: "passed"}), **{"tree": "base", **change})
    want = (PlannedRun("base-0", RunRole.BASE, SUITE, "base"),)
    assert shared(want, [own]) == Needed((), want)


def test_a_part_of_the_base_is_completed_by_what_is_known_and_by_nothing_else():
    base = replace(
        build_run({B: "failed"}, role=RunRole.BASE),
        partial=True,
        sessions=(Session(build_run({B: "failed"}).cases, 1, 1, True, listed_ids=(A, B, C)),),
    )
    seen = {c.id: c.outcome.value for c in completed(base, restored({A: "passed", B: "passed", NEW: "passed"}))}
    assert seen == {A: "passed", B: "failed"}  # C is listed and nothing is known of it; NEW is not listed


def test_a_whole_run_of_the_base_speaks_for_itself():
    base = build_run({A: "failed"}, role=RunRole.BASE)
    assert completed(base, restored({A: "passed", B: "passed"})) == base.cases


@pytest.mark.parametrize(
    ("held", "collected", "needed"),
    [((), False, 0), (("src/a.py",), False, 0), (("tests/test_a.py",), False, 1), (("src/a.py",), True, 1)],
)
def test_tests_within_the_code_that_changed_are_run_on_the_target_where_the_suite_runs_them(held, collected, needed):
    """The names of all, and those that are not known to pass."""
    merged = build_run({A: "passed", B: "passed"}, role=RunRole.MERGED)
    plan = replace(planned(bent=False), held=held, collected=collected)
    made = controls(plan, CHECKOUT, [merged])  # type: ignore[arg-type]
    assert [r.role for r in made] == [RunRole.BASE] * needed
    assert all(r.part == Selection(known=(A, B)) for r in made)
