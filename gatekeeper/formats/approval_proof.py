"""Approvals behind a verdict, proven from their own statements: the gate's word that somebody approved is not enough.

Only where the trust file pins reviewers. Without any, an enforcer can verify no approval, and the gate's word stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatekeeper.domain.binding import field
from gatekeeper.domain.statement import BINDING, MAX_PEOPLE
from gatekeeper.domain.trust import Trust
from gatekeeper.errors import VerificationRefused
from gatekeeper.formats.approvals import MAX_BUNDLES, verify_approvals
from gatekeeper.formats.sigstore_bundle import parse_bundle

MAX_APPROVALS = 100


def check_approvals(
    statement: Mapping[str, Any], bundles: Sequence[bytes], trust: Trust, now: float
) -> tuple[str, ...]:
    """Reviewers whose approvals hold, sorted; empty where the verdict rests on none or the trust file pins nobody.

    `statement` is a verdict whose signature, context and authority were checked, `bundles` are all approval statements
    on the commit, unverified. Raises `VerificationRefused`: ATTESTATION_APPROVAL_MISSING, ATTESTATION_APPROVAL_MISMATCH,
    or the code of what is wrong with an approval. A request for changes that a pinned reviewer has not taken back
    refuses the verdict, also one that was made before it.
    """
    if not trust.reviewers:
        return ()
    verdict = field(statement, "predicate", BINDING)
    named = _named(statement, verdict)
    words: dict[str, Any] = {
        "ticket_digest": str(field(verdict, "ticket", "digest", "sha256")),
        "diff_digest": str(field(verdict, "diff", "sha256")),
        "repository": str(field(verdict, "repository", "uri")),
        "target_ref": str(field(verdict, "targetRef")),
        "people": _people(verdict) if named else (),
        "now": now,
    }
    if len(bundles) > MAX_BUNDLES:
        raise VerificationRefused("ATTESTATION_TOO_LARGE", f"More than {MAX_BUNDLES} approvals stand on one commit.")
    _, problems = verify_approvals(bundles, trust, **words)
    for problem in problems:
        if problem.code == "APPROVAL_CHANGES_REQUESTED":
            raise VerificationRefused(problem.code, problem.message)
    at: dict[str, list[bytes]] = {}
    for data in bundles if named else ():
        at.setdefault(_payload(data), []).append(data)
    return tuple(sorted(_one(reviewer, at.get(digest, []), trust, words) for digest, reviewer in named.items()))


def _one(reviewer: str, same: Sequence[bytes], trust: Trust, words: Mapping[str, Any]) -> str:
    """`same` are the envelopes around the payload that the verdict names; a forged one beside the true one is nothing."""
    if not same:
        raise VerificationRefused(
            "ATTESTATION_APPROVAL_MISSING", f"The approval of {reviewer[:120]!r} that the verdict rests on is missing."
        )
    good, bad = verify_approvals(same, trust, **words)
    if bad and not good:
        raise VerificationRefused(bad[0].code, bad[0].message)
    if [a.reviewer for a in good] != [reviewer]:
        raise VerificationRefused(
            "ATTESTATION_APPROVAL_MISMATCH", f"An approval is not of {reviewer[:120]!r}, whom the verdict names."
        )
    return reviewer


def _named(statement: Mapping[str, Any], verdict: Any) -> dict[str, str]:
    """Reviewer by payload digest. What the binding says and what the inputs say must be the same."""

    def differ(why: str) -> VerificationRefused:
        return VerificationRefused("ATTESTATION_APPROVAL_MISMATCH", f"The verdict's approvals are not usable: {why}.")

    rows, inputs = field(verdict, "approvals"), field(statement, "predicate", "inputAttestations")
    if not isinstance(rows, list) or len(rows) > MAX_APPROVALS:
        raise differ("they are missing or too many")
    found: dict[str, str] = {}
    for row in rows:
        digest, reviewer = field(row, "digest", "sha256"), field(row, "reviewer")
        if not isinstance(digest, str) or not isinstance(reviewer, str):
            raise differ("one lacks its reviewer or its digest")
        found[digest] = reviewer
    if len(found) != len(rows) or len({r.strip().casefold() for r in found.values()}) != len(rows):
        raise differ("one of them is named twice")
    used = [field(i, "digest", "sha256") for i in inputs or () if str(field(i, "name")).startswith("approval:")]
    if sorted(map(str, used)) != sorted(found):
        raise differ("those of the binding are not those among its inputs")
    return found


def _people(verdict: Any) -> list[str]:
    """Everybody who wrote or sent the change, as the verdict binds them."""
    authors = field(verdict, "commitAuthors")
    if not isinstance(authors, list) or not authors or not all(isinstance(a, str) for a in authors):
        raise VerificationRefused(
            "ATTESTATION_APPROVAL_MISMATCH", "The verdict does not name who wrote the change, so anybody might have."
        )
    if len(authors) >= MAX_PEOPLE:
        raise VerificationRefused(
            "ATTESTATION_APPROVAL_MISMATCH", f"The verdict names {MAX_PEOPLE} authors, so some may be left out."
        )
    senders = (field(verdict, "submitter"), field(verdict, "onBehalfOf"))
    return [*authors, *(s for s in senders if isinstance(s, str) and s)]


def _payload(data: bytes) -> str:
    try:
        return parse_bundle(data).payload_sha256
    except VerificationRefused:
        return ""
