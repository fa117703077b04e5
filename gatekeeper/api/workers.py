"""Threads for the calls that block: the store's and the disk's. Bounded in number and in what waits for them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from gatekeeper.errors import RequestRefused

P = ParamSpec("P")
T = TypeVar("T")


class Deadline:
    """The end of one call, shared with the thread that works for it."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._over = threading.Event()

    @property
    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self._end - time.monotonic())

    @property
    def passed(self) -> bool:
        """True once the time is up or the call is over: nothing must begin any more."""
        return self._over.is_set() or time.monotonic() >= self._end

    def close(self) -> None:
        """The call is over."""
        self._over.set()


def deadline_passed() -> RequestRefused:
    """The error of a call whose time is up."""
    return RequestRefused("DEADLINE_PASSED", "The deadline passed before the call was carried out.")


class Workers:
    """A pool of threads. More than `waiting` calls for it at once are refused, never piled up."""

    def __init__(self, threads: int, waiting: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._waiting = waiting
        self._count = 0

    async def run(self, deadline: Deadline, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`function(*args, **kwargs)` in a thread; not begun once the deadline passed. Raises what it raises, and
        `RequestRefused` (RATE_LIMITED, DEADLINE_PASSED).
        """
        if self._count >= self._waiting:
            raise RequestRefused("RATE_LIMITED", "The gate has too many calls to answer; try again in a moment.")
        self._count += 1
        try:

            def begin() -> T:
                if deadline.passed:
                    raise deadline_passed()
                return function(*args, **kwargs)

            return await asyncio.get_running_loop().run_in_executor(self._pool, begin)
        finally:
            self._count -= 1

    def close(self) -> None:
        """Begin nothing more; what runs is let run."""
        self._pool.shutdown(wait=False, cancel_futures=True)
