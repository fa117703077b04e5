"""Statements that people signed themselves, verified before anything rests on them."""

from __future__ import annotations

from gatekeeper.domain.principal import Caller
from gatekeeper.domain.records import ChangeRecord, RepositoryRecord, TicketRecord, VerificationRecord
from gatekeeper.errors import RequestRefused
from gatekeeper.workflow.service.people import names_of
from gatekeeper.workflow.service.service import Service


def require_ticket_statement(
    service: Service, bundle: bytes, caller: Caller, ticket: TicketRecord, repository: RepositoryRecord
) -> None:
    """A statement about a ticket alone binds no diff and no ref. Raises `RequestRefused` (APPROVAL_*)."""
    _require(service, bundle, caller, ticket.digest, "", repository.repository_uri, "", ())


def require_diff_statement(
    service: Service,
    bundle: bytes,
    caller: Caller,
    change: ChangeRecord,
    verification: VerificationRecord,
    repository: RepositoryRecord,
) -> None:
    """The reviewer's own signature over this very diff and ticket. Raises `RequestRefused` (APPROVAL_*)."""
    people = [*verification.people, change.submitter.subject, *change.on_behalf_of]
    _require(
        service,
        bundle,
        caller,
        verification.ticket_digest,
        verification.diff_digest,
        repository.repository_uri,
        verification.target_ref,
        tuple(people),
    )


def _require(
    service: Service,
    bundle: bytes,
    caller: Caller,
    ticket_digest: str,
    diff_digest: str,
    repository: str,
    target_ref: str,
    people: tuple[str, ...],
) -> None:
    if service.approvals is None:
        raise RequestRefused("APPROVAL_UNKNOWN_KEY", "The gate knows no keys of reviewers.", field="statement_bundle")
    good, bad = service.approvals(
        [bundle],
        ticket_digest=ticket_digest,
        diff_digest=diff_digest,
        repository=repository,
        target_ref=target_ref,
        people=people,
        now=service.clock.now(),
    )
    if bad:
        code = bad[0].code if bad[0].code != "APPROVAL_CHANGES_REQUESTED" else "APPROVAL_MALFORMED"
        raise RequestRefused(code, bad[0].message, field="statement_bundle")
    if len(good) != 1:
        raise RequestRefused("APPROVAL_MALFORMED", "The bundle holds no approval statement.", field="statement_bundle")
    if good[0].reviewer.strip().casefold() not in names_of(caller):
        raise RequestRefused(
            "APPROVAL_UNKNOWN_KEY",
            "The statement was signed by another reviewer than the caller.",
            field="statement_bundle",
        )
