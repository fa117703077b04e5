"""One run of tests in a forked child: pytest with a plug-in that tells the parent how each test went."""

from __future__ import annotations

import json
import os
import resource
import select
import sys
import time
from typing import TYPE_CHECKING, Any

from .processes import end_descendants, kill_quietly, waited_for_a_core
from .sources import instrument

if TYPE_CHECKING:
    from .driver import Driver

MAX_CHILD_BYTES = 32 * 1024 * 1024
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "os.startfile")


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
            items.sort(key=lambda i: bare(i.nodeid) not in first)
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


def bare(nodeid: str) -> str:
    """The id of a test without its parameters."""
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
            instrument(self.driver.sources)
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
