"""What the gate adds to a bare test run: both alternate in one run on the same machine, so that the ratio means something.

    python tests/bench/bench_check.py [--rounds 9] [--test-seconds 0.5]

Bare is `python -m pytest -q` of the same interpreter and packages on the same files. The gate is a whole cold
`gatekeeper check`: process start, git, sandbox, scans, policy, signature. Figures are medians; load on the machine shows
in both columns.
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
from pathlib import Path
from typing import Any

ENV = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C.UTF-8"}
WHO = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "bench"), ("EMAIL", "b@example.org"))
}
FILES = 10


def git(where: Path, *args: str) -> str:
    """Run git for the set-up."""
    done = subprocess.run(
        ["git", "-C", str(where), *args], env={**ENV, **WHO}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def project(folder: Path, seconds: float) -> dict[str, Any]:
    """A repository with ten modules and fifteen tests; the change touches all ten modules and no test."""
    repo = folder / "repo"
    (repo / "src").mkdir(parents=True)
    (repo / "tests").mkdir()
    for n in range(FILES):
        body = "\n\n".join(f"def f{i}(a, b):\n    return a {'-' if i == 0 else '*'} b + {i}" for i in range(12))
        (repo / "src" / f"mod{n}.py").write_text(body + "\n")
    spin = f"def spin():\n    import time\n    end = time.process_time() + {seconds / 15}\n    while time.process_time() < end:\n        pass\n"
    tests = [f"def test_{i}():\n    spin()\n    assert mod{i % FILES}.f1(2, 3) == 7\n" for i in range(15)]
    imports = "import " + ", ".join(f"mod{n}" for n in range(FILES))
    (repo / "tests" / "test_all.py").write_text("\n\n".join([imports, spin, *tests]))
    (repo / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n')
    git(folder, "init", "-q", "-b", "main", str(repo))
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "base")
    git(repo, "checkout", "-q", "-b", "agent")
    for n in range(FILES):
        path = repo / "src" / f"mod{n}.py"
        path.write_text(path.read_text().replace("a - b", "a + b"))
    git(repo, "commit", "-q", "-am", "ten files")
    head = git(repo, "rev-parse", "HEAD")
    cases = "".join(f'<testcase classname="tests.test_all" name="test_{i}"/>' for i in range(15))
    junit = f'<testsuites><testsuite name="p" tests="15" errors="0" failures="0" skipped="0">{cases}</testsuite></testsuites>'
    command = "python -m pytest -q"
    (folder / "ticket.json").write_text(
        json.dumps(
            {"id": "B-1", "title": "bench", "allowed": ["src/**"], "forbidden": [], "verify": command, "risk": "low"}
        )
    )
    (folder / "claim.json").write_text(
        json.dumps(
            {"head_sha": head, "commands": [{"cmd": command, "exit_code": 0}], "junit_xml": junit, "summary": "b"}
        )
    )
    return {"repo": repo, "head": head}


def timed(command: list[str], where: Path, env: dict[str, str]) -> tuple[float, str]:
    """(seconds, standard output) of one command that must succeed."""
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False)
    spent = time.perf_counter() - begun
    if done.returncode:
        raise SystemExit(
            f"{' '.join(command[:4])} failed ({done.returncode}):\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return spent, done.stdout


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--test-seconds", type=float, default=0.5, help="processor time that the suite itself takes")
    args = parser.parse_args()
    from gatekeeper.config import paths
    from gatekeeper.wiring import machine

    host: Any = machine.host_environment(paths())
    with tempfile.TemporaryDirectory(prefix="gate-bench-") as name:
        folder = Path(name)
        made = project(folder, args.test_seconds)
        gate = [
            str(Path(sys.prefix) / "bin" / "gatekeeper"), "check", "--repo", str(made["repo"]), "--head", made["head"],
            "--ticket", str(folder / "ticket.json"), "--claim", str(folder / "claim.json"), "--environment", "host",
            "--format", "json", "--quiet",
        ]  # fmt: skip
        bare = [host.python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        bare_env = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
        bare_times, gate_times, steps = [], [], []
        timed(gate, folder, dict(os.environ))  # the first run fills caches that every later one has
        for number in range(args.rounds):
            bare_times.append(timed(bare, made["repo"], bare_env)[0])
            spent, output = timed(gate, folder, dict(os.environ))
            gate_times.append(spent)
            steps.append(json.loads(output)["timings_ms"])
            print(f"round {number + 1}/{args.rounds}: bare {bare_times[-1]:.2f} s, gate {spent:.2f} s", file=sys.stderr)
    b, g = statistics.median(bare_times), statistics.median(gate_times)
    print(f"bare pytest      {b:6.3f} s   (median of {args.rounds}, 15 tests, {args.test_seconds:g} s of test time)")
    print(f"gatekeeper check {g:6.3f} s   cold, ten changed files, one deciding run")
    print(f"added            {g - b:6.3f} s   ratio {g / b:.2f}")
    print("where the time goes (median ms; re-run, code and secrets overlap):")
    for step in steps[0]:
        print(f"  {step:12} {statistics.median(s.get(step, 0.0) for s in steps):8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
