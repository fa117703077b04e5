"""What is made of a measurement: doubt, at most once, and never more than it shows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import build_evidence, build_run, build_ticket

from gatekeeper.checks.change_proof import check
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.followup import Measured, MeasuredLine, MeasuredMutant, MutantResult
from gatekeeper.domain.ticket import Risk
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.measurement_json import measurement, measurement_lines, untold

OWN = "tests/test_a.py::test_new"


def line(number: int, *, executed: bool | None = True, own: int = 1, at_import: bool = False) -> MeasuredLine:
    return MeasuredLine("a.py", number, executed, 1 if executed else 0, own, at_import)


def mutant(
    number: int, result: MutantResult, *, test: str = "", own: bool = False, kind: str = "comparison"
) -> MeasuredMutant:
    return MeasuredMutant("a.py", number, kind, "<", "<=", result, test, own)


def survivors(*numbers: int, each: int = 3) -> tuple[MeasuredMutant, ...]:
    return tuple(mutant(n, MutantResult.SURVIVED, kind=f"kind {k}") for n in numbers for k in range(each))


def said(measured: Measured | None, title: str = "Fix the limit", outcome: str = "passed") -> list[Finding]:
    evidence = build_evidence({}, {}, ticket=replace(build_ticket(), title=title), runs=[build_run({OWN: outcome})])
    return list(check(replace(evidence, measured=measured)))


def codes(measured: Measured | None, title: str = "Fix the limit") -> list[tuple[str, Effect]]:
    return [(f.code, f.effect) for f in said(measured, title)]


BLIND = Measured(
    tier=Risk.MEDIUM,
    lines=(line(1), line(2)),
    mutants=survivors(1, 2),
    complete=True,
    own_tests=(OWN,),
    passed_before=(OWN,),
)
"""The change's test runs both lines and notices nothing."""


def test_nothing_is_said_without_a_measurement() -> None:
    assert codes(None) == []
    assert codes(Measured(tier=Risk.HIGH, notes=("no time is set aside",))) == []


@pytest.mark.parametrize(
    ("tier", "effect"), [(Risk.LOW, Effect.ADVISES), (Risk.MEDIUM, Effect.ASKS), (Risk.HIGH, Effect.ASKS)]
)
def test_tests_that_notice_nothing_ask_a_person_where_it_matters(tier: Risk, effect: Effect) -> None:
    assert codes(replace(BLIND, tier=tier)) == [("TESTS_NOTICE_NOTHING", effect)]


@pytest.mark.parametrize(
    "look_alike",
    [
        replace(BLIND, failed_before=(OWN,)),
        replace(BLIND, passed_before=()),
        replace(BLIND, mutants=(*BLIND.mutants, mutant(1, MutantResult.KILLED, test=OWN, own=True))),
        replace(BLIND, mutants=(*BLIND.mutants, mutant(1, MutantResult.TIMED_OUT))),
        replace(BLIND, mutants=(*BLIND.mutants, mutant(1, MutantResult.KILLED))),
        replace(BLIND, mutants=survivors(1, each=2)),
    ],
    ids=["fails before", "not known before", "notices one", "hangs on one", "breaks on one", "too few tried"],
)
def test_tests_that_may_notice_something_are_not_said_to_notice_nothing(look_alike: Measured) -> None:
    assert "TESTS_NOTICE_NOTHING" not in {code for code, _ in codes(look_alike)}


UNRUN = Measured(
    tier=Risk.MEDIUM,
    lines=(line(1, executed=False, own=0), line(2, executed=False, own=0)),
    complete=True,
    own_tests=(OWN,),
)


def test_a_change_with_tests_that_run_none_of_it_asks_a_person() -> None:
    assert codes(UNRUN) == [("CHANGE_NOT_EXECUTED", Effect.ASKS)]
    assert "a.py: lines 1-2" in said(UNRUN)[0].evidence
    assert codes(replace(UNRUN, tier=Risk.LOW)) == [("CHANGE_NOT_EXECUTED", Effect.ADVISES)]


@pytest.mark.parametrize(
    ("look_alike", "title"),
    [
        (replace(UNRUN, complete=False), "Fix it"),
        (replace(UNRUN, own_tests=()), "Fix it"),
        (replace(UNRUN, failed_before=(OWN,)), "Fix it"),
        (replace(UNRUN, lines=(*UNRUN.lines, line(3, executed=None))), "Fix it"),
        (replace(UNRUN, lines=(*UNRUN.lines, line(3))), "Fix it"),
        (UNRUN, "Refactor the parser"),
        (replace(UNRUN, lines=()), "Fix it"),
    ],
    ids=["not all ran", "no tests", "fails before", "in a subprocess", "one line runs", "refactoring", "no code"],
)
def test_less_than_that_is_no_finding(look_alike: Measured, title: str) -> None:
    assert codes(look_alike, title) == []


def test_tests_that_are_skipped_here_are_not_said_to_miss_the_change() -> None:
    assert [f.code for f in said(UNRUN, outcome="skipped")] == []


def test_untold_lines_are_advice_where_they_are_most_of_the_change() -> None:
    measured = Measured(tier=Risk.HIGH, lines=(line(1, own=0), line(2, own=0)), mutants=survivors(1, 2), complete=True)
    assert codes(measured) == [("LINES_UNTOLD", Effect.ADVISES)]
    assert "a.py:1: no test can tell `<` from `<=`" in said(measured)[0].message
    told = tuple(mutant(n, MutantResult.KILLED, test="t", kind=f"kind {k}") for n in (3, 4, 5) for k in range(2))
    assert codes(replace(measured, mutants=(*survivors(1), *told))) == []
    assert codes(measured, "Refactor the limit") == []


def test_one_surviving_mutant_of_a_line_is_not_enough() -> None:
    assert codes(Measured(tier=Risk.HIGH, lines=(line(1, own=0),), mutants=survivors(1, each=1))) == []


def test_lines_that_run_at_import_are_no_matter_for_a_finding() -> None:
    measured = Measured(tier=Risk.HIGH, lines=(line(1, own=0, at_import=True),), mutants=survivors(1))
    assert codes(measured) == []


def test_disturbed_results_ask_a_person_where_it_matters() -> None:
    disturbed = Measured(tier=Risk.HIGH, disturbed="The end is missing.")
    assert codes(disturbed) == [("MEASUREMENT_MALFORMED", Effect.ASKS)]
    assert codes(replace(disturbed, tier=Risk.LOW)) == [("MEASUREMENT_MALFORMED", Effect.ADVISES)]


def test_a_limit_that_ended_the_measurement_is_told_as_advice_in_every_tier() -> None:
    late = Measured(tier=Risk.HIGH, limit="the 30 s of the budget were spent", notes=("no mutant was tried",))
    assert codes(late) == [("MEASUREMENT_CUT_SHORT", Effect.ADVISES)]
    assert "the 30 s of the budget were spent" in said(late)[0].message
    section = measurement(late)
    assert section is not None
    assert (section["measured"], section["limit"]) == (False, "the 30 s of the budget were spent")
    assert codes(replace(BLIND, limit="the second suite did not end")) == [("TESTS_NOTICE_NOTHING", Effect.ASKS)]


def test_the_report_names_every_survivor_and_every_line_that_no_test_runs() -> None:
    measured = replace(
        BLIND,
        lines=(*BLIND.lines, line(9, executed=False)),
        mutants=(*BLIND.mutants, mutant(2, MutantResult.KILLED, test=OWN)),
    )
    section = measurement(measured)
    assert section is not None
    assert section["measured"] is True
    assert section["untold_lines"] == [{"path": "a.py", "line": 1}]
    assert untold(measured) == [("a.py", 1)]
    assert len(section["survivors"]) == 6
    assert section["lines"]["not_executed"] == [{"path": "a.py", "line": 9}]
    assert section["own_tests"]["pass_without_the_change"] == [OWN]
    text = "\n".join(measurement_lines(measured))
    assert "run by no test: a.py:9" in text
    assert "a.py:1: no test can tell `<` from `<=`" in text


def test_nothing_tried_is_not_measured_and_never_fine() -> None:
    idle = Measured(tier=Risk.LOW, notes=("no time is set aside for it in the low tier",))
    section = measurement(idle)
    assert section is not None
    assert section["measured"] is False
    assert measurement_lines(idle) == [
        "tests    what they can tell of the change was not measured: no time is set aside for it in the low tier"
    ]
    assert measurement(None) is None
    assert measurement_lines(None) == []


def test_texts_of_the_change_lose_their_control_characters() -> None:
    hostile = MeasuredMutant("a\x1b[31m.py", 1, "constant", "\x1b]0;x\x07", "\u202e", MutantResult.SURVIVED)
    measured = Measured(lines=(line(1),), mutants=(hostile,), own_tests=("t\x1b",), notes=("n\x1b",))
    assert "\x1b" not in str(measurement(measured))
    assert "\x1b" not in "".join(measurement_lines(measured))


def test_what_another_value_was_is_told() -> None:
    one = MeasuredMutant(
        "a.py", 1, "value changed", "return n", "another value", MutantResult.SURVIVED, value="41 became 42\x1b[2J\n"
    )
    measured = Measured(lines=(line(1),), mutants=(one,))
    text = "\n".join(measurement_lines(measured))
    assert "a.py:1: no test can tell `return n` from another value (41 became 42" in text
    assert "\x1b" not in text
    section = measurement(measured)
    assert section is not None
    assert section["survivors"][0]["value"].startswith("41 became 42")
