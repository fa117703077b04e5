"""Starting the worker process: apart from the engine, since a one-shot check does it before it imports anything else."""

from __future__ import annotations

from pathlib import Path

from gatekeeper.worker_process import Worker

WORKER = Path(__file__).with_name("worker.py")


def begin() -> Worker:
    """A worker that loads the interpreter and then waits for the bundle. Raises `WorkerError`."""
    return Worker(WORKER, "regopy")
