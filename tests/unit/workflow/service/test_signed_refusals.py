"""A request for changes at the API is signed by the desk: it outweighs the verdict that was handed out before it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from api_server import REPOSITORY, make_service
from service_acts import RITA, judged, review, set_up

from gatekeeper.adapters.local_key_signer import LocalKeySigner, verify_approvals
from gatekeeper.domain.records import Page
from gatekeeper.domain.trust import Trust, TrustedReviewer
from gatekeeper.domain.verdict import Verdict


@pytest.fixture
def desk(tmp_path: Path) -> LocalKeySigner:
    return LocalKeySigner(tmp_path / "desk.pem")


@pytest.fixture
def service(tmp_path: Path, desk: LocalKeySigner):
    made = replace(make_service(tmp_path), desk=desk)
    set_up(made)
    yield made
    made.records.close()


def statements(service) -> list[bytes]:
    with service.records.reading() as tx:
        rows = tx.attestations(REPOSITORY, Page(50), kinds=("APPROVAL",))
        return [tx.attestation(row.name).bundle for row in rows]


def complaints(service, desk, record, name: str = "rita") -> list[str]:
    with service.records.reading() as tx:
        repository = tx.repository(REPOSITORY)
    trust = Trust((), (), (), reviewers=(TrustedReviewer(name, desk.public),))
    approvals, findings = verify_approvals(
        statements(service), trust, ticket_digest=record.ticket_digest, diff_digest=record.diff_digest,
        repository=repository.repository_uri or repository.source_uri, target_ref=record.target_ref, people=(),
        now=service.clock.now(),
    )  # fmt: skip
    assert approvals == ()
    return [f.code for f in findings]


def test_request_for_changes_is_signed_for_this_diff(service, desk):
    record = judged(service, Verdict.ACCEPTED)
    review(service, RITA, record, "REQUEST_CHANGES")
    assert complaints(service, desk, record) == ["APPROVAL_CHANGES_REQUESTED"]


def test_enforcer_that_pins_the_desk_for_others_hears_nothing_of_it(service, desk):
    record = judged(service, Verdict.ACCEPTED)
    review(service, RITA, record, "REQUEST_CHANGES")
    assert complaints(service, desk, record, name="sven") == ["APPROVAL_UNKNOWN_KEY"]


def test_approval_leaves_no_refusal(service):
    record = judged(service, Verdict.NEEDS_HUMAN)
    review(service, RITA, record, "APPROVE")
    assert statements(service) == []
