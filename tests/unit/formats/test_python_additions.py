"""Which tests of a changed module are to be seen on the target's code: never one too few."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.formats.python_source import new_or_changed, read_module

BASE = '''
"""Tests."""
import pytest
from app import add

LIMIT = 3


@pytest.fixture
def number():
    return 1


def helper(x):
    return x


def test_add(number):
    assert add(number, LIMIT) == 4


@pytest.mark.parametrize("x", [1, 2])
def test_rows(x):
    assert helper(x)


class TestMore:
    size = 2

    def setup_method(self):
        self.y = 1

    def test_y(self):
        assert self.y == 1
'''
MORE = "\n\ndef test_more():\n    assert add(2, 2) == 4\n"


@pytest.mark.parametrize(
    ("after", "names"),
    [
        (BASE, ()),
        (BASE + "\n# a comment\n", ()),
        (BASE.replace("    assert helper(x)\n", "    assert  helper( x )\n"), ()),
        (BASE + MORE, ("test_more",)),
        (BASE.replace("== 4", "== 5"), ("test_add",)),
        (BASE.replace("[1, 2]", "[1]"), ("test_rows",)),
        (BASE.replace("def test_add(number)", "async def test_add(number)"), ("test_add",)),
        (BASE.replace("def test_add(number)", "def test_add(number, wanted=4)"), ("test_add",)),
        (BASE.replace("def test_add(number)", "def test_add(number: int) -> None"), ("test_add",)),
        (BASE.replace("self.y == 1", "self.y == 2"), ("TestMore::test_y",)),
        (BASE.replace("    def test_y", "    @pytest.mark.skip\n    def test_y"), ("TestMore::test_y",)),
        (BASE + "\n    def test_z(self):\n        assert self.size\n", ("TestMore::test_z",)),
        (BASE[: BASE.index("class TestMore")] + "class TestMore" + BASE.partition("class TestMore")[2].replace("    def test_y(self):\n        assert self.y == 1\n", ""), ()),
        ("from app import other\n" + BASE + "\n\ndef test_other():\n    assert other()\n", ("test_other",)),
    ],
)  # fmt: skip
def test_only_tests_differ(after, names):
    assert new_or_changed(BASE, after) == names


@pytest.mark.parametrize(
    "after",
    [
        BASE.replace("return 1", "return 2"),
        BASE.replace("return x", "return 1"),
        BASE.replace("LIMIT = 3", "LIMIT = 4"),
        BASE.replace("size = 2", "size = 3"),
        BASE.replace("self.y = 1", "self.y = 2"),
        BASE.replace("class TestMore:", "class TestMore(Base):"),
        BASE.replace("class TestMore:", "@pytest.mark.skip\nclass TestMore:"),
        BASE.replace("from app import add", "from other import add"),
        "from __future__ import annotations\n" + BASE,
        "from other import *\n" + BASE,
        "import quietly_patches\n" + BASE,
        "from app import other, more\n" + BASE + "\n\ndef test_other():\n    assert other()\n",
        BASE + "\nimport fake as add\n",
        BASE + "\nimport other as helper\n",
        BASE + "\nfrom x import isinstance as pytest\n",
        BASE + "\ndef number():\n    return 2\n",
        BASE + "\n\ndef test_add(number):\n    assert True\n",
        BASE + "\n\npytestmark = pytest.mark.skip\n",
        BASE + "\n\nclass TestNew:\n    def test_n(self):\n        assert 1\n",
        BASE + "\n\nif True:\n    def test_hidden():\n        assert 1\n",
        BASE + "\n\ntest_made = lambda: None\n",
        BASE + "\ndef broken(:\n",
        "",
        None,
    ],
)  # fmt: skip
def test_more_than_tests_differs(after):
    assert new_or_changed(BASE, after) is None
    assert new_or_changed(None, after) is None


@given(st.text(), st.text())
def test_any_two_texts_have_an_answer(before, after):
    found = new_or_changed(before, after)
    assert found is None or set(found) <= {n.name for n in ast.walk(ast.parse(after)) if isinstance(n, ast.FunctionDef)}


STATEMENTS = st.lists(
    st.sampled_from([
        "import a", "from b import c", "X = 1", "X = 2", "def helper():\n    return X", "def helper():\n    return 3",
        "def test_a():\n    assert X", "def test_a():\n    assert helper()", "def test_b():\n    assert c",
        "class TestC:\n    def test_d(self):\n        assert X", "class TestC:\n    y = 1\n    def test_d(self):\n        assert X",
    ]),
    max_size=6,
)  # fmt: skip


@given(STATEMENTS, STATEMENTS)
def test_a_test_that_differs_is_always_named_or_the_whole_file_is(before, after):
    """The oracle: without the tests named, both texts define the same tests and the same of everything else."""
    found = new_or_changed("\n".join(before), "\n".join(after))
    if found is None:
        return
    old, new = ({s.partition(":")[0]: s for s in part if "test" in s} for part in (before, after))
    for head, body in new.items():
        name = head.removeprefix("def ").removesuffix("()").replace("class TestC", "TestC::test_d")
        assert name in found or old.get(head) == body
    rest = [[s for s in part if "test" not in s and not s.startswith(("import", "from"))] for part in (before, after)]
    assert rest[0] == rest[1]


def test_what_an_argument_holds_is_part_of_a_test():
    text = "def test_a(wanted=45.0, *, rate=2):\n    assert total() == wanted * rate\n"
    body = read_module(text).tests["test_a"].body
    assert read_module(text.replace("45.0", "40.0")).tests["test_a"].body != body
    assert read_module(text.replace("rate=2", "rate=1")).tests["test_a"].body != body
    assert read_module(text.replace("def test_a(", "def test_a( ")).tests["test_a"].body == body
