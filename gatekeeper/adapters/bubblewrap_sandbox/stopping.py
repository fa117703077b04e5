"""Runs that are under way, by request id, so that they can be stopped from another thread.

A run is never killed from outside its own thread: the stop is a message that the thread waiting for the run reads, so no
process id can have come to mean another process.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gatekeeper.errors import CouldNotCheck

REFUSED_S = 900.0
"""For so long nothing new is started under a prefix that was stopped; longer than a step that was under way may need."""
MAX_PREFIXES = 10_000
END_S = 10.0
"""How long a stop waits for the runs to be gone."""


class RunsUnderWay:
    """Thread-safe."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._running: dict[int, str] = {}
        """Request id by the descriptor that tells a run to stop."""
        self._refused: dict[str, float] = {}
        """Until when nothing starts, by prefix; oldest first."""

    @contextmanager
    def entered(self, request: str) -> Iterator[int]:
        """Count a run as under way; yields a descriptor that becomes readable when it must stop.

        Raises `CouldNotCheck` (SANDBOX_STOPPED) where that id was stopped a while ago.
        """
        signal = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        try:
            with self._changed:
                now = self._clock()
                if any(until > now and request.startswith(prefix) for prefix, until in self._refused.items()):
                    raise stopped(request)
                self._running[signal] = request
            try:
                yield signal
            finally:
                with self._changed:
                    del self._running[signal]
                    self._changed.notify_all()
        finally:
            os.close(signal)

    def stop(self, prefix: str) -> int:
        """Stop what runs under `prefix`, and wait until it is gone; returns how many runs that were."""
        with self._changed:
            now = self._clock()
            self._refused.pop(prefix, None)
            for old in [p for p, until in self._refused.items() if until <= now]:
                del self._refused[old]
            while len(self._refused) >= MAX_PREFIXES:
                del self._refused[next(iter(self._refused))]
            self._refused[prefix] = now + REFUSED_S
            told = {signal for signal, request in self._running.items() if request.startswith(prefix)}
            for signal in told:
                os.eventfd_write(signal, 1)
            mine = {signal: self._running[signal] for signal in told}
            self._changed.wait_for(
                lambda: not any(self._running.get(signal) == request for signal, request in mine.items()), END_S
            )
            return len(told)


def stopped(request: str) -> CouldNotCheck:
    """The error of a run that was stopped: the gate's own doing, never the change's."""
    return CouldNotCheck("SANDBOX_STOPPED", f"The run {request!r} was stopped by the gate.")
