"""Sigstore bundles v0.3 with a public key hint: written, and parsed strictly from hostile bytes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from gatekeeper.errors import InputError, VerificationRefused
from gatekeeper.formats.canonical_json import canonical
from gatekeeper.formats.dsse import PAYLOAD_TYPE, Envelope, envelope_of
from gatekeeper.formats.strict_json import loads

MEDIA_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
MAX_BUNDLE = 2 * 1024 * 1024


def make_bundle(payload: bytes, signature: bytes, *, keyid: str, spki_der: bytes) -> str:
    """One line of JSON. No log entry, no timestamp: the bundle has the guarantee of the key and nothing more."""
    return canonical(
        {
            "mediaType": MEDIA_TYPE,
            "verificationMaterial": {
                "publicKey": {"hint": base64.b64encode(hashlib.sha256(spki_der).digest()).decode()},
                "tlogEntries": [],
            },
            "dsseEnvelope": {
                "payload": base64.b64encode(payload).decode(),
                "payloadType": PAYLOAD_TYPE,
                "signatures": [{"keyid": keyid, "sig": base64.b64encode(signature).decode()}],
            },
        }
    ).decode()


def strict(data: bytes, what: str, limit: int) -> dict[str, Any]:
    """A JSON object from hostile bytes. Raises `VerificationRefused`."""
    if len(data) > limit:
        raise VerificationRefused(
            "ATTESTATION_TOO_LARGE", f"The {what} has {len(data)} bytes, at most {limit} are read."
        )
    try:
        value = loads(data, what=what, code="ATTESTATION_MALFORMED", max_bytes=limit)
    except InputError as error:
        twice = "stands twice" in error.message
        code = "ATTESTATION_DUPLICATE_KEY" if twice else "ATTESTATION_MALFORMED"
        raise VerificationRefused(code, error.message) from error
    if not isinstance(value, dict):
        raise VerificationRefused("ATTESTATION_MALFORMED", f"The {what} is not a JSON object.")
    return value


def is_keyless(data: bytes) -> bool:
    """True for a bundle that brings a certificate; nothing is verified. Raises `VerificationRefused`."""
    material = strict(data, "attestation", MAX_BUNDLE).get("verificationMaterial")
    return isinstance(material, Mapping) and "publicKey" not in material


def parse_bundle(data: bytes) -> Envelope:
    """The envelope of a bundle; nothing is verified yet. Raises `VerificationRefused`."""
    value = strict(data, "attestation", MAX_BUNDLE)
    if value.get("mediaType") != MEDIA_TYPE:
        raise VerificationRefused("ATTESTATION_MALFORMED", f"The media type is not {MEDIA_TYPE}.")
    if not isinstance(value.get("verificationMaterial"), Mapping):
        raise VerificationRefused("ATTESTATION_MALFORMED", "The attestation has no verification material.")
    return envelope_of(value.get("dsseEnvelope"))
