"""The parent's end of the worker process: start, speak, kill on time-out, close."""

from __future__ import annotations

import importlib.util
import json
import os
import select
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from gatekeeper.adapters.rego_policy.worker import MAX_MESSAGE_BYTES

_WORKER = Path(__file__).with_name("worker.py")


class WorkerError(Exception):
    """The worker is gone, silent, too slow, or answered with an error. The text says which."""


class Worker:
    """One worker process. Not thread-safe: the owner holds a lock."""

    def __init__(self) -> None:
        """Start the process: isolated interpreter, empty environment, own session, no inherited descriptor."""
        spec = importlib.util.find_spec("regopy")
        if spec is None or spec.origin is None:
            raise WorkerError("the package regopy is not installed")
        packages = str(Path(spec.origin).parent.parent)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_WORKER), packages],
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
        body = json.dumps(message, allow_nan=False).encode()
        if len(body) > MAX_MESSAGE_BYTES:
            raise WorkerError(f"the input is {len(body)} bytes, more than {MAX_MESSAGE_BYTES}")
        deadline = time.monotonic() + wall_s
        try:
            self._write(struct.pack(">I", len(body)) + body, deadline)
            (size,) = struct.unpack(">I", self._read(4, deadline))
            if size > MAX_MESSAGE_BYTES:
                raise WorkerError("the answer is too large")  # noqa: TRY301  # killed below like every other fault
            answer = json.loads(self._read(size, deadline))
        except TimeoutError:
            self.kill()
            raise WorkerError(f"no answer within {wall_s:g} s; the worker was killed") from None
        except (OSError, EOFError, ValueError, WorkerError) as error:
            self.kill()
            raise WorkerError(f"the worker failed: {str(error) or 'it ended'}") from error
        if not isinstance(answer, dict) or "ok" not in answer:
            text = answer.get("error", "no answer") if isinstance(answer, dict) else "no answer"
            raise WorkerError(str(text)[:600])
        return answer["ok"]

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
