"""`DbosEngine`: takes what is queued in the store, runs it as durable workflows, and finds again what a crash left.

The store is the queue: a verification is enqueued by the transaction that stores it, so that nothing can be accepted
and forgotten between two databases. This engine only starts workflows; their ids are made from the names of
the verifications, so starting one twice is starting it once.

SQLite serves one process. A second server on the same state directory is refused by a lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dbos import DBOS, SetWorkflowID
from dbos._error import DBOSAwaitedWorkflowCancelledError, DBOSWorkflowCancelledError

from gatekeeper.adapters.dbos_durable.durable import DbosDurable, Kept, Slots
from gatekeeper.domain.ports import Durable
from gatekeeper.errors import ConfigurationError, CouldNotCheck

VERSION = "gatekeeper-1"
"""Version of the workflow's shape. A change of the order of steps needs `DBOS.patch` or a new version here: workflows
of another version are not run by this code, and `recover` begins their verifications anew."""
EXECUTOR = "gatekeeper"
MAX_RECOVERIES = 8
"""A verification that was running at so many deaths of the process is taken to be their cause. Those that only ran
beside it are counted too, so it must not be too few."""
MAX_LOST = 3
"""So often a verification is begun anew whose workflow broke off while the process lived."""
HEAVY = frozenset({"rerun", "code", "secrets"})
IDLE_S = 2.0
"""The queue is looked at so often without being woken: only a safeguard."""
ENDED = frozenset({"MAX_RECOVERY_ATTEMPTS_EXCEEDED", "ERROR", "SUCCESS", "CANCELLED"})

log = logging.getLogger("gatekeeper.engine")


class Waiting:
    """One queued verification: its name, and whose turn it takes."""

    __slots__ = ("name", "owner")

    def __init__(self, name: str, owner: str) -> None:
        self.name, self.owner = name, owner


class DbosEngine:
    """Implements `domain.service_ports.VerificationQueue`. One a process: DBOS itself is a singleton."""

    def __init__(
        self,
        directory: Path,
        *,
        steps: Mapping[str, Callable[..., Any]],
        body: Callable[[Durable, str], None],
        waiting: Callable[[], Sequence[Waiting]],
        running: Callable[[], Sequence[str]],
        give_up: Callable[[str, str], None],
        listener: Callable[[str, str, Mapping[str, Any]], None],
        stop_processes: Callable[[str], None],
        workers: int | None = None,
    ) -> None:
        """`body` runs one verification on a `Durable`; all it does to the world it does in steps of `steps`.

        `waiting` and `running` list the store's queued and running verifications, oldest first. `give_up(name, why)`
        decides one that cannot be run. `listener(name, state, detail)` hears of progress. `stop_processes(name)`
        kills the sandboxes that work for it.
        """
        self._directory = directory
        self._body, self._waiting, self._running_of = body, waiting, running
        self._give_up, self._listener, self._stop_processes = give_up, listener, stop_processes
        cores = os.cpu_count() or 1
        # One more than there are cores: while one waits for git or the disk, the cores are busy.
        self._workers = workers or cores + 1
        self._slots = Slots(cores, HEAVY)
        self._steps = steps
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._active: dict[str, str] = {}
        self._owners: dict[str, str] = {}
        """Whose turn each active one takes; one that was recovered takes nobody's."""
        self._lost: Counter[str] = Counter()
        self._wake = threading.Event()
        self._closing = False
        self._held: int | None = None
        self._dispatcher: threading.Thread | None = None

    def provide(self, steps: Mapping[str, Callable[..., Any]]) -> None:
        """The steps, where they need something that needs this queue. Before `launch`."""
        self._steps = steps

    # --- life ---

    def launch(self) -> None:
        """Start; recover what the last process left. Call it before any event loop runs.

        Raises `ConfigurationError` (GATE_RUNNING) where another process serves this directory, `CouldNotCheck`
        (STORE_FAILED) where the engine's database cannot be used.
        """
        try:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._hold()
            database = self._directory / "workflows.sqlite3"
            _prepare(database)
        except (OSError, sqlite3.Error) as error:
            self._release()
            raise CouldNotCheck("STORE_FAILED", f"The engine's database cannot be used: {error}.") from error
        DBOS(
            config={
                "name": "gatekeeper",
                "system_database_url": f"sqlite:///{database}",
                "application_version": VERSION,
                "executor_id": EXECUTOR,
                "log_level": "WARNING",
                "console_log_level": "ERROR",
                "notification_listener_polling_interval_sec": 0.25,
                "enable_otlp": False,
            }
        )

        logging.getLogger("dbos").addFilter(_not_a_cancellation)

        @DBOS.workflow(name="verification", max_recovery_attempts=MAX_RECOVERIES)
        def verification(name: str) -> None:
            self._run(name)

        @DBOS.workflow(name="part", max_recovery_attempts=MAX_RECOVERIES)
        def part(step: str, args: tuple[Any, ...]) -> Kept:
            return self._run_part(step, args)

        self._verification, self._part = verification, part
        DBOS.launch()
        self._recover()
        self._dispatcher = threading.Thread(target=self._dispatch, name="dispatcher", daemon=True)
        self._dispatcher.start()

    def close(self, grace_s: float = 0.0) -> bool:
        """Start nothing more, wait up to `grace_s` for what runs, and end. True where nothing was left running.

        False: leave the process at once (`os._exit`). What runs goes on at the next start from its last finished step;
        to stop it here would store its end as a result.
        """
        self._closing = True
        self._wake.set()
        if self._dispatcher is not None:
            self._dispatcher.join(timeout=10)
        with self._idle:
            ended = self._idle.wait_for(lambda: not self._active, timeout=max(grace_s, 0.1))
        if ended:
            DBOS.destroy()
        self._release()
        return ended

    @property
    def up(self) -> bool:
        """True while work is taken."""
        return self._dispatcher is not None and self._dispatcher.is_alive() and not self._closing

    def _hold(self) -> None:
        fd = os.open(self._directory / "engine.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(fd)
            raise ConfigurationError(
                "GATE_RUNNING", f"Another gatekeeper server works in {str(self._directory)!r}."
            ) from error
        self._held = fd

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None

    # --- the queue's port ---

    def enqueue(self, verification: str) -> None:  # noqa: ARG002  # the store knows which
        """See `VerificationQueue.enqueue`."""
        self._wake.set()

    def stop(self, verification: str) -> None:
        """See `VerificationQueue.stop`."""
        with self._lock:
            workflow = self._active.get(verification)
        if workflow is not None:
            DBOS.cancel_workflow(workflow)
            self._stop_processes(verification)
        self._wake.set()

    # --- starting ---

    def _dispatch(self) -> None:
        failed = False
        while not self._closing:
            try:
                self._reap()
                self._adopt_lost()
                self._start_some()
                failed = False
            except Exception as error:
                # The traceback once: a full disk lasts, and the log may lie on it.
                why = str(error).partition("\n")[0]
                log.log(logging.ERROR, "the queue could not be worked on; trying again: %s", why, exc_info=not failed)
                failed = True
                # What failed wakes this thread again, so that it would spin.
                self._wake.clear()
            self._wake.wait(IDLE_S)
            self._wake.clear()

    def _start_some(self) -> None:
        with self._lock:
            free = self._workers - len(self._active)
            active = dict(self._active)
            turns = Counter(self._owners.values())
        if free <= 0:
            return
        for item in _fair([w for w in self._waiting() if w.name not in active], free, turns):
            if not self._closing:
                self._begin(item.name, workflow_id(item.name), item.owner)

    def _reap(self) -> None:
        """Decide what DBOS has ended and the store has not: a workflow without a verdict must not be waited for."""
        with self._lock:
            active = dict(self._active)
        for name, workflow in active.items():
            status = DBOS.get_workflow_status(workflow)
            if status is None or status.status not in ENDED:
                continue
            if status.status == "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
                self._give_up(name, "The gate died several times while it worked on this submission.")
            else:
                self._give_up(name, f"The work on this submission ended without a verdict ({status.status}).")
            self._done(name)

    def _adopt_lost(self) -> None:
        """Begin anew what the store calls running and nobody works on: a workflow whose database failed (a full disk)
        ends without storing how, and nothing else would ever take it up before the next start.
        """
        with self._lock:
            # Before the store is asked: what ends in between is stored as final before it leaves the active ones.
            active = set(self._active)
        for name in self._running_of():
            if name in active or self._closing:
                continue
            if self._lost[name] >= MAX_LOST:
                self._give_up(name, "The work on this submission broke off several times.")
                continue
            self._begin(name, f"{workflow_id(name)}-{os.urandom(4).hex()}")
            self._lost[name] += 1
            log.warning("verification %s broke off; begun anew", name)

    def _begin(self, name: str, workflow: str, owner: str | None = None) -> None:
        with self._lock:
            self._active[name] = workflow
            if owner is not None:
                self._owners[name] = owner
        try:
            with SetWorkflowID(workflow):
                DBOS.start_workflow(self._verification, name)
        except BaseException:
            self._done(name)
            raise

    def _done(self, name: str) -> None:
        with self._lock:
            self._active.pop(name, None)
            self._owners.pop(name, None)
            self._idle.notify_all()
        self._wake.set()

    # --- inside workflows ---

    def _run(self, name: str) -> None:
        with self._lock:
            self._active[name] = str(DBOS.workflow_id)

        def listen(state: str, detail: Mapping[str, Any]) -> None:
            self._listener(name, state, detail)

        try:
            self._body(DbosDurable(self._steps, self._slots, self._part, listen), name)
        finally:
            self._done(name)

    def _run_part(self, step: str, args: tuple[Any, ...]) -> Kept:
        kept: Kept = DBOS.run_step({"name": step}, self._slots.run, step, self._steps[step], args)
        return kept

    # --- after a crash ---

    def _recover(self) -> None:
        """DBOS goes on with its own unfinished workflows; what the store calls running and DBOS does not is begun anew."""
        for name in self._running_of():
            status = DBOS.get_workflow_status(workflow_id(name))
            # DBOS has put its own unfinished workflows back on a queue of its own by now.
            known = ("PENDING", "ENQUEUED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
            if status is not None and status.status in known and status.app_version == VERSION:
                with self._lock:
                    self._active[name] = workflow_id(name)
                continue
            again = f"{workflow_id(name)}-{os.urandom(4).hex()}"
            log.warning(
                "verification %s had no workflow to go on with (%s); begun anew", name, status and status.status
            )
            self._begin(name, again)


def _not_a_cancellation(record: logging.LogRecord) -> bool:
    """False for the traceback of a workflow that was cancelled: anybody may cancel, and it is no fault."""
    cancelled = (DBOSAwaitedWorkflowCancelledError, DBOSWorkflowCancelledError)
    return not (record.exc_info and isinstance(record.exc_info[1], cancelled))


def workflow_id(verification: str) -> str:
    """Id of the workflow of a verification: a name is too long and holds slashes."""
    return "v-" + hashlib.sha256(verification.encode()).hexdigest()[:40]


def _fair(waiting: Sequence[Waiting], count: int, running: Mapping[str, int]) -> list[Waiting]:
    """The next ones: the owner with the fewest turns, those that run counted, goes first; among equals the oldest.

    Without what runs, whoever has filled the queue would get every place that becomes free, one at a time.
    """
    turns = Counter(running)
    left = list(waiting)
    chosen: list[Waiting] = []
    while left and len(chosen) < count:
        best = min(range(len(left)), key=lambda i: (turns[left[i].owner], i))
        item = left.pop(best)
        turns[item.owner] += 1
        chosen.append(item)
    return chosen


def _prepare(database: Path) -> None:
    """Private file, write-ahead log: readers and the one writer do not wait for each other."""
    fd = os.open(database, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.close(fd)
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    connection.close()
