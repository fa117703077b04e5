"""Calls on what the gate keeps: repositories, tickets, changes, reviews, attestations, usage, events, audit entries.

Names are taken short or whole (`gatekeeper.client.names`). What changes something makes its own `request_id`, so that
it is done once however often it is sent. Answers are the generated messages, whose fields editors know and document.
Every method raises `ApiError`, and `UsageError` for what cannot be a request.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from gatekeeper.api.v1 import attestations_pb2 as attestations
from gatekeeper.api.v1 import audit_entries_pb2 as audit
from gatekeeper.api.v1 import changes_pb2 as changes
from gatekeeper.api.v1 import events_pb2 as events
from gatekeeper.api.v1 import repositories_pb2 as repositories
from gatekeeper.api.v1 import reviews_pb2 as reviews
from gatekeeper.api.v1 import tickets_pb2 as tickets
from gatekeeper.api.v1 import usage_reports_pb2 as usage
from gatekeeper.api.v1.attestation_pb2 import Attestation
from gatekeeper.api.v1.attestations_pb2_grpc import AttestationServiceStub
from gatekeeper.api.v1.audit_entries_pb2_grpc import AuditServiceStub
from gatekeeper.api.v1.audit_entry_pb2 import AuditEntry
from gatekeeper.api.v1.change_pb2 import Change, Question
from gatekeeper.api.v1.changes_pb2_grpc import ChangeServiceStub
from gatekeeper.api.v1.event_pb2 import Event
from gatekeeper.api.v1.events_pb2_grpc import EventServiceStub
from gatekeeper.api.v1.repositories_pb2_grpc import RepositoryServiceStub
from gatekeeper.api.v1.repository_pb2 import Repository
from gatekeeper.api.v1.review_pb2 import Review
from gatekeeper.api.v1.reviews_pb2_grpc import ReviewServiceStub
from gatekeeper.api.v1.ticket_pb2 import Ticket
from gatekeeper.api.v1.tickets_pb2_grpc import TicketServiceStub
from gatekeeper.api.v1.usage_report_pb2 import ModelUsage, UsageReport
from gatekeeper.api.v1.usage_reports_pb2_grpc import UsageServiceStub
from gatekeeper.api.v1.verdict_pb2 import MODE_ENFORCED, PURPOSE_UNSPECIFIED, Mode, Purpose
from gatekeeper.client.calls import Calls
from gatekeeper.client.names import (
    attestation_name,
    change_name,
    change_of,
    ref_name,
    repository_name,
    ticket_name,
    verification_name,
)
from gatekeeper.client.submission import new_request_id

ALL_REPOSITORIES = "owners/-/repositories/-"


class Records(Calls):
    """The part of the client that reads and writes records."""

    # --- repositories -----------------------------------------------------------------------------------------------

    def register_repository(
        self,
        repository: str,
        source_uri: str,
        *,
        target_refs: Sequence[str] = ("refs/heads/main",),
        mode: Mode.ValueType = MODE_ENFORCED,
        accept_bundles: bool = False,
        repository_uri: str = "",
        forge_id: str = "",
    ) -> Repository:
        """Register where the gate fetches `owner/repository` from. Role operator."""
        name = repository_name(repository)
        request = repositories.RegisterRepositoryRequest(
            parent=name.rpartition("/repositories/")[0],
            repository_id=name.rpartition("/")[2],
            repository=Repository(
                source_uri=source_uri,
                repository_uri=repository_uri,
                forge_id=forge_id,
                target_refs=[ref_name(r) for r in target_refs],
                mode=mode,
                accept_bundles=accept_bundles,
            ),
            request_id=new_request_id(),
        )
        stub = RepositoryServiceStub(self.channel)
        return self.unary(stub.RegisterRepository, request).repository

    def get_repository(self, repository: str) -> Repository:
        """One repository."""
        request = repositories.GetRepositoryRequest(name=repository_name(repository))
        stub = RepositoryServiceStub(self.channel)
        return self.unary(stub.GetRepository, request).repository

    def list_repositories(self, owner: str = "-", *, page_size: int = 0) -> Iterator[Repository]:
        """Repositories of an owner by name; "-" for all that the caller can see."""
        stub = RepositoryServiceStub(self.channel)
        request = repositories.ListRepositoriesRequest(parent=f"owners/{owner}", page_size=page_size)

        def ask(token: str) -> repositories.ListRepositoriesResponse:
            request.page_token = token
            return self.unary(stub.ListRepositories, request)

        return self.pages(ask, lambda page: page.repositories)

    # --- tickets ----------------------------------------------------------------------------------------------------

    def create_ticket(self, repository: str, document: bytes) -> Ticket:
        """Propose a plan (docs/ticket.md)."""
        request = tickets.CreateTicketRequest(
            parent=repository_name(repository), document=document, request_id=new_request_id()
        )
        stub = TicketServiceStub(self.channel)
        return self.unary(stub.CreateTicket, request).ticket

    def get_ticket(self, ticket: str, *, digest: str = "") -> Ticket:
        """The newest revision of a plan, or the one with this digest."""
        request = tickets.GetTicketRequest(name=ticket_name(ticket), digest=digest)
        return self.unary(TicketServiceStub(self.channel).GetTicket, request).ticket

    def list_tickets(
        self, repository: str, *, states: Sequence[Ticket.State.ValueType] = (), page_size: int = 0
    ) -> Iterator[Ticket]:
        """Newest revisions of the plans of a repository, newest plan first, without their documents."""
        stub = TicketServiceStub(self.channel)
        request = tickets.ListTicketsRequest(parent=repository_name(repository), states=states, page_size=page_size)

        def ask(token: str) -> tickets.ListTicketsResponse:
            request.page_token = token
            return self.unary(stub.ListTickets, request)

        return self.pages(ask, lambda page: page.tickets)

    def approve_ticket(
        self, ticket: str, digest: str, *, etag: str = "", comment: str = "", statement_bundle: bytes = b""
    ) -> Ticket:
        """Approve exactly the digest that was read. Role reviewer; a person who is not the author."""
        request = tickets.ApproveTicketRequest(
            name=ticket_name(ticket), digest=digest, etag=etag, comment=comment, statement_bundle=statement_bundle,
            request_id=new_request_id(),
        )  # fmt: skip
        stub = TicketServiceStub(self.channel)
        return self.unary(stub.ApproveTicket, request).ticket

    def reject_ticket(self, ticket: str, digest: str, comment: str, *, etag: str = "") -> Ticket:
        """Say no to exactly the digest that was read. Role reviewer."""
        request = tickets.RejectTicketRequest(
            name=ticket_name(ticket), digest=digest, etag=etag, comment=comment, request_id=new_request_id()
        )
        stub = TicketServiceStub(self.channel)
        return self.unary(stub.RejectTicket, request).ticket

    def amend_ticket(self, ticket: str, document: bytes, etag: str) -> Ticket:
        """Replace the document of the revision with this etag: a new revision, to be approved anew."""
        request = tickets.AmendTicketRequest(
            name=ticket_name(ticket), document=document, etag=etag, request_id=new_request_id()
        )
        stub = TicketServiceStub(self.channel)
        return self.unary(stub.AmendTicket, request).ticket

    # --- changes ----------------------------------------------------------------------------------------------------

    def get_change(self, change: str) -> Change:
        """Where one change stands."""
        request = changes.GetChangeRequest(name=change_name(change))
        return self.unary(ChangeServiceStub(self.channel).GetChange, request).change

    def list_changes(
        self,
        repository: str = ALL_REPOSITORIES,
        *,
        states: Sequence[Change.State.ValueType] = (),
        ticket: str = "",
        head_commit: str = "",
        page_size: int = 0,
    ) -> Iterator[Change]:
        """Changes of a repository, or of all that the caller can see, newest first."""
        parent = repository if repository == ALL_REPOSITORIES else repository_name(repository)
        stub = ChangeServiceStub(self.channel)
        request = changes.ListChangesRequest(
            parent=parent, states=states, ticket=ticket, head_commit=head_commit, page_size=page_size
        )

        def ask(token: str) -> changes.ListChangesResponse:
            request.page_token = token
            return self.unary(stub.ListChanges, request)

        return self.pages(ask, lambda page: page.changes)

    def abandon_change(self, change: str, *, comment: str = "", etag: str = "") -> Change:
        """Give a change up. Agents only what they submitted."""
        request = changes.AbandonChangeRequest(
            name=change_name(change), etag=etag, comment=comment, request_id=new_request_id()
        )
        stub = ChangeServiceStub(self.channel)
        return self.unary(stub.AbandonChange, request).change

    def raise_question(
        self, change: str, text: str, *, ticket: str = "", cause: str = "requirement_conflict"
    ) -> tuple[Change, Question]:
        """Call a person because the plan contradicts itself or the repository. `ticket` for a change not yet known."""
        name = change_name(change)
        request = changes.RaiseQuestionRequest(
            change=name,
            ticket=ticket_name(ticket, name.rpartition("/changes/")[0]) if ticket else "",
            cause=cause,
            text=text,
            request_id=new_request_id(),
        )
        stub = ChangeServiceStub(self.channel)
        answer = self.unary(stub.RaiseQuestion, request)
        return answer.change, answer.question

    # --- reviews ----------------------------------------------------------------------------------------------------

    def create_review(self, review: Review) -> tuple[Review, Change]:
        """A person's decision on a change; `review.verification` says on what. Role reviewer."""
        request = reviews.CreateReviewRequest(
            parent=change_of(verification_name(review.verification)), review=review, request_id=new_request_id()
        )
        stub = ReviewServiceStub(self.channel)
        answer = self.unary(stub.CreateReview, request)
        return answer.review, answer.change

    # --- attestations -----------------------------------------------------------------------------------------------

    def get_attestation(self, attestation: str) -> Attestation:
        """One signed statement with its bundle."""
        request = attestations.GetAttestationRequest(name=attestation_name(attestation))
        stub = AttestationServiceStub(self.channel)
        return self.unary(stub.GetAttestation, request).attestation

    def list_attestations(
        self,
        repository: str,
        *,
        subject_commit: str = "",
        target_ref: str = "",
        kinds: Sequence[Attestation.Kind.ValueType] = (),
        purpose: Purpose.ValueType = PURPOSE_UNSPECIFIED,
        current_only: bool = False,
        page_size: int = 0,
    ) -> Iterator[Attestation]:
        """Signed statements of a repository, newest first, without their bundles."""
        stub = AttestationServiceStub(self.channel)
        request = attestations.ListAttestationsRequest(
            parent=repository_name(repository),
            subject_commit=subject_commit,
            target_ref=ref_name(target_ref) if target_ref else "",
            kinds=kinds,
            purpose=purpose,
            current_only=current_only,
            page_size=page_size,
        )

        def ask(token: str) -> attestations.ListAttestationsResponse:
            request.page_token = token
            return self.unary(stub.ListAttestations, request)

        return self.pages(ask, lambda page: page.attestations)

    # --- usage, events, audit ---------------------------------------------------------------------------------------

    def report_usage(self, change: str, entries: Sequence[ModelUsage], *, verification: str = "") -> UsageReport:
        """Report what models consumed for a change."""
        report = UsageReport(change=change_name(change), verification=verification, entries=entries)
        request = usage.ReportUsageRequest(usage_report=report, request_id=new_request_id())
        stub = UsageServiceStub(self.channel)
        return self.unary(stub.ReportUsage, request).usage_report

    def list_events(
        self,
        repository: str = ALL_REPOSITORIES,
        *,
        after_sequence: int = 0,
        types: Sequence[str] = (),
        start: datetime | None = None,
        end: datetime | None = None,
        page_size: int = 0,
    ) -> Iterator[Event]:
        """The record of state changes in order. Role operator."""
        parent = repository if repository == ALL_REPOSITORIES else repository_name(repository)
        stub = EventServiceStub(self.channel)
        request = events.ListEventsRequest(
            parent=parent, after_sequence=after_sequence, types=types, page_size=page_size,
            start_time=_timestamp(start), end_time=_timestamp(end),
        )  # fmt: skip

        def ask(token: str) -> events.ListEventsResponse:
            request.page_token = token
            return self.unary(stub.ListEvents, request)

        return self.pages(ask, lambda page: page.events)

    def list_audit_entries(self, *, after_sequence: int = 0, page_size: int = 0) -> Iterator[AuditEntry]:
        """The hash-chained record of decisions in order. Role operator."""
        stub = AuditServiceStub(self.channel)
        request = audit.ListAuditEntriesRequest(after_sequence=after_sequence, page_size=page_size)

        def ask(token: str) -> audit.ListAuditEntriesResponse:
            request.page_token = token
            return self.unary(stub.ListAuditEntries, request)

        return self.pages(ask, lambda page: page.audit_entries)


def _timestamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    made = Timestamp()
    made.FromDatetime(moment)
    return made
