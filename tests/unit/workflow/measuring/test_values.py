"""Values that mutants change: another one of the same type, noted where it did change, and nothing else touched."""

from __future__ import annotations

import builtins
import datetime as dt
import decimal
import enum
import functools
import itertools
import pathlib
from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats.python_mutants import values as asked
from gatekeeper.workflow.measuring.inside.values import (
    CHANGED,
    EMPTIED,
    FEWER,
    MAX_TOLD,
    NOTES,
    OTHER,
    Values,
    described,
    had_effect,
)

Point = namedtuple("Point", "x y")  # noqa: PYI024 - what a library makes at run time


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Only(enum.Enum):
    ONE = 1


class Custom:
    pass


class Noted:
    """The functions, with a count of what they changed."""

    def __init__(self) -> None:
        self.count = 0
        self.notes = bytearray(NOTES)
        self.values = Values(self.note)

    def note(self, what: int) -> None:
        self.notes[what] = 1
        self.count += what == CHANGED


@pytest.mark.parametrize(
    "value",
    [
        True, 0, -1, 10**400, 2.5, 1j, "", "a", "2011-04-10", "zebra z", "é", "..", b"", b"ab", [1], [1, 2], (1, 2), ("a", None),
        (None, 1), {"a": 1}, {"a": None}, {1, 2}, frozenset("ab"), OrderedDict(a=1), Point(1, 2), Colour.RED, Colour.BLUE,
        dt.date(2024, 2, 29), dt.datetime(2024, 12, 31, 1, 2, tzinfo=dt.UTC), dt.time(23, 59), dt.timedelta(0),
        decimal.Decimal("1.5"), pathlib.PurePosixPath("/a/b.txt"), [[1, [2]]],
    ],
    ids=repr,
)  # fmt: skip
def test_another_value_of_the_same_type_comes_out_and_is_noted(value: Any) -> None:
    noted = Noted()
    before = repr(value)
    changed = noted.values.other(value)
    assert type(changed) is type(value)
    assert changed != value
    assert repr(value) == before
    assert noted.count == 1


@pytest.mark.parametrize(
    "value",
    [
        None, [], (), {}, set(), (None, None), float("inf"), float("nan"), 1e300, Only.ONE, Custom(), Custom, int,
        dt.timedelta.max, pathlib.PurePosixPath("/"), object(),
    ],
    ids=lambda value: repr(value).partition(" at 0x")[0],
)  # fmt: skip
def test_a_value_that_has_no_other_stays_and_is_not_noted(value: Any) -> None:
    noted = Noted()
    assert noted.values.other(value) is value
    assert noted.count == 0


def test_a_text_keeps_its_length_and_sort_of_letters() -> None:
    other = Noted().values.other
    assert [other(t) for t in ("a9", "az", "aZ", "aB", "a-")] == ["a0", "aa", "aA", "aC", "a-x"]


def test_a_function_answers_otherwise_and_keeps_its_name() -> None:
    noted = Noted()

    def double(x: int) -> int:
        """Doc."""
        return 2 * x

    made = noted.values.other(double)
    assert noted.count == 0
    assert (made(2), made.__name__, made.__doc__) == (5, "double", "Doc.")
    assert noted.count == 1


def test_a_function_that_is_kept_and_not_asked_is_another_one_and_one_without_answers_is_not() -> None:
    noted = Noted()
    made = noted.values.other(lambda: None)
    assert had_effect(noted.notes)
    made()
    assert not had_effect(noted.notes)
    noted.values.other(lambda: 1)()
    assert had_effect(noted.notes)


@pytest.mark.parametrize("call", [functools.partial(int, "3"), "abc".upper, "abc".count, Noted().values.other])
def test_what_is_called_in_other_ways_answers_otherwise_too(call: Any) -> None:
    other = Noted().values.other
    arguments = [""] if getattr(call, "__name__", "") in ("count", "other") else []
    assert other(call)(*arguments) == other(call(*arguments))


def test_a_function_that_is_awaited_is_left_alone() -> None:
    async def waits() -> int:
        return 1

    partial = functools.partial(waits)
    assert Noted().values.other(waits) is waits
    assert Noted().values.other(partial) is partial


def generated() -> Iterator[int]:
    yield from (1, 2, 3)


@pytest.mark.parametrize("lazy", [generated, lambda: map(int, "123"), lambda: zip("12", "34", strict=True)])
def test_what_is_made_lazily_lacks_its_first_element(lazy: Any) -> None:
    noted = Noted()
    assert list(noted.values.other(lazy())) == list(lazy())[1:]
    assert noted.count == 1


def test_fewer_takes_no_more_than_is_asked_for() -> None:
    noted = Noted()
    assert list(itertools.islice(noted.values.fewer(itertools.count()), 2)) == [1, 2]
    assert list(noted.values.fewer({"a": 1, "b": 2}.items())) == [("b", 2)]
    assert noted.count == 2
    assert list(noted.values.fewer([])) == []
    assert noted.count == 2


@pytest.mark.parametrize(
    ("value", "empty", "changes"),
    [([1], [], 1), ([], [], 0), ("a", "", 1), (0, 0, 0), (None, None, 0), (Custom, None, 1)],
)
def test_emptied_is_noted_where_something_was_there(value: object, empty: object, changes: int) -> None:
    noted = Noted()
    assert noted.values.emptied(value) == empty
    assert noted.count == changes


def test_mutants_ask_for_the_names_that_are_put_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (OTHER, FEWER, EMPTIED) == (asked.OTHER, asked.FEWER, asked.EMPTIED)
    for name in (OTHER, FEWER, EMPTIED):
        monkeypatch.setattr(builtins, name, None, raising=False)
    noted = Noted()
    noted.values.install()
    assert getattr(builtins, OTHER)(1) == 2


class Loud:
    """Says something else than it is, and must not be asked."""

    def __repr__(self) -> str:
        raise AssertionError("asked")

    __str__ = __eq__ = __hash__ = __repr__  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (41, "41 became 42"),
        (True, "True became False"),
        ("abc", "'abc' became 'abd'"),
        ("x" * 500 + "a", "a str of 501 ending in 'xxxxxa' became a str of 501 ending in 'xxxxxb'"),
        (b"a", "b'a' became b'`'"),
        ([1, 2], "[1]: 2 became 3"),
        ({"a": (1, ["b"])}, "['a'][1][0]: 'b' became 'c'"),
        ([Loud(), 1], "[1]: 1 became 2"),
        ([Loud()], "a list of 1 became a list of 0"),
        ({1, 2}, "a set of 2 became a set of 1"),
        (Colour.RED, "Colour.RED became Colour.BLUE"),
        (decimal.Decimal("1.50"), "1.50 became 2.50"),
        (dt.date(2026, 1, 2), "2026-01-02 became 2026-01-03"),
        (10**400, "a number of 1329 bits became a number of 1329 bits"),
    ],
)
def test_what_a_value_became_is_told_without_asking_it(value: Any, words: str) -> None:
    told: list[str] = []
    Values(lambda _: None, lambda before, after: told.append(described(before, after))).other(value)
    if words.startswith("a number"):
        assert told == [""], "two that look alike tell nothing"
    else:
        assert told == [words]


@given(st.recursive(st.none() | st.integers() | st.text() | st.binary() | st.floats(), lambda e: st.lists(e, max_size=4) | st.dictionaries(st.text(), e, max_size=4)))  # fmt: skip
def test_whatever_is_told_is_bounded(value: Any) -> None:
    told: list[str] = []
    Values(lambda _: None, lambda before, after: told.append(described(before, after))).other(value)
    assert all(len(t) <= MAX_TOLD for t in told)
