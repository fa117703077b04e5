"""Submit and cancel: what becomes of a head that an agent sends, before anything of it is read."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.principal import Caller
from gatekeeper.domain.records import (
    ArtifactRecord,
    ChangeRecord,
    RepositoryRecord,
    TicketRecord,
    VerificationRecord,
)
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.errors import InputError, RequestRefused
from gatekeeper.formats.ticket import parse_ticket
from gatekeeper.workflow.service.commands import SubmitCommand
from gatekeeper.workflow.service.idempotency import Request, answered, remember
from gatekeeper.workflow.service.moves import move_change, move_verification
from gatekeeper.workflow.service.people import author_of, require_own
from gatekeeper.workflow.service.service import Service, acting, audited, note


def submit(service: Service, caller: Caller, command: SubmitCommand) -> VerificationRecord:
    """Store one head of a change for verification, or refuse it with nothing stored.

    A repeated request is answered with the verification as it is now. Raises `RequestRefused` and `InputError` with the
    codes that the rpc names.
    """
    artifact = _claim_artifact(service, caller, command)
    stop: list[str] = []
    with acting(service, caller, "verification.submit", command.change) as tx:
        name = answered(tx, service, caller, command.request)
        if name is not None:
            return _known(tx, name)
        repository = _repository(tx, command)
        ticket = _ticket(tx, command)
        _artifacts(tx, caller, repository, command)
        behalf = _delegation(caller, command.on_behalf_of)
        change = _change(tx, service, caller, command, ticket)
        _require_place(tx, service, caller)
        if artifact is not None:
            tx.add_artifact(artifact)
        record = _record(service, caller, command, repository, ticket, change, artifact)
        for old in tx.active_verifications(command.change):
            if old.purpose != command.purpose:
                continue
            if old.head == command.head:
                raise RequestRefused(
                    "VERIFICATION_ACTIVE",
                    f"The head {command.head[:12]} of this change is being verified already.",
                    verification=old.name,
                )
            full = tx.verification(old.name) or old
            move_verification(
                tx, service, full, VerificationState.SUPERSEDED, caller.principal, superseded_by=record.name
            )
            stop.append(old.name)
        tx.add_verification(record)
        note(
            tx,
            service,
            "verification.queued",
            record.name,
            caller.principal,
            {"change": record.change, "head": record.head, "retry": 0, "attempt": record.attempt, "reason": ""},
        )
        move_change(
            tx,
            service,
            change,
            ChangeState.QUEUED,
            caller.principal,
            head=command.head,
            latest_verification=record.name,
            verdict=None,
            needs=(),
            on_behalf_of=change.on_behalf_of | ({behalf} if behalf else frozenset()),
        )
        audited(
            tx,
            service,
            caller.principal,
            "verification.submit",
            record.name,
            head=record.head,
            ticket_digest=record.ticket_digest,
            on_behalf_of=behalf,
        )
        remember(tx, service, caller, command.request, record.name)
    for old_name in stop:
        service.queue.stop(old_name)
    service.queue.enqueue(record.name)
    return record


def cancel(service: Service, caller: Caller, name: str, comment: str, request: Request) -> VerificationRecord:
    """Cancel a verification that is not final. Cancelling what is cancelled already answers the same."""
    with acting(service, caller, "verification.cancel", name) as tx:
        record = _known(tx, name)
        if answered(tx, service, caller, request) is not None or record.state is VerificationState.CANCELLED:
            return record
        change = tx.change(record.change)
        if change is None:
            raise RequestRefused("CHANGE_UNKNOWN", f"The change of {name!r} is not known.")
        require_own(caller, change.submitter, change.name)
        if record.state.final:
            raise RequestRefused("VERIFICATION_FINAL", f"The verification is {record.state.value} and stays so.")
        record = move_verification(
            tx, service, record, VerificationState.CANCELLED, caller.principal, canceller=caller.principal
        )
        if change.latest_verification == name and not change.state.final:
            move_change(tx, service, change, ChangeState.HUMAN_DECISION_NEEDED, caller.principal, reason="cancelled")
        audited(tx, service, caller.principal, "verification.cancel", name, comment=comment[:500])
        remember(tx, service, caller, request, name)
    service.queue.stop(name)
    return record


def _require_place(tx: Transaction, service: Service, caller: Caller) -> None:
    limits, waiting = service.limits, tx.active_count()
    if waiting >= limits.active_verifications:
        raise RequestRefused("QUEUE_FULL", "Too many verifications are waiting.")
    # Whose they are is read only where one caller alone can have too many.
    if waiting >= limits.active_each and tx.active_submitters().count(caller.principal.id) >= limits.active_each:
        raise RequestRefused("QUEUE_FULL", f"{limits.active_each} of your verifications are waiting already.")


def _known(tx: Transaction, name: str) -> VerificationRecord:
    record = tx.verification(name)
    if record is None:
        raise RequestRefused("VERIFICATION_UNKNOWN", f"There is no verification {name!r}.")
    return record


def _repository(tx: Transaction, command: SubmitCommand) -> RepositoryRecord:
    repository = tx.repository(command.repository)
    if repository is None:
        raise RequestRefused("REPOSITORY_UNKNOWN", f"No repository {command.repository!r} is registered.")
    if command.target_ref not in repository.target_refs:
        raise RequestRefused(
            "TARGET_NOT_ALLOWED",
            f"{command.target_ref!r} is no target of this repository; allowed: {', '.join(repository.target_refs)}.",
        )
    return repository


def _ticket(tx: Transaction, command: SubmitCommand) -> TicketRecord:
    if not command.ticket.startswith(f"{command.repository}/tickets/"):
        raise RequestRefused("TICKET_UNKNOWN", f"{command.ticket!r} is no ticket of {command.repository!r}.")
    ticket = tx.ticket(command.ticket)
    if ticket is None:
        raise RequestRefused("TICKET_UNKNOWN", f"There is no ticket {command.ticket!r}.")
    if command.ticket_digest and command.ticket_digest != ticket.digest:
        raise RequestRefused(
            "TICKET_CHANGED",
            f"The ticket now has the digest {ticket.digest[:12]}, the submission names {command.ticket_digest[:12]}.",
        )
    if ticket.state is not TicketState.APPROVED:
        raise RequestRefused(
            "TICKET_NOT_APPROVED", f"Revision {ticket.revision} of the ticket is {ticket.state.value}, not APPROVED."
        )
    return ticket


def _artifacts(tx: Transaction, caller: Caller, repository: RepositoryRecord, command: SubmitCommand) -> None:
    for name, kind in ((command.claim_artifact, "CLAIM"), (command.bundle_artifact, "GIT_BUNDLE")):
        if not name:
            continue
        artifact = tx.artifact(name)
        # What somebody else uploaded is unknown to an agent, so that digests cannot be tried out.
        if artifact is None or caller.principal.id not in tx.artifact_uploaders(name):
            raise RequestRefused("ARTIFACT_UNKNOWN", f"You have uploaded no artifact {name!r}.")
        if artifact.kind != kind:
            raise RequestRefused("ARTIFACT_KIND", f"{name!r} was uploaded as {artifact.kind}, {kind} is needed.")
    if command.bundle_artifact and not repository.accept_bundles:
        raise RequestRefused(
            "BUNDLE_NOT_ACCEPTED", "This repository takes no git bundles: push the head to its source."
        )


def _delegation(caller: Caller, on_behalf_of: str) -> str:
    behalf = on_behalf_of or author_of(caller).on_behalf_of or ""
    if not behalf and caller.delegators is not None and len(caller.delegators) > 1:
        # Unsaid, each of them could decide on what was done for them.
        raise RequestRefused(
            "DELEGATION_REFUSED",
            "The credential acts for several; the submission must name one in on_behalf_of.",
            field="on_behalf_of",
        )
    if behalf and caller.delegators is not None and behalf not in caller.delegators:
        raise RequestRefused("DELEGATION_REFUSED", f"The credential does not allow to act on behalf of {behalf!r}.")
    return behalf


def _change(
    tx: Transaction, service: Service, caller: Caller, command: SubmitCommand, ticket: TicketRecord
) -> ChangeRecord:
    """The change, made with its first submission."""
    allowed = parse_ticket(ticket.document).budget.attempts or 0
    now = service.clock.now()
    change = tx.change(command.change)
    if change is None:
        change = ChangeRecord(
            name=command.change,
            ticket=command.ticket,
            target_ref=command.target_ref,
            state=ChangeState.QUEUED,
            submitter=author_of(caller),
            create_time=now,
            update_time=now,
            state_time=now,
            attempts_allowed=allowed,
        )
        tx.add_change(change)
        note(tx, service, "change.created", change.name, caller.principal, {"ticket": change.ticket})
        return change
    if change.submitter.id != caller.principal.id:
        raise RequestRefused("CHANGE_FOREIGN", "Another agent submitted to this change first; use a key of your own.")
    if change.state.final or change.state is ChangeState.LANDING:
        raise RequestRefused("CHANGE_FINAL", f"The change is {change.state.value}; nothing more can be submitted.")
    # A change that a question created has no target before its first submission.
    if change.ticket != command.ticket or change.target_ref not in ("", command.target_ref):
        raise RequestRefused(
            "TICKET_OTHER",
            f"The change works on {change.ticket} for {change.target_ref}; use a key of its own for more.",
        )
    if allowed and change.attempts_used >= allowed:
        raise RequestRefused("ATTEMPTS_EXHAUSTED", f"All {allowed} attempts that the ticket allows were used.")
    return replace(change, attempts_allowed=allowed, target_ref=command.target_ref)


def _claim_artifact(service: Service, caller: Caller, command: SubmitCommand) -> ArtifactRecord | None:
    """An inline claim is kept as a blob like an uploaded one; bytes without a row are swept later."""
    if command.claim is None:
        return None
    if command.claim_artifact:
        raise InputError("INPUT_MALFORMED", "The claim came twice: inline and as an artifact.")
    digest = hashlib.sha256(command.claim).hexdigest()
    service.blobs.write(digest, [command.claim], len(command.claim))
    now = service.clock.now()
    return ArtifactRecord(
        name=f"artifacts/{digest}",
        kind="CLAIM",
        size=len(command.claim),
        uploader=caller.principal.id,
        create_time=now,
        expire_time=now + service.limits.artifact_life_s,
    )


def _record(
    service: Service,
    caller: Caller,
    command: SubmitCommand,
    repository: RepositoryRecord,
    ticket: TicketRecord,
    change: ChangeRecord,
    claim: ArtifactRecord | None,
) -> VerificationRecord:
    return VerificationRecord(
        name=f"{command.change}/verifications/{service.new_id()}",
        change=command.change,
        state=VerificationState.QUEUED,
        purpose=command.purpose,
        mode=repository.mode,
        ticket=command.ticket,
        ticket_digest=ticket.digest,
        target_ref=command.target_ref,
        head=command.head,
        submitter=replace(caller.principal, on_behalf_of=_delegation(caller, command.on_behalf_of) or None),
        attempt=change.attempts_used + 1,
        create_time=service.clock.now(),
        claim_artifact=claim.name if claim else command.claim_artifact,
        bundle_artifact=command.bundle_artifact,
        merge_group=command.merge_group,
    )
