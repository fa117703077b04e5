"""Broken code under the cover of an end that was announced or carried out: what the end covers, and what it does not."""

from __future__ import annotations

import pytest

from gatekeeper.domain.verdict import Effect

T = "tests/test_a.py"
GONE, STAYS = f"{T}::test_gone", f"{T}::test_other"
OTHER = "\n\ndef test_other():\n    assert 1 + 1 == 2\n"
WARNED = "E       DeprecationWarning: Pack is deprecated, use store."
SILENT = "E   Failed: DID NOT WARN. No warnings of type (<class 'DeprecationWarning'>,) were emitted."


def ends(judge, test, old, new, goal, detail, others=None):
    """Effects of a change that takes the test `test_gone` away and turns the code `old` into `new`."""
    runs = {
        "was": {GONE: "passed", STAYS: "passed"},
        "now": {STAYS: "passed"},
        "restored": {GONE: "failed", STAYS: "passed"},
    }
    more = others or {}
    before = {
        T: test + OTHER,
        "pkg/__init__.py": old,
        **{p: rows[0] for p, rows in more.items() if rows[0] is not None},
    }
    after = {T: OTHER, "pkg/__init__.py": new, **{p: rows[1] for p, rows in more.items() if rows[1] is not None}}
    return [f.effect for f in judge(before, after, **runs, detail=detail, goal=goal).values()]


WAYS = """import warnings


def pack(n, size=1):
    if size is None:
        warnings.warn('passing None as `size` is deprecated', DeprecationWarning)
        size = 1
    return str(n) * size


def crate(n):
    warnings.warn('crate is deprecated', DeprecationWarning)
    return [n]
"""
BRANCH = "    if size is None:\n        warnings.warn('passing None as `size` is deprecated', DeprecationWarning)\n        size = 1\n"
NARROW = WAYS.replace(BRANCH, "")
NO_SIZE = "Drop support for passing None as size of pack()."
TEST_PACK = "import pytest\nimport pkg\n\n\ndef test_gone():\n    with pytest.warns(DeprecationWarning):\n        assert pkg.pack(2, None) == '2'\n"
TEST_CRATE = "import pytest\nimport pkg\n\n\ndef test_gone():\n    with pytest.warns(DeprecationWarning):\n        got = pkg.crate(2)\n    assert got == [2]\n"
TYPE = "E   TypeError: can't multiply sequence by non-int of type 'NoneType'"


def test_a_way_ends_with_its_test(judge):
    assert ends(judge, TEST_PACK, WAYS, NARROW, NO_SIZE, TYPE) == []
    matched = TEST_PACK.replace("DeprecationWarning)", "DeprecationWarning, match='passing None')")
    assert ends(judge, matched, WAYS, NARROW, NO_SIZE, TYPE) == []
    alone = WAYS[: WAYS.index("\n\ndef crate")]
    bare = alone.replace(BRANCH, "").replace("import warnings\n\n\n", "")
    assert ends(judge, TEST_PACK, alone, bare, NO_SIZE, TYPE) == []


@pytest.mark.parametrize(
    ("test", "new"),
    [
        (TEST_CRATE, NARROW.replace("import warnings\n\n\n", "")),  # its neighbour still needs the import
        (TEST_PACK, NARROW.replace("import warnings\n\n\n", "")),
        (TEST_PACK, NARROW.replace("import warnings\n\n\n", "").replace("    return [n]", "    return [n]\n    import warnings")),
        (TEST_CRATE, NARROW),  # another function's test
        (TEST_PACK.replace("DeprecationWarning)", "DeprecationWarning, match='crate is')"), NARROW),  # another warning
    ],
)  # fmt: skip
def test_the_end_of_a_way_takes_no_import_and_no_test_of_anything_else(judge, test, new):
    broken = "E   NameError: name 'warnings' is not defined"
    assert ends(judge, test, WAYS, new, NO_SIZE, broken) == [Effect.BLOCKS]


def test_what_another_module_takes_from_there_does_not_end_with_a_way(judge):
    alone = WAYS[: WAYS.index("\n\ndef crate")]
    bare = alone.replace(BRANCH, "").replace("import warnings\n\n\n", "")
    more = "from pkg import warnings\n\n\ndef say():\n    warnings.warn('x')\n"
    assert ends(judge, TEST_PACK, alone, bare, NO_SIZE, TYPE, {"pkg/more.py": (more, more)}) == [Effect.BLOCKS]
    plain = "import warnings\n\n\ndef say():\n    warnings.warn('x')\n"
    assert ends(judge, TEST_PACK, alone, bare, NO_SIZE, TYPE, {"pkg/more.py": (plain, plain)}) == []


GUARDED = """import warnings


def pack(n, check=False):
    if check:
        warnings.warn('passing check is deprecated', DeprecationWarning)
    validate(n)
    return str(n)


def validate(n):
    if n < 0:
        raise ValueError(n)
"""
CHECK = "    if check:\n        warnings.warn('passing check is deprecated', DeprecationWarning)\n"
TEST_CHECK = "import pytest\nimport pkg\n\n\ndef test_gone():\n    with pytest.warns(DeprecationWarning):\n        with pytest.raises(ValueError):\n            pkg.pack(-2, True)\n"
NO_CHECK = "Drop support for passing check to pack."


@pytest.mark.parametrize(
    ("old", "new", "effects"),
    [
        (GUARDED, GUARDED.replace(CHECK, ""), []),
        (GUARDED, GUARDED.replace(CHECK + "    validate(n)\n", "    if not check:\n        validate(n)\n"), [Effect.BLOCKS]),  # a guard is new
        (
            GUARDED.replace("    validate(n)\n", "    if not check:\n        validate(n)\n"),
            GUARDED.replace(CHECK, ""),
            [],
        ),
        (
            GUARDED.replace("    validate(n)\n", "    check = n < 0\n    if not check:\n        validate(n)\n"),
            GUARDED.replace(CHECK, "").replace("    validate(n)\n", "    check = n < 0\n    validate(n)\n"),
            [Effect.BLOCKS],
        ),  # it asks for something else by then
        (
            GUARDED.replace("if check:", "if n.check:").replace("    validate(n)\n", "    if not n.check:\n        validate(n)\n"),
            GUARDED.replace(CHECK, ""),
            [Effect.BLOCKS],
        ),  # nobody knows what it asks for by then
    ],
)  # fmt: skip
def test_a_guard_goes_where_it_asks_for_what_ended_and_none_comes(judge, old, new, effects):
    assert ends(judge, TEST_CHECK, old, new, NO_CHECK, "E   Failed: DID NOT RAISE") == effects


STORE = "def store(n):\n    return str(n)\n"
SHORT = "warnings.warn('Pack is deprecated, use store.', DeprecationWarning, stacklevel=2)"
ALL = f"    def __init__(self, *a, **k):\n        {SHORT}\n        super().__init__(*a, **k)\n\n"
NONE = f"    def __init__(self):\n        {SHORT}\n        super().__init__()\n\n"
PUT = "    def put(self, n):\n        return n\n\n\n"
TEST_PUT = "import pkg\n\n\ndef test_gone():\n    assert pkg.Pack().put(2) == 2\n"
DEPRECATE = "Deprecate Pack in favour of store."


def classes(head, init="", before=""):
    """A module with the class `head`, and `init` in it."""
    return f"import warnings\n{before}\n\n{head}\n{init}{PUT}{STORE}"


@pytest.mark.parametrize(
    ("head", "before", "init", "effects"),
    [
        ("class Pack:", "", ALL, []),
        ("class Pack:", "", NONE, []),
        ("class Pack(Base):", "\n\nclass Base:\n    size = 1\n", ALL, []),
        ("class Pack(WeakValueDictionary):", "from weakref import WeakValueDictionary\n", NONE, []),
        ("@dataclass\nclass Pack:\n    size: int = 1\n", "from dataclasses import dataclass\n", ALL, [Effect.ASKS]),
        ("class Pack(metaclass=Meta):", "from pkg.meta import Meta\n", ALL, [Effect.ASKS]),
        ("class Pack(Enum):\n    A = 1\n", "from enum import Enum\n", ALL, [Effect.ASKS]),
        ("class Pack(str):", "", ALL, [Effect.ASKS]),
        ("class Pack(Base):", "from pkg.base import Base\n", ALL, [Effect.ASKS]),
        ("class Pack(dict):", "from pkg.base import dict\n", ALL, [Effect.ASKS]),
        ("class Pack(Base):", "\n\nclass Base:\n    def __new__(cls, n=1):\n        return object.__new__(cls)\n", ALL, [Effect.ASKS]),
        ("class Pack:\n    __init__ = make\n", "\n\ndef make(self, n=1):\n    self.n = n\n", ALL, [Effect.ASKS]),
        ("class Pack:\n    from pkg.base import __init__\n", "", ALL, [Effect.ASKS]),
        ("class Pack:", "", ALL.replace("*a, **k):", "a=1, **k):").replace("(*a, **k)", "(a, **k)"), [Effect.ASKS]),
        ("class Pack:", "", ALL.replace("(*a, **k)\n\n", "(*a)\n\n"), [Effect.ASKS]),
    ],
)  # fmt: skip
def test_an_init_is_added_where_it_changes_nothing_else(judge, head, before, init, effects):
    old, new = classes(head, "", before), classes(head, init, before)
    assert ends(judge, TEST_PUT, old, new, DEPRECATE, WARNED) == effects


@pytest.mark.parametrize(
    "user",
    [
        "from pkg import Pack\n\n\ndef fill():\n    return Pack(3)\n",
        "import pkg\n\nmake = pkg.Pack\n",
        "import pkg\n\n\nclass Box(pkg.Pack):\n    def __new__(cls, n):\n        return object.__new__(cls)\n",
    ],
)
def test_an_init_takes_nothing_away_from_who_makes_the_class(judge, user):
    old, new = classes("class Pack(dict):"), classes("class Pack(dict):", NONE)
    assert ends(judge, TEST_PUT, old, new, DEPRECATE, WARNED, {"pkg/box.py": (user, user)}) == [Effect.ASKS]
    plain = "from pkg import Pack\n\n\ndef fill():\n    return Pack()\n"
    assert ends(judge, TEST_PUT, old, new, DEPRECATE, WARNED, {"pkg/box.py": (plain, plain)}) == []


PLAIN, INIT = classes("class Pack:"), classes("class Pack:", ALL)
READ = "import pathlib\n\nTEXT = (pathlib.Path(__file__).parent / 'prompt.md').read_text()\n"


@pytest.mark.parametrize(
    ("others", "effects"),
    [
        ({"docs/pack.md": ("1\n", "2\n"), "CHANGES.rst": ("1\n", "2\n"), "README.md": ("1\n", "2\n")}, []),
        ({"changelog.d/3.trivial.rst": (None, "2\n"), "tests/test_b.py": ("n = 1\n", "n = 2\n")}, []),
        ({"pkg/prompt.md": ("safe", "broken"), "pkg/text.py": (READ, READ)}, [Effect.ASKS]),
        ({"pkg/testing/shape.py": ("n = 3\n", "n = 4\n"), "pkg/testing/__init__.py": ("", "")}, [Effect.ASKS]),
        ({"pkg/fixtures/shape.json": ("3\n", "4\n")}, [Effect.ASKS]),
    ],
)
def test_what_the_code_may_read_is_code(judge, others, effects):
    assert ends(judge, TEST_PUT, PLAIN, INIT, DEPRECATE, WARNED, others) == effects


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (PLAIN, "# -*- coding: latin-1 -*-\n" + INIT),
        (PLAIN, "#!/usr/bin/env python\n# vim: set fileencoding=utf-7 :\n" + INIT),
        ("# \x0bcoding: latin-1\n" + PLAIN, "# \x0bcoding: utf-7\n" + INIT),
        (PLAIN.replace("import warnings", "from pkg.voices import *"), INIT.replace("import warnings", "from pkg.voices import *")),
        (PLAIN, INIT.replace("import warnings", "")),
        (PLAIN, INIT.replace("import warnings", "class DeprecationWarning:\n    pass\n\n\nimport warnings")),
        (PLAIN, INIT.replace("stacklevel=2", "stacklevel='2'")),
        (
            PLAIN.replace("    return str(n)", "    '''as it is'''\n    return store.__doc__"),
            INIT.replace("    return str(n)", "    '''otherwise'''\n    return store.__doc__"),
        ),
        (PLAIN, PLAIN.replace("import warnings", "from warnings import deprecated").replace("class Pack", "@deprecated('Pack is deprecated, use store.')\nclass Pack").replace("def store", "@cache\ndef store")),
    ],
)  # fmt: skip
def test_what_the_trees_do_not_show_counts(judge, old, new):
    assert ends(judge, TEST_PUT, old, new, DEPRECATE, WARNED) == [Effect.ASKS]


def test_docstrings_change_where_nobody_reads_them(judge):
    old = PLAIN.replace("    def put", "    '''Packs.'''\n\n    def put")
    new = INIT.replace("    def put", "    '''Packs. Deprecated.'''\n\n    def put")
    assert ends(judge, TEST_PUT, old, new, DEPRECATE, WARNED) == []
    reader = "import pkg\n\nHELP = pkg.Pack.put.__doc__\n"
    assert ends(judge, TEST_PUT, old, new, DEPRECATE, WARNED, {"pkg/cli.py": (reader, reader)}) == [Effect.ASKS]


def test_a_decorator_stands_where_it_sees_the_plain_function(judge):
    head = PLAIN.replace("    def put", "    @cache\n    def put").replace(
        "import warnings", "from functools import cache\n"
    )
    said = "@deprecated('put is deprecated')\n"
    imported = head.replace("from functools", "from warnings import deprecated\nfrom functools")
    warned = "E       DeprecationWarning: put is deprecated"
    inner = imported.replace("    @cache\n", f"    @cache\n    {said}")
    assert ends(judge, TEST_PUT, head, inner, "Deprecate Pack.put.", warned) == [Effect.ASKS]  # Pack is named nowhere
    test = "import pkg\n\n\ndef test_gone():\n    assert pkg.put(2) == 2\n"
    flat = "from functools import cache\n\n\n@cache\ndef put(n):\n    return n\n"
    voice = "from warnings import deprecated\n"
    assert ends(judge, test, flat, voice + flat.replace("@cache\n", f"@cache\n{said}"), "Deprecate put.", warned) == []
    assert ends(judge, test, flat, voice + flat.replace("@cache\n", f"{said}@cache\n"), "Deprecate put.", warned) == [Effect.ASKS]  # fmt: skip


@pytest.mark.parametrize(
    ("test", "new", "goal"),
    [
        (TEST_CRATE, WAYS.replace("    warnings.warn('crate is deprecated', DeprecationWarning)\n    return [n]", "    return n"), "Remove the deprecated size argument of pack."),
        (TEST_CRATE, WAYS.replace("    warnings.warn('crate is deprecated', DeprecationWarning)\n    return [n]", "    return n"), "Drop support for Python 3.8."),
        (TEST_CRATE, NARROW.replace("    warnings.warn('crate", "    return n\n    warnings.warn('crate"), NO_SIZE),  # no word of it went
        (TEST_CRATE.replace("pkg.crate(2)", "pkg.crate(pkg.pack(2, None))"), NARROW.replace("    warnings.warn('crate", "    return n\n    warnings.warn('crate"), NO_SIZE),
    ],
)  # fmt: skip
def test_a_missing_warning_covers_no_other_function(judge, test, new, goal):
    assert ends(judge, test, WAYS, new, goal, SILENT) == [Effect.ASKS]


def test_a_warning_that_went_as_asked_takes_its_test_along(judge):
    refuses = WAYS.replace(BRANCH, "    if size is None:\n        raise TypeError('a size is a number')\n")
    assert ends(judge, TEST_PACK, WAYS, refuses, NO_SIZE, f"E   TypeError: a size is a number\n{SILENT}") == []


ENDING = "import warnings\n\n\ndef old_a(n):\n    warnings.warn('old_a is deprecated', DeprecationWarning)\n    return n\n\n\ndef old_b(n):\n    warnings.warn('old_b is deprecated', DeprecationWarning)\n    return [n]\n\n\ndef new(n, size=1):\n    return n\n"
TEST_B = "import pytest\nimport pkg\n\n\ndef test_gone():\n    with pytest.warns(DeprecationWarning):\n        assert pkg.old_b(2) == [2]\n"
LOST_B = "E   AttributeError: module 'pkg' has no attribute 'old_b'"


@pytest.mark.parametrize(
    ("goal", "effects"),
    [
        ("Remove deprecated code.", []),
        ("Remove the deprecated functions old_a and old_b.", []),
        ("Remove deprecated things. All tests pass.", []),
        ("Remove the deprecated function old_a.", [Effect.ASKS]),
        ("Remove the deprecated size argument of new.", [Effect.ASKS]),
        ("Remove the deprecated size argument.", [Effect.ASKS]),
    ],
)
def test_only_the_deprecated_things_that_are_named_end(judge, goal, effects):
    without = ENDING[: ENDING.index("def old_b")] + ENDING[ENDING.index("def new") :]
    assert ends(judge, TEST_B, ENDING, without, goal, LOST_B) == effects


PARSE = "def _parse(s):\n    return [int(x) for x in s.split(',')]\n\n\ndef total(rows):\n    return sum(rows)\n"
BROKEN = "def total(rows):\n    return sum(rows[1:])\n"
LOST_PARSE = "E   AttributeError: module 'pkg' has no attribute '_parse'"


@pytest.mark.parametrize(
    ("said", "effects"),
    [
        ("pkg._parse('1,2') == [1, 2]", []),
        ("pkg.total(pkg._parse('1,2')) == 3", [Effect.ASKS]),
        ("five() == 3", [Effect.BLOCKS]),
    ],
)
def test_a_private_part_covers_no_test_of_anything_else(judge, said, effects):
    test = f"import pkg\n\n\ndef five():\n    return pkg.total(pkg._parse('1,2'))\n\n\ndef test_gone():\n    assert {said}\n"
    assert ends(judge, test, PARSE, BROKEN, "Tidy up.", LOST_PARSE) == effects


MIXIN = "class Mixin:\n    def test_two(self):\n        assert TABLE['a'] == 1\n"
HEIR = "import pkg\nfrom shared import Mixin\n\n\nclass TestOld(Mixin):\n    size = 1\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("cache = pkg.Cache(2)\n        cache[1] = 1\n        rows = [cache]\n        rows.append(2)\n        assert cache", set()),
        ("pkg.TABLE['a'] = 1\n        assert pkg.TABLE", {"TEST_REMOVED"}),
        ("table = pkg.TABLE\n        table['a'] = 1\n        assert table", {"TEST_REMOVED"}),
        ("table = pkg.table()\n        table['a'] = 1\n        assert table", {"TEST_REMOVED"}),
        ("del pkg.TABLE['a']", {"TEST_REMOVED"}),
        ("pkg.TABLE.update(a=1)\n        assert pkg.TABLE", {"TEST_REMOVED"}),
        ("for table in [pkg.TABLE]:\n            table = {}\n            table['a'] = 1", {"TEST_REMOVED"}),
    ],
)  # fmt: skip
def test_a_new_test_of_a_renamed_class_changes_nothing_but_its_own(judge, body, found):
    was = {f"{T}::TestOld::test_two": "passed"}
    now = {f"{T}::TestNew::test_two": "passed", f"{T}::TestNew::test_first": "passed"}
    after = HEIR.replace("TestOld", "TestNew") + f"\n    def test_first(self):\n        {body}\n"
    files = {T: HEIR, "tests/shared.py": MIXIN}, {T: after, "tests/shared.py": MIXIN}
    assert set(judge(*files, was=was, now=now, restored=was)) == found


@pytest.mark.parametrize(("first", "found"), [("import pkg\n", set()), ("from pkg import *\n", {"TEST_REMOVED"})])
def test_what_a_star_gives_is_not_known_to_be_harmless(judge, first, found):
    test = f"{first}\n\ndef spell(n):\n    return [n]\n\n\ndef test_gone():\n    assert sum(spell(3)) == 3\n"
    was, now = {GONE: "passed", STAYS: "passed"}, {STAYS: "passed"}
    assert set(judge({T: test + OTHER}, {T: OTHER}, was=was, now=now, restored=was)) == found
