"""What is said of a test that failed: taking evidence away excuses nothing that was not excused before."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.domain.flake import FlakeRecord, Repeated, Tally, Told
from gatekeeper.domain.testrun import RunRole

RECORD = FlakeRecord("r", "s", "t", 1, 2, (), 0.0, 0.0, 1.0)
TALLY = st.integers(0, 9).flatmap(lambda runs: st.integers(0, runs).map(lambda failed: Tally(failed, runs)))
REPEATED = st.builds(
    Repeated, suite=st.just("s"), test=st.just("t"), on=st.sampled_from([RunRole.MERGED, RunRole.BASE_INSTRUMENTS]),
    here=TALLY, before=TALLY, touched=st.booleans(), reaches=st.none() | st.booleans(), sole=st.booleans(),
    known=st.none() | st.just(RECORD), settled=st.booleans(),
)  # fmt: skip


def lessened(one: Repeated) -> list[Repeated]:
    """The same with one item of what excuses taken away."""
    out = [
        replace(one, known=None),
        replace(one, reaches=None),
        replace(one, reaches=True),
        replace(one, settled=False),
        replace(one, touched=True),
        replace(one, sole=True),
        replace(one, before=Tally()),
    ]
    if one.here.passed:
        out.append(replace(one, here=Tally(one.here.failed, one.here.runs - 1)))
    if one.before.failed:
        out.append(replace(one, before=Tally(one.before.failed - 1, one.before.runs - 1)))
    return out


@given(REPEATED)
def test_less_evidence_excuses_no_more(one):
    for less in lessened(one):
        assert less.told is not Told.FLAKY or one.told is Told.FLAKY


@given(REPEATED)
def test_nothing_is_a_flake_that_never_passed_on_the_changes_code(one):
    assert one.told is not Told.FLAKY or one.here.passed > 0


@given(REPEATED)
def test_only_the_target_itself_or_being_out_of_reach_excuses(one):
    if one.told is Told.FLAKY:
        assert one.before.failed or one.known or (one.reaches is False and one.here.failed == 1)
