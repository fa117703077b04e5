"""A run that the gate stops says nothing about the change, and a gate that dies leaves nothing running."""

from __future__ import annotations

import fcntl
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from living import marked, until
from sandbox_runs import LIMITS, Runs, usable_runs

from gatekeeper.config import Paths
from gatekeeper.domain.testrun import Termination
from gatekeeper.domain.ticket import Suite
from gatekeeper.errors import CouldNotCheck

LONG = replace(LIMITS, wall_s=600)
STUBBORN = """
import os, signal, time
for n in range(1, 65):
    try:
        signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
if os.fork() == 0:
    os.setsid()
    os.fork()
time.sleep(600)
"""


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    return usable_runs(gate_paths)


def hanging(runs: Runs, name: str, marker: str):
    tree = runs.tree({"hang.py": STUBBORN})
    return replace(runs.request(tree, Suite("hang", command=f"python hang.py {marker}"), LONG), id=name)


def test_stop_ends_the_runs_of_one_verification_and_no_other(runs: Runs) -> None:
    with ThreadPoolExecutor(4) as pool:
        first = [pool.submit(runs.sandbox.run, hanging(runs, f"v1-{n}", f"marker-stop-{n}-77a1")) for n in range(2)]
        other = pool.submit(runs.sandbox.run, hanging(runs, "v2-0", "marker-stop-other-77a1"))
        for marker in ("marker-stop-0-77a1", "marker-stop-1-77a1", "marker-stop-other-77a1"):
            until(lambda marker=marker: len(marked(marker)) >= 3)
        runs.sandbox.stop("v1-")
        assert marked("marker-stop-0-77a1") + marked("marker-stop-1-77a1") == []
        for run in first:
            with pytest.raises(CouldNotCheck) as stopped:
                run.result(30)
            assert (stopped.value.code, stopped.value.blame) == ("SANDBOX_STOPPED", "gate")
        assert not other.done()
        assert marked("marker-stop-other-77a1")
        runs.sandbox.stop("v2-")
        with pytest.raises(CouldNotCheck):
            other.result(30)
    with pytest.raises(CouldNotCheck) as refused:
        runs.sandbox.run(hanging(runs, "v1-again", "marker-stop-again-77a1"))
    assert refused.value.code == "SANDBOX_STOPPED"
    honest = replace(runs.request(runs.tree({}), Suite("s", command="echo hello"), LIMITS), id="v3-0")
    assert runs.sandbox.run(honest).termination is Termination.EXITED


def test_a_stop_from_many_threads_at_any_moment_is_never_blamed_on_the_change(runs: Runs) -> None:
    """Each run ends as itself or as stopped; none as killed, failed or passed wrongly."""
    request = runs.request(runs.tree({}), Suite("s", command="echo hello"), LIMITS)

    def one(number: int) -> str:
        try:
            run = runs.sandbox.run(replace(request, id=f"burst{number}-0"))
        except CouldNotCheck as error:
            return error.code
        return f"{run.termination.value} {run.exit_code}"

    with ThreadPoolExecutor(6) as pool:
        results = [pool.submit(one, number) for number in range(24)]
        for number in range(0, 24, 2):
            threading.Thread(target=runs.sandbox.stop, args=(f"burst{number}-",)).start()
        answers = [r.result(60) for r in results]
    assert set(answers[1::2]) == {"exited 0"}
    assert set(answers[::2]) <= {"exited 0", "SANDBOX_STOPPED"}


CHILD = """
import pickle, sys
from gatekeeper.adapters.bubblewrap_sandbox import BubblewrapSandbox
paths, request = pickle.load(open(sys.argv[1], "rb"))
BubblewrapSandbox(paths).run(request)
"""


def test_nothing_outlives_a_gate_that_is_killed(runs: Runs, tmp_path: Path) -> None:
    marker = "marker-orphan-77a1"
    work = tmp_path / "work"
    work.write_bytes(pickle.dumps((runs.paths, hanging(runs, "v9-0", marker))))
    with subprocess.Popen([sys.executable, "-c", CHILD, str(work)]) as gate:
        try:
            until(lambda: len(marked(marker)) >= 3)
        finally:
            gate.kill()
    until(lambda: marked(marker) == [])
    assert runs.sandbox.run(runs.request(runs.tree({}), Suite("s", command="echo"), LIMITS)).exit_code == 0


def test_a_tree_in_use_is_locked_against_sweeping(runs: Runs) -> None:
    request = hanging(runs, "v8-0", "marker-tree-77a1")
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(runs.sandbox.run, request)
        until(lambda: marked("marker-tree-77a1"))
        handle = os.open(request.tree, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            runs.sandbox.stop("v8-")
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(handle)
        with pytest.raises(CouldNotCheck):
            run.result(30)
