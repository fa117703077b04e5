"""The diff gate: who decides, on what, and what becomes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from api_server import DIFF, PEOPLE, REPOSITORY, TICKET, decide, document, make_service
from service_acts import (
    AGENT,
    OTHER,
    RITA,
    ROBOT,
    SVEN,
    WRITER,
    caller,
    change_of,
    code,
    event_types,
    judged,
    refusals,
    request,
    review,
    set_up,
    submit,
    verification,
)

from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.principal import Role
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import reasons
from gatekeeper.workflow.service import changes, decisions, reviews, submissions, tickets
from gatekeeper.workflow.service.commands import ReviewCommand


@pytest.fixture
def service(tmp_path: Path):
    made = make_service(tmp_path)
    set_up(made)
    yield made
    made.records.close()


def test_an_approval_has_the_gate_decide_again(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    stored, change = review(service, RITA, record, "APPROVE")
    assert stored.reviewer == RITA.principal
    assert (change.state, change.state_reason) == (ChangeState.QUEUED, "approved")
    new = verification(service, change.latest_verification)
    assert (new.head, new.reason, new.retry, new.attempt) == (record.head, "approved", 1, record.attempt)
    assert new.claim_artifact == record.claim_artifact
    assert service.queue.enqueued == [record.name, new.name]
    assert "review.created" in event_types(service)
    assert change_of(service) == change


def test_two_people_are_two_people(service):
    record = judged(service, Verdict.NEEDS_HUMAN, count=2)
    _, change = review(service, RITA, record, "APPROVE")
    assert change.state is ChangeState.HUMAN_DECISION_NEEDED
    _, change = review(service, RITA, record, "APPROVE")
    assert change.state is ChangeState.HUMAN_DECISION_NEEDED, "one person twice is one person"
    _, change = review(service, SVEN, record, "APPROVE")
    assert change.state is ChangeState.QUEUED


@pytest.mark.parametrize("verdict", [Verdict.REJECTED, Verdict.UNDECIDED])
def test_what_is_wrong_or_could_not_be_checked_is_never_approved(service, verdict):
    record = judged(service, verdict)
    assert code(review, service, RITA, record, "APPROVE") == "REVIEW_NOT_POSSIBLE"
    assert change_of(service).latest_verification == record.name


def test_what_is_not_judged_yet_cannot_be_approved(service):
    record = submit(service)
    more = {"diff_digest": DIFF}
    assert code(review, service, RITA, record, "APPROVE", **more) == "REVIEW_NOT_POSSIBLE"


@pytest.mark.parametrize("kind", ["APPROVE", "WAIVE", "RETRY", "REQUEST_CHANGES", "AMEND_TICKET", "ABANDON"])
@pytest.mark.parametrize(
    "who",
    [
        WRITER,
        caller("agent-1", "human", Role.REVIEWER, emails=("x@example.org",)),
        caller("dora", "human", Role.REVIEWER, emails=("dora@example.org",)),
        caller("x", "human", Role.REVIEWER, emails=("DORA",)),
        caller("x", "human", Role.REVIEWER, emails=("x@example.org",), on_behalf_of="agent-1"),
    ],
)
def test_whoever_wrote_submitted_or_delegated_decides_nothing(service, kind, who):
    record = judged(service, Verdict.NEEDS_HUMAN, on_behalf_of="dora")
    with service.records.transaction() as tx:
        change = tx.change(record.change)
        tx.save_change(replace(change, on_behalf_of=frozenset({"dora", "dora@example.org"})))
    before = change_of(service)
    assert code(review, service, who, record, kind) == "APPROVAL_SELF"
    assert change_of(service) == before
    assert refusals(service) == [(f"review.{kind.lower()}", "APPROVAL_SELF")]


def test_programs_decide_nothing(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    for who in (ROBOT, AGENT):
        assert code(review, service, who, record, "APPROVE") == "HUMAN_REQUIRED"


def test_a_reviewer_without_an_address_cannot_approve(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    nobody = caller("nobody", "human", Role.REVIEWER)
    assert code(review, service, nobody, record, "APPROVE") == "REVIEW_NOT_POSSIBLE"
    assert code(review, service, nobody, record, "REQUEST_CHANGES") == "OK"


def test_a_verification_without_its_writers_cannot_be_approved(service):
    made = submit(service)
    record = decide(service, made.name, Verdict.NEEDS_HUMAN, people=())
    assert code(review, service, RITA, record, "APPROVE") == "REVIEW_NOT_POSSIBLE"


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("ticket_digest", "0" * 64, "TICKET_CHANGED"),
        ("ticket_digest", "", "TICKET_CHANGED"),
        ("diff_digest", "0" * 64, "DIFF_CHANGED"),
        ("diff_digest", "", "DIFF_CHANGED"),
        ("verification", f"{REPOSITORY}/changes/c1/verifications/none", "VERIFICATION_UNKNOWN"),
        ("verification", "", "INPUT_MALFORMED"),
        ("change", f"{REPOSITORY}/changes/c9", "CHANGE_UNKNOWN"),
        ("expire_time", 1.0, "INPUT_MALFORMED"),
        ("statement_bundle", b"{}", "APPROVAL_UNKNOWN_KEY"),
    ],
)
def test_an_approval_is_for_what_was_seen(service, field, value, expected):
    record = judged(service, Verdict.NEEDS_HUMAN)
    before = change_of(service)
    assert code(review, service, RITA, record, "APPROVE", **{field: value}) == expected
    assert change_of(service) == before


def test_an_older_or_expired_verdict_cannot_be_approved(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    newer = judged(service, Verdict.NEEDS_HUMAN, head="b" * 40)
    assert code(review, service, RITA, record, "APPROVE") == "VERIFICATION_NOT_CURRENT"
    with service.records.transaction() as tx:
        tx.save_verification(replace(newer, expire_time=service.clock.now()))
    assert code(review, service, RITA, newer, "APPROVE") == "VERIFICATION_NOT_CURRENT"


def test_an_approval_of_an_amended_ticket_is_void(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    ticket = tickets.get(service, TICKET)
    tickets.amend(service, AGENT, TICKET, document(title="Other"), ticket.etag, request())
    assert code(review, service, RITA, record, "APPROVE") == "VERIFICATION_NOT_CURRENT"


def test_the_operator_can_demand_signed_statements(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    strict = replace(service, statements_required=True)
    assert code(review, strict, RITA, record, "APPROVE") == "STATEMENT_REQUIRED"


def test_asking_for_changes_sends_the_words_to_the_agent(service):
    record = judged(service, Verdict.ACCEPTED)
    assert change_of(service).state is ChangeState.MERGEABLE
    assert code(review, service, RITA, record, "REQUEST_CHANGES", comment=" ") == "INPUT_MALFORMED"
    _, change = review(service, RITA, record, "REQUEST_CHANGES", comment="Name it\x1b[2J better")
    assert (change.state, change.state_reason) == (ChangeState.VERIFICATION_FAILED, "changes_requested")
    after = verification(service, record.name)
    assert not after.current
    assert "rita asks for changes:\nName it\\x1b[2J better" in after.repair_brief


def test_a_refusal_after_an_approval_holds(service):
    record = judged(service, Verdict.NEEDS_HUMAN, count=2)
    review(service, RITA, record, "APPROVE")
    with service.records.reading() as tx:
        now = service.clock.now()
        assert len(decisions.approvers(tx, record.change, record.ticket_digest, DIFF, now)) == 1
        assert decisions.approvers(tx, record.change, record.ticket_digest, DIFF, now + 8 * 86_400) == []
        assert decisions.approvers(tx, record.change, record.ticket_digest, "0" * 64, now) == []
    review(service, RITA, record, "REQUEST_CHANGES")
    with service.records.reading() as tx:
        assert decisions.approvers(tx, record.change, record.ticket_digest, DIFF, service.clock.now()) == []


def test_only_what_could_not_be_checked_is_tried_again(service):
    record = judged(service, Verdict.REJECTED)
    assert code(review, service, RITA, record, "RETRY") == "REVIEW_NOT_POSSIBLE"
    undecided = judged(service, Verdict.UNDECIDED, change_key="c2")
    _, change = review(service, RITA, undecided, "RETRY")
    assert change.state is ChangeState.QUEUED
    assert verification(service, change.latest_verification).reason == "retry"


def test_what_was_cancelled_can_be_tried_again_on_the_same_plan_alone(service):
    record = submit(service)
    submissions.cancel(service, AGENT, record.name, "", request())
    _, change = review(service, RITA, verification(service, record.name), "RETRY")
    assert change.state is ChangeState.QUEUED
    submissions.cancel(service, AGENT, change.latest_verification, "", request())
    ticket = tickets.get(service, TICKET)
    new = tickets.amend(service, AGENT, TICKET, document(title="Other"), ticket.etag, request())
    tickets.approve(service, SVEN, TICKET, new.digest, request())
    past = verification(service, change.latest_verification)
    assert code(review, service, RITA, past, "RETRY") == "TICKET_CHANGED"


WAIVER = {"waived_fingerprints": ("f" * 64,), "expire_time": 1_800_000_000.0 + 86_400}


def test_a_waiver_names_findings_an_end_and_a_reason(service):
    record = judged(service, Verdict.REJECTED)
    assert code(review, service, RITA, record, "WAIVE", **{**WAIVER, "waived_fingerprints": ()}) == "INPUT_MALFORMED"
    assert code(review, service, RITA, record, "WAIVE", **{**WAIVER, "expire_time": None}) == "INPUT_MALFORMED"
    assert code(review, service, RITA, record, "WAIVE", **{**WAIVER, "expire_time": 9e9}) == "INPUT_MALFORMED"
    assert code(review, service, RITA, record, "WAIVE", **WAIVER, comment="") == "INPUT_MALFORMED"
    unknown = {**WAIVER, "waived_fingerprints": ("0" * 64,)}
    assert code(review, service, RITA, record, "WAIVE", **unknown) == "FINDING_UNKNOWN"
    never = {**WAIVER, "waived_fingerprints": ("e" * 64,)}
    assert code(review, service, RITA, record, "WAIVE", **never) == "WAIVER_REFUSED"
    assert refusals(service) == [("review.waive", "WAIVER_REFUSED")]
    stored, change = review(service, RITA, record, "WAIVE", **WAIVER)
    assert stored.expire_time == WAIVER["expire_time"]
    assert change.state is ChangeState.QUEUED
    assert verification(service, change.latest_verification).reason == "waived"


def test_an_accepted_verdict_has_nothing_to_waive(service):
    record = judged(service, Verdict.ACCEPTED)
    assert code(review, service, RITA, record, "WAIVE", **WAIVER) == "REVIEW_NOT_POSSIBLE"


def test_declining_is_final(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    _, change = review(service, RITA, record, "ABANDON")
    assert change.state is ChangeState.DECLINED
    assert not verification(service, record.name).current
    assert code(review, service, SVEN, record, "APPROVE") == "CHANGE_FINAL"


def test_amending_the_ticket_approves_it_and_judges_again(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    beside = judged(service, Verdict.ACCEPTED, change_key="c2", who=OTHER)
    running = submit(service, OTHER, change_key="c3")
    new = document(allowed=["src/**", "docs/**"])
    assert code(review, service, RITA, record, "AMEND_TICKET") == "INPUT_MALFORMED"
    assert code(review, service, RITA, record, "AMEND_TICKET", amended_ticket=b"{}") == "TICKET_MALFORMED"
    other = document("T-2")
    assert code(review, service, RITA, record, "AMEND_TICKET", amended_ticket=other) == "TICKET_MALFORMED"
    _, change = review(service, RITA, record, "AMEND_TICKET", amended_ticket=new)
    ticket = tickets.get(service, TICKET)
    assert (ticket.state, ticket.revision, ticket.decider) == (TicketState.APPROVED, 2, RITA.principal)
    again = verification(service, change.latest_verification)
    assert (again.ticket_digest, again.reason) == (ticket.digest, "ticket_amended")
    assert not verification(service, record.name).current
    assert not verification(service, beside.name).current
    assert change_of(service, beside.change).state is ChangeState.HUMAN_DECISION_NEEDED
    assert verification(service, running.name).state is VerificationState.CANCELLED
    assert service.queue.stopped == [running.name]


def test_a_question_is_answered_by_any_decision(service):
    record = judged(service, Verdict.ACCEPTED)
    changes.raise_question(service, AGENT, record.change, "", "requirement_conflict", "Which?", request())
    assert change_of(service).state is ChangeState.HUMAN_DECISION_NEEDED
    _, change = review(service, RITA, record, "APPROVE")
    assert change.open_questions == ()
    assert change.state is ChangeState.QUEUED


def test_a_question_before_any_work_can_be_answered(service):
    name = f"{REPOSITORY}/changes/new"
    changes.raise_question(service, AGENT, name, TICKET, "requirement_conflict", "Which?", request())
    command = ReviewCommand(name, "REQUEST_CHANGES", "", request(), comment="The first.")
    _, change = reviews.create(service, RITA, command)
    assert change.open_questions == ()
    assert change.state is ChangeState.VERIFICATION_FAILED


def test_a_repeated_review_is_answered_and_done_once(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    same = request()
    first = review(service, RITA, record, "APPROVE", request=same)
    second = review(service, RITA, record, "APPROVE", request=same)
    assert first == second
    assert code(review, service, RITA, record, "APPROVE", request=replace(same, digest="0" * 64)) == "REQUEST_ID_REUSED"
    assert len(service.queue.enqueued) == 2
    assert PEOPLE


def test_what_is_never_waived_exists():
    assert set(reasons()) >= decisions.NEVER_WAIVED_CODES
    assert {r.category for r in reasons().values()} >= decisions.NEVER_WAIVED_CATEGORIES
