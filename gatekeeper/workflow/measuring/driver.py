"""Runs the tests on mutants of changed lines: the gate's own program inside one sandbox. Python 3.8 to 3.14, pytest 7 to 9.

    driver.py JOB    JOB is a file of JSON, made by `gatekeeper.workflow.measuring.job`

pytest is imported once; every run of the tests is a forked child, so that each begins with a fresh package:

1. coverage: the changed statements carry probes in shared memory, seen from threads and forked children as well;
2. where statements were not reached and the tests start processes: the same statements raise, to see whether one is
   reached in such a process;
3. control: the tests that reach a changed statement, on the code as it is, which also says how long they take;
4. one run for each mutant, of the tests that reach its statement, those of the change first, to the first failure.

A mutant is put into the file itself, so that whatever imports it, subprocesses included, gets the mutant. Results are
lines of JSON in a file. The tested code runs as the same user and can forge them: they are its claims.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import ctypes
import importlib
import importlib.machinery
import importlib.util
import json
import mmap
import os
import resource
import select
import signal
import sys
import time
import types
from typing import Any

RECORDER = "gatekeeper_pytest_recorder"
PROBES = "__gatekeeper_probes__"
MAX_TESTS_NAMED = 20
MAX_CHILD_BYTES = 32 * 1024 * 1024
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "os.startfile")


class Out:
    """The results: kept here, and written when no tested code runs any more."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines = []  # type: list[bytes]

    def send(self, kind: str, **fields: Any) -> None:
        """One line."""
        self.lines.append(json.dumps({"k": kind, **fields}, ensure_ascii=True).encode("ascii") + b"\n")

    def write(self) -> None:
        """Put them where they are collected, in place of whatever was put there before."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        data = b"".join(self.lines)
        while data:
            data = data[os.write(fd, data) :]
        os.close(fd)


class Source:
    """One changed module."""

    def __init__(self, root: str, row: dict[str, Any], first_probe: int) -> None:
        self.path = os.path.join(root, row["path"])
        with open(self.path, "rb") as file:
            self.data = file.read()
        self.probes = {line: first_probe + n for n, line in enumerate(row["probes"])}
        self.raising = [(int(p), int(at)) for p, at in row["raising"]]
        self.stamp = 1_000_000_000

    def write(self, data: bytes) -> None:
        """Put `data` in place. No two contents share a time stamp, so that no cached bytecode is taken for another's."""
        with open(self.path, "wb") as file:
            file.write(data)
        self.stamp += 1
        os.utime(self.path, (self.stamp, self.stamp))


class Plugin:
    """In the child: chooses the tests and tells the parent how they went."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.current = ""
        self.failed = set()  # type: set[str]
        self.passed = set()  # type: set[str]
        self.began = 0.0

    def pytest_configure(self, config: Any) -> None:
        """The files of this run take the place of those on the command line."""
        config.args[:] = self.child.files

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        """Only the wanted tests, those of the change first."""
        wanted = self.child.wanted
        if wanted is not None:
            rest = [i for i in items if i.nodeid not in wanted]
            items[:] = [i for i in items if i.nodeid in wanted]
            if rest:
                config.hook.pytest_deselected(items=rest)
        first = self.child.first
        if first:
            items.sort(key=lambda i: _bare(i.nodeid) not in first)
        self.child.send(n=len(items))

    def start(self, nodeid: str) -> None:
        """A test begins: what was hit until now belongs to no test."""
        self.gather("")
        self.current, self.began = nodeid, time.perf_counter()

    def gather(self, nodeid: str, took: float = 0.0) -> None:
        """Send what was hit since the last time."""
        hits = self.child.hits()
        if hits or nodeid:
            state = "failed" if nodeid in self.failed else "passed" if nodeid in self.passed else "other"
            self.child.send(t=nodeid, h=hits, d=round(took, 4), s=state)

    def end(self) -> None:
        """A test has ended."""
        self.gather(self.current, time.perf_counter() - self.began)
        self.current = ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self.start(nodeid)

    def pytest_runtest_logfinish(self) -> None:
        """A test has ended."""
        self.end()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase of a test."""
        if report.failed:
            self.failed.add(report.nodeid)
            if self.child.stop_first:
                self.child.finish(1, report.nodeid, by_assertion(report))
        elif report.when == "call" and report.outcome == "passed" and not hasattr(report, "context"):
            self.passed.add(report.nodeid)

    def pytest_sessionstart(self) -> None:
        """Plug-ins are loaded, test modules are not."""
        self.child.early = list(sys.modules)

    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        """Summaries and what plug-ins do at the end are of no interest, and cost more than many a test."""
        self.gather("")
        self.child.finish(int(exitstatus), min(self.failed, default=""))


def by_assertion(report: Any) -> bool:
    """True where a test failed because of what it asserts, not because something broke under it."""
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    return str(getattr(crash, "message", "")).startswith(("AssertionError", "assert ", "Failed: DID NOT RAISE"))


def _bare(nodeid: str) -> str:
    return nodeid.split("[", 1)[0]


class Child:
    """One run of tests in a forked child."""

    def __init__(
        self, driver: Driver, files: list[str], wanted: set[str] | None, *, stop_first: bool, cover: bool
    ) -> None:
        self.driver, self.files, self.wanted, self.cover = driver, files, wanted, cover
        self.first = driver.first
        self.stop_first = stop_first
        self.rows = []  # type: list[dict[str, Any]]
        self.timed_out = False
        self.out_of_budget = False
        self.status = 0
        self.wall = 0.0
        self.pipe = -1
        self.early = []  # type: list[str]
        self.started = []  # type: list[str]

    def run(self, limit: float) -> bool:
        """True where the tests passed."""
        reading, writing = os.pipe()
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            code = 70
            try:
                os.close(reading)
                self.pipe = writing
                code = self._tests()
            except BaseException:
                code = 70
            finally:
                os._exit(code)
        os.close(writing)
        data = self._wait(pid, reading, began + limit)
        self.out_of_budget = self.timed_out and time.monotonic() >= self.driver.deadline
        os.close(reading)
        end_descendants()
        self.wall = time.monotonic() - began
        for line in data.split(b"\n"):
            try:
                row = json.loads(line.decode("ascii"))
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                self.rows.append(row)
        return not self.timed_out and self.status == 0

    def _wait(self, pid: int, reading: int, until: float) -> bytes:
        parts, size, ended = [], 0, False
        while True:
            ready = select.select([reading], [], [], 0 if ended else 0.05)[0]
            if ready:
                data = os.read(reading, 65536)
                if data and size <= MAX_CHILD_BYTES:
                    parts.append(data)
                    size += len(data)
                    continue
                if not ended:
                    # Every end of the pipe is closed: the child is about to end, or hangs at it.
                    ended = self._reaped(pid, until)
                break
            if ended:
                break
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self.status, ended = status, True
            elif self._late(pid, until):
                break
        if not ended:
            self.timed_out = True
            kill_quietly(pid)
            os.waitpid(pid, 0)
        return b"".join(parts)

    def _reaped(self, pid: int, until: float) -> bool:
        while True:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self.status = status
                return True
            if self._late(pid, until):
                return False
            time.sleep(0.002)

    def _late(self, pid: int, until: float) -> bool:
        """Time in which the child could not run because the machine was busy is not its own; the budget ends all."""
        now = time.monotonic()
        return now >= until and (now >= self.driver.deadline or now >= until + waited_for_a_core(pid))

    def send(self, **row: Any) -> None:
        """In the child: one row to the parent."""
        data = json.dumps(row, ensure_ascii=True).encode("ascii") + b"\n"
        while data:
            data = data[os.write(self.pipe, data) :]

    def hits(self) -> list[int]:
        """Probes that were hit since the last question."""
        if not self.cover:
            return []
        probes, count = self.driver.probes, self.driver.probe_count
        found = bytes(probes[:count])
        if not any(found):
            return []
        probes[:count] = bytes(count)
        return [n for n, hit in enumerate(found) if hit]

    def _tests(self) -> int:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(nothing, fd)
        try:
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("1000")
        except OSError:
            pass
        most = self.driver.memory
        if most:
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        sys.dont_write_bytecode = False
        sys.pycache_prefix = os.path.join(self.driver.scratch, "covered" if self.cover else "plain")
        if self.cover:
            self.driver.instrument()
            sys.addaudithook(self._audit)
        import pytest

        arguments = [*self.driver.arguments, *(["-x"] if self.stop_first else [])]
        sys.argv[:] = ["pytest", *arguments]
        plugin = Plugin(self)
        return self.finish(int(pytest.main(arguments, plugins=[plugin])), "")

    def _audit(self, event: str, _: Any) -> None:
        if event in STARTS and not self.started:
            self.started.append(event)

    def finish(self, code: int, failed: str, asserted: bool = False) -> int:
        """In the child: say how it went and be gone."""
        if self.cover:
            multi = any(n in sys.modules for n in ("multiprocessing.popen_spawn_posix", "multiprocessing.forkserver"))
            self.send(started=bool(self.started) or multi, modules=self.driver.preloadable(self.early))
        self.send(end=code, failed=failed, asserted=asserted)
        os._exit(code)


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


class Driver:
    """The whole measurement."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.began = time.monotonic()
        self.deadline = self.began + float(job["budget_s"])
        self.out = Out(job["out"])
        self.root = os.path.normpath(os.path.join(os.getcwd(), *[".."] * int(job["up"])))
        self.scratch = job["scratch"]
        self.memory = int(job["memory"])
        self.files = [os.path.join(self.root, f) for f in job["files"]]
        self.near = [os.path.join(self.root, f) for f in job["near"]]
        self.sources = []  # type: list[Source]
        self.probe_count = 0
        for row in job["sources"]:
            self.sources.append(Source(self.root, row, self.probe_count))
            self.probe_count += len(row["probes"])
        self.imported = set(job["imported"])
        self.mutants = job["mutants"]
        self.probes = mmap.mmap(-1, max(1, self.probe_count))
        setattr(builtins, PROBES, self.probes)
        self.arguments = [*job["arguments"], *_more_arguments(self.scratch)]
        self.first = frozenset()  # type: frozenset[str]
        self.wished = job["first"]
        self.took = {}  # type: dict[str, float]
        self.reach = {}  # type: dict[int, set[str]]
        self.at_import = set()  # type: set[int]
        self.elsewhere = set()  # type: set[int]
        self.usable = set()  # type: set[str]
        self.file_of = {}  # type: dict[str, str]
        self.overhead = 1.0
        self.starts = False

    def left(self) -> float:
        """Seconds of the budget."""
        return self.deadline - time.monotonic()

    def instrument(self) -> None:
        """In the child that covers: changed statements get their probes when their module is loaded."""
        table = {os.path.realpath(s.path): s.probes for s in self.sources}
        original = importlib.machinery.SourceFileLoader.source_to_code

        def source_to_code(loader: Any, data: Any, path: Any, **more: Any) -> Any:
            name = os.path.realpath(os.fsdecode(path)) if isinstance(path, (str, bytes, os.PathLike)) else ""
            if name in table and not isinstance(data, ast.AST):
                tree = with_probes(ast.parse(data, filename=os.fsdecode(path)), table[name])
                return compile(tree, path, "exec", dont_inherit=True, optimize=more.get("_optimization", -1))
            return original(loader, data, path, **more)

        importlib.machinery.SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign,assignment]

    def preloadable(self, early: list[str]) -> list[str]:
        """In the child: modules that can be imported once for all runs.

        Those of the standard library, and what was there before any test module (plug-ins and what they import), so that
        no test finds something imported that it would not find otherwise. Nothing of the tree.
        """
        known = getattr(sys, "stdlib_module_names", frozenset())  # type: frozenset[str]
        found = []
        for name, module in list(sys.modules.items()):
            place = getattr(module, "__file__", None) or ""
            standard = name.split(".", 1)[0] in known
            if "__main__" in name or (place and os.path.realpath(place).startswith(self.root + os.sep)):
                continue
            if standard or (name in early and place):
                found.append(name)
        return found[:3000]

    def run(self) -> None:
        """Measure, and say so line by line."""
        if not self.cover():
            return
        reached = set(self.reach) | self.at_import
        for probe in range(self.probe_count):
            tests = sorted(self.reach.get(probe, ()), key=lambda t: (_bare(t) not in self.first, t))
            self.out.send("probe", p=probe, n=len(tests), t=tests[:MAX_TESTS_NAMED], i=probe in self.at_import)
        missed = set(range(self.probe_count)) - reached
        if missed and self.starts:
            self.look_elsewhere(missed)
        if not self.mutants:
            return
        if not self.control():
            return
        self.try_mutants()

    def cover(self) -> bool:
        """Step 1. False where nothing more can be done."""
        child = Child(self, self.files, None, stop_first=False, cover=True)
        child.run(self.left() * 0.6)
        end = [r for r in child.rows if "end" in r]
        if child.timed_out or not end:
            self.out.send("cover", r="timeout" if child.timed_out else "crash", wall=round(child.wall, 3), n=0)
            return False
        self.starts = any(r.get("started") for r in child.rows)
        for row in child.rows:
            if "t" not in row:
                continue
            test = row["t"]
            for probe in row["h"]:
                if test:
                    self.reach.setdefault(probe, set()).add(test)
                if not test or probe in self.imported:
                    self.at_import.add(probe)
            if test:
                self.took[test] = self.took.get(test, 0.0) + row["d"]
                (self.usable.add if row["s"] == "passed" else self.usable.discard)(test)
        modules = [m for r in child.rows for m in r.get("modules", ()) if isinstance(m, str)]
        self.out.send("cover", r="ran", wall=round(child.wall, 3), n=len(self.took), passed=len(self.usable))
        self.first = frozenset(t for t in map(_bare, self.took) if self.is_first(t))
        preload(modules, self.root)
        return bool(self.usable)

    def is_first(self, bare: str) -> bool:
        """True for a test of the change; ids here may begin below the tree's root."""
        return any(bare == w or w.endswith("/" + bare) or bare.endswith("/" + w) for w in self.wished)

    def look_elsewhere(self, missed: set[int]) -> None:
        """Step 2."""
        changed = []
        for source in self.sources:
            data = source.data
            for probe, at in sorted(source.raising, key=lambda r: -r[1]):
                if probe in missed:
                    data = data[:at] + b"raise SystemError;" + data[at:]
            if data != source.data:
                source.write(data)
                changed.append(source)
        if not changed:
            return
        child = Child(self, self.files, self.usable, stop_first=True, cover=False)
        passed = child.run(self.left() * 0.4)
        for source in changed:
            source.write(source.data)
        if not passed:
            self.elsewhere = missed
            self.out.send("elsewhere", p=sorted(missed))

    def tests_of(self, probe: int) -> set[str]:
        """Tests whose result can depend on a statement."""
        if probe in self.at_import or probe in self.elsewhere:
            near = self.near or self.files
            return {t for t in self.usable if self.is_in(t, near)} | (self.reach.get(probe, set()) & self.usable)
        return self.reach.get(probe, set()) & self.usable

    def is_in(self, test: str, files: list[str]) -> bool:
        """True where the test is in one of the files."""
        name = test.split("::", 1)[0]
        return any(f == name or f.endswith("/" + name) for f in files)

    def files_of(self, tests: set[str]) -> list[str]:
        """The files that hold the tests."""
        names = {t.split("::", 1)[0] for t in tests}
        return [f for f in self.files if any(f == n or f.endswith("/" + n) for n in names)]

    def control(self) -> bool:
        """Step 3: the code as it is, with the tests that will judge mutants."""
        wanted = set()  # type: set[str]
        for row in self.mutants:
            wanted |= self.tests_of(row[5])
        if not wanted:
            self.out.send("control", r="none", wall=0.0, n=0, excluded=0)
            return False
        for attempt in range(2):
            child = Child(self, self.files_of(wanted), wanted, stop_first=False, cover=False)
            child.run(self.left() * 0.5)
            bad = {r["t"] for r in child.rows if r.get("t") and r["s"] != "passed"}
            seen = {r["t"] for r in child.rows if r.get("t")}
            if child.timed_out or not seen:
                self.out.send("control", r="timeout" if child.timed_out else "crash", wall=round(child.wall, 3), n=0, excluded=0)  # fmt: skip
                return False
            unsteady = bad | (wanted - seen)
            self.usable -= unsteady
            wanted -= unsteady
            for row in child.rows:
                if row.get("t"):
                    self.took[row["t"]] = row["d"]
            self.overhead = max(0.05, child.wall - sum(self.took[t] for t in seen))
            if not unsteady or attempt:
                break
        self.out.send("control", r="ran", wall=round(child.wall, 3), n=len(wanted), excluded=len(unsteady))
        return bool(wanted)

    def try_mutants(self) -> None:
        """Step 4."""
        for number, index, start, end, text, probe in self.mutants:
            tests = self.tests_of(probe)
            if not tests:
                self.out.send("skip", m=number, r="not_reached")
                continue
            needed = self.overhead + sum(self.took.get(t, 0.0) for t in tests)
            limit = 2 * needed + 1
            if min(limit, needed * 1.3 + 0.2) > self.left():
                self.out.send("skip", m=number, r="budget")
                continue
            source = self.sources[index]
            source.write(source.data[:start] + text.encode("utf-8") + source.data[end:])
            child = Child(self, self.files_of(tests), tests, stop_first=True, cover=False)
            passed = child.run(limit)
            source.write(source.data)
            if child.out_of_budget:
                self.out.send("skip", m=number, r="budget")
                continue
            failed = [r["failed"] for r in child.rows if r.get("failed")]
            result = "survived" if passed else "timeout" if child.timed_out else "killed"
            asserted = any(r.get("asserted") is True for r in child.rows)
            self.out.send(
                "mutant", m=number, r=result, n=len(tests), t=failed[0] if failed else "", a=asserted, wall=round(child.wall, 3)
            )  # fmt: skip


def with_probes(tree: Any, probes: dict[int, int]) -> Any:
    """The tree with a probe before each statement that begins on one of the lines."""
    placed = set()  # type: set[int]

    def before(statement: Any) -> list[Any]:
        line = statement.lineno
        if line not in probes or line in placed:
            return [statement]
        placed.add(line)
        made = ast.parse(f"{PROBES}[{probes[line]}] = 1").body
        for node in ast.walk(made[0]):
            if "lineno" in getattr(node, "_attributes", ()):
                ast.copy_location(node, statement)
        return [*made, statement]

    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if not isinstance(body, list) or not body or not isinstance(body[0], ast.stmt):
                continue
            new = []  # type: list[Any]
            for number, statement in enumerate(body):
                first = number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
                new += [statement] if first or future else before(statement)
            setattr(node, name, new)
    return tree


def preload(names: list[str], root: str) -> None:
    """Import here what every run would import, unless that brings anything of the tree with it: a child tries it first."""
    pid = os.fork()
    if pid == 0:
        clean = False
        try:
            _import_all(names)
            places = [getattr(m, "__file__", None) or "" for m in list(sys.modules.values())]
            clean = not any(os.path.realpath(p).startswith(root + os.sep) for p in places if p)
        finally:
            os._exit(0 if clean else 1)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            if status == 0:
                _import_all(names)
            return
        time.sleep(0.005)
    kill_quietly(pid)
    os.waitpid(pid, 0)


def _import_all(names: list[str]) -> None:
    for name in names:
        if name not in sys.modules:
            with contextlib.suppress(BaseException):
                importlib.import_module(name)


def _more_arguments(scratch: str) -> list[str]:
    found = ["-q", "--tb=no", "--assert=plain", "-p", "no:randomly", "-o", f"cache_dir={scratch}/cache"]
    table = (
        ("xdist", ["-n0"]), ("pytest_cov", ["--no-cov"]), ("pytest_rerunfailures", ["--reruns=0"]),
        ("pytest_benchmark", ["--benchmark-disable"]), ("_hypothesis_pytestplugin", ["--hypothesis-seed=0"]),
    )  # fmt: skip
    for module, arguments in table:
        try:
            if importlib.util.find_spec(module) is not None:
                found += arguments
        except (ImportError, ValueError):
            continue
    return found


def prepare(job: dict[str, Any]) -> None:
    """The interpreter as the suite would have it: path, variables, no recorder."""
    here = os.path.dirname(os.path.abspath(sys.argv[0]))
    sys.path[:] = [p for p in sys.path if p and os.path.abspath(p) != here]
    added = [os.path.normpath(os.path.join(os.getcwd(), p)) for p in job["pythonpath"]]
    sys.path[:0] = added
    if added:
        os.environ["PYTHONPATH"] = os.pathsep.join(added)
    if job["cwd_on_path"] == "first":
        sys.path.insert(0, os.getcwd())
    elif job["cwd_on_path"] == "last":
        sys.path.append(os.getcwd())
    # The gate's recorder would report each of these runs as one of the suite's.
    silent = types.ModuleType(RECORDER)
    silent.__doc__ = "PYTEST_DONT_REWRITE"
    sys.modules[RECORDER] = silent
    words = os.environ.get("PYTEST_ADDOPTS", "").replace(f"-p {RECORDER}", "").strip()
    os.environ["PYTEST_ADDOPTS"] = words
    os.makedirs(job["scratch"], exist_ok=True)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def preload_pytest() -> str:
    """Load pytest with its own plug-ins; returns its version."""
    import pytest
    from _pytest.config import default_plugins

    for name in default_plugins:
        try:
            importlib.import_module(f"_pytest.{name}")
        except ImportError:
            continue
    return str(pytest.__version__)


def main() -> int:
    """Always ends with 0: what went wrong is in the results."""
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    driver = Driver(job)
    try:
        prepare(job)
        version = preload_pytest()
        driver.out.send("start", pytest=version, python=".".join(map(str, sys.version_info[:3])))
        driver.run()
    except Exception as error:
        driver.out.send("error", what=f"{type(error).__name__}: {error}"[:500])
    driver.out.send("end", n=len(driver.out.lines), wall=round(time.monotonic() - driver.began, 3))
    driver.out.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
