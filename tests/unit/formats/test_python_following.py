"""One spelling for equal values, and edits that carry the code's own words over."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats.python_following import CodeChange, code_change, follows
from gatekeeper.formats.python_spelling import plain


def spelled(source: str) -> str:
    return ast.unparse(plain(ast.parse(source)))


@pytest.mark.parametrize(
    ("source", "same"),
    [
        ("x = dict(a=1)", "x = {'a': 1}"),
        ("x = dict()", "x = {}"),
        ("x = tuple([1, 2])", "x = (1, 2)"),
        ("x = frozenset([2, 1])", "x = frozenset({1, 2})"),
        ("x = dedent('''\n  a\n  b\n''')", "x = '\\na\\nb\\n'"),
        ("x = ', '.join(['a', 'b'])", "x = 'a, b'"),
        ("x = f'plain'", "x = 'plain'"),
    ],
)
def test_equal_values_have_one_spelling(source: str, same: str) -> None:
    assert spelled(source) == same


@pytest.mark.parametrize(
    "source",
    [
        "def dict(**k):\n    return ANY\nx = dict(a=1)",
        "from odd import *\nx = tuple()",
        "def f(list):\n    return list((1, 2))",
        "x = dict(**given)",
        "x = tuple([*given])",
        "x = set()",
        "x = ', '.join(given)",
    ],
)
def test_what_may_mean_something_else_stays(source: str) -> None:
    assert spelled(source) == ast.unparse(ast.parse(source))


def test_shared_trees_are_not_changed() -> None:
    tree = ast.parse("x = dict(a=1)")
    plain(tree)
    assert ast.unparse(tree) == "x = dict(a=1)"


def _follows(old: str, new: str, before: str, after: str) -> bool:
    return follows(ast.parse(old).body[0], ast.parse(new).body[0], code_change([(before, after)]))


OLD = "def test_a():\n    assert load(name=1) == 'x'\n"


@pytest.mark.parametrize(
    ("new", "after", "good"),
    [
        (OLD.replace("load", "read"), "def read(name): pass", True),
        (OLD.replace("name", "label"), "def load(label): pass", True),
        (OLD.replace("load", "other"), "def read(name): pass", False),
        (OLD.replace("load", "read") + "    assert more()\n", "def read(name): pass", True),
        (OLD + "    assert more()\n", "def load(name): pass", False),  # nothing of the code that it follows
        (OLD.replace("    assert", "    if more(): return\n    assert"), "def load(name): pass", False),
        (OLD.replace("    assert", "    pytest.skip()\n    assert"), "def load(name): pass", False),
        ("def test_a():\n    pass\n", "def load(name): pass", False),
        (OLD.replace("== 'x'", "== 'y'"), "def load(name): pass", False),
        (OLD.replace("==", "!="), "def load(name): pass", False),
    ],
)
def test_only_words_of_the_code_are_carried_over(new: str, after: str, good: bool) -> None:
    assert _follows(OLD, new, "def load(name): pass", after) is good


def test_swapped_words_are_no_new_ones() -> None:
    before, after = "A = 'odd'\nB = 'even'", "A = 'even'\nB = 'odd'"
    old = "def test_a():\n    assert kind(1) == 'odd'\n"
    assert not _follows(old, old.replace("odd", "even"), before, after)


def test_a_name_is_renamed_everywhere_or_not_at_all() -> None:
    old = "def test_a():\n    assert one(1) == two(1)\n"
    new = "def test_a():\n    assert three(1) == three(1)\n"
    assert not _follows(old, new, "def one(x): pass\ndef two(x): pass", "def three(x): pass")


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_sources_of_any_kind_raise_nothing(old: str, new: str, code: str) -> None:
    change = code_change([(old, code), (None, new), (code, None)])
    assert isinstance(change, CodeChange)
    try:
        trees = [ast.parse(t) for t in (old, new)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    assert isinstance(follows(*trees, change), bool)


RAISES = "def test_a():\n    with raises(ValueError):\n        load('')\n"


@pytest.mark.parametrize(
    ("old", "new", "before", "after", "good"),
    [
        (RAISES, RAISES.replace("ValueError", "LoadError"), "raise ValueError()", "class LoadError(Exception): pass\nraise LoadError()", True),
        (RAISES, RAISES.replace("ValueError", "KeyError"), "raise ValueError()", "raise KeyError()", False),
        ("assert sum(load()) == 3", "assert add(load()) == 3", "sum(x)", "def add(x): pass\nadd(x)", False),
        ("assert json.dumps(x) == 3", "assert show(x) == 3", "json.dumps(x)", "def show(x): pass\nshow(x)", False),
        ("assert ALL == ['a_b']", "assert ALL == ['a_b', 'c_d']", "__all__ = ['a_b']", "__all__ = ['a_b', 'c_d']", True),
        ("assert may() == ['a_b']", "assert may() == ['a_b', 'c_d']", "def may(): return ['a_b']", "def may(): return ['a_b', 'c_d']", False),
    ],
)  # fmt: skip
def test_what_python_offers_is_named_otherwise_but_never_called(
    old: str, new: str, before: str, after: str, good: bool
) -> None:
    assert _follows(old, new, before, after) is good
