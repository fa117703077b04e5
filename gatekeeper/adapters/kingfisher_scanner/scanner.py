"""The scanner's port over a warm worker process: every target in, redacted hits out, a fault costs one target."""

from __future__ import annotations

import base64
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gatekeeper.adapters.kingfisher_scanner.rule_worker import LOAD_WALL_S, load, start
from gatekeeper.domain.evidence import ScanHit, ScanReport
from gatekeeper.domain.ports import ScanTarget
from gatekeeper.errors import CouldNotCheck
from gatekeeper.worker_process import Worker, WorkerError, share

FIRST_S = 0.6
"""How long the tests' own run goes before the loading of the rules: both are waited for, and it takes longer."""
SCAN_WALL_S = 90.0
"""Wall limit of one target: several readings, each with the engine's own limit."""
MAX_RESTARTS = 3
"""Workers that may die in one scan; a change that kills more of them leaves its other files unscanned, which blocks."""

WITHHELD = "[withheld: the secret scanner could not look through this text]"


class KingfisherScanner:
    """Implements `domain.ports.SecretScanner`. Thread-safe, one scan at a time; call `close()` at the end."""

    def __init__(self, cache: Path, state: Path, pepper: bytes | None = None, begun: Worker | None = None) -> None:
        """`begun` is a worker of `rule_worker.load` for the same places, from which nothing was read yet and which gives way."""
        self._cache, self._state = cache, state
        self._pepper = pepper
        self._worker = begun
        self._starting = begun is not None
        self._gives_way = begun is not None
        self._fault: CouldNotCheck | None = None
        self._closed = False
        self._lock = threading.Lock()
        self.cache_status = "unknown"
        """loaded, stored or bypassed once the rules are there: bypassed costs seconds at every start."""

    def start(self) -> None:
        """Begin loading the rules beside other work; `scan` waits for them. A fault shows in the first scan."""
        with self._lock:
            try:
                self._begin()
            except CouldNotCheck as fault:
                self._fault = fault

    def load(self) -> None:
        """Load the rules now. Raises `CouldNotCheck` (SECRET_SCAN_FAILED, blame gate)."""
        with self._lock:
            self._ready()

    def close(self) -> None:
        """End the worker. The object cannot be used afterwards."""
        with self._lock:
            self._closed = True
            self._drop()

    def scan(self, targets: Sequence[ScanTarget]) -> ScanReport:
        """See the port. A target whose scan fails, crashes or runs out of time is missing from `scanned`."""
        with self._lock:
            self._ready()
            return self._scan(targets)

    def redact(self, texts: Sequence[str]) -> tuple[str, ...]:
        """See the port. A text that cannot be looked through is withheld whole."""
        with self._lock:
            self._ready()
            return tuple(self._redacted(text) for text in texts)

    def _redacted(self, text: str) -> str:
        if not text.strip():
            return text
        try:
            # A lone surrogate is no text that a pipe could carry.
            clean = text.encode("utf-8", "replace").decode("utf-8")
            answer = self._ready().ask({"text": clean}, SCAN_WALL_S)
        except WorkerError:
            return WITHHELD
        return answer if isinstance(answer, str) else WITHHELD

    def _scan(self, targets: Sequence[ScanTarget]) -> ScanReport:
        hits: list[ScanHit] = []
        scanned: list[str] = []
        errors: list[str] = []
        from importlib import metadata

        done: dict[tuple[bytes, str | None], list[Mapping[str, Any]]] = {}
        died = 0
        for target in targets:
            key = (target.data, target.path)
            if key not in done:
                if died > MAX_RESTARTS:
                    errors.append(f"{target.name}: the scanner had failed before")
                    continue
                try:
                    done[key] = self._ask(target)
                except (WorkerError, CouldNotCheck) as error:
                    died += self._worker is None or not self._worker.usable
                    errors.append(f"{target.name}: {error}"[:300])
                    continue
            hits += [_hit(row, target) for row in done[key]]
            scanned.append(target.name)
        return ScanReport(
            "kingfisher",
            metadata.version("kingfisher-secret-scanner"),
            tuple(t.name for t in targets),
            tuple(scanned),
            tuple(hits),
            tuple(errors),
        )

    def _ask(self, target: ScanTarget) -> list[Mapping[str, Any]]:
        path = target.path
        if path is not None:
            path = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        rows = self._ready().ask({"path": path, "data": base64.b64encode(target.data).decode()}, SCAN_WALL_S)
        if not isinstance(rows, list):
            raise WorkerError("the worker's answer is no list")
        return rows

    def _begin(self) -> Worker:
        """A worker that has been told to load its rules, perhaps not done with it; the lock is held."""
        if self._closed:
            raise CouldNotCheck("SECRET_SCAN_FAILED", "The secret scanner is closed.")
        if self._worker is not None and not self._worker.usable:
            self._drop()
        if self._worker is None:
            try:
                self._worker = load(start(), self._cache, self._state, self._pepper)
                self._starting = True
            except (OSError, WorkerError) as error:
                raise self._failed(error) from error
        return self._worker

    def _ready(self) -> Worker:
        """A worker with its rules loaded; the lock is held."""
        if self._fault is not None:
            raise self._fault
        try:
            worker = self._begin()
            if self._starting:
                self._wait_for(worker)
                self.cache_status = str(worker.answer(LOAD_WALL_S))
                self._starting = False
        except WorkerError as error:
            raise self._failed(error) from error
        except CouldNotCheck as fault:
            self._fault = fault
            raise
        return worker

    def _wait_for(self, worker: Worker) -> None:
        """Somebody waits for the rules now: the worker that gave way does so for a moment more, for the tests' own run
        that began with this scan, and then takes its part. On a busy machine it would starve otherwise.
        """
        if not self._gives_way:
            return
        self._gives_way = False

        def back() -> None:
            if worker.usable:
                share(worker.pid, 0)

        timer = threading.Timer(FIRST_S, back)
        timer.daemon = True
        timer.start()

    def _failed(self, error: Exception) -> CouldNotCheck:
        self._drop()
        self._fault = CouldNotCheck("SECRET_SCAN_FAILED", f"The secret rules cannot be loaded: {error}")
        return self._fault

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
        self._starting = False


def _hit(row: Mapping[str, Any], target: ScanTarget) -> ScanHit:
    # A secret in a file's name must not travel as a path either.
    return ScanHit(
        rule=row["rule"],
        path=None if row["in_name"] else target.path,
        line=row["line"],
        end_line=row["end_line"],
        message=row["message"],
        excerpt=row["excerpt"],
        digest=row["digest"],
        confidence=row["confidence"],
        commit=target.commit,
        metadata={"where": "name"} if row["in_name"] else {},
    )
