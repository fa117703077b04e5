"""Tests that vanish, hide or fall silent, each beside the honest change that looks alike."""

from __future__ import annotations

import pytest

from gatekeeper.domain.ticket import Permit, PermitKind

T = "tests/test_a.py"
TWO = "from m import f\n\ndef test_one():\n    assert f(1) == 2\n\ndef test_two():\n    assert f(2) == 7\n"
ONE = "from m import f\n\ndef test_one():\n    assert f(1) == 2\n"
WAS = {f"{T}::test_one": "passed", f"{T}::test_two": "failed"}
BOTH = {f"{T}::test_one": "passed", f"{T}::test_two": "passed"}


def test_failing_test_removed(judge):
    found = judge({T: TWO}, {T: ONE}, was=WAS, now={f"{T}::test_one": "passed"}, restored=WAS)
    assert set(found) == {"TEST_REMOVED"}


def test_removed_with_permit(judge):
    permit = Permit(PermitKind.REMOVE_TESTS, tests=(f"{T}::test_two",))
    found = judge({T: TWO}, {T: ONE}, was=WAS, now={f"{T}::test_one": "passed"}, restored=WAS, permits=[permit])
    assert not found


def test_permit_for_another_test_does_not_help(judge):
    permit = Permit(PermitKind.REMOVE_TESTS, paths=(T,), tests=(f"{T}::test_one",))
    found = judge({T: TWO}, {T: ONE}, was=WAS, now={f"{T}::test_one": "passed"}, restored=WAS, permits=[permit])
    assert set(found) == {"TEST_REMOVED"}


def test_passing_test_removed_without_reason(judge):
    found = judge({T: TWO}, {T: ONE}, was=BOTH, now={f"{T}::test_one": "passed"}, restored=BOTH)
    assert set(found) == {"TEST_REMOVED"}


def test_renamed(judge):
    merged = TWO.replace("test_two", "test_seven_comes_out")
    now = {f"{T}::test_one": "passed", f"{T}::test_seven_comes_out": "passed"}
    assert not judge({T: TWO}, {T: merged}, was=WAS, now=now, restored=BOTH)


def test_renamed_so_that_it_is_not_collected(judge):
    merged = TWO.replace("test_two", "check_two")
    found = judge({T: TWO}, {T: merged}, was=WAS, now={f"{T}::test_one": "passed"}, restored=WAS)
    assert set(found) == {"TEST_HIDDEN"}


def test_moved_to_another_module(judge):
    other = "from m import f\n\ndef test_two():\n    assert f(2) == 7\n"
    now = {f"{T}::test_one": "passed", "tests/test_b.py::test_two": "passed"}
    assert not judge({T: TWO}, {T: ONE, "tests/test_b.py": other}, was=WAS, now=now, restored=BOTH)


def test_moved_and_weakened(judge):
    other = "from m import f\n\ndef test_two():\n    assert f(2)\n"
    now = {f"{T}::test_one": "passed", "tests/test_b.py::test_two": "passed"}
    found = judge({T: TWO}, {T: ONE, "tests/test_b.py": other}, was=WAS, now=now, restored=WAS)
    assert "TEST_REMOVED" in found


def test_moved_into_a_module_that_is_not_collected(judge):
    other = "from m import f\n\ndef test_two():\n    assert f(2) == 7\n"
    found = judge({T: TWO}, {T: ONE, "tests/cases.py": other}, was=WAS, now={f"{T}::test_one": "passed"}, restored=WAS)
    assert set(found) == {"TEST_REMOVED"}


def test_class_became_functions(judge):
    base = "class TestF:\n    def test_one(self, clock):\n        assert clock(1) == 2\n\n    async def test_two(self):\n        assert await g(3)\n"
    merged = "def test_one(clock):\n    assert clock(1) == 2\n\nasync def test_two():\n    assert await g(3)\n"
    was = {f"{T}::TestF::test_one": "passed", f"{T}::TestF::test_two": "passed"}
    assert not judge({T: base}, {T: merged}, was=was, now=BOTH, restored=was)


def test_tests_became_one_with_parameters(judge):
    merged = (
        "import pytest\nfrom m import f\n\n@pytest.mark.parametrize('a, b', [(1, 2), (2, 7)])\n"
        "def test_values(a, b):\n    assert f(a) == b\n"
    )
    now = {f"{T}::test_values[1-2]": "passed", f"{T}::test_values[2-7]": "passed"}
    assert not judge({T: TWO}, {T: merged}, was=BOTH, now=now, restored=BOTH)


def test_parameters_became_tests(judge):
    base = (
        "import pytest\nfrom m import f\n\n@pytest.mark.parametrize('a, b', [(1, 2), (2, 7)])\n"
        "def test_values(a, b):\n    assert f(a) == b\n"
    )
    was = {f"{T}::test_values[1-2]": "passed", f"{T}::test_values[2-7]": "passed"}
    merged = "from m import f\n\ndef test_values():\n    for a, b in ((1, 2), (2, 7)):\n        assert f(a) == b\n"
    assert not judge({T: base}, {T: merged}, was=was, now={f"{T}::test_values": "passed"}, restored=was)


ROWS = "import pytest\n\n@pytest.mark.parametrize('a, b', [(1, 2), (2, 7)])\ndef test_v(a, b):\n    assert f(a) == b\n"
ROWS_WAS = {f"{T}::test_v[1-2]": "passed", f"{T}::test_v[2-7]": "failed"}


def test_parameter_row_exchanged(judge):
    now = {f"{T}::test_v[1-2]": "passed", f"{T}::test_v[3-4]": "passed"}
    found = judge({T: ROWS}, {T: ROWS.replace("(2, 7)", "(3, 4)")}, was=ROWS_WAS, now=now, restored=ROWS_WAS)
    assert set(found) == {"PARAMETERS_REMOVED"}


def test_parameter_rows_named(judge):
    now = {f"{T}::test_v[low]": "passed", f"{T}::test_v[high]": "passed"}
    merged = ROWS.replace("(2, 7)]", "(2, 7)], ids=['low', 'high']")
    assert not judge({T: ROWS}, {T: merged}, was=ROWS_WAS, now=now, restored=dict.fromkeys(ROWS_WAS, "passed"))


def test_parameter_marked_as_skipped(judge):
    merged = ROWS.replace("(2, 7)", "pytest.param(2, 7, marks=pytest.mark.skip)")
    now = {f"{T}::test_v[1-2]": "passed", f"{T}::test_v[2-7]": "skipped"}
    found = judge({T: ROWS}, {T: merged}, was=ROWS_WAS, now=now, restored=ROWS_WAS)
    assert set(found) == {"TEST_SILENCED"}


@pytest.mark.parametrize("outcome", ["skipped", "xfailed", "xpassed"])
def test_silenced(judge, outcome):
    now = {f"{T}::test_one": "passed", f"{T}::test_two": outcome}
    merged = TWO.replace("def test_two", "@pytest.mark.x\ndef test_two")
    found = judge({T: TWO}, {T: merged}, was=WAS, now=now, restored=WAS)
    assert set(found) == {"TEST_SILENCED"}


def test_whole_module_skipped(judge):
    now = {T: "skipped"}
    merged = TWO + "\npytest.skip('later', allow_module_level=True)\n"
    found = judge({T: TWO}, {T: merged}, was=WAS, now=now, restored=WAS)
    assert set(found) == {"TEST_SILENCED"}


def test_skipped_before_as_well(judge):
    was = {f"{T}::test_one": "passed", f"{T}::test_two": "skipped"}
    assert not judge({T: TWO}, {T: TWO + "\n"}, was=was, now=was, restored=was)


def test_skip_with_permit(judge):
    permit = Permit(PermitKind.SKIP_TESTS, tests=(f"{T}::test_t*",))
    now = {f"{T}::test_one": "passed", f"{T}::test_two": "skipped"}
    assert not judge({T: TWO}, {T: TWO + "\n"}, was=BOTH, now=now, restored=BOTH, permits=[permit])


def test_rewritten_as_expected_failure(judge):
    merged = (
        ONE
        + "\nimport unittest\n\nclass Two(unittest.TestCase):\n    @unittest.expectedFailure\n    def test_two(self):\n        assert f(2) == 7\n"
    )
    now = {f"{T}::test_one": "passed", f"{T}::Two::test_two": "xfailed"}
    found = judge({T: TWO}, {T: merged}, was=WAS, now=now, restored=WAS)
    assert set(found) == {"TEST_SILENCED"}


def test_xfail_removed(judge):
    was = {f"{T}::test_one": "passed", f"{T}::test_two": "xfailed"}
    base = TWO.replace("def test_two", "@pytest.mark.xfail(strict=True)\ndef test_two")
    assert not judge({T: base}, {T: TWO}, was=was, now=BOTH, restored=BOTH)


HIDERS = {
    "second definition": TWO + "\ndef test_two():\n    assert f(1) == 2\n",
    "bound again": TWO + "\ntest_two = None\n",
    "del": TWO + "\ndel test_two\n",
    "attribute": TWO + "\ntest_two.__test__ = False\n",
    "popped": TWO + "\nglobals().pop('test_two')\n",
    "module": TWO + "\n__test__ = False\n",
}


@pytest.mark.parametrize("how", HIDERS)
def test_hidden_in_the_module(judge, how):
    now = {f"{T}::test_one": "passed"} if how != "second definition" else BOTH
    found = judge({T: TWO}, {T: HIDERS[how]}, was=WAS, now=now, restored=WAS)
    assert set(found) == {"TEST_HIDDEN"}


def test_hidden_by_init_in_the_class(judge):
    base = "class TestF:\n    def test_two(self):\n        assert f(2) == 7\n"
    merged = base.replace("TestF:\n", "TestF:\n    def __init__(self):\n        pass\n\n")
    was = {f"{T}::TestF::test_two": "failed", "tests/test_b.py::test_x": "passed"}
    found = judge({T: base}, {T: merged}, was=was, now={"tests/test_b.py::test_x": "passed"}, restored=was)
    assert set(found) == {"TEST_HIDDEN"}
    assert found["TEST_HIDDEN"].line == 2


def test_equal_duplicate_removed(judge):
    double = ONE + "\ndef test_again():\n    assert f(1) == 2\n"
    was = {f"{T}::test_one": "passed", f"{T}::test_again": "passed"}
    assert not judge({T: double}, {T: ONE}, was=was, now={f"{T}::test_one": "passed"}, restored=was)


def test_alternatives_of_a_condition_are_no_duplicates(judge):
    merged = (
        ONE
        + "\nif sys.version_info > (3, 12):\n    def test_two():\n        assert f(2) == 7\nelse:\n    def test_two():\n        assert f(2) == 8 - 1\n"
    )
    found = judge({T: TWO}, {T: merged}, was=BOTH, now=BOTH, restored=BOTH)
    assert not found


def test_parameter_set_dropped_elsewhere(judge):
    """The rows in the source are as before; a hook or a setting took one away."""
    found = judge({T: ROWS}, {T: ROWS + "\n\n"}, was=ROWS_WAS, now={f"{T}::test_v[1-2]": "passed"}, restored=ROWS_WAS)
    assert set(found) == {"PARAMETERS_REMOVED"}


def test_moved_below_another_set_up(judge):
    """The same body, and it passes only because the class around it sets something else up."""
    base = "class TestF:\n    def test_two(self, x):\n        assert x == 7\n"
    merged = "import pytest\n\nclass TestG:\n    @pytest.fixture\n    def x(self):\n        return 7\n\n    def test_two(self, x):\n        assert x == 7\n"
    was, now = {f"{T}::TestF::test_two": "failed"}, {f"{T}::TestG::test_two": "passed"}
    assert set(judge({T: base}, {T: merged}, was=was, now=now, restored=was)) == {"EXPECTATION_BENT"}


def test_inherited_test_moves_with_its_class(judge):
    base = "class Shared:\n    def test_two(self):\n        assert f(self.n) == 7\n\nclass TestF(Shared):\n    n = 2\n"
    was, now = {f"{T}::TestF::test_two": "passed"}, {f"{T}::TestNumbers::test_two": "passed"}
    found = judge({T: base}, {T: base.replace("TestF", "TestNumbers")}, was=was, now=now, restored=was)
    assert "TEST_REMOVED" not in found


def test_ids_from_junit_are_placed(judge):
    was, now = (
        {"tests.test_a::test_one": "passed", "tests.test_a::test_two": "passed"},
        {
            "tests.test_a::test_one": "passed",
            "tests.test_a::test_seven": "passed",
        },
    )
    assert not judge({T: TWO}, {T: TWO.replace("test_two", "test_seven")}, was=was, now=now, restored=was)


def test_other_languages_are_asked_about_a_new_name(judge):
    was, now = {"spec/sum_spec.rb::adds": "passed"}, {"spec/sum_spec.rb::adds two": "passed"}
    found = judge({"spec/sum_spec.rb": "1"}, {"spec/sum_spec.rb": "2"}, was=was, now=now, restored=was)
    assert found["TEST_REMOVED"].effect == "asks"


def test_renamed_interface_with_renamed_test_and_permit(judge):
    base, merged = (
        "from m import load\n\ndef test_load():\n    assert load('1') == 1\n",
        "from m import read\n\ndef test_read():\n    assert read('1') == 1\n",
    )
    was, now = {f"{T}::test_load": "passed"}, {f"{T}::test_read": "passed"}
    runs = {
        "was": was,
        "now": now,
        "restored": {T: "failed"},
        "detail": "ImportError: cannot import name 'load' from 'm'",
    }
    files = {T: base, "m.py": "load = int"}, {T: merged, "m.py": "read = int"}
    assert set(judge(*files, **runs)) == {"TEST_FOLLOWS_INTERFACE"}
    assert not judge(*files, **runs, permits=[Permit(PermitKind.RENAME_API, names=("m.load -> m.read",))])


MORE = "\n    def test_more(self):\n        assert self.make(4) == 9\n"
MIXIN = "class Mixin:\n    test_wanted = 7\n\n    def test_two(self):\n        assert self.make(2) == 7\n"
HEIR = "from m import f\nfrom shared import Mixin\n\nclass TestF(Mixin):\n    make = f\n\n    def test_own(self):\n        assert self.make(1) == 2\n"


@pytest.mark.parametrize(
    ("merged", "outcome", "found"),
    [
        (HEIR.replace("TestF", "TestG"), "passed", set()),
        (HEIR.replace("TestF", "TestG"), "skipped", {"TEST_REMOVED"}),
        (HEIR.replace("TestF(", "TestG(Other, "), "passed", {"TEST_REMOVED"}),
        (HEIR.replace("TestF", "TestG").replace("make = f", "make = g"), "passed", {"TEST_REMOVED"}),
        (HEIR.replace("TestF", "TestG").replace("make = f", "make = f\n    wanted = 2"), "passed", {"TEST_REMOVED"}),
        (HEIR.replace("class TestF", "@quiet\nclass TestG"), "passed", {"TEST_REMOVED"}),
        (HEIR.replace("TestF", "TestG") + MORE, "passed", set()),
        (HEIR.replace("TestF", "TestG") + MORE.replace("test_more", "test_two"), "passed", {"TEST_REMOVED"}),
        (HEIR.replace("TestF", "TestG") + MORE.replace("test_more", "setUp"), "passed", {"TEST_REMOVED"}),
        (HEIR.replace("TestF", "TestG") + MORE.replace("test_more", "make"), "passed", {"TEST_REMOVED"}),
        (HEIR.replace("TestF", "TestG") + MORE.replace("test_more", "test_wanted"), "passed", {"TEST_REMOVED"}),
        (
            HEIR.replace("TestF", "TestG")
            + MORE.replace("    def", "    @mock.patch.object(Mixin, 'test_two')\n    def"),
            "passed",
            {"TEST_REMOVED"},
        ),
        (
            HEIR.replace("TestF", "TestG") + MORE.replace("(self)", "(self, x=setattr(Mixin, 'test_two', len))"),
            "passed",
            {"TEST_REMOVED"},
        ),
        (
            HEIR.replace("TestF", "TestG") + MORE.replace("assert", "type(self).test_two = id\n        assert"),
            "passed",
            {"TEST_REMOVED"},
        ),
    ],
)
def test_a_class_with_inherited_tests_gets_another_name(judge, merged, outcome, found):
    was = {f"{T}::TestF::test_own": "passed", f"{T}::TestF::test_two": "passed"}
    now = {f"{T}::TestG::test_own": "passed", f"{T}::TestG::test_two": outcome}
    seen = judge(
        {T: HEIR, "tests/shared.py": MIXIN}, {T: merged, "tests/shared.py": MIXIN}, was=was, now=now, restored=was
    )
    assert set(seen) == found


def test_a_new_test_of_a_renamed_class_replaces_none_that_nobody_sees(judge):
    base = HEIR.replace("from shared", "from somewhere")  # the class that it is built on is in no file of the project
    was = {f"{T}::TestF::test_own": "passed", f"{T}::TestF::test_far": "passed"}
    now = {i.replace("TestF", "TestG"): "passed" for i in was}
    assert not judge({T: base}, {T: base.replace("TestF", "TestG")}, was=was, now=now, restored=was)
    after = base.replace("TestF", "TestG") + MORE.replace("test_more", "test_far")
    assert set(judge({T: base}, {T: after}, was=was, now=now, restored=was)) == {"TEST_REMOVED"}


@pytest.mark.parametrize("restored", [{f"{T}::TestF::test_two": "failed"}, {T: "failed"}, {}])
def test_a_new_name_does_not_cover_inherited_tests_that_fail(judge, restored):
    was, now = {f"{T}::TestF::test_two": "passed"}, {f"{T}::TestG::test_two": "passed"}
    after = {T: HEIR.replace("TestF", "TestG"), "tests/shared.py": MIXIN}
    seen = judge({T: HEIR, "tests/shared.py": MIXIN}, after, was=was, now=now, restored=restored)
    assert "TEST_REMOVED" in seen


GUIDE = "Guide\n=====\n\n>>> 1 + 1\n2\n\nMore:\n\n>>> f(2)\n7\n"


@pytest.mark.parametrize(
    ("parts", "outcome", "found"),
    [
        (("A\n\n>>> 1 + 1\n2\n", "B\n\n>>> f(2)\n7\n"), "passed", set()),
        (("A\n\n>>> 1 + 1\n2\n", "B\n\n>>> f(2)\n8\n"), "passed", {"TEST_REMOVED"}),
        (("A\n\n>>> 1 + 1\n2\n", "B\n\n>>> f(2)  # doctest: +SKIP\n7\n"), "passed", {"TEST_REMOVED"}),
        (("A\n\n>>> 1 + 1\n2\n", "B\n"), "passed", {"TEST_REMOVED"}),
        (("A\n\n>>> 1 + 1\n2\n", "B\n\n>>> f(2)\n7\n"), "skipped", {"TEST_REMOVED"}),
    ],
)
def test_a_text_with_examples_is_split(judge, parts, outcome, found):
    was = {"docs/guide.rst::guide.rst": "passed"}
    now = {"docs/guide/a.rst::a.rst": "passed", "docs/guide/b.rst::b.rst": outcome}
    after = dict(zip(("docs/guide/a.rst", "docs/guide/b.rst"), parts, strict=True))
    assert set(judge({"docs/guide.rst": GUIDE}, after, was=was, now=now, restored={})) == found


USAGE = "Usage\n\n>>> from m import count\n>>> rows = [1, 2]\n>>> count(rows)\n2\n"
NOTES = "Notes\n\n>>> 1 + 1\n2\n"


@pytest.mark.parametrize(
    ("guide", "restored", "found"),
    [
        (USAGE.replace("Usage", "Guide"), "passed", set()),
        (USAGE + "\n>>> count([])\n0\n", "passed", set()),
        (NOTES + "\n" + USAGE, "passed", set()),  # both texts became one
        (USAGE, "failed", {"TEST_REMOVED"}),
        (USAGE.replace(">>> rows", ">>> count = len\n>>> rows"), "passed", {"TEST_REMOVED"}),
        (">>> import m\n>>> m.count = len\n\n" + USAGE, "passed", {"TEST_REMOVED"}),
        (USAGE.replace(">>> rows = [1, 2]\n", "") + ">>> rows = [1, 2]\n", "passed", {"TEST_REMOVED"}),
    ],
)
def test_nothing_new_stands_before_the_examples_of_a_text_that_moved(judge, guide, restored, found):
    old, notes, new = "docs/usage.rst", "docs/notes.rst", "docs/guide.rst"
    with_notes = NOTES in guide
    was = {f"{old}::usage.rst": "passed", **({f"{notes}::notes.rst": "passed"} if with_notes else {})}
    before = {old: USAGE, **({notes: NOTES} if with_notes else {})}
    restored = {f"{old}::usage.rst": restored}
    seen = judge(before, {new: guide}, was=was, now={f"{new}::guide.rst": "passed"}, restored=restored)
    assert set(seen) == found


@pytest.mark.parametrize(
    ("guide", "now", "asked"),
    [
        (USAGE, "docs/guide.rst::guide.rst", False),
        (USAGE.replace(">>> rows", ">>> count = len\n>>> rows"), "docs/guide.rst::guide.rst", True),
        ("Guide\n\n>>> 1 + 1\n2\n", "docs/guide.rst::guide.rst", True),
        ("Guide\n", f"{T}::test_two", False),  # the suite runs no texts
    ],
)
def test_a_removed_text_is_missed_where_the_target_was_not_run(judge, guide, now, asked):
    seen = judge({"docs/usage.rst": USAGE}, {"docs/guide.rst": guide}, now={now: "passed"})
    assert [f.effect for f in seen.values()] == (["asks"] if asked else [])


LONG = 'class TestF:\n    def test_two(self):\n        assert f("""\n            a: {:w}\n            b: {:d}\n        """) == 7\n'
SHORT = 'def test_two():\n    assert f("""\n        a: {:w}\n        b: {:d}\n    """) == 7\n'


@pytest.mark.parametrize(
    ("merged", "restored", "found"),
    [
        (SHORT, "passed", set()),
        (SHORT, "failed", {"TEST_REMOVED"}),
        (SHORT.replace("== 7", "!= 7"), "passed", {"TEST_REMOVED"}),
        (SHORT.replace("{:d}", "{:x}").replace("{:w}", "{:y}"), "passed", {"TEST_REMOVED"}),
    ],
)
def test_long_texts_move_with_the_indentation_of_their_test(judge, merged, restored, found):
    was, now = {f"{T}::TestF::test_two": "passed"}, {f"{T}::test_two": "passed"}
    seen = judge({T: LONG}, {T: merged}, was=was, now=now, restored={f"{T}::TestF::test_two": restored})
    assert set(seen) == found


ONLY_THEN = "import re\n\ndef test_two():\n    try:\n        re.compile('x')\n    except AssertionError:\n        assert f(2) == 7\n"


@pytest.mark.parametrize(
    ("base", "effect"),
    [
        (ONLY_THEN, "asks"),
        (ONLY_THEN.replace("re.compile('x')", "assert f(1) == 2"), "blocks"),
        (ONLY_THEN.replace("re.compile('x')", "check_all(f)"), "blocks"),
        (TWO.replace("test_one", "test_other"), "blocks"),
    ],
)
def test_a_test_that_asserted_only_after_a_failure_falls_silent_before_people(judge, base, effect):
    merged = "import pytest\n\n@pytest.mark.skipif(True, reason='old')\ndef test_two():\n    assert f(2) == 7\n"
    was, now = {f"{T}::test_two": "passed"}, {f"{T}::test_two": "skipped"}
    found = judge({T: base}, {T: merged}, was=was, now=now, restored=was)
    assert found["TEST_SILENCED"].effect == effect


HELPER = "def spell(n):\n    if not isinstance(n, int):\n        raise TypeError(n)\n    return str(n)\n"
LOCAL = f"import pytest\nfrom m import f\n\n\n{HELPER}\n\nclass TestSpell:\n    WORD = '2'\n\n    def test_spell(self):\n        assert spell(2) == self.WORD\n        with pytest.raises(TypeError):\n            spell('2')\n"
REST = "from m import f\n\n\ndef test_other():\n    assert f(1) == 2\n"


@pytest.mark.parametrize(
    ("base", "rest", "found"),
    [
        (LOCAL, REST, set()),
        (LOCAL, HELPER + REST, {"TEST_REMOVED"}),  # what it tried is still there
        (LOCAL.replace("str(n)", "str(f(n))"), REST, {"TEST_REMOVED"}),  # the project's code by way of its own
        (LOCAL.replace("spell(2) ==", "f(2) =="), REST, {"TEST_REMOVED"}),
        (LOCAL.replace("str(n)", "open('m.py').read()"), REST, {"TEST_REMOVED"}),
        (LOCAL.replace("TestSpell:", "TestSpell(Shared):"), REST, {"TEST_REMOVED"}),
        (LOCAL.replace("(self)", "(self, client)"), REST, {"TEST_REMOVED"}),
        (LOCAL.replace("WORD = '2'", "WORD = f(2)"), REST, {"TEST_REMOVED"}),
        (LOCAL.replace("    WORD", "    def setup_method(self):\n        f(1)\n\n    WORD"), REST, {"TEST_REMOVED"}),
        (LOCAL.replace("def spell", "@f\ndef spell"), REST, {"TEST_REMOVED"}),
        (LOCAL + "\n\nspell = f\n", REST, {"TEST_REMOVED"}),
    ],
)  # fmt: skip
def test_a_test_of_its_own_modules_function_goes_with_that(judge, base, rest, found):
    gone, other = f"{T}::TestSpell::test_spell", f"{T}::test_other"
    was = {gone: "passed", other: "passed"}
    seen = judge(
        {T: base, "m.py": "f = int"}, {T: rest, "m.py": "f = float"}, was=was, now={other: "passed"}, restored=was
    )
    assert set(seen) == found
    was_red = {gone: "failed", other: "passed"}
    seen = judge(
        {T: base, "m.py": "f = int"}, {T: rest, "m.py": "f = float"}, was=was, now={other: "passed"}, restored=was_red
    )
    assert "TEST_REMOVED" in seen


REFUSED = "import pytest\n\n@pytest.mark.parametrize('value', ['', 0, 'never'])\ndef test_v(value):\n    with pytest.raises(ValueError):\n        f(value)\n"


@pytest.mark.parametrize(
    ("goal", "effect"),
    [
        ("DateTime field: allow timestamp 0.", "asks"),
        ("Make it faster. Zero (0) is to be accepted; 0 was refused. Accept 0 as well.", "asks"),
        ("Do not allow 0.", "blocks"),
        ("Allow 0.5 and 10.", "blocks"),
        ("Allow everything.", "blocks"),
        ("Speed up f for 0.", "blocks"),
    ],
)
def test_a_row_that_demands_to_refuse_what_the_ticket_allows_is_asked_about(judge, goal, effect):
    ids = {f"{T}::test_v[{v}]": "passed" for v in ("", "0", "never")}
    left = {i: o for i, o in ids.items() if "[0]" not in i}
    base, merged = {"m.py": "f = int\n", T: REFUSED}, {"m.py": "f = str\n", T: REFUSED.replace(" 0,", "")}
    runs = {"was": ids, "now": left, "restored": ids | {f"{T}::test_v[0]": "failed"}}
    found = judge(base, merged, **runs, goal=goal)
    assert {c: f.effect.value for c, f in found.items()} == {"PARAMETERS_REMOVED": effect}
    # One that the ticket does not speak of goes along.
    more = {"was": ids, "now": {f"{T}::test_v[]": "passed"}, "restored": runs["restored"]}
    rest = {"m.py": "f = str\n", T: REFUSED.replace(" 0, 'never'", "")}
    assert judge(base, rest, **more, goal=goal)["PARAMETERS_REMOVED"].effect.value == "blocks"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (REFUSED.replace("    with", "    assert value is not None\n    with"), None),
        (
            REFUSED.replace(
                "        f(value)", "        f(value)\n    with pytest.warns(UserWarning):\n        f(value)"
            ),
            None,
        ),
        (REFUSED.replace("with pytest.raises(ValueError):\n        f(value)", "assert f(value) is None"), None),
        (REFUSED.replace("with pytest.raises(ValueError)", "with limit(ValueError)"), None),
        (REFUSED, REFUSED.replace("(ValueError)", "(Exception)")),
        (REFUSED, REFUSED.replace("'never'", "'never', 'no'")),
        (REFUSED.replace(" 0,", " (0, 9),"), REFUSED),
    ],
)
def test_a_row_of_a_test_that_demands_more_than_to_refuse_goes_to_a_person(judge, old, new):
    gone = "0-9" if "(0, 9)" in old else "0"
    ids = {f"{T}::test_v[{v}]": "passed" for v in ("", gone, "never")}
    left = {i: o for i, o in ids.items() if f"[{gone}]" not in i}
    left |= {f"{T}::test_v[no]": "passed"} if new and "'no'" in new else {}
    runs = {"was": ids, "now": left, "restored": ids | {f"{T}::test_v[{gone}]": "failed"}}
    after = (new or old).replace(" 0,", "")
    found = judge({"m.py": "f = int\n", T: old}, {"m.py": "f = str\n", T: after}, **runs, goal="allow timestamp 0")
    assert found["PARAMETERS_REMOVED"].effect.value == "asks"


PLAIN = "import pytest\nfrom m import delta\n\n@pytest.mark.parametrize('given, told', [(90, 'a minute'), (3600, 'an hour')])\ndef test_v(given, told):\n    assert delta(given) == told\n"


@pytest.mark.parametrize(
    ("goal", "effect"),
    [
        ("delta used to round down. We want to round to the nearest.", "blocks"),
        ("Let delta round up instead of down", "blocks"),
        ("delta is slow. It used to be faster.", "blocks"),
        ("Make delta faster", "blocks"),
        ("delta2 used to round down", "blocks"),
    ],
)
def test_the_words_of_a_ticket_free_no_row(judge, goal, effect):
    ids = {f"{T}::test_v[{v}]": "passed" for v in ("90-a minute", "3600-an hour")}
    new = PLAIN.replace("(90, 'a minute')", "(89, 'a minute'), (91, '2 minutes')")
    now = {f"{T}::test_v[{v}]": "passed" for v in ("89-a minute", "91-2 minutes", "3600-an hour")}
    restored = ids | {f"{T}::test_v[90-a minute]": "failed"}
    probed = now | {f"{T}::test_v[91-2 minutes]": "failed"}
    base, merged = (
        {"m.py": "def delta(n):\n    return n\n", T: PLAIN},
        {"m.py": "def delta(n):\n    return str(n)\n", T: new},
    )
    found = judge(base, merged, was=ids, now=now, restored=restored, probed=probed, goal=goal)
    assert {c: f.effect.value for c, f in found.items()} == {"PARAMETERS_REMOVED": effect}
    # Where no new row shows the new behaviour, it is a removal whatever the ticket says.
    found = judge(base, merged, was=ids, now=now, restored=restored, probed=now, goal=goal)
    assert found["PARAMETERS_REMOVED"].effect.value == "blocks"


LOCALES = "import pytest\nfrom m import word\n\n@pytest.mark.parametrize('place, told', [('es', 'mil'), ('it', 'mille')])\ndef test_words(place, told):\n    try:\n        start(place)\n    except FileNotFoundError:\n        pytest.skip('no files')\n    assert word(place) == told\n"


@pytest.mark.parametrize(
    ("new", "effect"),
    [
        (LOCALES.replace("test_words", "test_places"), "asks"),
        (LOCALES.replace("test_words", "test_places").replace("('it'", "('fr', 'mille'), ('it'"), "asks"),
        (LOCALES.replace("test_words", "test_places").replace(", ('it', 'mille')", ""), "blocks"),
        (LOCALES.replace("test_words", "test_places").replace("'mille'", "'mila'"), "blocks"),
        (
            LOCALES.replace("test_words", "test_places").replace("    try:", "    pytest.skip('slow')\n    try:"),
            "blocks",
        ),
        (
            LOCALES.replace("test_words", "test_places").replace("@pytest", "@pytest.mark.skip\n@pytest"),
            "blocks",
        ),
    ],
)
def test_what_is_skipped_for_where_it_runs_under_another_name_goes_to_a_person(judge, new, effect):
    ids = {f"{T}::test_words[{v}]": "skipped" for v in ("es-mil", "it-mille")}
    now = {f"{T}::test_places[{v}]": "skipped" for v in ("es-mil", "it-mille")}
    base, merged = {"m.py": "word = int\n", T: LOCALES}, {"m.py": "word = str\n", T: new}
    found = judge(base, merged, was=ids, now=now, restored=ids)
    assert [(c, f.effect.value) for c, f in found.items()] == [("TEST_SILENCED", effect)]
    ran = dict.fromkeys(ids, "passed")
    assert "TEST_SILENCED" in judge(base, merged, was=ran, now=now, restored=ran)


def test_a_row_that_stood_there_twice_goes(judge):
    twice = ROWS.replace("(2, 7)]", "(2, 7), (1, 2)]")
    ids = {f"{T}::test_v[{v}]": "passed" for v in ("1-20", "2-7", "1-21")}
    left = {f"{T}::test_v[{v}]": "passed" for v in ("1-2", "2-7")}
    code = {"m.py": "f = int\n"}
    assert not judge({**code, T: twice}, {**code, T: ROWS}, was=ids, now=left, restored=ids)
    one = ROWS.replace(", (2, 7)", "")
    assert set(judge({**code, T: twice}, {**code, T: one}, was=ids, now={f"{T}::test_v[1-2]": "passed"}, restored=ids)) == {"PARAMETERS_REMOVED"}  # fmt: skip
    # The same value in another list is another row.
    crossed = ROWS.replace("'a, b', [(1, 2), (2, 7)])", "'a', [1, 2])\n@pytest.mark.parametrize('b', [1, 3])")
    all_of = {f"{T}::test_v[{b}-{a}]": "passed" for a in (1, 2) for b in (1, 3)}
    fewer = {i: o for i, o in all_of.items() if "[3" in i}
    assert set(judge({**code, T: crossed}, {**code, T: crossed.replace("[1, 3]", "[3]")}, was=all_of, now=fewer, restored=all_of)) == {"PARAMETERS_REMOVED"}  # fmt: skip
    failing = ids | {f"{T}::test_v[1-21]": "failed"}
    assert judge({**code, T: twice}, {**code, T: ROWS}, was=ids, now=left, restored=failing)


def test_rows_that_a_new_one_shifts_do_not_make_an_exchange_worse(judge):
    rows = "import pytest\n\n@pytest.mark.parametrize('a, b', [(1, 2), (3, 7), (Big(), 9)])\ndef test_v(a, b):\n    assert f(a) == b\n"
    more = rows.replace("(3, 7)", "(2, 5), (3, 8)")
    ids = {f"{T}::test_v[{v}]": "passed" for v in ("1-2", "3-7", "a2-9")}
    now = {f"{T}::test_v[{v}]": "passed" for v in ("1-2", "2-5", "3-8", "a3-9")}
    runs = {"was": ids, "now": now, "restored": ids | {f"{T}::test_v[3-7]": "failed"}}
    base, merged = {"m.py": "f = int\n", T: rows}, {"m.py": "f = str\n", T: more}
    assert set(judge(base, merged, **runs)) == {"EXPECTATION_FOLLOWS_CODE"}
    # Another input in its place is another matter.
    assert set(judge(base, {"m.py": "f = str\n", T: more.replace("(3, 8)", "(4, 8)")}, **runs)) == {
        "PARAMETERS_REMOVED"
    }
    assert set(judge(base, merged, **runs | {"was": ids | {f"{T}::test_v[3-7]": "failed"}})) == {"PARAMETERS_REMOVED"}
