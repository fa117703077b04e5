"""Two versions of one test: what the second no longer proves."""

from __future__ import annotations

from collections import Counter

import pytest

from gatekeeper.checks.weakened_tests.compare import losses, lost_rows
from gatekeeper.formats.python_assertions import read


def bodies(old: str, new: str, top: str = ""):
    a, b = read(f"{top}def test_a():\n{old}"), read(f"{top}def test_a():\n{new}")
    assert a is not None
    assert b is not None
    return a.bodies["test_a"], b.bodies["test_a"], b


def codes(old: str, new: str, top: str = "") -> list[str]:
    return [loss.code for loss in losses(*bodies(old, new, top))]


TWO = "    assert f(1) == 2\n    assert g(3) == 4\n"


def test_each_lost_assertion_is_one_loss():
    assert codes(TWO, "    pass\n") == ["ASSERTION_REMOVED", "ASSERTION_REMOVED"]
    assert codes(TWO, "    assert f(1) == 2\n") == ["ASSERTION_REMOVED"]
    assert codes(TWO, "    assert f(1) > 0\n    assert g(3) == 5\n") == ["ASSERTION_WEAKENED", "EXPECTED_VALUE_EDITED"]


def test_order_and_repetition_prove_nothing_more_or_less():
    assert codes(TWO, "    assert g(3) == 4\n    assert f(1) == 2\n") == []
    assert codes("    assert f(1) == 2\n" * 3, "    assert f(1) == 2\n") == []


def test_a_renaming_is_no_loss_and_another_builtin_is():
    assert codes(TWO, TWO.replace("f(", "h(")) == []
    assert codes("    assert all(x)\n", "    assert any(x)\n") == ["ASSERTION_WEAKENED"]


def test_a_name_that_the_test_module_defines_is_no_renaming():
    assert codes("    assert f(1)\n", "    assert fake(1)\n", "def fake(x):\n    return True\n\n") == []
    assert codes("    assert f(1) == 2\n", "    assert fake(1)\n", "def fake(x):\n    return 2\n\n") == [
        "ASSERTION_WEAKENED"
    ]


@pytest.mark.parametrize(
    ("new", "code"),
    [
        ("    assert (f(1) == 2, 'x')\n", "ASSERTION_ALWAYS_TRUE"),
        ("    return\n    assert f(1) == 2\n", "ASSERTION_UNREACHABLE"),
    ],
)
def test_a_muted_assertion_is_told_by_what_mutes_it(new, code):
    assert codes("    assert f(1) == 2\n", new) == [code]


def test_a_muted_copy_beside_a_live_one_is_no_loss():
    new = "    assert f(1) == 2\n    if False:\n        assert f(1) == 2\n"
    assert codes("    assert f(1) == 2\n", new) == []


def test_the_new_value_is_kept_for_the_ticket():
    (loss,) = losses(*bodies("    assert f(1) == 2\n", "    assert f(1) == 4711\n"))
    assert (loss.code, loss.value) == ("EXPECTED_VALUE_EDITED", "4711.0")


def test_very_many_assertions_of_one_form_are_matched_exactly():
    many = "".join(f"    assert f(x{i}) == 1\n" for i in range(500))
    assert codes(many, many) == []
    assert codes(many, many.replace("f(x7) == 1", "f(x7) >= 1")) == ["ASSERTION_WEAKENED"]


ROWS = (
    "import pytest\n\n@pytest.mark.parametrize('a,b', [(1, 2), ('x', 40)])\ndef test_r(a, b):\n    assert f(a) == b\n"
)


def test_rows_that_went_elsewhere_are_not_lost():
    old, new = read(ROWS), read(ROWS.replace(", ('x', 40)", ""))
    assert old is not None
    assert new is not None
    a, b = old.bodies["test_r"], new.bodies["test_r"]
    assert a.row_ids == ("1-2", "x-40")
    assert lost_rows(a, b, Counter()) == ["('x', 40)"]
    assert lost_rows(a, b, Counter(["assert f('x') == 40, ('x', 40)"])) == []
    assert lost_rows(a, a, Counter()) == []
