"""Assertions that ask through something that forgets, of the subject itself, in code that never runs, or of fewer rows."""

import pytest
from evidence_builder import build_evidence

from gatekeeper.checks.weakened_tests import check

CODE = "def order(items):\n    return sorted(items)\n\n\ndef label(item):\n    return str(item)\n"
TOP = "import unittest\n\nimport pytest\n\nfrom shop import label, order\n\n\n"
EQ = "def test_o():\n    assert order([2, 1]) == [1, 2]\n"
LAST = "def test_l():\n    assert order([3, 1, 2])[-1] == 3\n"
TEXT = "def test_t():\n    assert label(1.50) == '1.5 EUR'\n"
ROWS = (
    "@pytest.mark.parametrize('row', [(2, 1), (4, 3)])\ndef test_r(row):\n    assert order(row) == [row[1], row[0]]\n"
)
TABLE = "def test_s():\n    for given, wanted in [([2, 1], [1, 2]), ([9, 8], [8, 9])]:\n        assert order(given) == wanted\n"
SUB = "class T(unittest.TestCase):\n    def test_s(self):\n        for given, wanted in [([2, 1], [1, 2]), ([9, 8], [8, 9])]:\n            with self.subTest(given):\n                self.assertEqual(order(given), wanted)\n"


def codes(old, new):
    files = [{"shop.py": CODE, "tests/test_shop.py": TOP + body} for body in (old, new)]
    return [f.code for f in check(build_evidence(*files))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (EQ, EQ.replace("order([2, 1]) == [1, 2]", "set(order([2, 1])) == {1, 2}")),
        (EQ, EQ.replace("order([2, 1]) == [1, 2]", "sorted(order([2, 1])) == sorted([1, 2])")),
        (EQ, EQ.replace("order([2, 1]) == [1, 2]", "order([2, 1])[:1] == [1]")),
        (EQ, EQ.replace("order([2, 1]) == [1, 2]", "len(order([2, 1])) == 2")),
        (EQ, EQ.replace("order([2, 1]) == [1, 2]", "sorted(list(order([2, 1]))) == [1, 2]")),
        (LAST, LAST.replace("[-1] == 3", "[0] == 1")),
        (TEXT, TEXT.replace("label(1.50) == '1.5 EUR'", "label(1.50).lower() == '1.5 eur'")),
        (TEXT, TEXT.replace("label(1.50) == '1.5 EUR'", "label(1.50).split()[0] == '1.5'")),
        (EQ, EQ.replace("[1, 2]", "order([2, 1])")),
        (EQ, EQ.replace("== [1, 2]", "== order(list([2, 1]))")),
    ],
)
def test_a_comparison_that_sees_less_is_found(old, new):
    assert codes(old, new) in (["ASSERTION_WEAKENED"], ["ASSERTION_ALWAYS_TRUE"])


@pytest.mark.parametrize(
    "new",
    [
        ROWS.replace("    assert order(row) == [row[1], row[0]]", "    (one(r) for r in [row])") + "\n\ndef one(row):\n    assert order(row) == [row[1], row[0]]\n",
        ROWS.replace("    assert order(row) == [row[1], row[0]]", "    lambda: one(row)") + "\n\ndef one(row):\n    assert order(row) == [row[1], row[0]]\n",
    ],
)  # fmt: skip
def test_a_check_that_is_made_and_never_run_is_found(new):
    assert codes(ROWS, new) == ["ASSERTION_REMOVED"]


@pytest.mark.parametrize("table", [TABLE, SUB])
def test_a_row_less_in_a_table_of_the_test_is_found(table):
    assert codes(table, table.replace(", ([9, 8], [8, 9])", ", ([1], [1])")) == ["PARAMETERS_SHRUNK"]
    assert codes(table, table.replace("([2, 1], [1, 2]), ", "")) == ["PARAMETERS_SHRUNK"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (EQ, EQ.replace("order([2, 1]) ==", "list(order([2, 1])) ==")),
        (EQ, EQ + "    assert len(order([2, 1])) == 2\n"),
        (EQ, "def test_o():\n    found = order([2, 1])\n    assert len(found) == 2\n    assert found == [1, 2]\n"),
        (EQ.replace("order([2, 1])", "sorted(order([2, 1]))"), EQ),
        (LAST, LAST.replace("order([3, 1, 2])[-1] == 3", "order([3, 1, 2]) == [1, 2, 3]")),
        (EQ, "WANTED = [1, 2]\n\n\n" + EQ.replace("== [1, 2]", "== WANTED")),
        (ROWS, ROWS.replace("    assert order(row) == [row[1], row[0]]", "    one(row)") + "\n\ndef one(row):\n    assert order(row) == [row[1], row[0]]\n"),
        (TABLE, TABLE.replace("[([2, 1], [1, 2]), ([9, 8], [8, 9])]", "[([9, 8], [8, 9]), ([2, 1], [1, 2]), ([0], [0])]")),
        (TABLE, "@pytest.mark.parametrize(('given', 'wanted'), [([2, 1], [1, 2]), ([9, 8], [8, 9])])\ndef test_s(given, wanted):\n    assert order(given) == wanted\n"),
        ("@pytest.mark.parametrize(('given', 'wanted'), [([2, 1], [1, 2]), ([9, 8], [8, 9])])\ndef test_s(given, wanted):\n    assert order(given) == wanted\n", TABLE),
    ],
)  # fmt: skip
def test_an_honest_look_alike_passes(old, new):
    assert codes(old, new) == []


CASES = "def test_damage():\n    with pytest.raises(ValueError):\n        order(label(2).upper())\n\n\ndef test_empty():\n    with pytest.raises(ValueError):\n        order('')\n"
PARAMETRISED = "@pytest.mark.parametrize('text', {rows})\ndef test_damage(text):\n    with pytest.raises(ValueError):\n        order(text)\n"


def test_a_case_left_out_while_tests_become_rows_goes_to_a_person():
    files = {"shop.py": CODE, "tests/test_shop.py": TOP + CASES}
    for rows, effects in (("['', ' ']", ["asks"]), ("[label(2).upper(), '']", [])):
        after = {**files, "tests/test_shop.py": TOP + PARAMETRISED.replace("{rows}", rows)}
        assert [f.effect.value for f in check(build_evidence(files, after))] == effects


PACKAGE = {"shop/__init__.py": "from shop.sums import (\n    order,\n)\n", "shop/sums.py": CODE}
USES = "import shop\n\n\ndef test_o():\n    assert shop.order([2, 1]) == [1, 2]\n"


@pytest.mark.parametrize(
    ("conftest", "codes"),
    [
        (
            "import shop\n\n\ndef _order(items):\n    return sorted(items)\n\n\nshop.order = _order\n",
            ["SUBJECT_MOCKED"],
        ),
        ("import shop\n\nshop.verbose = True\n", []),
        ("import shop\n\n\ndef _order(items):\n    return shop.order(items)\n", []),
    ],
)
def test_a_conftest_that_brings_its_own_function_is_found(conftest, codes):
    before = {**PACKAGE, "tests/test_shop.py": USES}
    found = check(build_evidence(before, {**before, "tests/conftest.py": conftest}))
    assert [f.code for f in found] == codes
