"""Secret rules take half a second of one core to load: a one-shot check begins with it, before its own imports.

The only state of a module in this package: the worker that was begun, until somebody takes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.config import Paths, paths

if TYPE_CHECKING:
    from gatekeeper.worker_process import Worker

_begun: list[tuple[Paths, Worker]] = []


def begin() -> None:
    """Start the worker of the secret scanner. Never raises: what is wrong shows when the scanner itself starts one.

    A worker that nobody takes ends with this process.
    """
    from gatekeeper.adapters.kingfisher_scanner import rule_worker
    from gatekeeper.errors import GatekeeperError
    from gatekeeper.worker_process import WorkerError

    try:
        where = paths()
        _begun.append((where, rule_worker.begin(where.cache, where.state)))
    except (GatekeeperError, WorkerError, OSError):
        return


def taken(where: Paths) -> Worker | None:
    """The worker that was begun for this place, which is the caller's now; one for another place is ended."""
    found = None
    while _begun:
        place, worker = _begun.pop()
        if place == where and found is None:
            found = worker
        else:
            worker.kill()
    return found
