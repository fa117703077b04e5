"""Tickets, changes, usage, artifacts and request ids."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from api_server import REPOSITORY, TICKET, document, make_service
from service_acts import (
    AGENT,
    OPERATOR,
    OTHER,
    RITA,
    ROBOT,
    SVEN,
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

from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.principal import Role
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import InputError
from gatekeeper.workflow.service import artifacts, changes, tickets, usage

NEW = f"{REPOSITORY}/tickets/T-2"


@pytest.fixture
def service(tmp_path: Path):
    made = make_service(tmp_path)
    set_up(made)
    yield made
    made.records.close()


def propose(service, who=AGENT, **more):
    return tickets.create(service, who, REPOSITORY, document("T-2", **more), request())


def test_an_approval_freezes_exactly_one_digest(service):
    made = propose(service)
    assert made.state is TicketState.PROPOSED
    assert code(tickets.approve, service, RITA, NEW, "0" * 64, request()) == "TICKET_CHANGED"
    assert code(tickets.approve, service, RITA, NEW, made.digest, request(), etag="9-proposed") == "ETAG_MISMATCH"
    got = tickets.approve(service, RITA, NEW, made.digest, request(), etag=made.etag, comment="good")
    assert (got.state, got.decider, got.decision_comment) == (TicketState.APPROVED, RITA.principal, "good")
    assert code(tickets.approve, service, SVEN, NEW, made.digest, request()) == "TICKET_STATE"


@pytest.mark.parametrize(
    ("author", "decider"),
    [
        (RITA, RITA),
        (caller("a", "agent", Role.AGENT, on_behalf_of="rita"), RITA),
        (caller("a", "agent", Role.AGENT, on_behalf_of="Rita@Example.org"), RITA),
        (caller("a", "agent", Role.AGENT, delegators=frozenset({"rita"})), RITA),
        (AGENT, caller("x", "human", Role.REVIEWER, on_behalf_of="agent-1")),
    ],
)
def test_the_author_and_those_behind_it_decide_nothing(service, author, decider):
    made = propose(service, author)
    assert code(tickets.approve, service, decider, NEW, made.digest, request()) == "APPROVAL_SELF"
    assert code(tickets.reject, service, decider, NEW, made.digest, "no", request()) == "APPROVAL_SELF"
    assert tickets.get(service, NEW) == made
    assert refusals(service) == [("ticket.approve", "APPROVAL_SELF"), ("ticket.reject", "APPROVAL_SELF")]
    assert code(tickets.approve, service, SVEN, NEW, made.digest, request()) == "OK"


def test_only_people_decide(service):
    made = propose(service)
    for who in (AGENT, ROBOT):
        assert code(tickets.approve, service, who, NEW, made.digest, request()) == "HUMAN_REQUIRED"


def test_an_amendment_voids_the_approval_and_every_verdict_on_it(service):
    accepted = judged(service, Verdict.ACCEPTED)
    running = submit(service, OTHER, change_key="c2")
    old = tickets.get(service, TICKET)
    assert code(tickets.amend, service, AGENT, TICKET, document(), "1-proposed", request()) == "ETAG_MISMATCH"
    new = tickets.amend(service, AGENT, TICKET, document(title="More"), old.etag, request())
    assert (new.state, new.revision, new.create_time) == (TicketState.PROPOSED, 2, old.create_time)
    assert tickets.get(service, TICKET, old.digest).state is TicketState.SUPERSEDED
    assert not verification(service, accepted.name).current
    assert (change_of(service).state, change_of(service).verdict) == (ChangeState.HUMAN_DECISION_NEEDED, None)
    assert verification(service, running.name).state is VerificationState.CANCELLED
    assert service.queue.stopped == [running.name]
    assert code(submit, service, head="b" * 40) == "TICKET_NOT_APPROVED"


def test_an_amendment_with_the_same_words_needs_its_own_approval(service):
    old = tickets.get(service, TICKET)
    new = tickets.amend(service, AGENT, TICKET, document(), old.etag, request())
    assert (new.digest, new.state) == (old.digest, TicketState.PROPOSED)
    assert code(submit, service) == "TICKET_NOT_APPROVED"


def test_rejecting_takes_an_approval_back(service):
    accepted = judged(service, Verdict.ACCEPTED)
    ticket = tickets.get(service, TICKET)
    tickets.reject(service, SVEN, TICKET, ticket.digest, "no", request())
    assert not verification(service, accepted.name).current
    assert change_of(service).state is ChangeState.HUMAN_DECISION_NEEDED
    assert code(submit, service, head="b" * 40) == "TICKET_NOT_APPROVED"


@pytest.mark.parametrize("ticket_id", ["a/b", "", "-", "x" * 65, "../x", "ä"])
def test_ids_of_documents_must_be_names(service, ticket_id):
    assert code(tickets.create, service, AGENT, REPOSITORY, document(ticket_id), request()) == "TICKET_MALFORMED"


def test_tickets_are_made_once_and_in_known_repositories(service):
    assert code(tickets.create, service, AGENT, REPOSITORY, document(), request()) == "TICKET_EXISTS"
    elsewhere = "owners/acme/repositories/none"
    assert code(tickets.create, service, AGENT, elsewhere, document(), request()) == "REPOSITORY_UNKNOWN"


def test_giving_up_stops_the_work(service):
    running = submit(service)
    assert code(changes.abandon, service, OTHER, running.change, "", request()) == "CHANGE_FOREIGN"
    robot = caller("robot", "service", Role.AGENT, Role.REVIEWER)
    assert code(changes.abandon, service, robot, running.change, "", request()) == "CHANGE_FOREIGN"
    assert code(changes.abandon, service, AGENT, running.change, "", request(), etag="99") == "ETAG_MISMATCH"
    etag = change_of(service).etag
    got = changes.abandon(service, AGENT, running.change, "enough", request(), etag=etag)
    assert got.state is ChangeState.ABANDONED
    assert verification(service, running.name).state is VerificationState.CANCELLED
    assert service.queue.stopped == [running.name]
    assert code(changes.abandon, service, AGENT, running.change, "", request()) == "CHANGE_FINAL"
    assert event_types(service)[-2:] == ["verification.cancelled", "change.moved"]


def test_questions_are_typed_capped_and_ones_own(service):
    name = f"{REPOSITORY}/changes/q"

    def ask(who=AGENT, ticket=TICKET, cause="requirement_conflict"):
        return changes.raise_question(service, who, name, ticket, cause, "Which?", request())

    with pytest.raises(InputError):
        ask(cause="curiosity")
    assert code(ask, ticket="") == "TICKET_UNKNOWN"
    assert code(ask, ticket=NEW) == "TICKET_UNKNOWN"
    change, question = ask()
    assert change.state is ChangeState.HUMAN_DECISION_NEEDED
    assert change.open_questions == (question,)
    assert code(ask, OTHER) == "CHANGE_FOREIGN"
    propose(service)
    assert code(ask, ticket=NEW) == "TICKET_OTHER"
    for _ in range(service.limits.open_questions - 1):
        ask(ticket="")
    assert code(ask) == "QUESTIONS_EXHAUSTED"


def test_usage_is_reported_for_ones_own_changes(service):
    running = submit(service)
    entries = ({"model": "m", "currency": "USD", "basis": "MEASURED", "source": "AGENT", "input_tokens": 3},)
    same = request()
    got = usage.report(service, AGENT, running.change, running.name, entries, same)
    assert usage.report(service, AGENT, running.change, running.name, entries, same) == got
    assert code(usage.report, service, OTHER, running.change, "", entries, request()) == "CHANGE_FOREIGN"
    assert code(usage.report, service, OPERATOR, running.change, "", entries, request()) == "OK"
    missing = f"{running.change}/verifications/none"
    assert code(usage.report, service, AGENT, running.change, missing, entries, request()) == "VERIFICATION_UNKNOWN"


def test_artifacts_are_seen_by_those_who_have_their_content(service):
    content = b"claim"
    digest = hashlib.sha256(content).hexdigest()
    made = artifacts.upload(service, AGENT, digest, len(content), "CLAIM", [content])
    assert code(artifacts.open_artifact, service, OTHER, made.name) == "ARTIFACT_UNKNOWN"
    assert b"".join(artifacts.open_artifact(service, OPERATOR, made.name)[1]) == content
    # Knowing the digest is not having the content.
    assert code(artifacts.upload, service, OTHER, digest, len(content), "CLAIM", [b"guess"]) == "ARTIFACT_DIGEST"
    assert code(artifacts.open_artifact, service, OTHER, made.name) == "ARTIFACT_UNKNOWN"
    artifacts.upload(service, OTHER, digest, len(content), "CLAIM", [content])
    assert code(artifacts.open_artifact, service, OTHER, made.name) == "OK"


def test_a_request_id_is_known_to_its_caller_alone(service):
    same = request("ticket")
    made = tickets.create(service, AGENT, REPOSITORY, document("T-3"), same)
    service.clock.time += 86_399
    assert tickets.create(service, AGENT, REPOSITORY, document("T-3"), same) == made
    other = replace(same, digest="0" * 64)
    assert code(tickets.create, service, AGENT, REPOSITORY, document("T-4"), other) == "REQUEST_ID_REUSED"
    assert code(tickets.create, service, OTHER, REPOSITORY, document("T-4"), other) == "OK"


def test_everything_is_in_an_intact_audit_log(service):
    judged(service, Verdict.ACCEPTED)
    code(changes.abandon, service, OTHER, f"{REPOSITORY}/changes/c1", "", request())
    entries, _ = service.records.verify_audit()
    assert entries >= 5
    assert refusals(service) == [("change.abandon", "CHANGE_FOREIGN")]


def test_an_agent_amends_only_what_it_proposed(service):
    ticket = tickets.get(service, TICKET)
    again = document(title="Something else")
    assert code(tickets.amend, service, OTHER, TICKET, again, ticket.etag, request()) == "CHANGE_FOREIGN"
    assert tickets.get(service, TICKET) == ticket
    assert tickets.amend(service, AGENT, TICKET, again, ticket.etag, request()).revision == ticket.revision + 1
