"""What each kind of review does to a change, once its reviewer may decide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.principal import Caller
from gatekeeper.domain.records import ChangeRecord, ReviewRecord, VerificationRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.domain.statement import approval_statement
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import InputError, RequestRefused
from gatekeeper.formats.attestation_index import index_row
from gatekeeper.formats.resource_names import last_segment, repository_of
from gatekeeper.formats.text_safety import harmless
from gatekeeper.workflow.service.commands import ReviewCommand
from gatekeeper.workflow.service.moves import again, cancel_active, move_change
from gatekeeper.workflow.service.people import stands_too_close
from gatekeeper.workflow.service.repositories import known_repository
from gatekeeper.workflow.service.service import Service, audited, note
from gatekeeper.workflow.service.statements import require_diff_statement
from gatekeeper.workflow.service.tickets import known_ticket, parse_document, revise, void_verdicts

MAX_BRIEF = 64 * 1024
NEVER_WAIVED_CATEGORIES = frozenset({"not_mergeable", "ticket_invalid"})
"""Without a merge result or a plan there is nothing that an exception could be made for."""
NEVER_WAIVED_CODES = frozenset({"GATE_CRASHED", "POLICY_FAILED", "POLICY_UNUSABLE", "POLICY_INPUT_INCOMPLETE"})
"""A fault of the gate is mended, not excused."""


@dataclass
class Act:
    """One decision while it is carried out; `start` and `stop` are told to the queue once it is stored."""

    tx: Transaction
    service: Service
    caller: Caller
    command: ReviewCommand
    change: ChangeRecord
    verification: VerificationRecord | None
    expire_time: float | None
    start: list[str]
    stop: list[str]

    def refuse(self, why: str) -> RequestRefused:
        """The error of a decision that cannot be made now (REVIEW_NOT_POSSIBLE)."""
        return RequestRefused(
            "REVIEW_NOT_POSSIBLE", why, kind=self.command.kind, change=self.change.name, state=self.change.state.value
        )


def approvers(tx: Transaction, change: str, ticket_digest: str, diff_digest: str, now: float) -> list[ReviewRecord]:
    """The approval of each person that holds for this ticket and diff: the last word of everybody counts."""
    last: dict[str, ReviewRecord] = {}
    for review in tx.reviews(change):
        if review.kind in ("APPROVE", "REQUEST_CHANGES"):
            last[review.reviewer.id] = review
    return [
        r
        for r in last.values()
        if r.kind == "APPROVE"
        and r.ticket_digest == ticket_digest
        and r.diff_digest == diff_digest
        and (r.expire_time is None or r.expire_time > now)
    ]


def _require_current(act: Act) -> VerificationRecord:
    """The verdict that counts now, on the ticket and the diff that the reviewer saw."""
    found, command = act.verification, act.command
    if found is None or found.verdict is None:
        raise act.refuse("There is no verdict to decide on.")
    if not found.current or (found.expire_time is not None and found.expire_time <= act.service.clock.now()):
        raise RequestRefused(
            "VERIFICATION_NOT_CURRENT", "The verdict does not count any more; wait for the next.", name=found.name
        )
    _require_frozen(act, found, command.ticket_digest)
    if not found.diff_digest or command.diff_digest != found.diff_digest:
        raise RequestRefused(
            "DIFF_CHANGED", "The diff is not the one that was looked at.", diff_digest=found.diff_digest
        )
    return found


def _require_frozen(act: Act, found: VerificationRecord, seen: str | None = None) -> None:
    """Raises `RequestRefused` (TICKET_CHANGED) unless what was judged is the ticket approved now, and the one seen."""
    ticket = known_ticket(act.tx, act.change.ticket)
    frozen = ticket.state is TicketState.APPROVED and ticket.digest == found.ticket_digest
    if not frozen or (seen is not None and seen != found.ticket_digest):
        raise RequestRefused(
            "TICKET_CHANGED",
            "The ticket is not the one that was looked at, or is approved no more.",
            digest=ticket.digest,
        )


def _approve(act: Act, record: ReviewRecord) -> ChangeRecord:
    found = act.verification
    taken_back = _refused_by_people_alone(found)
    if found is None or (found.verdict in (None, Verdict.REJECTED, Verdict.UNDECIDED) and not taken_back):
        said = (
            "there is no verdict" if found is None or found.verdict is None else f"the verdict is {found.verdict.value}"
        )
        raise act.refuse(f"Nothing can be approved while {said}.")
    found = _require_current(act)
    if act.change.state is not ChangeState.HUMAN_DECISION_NEEDED and not taken_back:
        raise act.refuse(f"{act.change.name} is {act.change.state.value}; no decision is asked for.")
    if act.command.statement_bundle:
        repository = known_repository(act.tx, repository_of(act.change.name))
        require_diff_statement(act.service, act.command.statement_bundle, act.caller, act.change, found, repository)
    elif act.service.statements_required:
        raise RequestRefused(
            "STATEMENT_REQUIRED", "An approval here needs your own signed statement.", field="review.statement_bundle"
        )
    now = act.service.clock.now()
    others = approvers(act.tx, act.change.name, record.ticket_digest, record.diff_digest, now)
    if any(r.reviewer.id != record.reviewer.id and stands_too_close(act.caller, [r.reviewer]) for r in others):
        raise act.refuse("You approved this already, with another credential; another person is needed.")
    people = {r.reviewer.id for r in others} | {record.reviewer.id}
    wanted = max([1, *(_count(n) for n in act.change.needs)])
    if len(people) < wanted:
        return _answer(act, ChangeState.HUMAN_DECISION_NEEDED, act.change.state_reason)
    return _decide_again(act, found, "approved")


def _refused_by_people_alone(found: VerificationRecord | None) -> bool:
    """True where nothing but a reviewer's request for changes rejects the diff: whoever made it can take it back."""
    if found is None or found.verdict is not Verdict.REJECTED:
        return False
    rows = (found.report or {}).get("findings", ())
    return {r.get("code") for r in rows if r.get("effect") == "blocks"} == {"APPROVAL_CHANGES_REQUESTED"}


def _request_changes(act: Act, record: ReviewRecord) -> ChangeRecord:
    _require_comment(act)
    if act.change.state not in (ChangeState.HUMAN_DECISION_NEEDED, ChangeState.MERGEABLE):
        raise act.refuse(f"{act.change.name} is {act.change.state.value}; the agent is at work already.")
    found = act.verification
    if found is not None:
        said = f"{record.reviewer.subject} asks for changes:\n{record.comment}"
        # What the gate said beside a question to people is answered now.
        old = found.repair_brief if found.verdict is Verdict.REJECTED else ""
        brief = "\n\n".join(t for t in (harmless(said), old) if t)
        act.tx.save_verification(replace(found, repair_brief=_cut(brief), current=False))
        _retire(act, found)
        # Where a question was answered so before the verdict: what still runs is for a diff that is not wanted.
        act.stop += cancel_active(act.tx, act.service, act.change.name, act.caller.principal)
        _sign_refusal(act, found, record)
    return _answer(act, ChangeState.VERIFICATION_FAILED, "changes_requested")


def _sign_refusal(act: Act, found: VerificationRecord, record: ReviewRecord) -> None:
    """A verdict that was handed out cannot be taken back; a signed refusal beside it outweighs it where the desk is
    pinned for the reviewer.
    """
    if act.service.desk is None or not found.diff_digest:
        return
    repository = known_repository(act.tx, repository_of(act.change.name))
    signed = act.service.desk.sign(
        approval_statement(
            reviewer=record.reviewer.subject,
            decision="request_changes",
            repository=repository.repository_uri or repository.source_uri,
            target_ref=found.target_ref,
            ticket_digest=found.ticket_digest,
            diff_digest=found.diff_digest,
            head=found.head,
            issued_at=record.create_time,
            expires_at=record.create_time + act.service.limits.refusal_life_s,
            reason="decided at the gate's API",
        )
    )
    row = index_row(signed.bundle, repository=repository.name, verification=found.name, now=record.create_time)
    act.tx.add_attestation(row)


def _amend(act: Act, record: ReviewRecord) -> ChangeRecord:
    if not act.command.amended_ticket:
        raise InputError(
            "INPUT_MALFORMED",
            "The field review.amended_ticket must hold the new ticket document.",
            field="review.amended_ticket",
        )
    ticket = known_ticket(act.tx, act.change.ticket)
    if act.command.ticket_digest and act.command.ticket_digest != ticket.digest:
        raise RequestRefused(
            "TICKET_CHANGED", f"{ticket.name} has the digest {ticket.digest} now.", digest=ticket.digest
        )
    parsed = parse_document(act.command.amended_ticket, last_segment(ticket.name))
    reviewer = record.reviewer
    revised = revise(act.tx, act.service, ticket, act.command.amended_ticket, parsed.digest, reviewer)
    approved = replace(
        revised, state=TicketState.APPROVED, decider=reviewer, decision_comment=act.command.comment[:4096]
    )
    act.tx.save_ticket(approved)
    act.stop += void_verdicts(act.tx, act.service, ticket, act.caller.principal, sparing=act.change.name)
    data = {"digest": approved.digest, "revision": approved.revision}
    for verb, past in (("amend", "amended"), ("approve", "approved")):
        audited(act.tx, act.service, act.caller.principal, f"ticket.{verb}", ticket.name, **data)
        note(act.tx, act.service, f"ticket.{past}", ticket.name, act.caller.principal, data)
    if act.verification is None:
        return _answer(act, ChangeState.VERIFICATION_FAILED, "ticket_amended")
    past_run = replace(act.verification, ticket_digest=approved.digest)
    return _decide_again(act, past_run, "ticket_amended", verdict=None)


def _waive(act: Act, record: ReviewRecord) -> ChangeRecord:
    _require_comment(act)
    wanted = record.waived_fingerprints
    if not wanted:
        raise InputError(
            "INPUT_MALFORMED",
            "The field review.waived_fingerprints must name 1 to 100 findings.",
            field="review.waived_fingerprints",
        )
    found = _require_current(act)
    if found.verdict is Verdict.ACCEPTED:
        raise act.refuse("The verdict is accepted; there is nothing to waive.")
    rows = {str(f.get("fingerprint")): f for f in (found.report or {}).get("findings", ())}
    for fingerprint in wanted:
        row = rows.get(fingerprint)
        if row is None:
            raise RequestRefused(
                "FINDING_UNKNOWN", f"The verification has no finding {fingerprint}.", fingerprint=fingerprint
            )
        if row.get("category") in NEVER_WAIVED_CATEGORIES or row.get("code") in NEVER_WAIVED_CODES:
            raise RequestRefused(
                "WAIVER_REFUSED",
                f"No waiver may cover {row.get('code')}.",
                fingerprint=fingerprint,
                finding_code=row.get("code"),
            )
    return _decide_again(act, found, "waived")


def _retry(act: Act, record: ReviewRecord) -> ChangeRecord:
    del record
    found = act.verification
    cancelled = found is not None and found.state is VerificationState.CANCELLED
    if found is None or not (cancelled or found.verdict is Verdict.UNDECIDED):
        raise act.refuse("Only what could not be checked, or was cancelled, is tried again.")
    _require_frozen(act, found)
    return _decide_again(act, found, "retry")


def _abandon(act: Act, record: ReviewRecord) -> ChangeRecord:
    del record
    _require_comment(act)
    act.stop += cancel_active(act.tx, act.service, act.change.name, act.caller.principal)
    if act.verification is not None:
        _retire(act, act.verification)
    return _answer(act, ChangeState.DECLINED, "declined")


DECISIONS = {
    "APPROVE": _approve,
    "REQUEST_CHANGES": _request_changes,
    "AMEND_TICKET": _amend,
    "WAIVE": _waive,
    "RETRY": _retry,
    "ABANDON": _abandon,
}
"""By kind: each checks what it needs, and moves the change. The caller stores the review."""


def _decide_again(act: Act, past: VerificationRecord, reason: str, **fields: Any) -> ChangeRecord:
    new = again(act.tx, act.service, past, act.caller.principal, reason)
    act.start.append(new.name)
    return _answer(act, ChangeState.QUEUED, reason, latest_verification=new.name, **fields)


def _answer(act: Act, state: ChangeState, reason: str, **fields: Any) -> ChangeRecord:
    """Move the change; whatever a person decides answers the open questions."""
    questions = tuple(replace(q, answered=True) for q in act.change.questions)
    return move_change(
        act.tx, act.service, act.change, state, act.caller.principal, reason=reason, questions=questions, **fields
    )


def _retire(act: Act, found: VerificationRecord) -> None:
    # A name that no verification has: every verdict of the change is "another" one.
    act.tx.retire_verdicts(replace(found, name=f"{found.change}/verifications/-"))


def _require_comment(act: Act) -> None:
    if not act.command.comment.strip():
        raise InputError("INPUT_MALFORMED", "The field review.comment must say why.", field="review.comment")


def _count(need: Any) -> int:
    count = need.get("count", 1)
    return count if isinstance(count, int) and count > 0 else 1


def _cut(text: str) -> str:
    data = text.encode("utf-8", "replace")
    return text if len(data) <= MAX_BRIEF else data[:MAX_BRIEF].decode("utf-8", "ignore")
