"""The client against a gate in memory: what it sends, how often, and what it makes of answers, honest and hostile."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from fake_api import HEAD, REPOSITORY, FakeGate, Fault, life, serving, snapshot

from gatekeeper.api.v1.verdict_pb2 import VERDICT_ACCEPTED, VERDICT_REJECTED
from gatekeeper.api.v1.verification_pb2 import Verification as Message
from gatekeeper.client import (
    ApiError,
    Artifact,
    Attestation,
    Client,
    GatekeeperError,
    ModelUsage,
    Patience,
    Review,
    Ticket,
    Verdict,
    VerificationState,
    accepted,
    is_final,
    state_of,
    verdict_of,
)
from gatekeeper.client.failure import from_rpc
from gatekeeper.errors import UsageError

UNAVAILABLE, DEADLINE = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED
NAME = f"{REPOSITORY}/changes/42/verifications/v1"


class Pauses(list):
    """Stands for sleeping: the time the client believes in moves on, nobody waits."""

    now = 0.0

    def __call__(self, seconds: float) -> None:
        self.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


@pytest.fixture
def gate() -> FakeGate:
    return FakeGate()


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def client(gate: FakeGate, pauses: Pauses) -> Iterator[Client]:
    with (
        serving(gate) as address,
        Client(address, token="gk_secret", clock=pauses.clock, sleep=pauses, chance=lambda: 1.0) as made,
    ):
        yield made


def submit(client: Client, **fields: Any) -> Message:
    return client.submit(**{"repository": "acme/shop", "change": "42", "head": HEAD, "ticket": "T-1", **fields})


def test_a_submission_is_sent_whole_with_the_token_and_an_id_of_its_own(client: Client, gate: FakeGate) -> None:
    made = submit(client, claim={"summary": "did it"}, target="release/1", ticket_digest="d" * 64)
    method, request, metadata = gate.calls[-1]
    assert (method, made.name, state_of(made)) == ("Submit", NAME, VerificationState.QUEUED)
    assert (request.parent, request.ticket) == (REPOSITORY, f"{REPOSITORY}/tickets/T-1")
    assert (request.target_ref, request.head_commit) == ("refs/heads/release/1", HEAD)
    assert request.claim_document == b'{"summary":"did it"}'
    assert request.WhichOneof("claim") == "claim_document"
    assert str(uuid.UUID(request.request_id)) == request.request_id
    assert metadata["authorization"] == "Bearer gk_secret"


@pytest.mark.parametrize("code", [UNAVAILABLE, DEADLINE])
def test_a_submission_that_broke_is_sent_again_with_the_same_id(client: Client, gate: FakeGate, code, pauses) -> None:
    gate.faults["Submit"] = [Fault(code), Fault(code, "GATE_STOPPING")]
    made = submit(client)
    assert len({r.request_id for r in gate.requests_of("Submit")}) == 1
    assert len(gate.requests_of("Submit")) == 3
    assert (len(gate.lives), made.name, len(pauses)) == (1, NAME, 2)


def test_a_refusal_is_told_at_once_and_sent_no_second_time(client: Client, gate: FakeGate) -> None:
    gate.faults["Submit"] = [
        Fault(grpc.StatusCode.FAILED_PRECONDITION, "TICKET_NOT_APPROVED", "T-1 waits.", {"field": "ticket"})
    ]
    with pytest.raises(ApiError) as told:
        submit(client)
    error = told.value
    assert (error.reason, error.status, error.message) == ("TICKET_NOT_APPROVED", "FAILED_PRECONDITION", "T-1 waits.")
    assert error.metadata == {"field": "ticket"}
    assert not error.retryable
    assert not error.undecided
    assert error.next_action
    assert len(gate.requests_of("Submit")) == 1


def test_patience_ends(client: Client, gate: FakeGate, pauses: Pauses) -> None:
    gate.faults["Submit"] = [Fault(UNAVAILABLE) for _ in range(100)]
    with pytest.raises(ApiError) as told:
        submit(client)
    assert told.value.reason == "SERVER_UNREACHABLE"
    assert sum(pauses) <= 30
    assert 5 < len(gate.requests_of("Submit")) < 20
    assert pauses[:3] == [0.1, 0.2, 0.4]


def test_a_rate_limit_is_waited_for_but_a_full_store_is_told(client: Client, gate: FakeGate) -> None:
    exhausted = grpc.StatusCode.RESOURCE_EXHAUSTED
    gate.faults["Submit"] = [Fault(exhausted, "RATE_LIMITED"), Fault(exhausted, "QUEUE_FULL")]
    assert submit(client).name
    gate.faults["Submit"] = [Fault(exhausted, "STORAGE_FULL")]
    with pytest.raises(ApiError, match="STORAGE_FULL"):
        submit(client)


def test_large_claims_and_bundles_are_uploaded_by_digest(client: Client, gate: FakeGate, tmp_path: Path) -> None:
    claim, bundle = b"{" + b" " * (2 * 1024 * 1024) + b"}", tmp_path / "work.bundle"
    bundle.write_bytes(b"# v2 git bundle\n" + bytes(3_000_000))
    gate.faults["UploadArtifact"] = [Fault(UNAVAILABLE)]
    submit(client, claim=claim, bundle=bundle)
    request = gate.requests_of("Submit")[0]
    assert gate.artifacts[request.claim_artifact] == claim
    assert gate.artifacts[request.bundle_artifact] == bundle.read_bytes()
    assert gate.kinds[request.claim_artifact] == Artifact.KIND_CLAIM
    assert gate.kinds[request.bundle_artifact] == Artifact.KIND_GIT_BUNDLE
    assert request.WhichOneof("claim") == "claim_artifact"
    assert client.download(request.claim_artifact) == claim


def test_a_claim_of_exactly_the_inline_cap_goes_inline(client: Client, gate: FakeGate) -> None:
    submit(client, claim=b"x" * 1024 * 1024)
    assert not gate.artifacts
    submit(client, change="43", claim=b"x" * (1024 * 1024 + 1))
    assert len(gate.artifacts) == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"claim": b"x" * (8 * 1024 * 1024 + 1)}, "INPUT_TOO_LARGE"),
        ({"claim": b""}, "INPUT_MALFORMED"),
        ({"claim": Path("/nowhere/claim.json")}, "USAGE"),
        ({"repository": "../etc"}, "INPUT_MALFORMED"),
        ({"ticket": "a/b/c"}, "INPUT_MALFORMED"),
    ],
)
def test_what_cannot_be_a_request_is_not_sent(client: Client, gate: FakeGate, fields, code) -> None:
    with pytest.raises(UsageError) as told:
        submit(client, **fields)
    assert told.value.code == code
    assert not gate.calls


def test_a_server_that_stores_another_digest_is_not_believed(client: Client, gate: FakeGate) -> None:
    gate.UploadArtifact = lambda stream, context: (  # type: ignore[method-assign]
        [None for _ in stream],
        __import__("gatekeeper.api.v1.artifacts_pb2", fromlist=["x"]).UploadArtifactResponse(
            artifact=Artifact(name="artifacts/" + "0" * 64)
        ),
    )[1]
    with serving(gate) as address, Client(address) as other, pytest.raises(ApiError, match="SERVER_ANSWER"):
        other.upload(b"{}", Artifact.KIND_CLAIM)


def test_a_download_that_is_not_what_its_name_says_is_refused(client: Client, gate: FakeGate) -> None:
    name = "artifacts/" + hashlib.sha256(b"good").hexdigest()
    gate.artifacts[name] = b"evil"
    with pytest.raises(ApiError, match="digest"):
        client.download(name)


def test_watching_ends_with_the_final_snapshot(client: Client, gate: FakeGate) -> None:
    name = submit(client).name
    seen = list(client.watch(name))
    assert [s.revision for s in seen] == [1, 2, 5]
    assert [is_final(s) for s in seen] == [False, False, True]
    assert accepted(client.wait(name))


def test_a_broken_watch_goes_on_after_the_last_revision(client: Client, gate: FakeGate, pauses: Pauses) -> None:
    name = submit(client).name
    gate.breaks = [1, 0, 1]
    assert [s.revision for s in client.watch(name)] == [1, 2, 5]
    assert [r.after_revision for r in gate.requests_of("WatchVerification")] == [0, 1, 1, 2]
    assert len(pauses) == 3


def test_a_stream_that_ends_too_early_is_attached_again_but_not_for_ever(client, gate, pauses) -> None:
    gate.watcher = lambda request, context: [snapshot(request.name, 1, Message.STATE_RUNNING)]
    watching = client.watch(NAME)
    assert next(watching).revision == 1
    with pytest.raises(ApiError, match="again and again"):
        next(watching)
    assert sum(pauses) <= 31


@pytest.mark.parametrize("return_s", [0.0, 180.0])
def test_a_watch_that_heard_the_server_waits_for_its_return(gate: FakeGate, pauses: Pauses, return_s: float) -> None:
    def restarting(request, context):
        if not request.after_revision:
            yield snapshot(request.name, 1, Message.STATE_RUNNING)
        if pauses.now < 60:
            Fault(UNAVAILABLE, "GATE_STOPPING").abort(context)
        yield snapshot(request.name, 2, Message.STATE_DECIDED, VERDICT_ACCEPTED, current=True)

    gate.watcher = restarting
    patience = Patience(retry_s=5.0, return_s=return_s)
    with (
        serving(gate) as address,
        Client(address, patience=patience, clock=pauses.clock, sleep=pauses, chance=lambda: 1.0) as client,
    ):
        if return_s:
            assert accepted(client.wait(NAME))
        else:
            with pytest.raises(ApiError, match="GATE_STOPPING"):
                client.wait(NAME)
        gate.faults["GetChange"] = [Fault(UNAVAILABLE) for _ in range(100)]
        before = pauses.now
        with pytest.raises(ApiError, match="SERVER_UNREACHABLE"):
            client.get_change("acme/shop#42")
        assert pauses.now - before <= 5


def test_a_restart_right_after_a_submission_is_waited_for(gate: FakeGate, pauses: Pauses) -> None:
    def restarting(request, context):
        if pauses.now < 60:
            Fault(UNAVAILABLE, "GATE_STOPPING").abort(context)
        yield from life(NAME)

    gate.watcher = restarting
    patience = Patience(retry_s=5.0, return_s=180.0)
    with (
        serving(gate) as address,
        Client(address, patience=patience, clock=pauses.clock, sleep=pauses, chance=lambda: 1.0) as client,
    ):
        with pytest.raises(ApiError, match="GATE_STOPPING"):  # never heard: it may not be there at all
            client.wait(NAME)
        assert pauses.now <= 5
        assert accepted(client.wait(submit(client).name))


def test_stale_and_repeated_snapshots_are_dropped(client: Client, gate: FakeGate) -> None:
    def stale(request, context):
        yield snapshot(request.name, 3, Message.STATE_RUNNING)
        yield snapshot(request.name, 2, Message.STATE_QUEUED)
        yield snapshot(request.name, 3, Message.STATE_RUNNING)
        yield snapshot(request.name, 3, Message.STATE_DECIDED, VERDICT_ACCEPTED)

    gate.watcher = stale
    assert [(s.revision, s.state) for s in client.watch(NAME)] == [
        (3, Message.STATE_RUNNING), (3, Message.STATE_DECIDED),
    ]  # fmt: skip


def test_a_snapshot_of_another_verification_is_refused(client: Client, gate: FakeGate) -> None:
    gate.watcher = lambda request, context: life(NAME.replace("v1", "v2"))
    with pytest.raises(ApiError, match="another verification"):
        client.wait(NAME)


def test_a_watch_of_something_unknown_is_told_at_once(client: Client, gate: FakeGate) -> None:
    with pytest.raises(ApiError, match="VERIFICATION_UNKNOWN"):
        client.wait(NAME)
    assert len(gate.calls) == 1


def test_a_silent_stream_ends_with_the_callers_time(gate: FakeGate) -> None:
    gate.watcher = lambda request, context: (gate.stopping.wait(30), iter(()))[1]
    with serving(gate) as address, Client(address) as client:
        with pytest.raises(ApiError) as told:
            client.wait(NAME, timeout=0.2)
        gate.stopping.set()
    assert told.value.status == "DEADLINE_EXCEEDED"
    assert told.value.undecided


def test_a_stream_of_news_without_end_ends_with_the_callers_time(gate: FakeGate) -> None:
    def endless(request, context):
        revision = request.after_revision
        while context.is_active():
            revision += 1
            yield snapshot(request.name, revision, Message.STATE_RUNNING)

    gate.watcher = endless
    with serving(gate) as address, Client(address) as client, pytest.raises(ApiError) as told:
        client.wait(NAME, timeout=0.3)
    assert told.value.reason == "DEADLINE_PASSED"


def test_a_quiet_stream_is_attached_again_after_its_time(gate: FakeGate) -> None:
    calls: list[int] = []

    def quiet(request, context):
        calls.append(request.after_revision)
        if len(calls) == 1:
            yield snapshot(request.name, 4, Message.STATE_RUNNING)
            while context.is_active() and not gate.stopping.wait(0.01):
                pass
        else:
            yield snapshot(request.name, 5, Message.STATE_DECIDED, VERDICT_REJECTED)

    gate.watcher = quiet
    with serving(gate) as address, Client(address, patience=Patience(stream_s=0.2, retry_s=0.0)) as client:
        assert verdict_of(client.wait(NAME)) is Verdict.REJECTED
    assert calls == [0, 4]


def test_an_answer_above_the_cap_is_refused_and_not_asked_for_again(client: Client, gate: FakeGate) -> None:
    name = submit(client).name
    gate.lives[name][-1].repair_brief = "x" * (5 * 1024 * 1024)
    with pytest.raises(ApiError, match="ANSWER_TOO_LARGE"):
        client.get_verification(name)
    assert len(gate.requests_of("GetVerification")) == 1


@pytest.mark.parametrize(
    "raw",
    [b"\xff\xfe garbage", b"", b"\x08\x05\x1a\x04\xff\xff\xff\xff", bytes(2000)],
    ids=["noise", "empty", "any", "zeros"],
)
def test_garbage_in_the_details_counts_as_no_details(client: Client, gate: FakeGate, raw: bytes) -> None:
    gate.faults["GetVerification"] = [Fault(grpc.StatusCode.INTERNAL, raw=raw, message="boom")]
    with pytest.raises(ApiError) as told:
        client.get_verification(NAME)
    assert told.value.reason == "SERVER_ANSWER"
    assert told.value.undecided


@pytest.mark.parametrize(
    ("reason", "domain"),
    [("lower", "gatekeeper"), ("X" * 80, "gatekeeper"), ("A B", "gatekeeper"), ("OK", "elsewhere")],
)
def test_a_reason_that_no_gate_gives_is_not_taken(client: Client, gate: FakeGate, reason: str, domain: str) -> None:
    gate.faults["GetVerification"] = [Fault(grpc.StatusCode.NOT_FOUND, reason, domain=domain)]
    with pytest.raises(ApiError) as told:
        client.get_verification(NAME)
    assert told.value.reason == "SERVER_ANSWER"


def test_a_reason_of_a_newer_gate_is_taken_with_its_text_made_harmless(client: Client, gate: FakeGate) -> None:
    gate.faults["GetVerification"] = [
        Fault(grpc.StatusCode.NOT_FOUND, "SOMETHING_NEW", "bad \x1b[2J\u202e end", {"field": "a\x07b"})
    ]
    with pytest.raises(ApiError) as told:
        client.get_verification(NAME)
    assert told.value.reason == "SOMETHING_NEW"
    assert "\x1b" not in str(told.value)
    assert "\u202e" not in told.value.message
    assert told.value.metadata == {"field": "a\\x07b"}


def test_an_error_that_is_no_gates_at_all_is_told() -> None:
    error = from_rpc(grpc.RpcError(), "there:1")
    assert (error.reason, error.status, error.undecided) == ("SERVER_ANSWER", "UNKNOWN", True)


def test_nobody_there(pauses: Pauses) -> None:
    with Client("127.0.0.1:1", retry_for=0, clock=pauses.clock, sleep=pauses) as client:
        with pytest.raises(ApiError) as told:
            client.get_verification(NAME)
        assert told.value.reason == "SERVER_UNREACHABLE"
        assert "127.0.0.1:1" in told.value.message
        assert not client.ready(0.05)


def test_a_closed_client_says_so(gate: FakeGate) -> None:
    with serving(gate) as address:
        client = Client(address)
        assert client.ready(5)
        assert client.healthy()
        client.close()
        with pytest.raises(ApiError, match="closed"):
            client.get_verification(NAME)
        with pytest.raises(ApiError, match="closed"):
            client.wait(NAME)


def test_pages_are_asked_for_one_by_one(client: Client, gate: FakeGate) -> None:
    for key in range(5):
        submit(client, change=str(key))
    rows = client.list_changes("acme/shop")
    assert next(rows).key == "0"
    assert len(gate.requests_of("ListChanges")) == 1
    assert [c.key for c in rows] == ["1", "2", "3", "4"]
    assert len(gate.requests_of("ListChanges")) == 3
    assert len(list(client.list_verifications("acme/shop"))) == 5
    assert len(list(client.list_verifications("acme/shop#3"))) == 1
    assert gate.requests_of("ListVerifications")[0].parent == f"{REPOSITORY}/changes/-"


def test_a_list_without_end_is_refused(client: Client, gate: FakeGate) -> None:
    gate._paged = lambda rows, request: ([], "again")  # type: ignore[method-assign]
    with pytest.raises(ApiError, match="same page"):
        list(client.list_changes())


def test_the_life_of_a_ticket(client: Client, gate: FakeGate) -> None:
    made = client.create_ticket("acme/shop", b'{"id": "T-1"}')
    client.approve_ticket(made.name, made.digest, comment="good")
    assert client.get_ticket("acme/shop#T-1").state == Ticket.STATE_APPROVED
    amended = client.amend_ticket(made.name, b'{"id": "T-1", "x": 1}', made.etag)
    assert amended.revision == 2
    with pytest.raises(ApiError, match="TICKET_CHANGED"):
        client.reject_ticket(made.name, "0" * 64, "no")
    assert [t.name for t in client.list_tickets("acme/shop")] == [made.name]
    ids = [r.request_id for method, r, _ in gate.calls if hasattr(r, "request_id") and method != "GetTicket"]
    assert len(set(ids)) == len(ids) == 4


def test_everything_else_of_the_api_can_be_called(client: Client, gate: FakeGate) -> None:
    assert client.register_repository("acme/shop", "file:///r.git").name == REPOSITORY
    assert client.get_repository("acme/shop").target_refs == ["refs/heads/main"]
    assert [r.name for r in client.list_repositories()] == [REPOSITORY]
    name = submit(client).name
    assert client.get_change("acme/shop#42").latest_verification == name
    assert client.raise_question("acme/shop#7", "which one?", ticket="T-1")[1].text == "which one?"
    assert gate.requests_of("RaiseQuestion")[0].ticket == f"{REPOSITORY}/tickets/T-1"
    review, change = client.create_review(Review(kind=Review.KIND_APPROVE, verification=name))
    assert review.name.startswith(change.name)
    assert state_of(client.cancel(name)) is VerificationState.CANCELLED
    assert client.abandon_change("acme/shop#42").key == "42"
    gate.attestations = [Attestation(name=f"{REPOSITORY}/attestations/{'1' * 64}", bundle=b"{}", subject_commit=HEAD)]
    assert client.get_attestation(gate.attestations[0].name).bundle == b"{}"
    assert len(list(client.list_attestations("acme/shop", subject_commit=HEAD, target_ref="main"))) == 1
    assert client.report_usage("acme/shop#42", [ModelUsage(model="m", input_tokens=3)]).id == "u1"
    assert list(client.list_events()) == []
    assert list(client.list_audit_entries()) == []


def test_numbers_of_a_newer_gate_are_no_pass() -> None:
    assert verdict_of(Message(state=3, verdict=99)) is None
    assert state_of(Message(state=99)) is None
    assert not is_final(Message(state=99))
    assert not accepted(Message(state=2, verdict=VERDICT_ACCEPTED))
    assert not accepted(Message(state=4, verdict=VERDICT_ACCEPTED))
    assert accepted(Message(state=3, verdict=VERDICT_ACCEPTED, current=True))


def test_an_acceptance_that_counts_no_more_is_none() -> None:
    """After a request for changes, an amended ticket or a newer verdict."""
    assert not accepted(Message(state=3, verdict=VERDICT_ACCEPTED, current=False))


@pytest.mark.parametrize("token", [None, "", " \n"])
def test_a_client_without_a_token_sends_none(gate: FakeGate, token: str | None) -> None:
    with serving(gate) as address, Client(address, token=token) as client:
        assert list(client.list_changes()) == []
    assert "authorization" not in gate.calls[-1][2]


def test_the_line_end_of_a_token_file_is_no_part_of_the_token(gate: FakeGate) -> None:
    with serving(gate) as address, Client(address, token="\tgk_secret \r\n") as client:
        assert list(client.list_changes()) == []
    assert gate.calls[-1][2]["authorization"] == "Bearer gk_secret"


@pytest.mark.parametrize("token", ["gk_a b", "gk_a\nb", b"gk_secret", 7])
def test_a_token_that_is_none_is_a_usage_error(token: Any) -> None:
    with pytest.raises(UsageError, match="CREDENTIAL_MALFORMED") as told:
        Client("127.0.0.1:1", token=token)
    assert "gk_" not in str(told.value)
    assert isinstance(told.value, GatekeeperError)
    assert issubclass(ApiError, GatekeeperError)
