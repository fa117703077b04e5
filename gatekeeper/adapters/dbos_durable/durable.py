"""`Durable` inside a DBOS workflow: each step's result is stored before the next one begins."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dbos import DBOS

from gatekeeper.records import dataclass

POLL_S = 0.02
"""How often a workflow looks whether its parallel steps are done; DBOS's own default is a second."""


@dataclass(frozen=True)
class Kept:
    """What a step returned or raised, as stored. An error is a value here: DBOS must neither retry nor rewrite it."""

    value: Any = None
    error: Exception | None = None
    spent_ms: float = 0.0

    def get(self) -> Any:
        """The value; raises what the step raised."""
        if self.error is not None:
            raise self.error
        return self.value


class Slots:
    """Places for steps that keep a core busy, shared by all verifications of the process."""

    def __init__(self, count: int, heavy: frozenset[str]) -> None:
        self._places = threading.Semaphore(count)
        self._heavy = heavy

    def run(self, name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Kept:
        """Run a step, waiting for a place first where it needs one."""
        if name not in self._heavy:
            return self._guarded(function, args)
        with self._places:
            return self._guarded(function, args)

    @staticmethod
    def _guarded(function: Callable[..., Any], args: tuple[Any, ...]) -> Kept:
        begun = time.perf_counter()

        def spent() -> float:
            return (time.perf_counter() - begun) * 1000

        try:
            return Kept(function(*args), spent_ms=spent())
        except Exception as error:
            return Kept(error=error, spent_ms=spent())


class DbosDurable:
    """Implements `domain.ports.Durable` for one workflow. Used only on the thread that runs the workflow."""

    def __init__(
        self,
        steps: Mapping[str, Callable[..., Any]],
        slots: Slots,
        part: Callable[..., Kept],
        listener: Callable[[str, Mapping[str, Any]], None],
    ) -> None:
        """`part` is the registered workflow that runs one step of a parallel group."""
        self._steps, self._slots, self._part = steps, slots, part
        self._listener = listener
        self.timings_ms: dict[str, float] = {}

    def step(self, name: str, *args: Any) -> Any:
        """See `Durable.step`."""
        return self._one(name, args).get()

    def parallel(self, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> list[Any]:
        """See `Durable.parallel`. Each call is a workflow of its own, so that after a crash only unfinished ones run."""
        if len(calls) == 1:
            found = [self._one(*calls[0])]
        else:
            handles = [DBOS.start_workflow(self._part, name, args) for name, args in calls]
            found = []
            for (name, _), handle in zip(calls, handles, strict=True):
                found.append(self._counted(name, handle.get_result(polling_interval_sec=POLL_S)))
        return [kept.value if kept.error is None else kept.error for kept in found]

    def _one(self, name: str, args: tuple[Any, ...]) -> Kept:
        kept: Kept = DBOS.run_step({"name": name}, self._slots.run, name, self._steps[name], args)
        return self._counted(name, kept)

    def _counted(self, name: str, kept: Kept) -> Kept:
        self.timings_ms[name] = round(self.timings_ms.get(name, 0.0) + kept.spent_ms, 1)
        if name == "rerun":
            self._listener("RAN", {"ended": 1})
        return kept

    def note(self, state: str, detail: Mapping[str, Any] | None = None) -> None:
        """See `Durable.note`."""
        self._listener(state, detail or {})
