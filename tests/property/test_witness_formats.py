"""Arbitrary texts as tests and code: naming, renaming and looking for ways to the runner end and answer."""

from __future__ import annotations

import ast

from hypothesis import example, given
from hypothesis import strategies as st

from gatekeeper.formats.canary_tests import canaries
from gatekeeper.formats.nearest_tests import nearest
from gatekeeper.formats.renamed_tests import renamed
from gatekeeper.formats.runner_reach import reaches

LINES = st.sampled_from(
    [
        "import os", "from .. import a", "from pytest import *", "import sys, gc as g", "def test_a():", "async def test_a(", "x):",
        "def test_b(x): assert x", "    assert f'{x!r:>{y}}' == '\\ud800'", "    assert x, 'no'", "    return", "class TestA(x):",
        "    def test_c(self): assert 1", "@x.mark.parametrize('a', [test_b])", "os._exit = x.y.z = 1", "del sys.modules['a']",
        "getattr(os, '_' + 'exit')(0)", "(a.b, *c), d = e", "type('X', (), {})", "\\", "'''", "#", "\t", "def  test_d ( ) :pass",
    ]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=200), st.lists(LINES, max_size=15).map("\n".join))


@given(TEXTS)
def test_a_renamed_module_is_python_with_as_many_definitions_or_more(source: str) -> None:
    made = renamed(source, lambda name: f"test_{abs(hash(name))}")
    if made is None:
        return
    before, after = ast.parse(source), ast.parse(made.source)
    assert len(after.body) == len(before.body) + len(made.twins)
    made.source.encode()


@given(st.one_of(st.none(), TEXTS), st.one_of(st.none(), TEXTS), st.booleans())
def test_reaching_is_answered_in_words(before: str | None, after: str | None, test: bool) -> None:
    found = reaches(before, after, test=test)
    assert all(isinstance(w, str) and w for w in found)
    assert reaches(after, after, test=test) == () or found


@given(
    st.dictionaries(st.sampled_from(["a.py", "p/b.py", "p/__init__.py", "tests/conftest.py", "tests/test_a.py"]), TEXTS)
)
def test_nearest_are_some_of_the_tests(sources: dict[str, str]) -> None:
    tests = [p for p in sources if "test_" in p]
    found = nearest(["a.py"], tests, sources)
    assert set(found) <= set(tests)
    assert len(set(found)) == len(found)
    assert bool(found) == bool(tests)


@given(st.text(max_size=40), st.lists(st.text(max_size=12), max_size=4))
@example("", ["A¼"])  # a word to regular expressions, no name to Python
@example("", ["A*¼"])
@example("", ["*²"])
def test_the_gates_tests_are_python_whatever_the_settings_say(token: str, patterns: list[str]) -> None:
    made = canaries(token.encode("utf-8", "replace").decode(), patterns)
    ast.parse(made.source)
    assert len({n for n, _ in made.expected}) == len(made.expected)
