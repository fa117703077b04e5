"""Changes: where they stand, giving them up, and questions that call a person."""

from __future__ import annotations

from collections.abc import Sequence

from gatekeeper.domain.lifecycle import CHANGE_MOVES, ChangeState
from gatekeeper.domain.principal import Caller
from gatekeeper.domain.records import ChangeRecord, Page, Question
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.errors import InputError, RequestRefused
from gatekeeper.formats.resource_names import repository_of
from gatekeeper.workflow.service.idempotency import Request, answered, remember
from gatekeeper.workflow.service.moves import cancel_active, move_change
from gatekeeper.workflow.service.pages import Part, part
from gatekeeper.workflow.service.people import author_of, require_own
from gatekeeper.workflow.service.repositories import known_repository
from gatekeeper.workflow.service.service import Service, acting, audited, note
from gatekeeper.workflow.service.tickets import known_ticket

CAUSES = ("requirement_conflict",)
"""What an agent can call a person for."""


def known_change(tx: Transaction, name: str) -> ChangeRecord:
    """The change. Raises `RequestRefused` (CHANGE_UNKNOWN)."""
    found = tx.change(name)
    if found is None:
        raise RequestRefused("CHANGE_UNKNOWN", f"There is no change {name}.", name=name)
    return found


def require_open(change: ChangeRecord) -> None:
    """Raises `RequestRefused` (CHANGE_FINAL)."""
    if change.state.final:
        raise RequestRefused(
            "CHANGE_FINAL", f"{change.name} is {change.state.value}.", name=change.name, state=change.state.value
        )


def get(service: Service, name: str) -> ChangeRecord:
    """One change. Raises `RequestRefused` (CHANGE_UNKNOWN)."""
    with service.records.reading() as tx:
        return known_change(tx, name)


def list_page(
    service: Service,
    repository: str | None,
    page: Page,
    *,
    states: Sequence[ChangeState] = (),
    ticket: str = "",
    head: str = "",
) -> Part[ChangeRecord]:
    """Changes of one repository (None: of all). Raises `RequestRefused` (REPOSITORY_UNKNOWN)."""
    with service.records.reading() as tx:
        if repository is not None:
            known_repository(tx, repository)
        return part(tx.changes(repository, page, states=states, ticket=ticket, head=head), page)


def abandon(
    service: Service, caller: Caller, name: str, comment: str, request: Request, *, etag: str = ""
) -> ChangeRecord:
    """Give a change up. Raises `RequestRefused` (CHANGE_UNKNOWN, CHANGE_FOREIGN, CHANGE_FINAL, ETAG_MISMATCH,
    REQUEST_ID_REUSED).
    """
    with acting(service, caller, "change.abandon", name) as tx:
        before = answered(tx, service, caller, request)
        if before is not None:
            return known_change(tx, before)
        change = known_change(tx, name)
        require_own(caller, change.submitter, name)
        if etag and change.etag != etag:
            raise RequestRefused(
                "ETAG_MISMATCH", f"{name} was changed in between; its etag is {change.etag} now.", etag=change.etag
            )
        require_open(change)
        if ChangeState.ABANDONED not in CHANGE_MOVES[change.state]:
            raise RequestRefused("CHANGE_FINAL", f"{name} is being landed.", name=name, state=change.state.value)
        stopped = cancel_active(tx, service, name, author_of(caller))
        stored = move_change(tx, service, change, ChangeState.ABANDONED, caller.principal)
        audited(tx, service, caller.principal, "change.abandon", name, comment=comment, head=change.head)
        remember(tx, service, caller, request, name)
    for verification in stopped:
        service.queue.stop(verification)
    return stored


def raise_question(
    service: Service, caller: Caller, name: str, ticket: str, cause: str, text: str, request: Request
) -> tuple[ChangeRecord, Question]:
    """Call a person. An unknown change is created, without a target: its first submission names one.

    Raises `InputError` (INPUT_MALFORMED), `RequestRefused` (REPOSITORY_UNKNOWN, TICKET_UNKNOWN, TICKET_OTHER,
    CHANGE_FOREIGN, CHANGE_FINAL, QUESTIONS_EXHAUSTED, REQUEST_ID_REUSED).
    """
    if cause not in CAUSES:
        raise InputError("INPUT_MALFORMED", f"The field cause must be one of {', '.join(CAUSES)}.", field="cause")
    with acting(service, caller, "change.ask", name) as tx:
        before = answered(tx, service, caller, request)
        if before is not None:
            known, question_id = before.split(" ")
            change = known_change(tx, known)
            return change, next(q for q in change.questions if q.id == question_id)
        repository = repository_of(name)
        known_repository(tx, repository)
        found = tx.change(name)
        change = _new_change(tx, service, caller, name, ticket) if found is None else found
        if found is not None:
            require_own(caller, found.submitter, name)
            require_open(found)
            if ticket and ticket != found.ticket:
                raise RequestRefused(
                    "TICKET_OTHER", f"{name} is on {found.ticket}.", name=name, ticket=found.ticket, field="ticket"
                )
        if len(change.open_questions) >= service.limits.open_questions:
            raise RequestRefused(
                "QUESTIONS_EXHAUSTED",
                f"{name} has {len(change.open_questions)} open questions; a person answers those first.",
                limit=service.limits.open_questions,
            )
        question = Question(service.new_id(), cause, text, author_of(caller), service.clock.now())
        stored = move_change(
            tx,
            service,
            change,
            ChangeState.HUMAN_DECISION_NEEDED,
            caller.principal,
            reason=cause,
            questions=(*change.questions, question),
        )
        note(tx, service, "change.asked", name, caller.principal, {"question": question.id, "cause": cause})
        audited(tx, service, caller.principal, "change.ask", name, question=question.id, cause=cause)
        remember(tx, service, caller, request, f"{name} {question.id}")
        return stored, question


def _new_change(tx: Transaction, service: Service, caller: Caller, name: str, ticket: str) -> ChangeRecord:
    if not ticket:
        raise RequestRefused(
            "TICKET_UNKNOWN", f"{name} is not known yet, so the question must name its ticket.", field="ticket"
        )
    known_ticket(tx, ticket)
    if repository_of(ticket) != repository_of(name):
        raise RequestRefused("TICKET_UNKNOWN", "The ticket is of another repository.", name=ticket, field="ticket")
    now = service.clock.now()
    author = author_of(caller)
    record = ChangeRecord(
        name=name,
        ticket=ticket,
        target_ref="",
        state=ChangeState.HUMAN_DECISION_NEEDED,
        submitter=author,
        create_time=now,
        update_time=now,
        state_time=now,
        on_behalf_of=frozenset({author.on_behalf_of} if author.on_behalf_of else ()),
    )
    tx.add_change(record)
    note(tx, service, "change.created", name, caller.principal, {"ticket": ticket})
    return record
