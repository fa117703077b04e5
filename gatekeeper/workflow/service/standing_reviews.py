"""Which decisions of reviewers stand for a submission when its verification begins."""

from __future__ import annotations

from gatekeeper.domain.records import Page, ReviewRecord, VerificationRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.domain.statement import approval_statement
from gatekeeper.domain.submission import Waiver
from gatekeeper.workflow.service.service import Service
from gatekeeper.workflow.tools import Tools

MAX_CHANGES = 200
"""Newest changes of a ticket whose reviews are looked at."""


def approvals(tx: Transaction, service: Service, tools: Tools, record: VerificationRecord) -> tuple[bytes, ...]:
    """Statements of those who decided on this ticket: their own, else the desk's word that they did so at the API.

    Which diff they saw is in the statement and is compared when the verdict is made. A request for changes goes along,
    so that sending the same diff again does not get past it.
    """
    now = service.clock.now()
    found: list[bytes] = []
    for review, seen in _decisions(tx, record):
        # A request for changes need not name the digests; it is about what was looked at.
        diff = review.diff_digest if review.kind == "APPROVE" or seen is None else seen.diff_digest
        ticket = review.ticket_digest if review.kind == "APPROVE" or seen is None else seen.ticket_digest
        if ticket != record.ticket_digest:
            continue
        if review.statement_bundle:
            found.append(review.statement_bundle)
            continue
        repository = tx.repository(record.change.partition("/changes/")[0])
        if repository is None or seen is None or not diff or tools.desk is None:
            continue
        # Never the gate's own key: a gate must not approve what it judges.
        signed = tools.desk.sign(
            approval_statement(
                reviewer=review.reviewer.subject,
                decision="approve" if review.kind == "APPROVE" else "request_changes",
                repository=repository.repository_uri or repository.source_uri,
                target_ref=record.target_ref,
                ticket_digest=ticket,
                diff_digest=diff,
                head=seen.head,
                issued_at=review.create_time,
                expires_at=review.expire_time or now + service.limits.approval_life_s,
                reason="decided at the gate's API",
            )
        )
        found.append(signed.bundle.encode())
    return tuple(found)


def _decisions(tx: Transaction, record: VerificationRecord) -> list[tuple[ReviewRecord, VerificationRecord | None]]:
    """Each person's last word where it is an approval of this change, and their last one on every diff where it asks for
    changes, whatever change of the ticket it was said of: another key or another diff in between takes nothing back.
    """
    others = tx.changes(record.repository, Page(MAX_CHANGES), ticket=record.ticket)[:MAX_CHANGES]
    names = {record.change, *(c.name for c in others)}
    reviews = sorted((r for name in names for r in tx.reviews(name)), key=lambda r: (r.create_time, r.name))
    last: dict[str, ReviewRecord] = {}
    words: dict[tuple[str, str], tuple[ReviewRecord, VerificationRecord | None]] = {}
    for review in reviews:
        if review.kind not in ("APPROVE", "REQUEST_CHANGES"):
            continue
        seen = tx.verification(review.verification, report=False) if review.verification else None
        words[review.reviewer.id, seen.diff_digest if seen else ""] = review, seen
        if review.change == record.change:
            last[review.reviewer.id] = review
    # Requests for changes first: of too many statements the last ones are left out.
    rows = sorted(words.values(), key=lambda row: row[0].kind, reverse=True)
    return [(r, v) for r, v in rows if r.kind == "REQUEST_CHANGES" or last.get(r.reviewer.id) is r]


def waivers(tx: Transaction, record: VerificationRecord) -> tuple[Waiver, ...]:
    """Exceptions that reviewers granted on this change, with an end."""
    return tuple(
        Waiver(fingerprint, r.ticket_digest, r.diff_digest, r.reviewer.subject, r.expire_time)
        for r in tx.reviews(record.change)
        if r.kind == "WAIVE" and r.expire_time is not None
        for fingerprint in r.waived_fingerprints
    )
