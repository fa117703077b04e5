"""Parts that tell whether an end that was announced or carried out is all that a module changed."""

from __future__ import annotations

import ast

import pytest

from gatekeeper.formats.python_announcing import Way, ended_ways, narrowed
from gatekeeper.formats.python_deprecations import demanded_texts, warning_places, words_of_deprecated_things_that_go
from gatekeeper.formats.python_plain_classes import plain_class
from gatekeeper.formats.python_warning_imports import imports_may_differ, knows_warnings

USES = "import warnings\n\n\ndef f():\n    warnings.warn('f')\n"


@pytest.mark.parametrize(
    ("old", "new", "may"),
    [
        (USES, USES, True),
        (USES, USES.replace("import warnings\n", ""), False),
        (USES, USES.replace("import warnings\n", "").replace("():\n", "():\n    import warnings\n"), True),
        (USES, USES.replace("import warnings\n", "") + "    import warnings\n", False),
        (USES, USES.replace("import warnings\n", "class A:\n    import warnings\n"), False),
        ("n = 1\n", "import warnings\n", True),
        ("n = 1\n", "warnings.warn('n')\n", False),
    ],
)
def test_an_import_stands_above_every_use(old, new, may):
    assert imports_may_differ(ast.parse(old), ast.parse(new)) is may


@pytest.mark.parametrize(
    "source",
    [
        "from a import *",
        "import loud as warnings",
        "from .a import deprecated",
        "from a import FutureWarning",
        "def f(warn): pass",
        "DeprecationWarning = int",
    ],
)
def test_names_that_may_mean_something_else(source):
    assert not knows_warnings(ast.parse(source))
    assert knows_warnings(ast.parse(USES))


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("class A: pass", True),
        ("from abc import ABC\nclass A(ABC): pass", True),
        ("class B: pass\nclass A(B): pass", True),
        ("class A: pass\nclass B(A): pass", False),  # something is built on it
        ("class A(A): pass", False),
        ("class A(B): pass\nclass B(A): pass", False),
        ("class A(int): pass", False),
        ("try:\n    from abc import ABC\nexcept ImportError:\n    from a import ABC\nclass A(ABC): pass", False),
        ("class A:\n    if 1:\n        __new__ = f", False),
    ],
)
def test_plain_classes(source, plain):
    assert plain_class(ast.parse(source), "A") is plain


def test_a_way_is_told_with_its_function_and_a_guard_that_stays_hides_it():
    old = "import warnings\ndef f(n):\n    if n is None:\n        warnings.warn('None', DeprecationWarning)\n    if n is not None:\n        g(n)\n"
    cut = old.replace("    if n is None:\n        warnings.warn('None', DeprecationWarning)\n", "")
    plain = cut.replace("    if n is not None:\n        g(n)", "    g(n)")
    for new in (cut, plain):
        (way,) = ended_ways(ast.parse(old), ast.parse(new)) or ()
        assert (way.message, way.where) == ("None", "f")
        assert isinstance(way, Way)
    assert ended_ways(ast.parse(old), ast.parse(plain.replace("g(n)", "h(n)"))) is None


def test_narrowed_classes():
    new = "import warnings\nclass A(dict):\n    def __init__(self):\n        warnings.warn('A', DeprecationWarning)\n        super().__init__()\n"
    assert narrowed(ast.parse("class A(dict): pass"), ast.parse(new)) == {"A"}
    wide = new.replace("(self)", "(self, *a, **k)").replace("__init__()", "__init__(*a, **k)")
    assert narrowed(ast.parse("class A(dict): pass"), ast.parse(wide)) == frozenset()


def test_where_warnings_stand_and_what_a_test_wants_to_read():
    source = "class A:\n    def __init__(self):\n        warn('A', DeprecationWarning)\n\n    def f(self):\n        warn(x, FutureWarning)\n\n\nwarn('m', DeprecationWarning)\n"
    assert dict(warning_places(ast.parse(source))) == {("A", "A"): 1, ("A.f", ""): 1, ("", "m"): 1}
    wants = "pytest.warns(FutureWarning, match='a b')\nself.assertWarnsRegex(FutureWarning, 'c')\nf(match='d')\n"
    assert demanded_texts(ast.parse(wants)) == {"a b", "c"}


def test_words_of_what_is_to_go():
    rows = ("Remove the deprecated f and g. Add h.", "Do not remove deprecated k.")
    assert words_of_deprecated_things_that_go(rows) == [{"Remove", "the", "deprecated", "f", "and", "g"}]
