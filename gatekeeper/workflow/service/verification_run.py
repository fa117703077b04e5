"""The life of one verification in the service: the pipeline between two transactions.

    begin -> pipeline (again after a fault that was not the agent's) -> conclude -> publish

`begin` and `conclude` are steps: they may run twice, and the second time changes nothing. Nothing is signed for a
verification that was cancelled or superseded: the verdict's statement leaves the gate only with `conclude`, which
looks at the state first, in the transaction that stores the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import finding, from_error, ordered
from gatekeeper.domain.lifecycle import CHANGE_MOVES, ChangeState, TicketState, VerificationState, after_verdict
from gatekeeper.domain.ports import Durable
from gatekeeper.domain.records import AttestationRecord, Page, ReviewRecord, VerificationRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.domain.statement import approval_statement
from gatekeeper.domain.submission import Submission, Waiver
from gatekeeper.domain.verdict import Blame, Mode, Verdict
from gatekeeper.errors import GatekeeperError
from gatekeeper.formats.attestation_index import index_row
from gatekeeper.formats.repair_brief import repair_brief
from gatekeeper.formats.report_json import document
from gatekeeper.workflow.pipeline import crash, step_table, verify
from gatekeeper.workflow.service.moves import move_change, move_verification
from gatekeeper.workflow.service.service import Service, audited, note
from gatekeeper.workflow.tools import Tools

MAX_CLAIM_BYTES = 8 * 1024 * 1024
MAX_CHANGES = 200
"""Newest changes of a ticket whose reviews are looked at."""
MAX_BUNDLE_FINDINGS = 1000
"""Findings kept in the stored report; reasons are never left out."""


@dataclass(frozen=True)
class RunSettings:
    """How the service runs verifications."""

    environment: str = "auto"
    retries: int = 1
    """How often the gate tries again after a fault that was not the agent's."""
    publish: bool = False
    """True: signed statements also go to the repository's notes, where hooks look."""


@dataclass(frozen=True)
class Work:
    """What is to be verified."""

    submission: Submission
    mode: Mode
    started: float


def steps(service: Service, tools: Tools, settings: RunSettings) -> dict[str, Callable[..., Any]]:
    """The steps by name: the pipeline's, and those of this module."""
    return {
        **step_table(tools),
        "begin": partial(begin, service, tools, settings),
        "retry": partial(retry, service),
        "conclude": partial(conclude, service),
        "publish": partial(publish, service, tools),
    }


def run(durable: Durable, name: str, settings: RunSettings) -> None:
    """Verify one submission to a final state. Whatever goes wrong is an undecided verdict, never a lost one."""
    work: Work | None = durable.step("begin", name, 0)
    if work is None:
        return
    outcome = _verified(durable, work)
    for number in range(1, settings.retries + 1):
        if not _worth_a_retry(outcome):
            break
        durable.step("retry", name, number)
        again: Work | None = durable.step("begin", name, number)
        if again is None:
            return
        outcome = _verified(durable, again)
    stored: bool = durable.step("conclude", name, outcome)
    if stored and settings.publish and outcome.attestation:
        durable.step("publish", name, outcome)


def _verified(durable: Durable, work: Work) -> Outcome:
    try:
        outcome = verify(durable, work.submission, mode=work.mode, started=work.started)
    except GatekeeperError as error:
        # A head or branch that is not there: for a caller on a command line a usage fault, here a verdict.
        outcome = _undecided(work, error)
    return replace(outcome, timings_ms=dict(durable.timings_ms))


def _undecided(work: Work, error: Exception) -> Outcome:
    reason = from_error(error) if isinstance(error, GatekeeperError) else crash(error)
    if reason.code in _TO_DO:
        reason = replace(reason, next_action=_TO_DO[reason.code])
    found = [reason]
    verdict = Verdict.UNDECIDED
    if reason.blame is Blame.CHANGE:
        verdict = Verdict.REJECTED
    elif reason.category != "could_not_check":
        found.append(finding("GATE_CRASHED", "The verification ended before anything could be judged."))
    return Outcome(
        verdict=verdict,
        mode=work.mode,
        findings=ordered(found),
        run_id=work.submission.run_id,
        head=work.submission.head,
    )


_TO_DO = {
    "HEAD_NOT_FOUND": "Push the commit to where the gate fetches from, or send it as a bundle, then submit again.",
}
"""What to do where the fault of a command line is a verdict of the service."""


def _worth_a_retry(outcome: Outcome) -> bool:
    """Undecided by a fault of gate or environment: another try may find it gone. One of the change will not go away."""
    return outcome.verdict is Verdict.UNDECIDED and any(
        f.category == "could_not_check" and f.blame is not Blame.CHANGE for f in outcome.findings
    )


def begin(service: Service, tools: Tools, settings: RunSettings, name: str, number: int) -> Work | None:
    """Gather what is to be verified and say that it runs. None where it is final already."""
    with service.records.transaction() as tx:
        record = tx.verification(name)
        if record is None or record.state.final:
            return None
        if record.state is VerificationState.QUEUED:
            record = move_verification(
                tx, service, record, VerificationState.RUNNING, None, start_time=service.clock.now()
            )
            change = tx.change(record.change)
            # A question that was asked while it waited keeps calling its person.
            waits = change is not None and ChangeState.RUNNING in CHANGE_MOVES[change.state]
            if change is not None and waits and change.latest_verification == name:
                move_change(tx, service, change, ChangeState.RUNNING, None)
        repository = tx.repository(record.change.partition("/changes/")[0])
        ticket = tx.ticket(record.ticket, record.ticket_digest)
        newest = tx.ticket(record.ticket)
        approvals = _approvals(tx, service, tools, record)
        waivers = _waivers(tx, record)
    if repository is None or ticket is None or newest is None:
        raise AssertionError(f"{name} has no repository or ticket")
    claim = _blob(service, record.claim_artifact, MAX_CLAIM_BYTES)
    bundle = service.blobs.path(record.bundle_artifact.rpartition("/")[2]) if record.bundle_artifact else None
    submission = Submission(
        repository=repository.source_uri,
        target_ref=record.target_ref,
        head=record.head,
        ticket=ticket.document,
        claim=claim,
        environment=settings.environment,
        approvals=approvals,
        run_id=f"{name.rpartition('/')[2]}-{number}",
        submitter=record.submitter.subject,
        on_behalf_of=record.submitter.on_behalf_of,
        repository_uri=repository.repository_uri or repository.source_uri,
        change=record.change,
        attempt=record.attempt,
        purpose=record.purpose,
        merge_group=record.merge_group,
        waivers=waivers,
        ticket_approved=ticket.state is TicketState.APPROVED and newest.digest == ticket.digest,
        bundle=str(bundle) if bundle else None,
    )
    return Work(submission, record.mode, service.clock.now())


def _blob(service: Service, name: str, limit: int) -> bytes | None:
    return service.blobs.read(name.rpartition("/")[2], limit) if name else None


def _approvals(tx: Transaction, service: Service, tools: Tools, record: VerificationRecord) -> tuple[bytes, ...]:
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
    others = tx.changes(_repository_of(record), Page(MAX_CHANGES), ticket=record.ticket)[:MAX_CHANGES]
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


def _waivers(tx: Transaction, record: VerificationRecord) -> tuple[Waiver, ...]:
    return tuple(
        Waiver(fingerprint, r.ticket_digest, r.diff_digest, r.reviewer.subject, r.expire_time)
        for r in tx.reviews(record.change)
        if r.kind == "WAIVE" and r.expire_time is not None
        for fingerprint in r.waived_fingerprints
    )


def retry(service: Service, name: str, number: int) -> None:
    """Count a repetition of the gate's own."""
    with service.records.transaction() as tx:
        record = tx.verification(name)
        if record is None or record.state.final or record.retry >= number:
            return
        move_verification(tx, service, record, VerificationState.RUNNING, None, reason="retry", retry=number)


def progress(service: Service, name: str, state: str, detail: Mapping[str, Any]) -> None:
    """Tell watchers how far a verification is. `ended` in `detail` counts up.

    After a restart, and when the gate tries again, all is told once more from RUNNING on: it counts anew there.
    """
    with service.records.transaction() as tx:
        record = tx.verification(name)
        if record is None or record.state.final:
            return
        planned = int(detail.get("runs", 0)) if state in ("RUNNING", "CONTROL") else 0
        planned_before, done_before = (0, 0) if state == "RUNNING" else (record.runs_planned, record.runs_done)
        whole = planned_before + planned
        tx.save_verification(
            replace(
                record,
                step=STEP_WORDS.get(state, record.step),
                step_time=service.clock.now() if state in STEP_WORDS else record.step_time,
                runs_planned=whole,
                runs_done=min(whole, done_before + int(detail.get("ended", 0))),
            )
        )


STEP_WORDS = {
    "INTAKE": "intake",
    "CHECKOUT": "checkout",
    "PLAN": "plan",
    "RUNNING": "rerun",
    "CONTROL": "control",
    "DECIDE": "decide",
    "ATTEST": "attest",
}


def conclude(service: Service, name: str, outcome: Outcome) -> bool:
    """Store the verdict, its statements and what they lead to, in one transaction. False where it is final already."""
    with service.records.transaction() as tx:
        record = tx.verification(name)
        if record is None or record.state.final:
            return False
        change = tx.change(record.change)
        ticket = tx.ticket(record.ticket)
        if change is None or ticket is None:
            raise AssertionError(f"{name} has no change or ticket")
        frozen = ticket.digest == record.ticket_digest and ticket.state is TicketState.APPROVED
        newest = change.latest_verification == name
        attested = outcome.attestation or {}
        rows = _statements(service, record, outcome)
        verdict_name = f"{_repository_of(record)}/attestations/{attested['payload_sha256']}" if attested else ""
        current = bool(frozen and newest and not change.state.final)
        if current:
            tx.retire_verdicts(record)
        stored = move_verification(
            tx,
            service,
            record,
            VerificationState.DECIDED,
            None,
            verdict=outcome.verdict,
            current=current,
            base=outcome.base or "",
            merge_tree=outcome.merge_tree or "",
            diff_digest=outcome.diff_digest,
            people=outcome.people,
            report=_report(outcome),
            repair_brief=repair_brief(outcome, attempt=record.attempt),
            attestation=verdict_name,
            expire_time=attested.get("expires_at"),
        )
        for row in rows:
            tx.add_attestation(replace(row, current=current and row.current))
        audited(
            tx,
            service,
            None,
            "verification.decide",
            name,
            verdict=outcome.verdict.value,
            head=record.head,
            base=outcome.base,
            codes=sorted({f.code for f in outcome.findings if f.effect.value != "advises"}),
            attestation=attested.get("payload_sha256"),
        )
        if newest and not change.state.final:
            _follow(tx, service, change.name, stored, outcome, frozen=frozen)
    return True


def _follow(
    tx: Transaction, service: Service, name: str, record: VerificationRecord, outcome: Outcome, *, frozen: bool
) -> None:
    change = tx.change(name)
    assert change is not None
    state, reason = after_verdict(outcome.verdict, bool(change.open_questions)), ""
    if not frozen and state is ChangeState.MERGEABLE:
        state, reason = ChangeState.HUMAN_DECISION_NEEDED, "TICKET_CHANGED"
    elif state is ChangeState.HUMAN_DECISION_NEEDED:
        primary = next((f.code for f in outcome.findings if f.primary), "")
        reason = "QUESTION_OPEN" if outcome.verdict is Verdict.ACCEPTED else primary
    # A repetition of the gate's own is never an attempt of the agent.
    counted = outcome.verdict is Verdict.REJECTED and not record.reason
    move_change(
        tx,
        service,
        change,
        state,
        None,
        reason=reason,
        verdict=outcome.verdict,
        tier=outcome.plan.tier.value if outcome.plan else change.tier,
        needs=tuple({"cause": n.cause, "role": n.role, "count": n.count} for n in outcome.needs),
        attempts_used=change.attempts_used + (1 if counted else 0),
    )


def _report(outcome: Outcome) -> dict[str, Any]:
    report = document(outcome)
    del report["brief"]  # kept beside it, and with the attempt's number
    attested = report["attestation"]
    if attested:
        # The statements are kept once, as attestations.
        report["attestation"] = {k: v for k, v in attested.items() if k != "bundles"}
    if len(report["findings"]) > MAX_BUNDLE_FINDINGS:
        report["findings_omitted"] = len(report["findings"]) - MAX_BUNDLE_FINDINGS
        report["findings"] = report["findings"][:MAX_BUNDLE_FINDINGS]
    return report


def _repository_of(record: VerificationRecord) -> str:
    return record.change.partition("/changes/")[0]


def _statements(service: Service, record: VerificationRecord, outcome: Outcome) -> Sequence[AttestationRecord]:
    bundles = outcome.attestation["bundles"] if outcome.attestation else ()
    return [
        index_row(bundle, repository=_repository_of(record), verification=record.name, now=service.clock.now())
        for bundle in bundles
    ]


def publish(service: Service, tools: Tools, name: str, outcome: Outcome) -> None:
    """Put the statements where hooks look. A failure is recorded: the verdict is in the gate and can be fetched."""
    with service.records.reading() as tx:
        record = tx.verification(name, report=False)
        repository = tx.repository(_repository_of(record)) if record else None
    if record is None or repository is None or not record.current or not outcome.attestation:
        return
    what, data = "verification.published", {"head": record.head}
    try:
        data["where"] = tools.store.put(repository.source_uri, record.head, outcome.attestation["bundles"])
    except GatekeeperError as error:
        what, data["code"] = "verification.publish_failed", error.code
    with service.records.transaction() as tx:
        note(tx, service, what, name, None, data)


def give_up(service: Service, name: str, why: str) -> None:
    """Decide what could not be run to an end: undecided, blame gate."""
    with service.records.reading() as tx:
        record = tx.verification(name, report=False)
    if record is not None:
        found = finding("GATE_CRASHED", why)
        conclude(
            service,
            name,
            Outcome(Verdict.UNDECIDED, record.mode, ordered([found]), run_id="", head=record.head),
        )


def waiting(service: Service) -> list[tuple[str, str]]:
    """(name, whose turn it takes) of all that is queued, oldest first."""
    with service.records.reading() as tx:
        rows = tx.active_verifications()
    return [(r.name, r.submitter.id) for r in rows if r.state is VerificationState.QUEUED]


def running(service: Service) -> list[str]:
    """Names of all that was begun and is not final, oldest first."""
    with service.records.reading() as tx:
        rows = tx.active_verifications()
    return [r.name for r in rows if r.state is VerificationState.RUNNING]


__all__ = [
    "RunSettings",
    "begin",
    "conclude",
    "give_up",
    "progress",
    "publish",
    "retry",
    "run",
    "running",
    "steps",
    "waiting",
]
