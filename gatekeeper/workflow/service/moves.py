"""Moves of changes and verifications, each with its event in the same transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gatekeeper.domain.lifecycle import CHANGE_MOVES, VERIFICATION_MOVES, ChangeState, VerificationState
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import ChangeRecord, VerificationRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.workflow.service.service import Service, note


def move_change(
    tx: Transaction,
    service: Service,
    change: ChangeRecord,
    state: ChangeState,
    actor: Principal | None,
    *,
    reason: str = "",
    **fields: Any,
) -> ChangeRecord:
    """Store `change` in `state` with `fields` replaced, and the event `change.moved`. Returns what was stored.

    A move that does not exist is a fault of the gate: `AssertionError`.
    """
    if state not in CHANGE_MOVES[change.state] and state is not change.state:
        raise AssertionError(f"no change moves from {change.state} to {state}")
    now = service.clock.now()
    moved = replace(
        change,
        state=state,
        state_reason=reason,
        update_time=now,
        state_time=change.state_time if state is change.state else now,
        **fields,
    )
    stored = tx.save_change(moved)
    data = {"from": change.state.value, "to": state.value, "reason": reason, "head": stored.head}
    note(tx, service, "change.moved", change.name, actor, data)
    return stored


def move_verification(
    tx: Transaction,
    service: Service,
    record: VerificationRecord,
    state: VerificationState,
    actor: Principal | None,
    *,
    reason: str = "",
    **fields: Any,
) -> VerificationRecord:
    """Store `record` in `state` with `fields` replaced, and the event `verification.{state}`. Returns what was stored."""
    if state not in VERIFICATION_MOVES[record.state]:
        raise AssertionError(f"no verification moves from {record.state} to {state}")
    if state.final:
        fields.setdefault("end_time", service.clock.now())
    stored = tx.save_verification(replace(record, state=state, **fields))
    data: dict[str, Any] = {"change": record.change, "head": record.head, "retry": record.retry, "reason": reason}
    if stored.verdict is not None:
        data["verdict"] = stored.verdict.value
    note(tx, service, f"verification.{state.value.lower()}", record.name, actor, data)
    return stored


def cancel_active(tx: Transaction, service: Service, change: str, actor: Principal) -> list[str]:
    """Cancel what is not final of a change. Returns the names, for `service.queue.stop` after the transaction."""
    names = []
    for row in tx.active_verifications(change):
        full = tx.verification(row.name) or row
        move_verification(tx, service, full, VerificationState.CANCELLED, actor, canceller=actor)
        names.append(row.name)
    return names


def again(
    tx: Transaction, service: Service, past: VerificationRecord, actor: Principal | None, reason: str
) -> VerificationRecord:
    """Add a verification of the same head, ticket and claim: the gate's own repetition, never counted as an attempt.

    The caller enqueues its name once the transaction is through, and moves the change.
    """
    record = VerificationRecord(
        name=f"{past.change}/verifications/{service.new_id()}",
        change=past.change,
        state=VerificationState.QUEUED,
        purpose=past.purpose,
        mode=past.mode,
        ticket=past.ticket,
        ticket_digest=past.ticket_digest,
        target_ref=past.target_ref,
        head=past.head,
        submitter=past.submitter,
        attempt=past.attempt,
        create_time=service.clock.now(),
        retry=past.retry + 1,
        claim_artifact=past.claim_artifact,
        bundle_artifact=past.bundle_artifact,
        merge_group=past.merge_group,
        reason=reason,
    )
    tx.add_verification(record)
    data = {"change": past.change, "head": past.head, "retry": record.retry, "reason": reason, "after": past.name}
    note(tx, service, "verification.queued", record.name, actor, data)
    return record
