"""Tests drawn into helpers, fixtures and rows: what still says the same passes, what says less is found."""

from __future__ import annotations

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.weakened_tests import check

LIB = "class Router:\n    def resolve(self, path, method='GET'):\n        return path, {}\n\n    def names(self):\n        return []\n"
HEAD = "import unittest\nfrom kit import NoMatch, Router\n\n\nclass TestRouter(unittest.TestCase):\n"
SETUP = "    def setUp(self):\n        self.router = Router()\n\n"
ROOT = '    def test_root(self):\n        self.assertEqual(self.router.resolve("/"), ("home", {}))\n\n'
PAIR = '    def test_int(self):\n        name, args = self.router.resolve("/7")\n        self.assertEqual(name, "user")\n        self.assertEqual(args, {"id": 7})\n\n'
NONE = "    def test_none(self):\n        with self.assertRaises(NoMatch):\n            self.router.resolve('/no')\n\n"
OLD = HEAD + SETUP + ROOT + PAIR + NONE
NEW_TESTS = '    def test_root(self):\n        self.assertRoute("/", "home")\n\n    def test_int(self):\n        self.assertRoute("/7", "user", id=7)\n\n    def test_none(self):\n        self.assertNoRoute("/no")\n\n'
ROUTE = "    def assertRoute(self, path, name, router=None, **args):\n        found, values = (router or self.router).resolve(path)\n        self.assertEqual(found, name)\n        self.assertEqual(values, args)\n\n"
NO_ROUTE = "    def assertNoRoute(self, path, method='GET'):\n        with self.assertRaises(NoMatch):\n            self.router.resolve(path, method)\n\n"
NEW = HEAD + SETUP + ROUTE + NO_ROUTE + NEW_TESTS

CLOCK = "class Clock:\n    def __init__(self):\n        self.slept = []\n\n"
RETRY = "import asyncio\nimport pytest\nfrom kit import run, wait\n\n"
TESTS = "def test_first():\n    clock = Clock()\n    assert run(0, clock) == 'up'\n    assert clock.slept == []\n\n\ndef test_delays():\n    clock = Clock()\n    assert run(2, clock) == 'up'\n    assert clock.slept == [1, 2]\n"
HELPER = "def assert_up(n, clock, slept):\n    assert run(n, clock) == 'up'\n    assert clock.slept == slept\n\n\n"
HELPED = "def test_first():\n    assert_up(0, Clock(), [])\n\n\ndef test_delays():\n    clock = Clock()\n    assert_up(2, clock, [1, 2])\n"
FIXTURE = "@pytest.fixture\ndef clock():\n    return Clock()\n\n\n"
ROWS = "@pytest.mark.parametrize('n,slept', [(0, []), (1, [1]), (2, [1, 2])])\ndef test_delays(clock, n, slept):\n    assert run(n, clock) == 'up'\n    assert clock.slept == slept\n"
AREA = "import pytest\nimport unittest\nfrom kit import area, load, Shape\n\n\n"
THREE = AREA + "def test_area():\n    assert area(1, 2) == 2\n    assert area(2, 3) == 6\n    assert area(0, 3) == 0\n"


def codes(old: dict[str, str], new: dict[str, str | None]) -> list[str]:
    """Codes of what is found, advice left out."""
    base = {"kit/__init__.py": LIB, **old}
    found = check(tree_evidence(base, {**base, **new}))
    return sorted({f.code for f in found if f.effect.value != "advises"})


T = "tests/test_kit.py"
HONEST = {
    "helper methods": ({T: OLD}, {T: NEW}),
    "helper methods in a mixin": (
        {T: OLD},
        {
            T: NEW.replace(ROUTE + NO_ROUTE, "").replace(
                "from kit import NoMatch, Router", "from kit import NoMatch, Router\nfrom tests.support import Routes"
            ).replace("unittest.TestCase", "Routes, unittest.TestCase"),
            "tests/support.py": "from kit import NoMatch\n\n\nclass Routes:\n" + ROUTE + NO_ROUTE,
        },
    ),
    "default chosen with an if": (
        {T: OLD},
        {T: NEW.replace("(router or self.router)", "router").replace("        found, values", "        if router is None:\n            router = self.router\n        found, values")},
    ),
    "function in the module": ({T: RETRY + CLOCK + TESTS}, {T: RETRY + CLOCK + HELPER + HELPED}),
    "function in another module": (
        {T: RETRY + CLOCK + TESTS},
        {T: RETRY.replace("run, ", "") + "from tests.support import assert_up\n" + CLOCK + HELPED,
         "tests/support.py": "from kit import run\n\n\n" + HELPER},
    ),
    "fixture in conftest and rows": (
        {T: RETRY + CLOCK + TESTS},
        {T: RETRY + ROWS, "tests/conftest.py": "import pytest\n\n\n" + CLOCK + "\n" + FIXTURE},
    ),
    "class to functions": (
        {T: HEAD + SETUP + ROOT},
        {T: "import pytest\nfrom kit import Router\n\n\n@pytest.fixture\ndef router():\n    return Router()\n\n\ndef test_root(router):\n    assert router.resolve('/') == ('home', {})\n"},
    ),
    "asserts to rows": ({T: THREE}, {T: AREA + "@pytest.mark.parametrize('a, b, size', [(1, 2, 2), (2, 3, 6), (0, 3, 0)])\ndef test_area(a, b, size):\n    assert area(a, b) == size\n"}),
    "asserts to a loop": ({T: THREE}, {T: AREA + "def test_area():\n    for a, b, size in [(1, 2, 2), (2, 3, 6), (0, 3, 0)]:\n        assert area(a, b) == size\n"}),
    "subTest to rows": (
        {T: AREA + "class TestArea(unittest.TestCase):\n    def test_area(self):\n        for a, b, size in [(1, 2, 2), (2, 3, 6)]:\n            with self.subTest(a=a):\n                self.assertEqual(area(a, b), size)\n"},
        {T: AREA + "@pytest.mark.parametrize('a, b, size', [(1, 2, 2), (2, 3, 6)])\ndef test_area(a, b, size):\n    assert area(a, b) == size\n"},
    ),
    "messages and f-strings": (
        {T: AREA + "def test_text():\n    n = 3\n    assert load('n %d' % n) == 'n 3'\n    assert area(1, 2) == 2\n"},
        {T: AREA + "def test_text():\n    n = 3\n    assert load(f'n {n}') == 'n 3', 'the number'\n    assert area(1, 2) == 2, f'{n}'\n"},
    ),
    "approx for round": (
        {T: AREA + "def test_area():\n    assert round(area(1.1, 2), 2) == 2.2\n"},
        {T: AREA + "def test_area():\n    assert area(1.1, 2) == pytest.approx(2.2, abs=0.005)\n"},
    ),
    "one test split": (
        {T: THREE},
        {T: AREA + "def test_area():\n    assert area(1, 2) == 2\n    assert area(2, 3) == 6\n\n\ndef test_no_area():\n    assert area(0, 3) == 0\n"},
    ),
    "helper that makes the thing": (
        {T: AREA + "def test_area():\n    shape = Shape(2, 3)\n    assert shape.area() == 6\n    assert shape.name == 'box'\n"},
        {T: AREA + "def make(a, b):\n    return Shape(a, b)\n\n\ndef test_area():\n    assert make(2, 3).area() == 6\n    assert make(2, 3).name == 'box'\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_the_same_said_through_something_else_passes(name: str) -> None:
    old, new = HONEST[name]
    assert codes(old, dict(new)) == []


SWALLOW = "    def assertNoRoute(self, path, method='GET'):\n        try:\n            self.router.resolve(path, method)\n        except NoMatch:\n            pass\n\n"
DISHONEST = {
    "swallows": NEW.replace(NO_ROUTE, SWALLOW),
    "swallows the failure": NEW.replace(
        "        self.assertEqual(found, name)\n", "        try:\n            self.assertEqual(found, name)\n        except AssertionError:\n            pass\n"
    ),
    "ignores a parameter": NEW.replace("        self.assertEqual(values, args)\n", ""),
    "compares itself": NEW.replace("self.assertEqual(values, args)", "self.assertEqual(values, values)"),
    "compares fewer": NEW.replace("self.assertEqual(values, args)", "self.assertEqual(len(values), len(args))"),
    "returns first": NEW.replace("        self.assertEqual(found, name)\n", "        return\n        self.assertEqual(found, name)\n"),
    "returns in some cases": NEW.replace("        self.assertEqual(found, name)\n", "        if found:\n            return\n        self.assertEqual(found, name)\n"),
    "rebinds its parameter": NEW.replace("        self.assertEqual(found, name)\n", "        name = found\n        self.assertEqual(found, name)\n"),
    "rebinds it in a branch": NEW.replace("        self.assertEqual(found, name)\n", "        if name:\n            name = found\n        self.assertEqual(found, name)\n"),
    "hands over another value": NEW.replace('"/7", "user", id=7', '"/7", "user", id=8'),
    "is set aside": NEW.replace("        self.router = Router()\n", "        self.router = Router()\n        self.assertRoute = lambda *a, **k: None\n"),
    "of a quiet base": NEW.replace(ROUTE, "").replace("class TestRouter(unittest.TestCase)", "class Quiet:\n    def assertRoute(self, *a, **k):\n        pass\n\n\nclass TestRouter(Quiet, unittest.TestCase)"),
    "waits for anything": NEW.replace("assertRaises(NoMatch)", "assertRaises(Exception)"),
}  # fmt: skip


@pytest.mark.parametrize("name", DISHONEST)
def test_a_method_that_says_less_is_found(name: str) -> None:
    assert codes({T: OLD}, {T: DISHONEST[name]}) != []


FUNCTIONS = {
    "ignores a parameter": HELPER.replace("    assert clock.slept == slept\n", ""),
    "returns first": HELPER.replace("    assert clock", "    return\n    assert clock"),
    "swallows": HELPER.replace("    assert clock.slept == slept\n", "    try:\n        assert clock.slept == slept\n    except AssertionError:\n        pass\n"),
    "rebinds its parameter": HELPER.replace("    assert clock", "    slept = clock.slept\n    assert clock"),
    "rebinds it as a copy": HELPER.replace("    assert clock", "    slept = list(clock.slept)\n    assert clock"),
    "compares the number": HELPER.replace("clock.slept == slept", "len(clock.slept) == len(slept)"),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_says_less_is_found(name: str) -> None:
    assert codes({T: RETRY + CLOCK + TESTS}, {T: RETRY + CLOCK + FUNCTIONS[name] + HELPED}) != []
    apart = {T: RETRY + "from tests.support import assert_up\n" + CLOCK + HELPED, "tests/support.py": "from kit import run\n\n\n" + FUNCTIONS[name]}  # fmt: skip
    assert codes({T: RETRY + CLOCK + TESTS}, dict(apart)) != []


def test_rows_with_another_expected_value_are_found() -> None:
    conftest = "import pytest\n\n\n" + CLOCK + "\n" + FIXTURE
    for rows in (ROWS.replace("(2, [1, 2])", "(2, [1, 3])"), ROWS.replace("== slept", "!= slept")):
        assert codes({T: RETRY + CLOCK + TESTS}, {T: RETRY + rows, "tests/conftest.py": conftest}) != []
    rows = "@pytest.mark.parametrize('a, b, size', [(1, 2, 2), (2, 3, 7), (0, 3, 0)])\ndef test_area(a, b, size):\n    assert area(a, b) == size\n"
    assert codes({T: THREE}, {T: AREA + rows}) != []


def test_a_fixture_that_gives_a_fake_of_the_code_is_found() -> None:
    old = AREA + "def test_area():\n    shape = Shape(2, 3)\n    assert shape.area() == 6\n"
    fake = "class Flat:\n    def __init__(self, *a):\n        pass\n\n    def area(self):\n        return 6\n\n\n@pytest.fixture\ndef shape():\n    return Flat(2, 3)\n"
    new = AREA + "def test_area(shape):\n    assert shape.area() == 6\n"
    assert codes({T: old}, {T: AREA + fake + "\n\n" + new.removeprefix(AREA)}) != []
    assert codes({T: old}, {T: new, "tests/conftest.py": "import pytest\n\n\n" + fake}) != []
    same = fake.replace("Flat", "Shape")
    assert codes({T: old}, {T: new, "tests/conftest.py": "import pytest\n\n\n" + same}) != []
    real = "import pytest\nfrom kit import Shape\n\n\n@pytest.fixture\ndef shape():\n    return Shape(2, 3)\n"
    assert codes({T: old}, {T: new, "tests/conftest.py": real}) == []
