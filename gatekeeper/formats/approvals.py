"""Approvals of reviewers: signed statements verified against the operator's trust file. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from gatekeeper.domain.binding import field, moment
from gatekeeper.domain.decision import Approval
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.statement import APPROVAL, STATEMENT
from gatekeeper.domain.trust import Trust, same_repository
from gatekeeper.errors import VerificationRefused
from gatekeeper.formats.canonical_json import canonical
from gatekeeper.formats.dsse import Envelope
from gatekeeper.formats.signatures import verified
from gatekeeper.formats.sigstore_bundle import MAX_BUNDLE, parse_bundle, strict

MAX_BUNDLES = 200


def verify_approvals(
    bundles: Sequence[bytes],
    trust: Trust,
    *,
    ticket_digest: str,
    diff_digest: str,
    repository: str,
    target_ref: str,
    people: Iterable[str],
    now: float,
) -> tuple[tuple[Approval, ...], tuple[Finding, ...]]:
    """Approvals that count, and findings about the others.

    `people` are addresses of everybody who wrote, committed, co-wrote or submitted the change: none can approve it. Of
    several answers of one reviewer the newest holds; a refusal that holds blocks. Bundles that hold other statements
    are passed over. A bad approval is advice: it takes nothing away from the good ones.
    """
    barred = {p.strip().casefold() for p in people}
    newest: dict[str, tuple[float, bool, Approval]] = {}
    problems: list[Finding] = []
    for number, data in enumerate(bundles[:MAX_BUNDLES]):
        try:
            envelope = parse_bundle(data)
            if not _is_approval(envelope):
                continue
            answer = _answer(data, envelope, trust, ticket_digest, diff_digest, repository, target_ref, barred, now)
        except VerificationRefused as error:
            code = error.code if error.code.startswith("APPROVAL_") else "APPROVAL_MALFORMED"
            if error.code in ("ATTESTATION_UNKNOWN_KEY", "ATTESTATION_SIGNATURE_INVALID"):
                code = "APPROVAL_UNKNOWN_KEY"
            problems.append(finding(code, error.message, key=f"{number}:{error.message}"))
            continue
        who = answer[2].reviewer.casefold()
        # At the same second the refusal holds.
        if who not in newest or (answer[0], not answer[1]) > (newest[who][0], not newest[who][1]):
            newest[who] = answer
    approvals = []
    for _, approves, approval in newest.values():
        if approves:
            approvals.append(approval)
        else:
            problems.append(
                finding(
                    "APPROVAL_CHANGES_REQUESTED", f"The reviewer {approval.reviewer} asks for changes to this diff."
                )
            )
    return tuple(sorted(approvals, key=lambda a: a.reviewer)), tuple(problems)


def looks_like_approval(data: bytes) -> bool:
    """True for a bundle that holds a statement of the approval's type; nothing is verified."""
    try:
        return _is_approval(parse_bundle(data))
    except VerificationRefused:
        return False


def reviewers_named(bundles: Sequence[bytes]) -> tuple[str, ...]:
    """Reviewers that the statements name, sorted; nothing is verified."""
    names: set[str] = set()
    for data in bundles[:MAX_BUNDLES]:
        try:
            name = field(strict(parse_bundle(data).payload, "statement", MAX_BUNDLE), "predicate", "reviewer")
        except VerificationRefused:
            continue
        if isinstance(name, str):
            names.add(name)
    return tuple(sorted(names))


def _is_approval(envelope: Envelope) -> bool:
    # Only for leaving out the gate's own statements stored beside; nothing is believed before the signature.
    return strict(envelope.payload, "statement", MAX_BUNDLE).get("predicateType") == APPROVAL


def _answer(
    data: bytes,
    envelope: Envelope,
    trust: Trust,
    ticket_digest: str,
    diff_digest: str,
    repository: str,
    target_ref: str,
    barred: set[str],
    now: float,
) -> tuple[float, bool, Approval]:
    key, statement = verified(envelope, [r.key for r in trust.reviewers])

    def refused(code: str, message: str) -> VerificationRefused:
        return VerificationRefused(code, message)

    def text(*names: str) -> Any:
        return field(statement, "predicate", *names)

    if statement.get("_type") != STATEMENT:
        raise refused("APPROVAL_MALFORMED", "The approval is not an in-toto statement.")
    named = [r.principal for r in trust.reviewers if r.key.der == key.der]
    reviewer = text("reviewer")
    if not isinstance(reviewer, str) or reviewer.casefold() not in {n.casefold() for n in named}:
        raise refused("APPROVAL_UNKNOWN_KEY", "The approval's key does not belong to the reviewer it names.")
    if reviewer.strip().casefold() in barred:
        raise refused("APPROVAL_SELF", f"{reviewer} wrote, committed or submitted this change and cannot approve it.")
    uri = text("repository", "uri")
    if not isinstance(uri, str) or not same_repository(uri, repository):
        raise refused("APPROVAL_OTHER_REPOSITORY", "The approval is for another repository.")
    if text("targetRef") != target_ref:
        raise refused("APPROVAL_OTHER_BRANCH", f"The approval is not for {target_ref}.")
    if text("ticket", "sha256") != ticket_digest:
        raise refused("APPROVAL_OTHER_TICKET", "The approval is for another ticket, or the ticket was edited since.")
    if text("diff", "sha256") != diff_digest:
        raise refused("APPROVAL_OTHER_DIFF", "The approval is for another diff.")
    issued, expires = moment(text("issuedAt")), moment(text("expiresAt"))
    if issued is None or expires is None:
        raise refused("APPROVAL_MALFORMED", "The approval lacks its times.")
    if issued > now + trust.clock_skew_s:
        raise refused("APPROVAL_FROM_FUTURE", "The approval was signed in the future; a clock is wrong.")
    if expires <= now:
        raise refused("APPROVAL_EXPIRED", "The approval has expired.")
    decision = text("decision")
    if decision not in ("approve", "request_changes"):
        raise refused("APPROVAL_MALFORMED", "The approval's decision is neither approve nor request_changes.")
    approval = Approval(
        reviewer,
        key.fingerprint,
        ticket_digest,
        diff_digest,
        envelope.payload_sha256,
        expires_at=expires,
        bundle=canonical(strict(data, "approval", MAX_BUNDLE)).decode("utf-8"),
    )
    return issued, decision == "approve", approval
