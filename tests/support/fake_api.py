"""A gate made of the generated servicers, in memory, for tests of clients: it keeps what it was sent, answers what a
test put there, and fails as a test tells it to. It decides nothing and checks no permission."""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from gatekeeper.api.v1 import (
    artifacts_pb2,
    artifacts_pb2_grpc,
    attestations_pb2,
    attestations_pb2_grpc,
    audit_entries_pb2,
    audit_entries_pb2_grpc,
    changes_pb2,
    changes_pb2_grpc,
    events_pb2,
    events_pb2_grpc,
    repositories_pb2,
    repositories_pb2_grpc,
    reviews_pb2,
    reviews_pb2_grpc,
    tickets_pb2,
    tickets_pb2_grpc,
    usage_reports_pb2,
    usage_reports_pb2_grpc,
    verifications_pb2,
    verifications_pb2_grpc,
)
from gatekeeper.api.v1.artifact_pb2 import Artifact
from gatekeeper.api.v1.change_pb2 import Change, Question
from gatekeeper.api.v1.finding_pb2 import Finding
from gatekeeper.api.v1.ticket_pb2 import Ticket
from gatekeeper.api.v1.verdict_pb2 import (
    BLAME_NONE,
    EFFECT_BLOCKS,
    MODE_ENFORCED,
    VERDICT_ACCEPTED,
    VERDICT_REJECTED,
)
from gatekeeper.api.v1.verification_pb2 import Verification

REPOSITORY = "owners/acme/repositories/shop"
HEAD = "a" * 40
DIGEST = "d" * 64


@dataclass
class Fault:
    """How one call fails: with the gate's own details, with raw bytes in their place, or with none."""

    code: grpc.StatusCode
    reason: str = ""
    message: str = "told by the test"
    metadata: dict[str, str] = field(default_factory=dict)
    domain: str = "gatekeeper"
    raw: bytes | None = None

    def abort(self, context: grpc.ServicerContext) -> None:
        details = self.raw
        if details is None and self.reason:
            info = error_details_pb2.ErrorInfo(reason=self.reason, domain=self.domain, metadata=self.metadata)
            packed = AnyMessage()
            packed.Pack(info)
            details = status_pb2.Status(
                code=self.code.value[0], message=self.message, details=[packed]
            ).SerializeToString()
        if details is not None:
            context.set_trailing_metadata((("grpc-status-details-bin", details),))
        context.abort(self.code, self.message)


def snapshot(name: str, revision: int, state: int, verdict: int = 0, **fields: Any) -> Verification:
    """A verification as a gate would send it."""
    return Verification(
        name=name, revision=revision, state=state, verdict=verdict, mode=MODE_ENFORCED, head_commit=HEAD,
        target_ref="refs/heads/main", ticket=f"{REPOSITORY}/tickets/T-1", ticket_digest=DIGEST, attempt=1, **fields,
    )  # fmt: skip


def life(name: str, verdict: int = VERDICT_ACCEPTED, **fields: Any) -> list[Verification]:
    """Snapshots from queued to decided."""
    if verdict == VERDICT_REJECTED and "findings" not in fields:
        fields["findings"] = [
            Finding(
                code="TESTS_FAILED", category="tests_failed", effect=EFFECT_BLOCKS, blame=BLAME_NONE, primary=True,
                message="2 tests fail.", path="shop/cart.py", line=7, evidence="E  assert 1 == 2", next_action="Mend them.",
                fingerprint="f" * 64,
            )
        ]  # fmt: skip
        fields["repair_brief"] = "Mend shop/cart.py and run pytest."
    return [
        snapshot(name, 1, Verification.STATE_QUEUED),
        snapshot(name, 2, Verification.STATE_RUNNING, progress={"step": "rerun", "runs_done": 0, "runs_planned": 2}),
        snapshot(name, 5, Verification.STATE_DECIDED, verdict, current=True, diff_digest="e" * 64, **fields),
    ]


class FakeGate(
    artifacts_pb2_grpc.ArtifactServiceServicer,
    attestations_pb2_grpc.AttestationServiceServicer,
    audit_entries_pb2_grpc.AuditServiceServicer,
    changes_pb2_grpc.ChangeServiceServicer,
    events_pb2_grpc.EventServiceServicer,
    repositories_pb2_grpc.RepositoryServiceServicer,
    reviews_pb2_grpc.ReviewServiceServicer,
    tickets_pb2_grpc.TicketServiceServicer,
    usage_reports_pb2_grpc.UsageServiceServicer,
    verifications_pb2_grpc.VerificationServiceServicer,
):
    """State of the fake, open to tests."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any, dict[str, str]]] = []
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.artifacts: dict[str, bytes] = {}
        self.kinds: dict[str, int] = {}
        self.requests: dict[str, str] = {}
        """Name of the verification by request id."""
        self.lives: dict[str, list[Verification]] = {}
        self.verdicts: dict[str, int] = {}
        """Verdict by key of the change; accepted for others."""
        self.tickets: dict[str, Ticket] = {}
        self.changes: dict[str, Change] = {}
        self.attestations: list[Any] = []
        self.repositories: dict[str, Any] = {}
        self.events: list[Any] = []
        self.breaks: list[int] = []
        """Each number ends one watch with UNAVAILABLE after that many snapshots."""
        self.watcher: Callable[[Any, grpc.ServicerContext], Iterable[Verification]] | None = None
        self.page = 2
        self.stopping = threading.Event()

    def _heard(self, method: str, request: Any, context: grpc.ServicerContext) -> Any:
        self.calls.append((method, request, {k: v for k, v in context.invocation_metadata() if isinstance(v, str)}))
        if self.faults[method]:
            self.faults[method].pop(0).abort(context)
        return request

    def requests_of(self, method: str) -> list[Any]:
        return [request for name, request, _ in self.calls if name == method]

    def _paged(self, rows: list[Any], request: Any) -> tuple[list[Any], str]:
        start = int(request.page_token or 0)
        size = min(request.page_size or self.page, self.page)
        return rows[start : start + size], str(start + size) if start + size < len(rows) else ""

    # artifacts
    def UploadArtifact(self, request_iterator: Iterator[Any], context: grpc.ServicerContext) -> Any:
        first = next(request_iterator)
        self._heard("UploadArtifact", first, context)
        data = b"".join(m.chunk for m in request_iterator)
        assert len(data) == first.header.size_bytes
        assert hashlib.sha256(data).hexdigest() == first.header.sha256
        name = f"artifacts/{first.header.sha256}"
        self.artifacts[name], self.kinds[name] = data, first.header.kind
        return artifacts_pb2.UploadArtifactResponse(
            artifact=Artifact(name=name, kind=first.header.kind, size_bytes=len(data))
        )

    def GetArtifact(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        self._heard("GetArtifact", request, context)
        data = self.artifacts.get(request.name)
        if data is None:
            Fault(grpc.StatusCode.NOT_FOUND, "ARTIFACT_UNKNOWN").abort(context)
        yield artifacts_pb2.GetArtifactResponse(artifact=Artifact(name=request.name, size_bytes=len(data or b"")))
        yield artifacts_pb2.GetArtifactResponse(chunk=data)

    # verifications
    def Submit(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("Submit", request, context)
        name = self.requests.get(request.request_id)
        if name is None:
            change = f"{request.parent}/changes/{request.change_key}"
            name = f"{change}/verifications/v{len(self.lives) + 1}"
            self.requests[request.request_id] = name
            verdict = self.verdicts.get(request.change_key, VERDICT_ACCEPTED)
            self.lives[name] = life(name, verdict)
            self.changes[change] = Change(
                name=change, key=request.change_key, state=Change.STATE_RUNNING, latest_verification=name,
                ticket=request.ticket, target_ref=request.target_ref, head_commit=request.head_commit, etag="1",
            )  # fmt: skip
        return verifications_pb2.SubmitResponse(verification=self.lives[name][0])

    def _known(self, name: str, context: grpc.ServicerContext) -> list[Verification]:
        if name not in self.lives:
            Fault(grpc.StatusCode.NOT_FOUND, "VERIFICATION_UNKNOWN", "There is no such verification.").abort(context)
        return self.lives[name]

    def GetVerification(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("GetVerification", request, context)
        return verifications_pb2.GetVerificationResponse(verification=self._known(request.name, context)[-1])

    def ListVerifications(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("ListVerifications", request, context)
        prefix = request.parent.removesuffix("-")
        rows, token = self._paged([s[-1] for n, s in self.lives.items() if n.startswith(prefix)], request)
        return verifications_pb2.ListVerificationsResponse(verifications=rows, next_page_token=token)

    def WatchVerification(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        self._heard("WatchVerification", request, context)
        if self.watcher is not None:
            for made in self.watcher(request, context):
                yield verifications_pb2.WatchVerificationResponse(verification=made)
            return
        rows = [s for s in self._known(request.name, context) if s.revision > request.after_revision]
        stop = self.breaks.pop(0) if self.breaks else None
        for sent, made in enumerate(rows):
            if stop is not None and sent >= stop:
                Fault(grpc.StatusCode.UNAVAILABLE, "GATE_STOPPING").abort(context)
            yield verifications_pb2.WatchVerificationResponse(verification=made)

    def CancelVerification(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("CancelVerification", request, context)
        row = self._known(request.name, context)
        row.append(snapshot(request.name, row[-1].revision + 1, Verification.STATE_CANCELLED))
        return verifications_pb2.CancelVerificationResponse(verification=row[-1])

    # tickets
    def CreateTicket(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("CreateTicket", request, context)
        name = f"{request.parent}/tickets/T-{len(self.tickets) + 1}"
        self.tickets[name] = Ticket(
            name=name, document=request.document, digest=hashlib.sha256(request.document).hexdigest(), etag="1-proposed",
            state=Ticket.STATE_PROPOSED, title="A title", goal="A goal", allowed=["shop/**"], revision=1,
        )  # fmt: skip
        return tickets_pb2.CreateTicketResponse(ticket=self.tickets[name])

    def _ticket(self, name: str, context: grpc.ServicerContext) -> Ticket:
        if name not in self.tickets:
            Fault(grpc.StatusCode.NOT_FOUND, "TICKET_UNKNOWN", "There is no such ticket.").abort(context)
        return self.tickets[name]

    def GetTicket(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("GetTicket", request, context)
        return tickets_pb2.GetTicketResponse(ticket=self._ticket(request.name, context))

    def ListTickets(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("ListTickets", request, context)
        rows, token = self._paged(list(self.tickets.values()), request)
        return tickets_pb2.ListTicketsResponse(tickets=rows, next_page_token=token)

    def _decided(self, method: str, request: Any, context: grpc.ServicerContext, state: int) -> Ticket:
        self._heard(method, request, context)
        ticket = self._ticket(request.name, context)
        if request.digest != ticket.digest:
            Fault(grpc.StatusCode.FAILED_PRECONDITION, "TICKET_CHANGED").abort(context)
        ticket.state = state
        ticket.decision_comment = request.comment
        return ticket

    def ApproveTicket(self, request: Any, context: grpc.ServicerContext) -> Any:
        return tickets_pb2.ApproveTicketResponse(
            ticket=self._decided("ApproveTicket", request, context, Ticket.STATE_APPROVED)
        )

    def RejectTicket(self, request: Any, context: grpc.ServicerContext) -> Any:
        return tickets_pb2.RejectTicketResponse(
            ticket=self._decided("RejectTicket", request, context, Ticket.STATE_REJECTED)
        )

    def AmendTicket(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("AmendTicket", request, context)
        ticket = self._ticket(request.name, context)
        if request.etag != ticket.etag:
            Fault(grpc.StatusCode.ABORTED, "ETAG_MISMATCH").abort(context)
        ticket.document, ticket.state, ticket.revision = request.document, Ticket.STATE_PROPOSED, ticket.revision + 1
        ticket.etag = f"{ticket.revision}-proposed"
        return tickets_pb2.AmendTicketResponse(ticket=ticket)

    # changes
    def _change(self, name: str, context: grpc.ServicerContext) -> Change:
        if name not in self.changes:
            Fault(grpc.StatusCode.NOT_FOUND, "CHANGE_UNKNOWN", "There is no such change.").abort(context)
        return self.changes[name]

    def GetChange(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("GetChange", request, context)
        return changes_pb2.GetChangeResponse(change=self._change(request.name, context))

    def ListChanges(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("ListChanges", request, context)
        rows = [c for c in self.changes.values() if not request.states or c.state in request.states]
        rows, token = self._paged(rows, request)
        return changes_pb2.ListChangesResponse(changes=rows, next_page_token=token)

    def AbandonChange(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("AbandonChange", request, context)
        change = self._change(request.name, context)
        change.state = Change.STATE_ABANDONED
        return changes_pb2.AbandonChangeResponse(change=change)

    def RaiseQuestion(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("RaiseQuestion", request, context)
        question = Question(id="q1", cause=request.cause, text=request.text)
        change = self.changes.setdefault(request.change, Change(name=request.change, key=request.change[-1]))
        change.state = Change.STATE_HUMAN_DECISION_NEEDED
        change.open_questions.append(question)
        return changes_pb2.RaiseQuestionResponse(change=change, question=question)

    # the rest
    def CreateReview(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("CreateReview", request, context)
        request.review.name = f"{request.parent}/reviews/r1"
        change = self._change(request.parent, context)
        change.state = Change.STATE_MERGEABLE
        return reviews_pb2.CreateReviewResponse(review=request.review, change=change)

    def GetAttestation(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("GetAttestation", request, context)
        found = [a for a in self.attestations if a.name == request.name]
        if not found:
            Fault(grpc.StatusCode.NOT_FOUND, "ATTESTATION_UNKNOWN").abort(context)
        return attestations_pb2.GetAttestationResponse(attestation=found[0])

    def ListAttestations(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("ListAttestations", request, context)
        rows, token = self._paged(
            [a for a in self.attestations if request.subject_commit in ("", a.subject_commit)], request
        )
        return attestations_pb2.ListAttestationsResponse(attestations=rows, next_page_token=token)

    def RegisterRepository(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("RegisterRepository", request, context)
        request.repository.name = f"{request.parent}/repositories/{request.repository_id}"
        self.repositories[request.repository.name] = request.repository
        return repositories_pb2.RegisterRepositoryResponse(repository=request.repository)

    def GetRepository(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("GetRepository", request, context)
        if request.name not in self.repositories:
            Fault(grpc.StatusCode.NOT_FOUND, "REPOSITORY_UNKNOWN", "There is no such repository.").abort(context)
        return repositories_pb2.GetRepositoryResponse(repository=self.repositories[request.name])

    def ListRepositories(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("ListRepositories", request, context)
        rows, token = self._paged(list(self.repositories.values()), request)
        return repositories_pb2.ListRepositoriesResponse(repositories=rows, next_page_token=token)

    def ReportUsage(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("ReportUsage", request, context)
        request.usage_report.id = "u1"
        return usage_reports_pb2.ReportUsageResponse(usage_report=request.usage_report)

    def ListEvents(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("ListEvents", request, context)
        rows, token = self._paged([e for e in self.events if e.sequence > request.after_sequence], request)
        return events_pb2.ListEventsResponse(events=rows, next_page_token=token)

    def ListAuditEntries(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._heard("ListAuditEntries", request, context)
        return audit_entries_pb2.ListAuditEntriesResponse()


@contextmanager
def serving(gate: FakeGate, address: str = "127.0.0.1:0") -> Iterator[str]:
    """The fake on a loopback port; yields `host:port`."""
    pool = ThreadPoolExecutor(max_workers=16)
    server = grpc.server(pool, options=[("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)])
    for add in (
        artifacts_pb2_grpc.add_ArtifactServiceServicer_to_server,
        attestations_pb2_grpc.add_AttestationServiceServicer_to_server,
        audit_entries_pb2_grpc.add_AuditServiceServicer_to_server,
        changes_pb2_grpc.add_ChangeServiceServicer_to_server,
        events_pb2_grpc.add_EventServiceServicer_to_server,
        repositories_pb2_grpc.add_RepositoryServiceServicer_to_server,
        reviews_pb2_grpc.add_ReviewServiceServicer_to_server,
        tickets_pb2_grpc.add_TicketServiceServicer_to_server,
        usage_reports_pb2_grpc.add_UsageServiceServicer_to_server,
        verifications_pb2_grpc.add_VerificationServiceServicer_to_server,
    ):
        add(gate, server)
    alive = health.HealthServicer()
    alive.set("", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(alive, server)
    port = server.add_insecure_port(address)
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        gate.stopping.set()
        server.stop(grace=None).wait()
        pool.shutdown(wait=True, cancel_futures=True)
