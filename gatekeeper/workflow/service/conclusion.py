"""The end of a verification in the service: verdict, change, statements and event in one transaction; then publishing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import finding, ordered
from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState, after_verdict
from gatekeeper.domain.records import AttestationRecord, VerificationRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import GatekeeperError
from gatekeeper.formats.attestation_index import index_row
from gatekeeper.formats.repair_brief import repair_brief
from gatekeeper.formats.report_json import document
from gatekeeper.workflow.service.moves import move_change, move_verification
from gatekeeper.workflow.service.service import Service, audited, note
from gatekeeper.workflow.tools import Tools

MAX_BUNDLE_FINDINGS = 1000
"""Findings kept in the stored report; reasons are never left out."""


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
        verdict_name = f"{record.repository}/attestations/{attested['payload_sha256']}" if attested else ""
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


def _statements(service: Service, record: VerificationRecord, outcome: Outcome) -> Sequence[AttestationRecord]:
    bundles = outcome.attestation["bundles"] if outcome.attestation else ()
    return [
        index_row(bundle, repository=record.repository, verification=record.name, now=service.clock.now())
        for bundle in bundles
    ]


def publish(service: Service, tools: Tools, name: str, outcome: Outcome) -> None:
    """Put the statements where hooks look. A failure is recorded: the verdict is in the gate and can be fetched."""
    with service.records.reading() as tx:
        record = tx.verification(name, report=False)
        repository = tx.repository(record.repository) if record else None
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
