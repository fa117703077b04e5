"""What the sandbox adds to a test run: bare and sandboxed pytest alternate, same interpreter, environment and tree.

    python tests/bench/bench_sandbox.py [--rounds 15] [--tests 50] [--limit-ms MS]

Bare is the interpreter of the prepared environment on the exported tree, with the same variables; sandboxed is the
adapter's own path from request to result. `true` is the sandbox around nothing. Figures are medians; the difference is
the median of the differences of neighbouring runs, so that load on the machine, which changes slowly, cancels out.
With --limit-ms the exit status is 1 where the difference is larger.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from sandbox_runs import LIMITS, Runs

from gatekeeper.adapters.bubblewrap_sandbox import command
from gatekeeper.config import Paths
from gatekeeper.domain.ports import RunRequest
from gatekeeper.domain.testrun import Termination
from gatekeeper.domain.ticket import Suite


def timed(action: Callable[[], object]) -> float:
    """Milliseconds that `action` takes."""
    begun = time.perf_counter()
    action()
    return (time.perf_counter() - begun) * 1000


def bare(request: RunRequest) -> Callable[[], object]:
    """The same command without a sandbox. Mounts show host paths at the same place, so the interpreter is the same."""
    argv = [request.environment.python, "-B", "-m", "pytest", "-q"]
    variables = command.environment_variables(request)

    def run() -> None:
        done = subprocess.run(argv, cwd=request.tree, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


def sandboxed(runs: Runs, request: RunRequest) -> Callable[[], object]:
    """The adapter's own path."""

    def run() -> None:
        done = runs.sandbox.run(request)
        assert (done.termination, done.exit_code) == (Termination.EXITED, 0), done.log

    return run


def measure(runs: Runs, rounds: int, tests: int) -> dict[str, float]:
    """Medians in milliseconds."""
    body = "\n".join(f"def test_{n}():\n    assert {n} + 1 > {n}\n" for n in range(10))
    tree = runs.tree({f"tests/test_{n}.py": body for n in range(max(1, tests // 10))})
    request = runs.request(tree, Suite("tests", runner="pytest", command="-q"), replace(LIMITS, wall_s=60))
    nothing = sandboxed(runs, runs.request(tree, Suite("nothing", command="true")))
    sides = (bare(request), sandboxed(runs, request))
    for side in sides:
        side()
    pairs, empty = [], []
    for number in range(rounds):
        order = (0, 1) if number % 2 else (1, 0)
        took = {index: timed(sides[index]) for index in order}
        pairs.append((took[0], took[1]))
        empty.append(timed(nothing))
    return {
        "bare_ms": round(statistics.median(p[0] for p in pairs), 1),
        "sandboxed_ms": round(statistics.median(p[1] for p in pairs), 1),
        "difference_ms": round(statistics.median(p[1] - p[0] for p in pairs), 1),
        "true_ms": round(statistics.median(empty), 1),
        "rounds": rounds,
    }


def main() -> int:
    """Measure and print one line of words and one of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--tests", type=int, default=50)
    parser.add_argument("--limit-ms", type=float)
    given = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="gatekeeper-bench-", dir="/var/tmp" if os.path.isdir("/var/tmp") else None))
    try:
        base.chmod(0o755)
        found = measure(Runs(Paths(state=base / "state", config=base / "config")), given.rounds, given.tests)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    print(
        f"sandbox: bare pytest {found['bare_ms']} ms, sandboxed {found['sandboxed_ms']} ms, "
        f"difference {found['difference_ms']} ms; around `true` {found['true_ms']} ms",
        file=sys.stderr,
    )
    print(json.dumps(found))
    return int(given.limit_ms is not None and found["difference_ms"] > given.limit_ms)


if __name__ == "__main__":
    sys.exit(main())
