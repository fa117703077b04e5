"""What loads longest is started before a one-shot check's own imports: the first secret rules and
the policy's interpreter.

The only state of a module in this package: the workers that were begun, until somebody takes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gatekeeper.config import Paths
    from gatekeeper.worker_process import Worker

_begun: list[tuple[Paths, Worker]] = []
_policy: list[Worker] = []


def begin() -> None:
    """Start the workers. Never raises: what is wrong shows when the scanner or the engine itself starts one.

    A worker that nobody takes ends with this process. Every import here is made to wait until the first is started.
    """
    from gatekeeper.adapters.kingfisher_scanner import rule_worker
    from gatekeeper.worker_process import WorkerError, share

    try:
        secrets = rule_worker.start()
        share(secrets.pid, rule_worker.GIVING_WAY)
    except WorkerError:
        return
    from gatekeeper.adapters.rego_policy import policy_worker
    from gatekeeper.config import paths
    from gatekeeper.errors import GatekeeperError

    try:
        _policy.append(policy_worker.begin())
        where = paths()
        _begun.append((where, rule_worker.load(secrets, where.cache, where.state)))
    except (GatekeeperError, WorkerError, OSError):
        secrets.kill()


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
