"""An expectation exchanged for another: bent to the code, or saying what the code itself says anew."""

from __future__ import annotations

import pytest
from evidence_builder import build_evidence, build_run

from gatekeeper.checks.weakened_tests import check
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.verdict import Effect

T = "tests/test_shop.py"
TOP = "import pytest\nfrom shop import area, hail, NAMES\n"
ID = f"{T}::test_a"
CODE = 'NAMES = ["area"]\n\n\ndef area(a, b):\n    return a * b\n\n\ndef hail(x):\n    raise ValueError(f"no such thing: {x}")\n'
HELD = ("passed", "passed", "passed")
MOVED = ("passed", "failed", "passed")
RED = ("failed", "failed", "passed")


def judged(old: str, new: str, runs: tuple[str, str, str], *, before: str = CODE, after: str = CODE):
    roles = (RunRole.BASE, RunRole.BASE_INSTRUMENTS, RunRole.MERGED)
    made = [build_run({ID: o}, role=r) for r, o in zip(roles, runs, strict=True)]
    ev = build_evidence({"shop.py": before, T: TOP + old}, {"shop.py": after, T: TOP + new}, runs=made)
    return [(f.code, f.effect) for f in check(ev)]


EQ = "def test_a():\n    assert area(2, 3) == 6\n"
BLOCKED = [("EXPECTED_VALUE_EDITED", Effect.BLOCKS)]
ASKED = [("EXPECTED_VALUE_EDITED", Effect.ASKS)]


def test_an_expectation_bent_to_a_fault_of_the_target_is_refused() -> None:
    assert judged(EQ, EQ.replace("6", "5"), RED) == BLOCKED
    assert judged(EQ, EQ.replace("6", "5"), RED, after=CODE.replace("a * b", "a + b")) == BLOCKED


def test_a_number_changed_in_code_and_test_goes_to_a_person() -> None:
    assert judged(EQ, EQ.replace("6", "7"), MOVED, after=CODE.replace("a * b", "a * b + 1")) == ASKED
    rate = "def test_a():\n    assert RATE == 0.25\n"
    before, after = "RATE = 0.25\n", "RATE = 0.2\n"
    assert judged(rate, rate.replace("0.25", "0.2"), MOVED, before=before, after=after) == ASKED


def test_without_runs_that_compare_an_exchange_is_refused() -> None:
    ev = build_evidence({"shop.py": CODE, T: TOP + EQ}, {"shop.py": CODE, T: TOP + EQ.replace("6", "5")})
    assert [(f.code, f.effect) for f in check(ev)] == BLOCKED


def test_an_expectation_that_the_code_still_meets_may_be_said_otherwise() -> None:
    assert judged(EQ, EQ.replace("area(2, 3) == 6", "area(2, 3) == len('abcdef')"), HELD) == []
    # Weaker is weaker, whatever still holds.
    assert judged(EQ, EQ.replace("== 6", "> 0"), HELD) == [("ASSERTION_WEAKENED", Effect.BLOCKS)]


HAIL = "def test_a():\n    with pytest.raises(ValueError, match='no such thing: 3'):\n        hail(3)\n"


def test_a_message_reworded_in_code_and_test_explains_itself() -> None:
    after = CODE.replace("no such thing", "unknown article")
    assert judged(HAIL, HAIL.replace("no such thing", "unknown article"), MOVED, after=after) == []


@pytest.mark.parametrize(
    "new",
    [
        HAIL.replace("no such thing", "something else"),  # words that the code does not have
        HAIL.replace("no such thing: 3", "unknown article: 4"),  # and a number on the way
    ],
)
def test_a_message_that_the_code_does_not_say_goes_to_a_person(new: str) -> None:
    assert judged(HAIL, new, MOVED, after=CODE.replace("no such thing", "unknown article")) == ASKED


LIST = "def test_a():\n    assert NAMES == ['area']\n"


def test_an_entry_that_came_to_a_list_of_the_code_explains_itself() -> None:
    after = CODE.replace('["area"]', '["area", "scale"]')
    assert judged(LIST, LIST.replace("['area']", "['area', 'scale']"), MOVED, after=after) == []


def test_an_entry_that_left_it_does_not() -> None:
    before = CODE.replace('["area"]', '["area", "scale"]')
    both = LIST.replace("['area']", "['area', 'scale']")
    assert judged(both, LIST, MOVED, before=before, after=CODE) == ASKED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("dict(a=1, b='x')", "{'a': 1, 'b': 'x'}"),
        ("tuple()", "()"),
        ("set([1, 2])", "{2, 1}"),
        ("u'text'", "'text'"),
        ("'one ' + 'two'", "'one two'"),
        ("list((1, 2))", "[1, 2]"),
    ],
)
def test_another_spelling_of_the_same_value_is_none_to_speak_of(old: str, new: str) -> None:
    body = "def test_a():\n    assert area(2, 3) == {}\n"
    ev = build_evidence({T: TOP + body.format(old)}, {T: TOP + body.format(new)})
    assert check(ev) == ()


WARNED = (
    "import warnings\n\n\ndef area(a, b):\n    warnings.warn('use surface', DeprecationWarning)\n    return a * b\n"
)
ROWS = "@pytest.mark.parametrize('f', [area, hail])\ndef test_a(f):\n    with pytest.warns(DeprecationWarning):\n        f(1)\n"


@pytest.mark.parametrize(
    ("old", "after", "runs", "effect"),
    [
        (ROWS, CODE, MOVED, Effect.ASKS),
        (ROWS, WARNED.replace("DeprecationWarning", "PendingDeprecationWarning"), MOVED, Effect.ASKS),
        (ROWS, WARNED.replace("a * b", "a"), MOVED, Effect.BLOCKS),
        (ROWS, CODE, RED, Effect.BLOCKS),
        (ROWS.replace("pytest.warns(DeprecationWarning)", "pytest.raises(ValueError)"), CODE, MOVED, Effect.BLOCKS),
    ],
)
def test_a_row_of_what_warns_no_more_goes_to_a_person(old, after, runs, effect) -> None:
    new = old.replace("[area, hail]", "[hail]")
    assert judged(old, new, runs, before=WARNED, after=after) == [("PARAMETERS_SHRUNK", effect)]


AGAIN = """def test_a():
    seen = []
    with pytest.raises(ValueError):
        hail(seen)
    assert seen == [1, 2]
    seen[:] = []
    with pytest.raises(ValueError):
        hail(seen)
    assert seen == [1, 2]
"""
ONCE = AGAIN[: AGAIN.index("    seen[:]")]
REMOVED = "ASSERTION_REMOVED"


def test_what_a_test_says_once_less_goes_to_a_person_while_it_holds() -> None:
    assert judged(AGAIN, ONCE, HELD) == [(REMOVED, Effect.ASKS)]
    # The second time fails on this code: that is what the change hides.
    assert judged(AGAIN, ONCE, MOVED) == [(REMOVED, Effect.BLOCKS)]
    assert judged(AGAIN, ONCE, RED) == [(REMOVED, Effect.BLOCKS)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    assert area(2, 3) == 6\n    assert area(2, 4) == 8\n", "    assert area(2, 3) == 6\n"),
        # The same words of another value are another assertion.
        ("    r = area(2, 3)\n    assert r > 5\n    r = area(3, 3)\n    assert r > 5\n", "    r = area(2, 3)\n    assert r > 5\n"),
        ("    assert area(2, 3) == 6\n    assert area(2, 3) == 6\n", "    area(2, 3)\n"),
    ],
)  # fmt: skip
def test_what_a_test_says_no_more_is_refused_although_it_holds(old: str, new: str) -> None:
    assert judged("def test_a():\n" + old, "def test_a():\n" + new, HELD) == [(REMOVED, Effect.BLOCKS)]


ZONED = "zone.localize(dt.datetime(2013, 11, 10), is_dst=False)"
OTHERWISE = "dt.datetime(2013, 11, 10, tzinfo=zone)"


def row_exchanged(old: str, new: str, runs: tuple[str, str, str] = HELD, *, expected: str = "'a'") -> list[object]:
    """One row of two is written otherwise; `expected` is the value beside it."""
    test = "import datetime as dt\nfrom unittest import mock\nfrom shop import zone, make\n@pytest.mark.parametrize('v,want', [(1, 2), (ROW, WANT)])\ndef test_a(v, want):\n    assert hail(v) == want\n"
    test = test.replace("WANT", expected)
    return judged(test.replace("ROW", old), test.replace("ROW", new), runs)


def test_a_row_of_the_same_data_may_be_written_otherwise_while_the_old_one_holds() -> None:
    shrunk = "PARAMETERS_SHRUNK"
    assert row_exchanged(ZONED, OTHERWISE) == []
    assert row_exchanged(ZONED, OTHERWISE, MOVED) == [(shrunk, Effect.ASKS)]
    assert row_exchanged(ZONED, OTHERWISE, RED) == [(shrunk, Effect.BLOCKS)]
    # What the project or a test makes may be equal to more than its data.
    assert row_exchanged("make(zone.at(5), strict=True)", "make(zone.at(5))") == [(shrunk, Effect.ASKS)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ZONED, OTHERWISE.replace("2013", "2014")),
        (ZONED, OTHERWISE.replace(", tzinfo=zone", "")),
        (ZONED, OTHERWISE.replace("datetime(", "date(")),
        (ZONED, OTHERWISE.replace("dt.datetime", "mock.Mock")),
        (ZONED, "dt.datetime(2013, 11, 10, tzinfo=[zone])"),
        (ZONED, "5"),
        ("5", "dt.datetime(5)"),
        ("make(3, 4)", "make(4)"),
        ("make(0)", "make(False)"),
        ("make('a b')", "make('a', 'b')"),
    ],
)
def test_a_row_of_other_data_is_one_less(old: str, new: str) -> None:
    assert row_exchanged(old, new) == [("PARAMETERS_SHRUNK", Effect.BLOCKS)]


def test_a_row_that_is_written_otherwise_stands_for_one_alone() -> None:
    two = "import datetime as dt\nfrom shop import zone\n@pytest.mark.parametrize('v,want', [ROWS])\ndef test_a(v, want):\n    assert hail(v) == want\n"
    old = two.replace("ROWS", f"({ZONED}, 'a'), ({ZONED.replace('False', 'True')}, 'a')")
    assert judged(old, two.replace("ROWS", f"({OTHERWISE}, 'a'), (1, 'b')"), HELD) == [("PARAMETERS_SHRUNK", Effect.BLOCKS)]  # fmt: skip
    assert judged(old, two.replace("ROWS", f"({OTHERWISE}, 'a')"), HELD) == [("PARAMETERS_SHRUNK", Effect.BLOCKS)]


WHOLE = "def test_a():\n    with pytest.raises(ValueError) as caught:\n        hail(3)\n    assert str(caught.value) == 'no such thing: 3'\n"
IN_PART = "def test_a():\n    with pytest.raises(ValueError, match='no such thing: 3'):\n        hail(3)\n"


def test_a_message_asked_for_in_part_goes_to_a_person_while_the_whole_holds() -> None:
    other = CODE.replace("a * b", "b * a")
    assert judged(WHOLE, IN_PART, HELD, after=other) == [(REMOVED, Effect.ASKS)]
    assert judged(WHOLE, IN_PART, HELD) == [(REMOVED, Effect.ASKS)]
    twice = WHOLE + "    assert str(caught.value) == 'no such thing: 3'\n    assert area(1, 1) == 1\n"
    assert judged(twice, IN_PART, HELD)[0][1] is Effect.BLOCKS
    assert judged(WHOLE, IN_PART, MOVED) == [(REMOVED, Effect.BLOCKS)]
    assert judged(WHOLE, IN_PART.replace(": 3'", "'"), HELD) == [(REMOVED, Effect.BLOCKS)]
    assert judged(WHOLE, IN_PART.replace(", match='no such thing: 3'", ""), HELD) == [(REMOVED, Effect.BLOCKS)]


ELSEWHERE = "@pytest.mark.parametrize('place,n,told', [('es', 5, 'mil'), ('it', 5, 'mille')])\ndef test_a(place, n, told):\n    assert hail(place, n) == told\n"
SKIPPED = ("skipped", "skipped", "skipped")


def test_rows_that_no_run_can_try_here_go_to_a_person() -> None:
    bent = ELSEWHERE.replace("'mil')", "'mil millones')")
    top = "import pytest\n"
    assert judged(top + ELSEWHERE, top + bent, SKIPPED) == [("PARAMETERS_SHRUNK", Effect.ASKS)]
    assert judged(top + ELSEWHERE, top + ELSEWHERE.replace("('es', 5, 'mil'), ", ""), SKIPPED) == [
        ("PARAMETERS_SHRUNK", Effect.BLOCKS)
    ]
    for runs in (
        ("passed", "skipped", "skipped"),
        ("skipped", "failed", "skipped"),
        ("skipped", "skipped", "passed"),
        RED,
    ):
        assert judged(top + ELSEWHERE, top + bent, runs) == [("PARAMETERS_SHRUNK", Effect.BLOCKS)]
