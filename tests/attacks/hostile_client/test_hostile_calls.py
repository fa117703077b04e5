"""Every rpc, called by somebody who means harm: typed refusals, and nothing of it stays."""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import threading
import time
from dataclasses import replace
from pathlib import Path

import grpc
import pytest
from api_server import (
    HEAD,
    LIMITS,
    REPOSITORY,
    TICKET,
    Running,
    add_people,
    add_token,
    make_service,
    methods,
    reason_of,
    refused,
    request_class,
    running,
    uuid4,
)
from hostile_calls import files, refusal, rows

from gatekeeper.api.permissions import RULES
from gatekeeper.api.server import ServerSettings
from gatekeeper.api.v1 import artifacts_pb2 as ap
from gatekeeper.api.v1 import changes_pb2 as cp
from gatekeeper.api.v1 import repositories_pb2 as rp
from gatekeeper.api.v1 import verifications_pb2 as p
from gatekeeper.domain.principal import Role

NAMES = sorted(methods())
FOR = {Role.AGENT: "agent", Role.REVIEWER: "reviewer", Role.OPERATOR: "operator", Role.ENFORCER: "enforcer"}


def entitled(name: str) -> str:
    """Somebody who may call it."""
    return FOR[min(RULES[name].roles, key=list(Role).index)]


@pytest.fixture(autouse=True)
def nothing_stays(server: Running):
    before = rows(server), files(server), len(server.service.queue.enqueued)
    yield
    assert (rows(server), files(server), len(server.service.queue.enqueued)) == before
    assert server.server.gate.watch_slots._open == {}
    assert server.server.gate.upload_slots._open == {}


@pytest.mark.parametrize("name", NAMES)
def test_without_a_credential(server: Running, name: str):
    assert refusal(server, name, [b""], None) == "CREDENTIAL_MISSING"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "header",
    ["Bearer nobody", "Bearer ", "Basic YTpi", "Bearer a b", "agent", "Bearer " + "x" * 600],
)
def test_with_a_bad_credential(server: Running, name: str, header: str):
    assert refusal(server, name, [b""], metadata=[("authorization", header)]) == "CREDENTIAL_INVALID"


def test_with_two_credentials(server: Running):
    metadata = [("authorization", "Bearer agent"), ("authorization", "Bearer operator")]
    assert refusal(server, "ChangeService.GetChange", [b""], metadata=metadata) == "CREDENTIAL_INVALID"


@pytest.mark.parametrize("name", NAMES)
def test_in_the_wrong_role(server: Running, name: str):
    for role, token in FOR.items():
        if role not in RULES[name].roles:
            assert refusal(server, name, [b""], token) == "ROLE_REQUIRED"


@pytest.mark.parametrize("name", NAMES)
def test_with_bytes_that_are_no_message(server: Running, name: str):
    for garbage in (b"\xff" * 64, b"\x0a\x7f", b"\x08" + b"\x80" * 20, b"{}"):
        assert refusal(server, name, [garbage], entitled(name)) in ("INPUT_MALFORMED", "ARTIFACT_SEQUENCE")


@pytest.mark.parametrize("name", NAMES)
def test_with_nothing_at_all(server: Running, name: str):
    assert refusal(server, name, [], entitled(name)) in ("INPUT_MALFORMED", "ARTIFACT_SEQUENCE")


@pytest.mark.parametrize("name", [n for n in NAMES if not methods()[n].client_streaming])
def test_with_two_messages_where_one_is_due(server: Running, name: str):
    assert refusal(server, name, [b"", b""], entitled(name)) == "INPUT_MALFORMED"


@pytest.mark.parametrize("name", NAMES)
def test_with_an_empty_message(server: Running, name: str):
    expected = {"ArtifactService.UploadArtifact": "ARTIFACT_SEQUENCE", "AuditService.ListAuditEntries": "OK"}
    assert refusal(server, name, [b""], entitled(name)) == expected.get(name, "INPUT_MALFORMED")


@pytest.mark.parametrize("name", NAMES)
def test_with_more_than_the_rpc_takes(server: Running, name: str):
    # An unknown field: the message is well formed, only too long.
    size = RULES[name].max_request
    body = b"\xfa\x7f" + _varint(size) + b"x" * size
    assert refusal(server, name, [body], entitled(name)) == "INPUT_TOO_LARGE"


def test_with_more_than_the_transport_takes(server: Running):
    body = b"\xfa\x7f" + _varint(5 << 20) + b"x" * (5 << 20)
    with pytest.raises(grpc.RpcError) as error:
        server.raw("VerificationService.Submit", [body])
    assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.mark.parametrize("name", NAMES)
def test_with_a_deadline_that_passed(server: Running, name: str):
    with pytest.raises(grpc.RpcError) as error:
        server.raw(name, [b""], entitled(name), timeout=1e-9)
    assert error.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED


def test_names_of_others_are_no_oracle(server: Running):
    name = f"{REPOSITORY}/changes/none"
    message = cp.GetChangeRequest(name=name).SerializeToString()
    assert refusal(server, "ChangeService.GetChange", [message]) == "CHANGE_UNKNOWN"
    message = ap.GetArtifactRequest(name="artifacts/" + "0" * 64).SerializeToString()
    assert refusal(server, "ArtifactService.GetArtifact", [message]) == "ARTIFACT_UNKNOWN"


SUBMIT = {
    "parent": REPOSITORY, "change_key": "c1", "target_ref": "refs/heads/main", "head_commit": HEAD, "ticket": TICKET,
    "request_id": "00000000-0000-4000-8000-000000000000",
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("parent", "owners/acme/repositories/none", "INPUT_MALFORMED"),
        ("change_key", "../c", "INPUT_MALFORMED"),
        ("change_key", "c" * 65, "INPUT_MALFORMED"),
        ("target_ref", "main", "INPUT_MALFORMED"),
        ("target_ref", "refs/heads/--upload-pack=x", "INPUT_MALFORMED"),
        ("target_ref", "refs/heads/other", "TARGET_NOT_ALLOWED"),
        ("head_commit", "HEAD", "INPUT_MALFORMED"),
        ("head_commit", "A" * 40, "INPUT_MALFORMED"),
        ("ticket", f"{REPOSITORY}/tickets/none", "TICKET_UNKNOWN"),
        ("ticket", "owners/a/repositories/b/tickets/T-1", "INPUT_MALFORMED"),
        ("ticket_digest", "0" * 64, "TICKET_CHANGED"),
        ("ticket_digest", "0" * 63, "INPUT_MALFORMED"),
        ("claim_document", b"x" * (1024 * 1024 + 1), "INPUT_TOO_LARGE"),
        ("claim_artifact", "artifacts/" + "0" * 64, "ARTIFACT_UNKNOWN"),
        ("bundle_artifact", "artifacts/" + "0" * 64, "ARTIFACT_UNKNOWN"),
        ("purpose", 3, "INPUT_MALFORMED"),
        ("purpose", 99, "INPUT_MALFORMED"),
        ("merge_group", "g", "INPUT_MALFORMED"),
        ("on_behalf_of", "o" * 257, "INPUT_TOO_LARGE"),
        ("on_behalf_of", "a\x00b", "INPUT_MALFORMED"),
        ("request_id", "1", "INPUT_MALFORMED"),
    ],
)
def test_submissions_with_one_bad_field(server: Running, field: str, value: object, reason: str):
    message = p.SubmitRequest(**{**SUBMIT, field: value})
    assert refusal(server, "VerificationService.Submit", [message.SerializeToString()]) == reason


def test_sources_with_credentials_or_other_schemes(server: Running):
    for uri in ("http://h/a", "https://u:secret@h/a", "ext::sh", "file://h/a", "ssh://-oX@h/a"):
        wanted = {"source_uri": uri, "target_refs": ["refs/heads/main"], "mode": "MODE_ENFORCED"}
        message = rp.RegisterRepositoryRequest(
            parent="owners/o", repository_id="r", repository=wanted, request_id=uuid4()
        )
        name = "RepositoryService.RegisterRepository"
        assert refusal(server, name, [message.SerializeToString()], "operator") == "INPUT_MALFORMED"


CONTENT = b"x" * 100
DIGEST = hashlib.sha256(CONTENT).hexdigest()


def parts(*chunks: bytes, **header: object) -> list[bytes]:
    wanted = {"sha256": DIGEST, "size_bytes": len(CONTENT), "kind": "KIND_CLAIM", **header}
    rows = [ap.UploadArtifactRequest(header=wanted), *(ap.UploadArtifactRequest(chunk=c) for c in chunks)]
    return [r.SerializeToString() for r in rows]


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (parts(b"x" * 100, sha256="0" * 64), "ARTIFACT_DIGEST"),
        (parts(b"x" * 99), "ARTIFACT_SIZE"),
        (parts(b"x" * 101), "ARTIFACT_SIZE"),
        (parts(), "ARTIFACT_SIZE"),
        (parts(b"x" * 50, b"", b"x" * 50), "ARTIFACT_SEQUENCE"),
        (parts(b"x" * 50) + parts(b"x" * 50), "ARTIFACT_SEQUENCE"),
        (parts(b"x" * 100)[1:], "ARTIFACT_SEQUENCE"),
        (parts(b"x" * 100)[::-1], "ARTIFACT_SEQUENCE"),
        (parts(b"x" * 100, kind="KIND_UNSPECIFIED"), "INPUT_MALFORMED"),
        (parts(b"x" * 100, size_bytes=0), "INPUT_MALFORMED"),
        (parts(b"x" * 100, size_bytes=-1), "INPUT_MALFORMED"),
        (parts(b"x" * 100, size_bytes=9 << 20), "INPUT_TOO_LARGE"),
        (parts(b"x" * (1024 * 1024 + 1), size_bytes=2 << 20), "INPUT_TOO_LARGE"),
        (parts(b"x" * 100, sha256="../../etc/passwd"), "INPUT_MALFORMED"),
    ],
)
def test_uploads_out_of_order_short_long_or_other(server: Running, messages: list[bytes], reason: str):
    assert refusal(server, "ArtifactService.UploadArtifact", messages) == reason


def test_an_upload_that_is_broken_off_leaves_nothing(server: Running):
    over = threading.Event()

    def slow():
        yield from parts(b"x" * 50)
        over.wait(30)

    call = server.channel.stream_unary("/gatekeeper.api.v1.ArtifactService/UploadArtifact")
    future = call.future(slow(), metadata=[("authorization", "Bearer agent")], timeout=30)
    _until(lambda: server.server.gate.upload_slots._open.total() == 1)
    future.cancel()
    over.set()
    _until(lambda: server.server.gate.upload_slots._open.total() == 0)


def test_a_client_that_stops_in_the_middle_is_held_to_its_time(tmp_path: Path):
    service = make_service(tmp_path)
    add_people(service)
    limits = replace(LIMITS, chunk_wait_s=0.2)
    with running(service, ServerSettings(address="127.0.0.1:0", limits=limits)) as server:
        over = threading.Event()

        def never():
            yield from parts(b"x" * 50)
            over.wait(30)

        def nothing():
            over.wait(30)
            yield b""

        for name, messages in (
            ("ArtifactService.UploadArtifact", never()),
            ("VerificationService.Submit", nothing()),
        ):
            service_name, method = name.split(".")
            call = server.channel.stream_unary(f"/gatekeeper.api.v1.{service_name}/{method}")
            call_refused = refused(call, messages, metadata=[("authorization", "Bearer agent")], timeout=20)
            assert call_refused == ("DEADLINE_EXCEEDED", "DEADLINE_PASSED")
        over.set()
        assert files(server) == []
        _until(lambda: server.server.gate.upload_slots._open.total() == 0)


def test_uploads_watches_and_calls_are_counted_by_principal(tmp_path: Path):
    service = make_service(tmp_path)
    add_people(service)
    limits = replace(LIMITS, uploads=1, calls_per_s=0.001, burst=4)
    with running(service, ServerSettings(address="127.0.0.1:0", limits=limits)) as server:
        over = threading.Event()

        def slow():
            yield from parts(b"x" * 50)
            over.wait(30)

        call = server.channel.stream_unary("/gatekeeper.api.v1.ArtifactService/UploadArtifact")
        future = call.future(slow(), metadata=[("authorization", "Bearer agent")], timeout=20)
        _until(lambda: server.server.gate.upload_slots._open.total() == 1)
        assert refusal(server, "ArtifactService.UploadArtifact", parts(b"x" * 100)) == "UPLOADS_EXHAUSTED"
        future.cancel()
        over.set()
        name = "ChangeService.GetChange"
        request = cp.GetChangeRequest(name=f"{REPOSITORY}/changes/x").SerializeToString()
        assert [refusal(server, name, [request]) for _ in range(3)] == [
            "CHANGE_UNKNOWN",
            "CHANGE_UNKNOWN",
            "RATE_LIMITED",
        ]
        assert refusal(server, name, [request], "other") == "CHANGE_UNKNOWN"


def test_expired_and_revoked_tokens_and_unknown_roles_open_nothing(tmp_path: Path):
    service = make_service(tmp_path)
    now = service.clock.now()
    add_token(service, "expired", "e", "agent", "agent", expire_time=now - 1)
    add_token(service, "revoked", "r", "agent", "agent", revoke_time=now)
    add_token(service, "fancy", "f", "agent", "superuser")
    add_token(service, "ghost", "g", "ghost", "agent")
    add_token(service, "good", "h", "agent", "agent", expire_time=now + 10)
    with running(service) as server:
        request = cp.GetChangeRequest(name=f"{REPOSITORY}/changes/x").SerializeToString()
        reasons = {t: refusal(server, "ChangeService.GetChange", [request], t) for t in (
            "expired", "revoked", "fancy", "ghost", "good",
        )}  # fmt: skip
        assert reasons == {
            "expired": "CREDENTIAL_INVALID",
            "revoked": "CREDENTIAL_INVALID",
            "fancy": "ROLE_REQUIRED",
            "ghost": "CREDENTIAL_INVALID",
            "good": "CHANGE_UNKNOWN",
        }
        service.clock.time = now + 11
        assert refusal(server, "ChangeService.GetChange", [request], "good") == "CREDENTIAL_INVALID"


def test_unknown_methods_are_the_transports_business(server: Running):
    call = server.channel.unary_unary("/gatekeeper.api.v1.ChangeService/DeleteEverything")
    with pytest.raises(grpc.RpcError) as error:
        call(b"", metadata=[("authorization", "Bearer operator")], timeout=10)
    assert error.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert reason_of(error.value) == ("UNIMPLEMENTED", "")


def test_raw_bytes_on_the_port_do_no_harm(server: Running):
    host, port = server.server.address.split(":")
    for data in (
        b"GET / HTTP/1.1\r\n\r\n",
        os.urandom(4096),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + struct.pack(">IB", 0xFFFFFF, 4),
    ):
        with socket.create_connection((host, int(port)), timeout=5) as connection:
            connection.sendall(data)
    message = cp.GetChangeRequest(name=f"{REPOSITORY}/changes/x").SerializeToString()
    assert refusal(server, "ChangeService.GetChange", [message]) == "CHANGE_UNKNOWN"


def test_the_messages_of_all_rpcs_are_covered():
    assert {request_class(n).DESCRIPTOR.name for n in NAMES} == {m.input_type.name for m in methods().values()}


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _until(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)
