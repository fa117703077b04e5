"""Hostile sources and settings: the readers answer or say that they can not, and never crash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.checks.suite_integrity.scripts import weaker
from gatekeeper.formats import pytest_settings
from gatekeeper.formats.python_source import proves_nothing, read_module

WORDS = ["def test_a():\n    ", "class TestA:\n  ", "assert ", "1\n", "del test_a\n", "__test__ = False\n", "\x00", "é", "(", ")", "@pytest.mark.parametrize('a', [1])\n", "pytest.param(1)", "\n"]  # fmt: skip
INI = [
    "[pytest]\n",
    "addopts = ",
    "-k x",
    "'",
    '"',
    "\n",
    "[tool.pytest.ini_options]\n",
    "= [",
    "]",
    "testpaths",
    "-m",
    "\x00",
]


@given(st.lists(st.sampled_from(WORDS)).map("".join) | st.text())
def test_any_source(source):
    module = read_module(source)
    assert module is None or all(isinstance(proves_nothing(t.node), str) for t in module.tests.values())


@given(st.binary())
def test_any_bytes(data):
    module = read_module(data)
    assert module is None or isinstance(module.tests, dict)


@pytest.mark.parametrize(
    "source", ["(" * 5000, "x = " + "-" * 20000 + "1", "a" * 2_000_000, "if 1:\n" + " if 1:\n" * 200]
)
def test_deep_and_large_sources_are_not_read(source):
    assert read_module(source) is None


def test_deep_class_nesting_ends():
    source = "".join(" " * i + f"class Test{i}:\n" for i in range(60)) + " " * 60 + "def test_x(self): pass\n"
    module = read_module(source)
    assert module is not None
    assert module.tests == {}


@given(st.sampled_from(pytest_settings.ORDER), st.lists(st.sampled_from(INI)).map("".join) | st.text())
def test_any_settings(name, text):
    found = pytest_settings.values(name, text)
    assert found is None or pytest_settings.weakened(found, found, ["tests/test_a.py"]) == []


@given(st.text(), st.text())
def test_any_script_is_as_strict_as_itself(before, after):
    assert weaker(before, before) == []
    assert isinstance(weaker(before, after), list)
