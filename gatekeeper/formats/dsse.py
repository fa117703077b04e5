"""DSSE envelopes: the pre-authentication encoding and a strict parser."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from typing import Any

from gatekeeper.errors import VerificationRefused
from gatekeeper.records import dataclass

PAYLOAD_TYPE = "application/vnd.in-toto+json"
MAX_PAYLOAD = 1024 * 1024
MAX_SIGNATURE = 1024


@dataclass(frozen=True, slots=True)
class Envelope:
    """One payload with exactly one signature; nothing is verified yet."""

    payload: bytes
    signature: bytes
    keyid: str
    """A hint for error messages, never used to choose a key."""

    @property
    def payload_sha256(self) -> str:
        """The digest that names the attestation."""
        return hashlib.sha256(self.payload).hexdigest()


def pae(payload: bytes, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """The bytes that are signed."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def decode(text: object, what: str, limit: int) -> bytes:
    """Strict base64 of a size-capped field. Raises `VerificationRefused`."""
    if not isinstance(text, str):
        raise VerificationRefused("ATTESTATION_MALFORMED", f"The {what} of the attestation is not base64 text.")
    if len(text) > limit * 4 // 3 + 8:
        raise VerificationRefused("ATTESTATION_TOO_LARGE", f"The {what} is larger than {limit} bytes.")
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise VerificationRefused("ATTESTATION_MALFORMED", f"The {what} of the attestation is not base64.") from None


def envelope_of(value: object) -> Envelope:
    """The envelope in parsed JSON. Raises `VerificationRefused` with the code of what is wrong."""
    if not isinstance(value, Mapping) or not {"payload", "payloadType", "signatures"} <= set(value):
        raise VerificationRefused("ATTESTATION_MALFORMED", "The attestation holds no DSSE envelope.")
    if value["payloadType"] != PAYLOAD_TYPE:
        raise VerificationRefused("ATTESTATION_PAYLOAD_TYPE", f"The payload type is not {PAYLOAD_TYPE}.")
    signatures: Any = value["signatures"]
    if not isinstance(signatures, list) or len(signatures) != 1 or not isinstance(signatures[0], Mapping):
        raise VerificationRefused("ATTESTATION_SIGNATURE_COUNT", "The envelope must hold exactly one signature.")
    keyid = signatures[0].get("keyid", "")
    return Envelope(
        payload=decode(value["payload"], "payload", MAX_PAYLOAD),
        signature=decode(signatures[0].get("sig"), "signature", MAX_SIGNATURE),
        keyid=keyid[:200] if isinstance(keyid, str) else "",
    )
