"""Tests that stand in files of the code, bent or taken out together with what they judge."""

from __future__ import annotations

from collections import Counter

import pytest

from gatekeeper.domain.ticket import Permit, PermitKind
from gatekeeper.formats.python_examples import differ_in_tests, examples_of, lost_examples

P, C = "pkg/__init__.py", "pkg/calc.py"
ID, OTHER = f"{P}::pkg.twice", "tests/test_a.py::test_other"
CODE = 'def twice(n):\n    """Twice.\n\n    >>> twice(3)\n    6\n    """\n    return n * 2\n'
BROKEN = CODE.replace("n * 2", "n * 2 + 1")
GONE = "def twice(n):\n    return n * 2 + 1\n"
ALL = {ID: "passed", OTHER: "passed"}
LEFT = {OTHER: "passed"}


def test_an_example_that_expects_otherwise_together_with_its_code_is_asked_about(judge):
    found = judge({P: CODE}, {P: BROKEN.replace("    6", "    7")}, was=ALL, now=ALL)
    assert {f.effect.value for f in found.values()} == {"asks"}
    assert set(found) == {"EXPECTATION_FOLLOWS_CODE"}


def test_it_is_seen_without_a_run_of_the_target(judge):
    assert set(judge({P: CODE}, {P: BROKEN.replace("    6", "    7")}, now=ALL)) == {"EXPECTATION_FOLLOWS_CODE"}


@pytest.mark.parametrize(
    "edit",
    [
        CODE.replace("twice(3)\n    6", "twice(3)\n    6\n    >>> twice(2)\n    4"),
        CODE.replace("Twice.", "Twice as much."),
        CODE.replace("n * 2", "n + n"),
        CODE + '\n\ndef thrice(n):\n    """>>> thrice(1)\n    3\n    """\n    return 3 * n\n',
    ],
)
def test_examples_that_stay_are_let_through(judge, edit):
    assert not judge({P: CODE}, {P: edit}, was=ALL, now=ALL)


@pytest.mark.parametrize(
    "edit",
    [
        BROKEN.replace(">>> twice(3)", ">>> twice = lambda n: 6\n    >>> twice(3)"),
        BROKEN.replace(">>> twice(3)", ">>> twice(3)  # doctest: +SKIP"),
        BROKEN.replace(">>> twice(3)\n    6", ">>> twice(0)\n    1"),
        BROKEN.replace(">>> twice(3)", ">>> twice(2.5)"),
    ],
)
def test_examples_that_try_something_else_are_asked_about(judge, edit):
    assert judge({P: CODE}, {P: edit}, was=ALL, now=ALL)


def test_examples_that_no_run_shows_judge_nothing(judge):
    assert not judge({P: CODE}, {P: BROKEN.replace("    6", "    7")}, was=LEFT, now=LEFT)


def test_examples_that_failed_on_the_target_may_be_corrected(judge):
    wrong = CODE.replace("    6", "    5")
    assert not judge({P: wrong}, {P: CODE}, was=ALL | {ID: "failed"}, now=ALL)


def test_examples_taken_out_of_a_function_that_stays_are_seen(judge):
    found = judge({P: CODE}, {P: GONE}, was=ALL, now=LEFT)
    assert set(found) == {"TEST_REMOVED"}


def test_one_of_two_examples_taken_out_is_asked_about(judge):
    two = CODE.replace("    6\n", "    6\n    >>> twice(1)\n    2\n")
    found = judge({P: two}, {P: BROKEN.replace("twice(3)\n    6", "twice(1)\n    2")}, was=ALL, now=ALL)
    assert found


def test_examples_that_went_with_their_function_are_asked_about(judge):
    found = judge({P: CODE}, {P: "def thrice(n):\n    return 3 * n\n"}, was=ALL, now=LEFT)
    assert set(found) == {"TEST_FOLLOWS_INTERFACE"}


def test_examples_of_a_private_function_go_with_it(judge):
    private, name = CODE.replace("twice", "_twice"), ID.replace("twice", "_twice")
    assert not judge({P: private}, {P: ""}, was={name: "passed", OTHER: "passed"}, now=LEFT)


def test_examples_that_moved_with_their_function_are_let_through(judge):
    now = {f"{C}::pkg.calc.twice": "passed", OTHER: "passed"}
    assert not judge({P: CODE}, {P: "from pkg.calc import twice\n", C: CODE}, was=ALL, now=now)


def test_a_permit_for_the_example(judge):
    permit = Permit(PermitKind.CHANGE_EXPECTATIONS, tests=(ID,))
    assert not judge({P: CODE}, {P: BROKEN.replace("    6", "    7")}, was=ALL, now=ALL, permits=[permit])


def test_a_permit_to_remove_the_function(judge):
    permit = Permit(PermitKind.REMOVE_FEATURE, names=("pkg.twice",))
    assert not judge({P: CODE}, {P: "x = 1\n"}, was=ALL, now=LEFT, permits=[permit])


def test_examples_are_rewritten_where_the_code_stays(judge):
    assert not judge({P: CODE}, {P: CODE.replace("(3)\n    6", "(4)\n    8")}, was=ALL, now=ALL)


INLINE = "def twice(n):\n    return n * 2\n\n\ndef test_twice():\n    assert twice(3) == 6\n"
INLINE_ID = {f"{C}::test_twice": "passed", OTHER: "passed"}


def test_a_test_in_the_code_that_expects_otherwise_is_asked_about(judge):
    edit = INLINE.replace("n * 2", "n * 2 + 1").replace("== 6", "== 7")
    assert set(judge({C: INLINE}, {C: edit}, was=INLINE_ID, now=INLINE_ID)) == {"EXPECTATION_FOLLOWS_CODE"}


def test_a_test_in_the_code_that_is_gone_is_seen(judge):
    found = judge({C: INLINE}, {C: INLINE.partition("\n\n\n")[0] + "\n"}, was=INLINE_ID, now=LEFT)
    assert set(found) == {"TEST_REMOVED"}


def test_a_test_in_the_code_that_asserts_more_is_let_through(judge):
    edit = INLINE + "    assert twice(0) == 0\n"
    assert not judge({C: INLINE}, {C: edit}, was=INLINE_ID, now=INLINE_ID)


def test_a_function_of_the_code_that_is_only_named_like_a_test_is_let_through(judge):
    code = "def test_link(url):\n    return url\n"
    assert not judge({C: code}, {C: code.replace("return url", "return [url]")}, was=LEFT, now=LEFT)


@pytest.mark.parametrize(
    ("edit", "differs"),
    [(BROKEN, False), (BROKEN.replace("    6", "    7"), True), (GONE, True), (None, True), ("x = (", True)],
)
def test_only_what_tests_say_makes_a_file_worth_a_run_of_the_target(edit, differs):
    assert differ_in_tests(CODE, edit) is differs


def test_what_moved_elsewhere_is_not_lost_and_counts_once():
    old = examples_of(CODE)
    assert not lost_examples(old, {}, Counter({("twice(3)", "6"): 1}))
    assert len(lost_examples({**old, "b": old["twice"]}, {}, Counter({("twice(3)", "6"): 1}))) == 1


LONG = """def old(version):
    def marked(f):
        return f
    return marked


class Count:
    @classmethod
    def read(cls, text):
        return cls()

    def up(self):
        '''Up.

        >>> c = calc.read_count("3")
        >>> c.up()
        4
        '''
        return 4


@old("1.0")
def read_count(text):
    '''Read.'''
    return Count.read(text)
"""
T = "tests/test_a.py"
TESTED = "from pkg.calc import read_count\n\n\ndef test_other():\n    assert read_count('3')\n"
UP = {f"{C}::calc.Count.up": "passed", OTHER: "passed"}


def _direct(source):
    return source.replace('calc.read_count("3")', "calc.Count.read('3')")


def test_an_example_may_call_what_a_function_only_hands_on_to(judge):
    after = _direct(LONG).replace("1.0", "2.0").replace("return cls()", "return super().__new__(cls)")
    assert not judge({C: LONG, T: TESTED}, {C: after, T: TESTED}, was=UP, now=UP)
    assert judge({C: LONG}, {C: after}, was=UP, now=UP)  # where no test tries the function itself


@pytest.mark.parametrize(
    "after",
    [
        # the function does something else now, or did before
        _direct(LONG).replace("return Count.read(text)", "return Count.read(text.strip())"),
        _direct(LONG).replace("return Count.read(text)", "return Count()"),
        # another value, another expectation, one less
        _direct(LONG).replace("'3'", "'4'"),
        _direct(LONG).replace("        4\n", "        5\n"),
        _direct(LONG).replace("        >>> c.up()\n        4\n", ""),
        # it is decorated otherwise, or bound anew
        _direct(LONG).replace('@old("1.0")', '@cached("1.0")'),
        _direct(LONG) + "\n\nread_count = Count\n",
        _direct(LONG) + "\n\nCount = object\n",
        # its decorator does something else, or is somebody else's
        _direct(LONG).replace("return f\n", "return lambda text: None\n"),
        _direct(LONG).replace("@old(", "@fake.old("),
        _direct(LONG) + "\n\nif True:\n    def read_count(text):\n        return 4\n",
        _direct(LONG).replace("        >>> c = ", "        >>> from fake import read_count\n        >>> c = "),
        # another function than the one it hands on to
        LONG.replace('calc.read_count("3")', 'calc.Count("3")'),
        _direct(LONG).replace("def read_count(text)", "def read_count(text, more=1)"),
    ],
)
def test_an_example_that_calls_anything_else_is_asked_about(judge, after):
    changed = after.replace("return cls()", "return super().__new__(cls)")
    found = judge({C: LONG, T: TESTED}, {C: changed, T: TESTED}, was=UP, now=UP)
    assert {f.effect.value for f in found.values()} == {"asks"}


OWN = LONG.replace("'''Read.'''", "'''Read.\n\n    >>> calc.read_count('3').up()\n    4\n    '''").replace("class Count:", "class Count:\n    def up(self):\n        return 4\n", 1)  # fmt: skip


@pytest.mark.parametrize(("before", "after", "codes"), [(TESTED, TESTED, set()), (TESTED, TESTED.replace("read_count('3')", "1"), {"EXPECTATION_FOLLOWS_CODE"}), ("x = 1\n", "x = 1\n", {"EXPECTATION_FOLLOWS_CODE"})])  # fmt: skip
def test_the_functions_own_examples_may_leave_it_where_tests_have_it(judge, before, after, codes):
    ids = {f"{C}::calc.read_count": "passed", OTHER: "passed"}
    direct = OWN.replace("calc.read_count('3')", "calc.Count.read('3')").replace(
        "return cls()", "return super().__new__(cls)"
    )
    assert set(judge({C: OWN, T: before}, {C: direct, T: after}, was=ids, now=ids)) == codes


def test_an_example_may_not_come_back_to_the_function(judge):
    direct = OWN.replace("calc.read_count('3')", "calc.Count.read('3')")
    ids = {f"{C}::calc.read_count": "passed", OTHER: "passed"}
    code = OWN.replace("return cls()", "return super().__new__(cls)")
    assert judge({C: direct, T: TESTED}, {C: code, T: TESTED}, was=ids, now=ids)
