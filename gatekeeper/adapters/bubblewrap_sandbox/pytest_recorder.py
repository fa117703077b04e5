"""Records what a pytest process does and sends it over a socket. PYTEST_DONT_REWRITE.

This file is copied into test environments as the top-level module `gatekeeper_pytest_recorder`; it uses only the
standard library and pytest (7.4 to 9). It connects when it is imported, which is before any conftest of the tested
tree; from then on it needs nothing that the tested code can replace but the interpreter itself. What it sends is still
a claim of the tested process: the receiver compares it with the exit status and with other runs.

One packet is one JSON object with `k` (kind) and `n` (running number). Kinds: start, config, listed, collected,
reached, deselected, case, end, worker. Without a socket, in a forked child and in a nested session it is silent.

Where the gate wants a part of the suite alone, it says so in a file that only it can write (`SELECTION`); what is left
out is deselected before it runs. Whatever the command is, it then runs those tests as it always does.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from typing import Any

import pytest

SOCKET = "/run/recorder.sock"
SELECTION = "/run/gate/select.json"
ROOT = "/repo"
NOTHING_COLLECTED = 5
"""pytest's exit status where no test was run."""
DETAIL = 4000
CHUNK = 100

# Bound now, so that replacing them in their modules later changes nothing here.
_write, _dumps, _getpid = os.write, json.dumps, os.getpid


def _connect() -> tuple[int | None, str | None, Any]:
    """(descriptor, nonce, what the gate wants collected or None), all None where nobody listens."""
    try:
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    except OSError:
        return None, None, None
    try:
        channel.settimeout(10)
        channel.connect(SOCKET)
        nonce, _, wanted = channel.recv(1 << 16).decode("ascii").partition("\n")
        channel.settimeout(None)
        return channel.detach(), nonce, json.loads(wanted) if wanted else None
    except (OSError, ValueError):
        channel.close()
        return None, None, None


def _wanted() -> Any:
    """What the gate wants to run, None for everything: read before any of the tested code is loaded."""
    try:
        with open(SELECTION, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


class _Channel:
    """The connection: numbers records and stops for good at the first fault."""

    def __init__(self) -> None:
        self.fd, self.nonce, self.wanted = _connect()
        self.pid = _getpid()
        self.number = 0
        self.taken = False

    def send(self, kind: str, **fields: Any) -> None:
        if self.fd is None or _getpid() != self.pid:
            return
        record = {"k": kind, "n": self.number, **fields}
        self.number += 1
        try:
            _write(self.fd, _dumps(record, ensure_ascii=True).encode("ascii"))
        except (OSError, TypeError, ValueError):
            self.fd = None


_selected = _wanted()
_channel = _Channel()
_channel.send("start", nonce=_channel.nonce, pytest=pytest.__version__, argv=[str(a)[:500] for a in sys.argv[:200]])


def pytest_configure(config: Any) -> None:
    """Attach to the first session of this process; one nested in a test is none of the gate's."""
    if _selected is not None and not _channel.taken:
        config.pluginmanager.register(_Selection(config, _selected), "gatekeeper-recorder-selection")
    if hasattr(config, "workerinput"):
        _channel.send("worker")
        config.pluginmanager.register(_Worker(config), "gatekeeper-recorder-worker")
        _narrow(config, config.workerinput.get("gatekeeper_wanted"))
        return
    if not _channel.taken:
        _channel.taken = True
        config.pluginmanager.register(_Recorder(config), "gatekeeper-recorder-session")
        _narrow(config, _channel.wanted)


def _narrow(config: Any, wanted: Any) -> None:
    """Collect what the gate names and nothing else, with the settings that the command has; no failure ends the run."""
    if wanted:
        config.args = [*wanted["only"], *wanted["last"]]
        config.option.maxfail = 0
        config.pluginmanager.register(_Narrowed(wanted), "gatekeeper-recorder-narrowed")


def _bounded(value: object) -> str:
    text = str(value)
    return text if len(text) <= DETAIL else text[: DETAIL // 4] + "\n[...]\n" + text[-(DETAIL * 3 // 4) :]


def _detail(report: Any) -> str:
    longrepr = getattr(report, "longrepr", None)
    if isinstance(longrepr, tuple) and len(longrepr) == 3:
        return _bounded(longrepr[2])
    if getattr(report, "wasxfail", None):
        return _bounded(report.wasxfail)
    try:
        return _bounded(report.longreprtext)
    except Exception:
        return _bounded(longrepr or "")


def _outcome(report: Any) -> str:
    if hasattr(report, "wasxfail"):
        return "xfailed" if report.skipped else "xpassed" if report.passed else "failed"
    if report.failed:
        return "failed" if report.when == "call" else "errored"
    if report.skipped:
        return "skipped"
    return "passed" if report.passed else "failed"


# Later phases and repeated reports of one attempt never make a result better.
_RANK = {"passed": 0, "xpassed": 1, "skipped": 2, "xfailed": 2, "errored": 3, "failed": 4}


class _Selection:
    """Leaves out of the session what the gate does not want to run. Tests outside the tree are none of its business.

    `ids`, `functions`, `files`: only these tests, these with whatever parameters, tests of these files; no other file is
    loaded. `known`: every test but these; all are listed. `lines`: which of these lines each test runs is told.
    """

    def __init__(self, config: Any, wanted: Any) -> None:
        self.root = str(config.rootpath)
        self.files = set(wanted.get("files", ()))
        self.ids = set(wanted.get("ids", ()))
        self.functions = set(wanted.get("functions", ()))
        self.known = None if "known" not in wanted else set(wanted["known"])
        self.loaded = self.files | {i.partition("::")[0] for i in (*self.ids, *self.functions)}
        self.left_out = False
        config.option.maxfail = 0
        if wanted.get("lines"):
            config.pluginmanager.register(_Reach(self, wanted["lines"]), "gatekeeper-recorder-reach")

    def _relative(self, path: str) -> str:
        place = os.path.relpath(os.path.normpath(os.path.join(self.root, path)), ROOT)
        return place.encode("utf-8", "backslashreplace").decode("utf-8")

    def _id(self, nodeid: str) -> str:
        path, colons, rest = nodeid.partition("::")
        return self._relative(path) + colons + rest.encode("utf-8", "backslashreplace").decode("utf-8")

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Any) -> bool | None:
        if self.known is not None or collection_path.name in ("__init__.py", "conftest.py") or collection_path.is_dir():
            return None
        place = self._relative(str(collection_path))
        return None if place.startswith("../") or place in self.loaded else True

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        ids = [self._id(item.nodeid) for item in items]
        if self.known is not None:
            if hasattr(config, "workeroutput"):
                config.workeroutput["gatekeeper_listed"] = ids
            else:
                send_listed(ids)
        keep: list[Any] = []
        drop: list[Any] = []
        for name, item in zip(ids, items, strict=True):
            (keep if name.startswith("../") or self._wants(name) else drop).append(item)
        if drop:
            self.left_out = True
            items[:] = keep
            config.hook.pytest_deselected(items=drop)

    def _wants(self, name: str) -> bool:
        if self.known is not None:
            return name not in self.known
        path, _, rest = name.partition("::")
        return path in self.files or name in self.ids or f"{path}::{rest.partition('[')[0]}" in self.functions

    def pytest_sessionfinish(self, session: Any) -> None:
        # A command of several steps goes on to the next one.
        if int(session.exitstatus) == NOTHING_COLLECTED:
            session.exitstatus = 0


class _Reach:
    """Says which lines of some files each test runs; nothing of a test that leaves this process, or is traced already."""

    def __init__(self, selection: _Selection, lines: list[tuple[str, list[int]]]) -> None:
        self.selection = selection
        self.place = {(path, line): index for index, (path, line) in enumerate((p, n) for p, r in lines for n in r)}
        self.lines = {path: frozenset(numbers) for path, numbers in lines}
        self.files: dict[str, tuple[str, frozenset[int]] | None] = {}
        self.seen: set[int] = set()
        self.left = False
        sys.addaudithook(self._audited)

    def _audited(self, event: str, _: Any) -> None:
        if event in ("subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system"):
            self.left = True

    def _traced(self, frame: Any, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        if name not in self.files:
            path = self.selection._relative(name)
            self.files[name] = (path, self.lines[path]) if path in self.lines else None
        found = self.files[name]
        if found is None:
            return None
        if event == "line" and frame.f_lineno in found[1]:
            self.seen.add(self.place[found[0], frame.f_lineno])
        return self._traced

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        self.seen, self.left = set(), False
        other = sys.gettrace()
        if other is None:
            threading.settrace(self._traced)
            sys.settrace(self._traced)
        yield
        ours = sys.gettrace() == self._traced
        sys.settrace(other)
        threading.settrace(None)
        if other is None and ours and not self.left:
            _channel.send("reached", id=item.nodeid, lines=sorted(self.seen))


def send_listed(ids: list[str]) -> None:
    """Send the names of all tests that there are."""
    for start in range(0, len(ids), CHUNK):
        _channel.send("listed", ids=ids[start : start + CHUNK])


class _Narrowed:
    """The tests of some files come before and behind all others: what reorders or deselects tests does not see them."""

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted
        self.last = frozenset(wanted["last"])

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: Any) -> Any:
        last = [item for item in items if str(item.path) in self.last]
        items[:] = [item for item in items if str(item.path) not in self.last]
        yield
        items[:0] = last[::2]
        items.extend(last[1::2])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["gatekeeper_wanted"] = self.wanted


class _Worker:
    """In a worker of pytest-xdist: hands what only a worker knows to the controlling process."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.deselected = 0

    def pytest_deselected(self, items: Any) -> None:
        self.deselected += len(items)

    def pytest_sessionfinish(self) -> None:
        self.config.workeroutput["gatekeeper_deselected"] = self.deselected


class _Recorder:
    """The session: collects the phases of each test, sends one record a test."""

    def __init__(self, config: Any) -> None:
        self.session: Any = None
        self.cases: dict[str, dict[str, Any]] = {}
        self.broken: set[str] = set()
        self.nodes_collected = False
        self.listed = False
        self.deselected = 0
        ini = getattr(config, "inipath", None)
        _channel.send(
            "config",
            rootdir=str(config.rootpath)[:4000],
            inifile=None if ini is None else str(ini)[:4000],
            args=[str(a)[:500] for a in config.invocation_params.args[:200]],
        )

    def pytest_sessionstart(self, session: Any) -> None:
        self.session = session

    def _collected(self, ids: list[str]) -> None:
        for start in range(0, len(ids), CHUNK):
            _channel.send("collected", ids=ids[start : start + CHUNK])

    def pytest_collection_finish(self, session: Any) -> None:
        self._collected([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Any) -> None:
        if not self.nodes_collected:
            self.nodes_collected = True
            self._collected(list(ids))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", None) or {}
        if "gatekeeper_listed" in output and not self.listed:
            self.listed = True
            send_listed(list(output["gatekeeper_listed"]))
        self.deselected = max(self.deselected, int(output.get("gatekeeper_deselected", 0)))

    def pytest_deselected(self, items: Any) -> None:
        self.deselected += len(items)

    def pytest_collectreport(self, report: Any) -> None:
        if (report.failed or report.skipped) and report.nodeid not in self.broken:
            self.broken.add(report.nodeid)
            outcome = "errored" if report.failed else "skipped"
            _channel.send("case", id=report.nodeid, outcome=outcome, detail=_detail(report), collector=True)

    def pytest_runtest_logreport(self, report: Any) -> None:
        when = getattr(report, "when", None)
        entry = self.cases.get(report.nodeid)
        if entry is None or when == "setup":
            location = getattr(report, "location", None) or (None, None, None)
            entry = {"outcome": "passed", "detail": "", "duration": 0.0, "file": location[0], "line": location[1]}
            entry["called"] = False
            self.cases[report.nodeid] = entry
        if report.outcome == "rerun":
            return
        outcome = _outcome(report)
        subtest = hasattr(report, "context") and outcome not in ("failed", "errored")
        entry["duration"] += float(getattr(report, "duration", 0.0) or 0.0)
        if when == "call" and not hasattr(report, "context"):
            entry["called"] = True
        if not subtest and _RANK[outcome] > _RANK[entry["outcome"]]:
            entry["outcome"], entry["detail"] = outcome, _detail(report)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._flush(nodeid)

    def _flush(self, nodeid: str) -> None:
        entry = self.cases.pop(nodeid, None)
        if entry is None:
            return
        if entry["outcome"] == "passed" and not entry["called"]:
            entry["outcome"], entry["detail"] = "errored", "the test was set up and never called"
        del entry["called"]
        _channel.send("case", id=nodeid, **entry)

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        for nodeid in list(self.cases):
            self._flush(nodeid)
        if self.deselected:
            _channel.send("deselected", count=self.deselected)
        status = None if self.session is None else int(self.session.exitstatus)
        _channel.send("end", nonce=_channel.nonce, exit=status, count=_channel.number)
