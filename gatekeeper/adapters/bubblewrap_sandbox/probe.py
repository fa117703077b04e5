"""Run one command line in the sandbox as a suite would run: `python -m ...probe --tree DIR [--at PATH] -- CMD...`.

For trying attacks by hand against the very code that guards the gate. Prints the output's tail.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import signal
import sys
from pathlib import Path

from gatekeeper.adapters.bubblewrap_sandbox.command import TREE
from gatekeeper.adapters.bubblewrap_sandbox.sandbox import BubblewrapSandbox
from gatekeeper.config import paths
from gatekeeper.domain.ports import Limits, RunRequest, TestEnvironment
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.ticket import Suite


def main() -> int:
    """Run it; the exit status is the command's, or 3 where a limit ended it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--at", default=TREE)
    parser.add_argument("--wall", type=float, default=15.0)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, _end_the_run)
    environment = TestEnvironment((), "/usr/bin/python3", (), "", "probe", has_recorder=False)
    run = BubblewrapSandbox(paths(), at=given.at).run(
        RunRequest(
            id="probe",
            role=RunRole.MERGED,
            suite=Suite("probe", command=shlex.join(given.command)),
            tree_oid="",
            tree=given.tree,
            environment=environment,
            limits=Limits(wall_s=given.wall),
        )
    )
    sys.stdout.write(run.log)
    sys.stdout.write(f"\n{run.termination.value} {run.exit_code} {run.wall_s:.3f}s\n")
    return run.exit_code if run.exit_code is not None else 3


def _end_the_run(_number: int, _frame: object) -> None:
    """Kill the sandbox's first process, and with it all others; the run then ends as usual and its output is shown."""
    for child in _children(os.getpid()):
        for inside in _children(child):
            with contextlib.suppress(OSError):
                os.kill(inside, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    try:
        return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]
    except OSError:
        return []


if __name__ == "__main__":
    sys.exit(main())
