"""`Durable` inside a DBOS workflow: each step's result is stored before the next one begins."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dbos import DBOS

POLL_S = 0.02
"""How often a workflow looks whether its parallel steps are done; DBOS's own default is a second."""


@dataclass(frozen=True)
class Kept:
    """What a step returned or raised, as stored. An error is a value here: DBOS must neither retry nor rewrite it."""

    value: Any = None
    error: Exception | None = None

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
        try:
            return Kept(function(*args))
        except Exception as error:
            return Kept(error=error)


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

    def step(self, name: str, *args: Any) -> Any:
        """See `Durable.step`."""
        kept: Kept = DBOS.run_step({"name": name}, self._slots.run, name, self._steps[name], args)
        return kept.get()

    def parallel(self, calls: Sequence[tuple[str, tuple[Any, ...]]]) -> list[Any]:
        """See `Durable.parallel`. Each call is a workflow of its own, so that after a crash only unfinished ones run."""
        if len(calls) == 1:
            name, args = calls[0]
            kept: Kept = DBOS.run_step({"name": name}, self._slots.run, name, self._steps[name], args)
            return [kept.value if kept.error is None else kept.error]
        handles = [DBOS.start_workflow(self._part, name, args) for name, args in calls]
        found = [handle.get_result(polling_interval_sec=POLL_S) for handle in handles]
        return [kept.value if kept.error is None else kept.error for kept in found]

    def note(self, state: str, detail: Mapping[str, Any] | None = None) -> None:
        """See `Durable.note`."""
        self._listener(state, detail or {})
