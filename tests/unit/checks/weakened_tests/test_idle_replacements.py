"""An assertion may be exchanged for one as strong, unless that one asks nothing of the code."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.checks.weakened_tests.compare import losses
from gatekeeper.formats.python_assertions import read
from gatekeeper.formats.python_assertions.reached import idle_lines

HEAD = "import math\nimport pkg\n\n\ndef test_twice():\n    got = pkg.twice(3)\n"
OLD = HEAD + "    assert got == 6\n"


def codes(new: str, old: str = OLD) -> list[str]:
    before, after = read(old), read(new)
    assert before is not None
    assert after is not None
    name = next(n for n in before.bodies if n.endswith("test_twice"))
    return [loss.code for loss in losses(before.bodies[name], after.bodies[name], after)]


@pytest.mark.parametrize(
    "now",
    [
        "assert str(3) == '3'",
        "assert math.sqrt(36) == 6",
        "got = 6\n    assert got == 6",
        "six = 3 + 3\n    six = six + 0\n    assert six == 6",
        "rows = [6]\n    for n in rows:\n        pass\n    assert rows[0] == 6",
        "twice = lambda n: n * 2\n    assert twice(3) == 6",
    ],
)
def test_what_asks_nothing_of_the_code_stands_in_for_nothing(now: str) -> None:
    assert codes(HEAD + f"    {now}\n") == ["ASSERTION_WEAKENED"]


def test_unittest_assertions_of_literals_stand_in_for_nothing() -> None:
    old = "import pkg\nclass T:\n    def test_twice(self):\n        got = pkg.twice(3)\n        self.assertEqual(got, 6)\n"
    assert codes(old.replace("self.assertEqual(got, 6)", "self.assertEqual(str(3), '3')"), old) == [
        "ASSERTION_WEAKENED"
    ]
    assert codes(old.replace("self.assertEqual(got, 6)", "self.assertEqual(pkg.thrice(2), 6)"), old) == []


@pytest.mark.parametrize(
    "now",
    [
        "assert pkg.twice(4) == 8",
        "assert pkg.thrice(2) == 6",
        "out = []\n    pkg.fill(out)\n    assert out == [1]",
        "out = {}\n    out['a'] = got\n    assert sorted(out.values()) == [6]",
        "n = 0\n    for row in pkg.rows():\n        n += row\n    assert n == 6",
        "with open('a') as f:\n        text = f.read()\n    assert text == '6'",
        "assert str(got) == '6'",
        "with pkg.patch('a') as seen:\n        pkg.twice(1)\n    assert seen == [1]",
        "seen = []\n    def keep(n):\n        seen.append(n)\n    pkg.twice(1, keep)\n    assert seen == [6]",
        "store = {}\n    kept = pkg.cached(store)\n    kept(1)\n    assert store == {1: 6}",
    ],
)
def test_an_assertion_on_something_else_of_the_code_may_stand_in(now: str) -> None:
    assert codes(HEAD + f"    {now}\n") == []


def test_an_assertion_that_asked_nothing_before_may_be_exchanged() -> None:
    assert (
        codes(
            HEAD + "    assert got == 6\n    assert str(4) == '4'\n",
            HEAD + "    assert got == 6\n    assert int('3') == 3\n",
        )
        == []
    )


@given(st.text(max_size=80))
def test_bodies_of_any_kind_raise_nothing(body: str) -> None:
    try:
        tree = ast.parse("def f():\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            assert idle_lines(node) <= set(range(1, 200))
