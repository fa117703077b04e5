"""Steps begun ahead: what `step` gives is what it would have given, and each runs once."""

from __future__ import annotations

import threading

import pytest

from gatekeeper.adapters.memory_durable import MemoryDurable
from gatekeeper.errors import InputError


def durable(**steps):
    ran = []

    def noted(name, function):
        def run(*args):
            ran.append((name, args, threading.current_thread() is threading.main_thread()))
            return function(*args)

        return run

    made = MemoryDurable({name: noted(name, function) for name, function in steps.items()})
    return made, ran


def test_a_chain_begun_ahead_runs_once_and_elsewhere():
    made, ran = durable(fetch=lambda x: x + 1, checkout=lambda y: y * 10)
    made.ahead(("fetch", "checkout"), 1)
    assert made.step("fetch", 1) == 2
    assert made.step("checkout", 2) == 20
    assert ran == [("fetch", (1,), False), ("checkout", (2,), False)]
    assert set(made.timings_ms) == {"fetch", "checkout"}


def test_the_second_time_it_runs_again():
    made, ran = durable(fetch=lambda x: x + 1)
    made.ahead(("fetch",), 1)
    assert made.step("fetch", 1) == 2
    assert made.step("fetch", 1) == 2
    assert [here for _, _, here in ran] == [False, True]


def test_another_question_is_not_answered_with_what_was_begun():
    made, ran = durable(fetch=lambda x: x + 1)
    made.ahead(("fetch",), 1)
    assert made.step("fetch", 5) == 6
    assert ("fetch", (5,), True) in ran


@pytest.mark.parametrize("failing", ["fetch", "checkout"])
def test_an_error_is_raised_where_the_step_is_asked_for(failing):
    def fail(_):
        raise InputError("TREE_HOSTILE", "a name")

    made, _ = durable(**{"fetch": lambda x: x, "checkout": lambda y: y, failing: fail})
    made.ahead(("fetch", "checkout"), 1)
    if failing == "checkout":
        assert made.step("fetch", 1) == 1
    with pytest.raises(InputError, match="a name"):
        made.step(failing, 1)


def test_what_follows_a_failed_step_is_never_begun():
    def fail(_):
        raise InputError("TREE_HOSTILE", "a name")

    made, ran = durable(fetch=fail, checkout=lambda y: y)
    made.ahead(("fetch", "checkout"), 1)
    with pytest.raises(InputError):
        made.step("fetch", 1)
    assert [name for name, _, _ in ran] == ["fetch"]


def test_steps_that_come_later_are_found_beside_those_begun_ahead():
    made, _ = durable(fetch=lambda x: x + 1)
    made.ahead(("fetch",), 1)
    made.extend({"plan": lambda y: y * 3})
    assert made.step("plan", made.step("fetch", 1)) == 6
