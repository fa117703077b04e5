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
from dataclasses import dataclass

from gatekeeper.adapters.bubblewrap_sandbox.files import EVERY_S
from gatekeeper.adapters.bubblewrap_sandbox.listener import Listener, parent_of
from gatekeeper.adapters.bubblewrap_sandbox.tree_watch import TreeWatch

# The shell waits until the gate has put it into its control group and set its limits; an early end of input means the
# gate is gone. The program replaces the shell, so no process without limits ever exists.
_BARRIER = 'read -r go && exec "$@" </dev/null'

LOG_BYTES = 64 * 1024


@dataclass
class Seen:
    """What came out of one process."""

    returncode: int = 0
    timed_out: bool = False
    flooded: bool = False
    stopped: bool = False
    """The gate itself ended it."""
    crowded: bool = False
    """It made more files than allowed."""
    started: bool = False
    """The command itself was reached: bubblewrap had built everything."""
    tail: bytes = b""


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
    niceness: int = 0,
    stop: int | None = None,
    crowded: Callable[[int], bool] | None = None,
    watch: TreeWatch | None = None,
    started: Callable[[], object] | None = None,
) -> Seen:
    """Run `argv` to its end, to a limit, or until the descriptor `stop` becomes readable.

    `crowded` is asked now and then, with the sandbox's first process, whether too many files were made. `watch` looks at
    the tree when the command has ended.

    `status` is the pipe of bubblewrap's --json-status-fd, read and write end.

    `started` is called once the program has been let go, before it is waited for.

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
        if niceness:
            os.setpriority(os.PRIO_PROCESS, process.pid, os.getpriority(os.PRIO_PROCESS, 0) + niceness)
        for kind, value in limits:
            hard = resource.prlimit(process.pid, kind)[1]
            least = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.prlimit(process.pid, kind, (least, least))
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"go\n")
        process.stdin.close()
        if started is not None:
            started()
        _follow(process, status[0], status_text, deadline, output_bytes, listener, seen, stop, crowded, watch)
    finally:
        _end(process, bytes(status_text), kill_all)
        with contextlib.suppress(OSError):
            os.close(status[0])
    seen.returncode = process.returncode
    seen.started = b'"exit-code"' in status_text or seen.timed_out or seen.flooded or seen.crowded
    return seen


def _follow(
    process: subprocess.Popen[bytes],
    status: int,
    status_text: bytearray,
    deadline: float,
    output_bytes: int,
    listener: Listener,
    seen: Seen,
    stop: int | None,
    crowded: Callable[[int], bool] | None,
    watch: TreeWatch | None,
) -> None:
    assert process.stdout is not None
    output = process.stdout.fileno()
    tail = bytearray()
    total = 0
    ended = False
    first: int | None = None
    look_at = time.monotonic() + EVERY_S
    exit_fd = os.pidfd_open(process.pid)
    with selectors.DefaultSelector() as selector:
        try:
            listener.register(selector)
            if watch is not None:
                watch.register(selector, lambda: _child(bytes(status_text)))
            for fd in (output, status):
                os.set_blocking(fd, False)
                selector.register(fd, selectors.EVENT_READ)
            selector.register(exit_fd, selectors.EVENT_READ)
            if stop is not None:
                selector.register(stop, selectors.EVENT_READ)
            while True:
                # After the end one more round without waiting takes what is still in the buffers.
                wait = 0.0 if ended else deadline - time.monotonic()
                if not ended and wait <= 0:
                    seen.timed_out = True
                    break
                ready = selector.select(wait if crowded is None else min(wait, EVERY_S))
                if ended and not ready:
                    break
                if crowded is not None and not ended and time.monotonic() >= look_at:
                    look_at = time.monotonic() + EVERY_S
                    first = first or _child(bytes(status_text))
                    if first is not None and crowded(first):
                        seen.crowded = True
                        break
                if any(key.fd == stop for key, _ in ready):
                    seen.stopped = True
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
        if child is not None and parent_of(child) == process.pid:
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
