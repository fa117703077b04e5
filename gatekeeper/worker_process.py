"""A worker process: code that may hang, crash or grow (an interpreter, a native scanner) behind a pipe that can be cut.

Messages are a 4-byte big-endian length and one JSON object; every answer is `{"ok": value}` or `{"error": text}`.
`Worker` is the parent's end; `serve` is the child's.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
"""Default cap on one message in either direction; a length above it ends the worker."""

ROOT = str(Path(__file__).parent.parent)
"""Where `import gatekeeper` is found, for a child that starts without site-packages."""


def share(pid: int, niceness: int) -> None:
    """How much of the cores the session that `pid` leads gets beside other sessions: 0 is an equal part, 5 a third of it.

    Where the kernel shares the cores among sessions first (autogroups), the niceness of a process counts within its own
    session alone. What cannot be set is left: this is about speed, never about a result.
    """
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/autogroup").write_text(str(niceness), encoding="ascii")


class WorkerError(Exception):
    """The worker is gone, silent, too slow, or answered with an error. The text says which."""


class Worker:
    """One worker process. Not thread-safe: the owner holds a lock."""

    def __init__(self, script: Path, package: str, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        """Start `script`: isolated interpreter, empty environment, own session, no inherited descriptor.

        `package` is the installed package that it wraps; the child is told where it and the gate lie as arguments 1
        and 2 (it starts without site-packages, and so without their start-up code), and `max_bytes` as argument 3.
        """
        import importlib.util

        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise WorkerError(f"the package {package} is not installed")
        packages = str(Path(spec.origin).parent.parent)
        self._max_bytes = max_bytes
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(script), packages, ROOT, str(max_bytes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                close_fds=True,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise WorkerError(f"the worker process cannot be started: {error.strerror}") from error
        self._owner = os.getpid()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        os.set_blocking(self._in.fileno(), False)
        os.set_blocking(self._out.fileno(), False)

    @property
    def pid(self) -> int:
        """Process id of the worker."""
        return self._process.pid

    @property
    def usable(self) -> bool:
        """True while the process lives and belongs to this process (not to one it forked from)."""
        return self._owner == os.getpid() and self._process.poll() is None

    def ask(self, message: dict[str, Any], wall_s: float) -> Any:
        """Send a message and return the answer's value.

        Raises `WorkerError`; after a time-out or a broken pipe the process has been killed.
        """
        deadline = time.monotonic() + wall_s
        self.tell(message, wall_s)
        return self.answer(max(0.0, deadline - time.monotonic()))

    def tell(self, message: dict[str, Any], wall_s: float) -> None:
        """Send a message; its answer must be taken with `answer` before the next one. Raises as `ask` does."""
        body = json.dumps(message, allow_nan=False).encode()
        if len(body) > self._max_bytes:
            raise WorkerError(f"the input is {len(body)} bytes, more than {self._max_bytes}")
        try:
            self._write(struct.pack(">I", len(body)) + body, time.monotonic() + wall_s)
        except (TimeoutError, OSError) as error:
            raise self._killed(error, wall_s) from error

    def answer(self, wall_s: float) -> Any:
        """The value of the answer to the message told last. Raises as `ask` does."""
        deadline = time.monotonic() + wall_s
        try:
            (size,) = struct.unpack(">I", self._read(4, deadline))
            if size > self._max_bytes:
                raise WorkerError("the answer is too large")  # noqa: TRY301  # killed below like every other fault
            answer = json.loads(self._read(size, deadline))
        except (TimeoutError, OSError, EOFError, ValueError, WorkerError) as error:
            raise self._killed(error, wall_s) from error
        if not isinstance(answer, dict) or "ok" not in answer:
            text = answer.get("error", "no answer") if isinstance(answer, dict) else "no answer"
            raise WorkerError(str(text)[:600])
        return answer["ok"]

    def _killed(self, error: Exception, wall_s: float) -> WorkerError:
        self.kill()
        if isinstance(error, TimeoutError):
            return WorkerError(f"no answer within {wall_s:g} s; the worker was killed")
        return WorkerError(f"the worker failed: {str(error) or 'it ended'}")

    def _write(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            _, ready, _ = select.select([], [self._in], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            view = view[os.write(self._in.fileno(), view) :]

    def _read(self, size: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while size:
            ready, _, _ = select.select([self._out], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            part = os.read(self._out.fileno(), min(size, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def kill(self) -> None:
        """End the process now. A forked copy of this object only lets go of its descriptors."""
        if self._owner == os.getpid():
            self._process.kill()
            self._process.wait()
        self._in.close()
        self._out.close()


def serve(handle: Callable[[dict[str, Any]], object], *, wall_s: float, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
    """The child's end: answer messages with what `handle` returns until standard input ends.

    `wall_s` bounds one message also where the parent is gone. Whatever `handle` raises is an answer; running out of
    memory ends the process.
    """
    answers = os.dup(1)
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)  # native code prints on its own; that must not mix with the answers
    while True:
        try:
            message = _receive(0, max_bytes)
        except (EOFError, ValueError, struct.error):
            return
        signal.setitimer(signal.ITIMER_REAL, wall_s)
        try:
            answer: dict[str, object] = {"ok": handle(message)}
        except MemoryError:
            os._exit(3)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error)[:500]}"}
        signal.setitimer(signal.ITIMER_REAL, 0)
        _send(answers, answer, max_bytes)


def limit(memory_mib: int, files: int = 16) -> None:
    """No core dumps, no written files, few descriptors, and `memory_mib` of address space beyond what is there now."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    # Allocators reserve address space when they are loaded, so the cap lies above what is there already.
    with open("/proc/self/statm", encoding="ascii") as sizes:
        present = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (present + (memory_mib << 20),) * 2)


def _take(stream: int, size: int) -> bytes:
    parts = []
    while size:
        part = os.read(stream, min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _receive(stream: int, max_bytes: int) -> dict[str, Any]:
    (size,) = struct.unpack(">I", _take(stream, 4))
    if size > max_bytes:
        raise EOFError
    document = json.loads(_take(stream, size))
    if not isinstance(document, dict):
        raise EOFError  # noqa: TRY004  # ends the worker like a closed stream
    return document


def _send(stream: int, answer: dict[str, object], max_bytes: int) -> None:
    body = json.dumps(answer).encode()
    if len(body) > max_bytes:
        body = json.dumps({"error": "the answer is too large"}).encode()
    view = memoryview(struct.pack(">I", len(body)) + body)
    while view:
        view = view[os.write(stream, view) :]
