"""Programs that want more than their share, or to live longer than their run."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from living import marked
from sandbox_runs import LIMITS, Runs, usable_runs

from gatekeeper.config import Paths
from gatekeeper.domain.testrun import Termination

SHORT = replace(LIMITS, wall_s=1)


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    return usable_runs(gate_paths)


@pytest.fixture
def grouped(runs: Runs) -> Runs:
    if "memory_limit" in runs.sandbox.engine().missing:
        pytest.skip("no control groups here; the engine says so in `missing`")
    return runs


def test_a_memory_hog_is_killed(grouped: Runs) -> None:
    run = grouped.python("import os\nos.fork(); os.fork()\nkept = [bytearray(b'x' * (32 << 20)) for _ in range(64)]\n")
    assert (run.termination, run.exit_code) == (Termination.OUT_OF_MEMORY, None)


def test_a_memory_hog_that_hides_behind_the_file_system_is_killed(grouped: Runs) -> None:
    code = "for n in range(10**6):\n    open(f'/repo/{n}', 'wb').write(bytes(8 << 20))\n"
    assert grouped.python(code).termination is Termination.OUT_OF_MEMORY


def test_a_fork_bomb_is_stopped(grouped: Runs) -> None:
    code = "import os, signal, time\nwhile True:\n    if os.fork() == 0:\n        signal.pause()\n"
    assert grouped.python(code).termination is Termination.TOO_MANY_PROCESSES


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/var/tmp"])
def test_a_disk_filler_is_stopped(runs: Runs, place: str) -> None:
    code = f"for n in range(100):\n    open('{place}/%d' % n, 'wb').write(bytes(1 << 20))\n"
    run = runs.python(code)
    assert (run.termination, run.exit_code) == (Termination.EXITED, 1)
    assert "No space left" in run.log


MANY_FILES = """
import os
for folder in range(1000):
    os.mkdir(f"{place}/{folder}")
    for number in range(1000):
        os.close(os.open(f"{place}/{folder}/{number}", os.O_CREAT))
"""


@pytest.mark.parametrize("place", ["/repo", "/tmp", "/dev/shm"])
def test_a_million_empty_files_are_stopped(runs: Runs, place: str) -> None:
    """They hold no byte, so no limit on bytes sees them."""
    limits = replace(LIMITS, wall_s=300, memory_mib=2048, files=20_000)
    run = runs.python(f"place = {place!r}\n{MANY_FILES}", limits)
    assert (run.termination, run.exit_code) == (Termination.OUT_OF_MEMORY, None)
    assert "more than 20000 files" in run.log
    assert run.wall_s < 60


def test_many_files_below_the_limit_pass(runs: Runs) -> None:
    code = "import os\nfor n in range(15_000):\n    os.close(os.open(f'/repo/{n}', os.O_CREAT))\n"
    assert runs.python(code, replace(LIMITS, files=20_000)).exit_code == 0


def test_a_file_has_a_largest_size(runs: Runs) -> None:
    run = runs.python("open('big', 'wb').truncate(17 << 20)")
    assert run.exit_code != 0
    assert "File too large" in run.log


def test_an_output_flood_is_stopped(runs: Runs) -> None:
    run = runs.command({}, "yes")
    assert (run.termination, run.exit_code) == (Termination.OUTPUT_FLOOD, None)
    assert len(run.log) <= 64 * 1024


@pytest.mark.parametrize(
    "code",
    [
        "import time\ntime.sleep(600)  # marker-HANG",
        (
            "import signal, time\nfor n in range(1, 65):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n"
            "    except (OSError, ValueError):\n        pass\nwhile True:\n    time.sleep(600)"
        ),
        (
            "import os, sys, time\nfor fd in range(20):\n    try:\n        os.close(fd)\n    except OSError:\n        pass\n"
            "time.sleep(600)"
        ),
        "while True: pass",
    ],
    ids=["sleeps", "ignores signals", "closes its output", "spins"],
)
def test_a_hang_is_ended(runs: Runs, code: str) -> None:
    run = runs.command({"hang.py": code}, "python hang.py marker-hang-5e1c", SHORT)
    assert (run.termination, run.exit_code) == (Termination.TIMED_OUT, None)
    assert marked("marker-hang-5e1c") == []


def test_a_daemon_does_not_outlive_the_run(runs: Runs) -> None:
    daemon = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(600)\n    os._exit(0)\n"
    run = runs.command({"daemon.py": daemon}, "python daemon.py marker-daemon-5e1c > /dev/null 2>&1", SHORT)
    assert (run.termination, run.exit_code) == (Termination.EXITED, 0)
    assert marked("marker-daemon-5e1c") == []


def test_killing_everything_in_reach_is_no_success(runs: Runs) -> None:
    run = runs.python("import os, signal\nos.kill(os.getppid(), 9)\nos.kill(-1, 9)\nos.kill(os.getpid(), 9)\n")
    assert run.exit_code != 0


def test_no_group_is_left_behind(grouped: Runs) -> None:
    from gatekeeper.adapters.bubblewrap_sandbox import cgroups

    grouped.python("pass")
    hierarchy = cgroups.find()
    assert hierarchy is not None
    left = [p for place in hierarchy.places for p in place.glob(f"gatekeeper-{os.getpid()}-*")]
    assert left == []


def test_honest_use_below_the_limits_passes(runs: Runs) -> None:
    code = """
        import os, subprocess
        children = [subprocess.Popen(["sleep", "0"]) for _ in range(40)]
        assert [c.wait() for c in children] == [0] * 40
        open("/tmp/x", "wb").write(bytes(8 << 20))
        kept = bytearray(100 << 20)
        print("x" * 500_000)
        """
    run = runs.python(code)
    assert (run.termination, run.exit_code) == (Termination.EXITED, 0), run.log
