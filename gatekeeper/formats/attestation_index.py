"""The row by which the service finds a statement again. For finding only: whoever enforces verifies the bundle."""

from __future__ import annotations

from typing import Any

from gatekeeper.domain.binding import field, moment
from gatekeeper.domain.records import AttestationRecord
from gatekeeper.domain.statement import APPROVAL, BINDING, RUN, TEST_RESULT, VERDICT
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.formats.sigstore_bundle import MAX_BUNDLE, parse_bundle, strict

_KINDS = {VERDICT: "VERDICT", TEST_RESULT: "TEST_RESULT", APPROVAL: "APPROVAL"}


def index_row(bundle: str, *, repository: str, verification: str, now: float) -> AttestationRecord:
    """The record of one statement. Raises `VerificationRefused` (ATTESTATION_MALFORMED) for what is no statement."""
    envelope = parse_bundle(bundle.encode())
    statement = strict(envelope.payload, "statement", MAX_BUNDLE)
    kind = str(statement.get("predicateType"))
    predicate = statement.get("predicate")
    subjects = statement.get("subject")
    subject = subjects[0] if isinstance(subjects, list) and subjects else {}
    verdict, mode = _text(predicate, BINDING, "verdict"), _text(predicate, BINDING, "mode")
    if kind == TEST_RESULT:
        target = _text(predicate, RUN, "targetRef")
    else:
        target = _text(predicate, BINDING, "targetRef") or _text(predicate, "targetRef")
    return AttestationRecord(
        name=f"{repository}/attestations/{envelope.payload_sha256}",
        kind=_KINDS.get(kind, "OTHER"),
        bundle=bundle.encode(),
        predicate_type=kind,
        subject_commit=_text(subject, "digest", "gitCommit"),
        target_ref=target,
        verification=verification,
        key_id=envelope.keyid,
        create_time=moment(field(predicate, BINDING, "issuedAt")) or moment(field(predicate, "issuedAt")) or now,
        verdict=Verdict(verdict) if verdict in set(Verdict) else None,
        mode=Mode(mode) if mode in set(Mode) else None,
        purpose=_text(predicate, BINDING, "purpose"),
        expire_time=moment(field(predicate, BINDING, "expiresAt")) or moment(field(predicate, "expiresAt")),
    )


def _text(value: Any, *names: str) -> str:
    found = field(value, *names)
    return found if isinstance(found, str) else ""
