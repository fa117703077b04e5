"""Tests that go, or learn to expect a warning, with an end that the ticket asked to announce or to carry out."""

from __future__ import annotations

import pytest

from gatekeeper.domain.verdict import Effect

T = "tests/test_a.py"
OLD, NEW, CASE = f"{T}::test_two", f"{T}::test_other", f"{T}::TestPack::test_two"
OTHER = "\n\ndef test_other():\n    assert 1 + 1 == 2\n"
CODE = "class Pack:\n    def put(self, n):\n        return n\n\n\ndef store(n):\n    return str(n)\n"
WARN = "warnings.warn('Pack is deprecated, use store.', DeprecationWarning, stacklevel=2)"
INIT = f"    def __init__(self) -> None:\n        {WARN}\n        super().__init__()\n\n"
ENDS = "import warnings\n\n\n" + CODE.replace("class Pack:\n", f"class Pack:\n{INIT}")
TEST = "import pkg\n\n\ndef test_two():\n    assert pkg.Pack().put(2) == 2\n"
SAID = "E       DeprecationWarning: Pack is deprecated, use store."
ASKED = "Deprecate Pack in favour of store."


def gone(judge, test, code, goal=ASKED, detail=SAID, *, old_code=CODE, others=None, old=OLD):
    """Effects of a change that takes `test` away and makes the code `code`."""
    runs = {
        "was": {old: "passed", NEW: "passed"},
        "now": {NEW: "passed"},
        "restored": {old: "failed", NEW: "passed"},
    }
    before = {T: test + OTHER, "pkg/__init__.py": old_code, **{p: rows[0] for p, rows in (others or {}).items()}}
    after = {T: OTHER, "pkg/__init__.py": code, **{p: rows[1] for p, rows in (others or {}).items()}}
    found = judge(before, after, **runs, detail=detail, goal=goal)
    return [f.effect for f in found.values()]


def test_the_test_of_what_the_ticket_deprecates_goes_where_nothing_but_the_warning_came(judge):
    assert gone(judge, TEST, ENDS) == []
    assert gone(judge, TEST, ENDS, "Mark pkg.Pack as deprecated.") == []
    decorated = "from warnings import deprecated\n\n\n" + CODE.replace("class Pack", "@deprecated('Pack is deprecated, use store.')\nclass Pack")  # fmt: skip
    assert gone(judge, TEST, decorated) == []
    notes = {"CHANGES.rst": ("1.0\n", "1.1: Pack is deprecated.\n")}
    assert gone(judge, TEST, ENDS, others=notes) == []


@pytest.mark.parametrize(
    ("test", "code", "goal", "detail"),
    [
        (TEST, ENDS.replace("return n\n", "return n + 1\n"), ASKED, SAID),  # broken under the cover of the warning
        (TEST, ENDS.replace("return str(n)", "return n"), ASKED, SAID),  # so is its neighbour
        (TEST, ENDS.replace("super().__init__()", "self.n = 1"), ASKED, SAID),
        (TEST, ENDS.replace("'Pack is deprecated, use store.'", "f'Pack is deprecated {drop(self)}'"), ASKED, SAID),
        (TEST, ENDS.replace("import warnings", "import loud as warnings"), ASKED, SAID),
        (TEST, ENDS, "Deprecate store, use Pack.", SAID),  # the wrong one of the two
        (TEST, ENDS, "Do not deprecate Pack.", SAID),
        (TEST, ENDS, "Deprecate Pack; until 2.0 it works as it does.", SAID),  # so do its tests
        (TEST, ENDS, "Speed up the deprecated Pack.", SAID),
        (TEST, ENDS, "Make store faster.", SAID),
        (TEST, ENDS, ASKED, "E       DeprecationWarning: put() takes text only"),  # another warning
        (TEST.replace("== 2", "== int(pkg.store(2))"), ENDS, ASKED, SAID),  # it tries something else as well
        (
            "import runpy\n\n\ndef test_two():\n    assert runpy.run_module('pkg')\n",
            ENDS,
            ASKED,
            SAID,
        ),  # nobody sees what it tries
        (TEST, ENDS, ASKED, f"{SAID}\nE       DeprecationWarning: put() takes text only"),
    ],
)
def test_an_announcement_covers_nothing_else(judge, test, code, goal, detail):
    assert gone(judge, test, code, goal, detail) == [Effect.ASKS]


def test_an_announcement_does_not_cover_a_failure_of_another_kind(judge):
    assert gone(judge, TEST, ENDS, detail="E   AssertionError: assert 3 == 2") == [Effect.BLOCKS]


@pytest.mark.parametrize(
    "others",
    [
        {"pkg/more.py": ("n = 1\n", "n = 2\n")},
        {"pkg/table.json": ("{}\n", '{"a": 1}\n')},
    ],
)
def test_an_announcement_changes_no_other_file_of_the_code(judge, others):
    assert gone(judge, TEST, ENDS, others=others) == [Effect.ASKS]


GIVEN = "import pytest\nimport pkg\n\n\n@pytest.fixture\ndef made():\n    return pkg.Pack(), pkg.store(1)\n\n\ndef test_two(made):\n    assert pkg.Pack().put(2) == 2\n"
SET_UP = "import pkg\n\n\nclass TestPack:\n    def setup_method(self):\n        self.kept = pkg.store(1)\n\n    def test_two(self):\n        assert pkg.Pack().put(2) == 2\n"
SHARED = SET_UP.replace("TestPack:", "TestPack(Shared):").replace("pkg.store(1)", "1")


@pytest.mark.parametrize("test", [GIVEN, SET_UP, SHARED, TEST.replace("test_two()", "test_two(client)")])
def test_what_a_test_is_given_counts_as_its_own(judge, test):
    old = CASE if "class" in test else OLD
    assert gone(judge, test, ENDS, old=old) == [Effect.ASKS]


def test_a_class_that_tries_only_what_is_deprecated_goes(judge):
    assert gone(judge, SET_UP.replace("pkg.store(1)", "pkg.Pack()"), ENDS, old=CASE) == []


def test_a_method_is_named_with_its_class_where_others_are_called_alike(judge):
    code = CODE + "\n\nclass Box:\n    def put(self, n):\n        return n\n"
    warned = "import warnings\n\n\n" + code.replace("class Box:\n    def put(self, n):\n", "class Box:\n    def put(self, n):\n        warnings.warn('put is deprecated', DeprecationWarning)\n")  # fmt: skip
    test, said = "import pkg\n\n\ndef test_two():\n    assert pkg.Box.put(0, 2) == 2\n", "E   DeprecationWarning: put is deprecated"  # fmt: skip
    for goal, effects in (("Deprecate Box.put.", []), ("Deprecate put.", [Effect.ASKS]), ("Deprecate Pack.put.", [Effect.ASKS])):  # fmt: skip
        assert gone(judge, test, warned, goal, said, old_code=code) == effects
    alone = [c.replace("class Pack:\n    def put(", "class Pack:\n    def take(") for c in (code, warned)]
    assert gone(judge, test, alone[1], "Deprecate put.", said, old_code=alone[0]) == []


MADE = "from functools import partial\n\nfrom pkg import Pack\nimport pytest\n\n\n@pytest.fixture\ndef make():\n    return partial(Pack, size=1)\n\n\ndef test_two(make):\n    assert make().put(2) == 2\n"  # fmt: skip
EXPECTS = MADE.replace("from functools import partial\n\n", "").replace(
    "    return partial(Pack, size=1)\n",
    "    def factory(size=1, **more):\n        with pytest.deprecated_call():\n            return Pack(size=size, **more)\n\n    return factory\n",
)
PLAIN = "import pytest\nfrom pkg import Pack\n\n\ndef test_two():\n    pack = Pack()\n    assert pack.put(2) == 2\n"
FRAMED = PLAIN.replace(
    "    pack = Pack()", "    with pytest.warns(DeprecationWarning, match='Pack'):\n        pack = Pack()"
)
MARK = "@pytest.mark.filterwarnings('ignore:Pack is deprecated:DeprecationWarning')\ndef test_two"
MARKED = PLAIN.replace("def test_two", MARK)


def kept(judge, before, after, code=ENDS, goal=ASKED, detail=SAID, others=None):
    """Codes found in a change that edits the module of a test that fails as it was."""
    runs = {"was": {OLD: "passed"}, "now": {OLD: "passed"}, "restored": {OLD: "failed"}}
    base = {T: before, "pkg/__init__.py": CODE, **{p: rows[0] for p, rows in (others or {}).items()}}
    merged = {T: after, "pkg/__init__.py": code, **{p: rows[1] for p, rows in (others or {}).items()}}
    return set(judge(base, merged, **runs, detail=detail, goal=goal))


@pytest.mark.parametrize(("before", "after"), [(MADE, EXPECTS), (PLAIN, FRAMED), (PLAIN, MARKED)])
def test_a_module_that_only_learned_to_expect_the_warning_explains_itself(judge, before, after):
    open_code = ENDS.replace("(self) -> None", "(self, *args, **more) -> None").replace(
        "__init__()", "__init__(*args, **more)"
    )
    assert kept(judge, before, after, open_code) == set()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (PLAIN, FRAMED.replace("== 2", ">= 2")),
        (PLAIN, FRAMED.replace("put(2) == 2", "put(3) == 3")),
        (PLAIN, PLAIN.replace("def test_two", MARK.replace("Pack is deprecated", ""))),  # silences all of the kind
        (PLAIN, PLAIN.replace("def test_two", MARK.replace("Pack is deprecated", ".*"))),
        (PLAIN, PLAIN.replace("def test_two", MARK.replace(":DeprecationWarning", ""))),
        (PLAIN, PLAIN.replace("def test_two", MARK.replace("Pack is deprecated", "put is deprecated"))),
        (PLAIN, PLAIN.replace("def test_two", MARK.replace(":DeprecationWarning", ":Warning"))),
        (PLAIN, FRAMED.replace("DeprecationWarning", "Warning")),
        (
            PLAIN.replace("import pytest", "import shy as pytest"),
            FRAMED.replace("import pytest", "import shy as pytest"),
        ),
        (PLAIN, FRAMED.replace("pytest.warns(DeprecationWarning, match='Pack')", "suppress(Exception)")),
        (MADE, EXPECTS.replace("size=size", "size=2")),
        (MADE, EXPECTS.replace("return Pack(", "return Fake(")),
        (MADE, EXPECTS.replace("factory(size=1,", "factory(size=5,")),
        (PLAIN + OTHER, FRAMED),  # a neighbour goes along
        (FRAMED.replace("'Pack'", "'Box'") + OTHER, PLAIN + OTHER),  # an expectation goes
    ],
)
def test_more_than_the_expected_warning_goes_to_a_person(judge, before, after):
    assert kept(judge, before, after)


def test_an_expected_warning_excuses_no_broken_code(judge):
    assert kept(judge, PLAIN, FRAMED, ENDS.replace("return n\n", "return n + 1\n"))
    assert kept(judge, PLAIN, FRAMED, detail="E   AssertionError: assert 3 == 2")
    assert kept(judge, PLAIN, FRAMED, goal="Make store faster.")
    assert kept(judge, PLAIN, FRAMED, others={"conftest.py": ("n = 1\n", "n = 2\n")})
    shared = "import test_shared\n"
    assert kept(judge, shared + PLAIN, shared + FRAMED) == set()
    assert kept(judge, shared + PLAIN, shared + FRAMED, others={"tests/test_shared.py": ("n = 1\n", "n = 2\n")})


WAYS = """from warnings import warn


def say():
    warn('passing None as `size` is deprecated', DeprecationWarning, stacklevel=3)


def pack(n, size=1, loud=False):
    if size is None:
        say()
        return str(n)
    if loud is True:
        warn('`loud` is deprecated', DeprecationWarning)
    return str(n) * size


def fit(n, size=1):
    if size is not None:
        n = n * size
    return n
"""
NARROW = WAYS.replace("    if size is None:\n        say()\n        return str(n)\n", "").replace(WAYS[WAYS.index("def say") : WAYS.index("def pack")], "")  # fmt: skip
RECORDS = "import warnings\nimport pkg\n\n\ndef test_two():\n    with warnings.catch_warnings(record=True) as seen:\n        assert pkg.pack(2, None) == '2'\n    assert seen[0].category is DeprecationWarning\n"
BROKE = "E   TypeError: can't multiply sequence by non-int of type 'NoneType'"
DROPS = "Drop support for passing None as size of pack()."


def test_the_test_of_a_way_goes_where_nothing_but_its_branch_went(judge):
    assert gone(judge, RECORDS, NARROW, DROPS, BROKE, old_code=WAYS) == []
    apart = WAYS.replace("    if loud is True:", "    elif loud is True:")
    assert gone(judge, RECORDS, NARROW, DROPS, BROKE, old_code=apart) == []


@pytest.mark.parametrize(
    ("test", "code", "goal"),
    [
        (RECORDS, NARROW.replace("str(n) * size", "str(n + 1) * size"), DROPS),  # broken beside it
        (RECORDS, NARROW.replace("    if size is not None:\n        n = n * size\n", "    n = n * size\n"), DROPS),  # in another function
        (RECORDS, NARROW, "Drop support for passing None as loud of pack()."),  # something else is to go
        (RECORDS, NARROW, "Make pack faster."),
        (RECORDS, NARROW, "Do not drop support for passing None as size."),
        (RECORDS, NARROW, "Remove the warning that passing None as size is deprecated."),
        (RECORDS, NARROW.replace("    if loud is True:\n        warn('`loud` is deprecated', DeprecationWarning)\n", ""), DROPS),  # more goes
        (RECORDS.replace("    assert seen[0].category is DeprecationWarning\n", ""), NARROW, DROPS),
    ],
)  # fmt: skip
def test_the_end_of_a_way_covers_nothing_else(judge, test, code, goal):
    assert gone(judge, test, code, goal, BROKE, old_code=WAYS) == [Effect.BLOCKS]


def test_a_setting_that_silences_the_warning_is_no_expectation(judge):
    settings = {"pytest.ini": ("[pytest]\nfilterwarnings = error\n", "[pytest]\n")}
    assert kept(judge, PLAIN, PLAIN, others=settings)
    assert kept(judge, PLAIN, FRAMED, others=settings)


PROJECT = "[project]\nname = 'pkg'\nversion = '1.0'\n\n[tool.pytest.ini_options]\nfilterwarnings = ['error']\n"


def test_a_version_beside_an_expected_warning_is_no_setting(judge):
    newer = PROJECT.replace("1.0", "1.1")
    assert kept(judge, PLAIN, FRAMED, others={"pyproject.toml": (PROJECT, newer)}) == set()
    for other in (newer.replace("['error']", "[]"), newer.replace("'pkg'", "'pack'"), newer + "]", ""):
        assert kept(judge, PLAIN, FRAMED, others={"pyproject.toml": (PROJECT, other)})
    assert kept(judge, PLAIN, FRAMED, others={"tests/pyproject.toml": (PROJECT, newer)})


def test_a_test_of_the_warning_may_come_beside_the_one_that_expects_it(judge):
    added = "\n\ndef test_warns():\n    with pytest.warns(DeprecationWarning):\n        Pack()\n"
    assert kept(judge, PLAIN, FRAMED + added) == set()
    assert kept(judge, PLAIN, FRAMED + added.replace("def test_warns", "@pytest.fixture(autouse=True)\ndef made"))
    drawn = FRAMED
    assert kept(judge, PLAIN.replace("    pack = Pack()\n    assert pack", "    assert Pack()"), drawn) == set()
    assert kept(judge, PLAIN.replace("    pack = Pack()\n    assert pack", "    assert Pack(1)"), drawn)


@pytest.mark.parametrize(
    ("plan", "effects"),
    [
        ("Work.", []),
        ("All tests pass.", []),
        ("The whole test suite must pass.", []),
        ("All tests of Pack pass.", [Effect.ASKS]),
        ("Pack still works.", [Effect.ASKS]),
        ("All tests pass as before.", [Effect.ASKS]),
        ("Keep the tests.", [Effect.ASKS]),
        ("The tests of it stay.", [Effect.ASKS]),
    ],
)
def test_what_stands_under_any_task_says_nothing_of_this_one(judge, plan, effects):
    assert gone(judge, TEST, ENDS, f"{ASKED} {plan}") == effects


@pytest.mark.parametrize("name", ["type(self).__name__", "self.__class__.__qualname__", "__name__"])
def test_a_message_may_hold_the_own_name(judge, name):
    code = ENDS.replace("'Pack is deprecated, use store.'", f"f'{{{name}}} is deprecated, use store.'")
    assert code != ENDS
    assert kept(judge, PLAIN, FRAMED, code) == set()
    assert gone(judge, TEST, code) == []
    assert kept(judge, PLAIN, FRAMED, code, detail="E   DeprecationWarning: Pack is old, use store.")
    assert kept(judge, PLAIN, FRAMED, code.replace(name, "self.put(2)"))
    assert kept(judge, PLAIN, FRAMED, code.replace(f"{{{name}}}", f"{{{name}!r}}"))
    assert kept(judge, PLAIN, FRAMED, code.replace(f"{{{name}}} is deprecated, use store.", f"{{{name}}}"))
