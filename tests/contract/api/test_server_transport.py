"""Where the server listens, who is let in by certificate, what health says, how it ends, what a slow client costs."""

from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import os
import stat
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
    add_people,
    approved_ticket,
    decide,
    make_service,
    reason_of,
    refused,
    register,
    running,
    uuid4,
)
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from gatekeeper.api.server import ApiServer, ServerSettings, TlsFiles, require_safe
from gatekeeper.api.v1 import changes_pb2 as cp
from gatekeeper.api.v1 import changes_pb2_grpc, verifications_pb2_grpc
from gatekeeper.api.v1 import repositories_pb2 as rp
from gatekeeper.api.v1 import verifications_pb2 as p
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import CredentialRecord
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import ConfigurationError, CouldNotCheck

LOOPBACK = ServerSettings(address="127.0.0.1:0", limits=LIMITS, grace_s=2.0)


@pytest.fixture
def service(tmp_path: Path):
    made = make_service(tmp_path)
    add_people(made)
    return made


def make_certificate(name: str, issuer=None, *, ca: bool = False):
    """(certificate PEM, key PEM, certificate, key), signed by `issuer` or by itself."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[2].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    certificate = builder.sign(issuer[3] if issuer else key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    return (
        certificate.public_bytes(pem),
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
        certificate,
        key,
    )


@pytest.mark.parametrize("address", ["127.0.0.1:0", "127.1.2.3:7433", "[::1]:0", "unix:/run/gate.sock"])
def test_this_machine_needs_no_tls(address: str):
    require_safe(ServerSettings(address=address))


@pytest.mark.parametrize("address", ["0.0.0.0:7433", "[::]:7433", "10.0.0.1:1", "gate.example:7433", "localhost:7433"])
def test_any_other_address_needs_tls(address: str, service):
    with pytest.raises(ConfigurationError) as error:
        require_safe(ServerSettings(address=address))
    assert error.value.code == "TLS_REQUIRED"
    require_safe(ServerSettings(address=address, tls=TlsFiles(b"", b"")))
    service.records.close()


@pytest.mark.parametrize("address", ["", "7433", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999", "unix:", "unix:gate"])
def test_malformed_addresses_are_refused(address: str):
    with pytest.raises(ConfigurationError) as error:
        require_safe(ServerSettings(address=address))
    assert error.value.code == "ADDRESS_UNUSABLE"


def test_a_taken_port_is_told(service, capfd):
    with running(service, LOOPBACK) as server:

        async def second() -> None:
            await ApiServer(service, replace(LOOPBACK, address=server.server.address)).start()

        with pytest.raises(ConfigurationError) as error:
            server.run(second())
        assert error.value.code == "ADDRESS_UNUSABLE"
        assert "in use" in error.value.message
    assert "Failed to add port" not in capfd.readouterr().err, "the transport has no line of its own"


def test_a_certificate_of_the_clients_ca_is_a_credential(service):
    ca = make_certificate("ca", ca=True)
    gate, client, stranger = (make_certificate(n, ca) for n in ("gate.example", "olga", "stranger"))
    from cryptography.hazmat.primitives.serialization import Encoding

    digest = hashlib.sha256(client[2].public_bytes(Encoding.DER)).hexdigest()
    operator = Principal("mtls:ca", "olga", "human")
    with service.records.transaction() as tx:
        tx.add_credential(CredentialRecord("mtls-olga", digest, operator, frozenset({"operator"}), 1.0))
    tls = TlsFiles(gate[0], gate[1], client_ca=ca[0], client_required=True)
    with running(service, replace(LOOPBACK, tls=tls)) as server:

        def call(who) -> rp.ListRepositoriesResponse:
            credentials = grpc.ssl_channel_credentials(ca[0], *((who[1], who[0]) if who else ()))
            options = [("grpc.ssl_target_name_override", "gate.example")]
            with grpc.secure_channel(server.server.address, credentials, options=options) as channel:
                method = channel.unary_unary(
                    "/gatekeeper.api.v1.RepositoryService/ListRepositories",
                    request_serializer=rp.ListRepositoriesRequest.SerializeToString,
                    response_deserializer=rp.ListRepositoriesResponse.FromString,
                )
                return method(rp.ListRepositoriesRequest(parent="owners/-"), timeout=10)

        assert list(call(client).repositories) == []
        assert refused(call, stranger) == ("UNAUTHENTICATED", "CREDENTIAL_INVALID")
        with pytest.raises(grpc.RpcError) as error:
            call(None)
        assert error.value.code() is grpc.StatusCode.UNAVAILABLE


def test_tls_with_unusable_files_does_not_start(service):
    for tls in (TlsFiles(b"x", b"y"), TlsFiles(b"x", b"y", client_required=True)):

        async def start(tls=tls) -> None:
            await ApiServer(service, replace(LOOPBACK, tls=tls)).start()

        with pytest.raises(ConfigurationError) as error:
            asyncio.run(start())
        assert error.value.code == "TLS_UNUSABLE"
    service.records.close()


def test_a_unix_socket_is_its_users_alone(service, tmp_path: Path):
    path = tmp_path / "gate.sock"
    with running(service, replace(LOOPBACK, address=f"unix:{path}")) as server:
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
        register(server)
    assert not path.exists()


def health(server, name: str = "") -> int:
    stub = health_pb2_grpc.HealthStub(server.channel)
    return stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=10).status


def test_health_follows_the_store_and_the_queue(service):
    queue = {"up": True}
    with running(service, LOOPBACK, queue_up=lambda: queue["up"]) as server:
        serving = health_pb2.HealthCheckResponse.SERVING
        _until(lambda: health(server) == serving)
        assert health(server, "gatekeeper.api.v1.VerificationService") == serving
        queue["up"] = False
        _until(lambda: health(server) != serving)
        queue["up"] = True
        _until(lambda: health(server) == serving)
        latest = service.records.latest_event

        def broken() -> int:
            raise CouldNotCheck("STORE_FAILED", "gone", blame="gate")

        service.records.latest_event = broken
        _until(lambda: health(server) != serving)
        service.records.latest_event = latest
        _until(lambda: health(server) == serving)


def test_health_streams_are_counted_follow_changes_and_end_with_the_gate(service):
    queue = {"up": True}
    limits = replace(LIMITS, health_watches=2)
    with running(service, replace(LOOPBACK, limits=limits, grace_s=30.0), queue_up=lambda: queue["up"]) as server:
        serving, other = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
        _until(lambda: health(server) == serving)
        stub = health_pb2_grpc.HealthStub(server.channel)
        streams = [stub.Watch(health_pb2.HealthCheckRequest(), timeout=20) for _ in range(2)]
        assert [next(s).status for s in streams] == [serving, serving]
        with pytest.raises(grpc.RpcError) as error:
            next(stub.Watch(health_pb2.HealthCheckRequest(), timeout=20))
        assert error.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        queue["up"] = False
        assert [next(s).status for s in streams] == [other, other]
        begun = time.monotonic()
        server.run(server.server.stop())
        assert [list(s) for s in streams] == [[], []]
        assert time.monotonic() - begun < 15


def test_reflection_is_off_unless_asked_for(service):
    def ask(server) -> list[str]:
        stub = reflection_pb2_grpc.ServerReflectionStub(server.channel)
        answers = stub.ServerReflectionInfo(
            iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=10
        )
        return [s.name for s in next(answers).list_services_response.service]

    with running(service, replace(LOOPBACK, reflection=True)) as server:
        names = ask(server)
        assert "gatekeeper.api.v1.VerificationService" in names
        assert len(names) == 12
    again = make_service(Path(str(service.blobs._directory)).parent)
    with running(again, LOOPBACK) as server, pytest.raises(grpc.RpcError) as error:
        ask(server)
    assert error.value.code() is grpc.StatusCode.UNIMPLEMENTED


def test_a_crash_tells_the_client_nothing(service, caplog):
    with running(service, LOOPBACK) as server:
        register(server)

        def crash(*_: object) -> None:
            raise ValueError("secret /etc/gatekeeper")

        service.records.reading = crash
        request = cp.GetChangeRequest(name=f"{REPOSITORY}/changes/c1")
        with pytest.raises(grpc.RpcError) as error:
            server.call("ChangeService.GetChange", request)
        assert reason_of(error.value) == ("INTERNAL", "GATE_CRASHED")
        assert "secret" not in str(error.value)
        del service.records.reading
    assert "secret /etc/gatekeeper" in caplog.text


def test_running_calls_end_within_the_grace_and_new_ones_are_told(service):
    with running(service, LOOPBACK) as server:
        register(server)
        server.loop.call_soon_threadsafe(server.server.gate.stopping.set)
        _until(server.server.gate.stopping.is_set)
        request = cp.GetChangeRequest(name=f"{REPOSITORY}/changes/c1")
        assert refused(server.call, "ChangeService.GetChange", request) == ("UNAVAILABLE", "GATE_STOPPING")


def test_work_whose_deadline_passed_is_not_begun(service):
    limits = replace(LIMITS, write_threads=1)
    with running(service, replace(LOOPBACK, limits=limits)) as server:
        register(server)
        free, begun = threading.Event(), threading.Event()

        def hold() -> None:
            begun.set()
            free.wait(20)

        gate = server.server.gate
        server.loop.call_soon_threadsafe(gate.writes._pool.submit, hold)
        assert begun.wait(10)
        question = cp.RaiseQuestionRequest(
            change=f"{REPOSITORY}/changes/q", ticket=TICKET, cause="requirement_conflict", text="?", request_id=uuid4()
        )
        status, _ = refused(server.call, "ChangeService.RaiseQuestion", question, timeout=0.3)
        assert status == "DEADLINE_EXCEEDED"
        free.set()
        gate.writes._pool.submit(lambda: None).result(10)
        request = cp.GetChangeRequest(name=f"{REPOSITORY}/changes/q")
        assert refused(server.call, "ChangeService.GetChange", request) == ("NOT_FOUND", "CHANGE_UNKNOWN")


def test_a_client_that_does_not_read_gets_fewer_snapshots_and_still_the_last(service):
    with running(service, LOOPBACK) as server:
        register(server)
        approved_ticket(server)
        stub = verifications_pb2_grpc.VerificationServiceStub(server.channel)
        metadata = [("authorization", "Bearer agent")]
        submission = p.SubmitRequest(
            parent=REPOSITORY, change_key="c1", target_ref="refs/heads/main", head_commit=HEAD, ticket=TICKET,
            request_id=uuid4(),
        )  # fmt: skip
        made = stub.Submit(submission, metadata=metadata, timeout=10).verification
        stream = stub.WatchVerification(p.WatchVerificationRequest(name=made.name), metadata=metadata, timeout=30)
        first = next(stream).verification
        changes = 300
        with service.records.transaction() as tx:
            record = tx.verification(made.name)
            for number in range(changes):
                record = tx.save_verification(replace(record, step="x" * 1000, runs_done=number))
        decide(service, made.name, Verdict.ACCEPTED)
        got = [m.verification for m in stream]
        revisions = [first.revision, *(v.revision for v in got)]
        assert revisions == sorted(set(revisions))
        assert got[-1].verdict
        assert len(got) < changes / 2


def test_watches_of_one_principal_are_capped(service):
    with running(service, replace(LOOPBACK, limits=replace(LIMITS, watches=2))) as server:
        register(server)
        approved_ticket(server)
        submission = p.SubmitRequest(
            parent=REPOSITORY, change_key="c1", target_ref="refs/heads/main", head_commit=HEAD, ticket=TICKET,
            request_id=uuid4(),
        )  # fmt: skip
        made = server.call("VerificationService.Submit", submission).verification
        request = p.WatchVerificationRequest(name=made.name)
        streams = [server.stream("VerificationService.WatchVerification", request) for _ in range(2)]
        for stream in streams:
            next(stream)
        third = server.stream("VerificationService.WatchVerification", request)
        assert refused(next, third) == ("RESOURCE_EXHAUSTED", "WATCHES_EXHAUSTED")
        next(server.stream("VerificationService.WatchVerification", request, "other"))
        for stream in streams:
            stream.cancel()
        _until(lambda: server.server.gate.watch_slots._open.total() <= 1)


def test_generated_stubs_work(service):
    with running(service, LOOPBACK) as server:
        register(server)
        stub = changes_pb2_grpc.ChangeServiceStub(server.channel)
        answer = stub.ListChanges(
            cp.ListChangesRequest(parent=REPOSITORY), metadata=[("authorization", "Bearer agent")], timeout=10
        )
        assert answer == cp.ListChangesResponse()


def _until(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)
