"""Tested code that wants better results than it has: by the recorder's socket, or by leaving pytest early."""

from __future__ import annotations

import pytest
from sandbox_runs import Runs, usable_runs

from gatekeeper.config import Paths
from gatekeeper.domain.testrun import SuiteRun

FAILS = "def test_a(): assert 0\n"
PASSES = "def test_a(): pass\n"


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    return usable_runs(gate_paths)


def believable(run: SuiteRun) -> bool:
    """One complete session that says green, and a process that agrees: what an honest green run is."""
    return (
        run.exit_code == 0
        and len(run.sessions) == 1
        and run.sessions[0].complete
        and run.sessions[0].exit_code == 0
        and bool(run.cases)
        and all(c.outcome.value == "passed" for c in run.cases)
    )


FORGED = """
    import json, os, socket
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("/run/recorder.sock")
    nonce = s.recv(99).decode()
    records = [
        {"k": "start", "nonce": nonce, "argv": []},
        {"k": "config", "rootdir": "/repo", "inifile": None},
        {"k": "collected", "ids": ["test_x.py::test_a"]},
        {"k": "case", "id": "test_x.py::test_a", "outcome": "passed"},
        {"k": "end", "nonce": nonce, "exit": 0, "count": 4},
    ]
    for n, record in enumerate(records):
        s.send(json.dumps({**record, "n": n}).encode())
"""

ATTACKS = {
    "exit in conftest": ({"conftest.py": "import os; os._exit(0)\n"}, ""),
    "exit in a test": ({"test_w.py": "import os\ndef test_z(): os._exit(0)\n"}, ""),
    "atexit": ({"conftest.py": "import atexit, os\natexit.register(os._exit, 0)\n"}, ""),
    "exit in a late hook": ({"conftest.py": "import os\ndef pytest_sessionfinish(): os._exit(0)\n"}, ""),
    "exit status rewritten": (
        {"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0\n"},
        "",
    ),
    "forged session, then out": ({"conftest.py": FORGED + "    os._exit(0)\n"}, ""),
    "forged session beside the true one": ({"conftest.py": FORGED}, ""),
    "a connection that says junk": (
        {
            "conftest.py": "import socket\ns = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
            "s.connect('/run/recorder.sock')\ns.send(b'junk')\nimport os; os._exit(0)\n"
        },
        "",
    ),
    "plugin unregistered": (
        {
            "conftest.py": "import os\ndef pytest_configure(config):\n"
            "    manager = config.pluginmanager\n    for name in ('gatekeeper-recorder-session', 'gatekeeper_pytest_recorder'):\n"
            "        plugin = manager.get_plugin(name)\n        if plugin: manager.unregister(plugin)\n"
            "def pytest_unconfigure(): os._exit(0)\n"
        },
        "",
    ),
    "plugin switched off by the command": ({}, "-p no:gatekeeper_pytest_recorder"),
    "plugin switched off by settings": (
        {"pytest.ini": "[pytest]\naddopts = -p no:gatekeeper_pytest_recorder\n"},
        "",
    ),
    "a plugin of the same name": ({"gatekeeper_pytest_recorder.py": "import os; os._exit(0)\n"}, ""),
    "a pytest of the tree": ({"pytest.py": "def main(): return 0\n", "json.py": "import os; os._exit(0)\n"}, ""),
    "sitecustomize": ({"sitecustomize.py": "import os; os._exit(0)\n"}, ""),
    "reports rewritten": (
        {
            "conftest.py": "import os, pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport():\n"
            "    outcome = yield\n    os._exit(0)\n"
        },
        "",
    ),
    "channel closed": ({"conftest.py": "import os\nos.closerange(3, 200)\n"}, ""),
    "nothing collected": ({"conftest.py": "collect_ignore_glob = ['*']\n"}, ""),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_no_failing_suite_looks_green(runs: Runs, name: str) -> None:
    files, arguments = ATTACKS[name]
    run = runs.pytest({"test_x.py": FAILS, **files}, arguments)
    assert not believable(run), (run.sessions, run.log)


HONEST = {
    "plain": ({}, ""),
    "atexit": ({"conftest.py": "import atexit\natexit.register(print, 'bye')\n"}, ""),
    "forks": ({"test_x.py": "import os\ndef test_a():\n    if os.fork() == 0: os._exit(0)\n    os.wait()\n"}, ""),
    "own socket": (
        {
            "test_x.py": "import socket\ndef test_a():\n    a, b = socket.socketpair(type=socket.SOCK_SEQPACKET)\n    a.send(b'x')\n"
        },
        "",
    ),
    "other plugins off": ({}, "-p no:junitxml -p no:cacheprovider"),
    "own plugin": ({"conftest.py": "pytest_plugins = ['own']\n", "own.py": "def pytest_configure(): pass\n"}, ""),
    "exits in a child": (
        {
            "test_x.py": "import subprocess, sys\ndef test_a(): assert subprocess.call([sys.executable, '-c', 'import os; os._exit(3)']) == 3\n"
        },
        "",
    ),
    "own addopts": ({"pytest.ini": "[pytest]\naddopts = -q -ra --strict-markers\n"}, ""),
    "session hooks": ({"conftest.py": "def pytest_sessionfinish(session): print(session.exitstatus)\n"}, ""),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_suites_look_green(runs: Runs, name: str) -> None:
    files, arguments = HONEST[name]
    run = runs.pytest({"test_x.py": PASSES, **files}, arguments)
    assert believable(run), (run.sessions, run.log)
