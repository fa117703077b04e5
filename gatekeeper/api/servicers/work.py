"""Changes, verifications, reviews and usage reports."""

# ruff: noqa: N802  # methods are named as their rpcs

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from gatekeeper.api import convert
from gatekeeper.api.interceptors import Call
from gatekeeper.api.paging import page_of, token_of
from gatekeeper.api.requests import (
    MAX_COMMENT,
    MAX_SUBJECT,
    data,
    moment,
    optional_name,
    request_of,
    text,
    word,
    words,
)
from gatekeeper.api.v1 import change_pb2, review_pb2, usage_report_pb2, verdict_pb2, verification_pb2
from gatekeeper.api.v1 import changes_pb2 as cp
from gatekeeper.api.v1 import reviews_pb2 as vp
from gatekeeper.api.v1 import usage_reports_pb2 as up
from gatekeeper.api.v1 import verifications_pb2 as p
from gatekeeper.api.watch import News
from gatekeeper.domain.lifecycle import ChangeState, VerificationState
from gatekeeper.domain.records import ChangeRecord, VerificationRecord
from gatekeeper.errors import InputError
from gatekeeper.formats.resource_names import (
    Kind,
    change_of,
    commit,
    malformed,
    ref,
    repository_of,
    resource_name,
    segment,
    sha256,
)
from gatekeeper.workflow.service import changes, reviews, submissions, usage, verifications
from gatekeeper.workflow.service.commands import ReviewCommand, SubmitCommand
from gatekeeper.workflow.service.service import Service

KIB = 1024
MAX_CLAIM = 1024 * KIB
MAX_QUESTION = 4 * KIB
MAX_WORDS = 16 * KIB
MAX_DOCUMENT = MAX_STATEMENT = 256 * KIB
MAX_WAIVED = 100
MAX_GROUP = 256
MAX_ENTRIES = 100
MAX_MODEL = 128
MAX_ETAG = 64
ALL_CHANGES = "/changes/-"


class ChangeServicer:
    """ChangeService."""

    async def GetChange(self, request: cp.GetChangeRequest, call: Call) -> cp.GetChangeResponse:
        """One change."""
        record = await call.read(changes.get, call.service, resource_name(Kind.CHANGE, request.name, "name"))
        return cp.GetChangeResponse(change=convert.change(record))

    async def ListChanges(self, request: cp.ListChangesRequest, call: Call) -> cp.ListChangesResponse:
        """Changes of a repository, or of all."""
        everywhere = request.parent == "owners/-/repositories/-"
        parent = None if everywhere else resource_name(Kind.REPOSITORY, request.parent, "parent")
        states = words(change_pb2.Change.State, request.states, "states", prefix="STATE_")
        found = await call.read(
            changes.list_page,
            call.service,
            parent,
            page_of(ChangeRecord, request),
            states=[ChangeState(s) for s in states],
            ticket=optional_name(Kind.TICKET, request.ticket, "ticket"),
            head=commit(request.head_commit, "head_commit") if request.head_commit else "",
        )
        return cp.ListChangesResponse(
            changes=[convert.change(r) for r in found.rows], next_page_token=token_of(found.after, request)
        )

    async def AbandonChange(self, request: cp.AbandonChangeRequest, call: Call) -> cp.AbandonChangeResponse:
        """Give a change up."""
        record = await call.write(
            changes.abandon,
            call.service,
            call.caller,
            resource_name(Kind.CHANGE, request.name, "name"),
            text(request.comment, "comment", MAX_COMMENT, lines=True),
            request_of(call.name, request),
            etag=text(request.etag, "etag", MAX_ETAG),
        )
        return cp.AbandonChangeResponse(change=convert.change(record))

    async def RaiseQuestion(self, request: cp.RaiseQuestionRequest, call: Call) -> cp.RaiseQuestionResponse:
        """Call a person."""
        record, asked = await call.write(
            changes.raise_question,
            call.service,
            call.caller,
            resource_name(Kind.CHANGE, request.change, "change"),
            optional_name(Kind.TICKET, request.ticket, "ticket"),
            text(request.cause, "cause", 64, required=True),
            text(request.text, "text", MAX_QUESTION, required=True, lines=True),
            request_of(call.name, request),
        )
        return cp.RaiseQuestionResponse(change=convert.change(record), question=convert.question(asked))


class VerificationServicer:
    """VerificationService."""

    def __init__(self, news: News) -> None:
        self._news = news

    async def Submit(self, request: p.SubmitRequest, call: Call) -> p.SubmitResponse:
        """Submit a head."""
        command = submit_command(request, call.name)
        record = await call.write(submissions.submit, call.service, call.caller, command)
        return p.SubmitResponse(verification=convert.verification(record, call.now))

    async def GetVerification(self, request: p.GetVerificationRequest, call: Call) -> p.GetVerificationResponse:
        """One verification in full."""
        name = resource_name(Kind.VERIFICATION, request.name, "name")
        return p.GetVerificationResponse(verification=await call.read(_in_full, call.service, name))

    async def ListVerifications(self, request: p.ListVerificationsRequest, call: Call) -> p.ListVerificationsResponse:
        """Verifications of a change, or of all of a repository."""
        if request.parent.endswith(ALL_CHANGES):
            change = None
            repository = resource_name(Kind.REPOSITORY, request.parent.removesuffix(ALL_CHANGES), "parent")
        else:
            change = resource_name(Kind.CHANGE, request.parent, "parent")
            repository = repository_of(change)
        states = words(verification_pb2.Verification.State, request.states, "states", prefix="STATE_")
        found = await call.read(
            verifications.list_page,
            call.service,
            repository,
            change,
            page_of(VerificationRecord, request),
            states=[VerificationState(s) for s in states],
            head=commit(request.head_commit, "head_commit") if request.head_commit else "",
            current_only=request.current_only,
        )
        return p.ListVerificationsResponse(
            verifications=[convert.verification(r, call.now, full=False) for r in found.rows],
            next_page_token=token_of(found.after, request),
        )

    async def WatchVerification(
        self, request: p.WatchVerificationRequest, call: Call
    ) -> AsyncGenerator[p.WatchVerificationResponse, None]:
        """Snapshots until a final one."""
        name = resource_name(Kind.VERIFICATION, request.name, "name")
        if request.after_revision < 0:
            raise malformed("after_revision", "0 or more")
        with call.gate.watch_slots.taken(call.caller.principal.id):
            first = await call.read(verifications.get, call.service, name, report=False)
            async with aclosing(self._news.snapshots(first, request.after_revision)) as records:
                async for record in records:
                    await call.require_valid()
                    shown = convert.verification(record, call.now)
                    if record.state.final:
                        shown = await call.read(_in_full, call.service, name)
                    yield p.WatchVerificationResponse(verification=shown)

    async def CancelVerification(
        self, request: p.CancelVerificationRequest, call: Call
    ) -> p.CancelVerificationResponse:
        """Cancel one that is not final."""
        record = await call.write(
            submissions.cancel,
            call.service,
            call.caller,
            resource_name(Kind.VERIFICATION, request.name, "name"),
            text(request.comment, "comment", MAX_COMMENT, lines=True),
            request_of(call.name, request),
        )
        return p.CancelVerificationResponse(verification=convert.verification(record, call.now))


def _in_full(service: Service, name: str) -> verification_pb2.Verification:
    """In a thread: a large report takes a while."""
    return convert.verification(verifications.get(service, name), service.clock.now())


def submit_command(request: p.SubmitRequest, name: str) -> SubmitCommand:
    """A submission, every field checked. Raises `InputError`."""
    parent = resource_name(Kind.REPOSITORY, request.parent, "parent")
    purpose = word(verdict_pb2.Purpose, request.purpose, "purpose", prefix="PURPOSE_", required=False) or "PRE_MERGE"
    if purpose == "LANDED":
        raise malformed("purpose", "PURPOSE_PRE_MERGE or PURPOSE_MERGE_GROUP; only the gate makes the other")
    group = text(request.merge_group, "merge_group", MAX_GROUP, required=purpose == "MERGE_GROUP")
    if group and purpose != "MERGE_GROUP":
        raise malformed("merge_group", "empty unless the purpose is PURPOSE_MERGE_GROUP")
    ticket = resource_name(Kind.TICKET, request.ticket, "ticket")
    if repository_of(ticket) != parent:
        raise malformed("ticket", "a ticket of the repository in parent")
    inline = request.WhichOneof("claim") == "claim_document"
    uploaded = request.WhichOneof("claim") == "claim_artifact"
    return SubmitCommand(
        repository=parent,
        change_key=segment(request.change_key, "change_key"),
        target_ref=ref(request.target_ref, "target_ref"),
        head=commit(request.head_commit, "head_commit"),
        ticket=ticket,
        request=request_of(name, request),
        ticket_digest=sha256(request.ticket_digest, "ticket_digest") if request.ticket_digest else "",
        claim=data(request.claim_document, "claim_document", MAX_CLAIM, required=True) if inline else None,
        claim_artifact=resource_name(Kind.ARTIFACT, request.claim_artifact, "claim_artifact") if uploaded else "",
        bundle_artifact=optional_name(Kind.ARTIFACT, request.bundle_artifact, "bundle_artifact"),
        purpose=purpose,
        merge_group=group,
        on_behalf_of=text(request.on_behalf_of, "on_behalf_of", MAX_SUBJECT),
    )


class ReviewServicer:
    """ReviewService."""

    async def CreateReview(self, request: vp.CreateReviewRequest, call: Call) -> vp.CreateReviewResponse:
        """Store a decision."""
        command = review_command(request, call.name)
        record, change = await call.write(reviews.create, call.service, call.caller, command)
        return vp.CreateReviewResponse(review=convert.review(record), change=convert.change(change))


def review_command(request: vp.CreateReviewRequest, name: str) -> ReviewCommand:
    """A decision, every field checked. Raises `InputError`."""
    change = resource_name(Kind.CHANGE, request.parent, "parent")
    review = request.review
    kind = word(review_pb2.Review.Kind, review.kind, "review.kind", prefix="KIND_")
    verification = optional_name(Kind.VERIFICATION, review.verification, "review.verification")
    if verification and change_of(verification) != change:
        raise malformed("review.verification", "a verification of the change in parent")
    if len(review.waived_fingerprints) > MAX_WAIVED:
        raise malformed("review.waived_fingerprints", f"at most {MAX_WAIVED}")
    if review.waived_fingerprints and kind != "WAIVE":
        raise malformed("review.waived_fingerprints", "empty unless the kind is KIND_WAIVE")
    if review.amended_ticket and kind != "AMEND_TICKET":
        raise malformed("review.amended_ticket", "empty unless the kind is KIND_AMEND_TICKET")
    fingerprints = [sha256(f, "review.waived_fingerprints") for f in review.waived_fingerprints]
    return ReviewCommand(
        change=change,
        kind=kind,
        verification=verification,
        request=request_of(name, request),
        ticket_digest=sha256(review.ticket_digest, "review.ticket_digest") if review.ticket_digest else "",
        diff_digest=sha256(review.diff_digest, "review.diff_digest") if review.diff_digest else "",
        comment=text(review.comment, "review.comment", MAX_WORDS, lines=True),
        waived_fingerprints=tuple(dict.fromkeys(fingerprints)),
        amended_ticket=data(review.amended_ticket, "review.amended_ticket", MAX_DOCUMENT),
        statement_bundle=data(review.statement_bundle, "review.statement_bundle", MAX_STATEMENT),
        expire_time=moment(review, "expire_time"),
    )


class UsageServicer:
    """UsageService."""

    async def ReportUsage(self, request: up.ReportUsageRequest, call: Call) -> up.ReportUsageResponse:
        """Store a report."""
        wanted = request.usage_report
        change = resource_name(Kind.CHANGE, wanted.change, "usage_report.change")
        verification = optional_name(Kind.VERIFICATION, wanted.verification, "usage_report.verification")
        if verification and change_of(verification) != change:
            raise malformed("usage_report.verification", "a verification of the change")
        if not 1 <= len(wanted.entries) <= MAX_ENTRIES:
            raise malformed("usage_report.entries", f"1 to {MAX_ENTRIES} entries")
        entries = tuple(_entry(e) for e in wanted.entries)
        known = request_of(call.name, request)
        record = await call.write(usage.report, call.service, call.caller, change, verification, entries, known)
        return up.ReportUsageResponse(usage_report=convert.usage_report(record))


def _entry(message: usage_report_pb2.ModelUsage) -> dict[str, Any]:
    kind = usage_report_pb2.ModelUsage
    entry: dict[str, Any] = {
        "model": text(message.model, "usage_report.entries.model", MAX_MODEL),
        "currency": message.currency or "USD",
        "basis": word(kind.Basis, message.basis, "usage_report.entries.basis", prefix="BASIS_", required=False)
        or "UNKNOWN",
        "source": word(kind.Source, message.source, "usage_report.entries.source", prefix="SOURCE_", required=False)
        or "AGENT",
    }
    currency = entry["currency"]
    if len(currency) != 3 or not currency.isascii() or not currency.isupper() or not currency.isalpha():
        raise malformed("usage_report.entries.currency", "an ISO 4217 code such as USD")
    for name in ("input_tokens", "output_tokens", "cost_micros"):
        if message.HasField(name):
            value = getattr(message, name)
            if not 0 <= value < 2**53:
                raise InputError(
                    "INPUT_MALFORMED",
                    f"The field usage_report.entries.{name} must lie between 0 and 2^53.",
                    field=f"usage_report.entries.{name}",
                )
            entry[name] = value
    return entry
