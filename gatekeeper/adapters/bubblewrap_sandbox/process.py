"""One sandboxed process: start it behind a barrier, read it with caps, end it without remains.

Starting and waiting happen in the calling thread: the kernel's parent-death signal belongs to the thread that forked.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gatekeeper.adapters.bubblewrap_sandbox.records import MAX_PACKET, Connection
from gatekeeper.domain.testrun import Session

# The shell waits until the gate has put it into its control group and set its limits; an early end of input means the
# gate is gone. The program replaces the shell, so no process without limits ever exists.
_BARRIER = 'read -r go && exec "$@" </dev/null'

_MAX_CONNECTIONS = 512
_MAX_REPORTS_BYTES = 64 * 1024 * 1024
LOG_BYTES = 64 * 1024


@dataclass
class Seen:
    """What came out of one process."""

    returncode: int = 0
    timed_out: bool = False
    flooded: bool = False
    started: bool = False
    """The command itself was reached: bubblewrap had built everything."""
    tail: bytes = b""
    reports: list[bytes] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)


class Listener:
    """The sockets of one run: records of pytest processes, and report files."""

    def __init__(self, directory: Path, root: str) -> None:
        self._root = root
        self._peers: list[tuple[int, Connection]] = []
        self._nested: set[int] = set()
        self._reports: list[bytearray] = []
        self._total = 0
        self.records = directory / "records"
        self.reports = directory / "reports"
        descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._records = _listening(descriptor, self.records.name, socket.SOCK_SEQPACKET)
            self._files = _listening(descriptor, self.reports.name, socket.SOCK_STREAM)
        finally:
            os.close(descriptor)

    def register(self, selector: selectors.BaseSelector) -> None:
        """Serve both sockets from `selector`; each key's data is what to call when it is ready."""
        selector.register(self._records, selectors.EVENT_READ, lambda: self._accept_records(selector))
        selector.register(self._files, selectors.EVENT_READ, lambda: self._accept_files(selector))

    def _accept_records(self, selector: selectors.BaseSelector) -> None:
        try:
            peer, _ = self._records.accept()
        except OSError:
            return
        if len(self._peers) >= _MAX_CONNECTIONS:
            peer.close()
            return
        peer.setblocking(False)
        pid = int.from_bytes(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], "little")
        connection = Connection(os.urandom(16).hex(), self._root, second=any(p == pid for p, _ in self._peers))
        if self._inside_another(pid):
            self._nested.add(len(self._peers))
        self._peers.append((pid, connection))
        try:
            peer.send(connection.nonce.encode("ascii"))
        except OSError:
            peer.close()
            return
        selector.register(peer, selectors.EVENT_READ, lambda: self._read_records(selector, peer, connection))

    def _inside_another(self, pid: int) -> bool:
        """True where an ancestor is a pytest process in the midst of its session: a worker, or pytest under test."""
        running = {p for p, c in self._peers if not c.ended and p != pid}
        for _ in range(64):
            pid = _parent(pid)
            if pid <= 1:
                return False
            if pid in running:
                return True
        return False

    @staticmethod
    def _read_records(selector: selectors.BaseSelector, peer: socket.socket, connection: Connection) -> None:
        for _ in range(64):
            try:
                packet = peer.recv(MAX_PACKET + 1)
            except BlockingIOError:
                return
            except OSError:
                packet = b""
            if packet:
                connection.feed(packet)
            if not packet or connection.closed:
                selector.unregister(peer)
                peer.close()
                return

    def _accept_files(self, selector: selectors.BaseSelector) -> None:
        try:
            peer, _ = self._files.accept()
        except OSError:
            return
        if len(self._reports) >= 4:
            peer.close()
            return
        peer.setblocking(False)
        buffer = bytearray()
        self._reports.append(buffer)
        selector.register(peer, selectors.EVENT_READ, lambda: self._read_files(selector, peer, buffer))

    def _read_files(self, selector: selectors.BaseSelector, peer: socket.socket, buffer: bytearray) -> None:
        try:
            data = peer.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._total += len(data)
        if data and self._total <= _MAX_REPORTS_BYTES:
            buffer += data
            return
        selector.unregister(peer)
        peer.close()

    def sessions(self) -> list[Session]:
        """Sessions of top-level pytest processes, in the order in which they began."""
        return [
            c.session()
            for index, (_, c) in enumerate(self._peers)
            if index not in self._nested and not c.worker and c.started
        ]

    def files(self) -> list[bytes]:
        """Report files that were handed over; one cut short is left as it is and will not parse."""
        found = []
        for buffer in self._reports:
            rest = bytes(buffer)
            while rest:
                head, newline, rest = rest.partition(b"\n")
                if not newline or not head.isdigit() or len(head) > 9:
                    found.append(b"")
                    break
                found.append(rest[: int(head)])
                rest = rest[int(head) :]
        return found

    def close(self) -> None:
        """Stop listening."""
        self._records.close()
        self._files.close()


def _listening(directory: int, name: str, kind: int) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, kind)
    # Through the descriptor: the path of a socket may have 107 bytes only, whatever the state directory is called.
    path = f"/proc/self/fd/{directory}/{name}"
    made.bind(path)
    os.chmod(path, 0o666)
    made.listen(64)
    made.setblocking(False)
    return made


def _parent(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
        return int(text.rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def run(
    argv: Sequence[str],
    *,
    pass_fds: Sequence[int],
    status: tuple[int, int],
    wall_s: float,
    output_bytes: int,
    limits: Sequence[tuple[int, int]],
    join: Callable[[int], None],
    kill_all: Callable[[], None],
    listener: Listener,
) -> Seen:
    """Run `argv` to its end or to a limit. `status` is the pipe of bubblewrap's --json-status-fd, read and write end.

    `limits` are (resource, value) pairs set on the process before the program starts; `join` puts it into its group and
    may raise, whereupon nothing has run.
    """
    seen = Seen()
    deadline = time.monotonic() + wall_s
    process = subprocess.Popen(
        ["/bin/sh", "-c", _BARRIER, "sh", *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=pass_fds,
        start_new_session=True,
        env={},
        cwd="/",
        bufsize=0,
    )
    status_text = bytearray()
    try:
        os.close(status[1])
        join(process.pid)
        for kind, value in limits:
            hard = resource.prlimit(process.pid, kind)[1]
            value = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(process.pid, kind, (value, value))
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"go\n")
        process.stdin.close()
        _follow(process, status[0], status_text, deadline, output_bytes, listener, seen)
    finally:
        _end(process, bytes(status_text), kill_all)
        with contextlib.suppress(OSError):
            os.close(status[0])
    seen.returncode = process.returncode
    seen.started = b'"exit-code"' in status_text or seen.timed_out or seen.flooded
    return seen


def _follow(
    process: subprocess.Popen[bytes],
    status: int,
    status_text: bytearray,
    deadline: float,
    output_bytes: int,
    listener: Listener,
    seen: Seen,
) -> None:
    assert process.stdout is not None
    output = process.stdout.fileno()
    tail = bytearray()
    total = 0
    ended = False
    exit_fd = os.pidfd_open(process.pid)
    with selectors.DefaultSelector() as selector:
        try:
            listener.register(selector)
            for fd in (output, status):
                os.set_blocking(fd, False)
                selector.register(fd, selectors.EVENT_READ)
            selector.register(exit_fd, selectors.EVENT_READ)
            while True:
                # After the end one more round without waiting takes what is still in the buffers.
                wait = 0.0 if ended else deadline - time.monotonic()
                if not ended and wait <= 0:
                    seen.timed_out = True
                    break
                ready = selector.select(wait)
                if ended and not ready:
                    break
                for key, _ in ready:
                    if key.data is not None:
                        key.data()
                    elif key.fd == exit_fd:
                        ended = True
                        selector.unregister(exit_fd)
                    else:
                        data = _read(key.fd)
                        if data == b"":
                            # A pipe at its end stays readable; left registered it would spin.
                            selector.unregister(key.fd)
                        elif data is not None and key.fd == status:
                            status_text += data[: 4096 - len(status_text)]
                        elif data is not None:
                            total += len(data)
                            tail += data
                            del tail[:-LOG_BYTES]
                if total > output_bytes:
                    seen.flooded = True
                    break
        finally:
            seen.tail = bytes(tail)
            for key in list(selector.get_map().values()):
                if isinstance(key.fileobj, socket.socket) and key.fileobj.type and not _is_listening(key.fileobj):
                    key.fileobj.close()
            os.close(exit_fd)
            listener.close()


def _is_listening(made: socket.socket) -> bool:
    try:
        return bool(made.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    except OSError:
        return False


def _read(fd: int) -> bytes | None:
    try:
        return os.read(fd, 1 << 18)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _end(process: subprocess.Popen[bytes], status_text: bytes, kill_all: Callable[[], None]) -> None:
    """Kill what is left. The sandbox's own first process goes first, so that bubblewrap reaps it and no zombie stays."""
    if process.poll() is None:
        child = _child(status_text)
        if child is not None and _parent(child) == process.pid:
            with contextlib.suppress(OSError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2)
        if process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
    kill_all()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _child(status_text: bytes) -> int | None:
    """The host's id of the sandbox's first process, from bubblewrap's first status line."""
    try:
        pid = json.loads(status_text.split(b"\n", 1)[0])["child-pid"]
    except (ValueError, KeyError, TypeError):
        return None
    return pid if isinstance(pid, int) and pid > 1 else None
