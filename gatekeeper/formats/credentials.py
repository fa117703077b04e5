"""Tokens of the service: their form, and the digest by which they are stored. Pure: randomness comes from the caller.

    gk_ + 43 base64url characters (32 random bytes) + 6 base64url characters (CRC-32 of what stands before)

The prefix and the checksum let scanners find leaked tokens without false alarms; they are no secret and prove nothing.
Only the sha256 of the whole token is stored. A token has 256 random bits, so no slow hash is needed against guessing;
and looking the digest up may take a time that depends on it, because whoever learns how much of a digest fits learns
nothing about a token that has it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import zlib

from gatekeeper.errors import InputError

RANDOM_BYTES = 32
_TOKEN = re.compile(r"gk_[A-Za-z0-9_-]{43}[A-Za-z0-9_-]{6}")
_BODY = 3 + 43
PATTERN = r"\bgk_[A-Za-z0-9_-]{49}(?![A-Za-z0-9_-])"
"""For scanners; `is_token` tells whether a match is one of ours."""
MAX_PEM = 64 * 1024


def new_token(random: bytes) -> str:
    """The token around 32 random bytes. Raises `ValueError` for another number of them."""
    if len(random) != RANDOM_BYTES:
        raise ValueError(f"a token needs {RANDOM_BYTES} random bytes")
    body = "gk_" + base64.urlsafe_b64encode(random).decode("ascii").rstrip("=")
    return body + _checksum(body)


def is_token(text: str) -> bool:
    """True where form and checksum are those of a token."""
    return bool(_TOKEN.fullmatch(text)) and text[_BODY:] == _checksum(text[:_BODY])


def token_digest(text: str) -> str:
    """What is stored of a token: sha256 in hexadecimal. Raises `InputError` (CREDENTIAL_MALFORMED), without the text."""
    if not is_token(text):
        raise InputError(
            "CREDENTIAL_MALFORMED", "The token is none: `gk_` and 49 characters with a checksum are expected."
        )
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def certificate_digest(pem: bytes) -> str:
    """What is stored of a client certificate: sha256 of its DER. Takes exactly one certificate and nothing beside it.

    Raises `InputError` (CREDENTIAL_MALFORMED, INPUT_TOO_LARGE).
    """
    if len(pem) > MAX_PEM:
        raise InputError("INPUT_TOO_LARGE", f"The certificate has {len(pem)} bytes; {MAX_PEM} are the most.")
    begin, end = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"
    before, found, rest = pem.partition(begin)
    body, ended, after = rest.partition(end)
    if not found or not ended or begin in after or b"-----BEGIN" in before + after:
        raise InputError("CREDENTIAL_MALFORMED", "One PEM certificate is expected, and nothing else in its file.")
    from cryptography import x509  # loaded only where a certificate is given

    try:
        der = base64.b64decode(b"".join(body.split()), validate=True)
        x509.load_der_x509_certificate(der)
    except (binascii.Error, ValueError) as error:
        raise InputError("CREDENTIAL_MALFORMED", "The certificate cannot be read.") from error
    return hashlib.sha256(der).hexdigest()


def _checksum(body: str) -> str:
    return base64.urlsafe_b64encode(zlib.crc32(body.encode("ascii")).to_bytes(4, "big")).decode("ascii").rstrip("=")
