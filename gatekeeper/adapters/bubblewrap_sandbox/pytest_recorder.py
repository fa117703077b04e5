"""Records what a pytest process does and sends it over a socket. PYTEST_DONT_REWRITE.

This file is copied into test environments as the top-level module `gatekeeper_pytest_recorder`; it uses only the
standard library and pytest (7.4 to 9). It connects when it is imported, which is before any conftest of the tested
tree; from then on it needs nothing that the tested code can replace but the interpreter itself. What it sends is still
a claim of the tested process: the receiver compares it with the exit status and with other runs.

One packet is one JSON object with `k` (kind) and `n` (running number). Kinds: start, config, collected, deselected,
case, end, worker. Without a socket, in a forked child and in a nested session it is silent.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

import pytest

SOCKET = "/run/recorder.sock"
DETAIL = 4000
CHUNK = 100

# Bound now, so that replacing them in their modules later changes nothing here.
_write, _dumps, _getpid = os.write, json.dumps, os.getpid


def _connect() -> tuple[int | None, str | None]:
    """(descriptor, nonce), or (None, None) where nobody listens."""
    try:
        channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    except OSError:
        return None, None
    try:
        channel.settimeout(10)
        channel.connect(SOCKET)
        nonce = channel.recv(256).decode("ascii")
        channel.settimeout(None)
        return channel.detach(), nonce
    except (OSError, ValueError):
        channel.close()
        return None, None


class _Channel:
    """The connection: numbers records and stops for good at the first fault."""

    def __init__(self) -> None:
        self.fd, self.nonce = _connect()
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


_channel = _Channel()
_channel.send("start", nonce=_channel.nonce, pytest=pytest.__version__, argv=[str(a)[:500] for a in sys.argv[:200]])


def pytest_configure(config: Any) -> None:
    """Attach to the first session of this process; one nested in a test is none of the gate's."""
    if hasattr(config, "workerinput"):
        _channel.send("worker")
        config.pluginmanager.register(_Worker(config), "gatekeeper-recorder-worker")
        return
    if not _channel.taken:
        _channel.taken = True
        config.pluginmanager.register(_Recorder(config), "gatekeeper-recorder-session")


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
