"""Lines of code that a change altered, and whether following them says anything; tests that read the same."""

from __future__ import annotations

import pytest
from evidence_builder import build_evidence

from gatekeeper.formats.changed_lines import changed_code
from gatekeeper.formats.same_test import same_test

CODE = "import os\n\nLIMIT = 3\n\n\ndef one(a):\n    b = a\n    return b\n\n\ndef two():\n    return 2\n"


def lines(before, after, leave_out=()):
    evidence = build_evidence(before, after)
    return changed_code(evidence.change, evidence.base, evidence.merged, leave_out)


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (CODE.replace("b = a", "b = -a"), (7,)),
        (CODE.replace("    b = a\n", ""), (7,)),
        (CODE.replace("def one(a)", "def one(a, c=1)"), (7, 8)),
        (CODE.replace("    b = a\n", "    b = a\n    # words\n\n"), ()),
    ],
    ids=["a line", "a line taken out", "a signature", "words alone"],
)
def test_lines_within_functions(after, found):
    assert lines({"a.py": CODE}, {"a.py": after}) == ((("a.py", found),) if found else ())


@pytest.mark.parametrize(
    "after",
    [
        {"a.py": CODE.replace("LIMIT = 3", "LIMIT = 4")},
        {"a.py": CODE, "data.json": "{}"},
        {},
        {"a.py": CODE + "def broken(:\n"},
        {"a.py": CODE.replace("import os", "import sys")},
    ],
    ids=["a constant", "data", "a file gone", "no Python", "an import"],
)
def test_what_reaches_further_than_lines_is_not_known(after):
    assert lines({"a.py": CODE}, after) is None


def test_texts_and_what_is_left_out_are_no_code():
    assert (
        lines({"a.py": CODE}, {"a.py": CODE, "README.md": "x", "tests/test_a.py": "x = 1"}, ["tests/test_a.py"]) == ()
    )


TESTS = b"import app\n\nX = 1\n\n\ndef test_a():\n    assert app\n\n\nclass TestB:\n    y = 2\n\n    def test_c(self):\n        assert X\n"


@pytest.mark.parametrize("name", ["test_a", "TestB::test_c"])
def test_a_test_beside_another_one_reads_the_same(name):
    assert same_test(TESTS, TESTS + b"\n\ndef test_new():\n    assert 0\n", name)
    assert same_test(TESTS, TESTS.replace(b"    assert app", b"    # why\n    assert  app"), name)


@pytest.mark.parametrize(
    "after",
    [
        TESTS.replace(b"assert app", b"assert not app").replace(b"assert X", b"assert not X"),
        TESTS.replace(b"X = 1", b"X = 2"),
        TESTS.replace(b"import app", b"import random as app"),
        TESTS.replace(b"y = 2", b"y = 3"),
        b"def test_a(:",
        b"",
    ],
    ids=["itself", "a constant", "an import", "its class", "no Python", "nothing"],
)
@pytest.mark.parametrize("name", ["test_a", "TestB::test_c"])
def test_a_test_that_the_change_alters(after, name):
    assert not same_test(TESTS, after, name)


def test_a_test_that_neither_has_is_no_same_test():
    assert not same_test(TESTS, TESTS, "test_none")
