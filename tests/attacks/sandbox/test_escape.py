"""Hostile programs inside the real sandbox, each beside honest ones that look alike."""

from __future__ import annotations

import os
import pwd
import tempfile
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from sandbox_runs import Runs, usable_runs

from gatekeeper.config import Paths
from gatekeeper.domain.testrun import Termination

CANARY = "canary-7f3a9c"


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    return usable_runs(gate_paths)


@pytest.fixture
def home_secret() -> Iterator[Path]:
    home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    if not os.access(home, os.W_OK):
        home = Path("/var/tmp")
    handle, name = tempfile.mkstemp(prefix=".gatekeeper-canary-", dir=home)
    os.write(handle, CANARY.encode())
    os.close(handle)
    Path(name).chmod(0o644)
    yield Path(name)
    Path(name).unlink()


def test_a_secret_in_the_home_cannot_be_read(runs: Runs, home_secret: Path) -> None:
    run = runs.command({}, f"cat {home_secret}; ls -a {home_secret.parent}; cat /proc/1/root{home_secret}")
    assert run.exit_code != 0
    assert CANARY not in run.log


def test_links_of_the_tree_lead_nowhere(runs: Runs, home_secret: Path) -> None:
    from gatekeeper.domain.ticket import Suite

    tree = runs.tree({}, {"file": str(home_secret), "keys": str(runs.paths.state), "up": "../../../../../.."})
    line = f"cat file; ls keys; cat up{home_secret}; echo x > file"
    run = runs.sandbox.run(runs.request(tree, Suite("s", command=line)))
    assert CANARY not in run.log
    assert home_secret.read_text() == CANARY


def test_the_environment_of_the_gate_is_not_seen(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEKEEPER_TEST_TOKEN", CANARY)
    run = runs.command({}, "env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'")
    assert CANARY not in run.log
    assert str(runs.paths.runs) not in run.log


def test_reports_are_not_read_through_links(runs: Runs, home_secret: Path) -> None:
    run = runs.command({}, f"ln -s {home_secret} a.xml; ln -s /etc/passwd b.xml; mkfifo c.xml", reports=("*.xml",))
    assert run.reports == ()
    assert CANARY not in run.log


HOSTILE = {
    "network": """
        import socket
        for address in ("127.0.0.1", "192.0.2.1", "169.254.169.254"):
            s = socket.socket()
            s.settimeout(2)
            try:
                s.connect((address, 22 if address == "127.0.0.1" else 80))
            except OSError:
                continue
            print("ESCAPED")
        """,
    "name lookup": """
        import socket
        try:
            socket.getaddrinfo("example.com", 80)
        except OSError:
            pass
        else:
            print("ESCAPED")
        """,
    "terminal input": """
        import fcntl, os
        master, slave = os.openpty()
        try:
            fcntl.ioctl(slave, 0x5412, b"x")
        except OSError:
            pass
        else:
            print("ESCAPED")
        """,
    "io_uring": """
        import ctypes, errno
        libc = ctypes.CDLL(None, use_errno=True)
        memory = ctypes.create_string_buffer(512)
        if libc.syscall(425, 4, memory) != -1 or ctypes.get_errno() != errno.ENOSYS:
            print("ESCAPED")
        """,
    "namespaces and tracing": """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(0x10000000) != -1 or libc.ptrace(0, 0, 0, 0) != -1 or libc.mount(b"x", b"/tmp", b"tmpfs", 0, 0) != -1:
            print("ESCAPED")
        """,
    "files outside": """
        import os
        for place in ("/usr/x", "/etc/x", "/x", "/dev/x", "/run/x", "/var/x", "/proc/sys/kernel/core_pattern", "/sys/x"):
            try:
                open(place, "w").write("x")
            except OSError:
                continue
            print("ESCAPED", place)
        """,
    "devices": """
        import os, stat
        for name in os.listdir("/dev"):
            if stat.S_ISBLK(os.lstat("/dev/" + name).st_mode):
                print("ESCAPED", name)
        try:
            os.mknod("/tmp/d", 0o600 | stat.S_IFBLK, os.makedev(8, 0))
        except OSError:
            pass
        else:
            print("ESCAPED")
        """,
    "other processes": """
        import os, signal
        for pid in [int(p) for p in os.listdir("/proc") if p.isdigit()]:
            words = open(f"/proc/{pid}/cmdline").read()
            if "gatekeeper" in words and "pytest" in words:
                print("ESCAPED", words)
        """,
    "environment of the tests": """
        import pytest, sys
        for place in (pytest.__file__, sys.executable, sys.prefix + "/evil.pth"):
            try:
                open(place, "a").write("x")
            except OSError:
                continue
            print("ESCAPED", place)
        """,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_programs_reach_nothing(runs: Runs, name: str) -> None:
    run = runs.python(dedent(HOSTILE[name]) + "print('REACHED THE END')\n")
    assert "ESCAPED" not in run.log
    assert "REACHED THE END" in run.log


HONEST = {
    "temporary files": """
        import tempfile
        def test_a(tmp_path):
            (tmp_path / "x").write_text("y")
            with tempfile.NamedTemporaryFile() as file:
                file.write(b"x")
        """,
    "files in the tree": """
        def test_a():
            open("made.txt", "w").write("x")
            open("test_x.py", "a").write("")
        """,
    "subprocesses": """
        import subprocess, sys
        def test_a():
            assert subprocess.run(["sh", "-c", "echo a | cat"], capture_output=True, text=True).stdout == "a\\n"
            assert subprocess.run([sys.executable, "-c", "import json"]).returncode == 0
        """,
    "threads": """
        from concurrent.futures import ThreadPoolExecutor
        def test_a():
            with ThreadPoolExecutor(8) as pool:
                assert sum(pool.map(int, "123")) == 6
        """,
    "multiprocessing": """
        import multiprocessing
        def test_a():
            for kind in ("fork", "spawn"):
                with multiprocessing.get_context(kind).Pool(2) as pool:
                    assert pool.map(abs, [-1, 2]) == [1, 2]
        """,
    "own servers": """
        import http.server, threading, urllib.request
        def test_a():
            with http.server.HTTPServer(("localhost", 0), http.server.SimpleHTTPRequestHandler) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                with urllib.request.urlopen(f"http://localhost:{server.server_port}/test_x.py") as page:
                    assert page.status == 200
                server.shutdown()
        """,
    "unix sockets and pairs": """
        import asyncio, socket
        def test_a(tmp_path):
            server = socket.socket(socket.AF_UNIX)
            server.bind(str(tmp_path / "s"))
            server.listen()
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(tmp_path / "s"))
            a, b = socket.socketpair()
            a.send(b"x")
            assert b.recv(1) == b"x"
            asyncio.run(asyncio.sleep(0))
        """,
    "terminals and signals": """
        import os, signal
        def test_a():
            master, slave = os.openpty()
            os.write(slave, b"x")
            assert os.isatty(slave) and os.read(master, 1) == b"x"
            seen = []
            signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
            os.kill(os.getpid(), signal.SIGUSR1)
            assert seen
        """,
    "who am I": """
        import getpass, os, pathlib, platform
        def test_a():
            assert getpass.getuser() == "user" and pathlib.Path.home().is_dir() and platform.node()
            assert os.cpu_count() and os.getcwd() == "/repo"
        """,
    "shared memory": """
        from multiprocessing import shared_memory
        def test_a():
            block = shared_memory.SharedMemory(create=True, size=1000)
            block.buf[0] = 1
            block.close()
            block.unlink()
        """,
    "a quarter of the memory": """
        def test_a():
            assert len(bytearray(128 << 20)) == 128 << 20
        """,
    "much output": """
        def test_a():
            print("x" * 200_000)
        """,
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_tests_pass(runs: Runs, name: str) -> None:
    run = runs.pytest({"test_x.py": HONEST[name]}, "-s" if "output" in name else "")
    assert (run.termination, run.exit_code) == (Termination.EXITED, 0), run.log
    assert [c.outcome.value for c in run.cases] == ["passed"]
    assert run.sessions[0].complete


def test_the_tree_is_as_it_was(runs: Runs) -> None:
    from gatekeeper.domain.ticket import Suite

    tree = runs.tree({"a.txt": "kept", "sub/b.txt": "kept"})
    line = "echo x > a.txt; rm -r sub; ln -s /etc c; chmod 4777 a.txt; mkdir -p .git/hooks; touch .git/hooks/pre-commit"
    assert runs.sandbox.run(runs.request(tree, Suite("s", command=line))).exit_code == 0
    found = {str(p.relative_to(tree)): p.stat().st_mode & 0o7777 for p in tree.rglob("*") if p.is_file()}
    assert found == {"a.txt": 0o644, "sub/b.txt": 0o644}
    assert {(tree / n).read_text() for n in found} == {"kept"}
