"""What loads longest is started before a one-shot check's own imports: the secret rules (half a second of one core) and
the policy's interpreter.

The only state of a module in this package: the workers that were begun, until somebody takes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gatekeeper.config import Paths, paths

if TYPE_CHECKING:
    from gatekeeper.worker_process import Worker

_begun: list[tuple[Paths, Worker]] = []
_policy: list[Worker] = []


def begin() -> None:
    """Start the workers. Never raises: what is wrong shows when the scanner or the engine itself starts one.

    A worker that nobody takes ends with this process.
    """
    from gatekeeper.adapters.kingfisher_scanner import rule_worker
    from gatekeeper.adapters.rego_policy import policy_worker
    from gatekeeper.errors import GatekeeperError
    from gatekeeper.worker_process import WorkerError

    try:
        where = paths()
        _begun.append((where, rule_worker.begin(where.cache, where.state)))
        _policy.append(policy_worker.begin())
    except (GatekeeperError, WorkerError, OSError):
        return


def taken(where: Paths) -> Worker | None:
    """The secret scanner's worker that was begun for this place, which is the caller's now; one for another place is
    ended.
    """
    found = None
    while _begun:
        place, worker = _begun.pop()
        if place == where and found is None:
            found = worker
        else:
            worker.kill()
    return found


def policy_taken() -> Worker | None:
    """The policy's worker that was begun, which is the caller's now."""
    return _policy.pop() if _policy else None
