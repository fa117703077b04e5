"""TLS and client certificates: the right ones work, all others are an unreachable server, never a plain connection."""

from __future__ import annotations

import datetime as dt
import ipaddress
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from fake_api import REPOSITORY, FakeGate, life, serving

from gatekeeper.api.v1 import verifications_pb2_grpc
from gatekeeper.client import ApiError, Client, accepted
from gatekeeper.errors import UsageError

NAME = f"{REPOSITORY}/changes/42/verifications/v1"


class Authority:
    """A CA of the test."""

    def __init__(self, name: str) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.certificate = self._sign(self.name, self.key, ca=True)
        self.pem = self.certificate.public_bytes(serialization.Encoding.PEM)

    def _sign(self, subject: x509.Name, key: Any, *, ca: bool) -> x509.Certificate:
        start = dt.datetime.now(dt.UTC) - dt.timedelta(days=1)
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
        return (
            x509.CertificateBuilder()
            .subject_name(subject).issuer_name(self.name).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start).not_valid_after(start + dt.timedelta(days=30))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(names, critical=False)
            .sign(self.key, hashes.SHA256())
        )  # fmt: skip

    def leaf(self, name: str) -> tuple[bytes, bytes]:
        """Certificate and key, PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._sign(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]), key, ca=False)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return made.public_bytes(serialization.Encoding.PEM), private


@contextmanager
def serving_tls(gate: FakeGate, authority: Authority, *, client_ca: bytes | None = None) -> Iterator[str]:
    certificate, key = authority.leaf("gate")
    pool = ThreadPoolExecutor(max_workers=4)
    server = grpc.server(pool)
    verifications_pb2_grpc.add_VerificationServiceServicer_to_server(gate, server)
    credentials = grpc.ssl_server_credentials(
        [(key, certificate)], root_certificates=client_ca, require_client_auth=client_ca is not None
    )
    port = server.add_secure_port("127.0.0.1:0", credentials)
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(grace=None).wait()
        pool.shutdown(wait=True)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("ours")


@pytest.fixture
def gate() -> FakeGate:
    made = FakeGate()
    made.lives[NAME] = life(NAME)
    return made


def test_a_server_is_believed_by_its_ca(gate: FakeGate, authority: Authority, tmp_path: Path) -> None:
    place = tmp_path / "ca.pem"
    place.write_bytes(authority.pem)
    with serving_tls(gate, authority) as address:
        with Client(address, token="gk_t", ca=place) as client:
            assert accepted(client.wait(NAME))
        with Client(address, token="gk_t", ca=Authority("theirs").pem, retry_for=0) as client:
            with pytest.raises(ApiError, match="SERVER_UNREACHABLE"):
                client.get_verification(NAME)
        with Client(address, token="gk_t", retry_for=0, timeout=2) as client:  # loopback in clear: no TLS is spoken
            with pytest.raises(ApiError) as told:
                client.get_verification(NAME)
            assert told.value.undecided
    assert {metadata["authorization"] for _, _, metadata in gate.calls} == {"Bearer gk_t"}
    assert len(gate.calls) == 1


def test_tls_that_was_asked_for_is_never_given_up(gate: FakeGate, authority: Authority) -> None:
    with serving(gate) as address, Client(address, token="gk_t", ca=authority.pem, retry_for=0, timeout=2) as client:
        with pytest.raises(ApiError) as told:
            client.get_verification(NAME)
    assert told.value.undecided
    assert not gate.calls


def test_a_client_certificate_speaks_for_its_owner(gate: FakeGate, authority: Authority) -> None:
    with serving_tls(gate, authority, client_ca=authority.pem) as address:
        with Client(address, ca=authority.pem, certificate=authority.leaf("agent-7")) as client:
            assert accepted(client.get_verification(NAME))
        for other in (None, Authority("theirs").leaf("agent-7")):
            with Client(address, ca=authority.pem, certificate=other, retry_for=0, timeout=2) as client:
                with pytest.raises(ApiError) as told:
                    client.get_verification(NAME)
                assert told.value.undecided


@pytest.mark.parametrize("pem", [b"", b"not pem", Path("/nowhere.pem")])
def test_what_is_no_pem_is_told_at_once(pem: bytes | Path) -> None:
    with pytest.raises(UsageError) as told:
        Client("gate.example:443", ca=pem)
    assert told.value.code == "CREDENTIAL_MALFORMED"
