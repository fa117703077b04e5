"""recur: dates that come again (flat layout), and tinyroute: URL patterns (src layout, unittest)."""

from __future__ import annotations

RECUR = {
    "README.md": "# recur\n\nDates that come again: every n days, weeks, months or years.\n",
    "CHANGELOG.md": "# Changes\n\n- 0.2: months.\n",
    "AGENTS.md": "Run the whole suite before you hand in. Do not edit tests to make them pass.\n",
    "pyproject.toml": """\
[project]
name = "recur"
version = "0.2.1"
dependencies = []

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
addopts = "--strict-markers"
""",
    "recur/__init__.py": '"""Dates that come again."""\n\nfrom recur.expand import between, expand\nfrom recur.rule import Rule\n\n'
    '__all__ = ["Rule", "between", "expand"]\n',
    "recur/rule.py": '''\
"""What a rule says."""

from dataclasses import dataclass
from datetime import date

UNITS = ("day", "week", "month", "year")


@dataclass(frozen=True)
class Rule:
    """Every `every` units from `start`, on the given weekdays (0 is Monday) if there are any."""

    start: date
    unit: str = "day"
    every: int = 1
    weekdays: tuple = ()

    def __post_init__(self):
        if self.unit not in UNITS:
            raise ValueError(f"unknown unit: {self.unit}")
        if self.every < 1:
            raise ValueError("every must be positive")


def parse(text, start):
    """`every 2 weeks on mon,thu` as a rule."""
    words = text.lower().split()
    if not words or words[0] != "every":
        raise ValueError(f"no rule: {text}")
    words = words[1:]
    every = int(words.pop(0)) if words and words[0].isdigit() else 1
    unit = words.pop(0).rstrip("s") if words else "day"
    names = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
    weekdays = ()
    if words and words[0] == "on":
        weekdays = tuple(sorted(names.index(name) for name in words[1].split(",")))
    return Rule(start, unit, every, weekdays)
''',
    "recur/expand.py": '''\
"""The dates of a rule."""

import calendar
from datetime import date, timedelta


def add_months(day, months):
    """The same day of a later month; the last one where the month is shorter."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def _steps(rule):
    number = 0
    while True:
        amount = number * rule.every
        if rule.unit == "day":
            yield rule.start + timedelta(days=amount)
        elif rule.unit == "week":
            yield from _week(rule, amount)
        else:
            yield add_months(rule.start, amount * (12 if rule.unit == "year" else 1))
        number += 1


def _week(rule, weeks):
    monday = rule.start - timedelta(days=rule.start.weekday()) + timedelta(weeks=weeks)
    for weekday in rule.weekdays or (rule.start.weekday(),):
        day = monday + timedelta(days=weekday)
        if day >= rule.start:
            yield day


def expand(rule, limit):
    """The first `limit` dates."""
    steps = _steps(rule)
    return [next(steps) for _ in range(limit)]


def between(rule, first, last):
    """All dates from first up to and without last."""
    found = []
    for day in _steps(rule):
        if day >= last:
            return found
        if day >= first:
            found.append(day)
    return found
''',
    "tests/test_expand.py": """\
from datetime import date

import pytest

from recur import Rule, between, expand
from recur.expand import add_months

START = date(2024, 1, 31)


def test_every_day():
    assert expand(Rule(date(2024, 2, 28)), 3) == [date(2024, 2, 28), date(2024, 2, 29), date(2024, 3, 1)]


def test_every_other_week():
    assert expand(Rule(START, "week", 2), 3) == [date(2024, 1, 31), date(2024, 2, 14), date(2024, 2, 28)]


def test_weekdays_are_in_order():
    rule = Rule(date(2024, 5, 1), "week", 1, (0, 2, 4))
    assert expand(rule, 5) == [date(2024, 5, day) for day in (1, 3, 6, 8, 10)]


def test_month_ends_do_not_drift():
    days = expand(Rule(START, "month"), 6)
    assert [day.day for day in days] == [31, 29, 31, 30, 31, 30]


@pytest.mark.parametrize(
    ("months", "expected"),
    [
        (1, date(2024, 2, 29)),
        (12, date(2025, 1, 31)),
        (13, date(2025, 2, 28)),
        (-1, date(2023, 12, 31)),
        (-2, date(2023, 11, 30)),
    ],
)
def test_add_months(months, expected):
    assert add_months(START, months) == expected


def test_leap_day_every_year():
    assert expand(Rule(date(2024, 2, 29), "year"), 5)[-1] == date(2028, 2, 29)


def test_between_leaves_the_last_day_out():
    assert between(Rule(START), date(2024, 2, 1), date(2024, 2, 3)) == [date(2024, 2, 1), date(2024, 2, 2)]


def test_between_before_the_start_is_empty():
    assert between(Rule(START), date(2023, 1, 1), date(2023, 2, 1)) == []
""",
    "tests/test_rule.py": """\
from datetime import date

import pytest

from recur.rule import Rule, parse

START = date(2024, 1, 1)


def test_unknown_unit():
    with pytest.raises(ValueError, match="unknown unit: hour"):
        Rule(START, "hour")


def test_every_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        Rule(START, "day", 0)


@pytest.mark.parametrize(
    ("text", "unit", "every", "weekdays"),
    [
        ("every day", "day", 1, ()),
        ("every 3 months", "month", 3, ()),
        ("every 2 weeks on thu,mon", "week", 2, (0, 3)),
        ("Every Year", "year", 1, ()),
    ],
)
def test_parse(text, unit, every, weekdays):
    assert parse(text, START) == Rule(START, unit, every, weekdays)


def test_parse_nonsense():
    with pytest.raises(ValueError, match="no rule"):
        parse("sometimes", START)
""",
}

TINYROUTE = {
    "README.md": "# tinyroute\n\nURL patterns with converters.\n",
    "pyproject.toml": """\
[project]
name = "tinyroute"
version = "1.0.0"
dependencies = []

[tool.pytest.ini_options]
pythonpath = ["src"]
""",
    "src/tinyroute/__init__.py": '"""URL patterns."""\n\nfrom tinyroute.router import NotFound, Router\n\n__all__ = ["NotFound", "Router"]\n',
    "src/tinyroute/pattern.py": '''\
"""Patterns like /user/<int:id>/posts."""

import re

CONVERTERS = {"str": (r"[^/]+", str), "int": (r"-?[0-9]+", int), "path": (r".+", str)}
_FIELD = re.compile(r"<(?:([a-z]+):)?([a-z_]+)>")


class Pattern:
    """A compiled pattern."""

    def __init__(self, text):
        self.text = text
        self.fields = {}
        parts, at = [], 0
        for found in _FIELD.finditer(text):
            kind = found[1] or "str"
            if kind not in CONVERTERS:
                raise ValueError(f"unknown converter: {kind}")
            if found[2] in self.fields:
                raise ValueError(f"field twice: {found[2]}")
            self.fields[found[2]] = kind
            parts += [re.escape(text[at : found.start()]), f"(?P<{found[2]}>{CONVERTERS[kind][0]})"]
            at = found.end()
        self._regex = re.compile("".join(parts) + re.escape(text[at:]))

    def match(self, path):
        """Converted fields, or None."""
        found = self._regex.fullmatch(path)
        if found is None:
            return None
        return {name: CONVERTERS[kind][1](found[name]) for name, kind in self.fields.items()}

    def build(self, **values):
        """The path for these values."""
        return _FIELD.sub(lambda found: str(values[found[2]]), self.text)
''',
    "src/tinyroute/router.py": '''\
"""Routes in the order in which they were added."""

from tinyroute.pattern import Pattern


class NotFound(LookupError):
    """No route has this path or name."""


class Router:
    """Finds handlers by path and paths by name."""

    def __init__(self):
        self._routes = []

    def add(self, text, handler, name=None):
        self._routes.append((Pattern(text), handler, name or handler.__name__))

    def match(self, path):
        """Handler and its fields."""
        for pattern, handler, _ in self._routes:
            fields = pattern.match(path)
            if fields is not None:
                return handler, fields
        raise NotFound(f"no route for {path}")

    def url_for(self, name, **values):
        for pattern, _, known in self._routes:
            if known == name:
                return pattern.build(**values)
        raise NotFound(f"no route named {name}")
''',
    "tests/__init__.py": "",
    "tests/test_router.py": """\
import unittest

from tinyroute import NotFound, Router


def home():
    return "home"


def user(id):
    return f"user {id}"


class RouterTest(unittest.TestCase):
    def setUp(self):
        self.router = Router()
        self.router.add("/", home)
        self.router.add("/user/<int:id>", user)
        self.router.add("/files/<path:rest>", home, name="files")

    def test_fixed_path(self):
        self.assertEqual(self.router.match("/"), (home, {}))

    def test_field_is_converted(self):
        self.assertEqual(self.router.match("/user/7"), (user, {"id": 7}))

    def test_unknown_path(self):
        with self.assertRaisesRegex(NotFound, "no route for /nope"):
            self.router.match("/nope")

    def test_first_route_wins(self):
        self.router.add("/user/<int:id>", home, name="second")
        self.assertIs(self.router.match("/user/7")[0], user)

    def test_path_takes_slashes(self):
        self.assertEqual(self.router.match("/files/a/b.txt")[1], {"rest": "a/b.txt"})

    def test_url_for(self):
        self.assertEqual(self.router.url_for("user", id=3), "/user/3")

    def test_url_for_unknown_name(self):
        with self.assertRaisesRegex(NotFound, "no route named x"):
            self.router.url_for("x")
""",
    "tests/test_pattern.py": """\
import unittest

from tinyroute.pattern import Pattern


class PatternTest(unittest.TestCase):
    def test_plain_text_is_escaped(self):
        self.assertIsNone(Pattern("/a.b").match("/axb"))

    def test_negative_numbers(self):
        self.assertEqual(Pattern("/<int:n>").match("/-4"), {"n": -4})

    def test_two_fields(self):
        self.assertEqual(Pattern("/<a>/<int:b>").match("/x/1"), {"a": "x", "b": 1})

    def test_no_partial_match(self):
        self.assertIsNone(Pattern("/a").match("/a/b"))

    def test_unknown_converter(self):
        with self.assertRaisesRegex(ValueError, "unknown converter: uuid"):
            Pattern("/<uuid:id>")

    def test_field_twice(self):
        with self.assertRaisesRegex(ValueError, "field twice: a"):
            Pattern("/<a>/<a>")

    def test_build(self):
        self.assertEqual(Pattern("/<a>/x/<int:b>").build(a="q", b=2), "/q/x/2")
""",
}
