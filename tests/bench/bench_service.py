"""Twenty distinct changes submitted at once to a served gate, beside the bare test runs of the same trees.

    python tests/bench/bench_service.py [--changes 20] [--test-seconds 2] [--workers N] [--profile FILE]

Bare is `python -m pytest -q` of the same interpreter and packages on the same trees, two at a time (as many as there are
cores); half of them run before the gate's part and half after it, so that load on the machine shows on both sides.
While the gate works, another agent submits (and cancels) every quarter second: those calls are timed. Watch latency is
the time from the moment that the store gives to a change of state to the moment when a watcher in another process has the
snapshot in hand. The exit status is 1 where a call failed or a change was not accepted.
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
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).resolve().parent))
from bench_check import git

from gatekeeper.client import Client, Verification, is_final, state_of, verdict_of

REPOSITORY, SUITE_TESTS = "bench/project", 15
GATEKEEPER = [sys.executable, "-m", "gatekeeper"]
PEOPLE = {
    "operator": ("human", "operator"), "reviewer": ("human", "reviewer"), "agent": ("agent", "agent"),
    "prober": ("agent", "agent"),
}  # fmt: skip


def project(folder: Path, changes: int, seconds: float) -> list[str]:
    """A repository with a module for each change, and fifteen tests. Returns the heads, each mending one module."""
    repo = folder / "repo"
    (repo / "src").mkdir(parents=True)
    (repo / "tests").mkdir()
    for n in range(changes + 1):
        body = "\n\n".join(f"def f{i}(a, b):\n    return a {'-' if i == 0 else '*'} b + {i}" for i in range(12))
        (repo / "src" / f"mod{n}.py").write_text(f'"""Module {n}."""\n\n\n{body}\n')
    spin = f"def spin():\n    end = time.process_time() + {seconds / SUITE_TESTS}\n    while time.process_time() < end:\n        pass\n"
    tests = [f"def test_{i}():\n    spin()\n    assert mod{i % changes}.f1(2, 3) == 7\n" for i in range(SUITE_TESTS)]
    imports = "import time\n\nimport " + ", ".join(f"mod{n}" for n in range(changes))
    (repo / "tests" / "test_all.py").write_text("\n\n".join([imports, spin, *tests]))
    (repo / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n')
    git(folder, "init", "-q", "-b", "main", str(repo))
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "base")
    heads = []
    for n in range(changes + 1):  # one more for the prober
        git(repo, "checkout", "-q", "-b", f"agent-{n}", "main")
        path = repo / "src" / f"mod{n}.py"
        path.write_text(path.read_text().replace("a - b", "a + b"))
        git(repo, "commit", "-q", "-am", f"mend module {n}")
        heads.append(git(repo, "rev-parse", "HEAD"))
    return heads


def claim(head: str) -> dict[str, Any]:
    """An honest claim."""
    cases = "".join(f'<testcase classname="tests.test_all" name="test_{i}"/>' for i in range(SUITE_TESTS))
    head_line = f'<testsuite name="p" tests="{SUITE_TESTS}" errors="0" failures="0" skipped="0">'
    junit = f"<testsuites>{head_line}{cases}</testsuite></testsuites>"
    return {
        "head_sha": head, "commands": [{"cmd": "python -m pytest -q", "exit_code": 0}], "junit_xml": junit, "summary": "b",
    }  # fmt: skip


def bare_runs(folder: Path, heads: Sequence[str], python: str) -> float:
    """Seconds that bare pytest takes on the trees, as many at a time as there are cores."""
    trees = []
    for head in heads:
        tree = folder / "bare" / head
        git(folder / "repo", "worktree", "add", "-q", "--detach", str(tree), head)
        trees.append(tree)
    variables = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}

    def one(tree: Path) -> None:
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        done = subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"bare pytest failed:\n{done.stdout[-2000:]}")

    begun = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(one, trees))
    return time.perf_counter() - begun


@contextmanager
def served(
    folder: Path, environment: dict[str, str], options: Sequence[str], profile: Path | None
) -> Iterator[tuple[str, int]]:
    """(address, process id) of a gate in a process of its own."""
    address, log = folder / "address", folder / "serve.log"
    start = [sys.executable, "-m", "cProfile", "-o", str(profile), "-m", "gatekeeper"] if profile else GATEKEEPER
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*start, "serve", "--listen", "127.0.0.1:0", "--address-file", str(address), *options],
            env=environment, stdout=output, stderr=output,
        )  # fmt: skip
        try:
            end = time.monotonic() + 60
            while not address.exists():
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"The server did not start:\n{log.read_text()[-2000:]}")
                time.sleep(0.05)
            yield address.read_text().strip(), process.pid
        finally:
            process.terminate()
            try:
                process.wait(timeout=40)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def memory_mb(pid: int, field: str = "VmRSS") -> float:
    """Resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return float(line.split()[1]) / 1024
    return 0.0


def watcher() -> int:
    """The other process: watches each name it reads, prints (milliseconds since a change was stored, state)."""
    told = threading.Lock()

    def late(stamp: Any) -> float:
        return (time.time() - (stamp.seconds + stamp.nanos / 1e9)) * 1000

    def one(client: Client, name: str) -> None:
        states = set()
        for snapshot in client.watch(name):
            state = state_of(snapshot)
            stamp = snapshot.end_time if is_final(snapshot) else snapshot.start_time
            if state not in states and snapshot.HasField("start_time"):
                delay = late(stamp)
                with told:
                    print(json.dumps([delay, state.value if state else "?"]), flush=True)
            states.add(state)

    with Client(sys.stdin.readline().strip(), token=sys.stdin.readline().strip()) as client:
        threads = []
        for line in sys.stdin:
            threads.append(threading.Thread(target=one, args=(client, line.strip())))
            threads[-1].start()
        for thread in threads:
            thread.join()
    return 0


class Probe:
    """Another agent, who submits and cancels while the gate works."""

    def __init__(self, client: Client, head: str) -> None:
        self.spent_ms: list[float] = []
        self.failed: list[str] = []
        self._client, self._head = client, head
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _work(self) -> None:
        number = 0
        while not self._end.wait(0.25):
            number += 1
            try:
                begun = time.perf_counter()
                made = submit(self._client, f"probe-{number}", self._head)
                self.spent_ms.append((time.perf_counter() - begun) * 1000)
                self._client.cancel(made.name)
            except Exception as error:
                self.failed.append(str(error))


def submit(client: Client, key: str, head: str) -> Verification:
    """Submit one change."""
    return client.submit(repository=REPOSITORY, change=key, head=head, ticket="B-1", claim=claim(head))


def judge_all(folder: Path, heads: list[str], options: Sequence[str], profile: Path | None) -> dict[str, Any]:
    """All heads but the last at once; what was measured."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GATEKEEPER_")}
    environment |= {"GATEKEEPER_STATE_DIR": str(folder / "state"), "GATEKEEPER_CONFIG_DIR": str(folder / "config")}
    tokens = {}
    for name, (kind, role) in PEOPLE.items():
        command = [*GATEKEEPER, "token", "create", "--subject", name, "--kind", kind, "--role", role]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        tokens[name] = done.stdout.strip()
    with served(folder, environment, options, profile) as (address, pid):
        clients = {name: Client(address, token=token, retry_for=0.0) for name, token in tokens.items()}
        clients["operator"].register_repository(REPOSITORY, (folder / "repo").as_uri())
        document = {
            "id": "B-1", "title": "bench", "allowed": ["src/**"], "forbidden": [], "verify": "python -m pytest -q",
            "risk": "low",
        }  # fmt: skip
        ticket = clients["agent"].create_ticket(REPOSITORY, json.dumps(document).encode())
        clients["reviewer"].approve_ticket(ticket.name, ticket.digest)
        # The first one fills caches that every later one has.
        clients["agent"].wait(submit(clients["agent"], "warm", heads[-1]).name)
        before = memory_mb(pid)
        watching = subprocess.Popen(
            [sys.executable, __file__, "--watcher"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert watching.stdin is not None
        watching.stdin.write(f"{address}\n{tokens['agent']}\n")
        watching.stdin.flush()
        first_ms: list[float] = []
        barrier = threading.Barrier(len(heads) - 1)
        began: list[float] = []

        def one(number: int) -> Verification:
            barrier.wait()
            begun = time.perf_counter()
            began.append(begun)
            made = submit(clients["agent"], f"change-{number}", heads[number])
            first_ms.append((time.perf_counter() - begun) * 1000)
            assert watching.stdin is not None
            watching.stdin.write(f"{made.name}\n")
            watching.stdin.flush()
            return clients["agent"].wait(made.name)

        with ThreadPoolExecutor(len(heads) - 1) as pool, Probe(clients["prober"], heads[-1]) as probe:
            ended = list(pool.map(one, range(len(heads) - 1)))
            total = time.perf_counter() - min(began)
        watching.stdin.close()
        delays = [json.loads(line)[0] for line in watching.stdout or ()]
        watching.wait(timeout=60)
        after, peak = memory_mb(pid), memory_mb(pid, "VmHWM")
        steps: dict[str, list[float]] = {}
        for verification in ended:
            for step, spent in verification.timings_ms.items():
                steps.setdefault(step, []).append(spent)
        for client in clients.values():
            client.close()
    verdicts = [v.value if (v := verdict_of(e)) else "none" for e in ended]
    return {
        "total_s": total, "first_ms": first_ms, "probe_ms": probe.spent_ms, "failed": probe.failed, "watch_ms": delays,
        "verdicts": verdicts, "memory_mb": (before, after, peak), "steps": steps,
    }  # fmt: skip


def told(bare: float, found: dict[str, Any], changes: int, seconds: float) -> None:
    """What was measured, for people."""
    total, watch = found["total_s"], found["watch_ms"]
    print(
        f"bare pytest, {changes} trees      {bare:7.2f} s   ({SUITE_TESTS} tests, {seconds:g} s of test time each, {os.cpu_count()} at a time)"
    )
    print(f"served gate, {changes} changes    {total:7.2f} s   submitted at once")
    print(f"ratio                      {total / bare:7.2f}")
    for words, spent in (("Submit, all at once", found["first_ms"]), ("Submit, while they run", found["probe_ms"])):
        print(f"{words:26} {statistics.median(spent):7.1f} ms  median, {max(spent):.1f} ms at most, of {len(spent)}")
    print(
        f"{'Watch, after the store':26} {statistics.median(watch):7.1f} ms  median, {max(watch):.1f} ms at most, of {len(watch)}"
    )
    before, after, peak = found["memory_mb"]
    print(f"server's memory            {before:7.0f} MB before, {after:.0f} MB after, {peak:.0f} MB at most")
    print("where the time goes (median ms a verification; waiting for a place is in rerun, code, secrets):")
    for step, spent in found["steps"].items():
        print(f"  {step:12} {statistics.median(spent):9.1f}")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--changes", type=int, default=20)
    parser.add_argument("--test-seconds", type=float, default=2.0, help="processor time that a suite itself takes")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--profile", type=Path, help="write a cProfile of the server here")
    parser.add_argument("--watcher", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.watcher:
        return watcher()
    from gatekeeper.config import Paths
    from gatekeeper.wiring import machine

    folder = Path(tempfile.mkdtemp(prefix="gatekeeper-bench-", dir="/var/tmp" if os.path.isdir("/var/tmp") else None))
    try:
        folder.chmod(0o755)
        heads = project(folder, args.changes, args.test_seconds)
        host: Any = machine.host_environment(Paths(state=folder / "state", config=folder / "config"))
        half = args.changes // 2
        bare = bare_runs(folder, heads[:half], host.python)
        options = ["--environment", "host", *(("--workers", str(args.workers)) if args.workers else ())]
        found = judge_all(folder, heads, options, args.profile)
        bare += bare_runs(folder, heads[half:-1], host.python)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    told(bare, found, args.changes, args.test_seconds)
    wrong = [*found["failed"], *(v for v in found["verdicts"] if v != "accepted")]
    print(
        f"failed calls: {len(found['failed'])}; verdicts: {len(found['verdicts'])}, accepted {found['verdicts'].count('accepted')}"
    )
    for line in wrong[:5]:
        print(f"  {line}", file=sys.stderr)
    return int(bool(wrong) or len(found["watch_ms"]) != 2 * args.changes)


if __name__ == "__main__":
    sys.exit(main())
