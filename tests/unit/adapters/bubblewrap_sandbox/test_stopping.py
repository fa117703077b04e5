"""Runs under way: told to stop from another thread, and none begun under a prefix that was stopped."""

from __future__ import annotations

import os
import select
import subprocess
import threading
from pathlib import Path

import pytest

from gatekeeper.adapters.bubblewrap_sandbox import cgroups, stopping
from gatekeeper.adapters.bubblewrap_sandbox.cgroups import Hierarchy
from gatekeeper.adapters.bubblewrap_sandbox.sandbox import _orphans_end
from gatekeeper.adapters.bubblewrap_sandbox.stopping import RunsUnderWay
from gatekeeper.errors import CouldNotCheck


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def told(signal: int) -> bool:
    return bool(select.select([signal], [], [], 0)[0])


def test_only_runs_of_the_prefix_are_told_and_the_stop_waits_for_them() -> None:
    runs = RunsUnderWay()
    mine, others = threading.Event(), threading.Event()
    seen = []

    def run(request: str, inside: threading.Event, leave: threading.Event | None) -> None:
        with runs.entered(request) as signal:
            inside.set()
            if leave is None:
                select.select([signal], [], [])
            else:
                leave.wait(30)
            seen.append((request, told(signal)))

    done = threading.Event()
    threads = [threading.Thread(target=run, args=("v1-merged", mine, None))]
    threads.append(threading.Thread(target=run, args=("v2-merged", others, done)))
    for thread in threads:
        thread.start()
    assert mine.wait(30)
    assert others.wait(30)
    assert runs.stop("v1-") == 1
    assert seen == [("v1-merged", True)]
    done.set()
    for thread in threads:
        thread.join(30)
    assert seen[1] == ("v2-merged", False)


def test_nothing_begins_under_a_stopped_prefix_for_a_while() -> None:
    clock = Clock()
    runs = RunsUnderWay(clock)
    assert runs.stop("v1-") == 0
    with pytest.raises(CouldNotCheck) as refused, runs.entered("v1-base"):
        pass
    assert (refused.value.code, refused.value.blame) == ("SANDBOX_STOPPED", "gate")
    with runs.entered("v10-base"):
        pass
    clock.now += stopping.REFUSED_S
    with runs.entered("v1-base"):
        pass


def test_what_is_remembered_is_bounded_and_the_newest_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "MAX_PREFIXES", 3)
    runs = RunsUnderWay(Clock())
    for name in ("a-", "b-", "c-", "a-", "d-"):
        runs.stop(name)
    assert list(runs._refused) == ["c-", "a-", "d-"]


def test_a_run_that_fails_is_no_longer_under_way_and_leaves_no_descriptor() -> None:
    runs = RunsUnderWay()
    before = os.listdir("/proc/self/fd")
    with pytest.raises(ValueError, match="x"), runs.entered("v1-a"):
        raise ValueError("x")
    assert len(os.listdir("/proc/self/fd")) == len(before)
    assert runs.stop("") == 0


def test_a_program_whose_gate_is_gone_is_not_started() -> None:
    argv = _orphans_end(["/bin/echo", "started"])
    mine = subprocess.run(argv, capture_output=True, check=False)
    orphan = subprocess.run(["/bin/sh", "-c", '"$@"; exit $?', "sh", *argv], capture_output=True, check=False)
    assert (mine.stdout, orphan.stdout) == (b"started\n", b"")


@pytest.mark.parametrize("place", ["dead", "reused", "alive", "elsewhere", "unknown"])
def test_sweep_kills_only_what_a_dead_gate_of_this_namespace_left(tmp_path: Path, place: str) -> None:
    here, since = cgroups._namespace(), cgroups._since(os.getpid())
    names = {
        "dead": f"gatekeeper-999999999-5.{here}-ab",
        "reused": f"gatekeeper-{os.getpid()}-{int(since) - 1}.{here}-ab",
        "alive": f"gatekeeper-{os.getpid()}-{since}.{here}-ab",
        "elsewhere": "gatekeeper-999999999-5.1-ab",
        "unknown": "gatekeeper-999999999-ab",
    }
    group = tmp_path / names[place]
    group.mkdir()
    with subprocess.Popen(["sleep", "600"]) as left:
        (group / "cgroup.procs").write_text(f"{left.pid}\n", encoding="ascii")
        cgroups.sweep(Hierarchy(1, {"memory": tmp_path}))
        if place in ("dead", "reused"):
            assert left.wait(30) == -9
        else:
            assert left.poll() is None
            left.kill()
