"""slotbook: bookings of a day (flat layout, fixtures, parametrised tests)."""

from __future__ import annotations

SLOTBOOK = {
    "README.md": "# slotbook\n\nBook half-open intervals of minutes on one calendar day.\n",
    "CHANGELOG.md": "# Changes\n\n## 0.3\n\n- `Calendar.free` takes a minimum.\n",
    "pyproject.toml": """\
[project]
name = "slotbook"
version = "0.3.0"
requires-python = ">=3.10"
dependencies = []

[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
""",
    "requirements-dev.txt": "pytest==8.3.4\n",
    "slotbook/__init__.py": '''\
"""Book slots of a day."""

from slotbook.book import Calendar, ClashError
from slotbook.interval import Interval, merge

__all__ = ["Calendar", "ClashError", "Interval", "merge"]
''',
    "slotbook/interval.py": '''\
"""Half-open intervals of minutes."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Interval:
    """Minutes from start up to, but not including, end."""

    start: int
    end: int

    def __post_init__(self):
        if self.end <= self.start:
            raise ValueError(f"empty interval: {self.start}..{self.end}")

    @property
    def length(self):
        return self.end - self.start

    def overlaps(self, other):
        return self.start < other.end and other.start < self.end

    def clip(self, other):
        """The common part of both, or None."""
        start, end = max(self.start, other.start), min(self.end, other.end)
        return Interval(start, end) if start < end else None


def merge(intervals):
    """The same minutes as a sorted list of intervals."""
    merged = []
    for item in sorted(intervals):
        if merged and item.start < merged[-1].end:
            merged[-1] = Interval(merged[-1].start, max(merged[-1].end, item.end))
        else:
            merged.append(item)
    return merged
''',
    "slotbook/book.py": '''\
"""One day of bookings."""

from slotbook.interval import Interval, merge


class ClashError(ValueError):
    """The slot is taken or outside the opening hours."""


class Calendar:
    """Bookings between opening and closing time."""

    def __init__(self, opening=Interval(480, 1080)):
        self.opening = opening
        self._slots = {}
        self._next = 1

    def book(self, slot, name=""):
        """Book the slot and return its number."""
        if slot.start < self.opening.start or slot.end > self.opening.end:
            raise ClashError(f"outside the opening hours: {slot}")
        for taken, _ in self._slots.values():
            if slot.overlaps(taken):
                raise ClashError(f"taken: {taken}")
        number, self._next = self._next, self._next + 1
        self._slots[number] = (slot, name)
        return number

    def cancel(self, number):
        """Free the slot again."""
        if number not in self._slots:
            raise KeyError(number)
        del self._slots[number]

    def names(self):
        """Names by start of their slot."""
        return [name for _, name in sorted(self._slots.values())]

    def busy(self):
        """Merged bookings."""
        return merge(slot for slot, _ in self._slots.values())

    def free(self, minimum=1):
        """Gaps of at least so many minutes."""
        gaps, at = [], self.opening.start
        for slot in [*self.busy(), None]:
            end = slot.start if slot else self.opening.end
            if end - at >= minimum:
                gaps.append(Interval(at, end))
            at = slot.end if slot else end
        return gaps
''',
    "slotbook/text.py": '''\
"""Intervals as text: 09:30-11:00."""

from slotbook.interval import Interval


def parse_time(text):
    """Minutes since midnight."""
    hours, _, minutes = text.strip().partition(":")
    value = int(hours) * 60 + int(minutes or 0)
    if not 0 <= value <= 24 * 60:
        raise ValueError(f"no time of day: {text}")
    return value


def parse(text):
    start, dash, end = text.partition("-")
    if not dash:
        raise ValueError(f"no interval: {text}")
    return Interval(parse_time(start), parse_time(end))


def show(slot):
    return "-".join(f"{minute // 60:02}:{minute % 60:02}" for minute in (slot.start, slot.end))
''',
    "tests/test_interval.py": """\
import pytest

from slotbook import Interval, merge


def test_length():
    assert Interval(10, 25).length == 15


def test_empty_interval_is_refused():
    with pytest.raises(ValueError, match="empty interval"):
        Interval(10, 10)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [((0, 10), (5, 15), True), ((0, 10), (10, 20), False), ((0, 30), (10, 20), True), ((0, 5), (7, 9), False)],
)
def test_overlaps(one, two, expected):
    assert Interval(*one).overlaps(Interval(*two)) is expected
    assert Interval(*two).overlaps(Interval(*one)) is expected


def test_clip_gives_the_common_part():
    assert Interval(0, 10).clip(Interval(5, 15)) == Interval(5, 10)


def test_clip_of_disjoint_intervals_is_none():
    assert Interval(0, 10).clip(Interval(10, 15)) is None


def test_merge_joins_overlaps():
    assert merge([Interval(5, 9), Interval(0, 6)]) == [Interval(0, 9)]


def test_merge_keeps_gaps():
    assert merge([Interval(20, 30), Interval(0, 10)]) == [Interval(0, 10), Interval(20, 30)]


def test_merge_of_nothing():
    assert merge([]) == []
""",
    "tests/test_book.py": """\
import pytest

from slotbook import Calendar, ClashError, Interval


@pytest.fixture
def calendar():
    made = Calendar()
    made.book(Interval(600, 660), "ada")
    return made


def test_numbers_rise(calendar):
    assert calendar.book(Interval(700, 720)) == 2


def test_taken_slot_is_refused(calendar):
    with pytest.raises(ClashError, match="taken"):
        calendar.book(Interval(630, 640))


def test_outside_the_opening_hours(calendar):
    with pytest.raises(ClashError, match="outside"):
        calendar.book(Interval(1060, 1090))


def test_cancel_frees_the_slot(calendar):
    calendar.cancel(1)
    assert calendar.book(Interval(600, 660)) == 2


def test_cancel_of_an_unknown_number(calendar):
    with pytest.raises(KeyError):
        calendar.cancel(99)


def test_names_follow_the_time(calendar):
    calendar.book(Interval(500, 510), "grace")
    calendar.book(Interval(900, 930), "alan")
    assert calendar.names() == ["grace", "ada", "alan"]


def test_free_lists_gaps(calendar):
    assert calendar.free() == [Interval(480, 600), Interval(660, 1080)]


def test_free_with_minimum(calendar):
    calendar.book(Interval(700, 1000))
    assert calendar.free(minimum=60) == [Interval(480, 600), Interval(1000, 1080)]
""",
    "tests/test_text.py": """\
import pytest

from slotbook import Interval
from slotbook.text import parse, parse_time, show


@pytest.mark.parametrize(("text", "minutes"), [("00:00", 0), ("9:30", 570), ("24:00", 1440), ("7", 420)])
def test_parse_time(text, minutes):
    assert parse_time(text) == minutes


def test_time_beyond_the_day():
    with pytest.raises(ValueError, match="no time of day"):
        parse_time("25:00")


def test_parse():
    assert parse("09:30-11:00") == Interval(570, 660)


def test_parse_without_dash():
    with pytest.raises(ValueError, match="no interval"):
        parse("09:30")


def test_show():
    assert show(Interval(570, 660)) == "09:30-11:00"
""",
}
