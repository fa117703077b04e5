"""Repositories and tickets."""

# ruff: noqa: N802  # methods are named as their rpcs

from __future__ import annotations

from typing import Any

from gatekeeper.api import convert
from gatekeeper.api.interceptors import Call
from gatekeeper.api.paging import page_of, token_of
from gatekeeper.api.requests import MAX_COMMENT, MAX_URI, data, request_of, source_uri, text, word, words
from gatekeeper.api.v1 import repositories_pb2 as rp
from gatekeeper.api.v1 import ticket_pb2
from gatekeeper.api.v1 import tickets_pb2 as tp
from gatekeeper.api.v1.verdict_pb2 import Mode as ModeMessage
from gatekeeper.domain.lifecycle import TicketState
from gatekeeper.domain.records import Page, RepositoryRecord, TicketRecord
from gatekeeper.domain.verdict import Mode
from gatekeeper.formats.resource_names import Kind, last_segment, malformed, ref, resource_name, segment, sha256
from gatekeeper.workflow.service import repositories, tickets
from gatekeeper.workflow.service.service import Service

MAX_DOCUMENT = 256 * 1024
MAX_STATEMENT = 256 * 1024
MAX_REFS = 50
MAX_ETAG = 64
_DIGITS = 20


class RepositoryServicer:
    """RepositoryService."""

    async def RegisterRepository(
        self, request: rp.RegisterRepositoryRequest, call: Call
    ) -> rp.RegisterRepositoryResponse:
        """Register a repository."""
        owner = resource_name(Kind.OWNER, request.parent, "parent")
        wanted = request.repository
        if not 1 <= len(wanted.target_refs) <= MAX_REFS:
            raise malformed("repository.target_refs", f"1 to {MAX_REFS} refs")
        if wanted.forge_id and not (wanted.forge_id.isascii() and wanted.forge_id.isdigit()):
            raise malformed("repository.forge_id", "a number, or empty")
        mode = word(ModeMessage, wanted.mode, "repository.mode", prefix="MODE_")
        if mode == "LOCAL":
            raise malformed("repository.mode", "MODE_ENFORCED or MODE_SHADOW")
        command = repositories.RegisterCommand(
            name=f"{owner}/repositories/{segment(request.repository_id, 'repository_id')}",
            source_uri=source_uri(wanted.source_uri, "repository.source_uri"),
            repository_uri=text(wanted.repository_uri, "repository.repository_uri", MAX_URI),
            forge_id=text(wanted.forge_id, "repository.forge_id", _DIGITS),
            target_refs=tuple(dict.fromkeys(ref(r, "repository.target_refs") for r in wanted.target_refs)),
            mode=Mode[mode],
            accept_bundles=wanted.accept_bundles,
            request=request_of(call.name, request),
        )
        record = await call.write(repositories.register, call.service, call.caller, command)
        return rp.RegisterRepositoryResponse(repository=convert.repository(record))

    async def GetRepository(self, request: rp.GetRepositoryRequest, call: Call) -> rp.GetRepositoryResponse:
        """One repository."""
        name = resource_name(Kind.REPOSITORY, request.name, "name")
        record = await call.read(repositories.get, call.service, name)
        return rp.GetRepositoryResponse(repository=convert.repository(record))

    async def ListRepositories(self, request: rp.ListRepositoriesRequest, call: Call) -> rp.ListRepositoriesResponse:
        """Repositories of an owner, or of all."""
        everybody = request.parent == "owners/-"
        owner = None if everybody else last_segment(resource_name(Kind.OWNER, request.parent, "parent"))
        page = page_of(RepositoryRecord, request)
        found = await call.read(repositories.list_page, call.service, owner, page)
        return rp.ListRepositoriesResponse(
            repositories=[convert.repository(r) for r in found.rows], next_page_token=token_of(found.after, request)
        )


class TicketServicer:
    """TicketService."""

    async def CreateTicket(self, request: tp.CreateTicketRequest, call: Call) -> tp.CreateTicketResponse:
        """Propose a ticket."""
        parent = resource_name(Kind.REPOSITORY, request.parent, "parent")
        document = data(request.document, "document", MAX_DOCUMENT, required=True)
        known = request_of(call.name, request)
        record = await call.write(tickets.create, call.service, call.caller, parent, document, known)
        return tp.CreateTicketResponse(ticket=convert.ticket(record))

    async def GetTicket(self, request: tp.GetTicketRequest, call: Call) -> tp.GetTicketResponse:
        """One ticket."""
        name = resource_name(Kind.TICKET, request.name, "name")
        digest = sha256(request.digest, "digest") if request.digest else ""
        record = await call.read(tickets.get, call.service, name, digest)
        return tp.GetTicketResponse(ticket=convert.ticket(record))

    async def ListTickets(self, request: tp.ListTicketsRequest, call: Call) -> tp.ListTicketsResponse:
        """Tickets of a repository."""
        parent = resource_name(Kind.REPOSITORY, request.parent, "parent")
        states = [TicketState(w) for w in words(ticket_pb2.Ticket.State, request.states, "states", prefix="STATE_")]
        page = page_of(TicketRecord, request)
        rows, after = await call.read(_page, call.service, parent, states, page)
        return tp.ListTicketsResponse(tickets=rows, next_page_token=token_of(after, request))

    async def ApproveTicket(self, request: tp.ApproveTicketRequest, call: Call) -> tp.ApproveTicketResponse:
        """Approve a digest."""
        record = await call.write(
            tickets.approve,
            call.service,
            call.caller,
            resource_name(Kind.TICKET, request.name, "name"),
            sha256(request.digest, "digest"),
            request_of(call.name, request),
            etag=text(request.etag, "etag", MAX_ETAG),
            comment=text(request.comment, "comment", MAX_COMMENT, lines=True),
            statement_bundle=data(request.statement_bundle, "statement_bundle", MAX_STATEMENT),
        )
        return tp.ApproveTicketResponse(ticket=convert.ticket(record))

    async def RejectTicket(self, request: tp.RejectTicketRequest, call: Call) -> tp.RejectTicketResponse:
        """Reject a digest."""
        record = await call.write(
            tickets.reject,
            call.service,
            call.caller,
            resource_name(Kind.TICKET, request.name, "name"),
            sha256(request.digest, "digest"),
            text(request.comment, "comment", MAX_COMMENT, required=True, lines=True),
            request_of(call.name, request),
            etag=text(request.etag, "etag", MAX_ETAG),
        )
        return tp.RejectTicketResponse(ticket=convert.ticket(record))

    async def AmendTicket(self, request: tp.AmendTicketRequest, call: Call) -> tp.AmendTicketResponse:
        """Replace the document."""
        record = await call.write(
            tickets.amend,
            call.service,
            call.caller,
            resource_name(Kind.TICKET, request.name, "name"),
            data(request.document, "document", MAX_DOCUMENT, required=True),
            text(request.etag, "etag", MAX_ETAG, required=True),
            request_of(call.name, request),
        )
        return tp.AmendTicketResponse(ticket=convert.ticket(record))


def _page(
    service: Service, repository: str, states: list[TicketState], page: Page
) -> tuple[list[ticket_pb2.Ticket], tuple[Any, ...] | None]:
    """In a thread: a hundred large documents take a while to read."""
    found = tickets.list_page(service, repository, states, page)
    return [convert.ticket(r, document=False) for r in found.rows], found.after
