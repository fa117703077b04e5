"""Tokens: found by scanners, stored as digests, and nothing else is one."""

from __future__ import annotations

import base64
import datetime as dt
import re
from hashlib import sha256

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.errors import InputError
from gatekeeper.formats.credentials import PATTERN, certificate_digest, is_token, new_token, token_digest

TOKEN = new_token(bytes(range(32)))


@given(st.binary(min_size=32, max_size=32))
def test_a_token_is_one_and_holds_all_its_bits(random: bytes) -> None:
    token = new_token(random)
    assert is_token(token)
    assert base64.urlsafe_b64decode(token[3:46] + "=") == random
    assert token_digest(token) == sha256(token.encode()).hexdigest()
    (found,) = re.findall(PATTERN, f"export GATEKEEPER_TOKEN={token}\n")
    assert found == token


@pytest.mark.parametrize("size", [0, 16, 31, 33])
def test_other_numbers_of_random_bytes_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="32 random bytes"):
        new_token(bytes(size))


@given(st.integers(0, len(TOKEN) - 1), st.characters())
def test_one_changed_character_is_no_token(at: int, character: str) -> None:
    changed = TOKEN[:at] + character + TOKEN[at + 1 :]
    assert is_token(changed) == (changed == TOKEN)


@pytest.mark.parametrize(
    "text", ["", "gk_", TOKEN + "x", TOKEN + "\n", " " + TOKEN, TOKEN[:-1], TOKEN.upper(), "g" * 52]
)
def test_other_text_is_no_token_and_is_not_repeated(text: str) -> None:
    with pytest.raises(InputError) as caught:
        token_digest(text)
    assert caught.value.code == "CREDENTIAL_MALFORMED"
    assert not text.strip() or text.strip() == "gk_" or text.strip() not in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    assert not is_token(text)


def certificate() -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ci")])
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    built = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(7)
        .not_valid_before(start).not_valid_after(start + dt.timedelta(days=9)).sign(key, hashes.SHA256())
    )  # fmt: skip
    return built.public_bytes(serialization.Encoding.PEM), built.public_bytes(serialization.Encoding.DER)


def test_a_certificate_is_stored_by_its_der() -> None:
    pem, der = certificate()
    assert certificate_digest(pem) == sha256(der).hexdigest()
    assert certificate_digest(b"# ci of acme\r\n" + pem.replace(b"\n", b"\r\n") + b"\n") == sha256(der).hexdigest()


def test_other_files_are_no_certificate() -> None:
    pem, der = certificate()
    key = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    lines = pem.splitlines(keepends=True)
    for wrong in (b"", der, pem + pem, pem + key, key + pem, lines[0] + lines[-1], lines[0] + b"AAAA\n" + lines[-1],
                  pem.replace(b"M", b"\xff", 1), b"x" * 70_000, b"".join(lines[:-1])):  # fmt: skip
        with pytest.raises(InputError):
            certificate_digest(wrong)


@given(st.binary(max_size=400))
def test_any_bytes_in_a_certificate_are_answered(data: bytes) -> None:
    with pytest.raises(InputError):
        certificate_digest(b"-----BEGIN CERTIFICATE-----\n" + data + b"\n-----END CERTIFICATE-----\n")
