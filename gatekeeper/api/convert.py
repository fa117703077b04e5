"""Records of the gate as messages. Texts that came from outside lose their control characters on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from gatekeeper.api.report_messages import add_report, cut_to_size, needs_of
from gatekeeper.api.v1 import (
    artifact_pb2,
    attestation_pb2,
    audit_entry_pb2,
    change_pb2,
    event_pb2,
    principal_pb2,
    repository_pb2,
    review_pb2,
    ticket_pb2,
    usage_report_pb2,
    verdict_pb2,
    verification_pb2,
)
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import (
    ArtifactRecord,
    AttestationRecord,
    AuditEntry,
    ChangeRecord,
    Event,
    Question,
    RepositoryRecord,
    ReviewRecord,
    TicketRecord,
    UsageRecord,
    VerificationRecord,
)
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.formats.resource_names import last_segment
from gatekeeper.formats.text_safety import harmless
from gatekeeper.formats.ticket import parse_ticket

SOURCE = "urn:gatekeeper"
"""`source` of events of this gate."""
MAX_GOAL = 20_000
_TIERS = {"low": verdict_pb2.TIER_LOW, "medium": verdict_pb2.TIER_MEDIUM, "high": verdict_pb2.TIER_HIGH}


def timestamp(seconds: float | None) -> Timestamp | None:
    """A time, None where there is none."""
    if seconds is None:
        return None
    whole = int(seconds // 1)
    return Timestamp(seconds=whole, nanos=min(999_999_999, int((seconds - whole) * 1e9)))


def principal(value: Principal | None) -> principal_pb2.Principal | None:
    """Who, None where nobody is named."""
    if value is None:
        return None
    kind = {
        "human": principal_pb2.Principal.KIND_HUMAN,
        "agent": principal_pb2.Principal.KIND_AGENT,
        "service": principal_pb2.Principal.KIND_SERVICE,
    }.get(value.kind, principal_pb2.Principal.KIND_UNSPECIFIED)
    return principal_pb2.Principal(
        issuer=harmless(value.issuer, newlines=False),
        subject=harmless(value.subject, newlines=False),
        kind=kind,
        on_behalf_of=harmless(value.on_behalf_of or "", newlines=False),
    )


def verdict(value: Verdict | None) -> verdict_pb2.Verdict.ValueType:
    """A verdict, unspecified for none."""
    return verdict_pb2.Verdict.Value(f"VERDICT_{value.name}") if value else verdict_pb2.VERDICT_UNSPECIFIED


def mode(value: Mode | None) -> verdict_pb2.Mode.ValueType:
    """A mode, unspecified for none."""
    return verdict_pb2.Mode.Value(f"MODE_{value.name}") if value else verdict_pb2.MODE_UNSPECIFIED


def purpose(value: str) -> verdict_pb2.Purpose.ValueType:
    """A purpose, unspecified for none."""
    return verdict_pb2.Purpose.Value(f"PURPOSE_{value}") if value else verdict_pb2.PURPOSE_UNSPECIFIED


def repository(record: RepositoryRecord) -> repository_pb2.Repository:
    """A repository."""
    return repository_pb2.Repository(
        name=record.name,
        source_uri=record.source_uri,
        repository_uri=record.repository_uri,
        forge_id=record.forge_id,
        target_refs=record.target_refs,
        mode=mode(record.mode),
        accept_bundles=record.accept_bundles,
        registrant=principal(record.registrant),
        create_time=timestamp(record.create_time),
    )


def ticket(record: TicketRecord, *, document: bool = True) -> ticket_pb2.Ticket:
    """A ticket, its structured fields read from the document again."""
    parsed = parse_ticket(record.document)
    return ticket_pb2.Ticket(
        name=record.name,
        document=record.document if document else b"",
        digest=record.digest,
        state=ticket_pb2.Ticket.State.Value(f"STATE_{record.state.value}"),
        title=harmless(parsed.title, newlines=False),
        goal=harmless(parsed.goal)[:MAX_GOAL] if document else "",
        allowed=[harmless(g) for g in parsed.allowed] if document else (),
        forbidden=[harmless(g) for g in parsed.forbidden] if document else (),
        risk=_TIERS[parsed.risk.value],
        permit_kinds=list(dict.fromkeys(p.kind.value for p in parsed.permits)),
        suites=[harmless(s) for s in parsed.suites] if document else (),
        author=principal(record.author),
        decider=principal(record.decider),
        decision_comment=harmless(record.decision_comment),
        revision=record.revision,
        etag=record.etag,
        create_time=timestamp(record.create_time),
        update_time=timestamp(record.update_time),
        approval_attestation=record.approval_attestation,
    )


def question(value: Question) -> change_pb2.Question:
    """A question of an agent."""
    return change_pb2.Question(
        id=value.id,
        cause=value.cause,
        text=harmless(value.text),
        author=principal(value.author),
        create_time=timestamp(value.create_time),
    )


def change(record: ChangeRecord) -> change_pb2.Change:
    """A change."""
    return change_pb2.Change(
        name=record.name,
        key=last_segment(record.name),
        ticket=record.ticket,
        target_ref=record.target_ref,
        head_commit=record.head,
        state=change_pb2.Change.State.Value(f"STATE_{record.state.value}"),
        state_reason=record.state_reason,
        state_time=timestamp(record.state_time),
        submitter=principal(record.submitter),
        attempts_used=record.attempts_used,
        attempts_allowed=record.attempts_allowed,
        latest_verification=record.latest_verification,
        verdict=verdict(record.verdict),
        tier=_TIERS.get(record.tier, verdict_pb2.TIER_UNSPECIFIED),
        needs=needs_of(record.needs),
        open_questions=[question(q) for q in record.open_questions],
        landed_commit=record.landed_commit,
        etag=record.etag,
        create_time=timestamp(record.create_time),
        update_time=timestamp(record.update_time),
    )


def verification(record: VerificationRecord, now: float, *, full: bool = True) -> verification_pb2.Verification:
    """A verification as it is at `now`; with its report and repair brief where `full` and decided. At most 4 MiB."""
    message = verification_pb2.Verification(
        name=record.name,
        revision=record.revision,
        state=verification_pb2.Verification.State.Value(f"STATE_{record.state.value}"),
        verdict=verdict(record.verdict),
        mode=mode(record.mode),
        purpose=purpose(record.purpose),
        current=record.current and (record.expire_time is None or record.expire_time > now),
        ticket=record.ticket,
        ticket_digest=record.ticket_digest,
        target_ref=record.target_ref,
        base_commit=record.base,
        head_commit=record.head,
        merge_tree=record.merge_tree,
        merge_group=harmless(record.merge_group),
        submitter=principal(record.submitter),
        attempt=record.attempt,
        retry=record.retry,
        progress=verification_pb2.Progress(
            step=record.step,
            step_time=timestamp(record.step_time),
            runs_done=record.runs_done,
            runs_planned=record.runs_planned,
        ),
        repair_brief=harmless(record.repair_brief) if full else "",
        attestation=record.attestation,
        superseded_by=record.superseded_by,
        canceller=principal(record.canceller),
        create_time=timestamp(record.create_time),
        start_time=timestamp(record.start_time),
        end_time=timestamp(record.end_time),
        expire_time=timestamp(record.expire_time),
        diff_digest=record.diff_digest,
    )
    if full and record.report is not None:
        add_report(message, record.report)
        cut_to_size(message)
    return message


def review(record: ReviewRecord) -> review_pb2.Review:
    """A decision as stored; an amended document is the ticket's now."""
    return review_pb2.Review(
        name=record.name,
        kind=review_pb2.Review.Kind.Value(f"KIND_{record.kind}"),
        verification=record.verification,
        ticket_digest=record.ticket_digest,
        diff_digest=record.diff_digest,
        comment=harmless(record.comment),
        waived_fingerprints=record.waived_fingerprints,
        statement_bundle=record.statement_bundle,
        expire_time=timestamp(record.expire_time),
        reviewer=principal(record.reviewer),
        create_time=timestamp(record.create_time),
        attestation=record.attestation,
    )


def attestation(record: AttestationRecord, *, bundle: bool = True) -> attestation_pb2.Attestation:
    """A signed statement."""
    return attestation_pb2.Attestation(
        name=record.name,
        kind=attestation_pb2.Attestation.Kind.Value(f"KIND_{record.kind}"),
        predicate_type=record.predicate_type,
        subject_commit=record.subject_commit,
        target_ref=record.target_ref,
        verdict=verdict(record.verdict),
        mode=mode(record.mode),
        purpose=purpose(record.purpose),
        verification=record.verification,
        current=record.current,
        key_id=record.key_id,
        bundle=record.bundle if bundle else b"",
        create_time=timestamp(record.create_time),
        expire_time=timestamp(record.expire_time),
    )


def artifact(record: ArtifactRecord) -> artifact_pb2.Artifact:
    """An artifact without its content."""
    return artifact_pb2.Artifact(
        name=record.name,
        kind=artifact_pb2.Artifact.Kind.Value(f"KIND_{record.kind}"),
        size_bytes=record.size,
        create_time=timestamp(record.create_time),
        expire_time=timestamp(record.expire_time),
    )


def usage_report(record: UsageRecord) -> usage_report_pb2.UsageReport:
    """What was reported."""
    return usage_report_pb2.UsageReport(
        id=record.id,
        change=record.change,
        verification=record.verification,
        entries=[_usage(e) for e in record.entries],
        reporter=principal(record.reporter),
        create_time=timestamp(record.create_time),
    )


def _usage(entry: Mapping[str, Any]) -> usage_report_pb2.ModelUsage:
    message = usage_report_pb2.ModelUsage(
        model=harmless(entry["model"], newlines=False),
        currency=entry["currency"],
        basis=usage_report_pb2.ModelUsage.Basis.Value(f"BASIS_{entry['basis']}"),
        source=usage_report_pb2.ModelUsage.Source.Value(f"SOURCE_{entry['source']}"),
    )
    for name in ("input_tokens", "output_tokens", "cost_micros"):
        if entry.get(name) is not None:
            setattr(message, name, entry[name])
    return message


def event(record: Event) -> event_pb2.Event:
    """An event."""
    return event_pb2.Event(
        sequence=record.sequence,
        id=record.id,
        source=SOURCE,
        type=record.type,
        subject=record.subject,
        time=timestamp(record.time),
        actor=principal(record.actor),
        data=json.dumps(dict(record.data), ensure_ascii=True, sort_keys=True, allow_nan=False).encode(),
    )


def audit_entry(record: AuditEntry) -> audit_entry_pb2.AuditEntry:
    """A link of the chain; its details byte for byte as hashed."""
    return audit_entry_pb2.AuditEntry(
        sequence=record.sequence,
        time=timestamp(record.time),
        actor=principal(record.actor),
        action=record.action,
        subject=record.subject,
        allowed=record.allowed,
        reason=record.reason,
        details=record.details,
        previous_digest=record.previous_digest,
        digest=record.digest,
    )
