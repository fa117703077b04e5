"""Processes of the tests: how long one waited, and the end of those that a run left behind."""

from __future__ import annotations

import contextlib
import os
import signal


def waited_for_a_core(pid: int) -> float:
    """Seconds that a process was ready to run and did not, as the kernel counts them."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def kill_quietly(pid: int) -> None:
    """SIGKILL, where it is still there."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def end_descendants() -> None:
    """Whatever a run left behind: orphans come to this process, which is their reaper."""
    for _ in range(50):
        parents = {}
        for name in os.listdir("/proc"):
            if name.isdigit():
                try:
                    with open(f"/proc/{name}/stat", "rb") as file:
                        parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
                except (OSError, ValueError, IndexError):
                    pass
        own, found = os.getpid(), []
        for pid in parents:
            above, steps = pid, 0
            while above not in (0, 1, own) and steps < 1000:
                above, steps = parents.get(above, 0), steps + 1
            if above == own and pid != own:
                found.append(pid)
        for pid in found:
            kill_quietly(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        if not found:
            return
