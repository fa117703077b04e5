"""The life of one verification in the service: the pipeline between two transactions.

    begin -> pipeline (again after a fault that was not the agent's) -> conclude -> publish

`begin` and `conclude` are steps: they may run twice, and the second time changes nothing. Nothing is signed for a
verification that was cancelled or superseded: the verdict's statement leaves the gate only with `conclude`, which
looks at the state first, in the transaction that stores the verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import finding, from_error, ordered
from gatekeeper.domain.lifecycle import CHANGE_MOVES, ChangeState, TicketState, VerificationState
from gatekeeper.domain.ports import Durable
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.verdict import Blame, Mode, Verdict
from gatekeeper.errors import GatekeeperError
from gatekeeper.records import dataclass, replace
from gatekeeper.workflow.pipeline import crash, step_table, verify
from gatekeeper.workflow.service.conclusion import conclude, give_up, publish
from gatekeeper.workflow.service.moves import move_change, move_verification
from gatekeeper.workflow.service.service import Service
from gatekeeper.workflow.service.standing_reviews import approvals, waivers
from gatekeeper.workflow.tools import Tools

MAX_CLAIM_BYTES = 8 * 1024 * 1024


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
        signed = approvals(tx, service, tools, record)
        excused = waivers(tx, record)
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
        approvals=signed,
        run_id=f"{name.rpartition('/')[2]}-{number}",
        submitter=record.submitter.subject,
        on_behalf_of=record.submitter.on_behalf_of,
        repository_uri=repository.repository_uri or repository.source_uri,
        change=record.change,
        attempt=record.attempt,
        purpose=record.purpose,
        merge_group=record.merge_group,
        waivers=excused,
        ticket_approved=ticket.state is TicketState.APPROVED and newest.digest == ticket.digest,
        bundle=str(bundle) if bundle else None,
    )
    return Work(submission, record.mode, service.clock.now())


def _blob(service: Service, name: str, limit: int) -> bytes | None:
    return service.blobs.read(name.rpartition("/")[2], limit) if name else None


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
