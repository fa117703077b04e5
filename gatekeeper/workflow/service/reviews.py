"""The diff gate: what people decide on a change after the machine checks. Nothing is stored unless all of it holds."""

from __future__ import annotations

from typing import Any

from gatekeeper.domain.lifecycle import ChangeState
from gatekeeper.domain.principal import Caller
from gatekeeper.domain.records import ChangeRecord, ReviewRecord, VerificationRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.errors import InputError, RequestRefused
from gatekeeper.workflow.service.changes import known_change, require_open
from gatekeeper.workflow.service.commands import ReviewCommand
from gatekeeper.workflow.service.decisions import DECISIONS, Act
from gatekeeper.workflow.service.idempotency import answered, remember
from gatekeeper.workflow.service.people import as_one_person, author_of, require_human, require_uninvolved
from gatekeeper.workflow.service.service import Service, acting, audited, note
from gatekeeper.workflow.service.verifications import known_verification


def create(service: Service, caller: Caller, command: ReviewCommand) -> tuple[ReviewRecord, ChangeRecord]:
    """Store a decision and move the change.

    An APPROVE or WAIVE never makes a change MERGEABLE by itself: the gate decides again, knowing of it, and signs again.
    Raises `InputError` (INPUT_MALFORMED, TICKET_MALFORMED), `RequestRefused` (HUMAN_REQUIRED, APPROVAL_*, CHANGE_*,
    VERIFICATION_*, FINDING_UNKNOWN, WAIVER_REFUSED, REVIEW_NOT_POSSIBLE, STATEMENT_REQUIRED, DIFF_CHANGED,
    TICKET_CHANGED, REQUEST_ID_REUSED).
    """
    action = f"review.{command.kind.lower()}"
    start: list[str] = []
    stop: list[str] = []
    with acting(service, caller, action, command.change) as tx:
        require_human(caller)
        before = answered(tx, service, caller, command.request)
        if before is not None:
            return _as_answered(tx, command.change, before)
        change = known_change(tx, command.change)
        require_open(change)
        verification = _looked_at(tx, change, command)
        people_of = [verification] if verification is not None else []
        person = as_one_person(tx, caller)
        require_uninvolved(
            person,
            change,
            people_of,
            approves=command.kind in ("APPROVE", "WAIVE"),
            approves_plan=command.kind == "AMEND_TICKET",
        )
        act = Act(tx, service, person, command, change, verification, _end(service, command), start, stop)
        if change.state is ChangeState.LANDING:
            raise act.refuse(f"{change.name} is being landed.")
        record = _record(act)
        moved = DECISIONS[command.kind](act, record)
        tx.add_review(record)
        data: dict[str, Any] = {
            "kind": record.kind,
            "verification": record.verification,
            "ticket_digest": record.ticket_digest,
            "diff_digest": record.diff_digest,
            "waived": list(record.waived_fingerprints),
        }
        audited(tx, service, caller.principal, action, command.change, review=record.name, **data)
        note(tx, service, "review.created", record.name, caller.principal, {**data, "change": change.name})
        remember(tx, service, caller, command.request, record.name)
    for name in stop:
        service.queue.stop(name)
    for name in start:
        service.queue.enqueue(name)
    return record, moved


def _looked_at(tx: Transaction, change: ChangeRecord, command: ReviewCommand) -> VerificationRecord | None:
    """The verification that the reviewer names; None only where the change has none yet."""
    if not command.verification:
        if change.latest_verification:
            raise InputError(
                "INPUT_MALFORMED",
                "The field review.verification must name a verification.",
                field="review.verification",
            )
        return None
    found = known_verification(tx, command.verification)
    if found.change != change.name:
        raise RequestRefused(
            "VERIFICATION_UNKNOWN", f"{command.verification} is of another change.", name=command.verification
        )
    if found.name != change.latest_verification:
        raise RequestRefused(
            "VERIFICATION_NOT_CURRENT",
            f"{change.latest_verification} is the newest verification of the change.",
            name=change.latest_verification,
        )
    return found


def _end(service: Service, command: ReviewCommand) -> float | None:
    now = service.clock.now()
    if command.expire_time is not None and command.expire_time <= now:
        raise InputError(
            "INPUT_MALFORMED", "The field review.expire_time must lie in the future.", field="review.expire_time"
        )
    if command.kind == "APPROVE":
        latest = now + service.limits.approval_life_s
        return latest if command.expire_time is None else min(latest, command.expire_time)
    if command.kind == "WAIVE":
        if command.expire_time is None or command.expire_time > now + service.limits.waiver_life_s:
            days = service.limits.waiver_life_s / 86_400
            raise InputError(
                "INPUT_MALFORMED",
                f"The field review.expire_time must be set and lie at most {days:g} days ahead.",
                field="review.expire_time",
            )
        return command.expire_time
    return None


def _record(act: Act) -> ReviewRecord:
    command = act.command
    # The last word of everybody counts: a clock that was set back must not put it before an earlier one.
    now = max([act.service.clock.now(), *(r.create_time + 1e-5 for r in act.tx.reviews(act.change.name))])
    return ReviewRecord(
        name=f"{act.change.name}/reviews/{act.service.new_id()}",
        change=act.change.name,
        kind=command.kind,
        verification=command.verification,
        ticket_digest=command.ticket_digest,
        diff_digest=command.diff_digest,
        comment=command.comment,
        reviewer=author_of(act.caller),
        create_time=now,
        waived_fingerprints=command.waived_fingerprints,
        statement_bundle=command.statement_bundle,
        expire_time=act.expire_time,
    )


def _as_answered(tx: Transaction, change: str, answer: str) -> tuple[ReviewRecord, ChangeRecord]:
    return next(r for r in tx.reviews(change) if r.name == answer), known_change(tx, change)
