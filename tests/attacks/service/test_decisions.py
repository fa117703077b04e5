"""People and agents that try to decide on their own work, or to get past somebody's no; and the honest ones beside them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from api_server import DIFF, PEOPLE, REPOSITORY, TICKET, add_token, document, make_service
from service_acts import (
    AGENT,
    RITA,
    SVEN,
    caller,
    change_of,
    code,
    judged,
    request,
    review,
    set_up,
    submit,
    verification,
)

from gatekeeper.adapters.local_key_signer import LocalKeySigner
from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import finding
from gatekeeper.domain.lifecycle import ChangeState, VerificationState
from gatekeeper.domain.principal import Role
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.wiring.signers import desk_verifier
from gatekeeper.workflow.service import changes, tickets
from gatekeeper.workflow.service import verification_run as runs

CHANGE = f"{REPOSITORY}/changes/c1"
SETTINGS = runs.RunSettings()


@pytest.fixture
def service(tmp_path: Path):
    made = make_service(tmp_path)
    set_up(made)
    yield made
    made.records.close()


def tools(folder: Path) -> SimpleNamespace:
    return SimpleNamespace(desk=LocalKeySigner(folder / "keys" / "desk.pem"))


def conclude(service, name: str, verdict: Verdict, *findings) -> bool:
    head = verification(service, name).head
    return runs.conclude(
        service, name, Outcome(verdict, Mode.ENFORCED, findings, "run", head=head, diff_digest=DIFF, people=PEOPLE)
    )


# --- one person with several credentials -----------------------------------------------------------------------------


def test_two_credentials_of_one_person_are_one_approval(service):
    for token, subject in (("t1", "rita"), ("t2", "rita-home"), ("t3", "sven")):
        address = "sven@example.org" if subject == "sven" else "rita@example.org"
        add_token(service, token, subject, "human", "reviewer", emails=(address,))
    record = judged(service, Verdict.NEEDS_HUMAN, count=2)
    review(service, RITA, record, "APPROVE")
    home = caller("rita-home", "human", Role.REVIEWER, emails=("rita@example.org",))
    assert code(review, service, home, record, "APPROVE") == "REVIEW_NOT_POSSIBLE"
    assert change_of(service).state is ChangeState.HUMAN_DECISION_NEEDED
    assert code(review, service, SVEN, record, "APPROVE") == "OK"
    assert change_of(service).state is ChangeState.QUEUED


@pytest.mark.parametrize("kind", ["APPROVE", "AMEND_TICKET", "WAIVE"])
def test_an_address_on_another_credential_still_names_the_author(service, kind):
    add_token(service, "t1", "w@home.example", "human", "reviewer")
    add_token(service, "t22", "w@home.example", "human", "agent", emails=PEOPLE)
    record = judged(service, Verdict.NEEDS_HUMAN)
    assert (
        code(review, service, caller("w@home.example", "human", Role.REVIEWER), record, kind, expire_time=2e9)
        == "APPROVAL_SELF"
    )


def test_nobody_approves_the_plan_that_they_wrote_under_another_subject(service):
    add_token(service, "t1", "olga", "human", "operator", emails=("olga@example.org",))
    add_token(service, "t2", "olga@example.org", "human", "reviewer")
    olga = caller("olga", "human", Role.OPERATOR, emails=("olga@example.org",))
    made = tickets.create(service, olga, REPOSITORY, document("T-2"), request())
    reviewer = caller("olga@example.org", "human", Role.REVIEWER)
    assert code(tickets.approve, service, reviewer, made.name, made.digest, request()) == "APPROVAL_SELF"
    assert code(tickets.approve, service, RITA, made.name, made.digest, request()) == "OK"


def test_a_reviewer_without_an_address_approves_no_plan_by_amending_it(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    nobody = caller("nobody", "human", Role.REVIEWER)
    more = {"amended_ticket": document(title="other")}
    assert code(review, service, nobody, record, "AMEND_TICKET", **more) == "REVIEW_NOT_POSSIBLE"
    assert code(review, service, RITA, record, "AMEND_TICKET", **more) == "OK"


def test_who_acts_for_several_must_say_for_whom(service):
    agent = caller("agent-9", "agent", Role.AGENT, delegators=frozenset({"rita", "sven"}))
    assert code(submit, service, agent) == "DELEGATION_REFUSED"
    record = judged(service, Verdict.NEEDS_HUMAN, who=agent, on_behalf_of="rita")
    assert code(review, service, RITA, record, "APPROVE") == "APPROVAL_SELF"
    assert code(review, service, SVEN, record, "APPROVE") == "OK"


# --- a request for changes -------------------------------------------------------------------------------------------


def words(service, name: str, folder: Path, *, diff: str = DIFF) -> tuple[list[str], list[str]]:
    """(who approves, codes of the complaints) as the verdict on that verification will see them."""
    made = tools(folder)
    work = runs.begin(service, made, SETTINGS, name, 0)
    assert work is not None
    good, bad = desk_verifier(None, made.desk)(
        work.submission.approvals,
        ticket_digest=verification(service, name).ticket_digest,
        diff_digest=diff,
        repository=work.submission.repository_uri,
        target_ref=work.submission.target_ref,
        people=PEOPLE,
        now=service.clock.now(),
    )
    return [a.reviewer for a in good], [f.code for f in bad]


@pytest.mark.parametrize("named", [True, False])
def test_sending_the_same_diff_again_does_not_get_past_a_request_for_changes(service, tmp_path, named):
    record = judged(service, Verdict.ACCEPTED)
    more = {} if named else {"ticket_digest": "", "diff_digest": ""}
    review(service, RITA, record, "REQUEST_CHANGES", **more)
    again = submit(service, head="b" * 40)
    assert words(service, again.name, tmp_path) == ([], ["APPROVAL_CHANGES_REQUESTED"])


def test_a_clock_set_back_does_not_revive_an_approval(service, tmp_path):
    record = judged(service, Verdict.NEEDS_HUMAN, count=2)
    review(service, RITA, record, "APPROVE")
    service.clock.time -= 5000
    review(service, RITA, record, "REQUEST_CHANGES")
    again = submit(service, head="b" * 40)
    assert words(service, again.name, tmp_path)[0] == []


def test_another_key_does_not_get_past_a_request_for_changes(service, tmp_path):
    review(service, RITA, judged(service, Verdict.ACCEPTED), "REQUEST_CHANGES")
    again = submit(service, change_key="c2")
    assert words(service, again.name, tmp_path) == ([], ["APPROVAL_CHANGES_REQUESTED"])


def test_another_diff_in_between_does_not_get_past_a_request_for_changes(service, tmp_path):
    review(service, RITA, judged(service, Verdict.ACCEPTED), "REQUEST_CHANGES")
    other = submit(service, head="b" * 40)
    outcome = Outcome(Verdict.NEEDS_HUMAN, Mode.ENFORCED, (), "run", diff_digest="e" * 64, people=PEOPLE)
    runs.conclude(service, other.name, outcome)
    review(service, RITA, verification(service, other.name), "APPROVE")
    again = submit(service, head="a" * 40)
    good, bad = words(service, again.name, tmp_path)
    assert good == []
    assert "APPROVAL_CHANGES_REQUESTED" in bad


def test_an_approval_of_one_change_is_none_of_another(service, tmp_path):
    review(service, RITA, judged(service, Verdict.NEEDS_HUMAN), "APPROVE")
    again = submit(service, change_key="c2")
    assert words(service, again.name, tmp_path) == ([], [])


def test_another_diff_is_judged_as_it_is(service, tmp_path):
    review(service, RITA, judged(service, Verdict.ACCEPTED), "REQUEST_CHANGES")
    again = submit(service, head="b" * 40)
    _, complaints = words(service, again.name, tmp_path, diff="e" * 64)
    assert "APPROVAL_CHANGES_REQUESTED" not in complaints


def test_a_request_for_changes_is_taken_back_by_an_approval_of_the_same_reviewer(service, tmp_path):
    review(service, RITA, judged(service, Verdict.ACCEPTED), "REQUEST_CHANGES")
    again = submit(service, head="b" * 40)
    conclude(service, again.name, Verdict.REJECTED, finding("APPROVAL_CHANGES_REQUESTED", "rita asks"))
    assert change_of(service).state is ChangeState.VERIFICATION_FAILED
    review(service, SVEN, verification(service, again.name), "APPROVE")
    third = verification(service, change_of(service).latest_verification)
    assert words(service, third.name, tmp_path) == (["sven"], ["APPROVAL_CHANGES_REQUESTED"]), "rita still says no"
    conclude(service, third.name, Verdict.REJECTED, finding("APPROVAL_CHANGES_REQUESTED", "rita asks"))
    review(service, RITA, verification(service, third.name), "APPROVE")
    last = change_of(service).latest_verification
    assert words(service, last, tmp_path) == (["rita", "sven"], [])


def test_what_is_wrong_beside_a_request_for_changes_cannot_be_approved_away(service):
    again = submit(service)
    both = (finding("APPROVAL_CHANGES_REQUESTED", "rita asks"), finding("SCOPE_LINK", "a link"))
    conclude(service, again.name, Verdict.REJECTED, *both)
    assert code(review, service, RITA, verification(service, again.name), "APPROVE") == "REVIEW_NOT_POSSIBLE"


# --- questions while work waits or runs ------------------------------------------------------------------------------


def ask(service) -> None:
    changes.raise_question(service, AGENT, CHANGE, TICKET, "requirement_conflict", "which?", request())


def test_a_question_asked_in_the_queue_stops_no_verification_and_holds_the_acceptance(service, tmp_path):
    record = submit(service)
    ask(service)
    assert runs.begin(service, tools(tmp_path), SETTINGS, record.name, 0) is not None
    assert verification(service, record.name).state is VerificationState.RUNNING
    assert change_of(service).state is ChangeState.HUMAN_DECISION_NEEDED
    assert conclude(service, record.name, Verdict.ACCEPTED)
    assert (change_of(service).state, change_of(service).state_reason) == (
        ChangeState.HUMAN_DECISION_NEEDED,
        "QUESTION_OPEN",
    )


@pytest.mark.parametrize("begun", [True, False])
def test_a_request_for_changes_that_answers_a_question_stops_what_runs(service, tmp_path, begun):
    record = submit(service)
    if begun:
        runs.begin(service, tools(tmp_path), SETTINGS, record.name, 0)
    ask(service)
    review(service, RITA, record, "REQUEST_CHANGES")
    assert service.queue.stopped == [record.name]
    assert verification(service, record.name).state is VerificationState.CANCELLED
    assert conclude(service, record.name, Verdict.ACCEPTED) is False
    assert change_of(service).state is ChangeState.VERIFICATION_FAILED


def test_a_statement_of_the_desk_says_what_was_decided(service, tmp_path):
    from gatekeeper.formats.sigstore_bundle import parse_bundle

    review(service, RITA, judged(service, Verdict.ACCEPTED), "REQUEST_CHANGES")
    again = submit(service, head="b" * 40)
    work = runs.begin(service, tools(tmp_path), SETTINGS, again.name, 0)
    assert work is not None
    (bundle,) = work.submission.approvals
    predicate = json.loads(parse_bundle(bundle).payload)["predicate"]
    assert (predicate["decision"], predicate["reviewer"]) == ("request_changes", "rita")
