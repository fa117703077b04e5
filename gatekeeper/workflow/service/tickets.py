"""The plan gate: tickets are proposed by anybody and approved by people. An approval freezes a digest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gatekeeper.domain.lifecycle import ChangeState, TicketState
from gatekeeper.domain.paging import row_key
from gatekeeper.domain.principal import Caller, Principal
from gatekeeper.domain.records import ChangeRecord, Page, TicketRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.domain.ticket import Ticket
from gatekeeper.errors import InputError, RequestRefused
from gatekeeper.formats.resource_names import last_segment, repository_of, segment
from gatekeeper.formats.ticket import parse_ticket
from gatekeeper.workflow.service.idempotency import Request, answered, remember
from gatekeeper.workflow.service.moves import cancel_active, move_change
from gatekeeper.workflow.service.pages import Part, part
from gatekeeper.workflow.service.people import as_one_person, author_of, require_human, require_own, stands_too_close
from gatekeeper.workflow.service.repositories import known_repository
from gatekeeper.workflow.service.service import Service, acting, audited, note
from gatekeeper.workflow.service.statements import require_ticket_statement

_BATCH = 200


def known_ticket(tx: Transaction, name: str, digest: str | None = None) -> TicketRecord:
    """The newest revision, or the one with `digest`. Raises `RequestRefused` (TICKET_UNKNOWN)."""
    found = tx.ticket(name, digest)
    if found is None:
        what = f"{name} with digest {digest}" if digest else name
        raise RequestRefused("TICKET_UNKNOWN", f"There is no ticket {what}.", name=name)
    return found


def parse_document(document: bytes, ticket_id: str | None = None) -> Ticket:
    """The ticket in a document whose `id` can be a segment of a name. Raises `InputError` (TICKET_MALFORMED)."""
    ticket = parse_ticket(document)
    try:
        segment(ticket.id, "id")
    except InputError as error:
        raise InputError("TICKET_MALFORMED", f"The ticket's id cannot be a name: {error.message}", field="id") from None
    if ticket_id is not None and ticket.id != ticket_id:
        raise InputError(
            "TICKET_MALFORMED", f"The document's id must stay {ticket_id}; an amendment keeps it.", field="id"
        )
    return ticket


def create(service: Service, caller: Caller, repository: str, document: bytes, request: Request) -> TicketRecord:
    """Propose a ticket. Raises `InputError` (TICKET_MALFORMED), `RequestRefused` (REPOSITORY_UNKNOWN, TICKET_EXISTS,
    REQUEST_ID_REUSED).
    """
    ticket = parse_document(document)
    name = f"{repository}/tickets/{ticket.id}"
    with acting(service, caller, "ticket.propose", name) as tx:
        before = answered(tx, service, caller, request)
        if before is not None:
            return _as_answered(tx, before)
        known_repository(tx, repository)
        if tx.ticket(name) is not None:
            raise RequestRefused(
                "TICKET_EXISTS", f"{name} exists; amend it or take another id.", name=name, field="document"
            )
        now = service.clock.now()
        record = TicketRecord(name, 1, document, ticket.digest, TicketState.PROPOSED, author_of(caller), now, now)
        tx.add_ticket(record)
        _told(tx, service, caller, record, "propose", "proposed")
        remember(tx, service, caller, request, f"{name} {record.revision}")
        return record


def get(service: Service, name: str, digest: str = "") -> TicketRecord:
    """One ticket. Raises `RequestRefused` (TICKET_UNKNOWN)."""
    with service.records.reading() as tx:
        return known_ticket(tx, name, digest or None)


def list_page(service: Service, repository: str, states: Sequence[TicketState], page: Page) -> Part[TicketRecord]:
    """Newest revisions. Raises `RequestRefused` (REPOSITORY_UNKNOWN)."""
    with service.records.reading() as tx:
        known_repository(tx, repository)
        return part(tx.tickets(repository, states, page), page)


def approve(
    service: Service,
    caller: Caller,
    name: str,
    digest: str,
    request: Request,
    *,
    etag: str = "",
    comment: str = "",
    statement_bundle: bytes = b"",
) -> TicketRecord:
    """Freeze exactly `digest`. Raises `RequestRefused` (HUMAN_REQUIRED, TICKET_UNKNOWN, APPROVAL_SELF, ETAG_MISMATCH,
    TICKET_CHANGED, TICKET_STATE, REQUEST_ID_REUSED, APPROVAL_MALFORMED, APPROVAL_UNKNOWN_KEY).
    """
    with acting(service, caller, "ticket.approve", name) as tx:
        require_human(caller)
        before = answered(tx, service, caller, request)
        if before is not None:
            return _as_answered(tx, before)
        ticket = _decidable(tx, caller, name, digest, etag, (TicketState.PROPOSED,))
        if statement_bundle:
            repository = known_repository(tx, repository_of(name))
            require_ticket_statement(service, statement_bundle, caller, ticket, repository)
        record = _decided(tx, service, caller, ticket, TicketState.APPROVED, comment)
        _told(tx, service, caller, record, "approve", "approved")
        remember(tx, service, caller, request, f"{name} {record.revision}")
        return record


def reject(
    service: Service, caller: Caller, name: str, digest: str, comment: str, request: Request, *, etag: str = ""
) -> TicketRecord:
    """Say no to exactly `digest`; an approval is taken back. Same refusals as `approve`."""
    stopped: list[str] = []
    with acting(service, caller, "ticket.reject", name) as tx:
        require_human(caller)
        before = answered(tx, service, caller, request)
        if before is not None:
            return _as_answered(tx, before)
        ticket = _decidable(tx, caller, name, digest, etag, (TicketState.PROPOSED, TicketState.APPROVED))
        record = _decided(tx, service, caller, ticket, TicketState.REJECTED, comment)
        if ticket.state is TicketState.APPROVED:
            stopped = void_verdicts(tx, service, ticket, caller.principal)
        _told(tx, service, caller, record, "reject", "rejected")
        remember(tx, service, caller, request, f"{name} {record.revision}")
    for verification in stopped:
        service.queue.stop(verification)
    return record


def amend(service: Service, caller: Caller, name: str, document: bytes, etag: str, request: Request) -> TicketRecord:
    """Replace the document: a new revision, PROPOSED, and every approval of the old one is void.

    An agent amends only what it proposed: an amendment stops all work on the ticket. Raises `InputError`
    (TICKET_MALFORMED), `RequestRefused` (TICKET_UNKNOWN, CHANGE_FOREIGN, ETAG_MISMATCH, REQUEST_ID_REUSED).
    """
    parsed = parse_document(document, last_segment(name))
    stopped: list[str] = []
    with acting(service, caller, "ticket.amend", name) as tx:
        before = answered(tx, service, caller, request)
        if before is not None:
            return _as_answered(tx, before)
        ticket = known_ticket(tx, name)
        require_own(caller, ticket.author, name)
        _require_etag(ticket, etag)
        record = revise(tx, service, ticket, document, parsed.digest, author_of(caller))
        stopped = void_verdicts(tx, service, ticket, caller.principal)
        _told(tx, service, caller, record, "amend", "amended")
        remember(tx, service, caller, request, f"{name} {record.revision}")
    for verification in stopped:
        service.queue.stop(verification)
    return record


def revise(
    tx: Transaction, service: Service, ticket: TicketRecord, document: bytes, digest: str, author: Principal
) -> TicketRecord:
    """Store the next revision of `ticket`, PROPOSED, and mark the one before SUPERSEDED."""
    now = service.clock.now()
    tx.save_ticket(replace(ticket, state=TicketState.SUPERSEDED, update_time=now))
    record = TicketRecord(
        name=ticket.name,
        revision=ticket.revision + 1,
        document=document,
        digest=digest,
        state=TicketState.PROPOSED,
        author=author,
        create_time=ticket.create_time,
        update_time=now,
    )
    tx.add_ticket(record)
    return record


def void_verdicts(
    tx: Transaction, service: Service, ticket: TicketRecord, actor: Principal, *, sparing: str = ""
) -> list[str]:
    """Nothing that was judged against `ticket` counts any more: verdicts lose `current`, running verifications are
    cancelled, and people have to decide on the changes (but for the change `sparing`, which the caller moves itself).

    Returns the names of the verifications to stop once the transaction is through.
    """
    stopped: list[str] = []
    for change in _changes_on(tx, ticket):
        if change.state.final:
            continue
        cancelled = cancel_active(tx, service, change.name, actor)
        stopped += cancelled
        latest = tx.verification(change.latest_verification, report=False) if change.latest_verification else None
        if latest is not None:
            # A name that no verification has: every verdict of the change is "another" one.
            tx.retire_verdicts(replace(latest, name=f"{change.name}/verifications/-"))
        if latest is not None and change.name != sparing and (cancelled or change.verdict is not None):
            asked = change.state in (
                ChangeState.QUEUED,
                ChangeState.RUNNING,
                ChangeState.MERGEABLE,
                ChangeState.LANDING,
                ChangeState.STALE,
            )
            state = ChangeState.HUMAN_DECISION_NEEDED if asked else change.state
            move_change(tx, service, change, state, actor, reason="TICKET_CHANGED", verdict=None)
    return stopped


def _changes_on(tx: Transaction, ticket: TicketRecord) -> list[ChangeRecord]:
    rows: list[ChangeRecord] = []
    after = None
    while True:
        got = tx.changes(repository_of(ticket.name), Page(_BATCH, after), ticket=ticket.name)
        rows += got[:_BATCH]
        if len(got) <= _BATCH:
            return rows
        after = row_key(got[_BATCH - 1])


def _decidable(
    tx: Transaction, caller: Caller, name: str, digest: str, etag: str, states: tuple[TicketState, ...]
) -> TicketRecord:
    ticket = known_ticket(tx, name)
    if stands_too_close(as_one_person(tx, caller), [ticket.author]):
        raise RequestRefused(
            "APPROVAL_SELF", f"{caller.principal.subject} wrote this plan or had it written; somebody else decides."
        )
    if etag:
        _require_etag(ticket, etag)
    if ticket.digest != digest:
        raise RequestRefused(
            "TICKET_CHANGED", f"{name} has the digest {ticket.digest} now.", name=name, digest=ticket.digest
        )
    if ticket.state not in states:
        raise RequestRefused(
            "TICKET_STATE", f"{name} is {ticket.state.value} already.", name=name, state=ticket.state.value
        )
    return ticket


def _require_etag(ticket: TicketRecord, etag: str) -> None:
    if ticket.etag != etag:
        raise RequestRefused(
            "ETAG_MISMATCH", f"{ticket.name} was changed in between; its etag is {ticket.etag} now.", etag=ticket.etag
        )


def _decided(
    tx: Transaction, service: Service, caller: Caller, ticket: TicketRecord, state: TicketState, comment: str
) -> TicketRecord:
    record = replace(
        ticket, state=state, update_time=service.clock.now(), decider=author_of(caller), decision_comment=comment
    )
    tx.save_ticket(record)
    return record


def _told(tx: Transaction, service: Service, caller: Caller, record: TicketRecord, verb: str, past: str) -> None:
    data = {"digest": record.digest, "revision": record.revision}
    audited(tx, service, caller.principal, f"ticket.{verb}", record.name, **data)
    note(tx, service, f"ticket.{past}", record.name, caller.principal, {**data, "state": record.state.value})


def _as_answered(tx: Transaction, answer: str) -> TicketRecord:
    """The ticket of an earlier answer, as it is now."""
    return known_ticket(tx, answer.split(" ", maxsplit=1)[0])
