"""Starting the worker process: apart from the scanner, since a one-shot check does it before it imports anything else."""

from __future__ import annotations

import os
from pathlib import Path

from gatekeeper.worker_process import Worker

WORKER = Path(__file__).with_name("worker.py")
LOAD_WALL_S = 120.0
"""Without a cache the rules take some seconds of one core."""
GIVING_WAY = 10
"""Niceness of the worker's session while others go first."""
MEMORY_MIB = 2048
MAX_BYTES = 96 * 1024 * 1024
"""Cap on one message: base64 of the largest blob the gate reads, with room."""


def start() -> Worker:
    """A worker that imports the engine and then waits to be told where its rules are. Raises `WorkerError`."""
    return Worker(WORKER, "kingfisher_sdk", MAX_BYTES)


def load(worker: Worker, cache: Path, state: Path, pepper: bytes | None = None) -> Worker:
    """Tell a worker to load its rules; its first answer is the state of their cache. Without a `pepper` the one of `state`
    is used.

    Raises `CouldNotCheck` (SECRET_SCAN_FAILED), `OSError` and `WorkerError`; the worker has ended then.
    """
    from gatekeeper.adapters.kingfisher_scanner.pepper import load_pepper

    try:
        pepper = load_pepper(state) if pepper is None else pepper
        rules = str(_place(cache))
        worker.tell({"cache": rules, "pepper": pepper.hex(), "memory_mib": MEMORY_MIB}, LOAD_WALL_S)
    except BaseException:
        worker.kill()
        raise
    return worker


def prepare(cache: Path) -> None:
    """Compile the rules of this version and write them in parts, so that a check loads those it needs (`parting.make`).

    Takes some ten seconds once, nothing afterwards. Raises `OSError` and `WorkerError`.
    """
    worker = start()
    try:
        worker.ask({"make": str(_place(cache))}, LOAD_WALL_S)
    finally:
        worker.kill()


def prepared(cache: Path) -> bool:
    """True where `prepare` was here for this version."""
    from gatekeeper.adapters.kingfisher_scanner import catalogue

    return catalogue.made(_place(cache))


def _place(cache: Path) -> Path:
    """The folder of compiled rules. Each user has an own one: whoever writes there decides what is found."""
    rules = cache / f"secret-rules-{os.geteuid()}"
    rules.mkdir(mode=0o700, parents=True, exist_ok=True)
    return rules
