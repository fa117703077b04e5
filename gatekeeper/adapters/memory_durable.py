"""Durable in memory: for the one-shot check, where the process is the verification. Nothing survives a crash."""

from __future__ import annotations

import contextvars
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

Listener = Callable[[str, Mapping[str, Any]], None]
"""Called with a state and its detail; must not raise."""


class MemoryDurable:
    """Runs steps at once, in this process. Implements `domain.ports.Durable`."""

    def __init__(
        self, steps: Mapping[str, Callable[..., Any]], listener: Listener | None = None, workers: int | None = None
    ) -> None:
        self._steps = dict(steps)
        self._listener = listener
        # A step thread spawns a sandbox and waits for it in the same thread: the kernel ties the sandbox's
        # death signal to that thread, so it must live as long as the child.
        self._workers = workers or max(2, os.cpu_count() or 1) + 1
        self._ahead: dict[str, tuple[tuple[Any, ...], Future[Any]]] = {}
        self.timings_ms: dict[str, float] = {}

    def extend(self, steps: Mapping[str, Callable[..., Any]]) -> None:
        """Further steps, for one that was made with those alone that are to begin ahead."""
        self._steps |= steps

    def ahead(self, names: Sequence[str], *args: Any) -> None:
        """Begin these steps now, in a thread: the first with `args`, each other with the result of the one before.

        `step` takes what came of one, a result or an error, where it is asked for the same; nothing else changes. A step
        waits for programs for most of its time, so that this process can import and read meanwhile.
        """
        first: Future[Any] = Future()
        self._ahead[names[0]] = (args, first)

        def chain() -> None:
            future, given = first, args
            for number, name in enumerate(names):
                try:
                    given = (self._run(name, *given),)
                except BaseException as error:
                    future.set_exception(error)
                    return
                done, future = future, Future()
                if number + 1 < len(names):
                    self._ahead[names[number + 1]] = (given, future)
                done.set_result(given[0])  # last: whoever waits for it asks for the next one then

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(chain,), name="ahead").start()

    def step(self, name: str, *args: Any) -> Any:
        """See `Durable.step`."""
        given, future = self._ahead.pop(name, ((), None))
        if future is not None and given == args:
            return future.result()
        return self._run(name, *args)

    def _run(self, name: str, *args: Any) -> Any:
        function = self._steps[name]
        begun = time.perf_counter()
        try:
            return function(*args)
        finally:
            spent = (time.perf_counter() - begun) * 1000
            self.timings_ms[name] = round(self.timings_ms.get(name, 0.0) + spent, 1)

    def parallel(self, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> list[Any]:
        """See `Durable.parallel`."""
        if not calls:
            return []

        def guarded(name: str, args: tuple[Any, ...]) -> Any:
            try:
                return self.step(name, *args)
            except Exception as error:
                return error

        with ThreadPoolExecutor(max_workers=min(self._workers, len(calls)), thread_name_prefix="step") as pool:
            context = contextvars.copy_context
            futures = [pool.submit(context().run, guarded, name, args) for name, args in calls]
            return [f.result() for f in futures]

    def note(self, state: str, detail: Mapping[str, Any] | None = None) -> None:
        """See `Durable.note`."""
        if self._listener is not None:
            self._listener(state, detail or {})
