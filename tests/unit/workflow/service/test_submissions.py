"""Submit and cancel: what is taken, what is refused with nothing stored, and what a newer head does to an older one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from api_server import HEAD, REPOSITORY, TICKET, decide, document, make_service
from service_acts import (
    AGENT,
    OPERATOR,
    OTHER,
    RITA,
    ROBOT,
    caller,
    change_of,
    code,
    event_types,
    judged,
    refusals,
    request,
    set_up,
    submit,
    verification,
)

from gatekeeper.domain.lifecycle import ChangeState, VerificationState
from gatekeeper.domain.principal import Role
from gatekeeper.domain.records import Page
from gatekeeper.domain.verdict import Verdict
from gatekeeper.workflow.service import changes, submissions, tickets
from gatekeeper.workflow.service.service import ServiceLimits

NEWER = "d" * 40


@pytest.fixture
def service(tmp_path: Path):
    made = make_service(tmp_path)
    set_up(made)
    yield made
    made.records.close()


def stored(service) -> int:
    with service.records.reading() as tx:
        return len(tx.verifications(None, Page(100), repository=REPOSITORY)) + len(tx.changes(REPOSITORY, Page(100)))


def test_submission_is_queued_with_its_events_and_audit_entry(service):
    record = submit(service)
    assert (record.state, record.attempt, record.retry) == (VerificationState.QUEUED, 1, 0)
    assert service.queue.enqueued == [record.name]
    change = change_of(service)
    assert (change.state, change.head, change.latest_verification) == (ChangeState.QUEUED, HEAD, record.name)
    assert {"change.created", "verification.queued", "change.moved"} <= set(event_types(service))
    assert service.blobs.read(record.claim_artifact.rpartition("/")[2], 10) == b"{}"


def test_newer_head_takes_the_place_of_the_older_one(service):
    old = submit(service)
    new = submit(service, head=NEWER)
    past = verification(service, old.name)
    assert (past.state, past.superseded_by) == (VerificationState.SUPERSEDED, new.name)
    assert service.queue.stopped == [old.name]
    assert change_of(service).latest_verification == new.name


def test_same_head_twice_is_active_already_and_after_the_verdict_a_new_attempt(service):
    submit(service)
    assert code(submit, service) == "VERIFICATION_ACTIVE"
    record = verification(service, change_of(service).latest_verification)
    decide(service, record.name, Verdict.REJECTED)
    assert submit(service).state is VerificationState.QUEUED


def test_repeated_request_is_answered_and_not_carried_out(service):
    asked = request()
    first = submit(service, request=asked)
    assert submit(service, request=asked).name == first.name
    assert service.queue.enqueued == [first.name]
    other = replace(asked, digest="f" * 64)
    assert code(submit, service, request=other, head=NEWER) == "REQUEST_ID_REUSED"
    assert verification(service, first.name).state is VerificationState.QUEUED


@pytest.mark.parametrize(
    ("refusal", "asked"),
    [
        ("REPOSITORY_UNKNOWN", {"repository": "owners/o/repositories/none"}),
        ("TARGET_NOT_ALLOWED", {"target_ref": "refs/heads/release"}),
        ("TICKET_UNKNOWN", {"ticket": f"{REPOSITORY}/tickets/none"}),
        ("TICKET_UNKNOWN", {"ticket": TICKET.replace(REPOSITORY, "owners/o/repositories/other")}),
        ("TICKET_CHANGED", {"ticket_digest": "0" * 64}),
        ("ARTIFACT_UNKNOWN", {"claim": None, "claim_artifact": "artifacts/" + "0" * 64}),
        ("ARTIFACT_UNKNOWN", {"bundle_artifact": "artifacts/" + "0" * 64}),
        ("INPUT_MALFORMED", {"claim_artifact": "artifacts/" + "0" * 64}),
    ],
)
def test_refused_with_nothing_stored(service, refusal, asked):
    assert code(submit, service, **asked) == refusal
    assert stored(service) == 0
    assert service.queue.enqueued == []


def test_ticket_that_is_not_approved_or_was_amended_is_refused(service):
    made = tickets.create(service, AGENT, REPOSITORY, document("T-2"), request())
    assert code(submit, service, ticket=made.name) == "TICKET_NOT_APPROVED"
    ticket = tickets.get(service, TICKET)
    tickets.amend(service, AGENT, TICKET, document(title="Something else"), ticket.etag, request())
    assert code(submit, service, ticket_digest=ticket.digest) == "TICKET_CHANGED"
    assert code(submit, service) == "TICKET_NOT_APPROVED"
    assert stored(service) == 0


def test_change_belongs_to_whoever_submitted_first(service):
    submit(service)
    assert code(submit, service, OTHER, head=NEWER) == "CHANGE_FOREIGN"
    assert ("verification.submit", "CHANGE_FOREIGN") in refusals(service)


def test_change_stays_on_its_ticket(service):
    submit(service)
    made = tickets.create(service, AGENT, REPOSITORY, document("T-2"), request())
    tickets.approve(service, RITA, made.name, made.digest, request())
    assert code(submit, service, ticket=made.name, head=NEWER) == "TICKET_OTHER"


def test_change_that_a_question_created_takes_its_first_submission(service):
    changes.raise_question(
        service, AGENT, f"{REPOSITORY}/changes/c1", TICKET, "requirement_conflict", "Which one?", request()
    )
    record = submit(service)
    assert change_of(service).target_ref == "refs/heads/main"
    assert record.state is VerificationState.QUEUED


def test_attempts_end(service):
    made = tickets.create(service, AGENT, REPOSITORY, document("T-2", budget={"attempts": 2}), request())
    tickets.approve(service, RITA, made.name, made.digest, request())
    for attempt in (1, 2):
        record = judged(service, Verdict.REJECTED, ticket=made.name, head=str(attempt) * 40)
        assert record.attempt == attempt
        with service.records.transaction() as tx:
            change = tx.change(record.change)
            tx.save_change(replace(change, attempts_used=attempt))
    assert code(submit, service, ticket=made.name, head="9" * 40) == "ATTEMPTS_EXHAUSTED"


def test_full_queue_refuses(tmp_path):
    made = make_service(tmp_path, limits=ServiceLimits(active_verifications=1))
    set_up(made)
    submit(made)
    assert code(submit, made, change_key="c2") == "QUEUE_FULL"
    made.records.close()


def test_credential_that_acts_for_one_subject_acts_for_it_unsaid(service):
    agent = caller("agent-7", "agent", Role.AGENT, delegators=frozenset({"ann@example.org"}))
    record = submit(service, agent)
    assert record.submitter.on_behalf_of == "ann@example.org"
    assert change_of(service).on_behalf_of == {"ann@example.org"}
    assert code(submit, service, agent, head=NEWER, on_behalf_of="bob@example.org") == "DELEGATION_REFUSED"


def test_cancel_is_final_and_for_the_owner(service):
    record = submit(service)
    assert code(submissions.cancel, service, OTHER, record.name, "", request()) == "CHANGE_FOREIGN"
    assert code(submissions.cancel, service, ROBOT, record.name, "", request()) == "CHANGE_FOREIGN"
    done = submissions.cancel(service, AGENT, record.name, "mistake", request())
    assert (done.state, done.canceller) == (VerificationState.CANCELLED, AGENT.principal)
    assert service.queue.stopped == [record.name]
    again = submissions.cancel(service, OPERATOR, record.name, "", request())
    assert again.canceller == AGENT.principal
    other = judged(service, Verdict.ACCEPTED, head=NEWER)
    assert code(submissions.cancel, service, AGENT, other.name, "", request()) == "VERIFICATION_FINAL"
