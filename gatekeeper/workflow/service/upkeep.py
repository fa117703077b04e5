"""What time and other people's pushes do to verdicts: accepted changes land, or go stale and are verified again.

A verdict is about one base, one policy and a span of time. Where the target moved, the policy was replaced or the time
is over, nobody may land on it: the change is STALE and is queued again by itself.
"""

from __future__ import annotations

import logging
from typing import Any

from gatekeeper.domain.lifecycle import ChangeState
from gatekeeper.domain.paging import row_key
from gatekeeper.domain.records import ChangeRecord, Page, VerificationRecord
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import GatekeeperError, NotMergeable
from gatekeeper.records import dataclass, replace
from gatekeeper.workflow.service.moves import again, move_change
from gatekeeper.workflow.service.service import Service, note
from gatekeeper.workflow.tools import Tools

PAGE = 200
_LOG = logging.getLogger("gatekeeper.upkeep")


@dataclass(frozen=True)
class Seen:
    """What became of the target of one accepted change."""

    base: str
    landed: bool = False


def sweep(service: Service, tools: Tools) -> int:
    """Look at every accepted change once; returns how many moved. A source that cannot be reached is left for next time."""
    moved = 0
    for change, verification in _accepted(service):
        try:
            moved += _one(service, tools, change, verification)
        except GatekeeperError as error:
            _LOG.warning("%s could not be looked at: %s", change.name, error)
    return moved


def _accepted(service: Service) -> list[tuple[ChangeRecord, VerificationRecord]]:
    found: list[tuple[ChangeRecord, VerificationRecord]] = []
    page = Page(PAGE)
    with service.records.reading() as tx:
        while True:
            rows = tx.changes(None, page, states=(ChangeState.MERGEABLE,))
            for change in rows[:PAGE]:
                verification = tx.verification(change.latest_verification)
                if verification is not None and verification.verdict is Verdict.ACCEPTED:
                    found.append((change, replace(verification, report=_policy_alone(verification), repair_brief="")))
            if len(rows) <= PAGE:
                return found
            page = Page(PAGE, row_key(rows[PAGE - 1]))


def _policy_alone(verification: VerificationRecord) -> dict[str, Any]:
    """Reports are large, and there may be many changes."""
    return {"policy": (verification.report or {}).get("policy")}


def _one(service: Service, tools: Tools, change: ChangeRecord, verification: VerificationRecord) -> bool:
    with service.records.reading() as tx:
        repository = tx.repository(change.name.partition("/changes/")[0])
    if repository is None:
        return False
    seen = _seen(tools, repository.source_uri, verification)
    reason = ""
    if seen.base != verification.base:
        reason = "target_moved"
    elif verification.expire_time is not None and verification.expire_time <= service.clock.now():
        reason = "expired"
    elif _policy(verification) != tools.policy.bundle().digest:
        reason = "policy_retired"
    if not seen.landed and not reason:
        return False
    with service.records.transaction() as tx:
        current = tx.change(change.name)
        # Anything may have happened since it was read: only what still stands as it was is moved.
        if current is None or current.version != change.version:
            return False
        if seen.landed:
            move_change(tx, service, current, ChangeState.MERGED, None, landed_commit=seen.base)
            return True
        stale = move_change(tx, service, current, ChangeState.STALE, None, reason=reason, verdict=None)
        new = again(tx, service, verification, None, reason)
        tx.retire_verdicts(new)
        note(tx, service, "verification.stale", verification.name, None, {"reason": reason, "after": new.name})
        move_change(
            tx, service, stale, ChangeState.QUEUED, None, reason=reason, latest_verification=new.name, verdict=None
        )
    service.queue.enqueue(new.name)
    return True


def _seen(tools: Tools, source: str, verification: VerificationRecord) -> Seen:
    """The target's tip now, and whether it holds the head already."""
    mirror = tools.git.fetch(source, verification.target_ref, verification.head)
    if mirror.base == verification.base:
        return Seen(mirror.base)
    try:
        tools.git.describe(mirror)
    except NotMergeable as error:
        return Seen(mirror.base, landed=error.code == "NOTHING_TO_MERGE")
    return Seen(mirror.base)


def _policy(verification: VerificationRecord) -> str:
    policy = (verification.report or {}).get("policy") or {}
    return str(policy.get("digest", ""))
