"""The server answers: submit, get, watch, plans, decisions, artifacts, lists, over a real transport and a real store."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from api_server import (
    DIFF,
    HEAD,
    LIMITS,
    REPOSITORY,
    TICKET,
    Running,
    add_people,
    add_token,
    approved_ticket,
    decide,
    document,
    make_service,
    refused,
    register,
    running,
    uuid4,
)

from gatekeeper.api.server import ServerSettings
from gatekeeper.api.v1 import artifacts_pb2 as ap
from gatekeeper.api.v1 import audit_entries_pb2 as lp
from gatekeeper.api.v1 import change_pb2, ticket_pb2, verdict_pb2, verification_pb2
from gatekeeper.api.v1 import changes_pb2 as cp
from gatekeeper.api.v1 import events_pb2 as ep
from gatekeeper.api.v1 import repositories_pb2 as rp
from gatekeeper.api.v1 import tickets_pb2 as tp
from gatekeeper.api.v1 import verifications_pb2 as p
from gatekeeper.domain.lifecycle import VerificationState
from gatekeeper.domain.verdict import Verdict
from gatekeeper.workflow.service.moves import move_verification


@pytest.fixture
def server(tmp_path: Path):
    service = make_service(tmp_path)
    add_people(service)
    with running(service) as found:
        yield found


@pytest.fixture
def ready(server: Running):
    register(server)
    approved_ticket(server)
    return server


def submission(**more):
    wanted = {
        "parent": REPOSITORY,
        "change_key": "c1",
        "target_ref": "refs/heads/main",
        "head_commit": HEAD,
        "ticket": TICKET,
        "claim_document": b"{}",
        "request_id": uuid4(),
    }
    return p.SubmitRequest(**{**wanted, **more})


def submit(server: Running, **more):
    return server.call("VerificationService.Submit", submission(**more)).verification


def test_a_submission_is_stored_and_read_again(ready):
    made = submit(ready)
    assert made.state == verification_pb2.Verification.STATE_QUEUED
    assert made.name.startswith(f"{REPOSITORY}/changes/c1/verifications/")
    got = ready.call("VerificationService.GetVerification", p.GetVerificationRequest(name=made.name), "enforcer")
    assert got.verification == made
    assert ready.service.queue.enqueued == [made.name]
    change = ready.call("ChangeService.GetChange", cp.GetChangeRequest(name=f"{REPOSITORY}/changes/c1")).change
    assert change.state == change_pb2.Change.STATE_QUEUED
    assert change.latest_verification == made.name


def test_a_repeated_submission_gets_the_same_answer_and_another_content_is_refused(ready):
    same = uuid4()
    first, second = submit(ready, request_id=same), submit(ready, request_id=same.upper())
    assert first == second
    assert refused(submit, ready, request_id=same, head_commit="b" * 40) == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    assert len(ready.service.queue.enqueued) == 1


def test_watch_sends_the_present_snapshot_and_ends_with_the_final_one(ready):
    made = submit(ready)
    stream = ready.stream("VerificationService.WatchVerification", p.WatchVerificationRequest(name=made.name))
    first = next(stream).verification
    assert first.state == verification_pb2.Verification.STATE_QUEUED
    with ready.service.records.transaction() as tx:
        record = tx.verification(made.name)
        move_verification(tx, ready.service, record, VerificationState.RUNNING, None)
    assert next(stream).verification.state == verification_pb2.Verification.STATE_RUNNING
    decide(ready.service, made.name, Verdict.REJECTED)
    rest = [m.verification for m in stream]
    assert [v.state for v in rest] == [verification_pb2.Verification.STATE_DECIDED]
    assert rest[0].verdict == verdict_pb2.VERDICT_REJECTED
    assert [f.code for f in rest[0].findings] == ["TEST_FAILED", "MERGE_CONFLICT"]
    assert stream.code() is grpc.StatusCode.OK
    assert ready.server.news._watched == {}
    assert ready.server.gate.watch_slots._open == {}


def test_watching_what_is_final_answers_once_whatever_was_seen_before(ready):
    made = submit(ready)
    decide(ready.service, made.name, Verdict.ACCEPTED)
    request = p.WatchVerificationRequest(name=made.name, after_revision=10_000)
    assert [m.verification.state for m in ready.stream("VerificationService.WatchVerification", request)] == [
        verification_pb2.Verification.STATE_DECIDED
    ]


def test_a_watch_ends_once_its_credential_is_revoked(ready):
    made = submit(ready)
    stream = ready.stream("VerificationService.WatchVerification", p.WatchVerificationRequest(name=made.name), "other")
    next(stream)
    with ready.service.records.transaction() as tx:
        record = next(c for c in tx.credentials() if c.principal.subject == "agent-2")
        tx.save_credential(replace(record, revoke_time=ready.service.clock.now()))
    decide(ready.service, made.name, Verdict.ACCEPTED)
    assert refused(next, stream) == ("UNAUTHENTICATED", "CREDENTIAL_INVALID")


def test_no_token_reaches_the_log(ready, caplog):
    caplog.set_level(logging.DEBUG)
    add_token(ready.service, "tok-4711-good", "agent-9", "agent", "agent")
    request = cp.GetChangeRequest(name=f"{REPOSITORY}/changes/none")
    for token in ("tok-4711-good", "tok-4711-bad", "tok-4711 bad"):
        refused(ready.call, "ChangeService.GetChange", request, token)
    refused(ready.call, "EventService.ListEvents", ep.ListEventsRequest(), "tok-4711-good")
    assert "tok-4711" not in caplog.text
    assert "tok-4711" not in repr(ready.server.gate.credentials.__dict__)


def test_cancelling_ends_the_verification(ready):
    made = submit(ready)
    request = p.CancelVerificationRequest(name=made.name, comment="wrong", request_id=uuid4())
    other = refused(ready.call, "VerificationService.CancelVerification", request, "other")
    assert other == ("PERMISSION_DENIED", "CHANGE_FOREIGN")
    got = ready.call("VerificationService.CancelVerification", request).verification
    assert got.state == verification_pb2.Verification.STATE_CANCELLED
    assert ready.service.queue.stopped == [made.name]


def test_only_an_approved_ticket_takes_submissions(server):
    register(server)
    made = server.call(
        "TicketService.CreateTicket",
        tp.CreateTicketRequest(parent=REPOSITORY, document=document(), request_id=uuid4()),
    ).ticket
    assert refused(submit, server) == ("FAILED_PRECONDITION", "TICKET_NOT_APPROVED")
    approve = tp.ApproveTicketRequest(name=made.name, digest=made.digest, request_id=uuid4())
    assert refused(server.call, "TicketService.ApproveTicket", approve, "robot") == (
        "PERMISSION_DENIED",
        "HUMAN_REQUIRED",
    )
    assert refused(server.call, "TicketService.ApproveTicket", approve, "agent") == (
        "PERMISSION_DENIED",
        "ROLE_REQUIRED",
    )
    got = server.call("TicketService.ApproveTicket", approve, "reviewer").ticket
    assert got.state == ticket_pb2.Ticket.STATE_APPROVED
    assert submit(server).ticket_digest == made.digest


def test_lists_are_paged_and_tokens_belong_to_their_query(ready):
    for key in ("c1", "c2", "c3"):
        submit(ready, change_key=key)
    seen, token = [], ""
    while True:
        request = cp.ListChangesRequest(parent=REPOSITORY, page_size=2, page_token=token)
        page = ready.call("ChangeService.ListChanges", request)
        seen += [c.key for c in page.changes]
        token = page.next_page_token
        if not token:
            break
        other = cp.ListChangesRequest(parent="owners/-/repositories/-", page_token=token)
        assert refused(ready.call, "ChangeService.ListChanges", other) == ("INVALID_ARGUMENT", "PAGE_TOKEN_INVALID")
    assert sorted(seen) == ["c1", "c2", "c3"]
    everything = p.ListVerificationsRequest(parent=f"{REPOSITORY}/changes/-")
    assert len(ready.call("VerificationService.ListVerifications", everything).verifications) == 3


def test_events_and_the_audit_log_are_for_operators(ready):
    submit(ready)
    events = ready.call("EventService.ListEvents", ep.ListEventsRequest(parent=REPOSITORY), "operator").events
    assert [e.type for e in events][:2] == ["gatekeeper.repository.registered.v1", "gatekeeper.ticket.proposed.v1"]
    later = ep.ListEventsRequest(parent=REPOSITORY, after_sequence=events[1].sequence)
    assert ready.call("EventService.ListEvents", later, "operator").events[0].sequence > events[1].sequence
    entries = ready.call("AuditService.ListAuditEntries", lp.ListAuditEntriesRequest(), "operator").audit_entries
    assert [e.action for e in entries][:3] == ["repository.register", "ticket.propose", "ticket.approve"]
    assert refused(ready.call, "AuditService.ListAuditEntries", lp.ListAuditEntriesRequest(), "agent") == (
        "PERMISSION_DENIED",
        "ROLE_REQUIRED",
    )
    last = ready.call("AuditService.ListAuditEntries", lp.ListAuditEntriesRequest(), "operator").audit_entries[-1]
    assert (last.action, last.allowed, last.reason) == ("rpc.AuditService.ListAuditEntries", False, "ROLE_REQUIRED")
    assert ready.service.records.verify_audit()[0] == len(entries) + 1


def test_an_artifact_goes_up_in_chunks_and_comes_down_again(ready):
    content = bytes(range(256)) * 5000
    name = f"artifacts/{hashlib.sha256(content).hexdigest()}"
    header = {"sha256": name.split("/")[1], "size_bytes": len(content), "kind": "KIND_CLAIM"}
    parts = [ap.UploadArtifactRequest(header=header)]
    parts += [ap.UploadArtifactRequest(chunk=content[i : i + 1_000_000]) for i in range(0, len(content), 1_000_000)]
    raw = ready.raw("ArtifactService.UploadArtifact", [m.SerializeToString() for m in parts])
    assert ap.UploadArtifactResponse.FromString(raw[0]).artifact.name == name
    got = list(ready.stream("ArtifactService.GetArtifact", ap.GetArtifactRequest(name=name)))
    assert got[0].artifact.size_bytes == len(content)
    assert b"".join(m.chunk for m in got[1:]) == content
    foreign = ap.GetArtifactRequest(name=name)
    assert refused(list, ready.stream("ArtifactService.GetArtifact", foreign, "other")) == (
        "NOT_FOUND",
        "ARTIFACT_UNKNOWN",
    )
    assert ready.server.gate.upload_slots._open == {}


def test_repositories_are_registered_once(server):
    register(server)
    got = server.call("RepositoryService.GetRepository", rp.GetRepositoryRequest(name=REPOSITORY)).repository
    assert got.repository_uri == "https://git.example/shop.git"
    assert refused(register, server) == ("ALREADY_EXISTS", "REPOSITORY_EXISTS")
    listed = server.call("RepositoryService.ListRepositories", rp.ListRepositoriesRequest(parent="owners/-"))
    assert [r.name for r in listed.repositories] == [REPOSITORY]


def test_stopping_ends_watches_with_a_typed_status(tmp_path):
    service = make_service(tmp_path)
    add_people(service)
    with running(service, ServerSettings(address="127.0.0.1:0", limits=LIMITS)) as server:
        register(server)
        approved_ticket(server)
        made = submit(server)
        stream = server.stream("VerificationService.WatchVerification", p.WatchVerificationRequest(name=made.name))
        next(stream)
        server.run(server.server.stop(5))
        assert refused(next, stream) == ("UNAVAILABLE", "GATE_STOPPING")


def test_the_diff_digest_and_report_reach_the_client(ready):
    made = submit(ready)
    decide(ready.service, made.name, Verdict.NEEDS_HUMAN, needs=({"cause": "TIER", "role": "reviewer", "count": 2},))
    got = ready.call("VerificationService.GetVerification", p.GetVerificationRequest(name=made.name)).verification
    assert got.diff_digest == DIFF
    assert [(n.cause, n.count) for n in got.needs] == [("TIER", 2)]
    assert got.findings[1].line == 3
