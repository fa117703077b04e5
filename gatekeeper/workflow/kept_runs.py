"""Runs of the target's own tests, reused by content: twenty changes on one base need its control run once.

Only runs without a byte of the change are kept: what decides on a change is always run for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future

from gatekeeper.domain.testrun import SuiteRun, Termination

MAX_KEPT = 64


class KeptRuns:
    """Implements `domain.base_run.KeptBaseRuns`. Thread-safe; two that ask for the same run at once make it once. Nothing outlives the process."""

    def __init__(self, size: int = MAX_KEPT) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._runs: OrderedDict[Hashable, Future[SuiteRun]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], SuiteRun]) -> SuiteRun:
        """The run with this content, made now where there is none. Raises what `make` raises, to everybody who waits.

        A run that did not end by itself tells of the machine as much as of the tests, and is not kept.
        """
        with self._lock:
            future = self._runs.get(key)
            mine = future is None
            if future is None:
                future = self._runs[key] = Future()
            self._runs.move_to_end(key)
            for old in list(self._runs)[: -self._size]:
                if self._runs[old].done():
                    del self._runs[old]
        if not mine:
            return future.result()
        try:
            made = make()
        except BaseException as error:
            self._forget(key, future)
            future.set_exception(error)
            raise
        if made.termination is not Termination.EXITED:
            self._forget(key, future)
        future.set_result(made)
        return made

    def _forget(self, key: Hashable, future: Future[SuiteRun]) -> None:
        with self._lock:
            if self._runs.get(key) is future:
                del self._runs[key]
