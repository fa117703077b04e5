"""Tests whose expected value is the code's own answer, next to tests for which the same answer is the question."""

from __future__ import annotations

import pytest

from gatekeeper.domain.verdict import Effect

T = "tests/test_a.py"
BASE = "from pkg import f\n\n\ndef test_a():\n    assert f(2) == 7\n"
ID, NEW = f"{T}::test_a", f"{T}::test_new"
SELF = (
    "expected = f(2, '.')\n    assert f(2, '.') == expected",
    "assert f(3) == f(3)\n    assert isinstance(f(3), int)",
)


def found(judge, body: str, name: str = "test_new", more: str = "") -> dict:
    merged = BASE + f"\n\ndef {name}():\n    {body}\n" + more
    new = f"{T}::{name}"
    now = {ID: "passed", new: "passed"} | ({f"{T}::test_more": "passed"} if more else {})
    return judge(
        {T: BASE, "pkg.py": "def f(a):\n    return 7\n"}, {T: merged, "pkg.py": "def f(a, b=''):\n    return 7\n"},
        was={ID: "passed"}, now=now, restored={ID: "passed"}, probed={ID: "passed", **dict.fromkeys(now, "failed")},
    )  # fmt: skip


@pytest.mark.parametrize("body", SELF)
def test_the_only_new_test_that_asks_the_code_itself_goes_to_a_person(judge, body: str) -> None:
    assert found(judge, body)["TEST_PROVES_NOTHING"].effect is Effect.ASKS


@pytest.mark.parametrize("body", SELF)
def test_beside_another_new_test_it_is_told(judge, body: str) -> None:
    more = "\n\ndef test_more():\n    assert f(3, '.') == 8\n"
    assert found(judge, body, more=more)["TEST_PROVES_NOTHING"].effect is Effect.ADVISES


@pytest.mark.parametrize(
    "body",
    ["assert f(f(2)) == f(2)", "assert f(2) == f(3)", "assert f(3) == f(3)\n    assert f(3) == 9", "assert f(3) == 9"],
)
def test_round_trips_and_answers_that_are_spelled_out_are_none(judge, body: str) -> None:
    assert "TEST_PROVES_NOTHING" not in found(judge, body)


def test_a_test_of_sameness_may_ask_for_the_same_answer(judge) -> None:
    for name in ("test_deterministic", "test_stable_order", "test_is_cached"):
        assert "TEST_PROVES_NOTHING" not in found(judge, SELF[0], name)
