"""Reused runs: made once for all who wait, never kept where they did not end by themselves."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from evidence_builder import build_run

from gatekeeper.domain.testrun import RunRole, Termination
from gatekeeper.workflow.kept_runs import KeptRuns


def suite_run():
    return build_run({"tests/test_a.py::test_a": "passed"}, role=RunRole.BASE)


def test_two_that_ask_at_once_get_one_run():
    kept, started, go, made = KeptRuns(), threading.Event(), threading.Event(), []

    def make():
        made.append(1)
        started.set()
        assert go.wait(30)
        return suite_run()

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(kept.get, "key", make)
        assert started.wait(30)
        second = pool.submit(kept.get, "key", make)
        go.set()
        assert first.result(30) is second.result(30)
    assert made == [1]


def test_other_content_is_another_run():
    kept = KeptRuns()
    assert kept.get("a", suite_run) is not kept.get("b", suite_run)


@pytest.mark.parametrize("ended", [t for t in Termination if t is not Termination.EXITED])
def test_run_that_was_ended_is_made_again(ended):
    kept, made = KeptRuns(), []

    def make():
        made.append(1)
        return replace(suite_run(), termination=ended)

    kept.get("key", make)
    kept.get("key", make)
    assert made == [1, 1]


def test_failure_reaches_who_waits_and_is_not_kept():
    kept = KeptRuns()

    def broken():
        raise OSError("disk")

    with pytest.raises(OSError, match="disk"):
        kept.get("key", broken)
    assert kept.get("key", suite_run)


def test_old_ones_are_let_go():
    kept, made = KeptRuns(size=2), []

    def make():
        made.append(1)
        return suite_run()

    for key in ("a", "b", "c", "a"):
        kept.get(key, make)
    assert len(made) == 4
