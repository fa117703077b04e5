"""Files that an operator mixed up: the message must say so, and nothing may listen."""

from __future__ import annotations

import asyncio
import datetime as dt
from pathlib import Path

import pytest
from api_server import make_service
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gatekeeper.api.server import ApiServer, ServerSettings, TlsFiles
from gatekeeper.errors import ConfigurationError

NOW = dt.datetime.now(dt.UTC)
PEM = serialization.Encoding.PEM


def pair(passphrase: bytes | None = None) -> tuple[bytes, bytes]:
    """(certificate, key), both PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(NOW - dt.timedelta(days=1))
        .not_valid_after(NOW + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    lock = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    return made.public_bytes(PEM), key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, lock)


def started(folder: Path, tls: TlsFiles) -> str:
    service = make_service(folder)

    async def run() -> None:
        server = ApiServer(service, ServerSettings(address="127.0.0.1:0", tls=tls))
        try:
            await server.start()
        finally:
            await server.stop(0)

    try:
        asyncio.run(run())
    except ConfigurationError as error:
        return error.code
    finally:
        service.records.close()
    return "OK"


@pytest.mark.parametrize("wrong", ["swapped", "of another pair", "passphrase", "client CA"])
def test_tls_files_that_do_not_fit_are_named_as_the_cause(tmp_path, wrong):
    (certificate, key), (_, other), (locked_certificate, locked) = pair(), pair(), pair(b"secret")
    files = {
        "swapped": TlsFiles(key, certificate),
        "of another pair": TlsFiles(certificate, other),
        "passphrase": TlsFiles(locked_certificate, locked),
        "client CA": TlsFiles(certificate, key, client_ca=b"-----BEGIN CERTIFICATE-----\nnone"),
    }
    assert started(tmp_path, files[wrong]) == "TLS_UNUSABLE"


def test_files_that_fit_are_used(tmp_path):
    certificate, key = pair()
    assert started(tmp_path, TlsFiles(certificate, key, client_ca=certificate)) == "OK"
    assert started(tmp_path / "chain", TlsFiles(certificate + pair()[0], key)) == "OK"
