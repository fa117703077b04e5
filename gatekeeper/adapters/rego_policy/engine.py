"""`RegoPolicy`: the policy port over a bundle and a warm worker process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from gatekeeper.adapters.rego_policy import policy_worker
from gatekeeper.adapters.rego_policy.loader import LoadedBundle, load_bundle, refused
from gatekeeper.domain.decision import BundleId, Plan, PolicyDecision
from gatekeeper.domain.ticket import Risk
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.policy_answer import decision_of, plan_of
from gatekeeper.worker_process import Worker, WorkerError

PLAN = "gatekeeper/plan/v1/result"
DECIDE = "gatekeeper/decide/v1/result"

WALL_S = 5.0
"""Wall limit of one evaluation, and of loading; a decision takes some milliseconds."""

MEMORY_MIB = 1024
"""Address space of the worker; about 100 MiB are used."""


class RegoPolicy:
    """Evaluates one bundle. Implements `domain.ports.PolicyEngine`; thread-safe, one evaluation at a time.

    The bundle is read once: what is on disk later makes no difference to this object. `warm()` starts the worker in
    the background; without it the first call starts it. `close()` ends it.
    """

    def __init__(
        self, directory: Path, *, wall_s: float = WALL_S, memory_mib: int = MEMORY_MIB, begun: Worker | None = None
    ) -> None:
        """`directory` holds the bundle; nothing is read before `warm()` or the first call.

        `begun` is a worker that was started ahead and was told nothing yet; it is this object's from now on.
        """
        self._directory = directory
        self._wall_s = wall_s
        self._memory_mib = memory_mib
        self._lock = threading.Lock()
        self._bundle: LoadedBundle | None = None
        self._worker: Worker | None = None
        self._begun = begun
        self._closed = False
        self._warming: Future[None] | None = None

    def warm(self) -> None:
        """Begin to read the bundle and to start the worker; returns at once. A fault shows in the first call."""
        if self._warming is not None:
            return
        started: Future[None] = Future()
        self._warming = started

        def begin() -> None:
            with contextlib.suppress(CouldNotCheck), self._lock:
                self._ready()
            started.set_result(None)

        threading.Thread(target=begin, name="policy-warm", daemon=True).start()

    def bundle(self) -> BundleId:
        """Identity of the bundle. Raises `CouldNotCheck` (POLICY_UNUSABLE)."""
        with self._lock:
            return self._loaded().id

    def plan(self, document: Mapping[str, Any]) -> Plan:
        """Evaluate the plan. Raises `CouldNotCheck` (POLICY_UNUSABLE, POLICY_FAILED)."""
        answer, identity = self._evaluate(PLAN, document)
        return plan_of(answer, identity)

    def decide(self, document: Mapping[str, Any]) -> PolicyDecision:
        """Evaluate the decision. Raises `CouldNotCheck` (POLICY_UNUSABLE, POLICY_FAILED)."""
        answer, identity = self._evaluate(DECIDE, document)
        return decision_of(answer, identity)

    def close(self) -> None:
        """End the worker. The object cannot be used afterwards."""
        with self._lock:
            self._closed = True
            for worker in (self._worker, self._begun):
                if worker is not None:
                    worker.kill()
            self._worker = self._begun = None

    def _evaluate(self, entrypoint: str, document: Mapping[str, Any]) -> tuple[Any, BundleId]:
        with self._lock:
            worker = self._ready()
            try:
                answer = worker.ask({"entrypoint": entrypoint, "input": dict(document)}, self._wall_s)
            except WorkerError as error:
                raise CouldNotCheck("POLICY_FAILED", f"The policy gave no answer to {entrypoint}: {error}.") from error
            except (TypeError, ValueError, RecursionError) as error:
                raise CouldNotCheck("POLICY_FAILED", f"The input of {entrypoint} is not JSON: {error}.") from error
            return answer, self._loaded().id

    def _loaded(self) -> LoadedBundle:
        if self._bundle is None:
            self._bundle = load_bundle(self._directory)
        return self._bundle

    def _ready(self) -> Worker:
        """A worker with the bundle loaded and proven on an empty input; the lock is held."""
        if self._closed:
            raise CouldNotCheck("POLICY_FAILED", "The policy engine is closed.")
        if self._worker is not None:
            if self._worker.usable:
                return self._worker
            self._worker.kill()
            self._worker = None
        worker: Worker | None = None
        try:
            # The process starts while this one reads the bundle.
            worker, self._begun = self._begun, None
            if worker is None or not worker.usable:
                worker = policy_worker.begin()
            bundle = self._loaded()
            load = {
                "modules": bundle.modules,
                "data": bundle.data,
                "entrypoints": [PLAN, DECIDE],
                "memory_mib": self._memory_mib,
            }
            worker.ask(load, self._wall_s)
            self._prove(worker, bundle.id)
        except BaseException as error:
            if worker is not None:
                worker.kill()
            if isinstance(error, WorkerError):
                raise refused(self._directory.name, str(error)) from error
            raise
        self._worker = worker
        return worker

    def _prove(self, worker: Worker, identity: BundleId) -> None:
        """A bundle that accepts an input without any fact, or is not whole on it, would accept anything."""
        for entrypoint in (PLAN, DECIDE):
            try:
                answer = worker.ask({"entrypoint": entrypoint, "input": {}}, self._wall_s)
                if entrypoint == PLAN:
                    harmless = plan_of(answer, identity).tier is Risk.HIGH
                else:
                    harmless = decision_of(answer, identity).verdict.rank <= Verdict.UNDECIDED.rank
            except (WorkerError, CouldNotCheck) as error:
                raise refused(f"{entrypoint} on an empty input", str(error)) from error
            if not harmless:
                raise refused(entrypoint, "it lets an empty input pass")
