"""Tests that went along with the code: a renamed name, a removed private part; beside them what hides behind such words."""

from __future__ import annotations

import pytest

from gatekeeper.domain.verdict import Effect

T = "tests/test_a.py"
ID = f"{T}::test_two"
RUNS = {"was": {ID: "passed"}, "now": {ID: "passed"}, "restored": {ID: "failed"}}
CODE = "def total(a, b):\n    return a + b\n"
BASE = "from m import total\n\n\ndef test_two():\n    assert total(2, 3) == 5\n"


def test_a_function_renamed_in_code_and_test_explains_itself(judge):
    new = BASE.replace("total", "summed")
    code = CODE.replace("total", "summed")
    detail = "ImportError: cannot import name 'total' from 'm'"
    assert not judge({T: BASE, "m.py": CODE}, {T: new, "m.py": code}, **RUNS, detail=detail)


@pytest.mark.parametrize(
    ("new", "code"),
    [
        # another number on the way
        (BASE.replace("total", "summed").replace("== 5", "== 6"), CODE.replace("total", "summed").replace("a + b", "a * b")),
        # to a function that was there before
        (BASE.replace("total", "easy"), "def easy(a, b):\n    return 5\n"),
        # an assertion fewer
        (BASE.replace("total", "summed").replace("assert total", "total").replace("assert summed(2, 3) == 5", "summed(2, 3)"), CODE.replace("total", "summed")),
        # a way out before the assertion
        (BASE.replace("total", "summed").replace("    assert", "    return\n    assert"), CODE.replace("total", "summed")),
    ],
)  # fmt: skip
def test_more_than_the_name_goes_to_a_person(judge, new, code):
    before = {T: BASE, "m.py": CODE + ("\n\ndef easy(a, b):\n    return 5\n" if "easy" in new else "")}
    found = judge(before, {T: new, "m.py": code}, **RUNS, detail="ImportError: cannot import name 'total' from 'm'")
    assert [f.effect for f in found.values()] == [Effect.ASKS]


def test_a_renaming_is_no_excuse_for_a_test_that_failed_before(judge):
    new, code = BASE.replace("total", "summed"), CODE.replace("total", "summed")
    runs = {"was": {ID: "failed"}, "now": {ID: "passed"}, "restored": {ID: "failed"}}
    assert set(judge({T: BASE, "m.py": CODE}, {T: new, "m.py": code}, **runs)) == {"EXPECTATION_BENT"}


PRIVATE = "from pkg._cells import pack\n\n\ndef test_two():\n    assert pack(1) == '1'\n"
PACK = "def pack(n):\n    return str(n)\n"
GONE = {"was": {ID: "passed", f"{T}::test_other": "passed"}, "now": {f"{T}::test_other": "passed"}}
OTHER = "\n\ndef test_other():\n    assert 1 + 1 == 2\n"
LOST = "ImportError: cannot import name 'pack' from 'pkg._cells'"


def _removed(judge, test, module, detail, *, restored="failed", after="def unpack(n):\n    return n\n", was="passed"):
    runs = {
        **GONE,
        "was": {ID: was, f"{T}::test_other": "passed"},
        "restored": {ID: restored, f"{T}::test_other": "passed"},
    }
    before = {T: test + OTHER, module: PACK, "pkg/__init__.py": ""}
    return judge(before, {T: OTHER, module: after, "pkg/__init__.py": ""}, **runs, detail=detail)


def test_the_test_of_a_private_part_may_go_with_it(judge):
    assert not _removed(judge, PRIVATE, "pkg/_cells.py", LOST)


def test_the_test_of_a_public_part_that_went_goes_to_a_person(judge):
    found = _removed(judge, PRIVATE.replace("_cells", "cells"), "pkg/cells.py", LOST.replace("_cells", "cells"))
    assert found["TEST_FOLLOWS_INTERFACE"].effect is Effect.ASKS


@pytest.mark.parametrize(
    ("detail", "after", "was"),
    [
        ("AssertionError: assert '2' == '1'", "def pack(n):\n    return str(n + 1)\n", "passed"),  # it broke
        (LOST, PACK, "passed"),  # the part is still there
        (LOST, "def unpack(n):\n    return n\n", "failed"),  # it was red before
        ("E   DeprecationWarning: soon", PACK + "\n\ndef more():\n    pass\n", "passed"),  # nothing in the code warns
    ],
)
def test_a_test_that_hides_a_fault_may_not_go(judge, detail, after, was):
    found = _removed(judge, PRIVATE, "pkg/_cells.py", detail, after=after, was=was)
    assert found["TEST_REMOVED"].effect is Effect.BLOCKS


def test_a_test_of_what_the_code_now_warns_against_goes_to_a_person(judge):
    after = "import warnings\n\n\ndef pack(n):\n    warnings.warn('pack is deprecated', DeprecationWarning)\n    return str(n)\n"
    found = _removed(judge, PRIVATE, "pkg/_cells.py", "E   DeprecationWarning: pack is deprecated", after=after)
    assert found["TEST_FOLLOWS_INTERFACE"].effect is Effect.ASKS


def test_a_module_that_stumbled_over_somebody_elses_package_may_be_mended(judge):
    old = "import py\n\n\n@py.test.mark.skipif(False, reason='')\ndef test_two():\n    assert 1 + 1 == 2\n"
    new = old.replace("import py\n", "import pytest\n").replace("py.test.mark", "pytest.mark")
    runs = {"was": {T: "failed"}, "now": {ID: "passed"}, "restored": {T: "failed"}}
    assert not judge({T: old}, {T: new}, **runs, detail="AttributeError: module 'py' has no attribute 'test'")
    # The project's own module is no such thing.
    own = judge({T: old, "py.py": ""}, {T: new, "py.py": ""}, **runs, detail="module 'py' has no attribute 'test'")
    assert set(own) == {"EXPECTATION_BENT"}


ROWS = "import pytest\nfrom m import f\n\n\n@pytest.mark.parametrize('a,b', [(1, 'x'), (2, 'y')])\ndef test_two(a, b):\n    assert f(a) == b\n"
ROW_RUNS = {
    "was": {f"{ID}[1-x]": "passed", f"{ID}[2-y]": "passed"},
    "restored": {f"{ID}[1-x]": "passed", f"{ID}[2-y]": "passed"},
}


def test_rows_that_gain_a_parameter_explain_themselves(judge):
    new = ROWS.replace("'a,b'", "'a,how,b'").replace(
        "(1, 'x'), (2, 'y')", "(1, None, 'x'), (2, True, 'y'), (3, None, 'z')"
    )
    now = {f"{ID}[1-None-x]": "passed", f"{ID}[2-True-y]": "passed", f"{ID}[3-None-z]": "passed"}
    assert not judge({T: ROWS}, {T: new.replace("(a, b)", "(a, how, b)")}, **ROW_RUNS, now=now)


def test_rows_that_lose_a_value_on_the_way_do_not(judge):
    new = ROWS.replace("'a,b'", "'a,how,b'").replace(
        "(1, 'x'), (2, 'y')", "(1, None, 'x'), (5, True, 'q'), (3, None, 'z')"
    )
    now = {f"{ID}[1-None-x]": "passed", f"{ID}[5-True-q]": "passed", f"{ID}[3-None-z]": "passed"}
    found = judge({T: ROWS}, {T: new.replace("(a, b)", "(a, how, b)")}, **ROW_RUNS, now=now)
    assert found["PARAMETERS_REMOVED"].effect is Effect.BLOCKS


SHARED = "import pytest\nfrom pkg.core import pack\n\n\nclass TestPack:\n    def test_pack(self):\n        assert pack(1) == '1'\n"
HEIRS = "from pkg.old import Old\nfrom test_shared import TestPack\n\n\nclass TestOld(TestPack):\n    maker = Old\n\n    def test_old(self):\n        assert Old(1).n == 1\n"
HOME, LEFT = "tests/test_shared.py", "tests/test_old.py"


def _with_heirs(judge, *, home: str = "passed", warned: str = "No module named 'pkg.old'"):
    """A module of tests that goes with the code it is for: a class built on another module's, and that one taken over."""
    ids = {f"{LEFT}::TestOld::test_old", f"{LEFT}::TestOld::test_pack", f"{LEFT}::TestPack::test_pack"}
    was = {**dict.fromkeys(ids, "passed"), f"{HOME}::TestPack::test_pack": "passed"}
    restored = {f"{HOME}::TestPack::test_pack": "passed", LEFT: "failed"}
    before = {HOME: SHARED, LEFT: HEIRS, "pkg/core.py": PACK, "pkg/old.py": "class Old:\n    def __init__(self, n):\n        self.n = n\n"}  # fmt: skip
    after = {HOME: SHARED, "pkg/core.py": PACK}
    return judge(before, after, was=was, now={f"{HOME}::TestPack::test_pack": home}, restored=restored, detail=warned)


def test_inherited_tests_go_with_what_their_class_is_for(judge):
    found = _with_heirs(judge)
    assert {f.effect for f in found.values()} == {Effect.ASKS}
    assert set(found) == {"TEST_FOLLOWS_INTERFACE"}


def test_tests_that_were_only_taken_over_are_missed_where_their_own_module_no_longer_passes(judge):
    assert _with_heirs(judge, home="skipped")["TEST_REMOVED"].effect is Effect.BLOCKS


def test_inherited_tests_that_failed_for_another_reason_are_missed(judge):
    assert _with_heirs(judge, warned="AssertionError: 1 == 2")["TEST_REMOVED"].effect is Effect.BLOCKS


def test_a_row_that_ran_nowhere_does_not_keep_the_others_from_going(judge):
    test = "import pytest\nfrom pkg.cells import pack\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_pack(n):\n    assert pack(n) == str(n)\n"
    one, two = f"{T}::test_pack[1]", f"{T}::test_pack[2]"
    before = {T: test + OTHER, "pkg/cells.py": PACK, "pkg/__init__.py": ""}
    after = {T: OTHER, "pkg/cells.py": "def unpack(n):\n    return n\n", "pkg/__init__.py": ""}
    lost = LOST.replace("_cells", "cells")
    runs = {"was": {one: "passed", two: "skipped", f"{T}::test_other": "passed"}, "now": {f"{T}::test_other": "passed"}}
    found = judge(
        before, after, **runs, restored={one: "failed", two: "skipped", f"{T}::test_other": "passed"}, detail=lost
    )
    assert found["TEST_FOLLOWS_INTERFACE"].effect is Effect.ASKS
    found = judge(
        before, after, **runs, restored={one: "failed", two: "passed", f"{T}::test_other": "passed"}, detail=lost
    )
    assert found["TEST_REMOVED"].effect is Effect.BLOCKS


ENDING = "import warnings\n\n\ndef pack(n):\n    warnings.warn('pack ends', DeprecationWarning)\n    return str(n)\n"


@pytest.mark.parametrize(
    ("code", "goal", "effects"),
    [
        (ENDING, "Remove deprecated code.", []),
        (ENDING, "Make unpack faster.", [Effect.ASKS]),
        (PACK, "Remove deprecated code.", [Effect.ASKS]),
        (ENDING + "\n\ndef store(n):\n    return n\n", "Remove deprecated code.", []),
    ],
)
def test_the_test_of_what_warned_of_its_end_goes_with_it_as_asked(judge, code, goal, effects):
    test = PRIVATE.replace("_cells", "cells")
    runs = {**GONE, "was": {ID: "passed", f"{T}::test_other": "passed"}, "restored": {ID: "failed", f"{T}::test_other": "passed"}}  # fmt: skip
    before = {T: test + OTHER, "pkg/cells.py": code, "pkg/__init__.py": ""}
    after = {T: OTHER, "pkg/cells.py": "def unpack(n):\n    return n\n", "pkg/__init__.py": ""}
    found = judge(before, after, **runs, detail=LOST.replace("_cells", "cells"), goal=goal)
    assert [f.effect for f in found.values()] == effects


@pytest.mark.parametrize(("more", "seen"), [("", []), ("\n\ndef store(n):\n    return n\n", [Effect.ASKS])])
def test_a_module_ends_as_asked_where_all_of_it_had_warned(judge, more, seen):
    test = PRIVATE.replace("_cells", "cells")
    runs = {**GONE, "was": {ID: "passed", f"{T}::test_other": "passed"}, "restored": {T: "failed"}}
    before = {T: test + OTHER, "pkg/cells.py": ENDING + more, "pkg/__init__.py": "", "pkg/a.py": "x = 1\n"}
    after = {T: OTHER, "pkg/__init__.py": "", "pkg/a.py": "x = 2\n"}
    found = judge(before, after, **runs, detail="No module named 'pkg.cells'", goal="Remove deprecated code.")
    assert [f.effect for f in found.values()] == seen


WAY = "import warnings\n\n\ndef pack(n, loud=None):\n    if loud is None:\n        warnings.warn('pack() without loud is deprecated', DeprecationWarning)\n    return str(n)\n"
STERN = "def pack(n, loud):\n    return str(n)\n"
DEMANDS = "import pytest\nfrom pkg.cells import pack\n\n\ndef test_two():\n    with pytest.warns(DeprecationWarning):\n        assert pack(1) == '1'\n"


@pytest.mark.parametrize(
    ("test", "after", "goal", "effects"),
    [
        (DEMANDS, STERN, "Drop support for pack() without loud.", []),
        (DEMANDS, STERN, "Make pack faster.", [Effect.ASKS]),
        (DEMANDS, WAY.replace("str(n)", "str(n + 1)"), "Drop support for pack() without loud.", [Effect.BLOCKS]),
        (DEMANDS.replace("pytest.warns(DeprecationWarning)", "open('x')"), STERN, "Drop support for pack() without loud.", [Effect.BLOCKS]),
    ],
)  # fmt: skip
def test_the_test_of_a_way_that_warned_goes_with_it(judge, test, after, goal, effects):
    runs = {**GONE, "was": {ID: "passed", f"{T}::test_other": "passed"}, "restored": {ID: "failed", f"{T}::test_other": "passed"}}  # fmt: skip
    before = {T: test + OTHER, "pkg/cells.py": WAY, "pkg/__init__.py": ""}
    now = {T: OTHER, "pkg/cells.py": after, "pkg/__init__.py": ""}
    found = judge(before, now, **runs, detail="TypeError: missing 1 argument: 'loud'", goal=goal)
    assert [f.effect for f in found.values()] == effects


REFUSES = "import pytest\nfrom m import match\n\n\n@pytest.mark.parametrize('text', ['', '1'])\ndef test_refused(text):\n    with pytest.raises(ValueError):\n        match(text)\n"
ACCEPTS = REFUSES.replace("['', '1']", "['']") + "\n\ndef test_equal():\n    assert match('1') is True\n"
MATCH = "def match(text):\n    raise ValueError(text)\n"
EMPTY, ONE, NEW = f"{T}::test_refused[]", f"{T}::test_refused[1]", f"{T}::test_equal"


@pytest.mark.parametrize(
    ("new", "was", "probed", "effect"),
    [
        (ACCEPTS, "passed", "failed", Effect.ASKS),
        (ACCEPTS, "passed", "passed", Effect.BLOCKS),  # the new test proves no new behaviour
        (ACCEPTS, "failed", "failed", Effect.BLOCKS),  # it was red before
        (ACCEPTS.replace("match('1') is True", "True"), "passed", "failed", Effect.BLOCKS),  # of another function
    ],
)
def test_a_row_that_new_behaviour_contradicts_goes_to_a_person(judge, new, was, probed, effect):
    runs = {
        "was": {EMPTY: "passed", ONE: was},
        "now": {EMPTY: "passed", NEW: "passed"},
        "restored": {EMPTY: "passed", ONE: "failed"},
        "probed": {EMPTY: "passed", NEW: probed},
    }
    after = "def match(text):\n    if not text:\n        raise ValueError(text)\n    return True\n"
    found = judge({T: REFUSES, "m.py": MATCH}, {T: new, "m.py": after}, **runs, detail="DID NOT RAISE")
    assert found["PARAMETERS_REMOVED"].effect is effect
    whole = "from m import match\n\n\ndef test_refused():\n    assert match('1') is None\n"
    gone = f"{T}::test_refused"
    runs = {"was": {gone: was}, "now": {NEW: "passed"}, "restored": {gone: "failed"}, "probed": {NEW: probed}}
    rest = "from m import match\n" + new.split("\n\n\n")[-1]
    found = judge({T: whole, "m.py": MATCH}, {T: rest, "m.py": after}, **runs, detail="assert True is None")
    assert [f.effect for c, f in found.items() if c == "TEST_REMOVED"] == [effect]


FORMER = "def test_refused():\n    assert match('number .5') is None\n"
GROWN = "from m import match\n\n\ndef test_numbers():\n    assert match('number 1') == 1\n"


@pytest.mark.parametrize(
    ("more", "probed", "effect"),
    [
        ("    assert match('number .5') == 0.5\n", "failed", Effect.ASKS),
        ("    assert match('number .5') == 0.5\n", "passed", Effect.BLOCKS),
        ("    assert match('number .7') == 0.7\n", "failed", Effect.BLOCKS),  # another case
    ],
)
def test_a_case_that_went_into_an_older_test_goes_to_a_person(judge, more, probed, effect):
    grown, gone = f"{T}::test_numbers", f"{T}::test_refused"
    runs = {
        "was": {grown: "passed", gone: "passed"},
        "now": {grown: "passed"},
        "restored": {grown: "passed", gone: "failed"},
        "probed": {grown: probed},
    }
    before, after = (
        {T: GROWN + "\n\n" + FORMER, "m.py": MATCH},
        {T: GROWN + more, "m.py": "def match(text):\n    return 1\n"},
    )
    found = judge(before, after, **runs, detail="assert 0.5 is None")
    assert found["TEST_REMOVED"].effect is effect


CLASS = "from pkg._cells import _round, total\n\n\nclass TestCore:\n    def test_round(self):\n        assert _round(1.2) == 1\n\n    def test_total(self):\n        assert total([2, 3]) == 5\n"
CELLS = "def _round(n):\n    return int(n)\n\n\ndef total(rows):\n    return _round(sum(rows))\n"
ENDS = CELLS.replace("_round", "rounded").replace(
    "    return int", "    import warnings\n    warnings.warn('ends', DeprecationWarning)\n    return int"
)
WITH_SET_UP = CLASS.replace("class TestCore:\n", "class TestCore:\n    def setup_method(self):\n        self.one = _round(1.2)\n\n")  # fmt: skip
WITH_HELPER = (
    CLASS.replace("total([2, 3]) == 5", "self.five() == 5") + "\n    def five(self):\n        return _round(5.1)\n"
)


@pytest.mark.parametrize(
    ("test", "code", "effects"),
    [
        (CLASS, CELLS, {Effect.BLOCKS}),  # test_total goes along and has nothing to do with what went
        (CLASS.replace(" _round", " rounded"), ENDS, {Effect.BLOCKS}),
        (CLASS.replace(" _round", " rounded").replace("total([2, 3])", "rounded(5.1)"), ENDS, set()),
        (CLASS.replace("TestCore:", "TestCore(Shared):"), CELLS, {Effect.ASKS}),
        (CLASS.replace("total([2, 3])", "_round(5.1)"), CELLS, set()),
        (WITH_SET_UP, CELLS, {Effect.ASKS}),  # it tries something else of the project with it
        (WITH_HELPER, CELLS, set()),
        (WITH_HELPER.replace("self.five()", "total([2, 3])"), CELLS, {Effect.BLOCKS}),
    ],
)
def test_neighbours_in_a_class_do_not_go_with_the_test_of_a_private_part(judge, test, code, effects):
    one, two, other = f"{T}::TestCore::test_round", f"{T}::TestCore::test_total", f"{T}::test_other"
    gone = "rounded" if "rounded" in code else "_round"
    runs = {"was": dict.fromkeys((one, two, other), "passed"), "now": {other: "passed"}, "restored": {T: "failed"}}
    after = {T: OTHER, "pkg/_cells.py": "def total(rows):\n    return 5\n"}
    found = judge(
        {T: test + OTHER, "pkg/_cells.py": code}, after, **runs,
        detail=f"ImportError: cannot import name '{gone}' from 'pkg._cells'", goal="Remove deprecated code.",
    )  # fmt: skip
    assert {f.effect for f in found.values()} == effects


LEAVES = """import pytest
from pkg.core import _round, total


@pytest.fixture
def order():
    return [20, 30], 45


@pytest.fixture
def rounded():
    return _round(1.2)


def test_round(rounded):
    assert _round(1.2) == rounded


def test_two(order, wanted=45):
    assert total(order[0]) == order[1] == wanted


class TestMore:
    size = 45

    def test_three(self):
        assert total([20, 30]) == self.size
"""
STAYS = LEAVES[: LEAVES.index("@pytest.fixture\ndef rounded")].replace("_round, ", "") + LEAVES[LEAVES.index("def test_two") :]  # fmt: skip


@pytest.mark.parametrize(
    ("test", "more", "asked"),
    [
        (STAYS, {}, False),
        (STAYS.replace("    assert total(order", "    # as ever\n    assert total(order"), {"docs/a.md": "more"}, False),
        (LEAVES.replace("_round, ", "").replace(LEAVES[LEAVES.index("def test_round") : LEAVES.index("def test_two")], ""), {}, True),
        (STAYS.replace("20, 30], 45", "20, 30], 40"), {}, True),
        (STAYS.replace("wanted=45", "wanted=40"), {}, True),
        (STAYS.replace("size = 45", "size = 40"), {}, True),
        (STAYS.replace("def test_two", "async def test_two"), {}, True),
        (STAYS.replace("@pytest.fixture\n", "@pytest.fixture(autouse=True)\n"), {}, True),
        (STAYS.replace("pkg.core", "pkg.easy"), {}, True),
        (STAYS + "\n\ndef test_new():\n    import pkg.core\n    pkg.core.total = sum\n", {}, True),
        (STAYS, {"tests/conftest.py": "import pkg.core\n"}, True),
        (STAYS, {"tests/data.json": "{}"}, True),
    ],
)  # fmt: skip
def test_what_a_private_part_leaves_behind_is_as_it_was(judge, test, more, asked):
    one, two, three = f"{T}::test_round", f"{T}::test_two", f"{T}::TestMore::test_three"
    code = "def _round(n):\n    return int(n)\n\n\ndef total(rows):\n    return _round(sum(rows) * 0.9)\n"
    runs = {"was": dict.fromkeys((one, two, three), "passed"), "now": dict.fromkeys((two, three), "passed")}
    after = {T: test, "pkg/core.py": "def total(rows):\n    return round(sum(rows) * 0.9)\n", **more}
    lost = "ImportError: cannot import name '_round' from 'pkg.core'"
    found = judge({T: LEAVES, "pkg/core.py": code}, after, **runs, restored={T: "failed"}, detail=lost)
    assert ("TEST_FOLLOWS_INTERFACE" in found) is asked, found
    assert asked or not found


MOVING = "def pack(n):\n    rows = [n]\n    return ','.join(str(r) for r in rows)\n"


@pytest.mark.parametrize(
    ("after", "asked"),
    [
        ({"pkg/_engine.py": MOVING.replace("[n]", "[n + 1]")}, True),
        ({"pkg/_engine.py": MOVING.replace("pack", "put")}, True),
        ({"pkg/_engine.py": MOVING.replace("pack", "put").replace("[n]", "[n + 1]")}, True),
        ({"pkg/core.py": "import os\n\n\n" + MOVING}, True),
        ({}, False),
        ({"pkg/_other.py": "class Other:\n    one = 1\n"}, False),
    ],
)
def test_a_private_module_that_only_got_another_name_keeps_its_tests(judge, after, asked):
    base = {T: PRIVATE + OTHER, "pkg/_cells.py": MOVING, "pkg/core.py": "import os\n", "pkg/__init__.py": ""}
    merged = {T: OTHER, "pkg/core.py": "import os\n", "pkg/__init__.py": "", **after}
    detail = "ModuleNotFoundError: No module named 'pkg._cells'"
    found = judge(base, merged, **GONE, restored={T: "failed"}, detail=detail)
    assert [f.effect for f in found.values()] == ([Effect.ASKS] if asked else [])


RECORDS = "import warnings\nfrom pkg.cells import pack\n\n\ndef test_two():\n    with warnings.catch_warnings(record=True) as seen:\n        pack(1)\n    assert any(w.category is DeprecationWarning for w in seen)\n"
MENTIONS = "import warnings\nfrom pkg.cells import pack\n\n\ndef test_two():\n    with warnings.catch_warnings():\n        warnings.simplefilter('error', DeprecationWarning)\n        assert pack(1, '') == '1'\n"
NO_WARNING = "E   Failed: DID NOT WARN. No warnings of type (<class 'DeprecationWarning'>,) were emitted."
NONE_SEEN = ">   assert any(w.category is DeprecationWarning for w in seen)\nE   assert False\nE    +  where False = any(<generator>)"


@pytest.mark.parametrize(
    ("test", "detail", "effects"),
    [
        (DEMANDS, NO_WARNING, []),
        (DEMANDS, "E   AssertionError: assert '2' == '1'", [Effect.BLOCKS]),
        (DEMANDS, "E   AssertionError: assert 'DID NOT WARN' == '1'", [Effect.BLOCKS]),
        (DEMANDS, "E   TypeError: unsupported operand type(s) for +: 'int' and 'str'", [Effect.BLOCKS]),
        (
            DEMANDS,
            f"E   AssertionError: assert '2' == '1'\n\nDuring handling of the above exception\n\n{NO_WARNING}",
            [Effect.BLOCKS],
        ),
        (DEMANDS, f"E   ValueError: 1\n\nDuring handling of the above exception\n\n{NO_WARNING}", []),
        (RECORDS, NONE_SEEN, []),
        (RECORDS, ">   assert pack(1) == '1'\nE   assert '2' == '1'", [Effect.BLOCKS]),
        (RECORDS.replace("assert any", "assert not any"), NONE_SEEN, [Effect.BLOCKS]),
        (MENTIONS, "E   AssertionError: assert '2' == '1'", [Effect.BLOCKS]),
        (MENTIONS, NO_WARNING, [Effect.BLOCKS]),
    ],
)
def test_only_a_test_that_misses_its_warning_goes_with_it(judge, test, detail, effects):
    runs = {**GONE, "was": {ID: "passed", f"{T}::test_other": "passed"}, "restored": {ID: "failed", f"{T}::test_other": "passed"}}  # fmt: skip
    before = {T: test + OTHER, "pkg/cells.py": WAY, "pkg/__init__.py": ""}
    now = {T: OTHER, "pkg/cells.py": STERN, "pkg/__init__.py": ""}
    found = judge(before, now, **runs, detail=detail, goal="Drop support for pack() without loud.")
    assert [f.effect for f in found.values()] == effects


FAR = "tests/test_base.py"
BUILT = "import pytest\n\n\nclass Base:\n    @pytest.fixture\n    def make(self):\n        return list\n\n    @pytest.fixture\n    def made(self, make):\n        return make()\n\n    def test_base(self, made):\n        assert made\n"
OVER = "import pytest\nfrom tests.test_base import Base\nfrom pkg.cells import pack\n\n\nclass TestPack(Base):\n    @pytest.fixture\n    def make(self):\n        return pack\n\n    def test_own(self, made):\n        assert made\n"


@pytest.mark.parametrize(
    ("test", "base", "effects"),
    [
        (OVER, BUILT, set()),
        (OVER.replace("def test_own(self, made)", "def test_own(self, tmp_path)").replace("made\n", "tmp_path\n"), BUILT, {Effect.ASKS}),
        (OVER, BUILT.replace("def made(self, make)", "def made(self)").replace("make()", "[1]"), {Effect.ASKS}),
        (OVER.replace("def make(", "def other("), BUILT, {Effect.ASKS}),
    ],
)  # fmt: skip
def test_what_a_class_hands_to_those_it_is_built_on_counts_for_its_tests(judge, test, base, effects):
    own, other = f"{T}::TestPack::test_own", f"{T}::test_other"
    runs = {"was": {own: "passed", other: "passed"}, "now": {other: "passed"}, "restored": {T: "failed"}}
    before = {T: test + OTHER, FAR: base, "pkg/cells.py": ENDING, "pkg/__init__.py": ""}
    after = {T: OTHER, FAR: base, "pkg/cells.py": "def unpack(n):\n    return n\n", "pkg/__init__.py": ""}
    found = judge(before, after, **runs, detail=LOST.replace("_cells", "cells"), goal="Remove deprecated code.")
    assert {f.effect for f in found.values()} == effects


STEP = "LAST = 1\n\n\ndef _next(text):\n    return text + '1'\n\n\ndef bump(text):\n    return _next(text)\n\n\nclass Shop:\n    pass\n"
IN_CLASS = "class Shop:\n    @staticmethod\n    def _next(text):\n        return text + '1'\n\n    def bump(self, text):\n        return self._next(text)\n"
STEPS = "from m import Shop\n\n\ndef test_two():\n    from m import _next\n\n    assert _next('a') == 'a1'\n"
STEPS_NOW = "from m import Shop\n\n\ndef test_two():\n    assert Shop._next('a') == 'a1'\n"
NO_NEXT = "ImportError: cannot import name '_next' from 'm'"


@pytest.mark.parametrize("old", [STEPS, STEPS.replace("    from m import _next\n\n", "").replace("import Shop", "import Shop, _next")])  # fmt: skip
def test_a_private_function_may_be_called_in_the_class_that_has_it_now(judge, old):
    assert not judge({T: old, "m.py": STEP}, {T: STEPS_NOW, "m.py": IN_CLASS}, **RUNS, detail=NO_NEXT)


@pytest.mark.parametrize(
    ("now", "code"),
    [
        (STEPS_NOW.replace("'a1'", "'a2'"), IN_CLASS),
        (STEPS_NOW.replace("_next('a')", "_next('b')"), IN_CLASS),
        (STEPS_NOW.replace("assert Shop", "Shop"), IN_CLASS),
        # a class of the test's own, or by another way
        (STEPS_NOW.replace("from m import Shop", "class Shop:\n    _next = {'a': 'a1'}.get"), IN_CLASS),
        (STEPS_NOW.replace("from m import Shop", "from fakes import Shop"), IN_CLASS),
        # another class has it
        (STEPS_NOW.replace("Shop", "Fake"), IN_CLASS + "\n\nclass Fake:\n    @staticmethod\n    def _next(text):\n        return 'a1'\n"),
        # the code does not call it, or has the function still
        (STEPS_NOW, IN_CLASS.replace("self._next(text)", "text")),
        (STEPS_NOW, "def _next(text):\n    return text\n\n\n" + IN_CLASS),
        # it does something else there, or something else stands in its place
        (STEPS_NOW, IN_CLASS.replace("text + '1'", "'a1'")),
        (STEPS_NOW, IN_CLASS + "\n\nShop._next = staticmethod('{}1'.format)\n"),
        (STEPS_NOW, IN_CLASS + "\n\nShop = type('Shop', (), {'_next': 'a1'.strip})\n"),
        (STEPS_NOW, IN_CLASS.replace("class Shop", "@fake\nclass Shop")),
        (STEPS_NOW, IN_CLASS.replace("    def bump", "    _next = str\n\n    def bump")),
        (STEPS_NOW, IN_CLASS + "\n\nif True:\n    class Shop:\n        _next = str\n"),
        # it is public
        (STEPS_NOW.replace("_next", "step"), IN_CLASS.replace("_next", "step")),
    ],
)  # fmt: skip
def test_more_than_the_way_to_a_private_function_goes_to_a_person(judge, now, code):
    base = {T: STEPS, "m.py": STEP, "fakes.py": "class Shop:\n    _next = str\n"}
    if "step" in now:
        base = {p: s.replace("_next", "step") for p, s in base.items()}
    found = judge(base, {**base, T: now, "m.py": code}, **RUNS, detail=NO_NEXT)
    assert Effect.ASKS in {f.effect for f in found.values()}


ORDERED = "from m import read_list, total\n\n\ndef test_two():\n    assert read_list('1,2') == [1, 2]\n\n\ndef test_other():\n    assert 1 + 1 == 2\n"
LEFT_OVER = "from m import total\n\n\ndef test_other():\n    assert 1 + 1 == 2\n"
BOTH = "def read_list(text):\n    return [int(n) for n in text.split(',')]\n\n\ndef total(text):\n    return sum(read_list(text))\n"
INLINE = "def total(text):\n    return sum(int(n) for n in text.split(','))\n"


@pytest.mark.parametrize(
    "goal",
    [
        "Speed up total",
        "Make things private:\n\n* Remove read_list and integrate it into total\n* Rework tests",
        "Remove the function `read_list()`.",
        "Do not remove read_list",
    ],
)
def test_the_words_of_a_ticket_free_no_test(judge, goal):
    runs = {**GONE, "restored": {ID: "failed", f"{T}::test_other": "passed"}}
    detail = "ImportError: cannot import name 'read_list' from 'm'"
    found = judge({T: ORDERED, "m.py": BOTH}, {T: LEFT_OVER, "m.py": INLINE}, **runs, detail=detail, goal=goal)
    assert set(found) == {"TEST_FOLLOWS_INTERFACE"}


def test_a_test_that_tries_more_than_what_was_ordered_to_go_is_asked_about(judge):
    runs = {**GONE, "restored": {ID: "failed", f"{T}::test_other": "passed"}}
    more = ORDERED.replace("== [1, 2]", "== [1, 2]\n    assert total('1,2') == 3")
    detail = "ImportError: cannot import name 'read_list' from 'm'"
    found = judge(
        {T: more, "m.py": BOTH}, {T: LEFT_OVER, "m.py": INLINE}, **runs, detail=detail, goal="Remove read_list"
    )
    assert set(found) == {"TEST_FOLLOWS_INTERFACE"}


def test_a_private_function_may_read_in_its_class_what_moved_along(judge):
    step = "LAST = 1\n_END = '1'\n" + STEP.replace("text + '1'", "text + _END").removeprefix("LAST = 1\n")
    moved = IN_CLASS.replace("@staticmethod\n    def _next(text):\n        return text + '1'", "@classmethod\n    def _next(cls, text):\n        return text + cls._END").replace("class Shop:\n", "class Shop:\n    _END = '1'\n\n")  # fmt: skip
    assert not judge({T: STEPS, "m.py": step}, {T: STEPS_NOW, "m.py": moved}, **RUNS, detail=NO_NEXT)
