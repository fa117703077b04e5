"""What the gate adds to suites of ten seconds and a minute: bare pytest and the gate alternate in one run.

    python tests/bench/bench_suites.py [--seconds 10 60] [--rounds 3 1]

Each suite is many small tests with real work in a few files. Two changes are judged: one of code alone (one run
decides), and one that also alters a test and adds a file of tests. Bare is `python -m pytest -q` of the same
interpreter on the merge result, before and after the gate: a machine that grows slower meanwhile shows in both. The
gate is a whole cold `gatekeeper check` with nothing kept from an earlier one of the same base. CPU is that of the
process, of what it waited for, and of every sandbox as its control group counted it (0 where there are none: then CPU
says nothing). Figures are medians; the exit status is 1 where one is over what the gate promises:

    one run decides: 1.1 times bare plus 1 s        tests changed: 2.2 times bare

Where tests changed the gate has two runs beside each other. On processors that share a core each of two runs costs more
processor time than one alone, with or without a gate, so its CPU is held against that of a bare run which has a second
one beside it; the figure of one alone is printed too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ENV = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C.UTF-8"}
WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "bench"), ("EMAIL", "b@example.org"))
}
FILES = 10
TEST_S = 0.05
"""Processor time of one test."""
COMMAND = "python -m pytest -q"
COUNTED = """
import sys
from gatekeeper.adapters.bubblewrap_sandbox import BubblewrapSandbox
place, run = sys.argv.pop(1), BubblewrapSandbox.run
def counted(self, request):
    made = run(self, request)
    with open(place, "a") as file:
        file.write(f"{made.cpu_s or 0}\\n")
    return made
BubblewrapSandbox.run = counted
sys.argv[0] = "gatekeeper"
import runpy
runpy.run_module("gatekeeper", run_name="__main__")
"""
"""The command line as it is, and a note of the processor time of each sandbox: the gate does not wait for its insides."""


@dataclass(frozen=True)
class Spent:
    """Seconds of one command."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Promise:
    """The most that the gate may take over a bare run."""

    factor: float
    extra: float

    def most(self, bare: float) -> float:
        """Seconds."""
        return self.factor * bare + self.extra


PROMISES = {"code alone": Promise(1.1, 1.0), "tests changed": Promise(2.2, 0.0)}


def git(where: Path, *args: str) -> str:
    """Run git for the set-up."""
    done = subprocess.run(
        ["git", "-C", str(where), *args], env={**ENV, **WHO}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def calibrated() -> int:
    """Rounds of the tests' work that take `TEST_S` here."""
    rounds = 10_000
    begun = time.process_time()
    sum(i * i % 7 for i in range(rounds * 20))
    return max(1000, int(rounds * 20 * TEST_S / (time.process_time() - begun)))


def test_module(number: int, tests: int) -> str:
    """The text of one file of tests."""
    body = [f"from mod{number % FILES} import work"]
    body += [f"def test_{n}():\n    assert work({n}) == work({n})[:]\n" for n in range(tests)]
    return "\n\n".join(body)


def project(folder: Path, seconds: float) -> dict[str, str]:
    """A repository with the two changes; {name of the change: its head}."""
    repo, rounds = folder / "repo", calibrated() // 2
    (repo / "src").mkdir(parents=True)
    (repo / "tests").mkdir()
    each = max(1, round(seconds / TEST_S / FILES))
    for n in range(FILES):
        work = f"def work(seed):\n    total = 0\n    for i in range({rounds}):\n        total += (i + seed) * i % 7\n    return [total]\n"
        (repo / "src" / f"mod{n}.py").write_text(work + "\n\ndef old(a, b):\n    return a - b\n")
        (repo / "tests" / f"test_mod{n}.py").write_text(test_module(n, each))
    (repo / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n')
    git(folder, "init", "-q", "-b", "main", str(repo))
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "base")
    heads = {}
    for name in PROMISES:
        git(repo, "checkout", "-q", "-b", name.replace(" ", "-"), "main")
        for n in range(FILES):
            path = repo / "src" / f"mod{n}.py"
            path.write_text(path.read_text().replace("a - b", "a + b"))
        names = {n: [f"test_{t}" for t in range(each)] for n in range(FILES)}
        if name == "tests changed":
            first = repo / "tests" / "test_mod0.py"
            first.write_text(
                first.read_text() + "\n\nfrom mod0 import old\n\n\ndef test_old():\n    assert old(2, 2) == 4\n"
            )
            (repo / "tests" / f"test_mod{FILES}.py").write_text(
                "from mod1 import old\n\n\ndef test_sum():\n    assert old(1, 2) == 3\n"
            )
            names[0].append("test_old")
            names[FILES] = ["test_sum"]
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", name)
        heads[name] = git(repo, "rev-parse", "HEAD")
        cases = "".join(
            f'<testcase classname="tests.test_mod{n}" name="{t}"/>' for n, tests in names.items() for t in tests
        )
        count = sum(map(len, names.values()))
        junit = f'<testsuites><testsuite name="p" tests="{count}" errors="0" failures="0" skipped="0">{cases}</testsuite></testsuites>'
        claim = {
            "head_sha": heads[name],
            "commands": [{"cmd": COMMAND, "exit_code": 0}],
            "junit_xml": junit,
            "summary": "b",
        }
        (folder / f"{name}.claim.json").write_text(json.dumps(claim))
        git(repo, "worktree", "add", "-q", str(folder / name), heads[name])
    ticket = {
        "id": "B-1",
        "title": "bench",
        "allowed": ["src/**", "tests/**"],
        "forbidden": [],
        "verify": COMMAND,
        "risk": "low",
    }
    (folder / "ticket.json").write_text(json.dumps(ticket))
    return heads


def timed(command: list[str], where: Path, env: dict[str, str]) -> tuple[Spent, str]:
    """(what it took, its output) of one command that must succeed."""
    with tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        child = subprocess.Popen(command, cwd=where, env=env, stdout=output, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if child.returncode:
        raise SystemExit(f"{' '.join(command[:4])} failed ({child.returncode}):\n{text[-3000:]}")
    return Spent(wall, used.ru_utime + used.ru_stime), text


def measured(folder: Path, seconds: float, rounds: int, python: str, kept: Path) -> bool:
    """Measure one suite and print it; True where every figure keeps its promise."""
    heads = project(folder, seconds)
    notes = folder / "cpu"
    gate = [sys.executable, "-c", COUNTED, str(notes), "check", "--repo", str(folder / "repo"), "--environment", "host",
            "--ticket", str(folder / "ticket.json"), "--format", "json", "--quiet"]  # fmt: skip
    bare = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    bare_env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    good = True
    for name, promise in PROMISES.items():
        rows: list[tuple[Spent, Spent, float]] = []
        runs: dict[str, int] = {}
        for number in range(rounds):
            plain, _ = timed(bare, folder / name, bare_env)
            known = set(kept.glob("*.json"))
            asked = [*gate, "--head", heads[name], "--claim", str(folder / f"{name}.claim.json")]
            notes.write_text("")
            judged, output = timed(asked, folder, dict(os.environ))
            judged = replace(judged, cpu=judged.cpu + sum(map(float, notes.read_text().split())))
            again, _ = timed(bare, folder / name, bare_env)
            plain = Spent((plain.wall + again.wall) / 2, (plain.cpu + again.cpu) / 2)
            beside = plain.cpu
            if promise is PROMISES["tests changed"]:
                with ThreadPoolExecutor(2) as pool:
                    both = [pool.submit(timed, bare, folder / name, bare_env) for _ in range(2)]
                    beside = sum(made.result()[0].cpu for made in both) / 2
            rows.append((plain, judged, beside))
            for made in set(kept.glob("*.json")) - known:
                made.unlink()  # the next round is to begin as this one did
            answer: dict[str, Any] = json.loads(output)
            runs = {}
            for run in answer["runs"]:
                runs[run["role"]] = runs.get(run["role"], 0) + 1
            print(f"{seconds:g} s, {name}, round {number + 1}/{rounds}: bare {plain.wall:.1f} s, gate {judged.wall:.1f} s", file=sys.stderr)  # fmt: skip
        for what in ("wall", "cpu"):
            alone = statistics.median(getattr(r[0], what) for r in rows)
            b = alone if what == "wall" else statistics.median(r[2] for r in rows)
            g = statistics.median(getattr(r[1], what) for r in rows)
            kept_it = g <= promise.most(b)
            good = good and kept_it
            print(
                f"{seconds:5g} s  {name:13}  {what:4}  bare {b:7.2f} s  gate {g:7.2f} s  ratio {g / b:4.2f}"
                f"  at most {promise.most(b):7.2f} s  {'kept' if kept_it else 'OVER'}"
                + (f"  (bare alone {alone:.2f} s, ratio {g / alone:.2f})" if b != alone else "")
            )
        print(f"         runs: {', '.join(f'{n} {role}' for role, n in runs.items())}")
    return good


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="+", default=[10, 60], help="processor time of each suite")
    parser.add_argument("--rounds", type=int, nargs="+", default=[3, 1], help="rounds of each suite")
    args = parser.parse_args()
    from gatekeeper.config import paths
    from gatekeeper.wiring import machine

    host: Any = machine.host_environment(paths())
    good = True
    for number, seconds in enumerate(args.seconds):
        with tempfile.TemporaryDirectory(prefix="gate-bench-") as name:
            rounds = args.rounds[min(number, len(args.rounds) - 1)]
            good = measured(Path(name), seconds, rounds, host.python, paths().kept_runs) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
