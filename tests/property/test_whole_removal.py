"""Taking away any element of the evidence never moves the verdict up: over whole cases, down to single records.

Two kinds of evidence behave differently. What the author sends (claim, allowances of the ticket) is the author's to
leave out, so leaving out never helps, not even from rejected to undecided. What the gate observes itself (runs, scans) is
no author's to take away; where an observation fails, the fault that only it showed cannot be named any more: then the
verdict is at best undecided, which blocks as well.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from whole_cases import TICKET, WholeCase, cases, judge, true_claim

from gatekeeper.domain.ports import RunRequest
from gatekeeper.domain.testrun import Outcome, RunRole, Session, SuiteRun, Termination
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import CouldNotCheck

CASES = cases()
Place = tuple[Any, ...]
_CASE = re.compile(r"<testcase\b[^>]*?(?:/>|>.*?</testcase>)", re.DOTALL)


@cache
def whole(name: str) -> Verdict:
    """The verdict with nothing taken away."""
    return judge(CASES[name]).verdict


def claim_of(case: WholeCase) -> dict[str, Any]:
    return case.claim if case.claim is not None else true_claim(case.head, case.ticket["verify"])


def places(value: Any, path: Place = ()) -> list[Place]:
    """Every key and element inside a document; of a report also its test cases, as (..., "case", number, honest total)."""
    found: list[Place] = []
    rows = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in rows:
        found += [(*path, key), *places(inner, (*path, key))]
    if isinstance(value, str) and "<testcase" in value:
        for number in range(len(_CASE.findall(value))):
            found += [(*path, "case", number, honest) for honest in (True, False)]
    return found


def without(value: Any, place: Place) -> Any:
    left = copy.deepcopy(value)
    holder, keys = left, list(place)
    case = keys[-3:] if len(keys) >= 3 and keys[-3] == "case" else None
    if case:
        keys = keys[:-3]
    try:
        for key in keys[:-1]:
            holder = holder[key]
        if case:
            holder[keys[-1]] = _cut(holder[keys[-1]], case[1], honest=case[2])
        else:
            del holder[keys[-1]]
    except (KeyError, IndexError, TypeError):
        return left
    return left


def _cut(report: str, number: int, *, honest: bool) -> str:
    """Without one test case; the totals recounted where `honest`."""
    found = list(_CASE.finditer(report))
    if number >= len(found):
        return report
    gone = found[number]
    report = report[: gone.start()] + report[gone.end() :]
    if not honest:
        return report
    kind = "failures" if "<failure" in gone.group() else "skipped" if "<skipped" in gone.group() else ""
    for key in ("tests", *([kind] if kind else [])):
        report = re.sub(rf'{key}="(\d+)"', lambda m, k=key: f'{k}="{int(m[1]) - 1}"', report, count=1)
    return report


def test_the_cases_are_what_they_are_called():
    for name in CASES:
        wanted = (
            Verdict.ACCEPTED
            if name.startswith("honest")
            else Verdict.NEEDS_HUMAN
            if "person" in name
            else Verdict.REJECTED
        )
        assert whole(name) is wanted, name


@pytest.mark.parametrize("name", CASES)
def test_no_element_of_the_claim_lifts_the_verdict(name):
    claim = claim_of(CASES[name])
    for place in places(claim):
        assert judge(CASES[name], claim=without(claim, place)).verdict.rank <= whole(name).rank, place
    assert judge(CASES[name], claim=None if CASES[name].claim is None else {}).verdict.rank <= whole(name).rank


@pytest.mark.parametrize("name", CASES)
def test_no_allowance_taken_from_the_ticket_lifts_the_verdict(name):
    # Allowances: where the change may reach, what it may do that is otherwise suspicious, what else it was asked for.
    # `forbidden` is none, and neither is `verify`: they are demands. Taking a demand away makes another ticket with another
    # digest, which no approval covers; so it is no removal of evidence, and not looked at here. Suites of the settings can
    # be asked for and not be taken away, so they may be left out as well.
    ticket = CASES[name].ticket
    for field in ("allowed", "permits", "suites", "acceptance"):
        for index in range(len(ticket.get(field, []))):
            assert judge(CASES[name], ticket=without(ticket, (field, index))).verdict.rank <= whole(name).rank, (
                field,
                index,
            )
    for index, permit in enumerate(ticket.get("permits", [])):
        for place in places(permit):
            left = {**ticket, "permits": [*ticket["permits"]]}
            left["permits"][index] = without(permit, place)
            assert judge(CASES[name], ticket=left).verdict.rank <= whole(name).rank, place


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_set_of_elements_lifts_the_verdict(data):
    name = data.draw(st.sampled_from(sorted(CASES)))
    claim = claim_of(CASES[name])
    for place in data.draw(st.lists(st.sampled_from(places(claim)), min_size=2, max_size=5)):
        claim = without(claim, place)
    assert judge(CASES[name], claim=claim).verdict.rank <= whole(name).rank


# --- what the gate itself observes ----------------------------------------------------------------------------------


def _session(change: Callable[[Session], Session]) -> Callable[[SuiteRun], SuiteRun]:
    return lambda run: replace(run, sessions=tuple(change(s) for s in run.sessions))


def _cut_case(number: int) -> Callable[[SuiteRun], SuiteRun]:
    """One record is lost; the recorder, which was told what was collected, says so."""

    def change(session: Session) -> Session:
        cases_ = session.cases[:number] + session.cases[number + 1 :]
        lost = len(cases_) < len(session.cases)
        words = ("1 collected tests have no result",) if lost else ()
        return replace(
            session, cases=cases_, complete=session.complete and not lost, problems=(*session.problems, *words)
        )

    return _session(change)


LOSSES: dict[str, Callable[[SuiteRun], SuiteRun]] = {
    "no session": lambda run: replace(run, sessions=()),
    "no end record": _session(lambda s: replace(s, exit_code=None, complete=False)),
    "no results": _session(lambda s: replace(s, cases=(), complete=False, problems=("no results",))),
    "no status": lambda run: replace(run, exit_code=None, termination=Termination.SIGNALLED),
    "no end": lambda run: replace(run, exit_code=None, termination=Termination.TIMED_OUT, sessions=()),
    **{f"no result {n}": _cut_case(n) for n in range(4)},
}
ROLES = (RunRole.MERGED, RunRole.BASE_INSTRUMENTS, RunRole.BASE, RunRole.NEW_TESTS_ON_BASE)


def blocked_at_best(before: Verdict) -> int:
    """The best rank that is left where the gate lost an observation of its own."""
    return max(Verdict.UNDECIDED.rank, before.rank if before in (Verdict.REJECTED, Verdict.UNDECIDED) else 0)


def bent(roles: frozenset[RunRole], change: Callable[[SuiteRun], SuiteRun], suite: str | None = None):
    def bend(request: RunRequest, run: SuiteRun) -> SuiteRun:
        return change(run) if request.role in roles and suite in (None, request.suite.name) else run

    return bend


def gone(_run: SuiteRun) -> SuiteRun:
    raise CouldNotCheck("SANDBOX_FAILED", "the run is gone")


def _suites(name: str) -> list[str | None]:
    return ["unit", "slow"] if "suites" in CASES[name].ticket else [None]


def _lost_for_good(name: str, got: Verdict) -> bool:
    """Never better than before, and never an acceptance or a question out of what was blocked."""
    before = whole(name)
    return got.rank <= (max(Verdict.UNDECIDED.rank, before.rank))


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", CASES)
def test_no_record_of_a_run_lifts_the_verdict(name, role):
    for loss, change in LOSSES.items():
        for suite in _suites(name):
            got = judge(CASES[name], bend=bent(frozenset({role}), change, suite)).verdict
            assert _lost_for_good(name, got), (loss, suite, got)


@pytest.mark.parametrize("name", CASES)
def test_no_whole_run_lifts_the_verdict(name):
    for role in ROLES:
        for suite in _suites(name):
            got = judge(CASES[name], bend=bent(frozenset({role}), gone, suite)).verdict
            assert _lost_for_good(name, got), (role, suite, got)
    everything = judge(CASES[name], bend=bent(frozenset(ROLES), gone)).verdict
    assert everything.rank <= Verdict.UNDECIDED.rank


@pytest.mark.parametrize("name", CASES)
def test_a_record_of_the_deciding_run_that_is_lost_never_leaves_an_acceptance(name):
    for loss, change in LOSSES.items():
        got = judge(CASES[name], bend=bent(frozenset({RunRole.MERGED}), change)).verdict
        assert got.rank <= Verdict.UNDECIDED.rank or loss.startswith("no result "), (loss, got)


@pytest.mark.parametrize("scan", ["secrets", "code"])
@pytest.mark.parametrize("name", CASES)
def test_no_scan_lifts_the_verdict(name, scan):
    got = judge(CASES[name], drop=(scan,)).verdict
    assert got.rank <= Verdict.UNDECIDED.rank
    assert _lost_for_good(name, got)


@pytest.mark.parametrize("name", [n for n in CASES if "suites" in CASES[n].ticket])
@pytest.mark.parametrize("suite", ["unit", "slow"])
def test_a_suite_that_the_change_takes_from_the_settings_still_counts(name, suite):
    case = CASES[name]
    rows = case.head[".gatekeeper.toml"].split("[[suite]]")
    left = "[[suite]]".join(r for r in rows if f'name = "{suite}"' not in r)
    allowed = {**case.ticket, "allowed": ["**"]}
    got = judge(replace(case, head={**case.head, ".gatekeeper.toml": left}, ticket=allowed)).verdict
    assert got.rank <= whole(name).rank
    assert got is not Verdict.ACCEPTED


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_set_of_losses_lifts_the_verdict(data):
    name = data.draw(st.sampled_from(sorted(CASES)))
    losses = data.draw(
        st.lists(st.tuples(st.sampled_from(ROLES), st.sampled_from(sorted(LOSSES))), min_size=2, max_size=4)
    )

    def bend(request: RunRequest, run: SuiteRun) -> SuiteRun:
        for role, loss in losses:
            run = LOSSES[loss](run) if role is request.role else run
        return run

    claim = without(claim_of(CASES[name]), data.draw(st.sampled_from(places(claim_of(CASES[name])))))
    assert _lost_for_good(name, judge(CASES[name], bend=bend, claim=claim).verdict)


@pytest.mark.parametrize("loss", ["no session", "no end", "no end record", "no result 1"])
def test_a_target_branch_whose_own_run_is_cut_off_blocks_no_honest_change(loss):
    got = judge(CASES["honest new test"], bend=bent(frozenset({RunRole.BASE}), LOSSES[loss]))
    assert got.verdict is Verdict.ACCEPTED, [f.code for f in got.findings]


def test_where_nothing_shows_the_targets_tests_nobody_can_say_that_none_is_gone():
    both = frozenset({RunRole.BASE, RunRole.BASE_INSTRUMENTS})
    got = judge(CASES["honest new test"], bend=bent(both, LOSSES["no session"]))
    assert (got.verdict, [f.code for f in got.findings]) == (Verdict.UNDECIDED, ["RUN_INCONCLUSIVE"])


def test_what_the_helpers_take_away_is_really_gone():
    claim = true_claim(CASES["honest fix"].head, TICKET["verify"])
    cut = without(claim, ("junit_xml", "case", 0, True))
    assert (cut["junit_xml"].count("<testcase"), 'tests="2"' in cut["junit_xml"]) == (2, True)
    run: list[SuiteRun] = []
    judge(CASES["honest fix"], bend=lambda _r, made: run.append(made) or made)
    assert len(_cut_case(0)(run[0]).cases) == len(run[0].cases) - 1
    assert {c.outcome for c in run[0].cases} == {Outcome.PASSED}
