"""ECDSA P-256 signatures over DSSE envelopes: key parsing, fingerprints, verification. Pure computation."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gatekeeper.domain.trust import PublicKey
from gatekeeper.errors import ConfigurationError, VerificationRefused
from gatekeeper.formats.dsse import Envelope, pae
from gatekeeper.formats.sigstore_bundle import MAX_BUNDLE, strict

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey


def public_key(key: EllipticCurvePublicKey) -> PublicKey:
    """The parts of a key that the gate keeps."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    blob = base64.b64decode(key.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).split()[1])
    print_ = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return PublicKey(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo), f"SHA256:{print_}")


def parse_public_key(pem: str) -> PublicKey:
    """A PEM public key on P-256. Raises `ConfigurationError` (TRUST_MALFORMED)."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(pem.encode())
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ConfigurationError("TRUST_MALFORMED", "A public key is not PEM that can be read.") from None
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
        raise ConfigurationError("TRUST_MALFORMED", "A public key is not ECDSA on P-256.")
    return public_key(key)


def verified(envelope: Envelope, keys: Sequence[PublicKey]) -> tuple[PublicKey, dict[str, Any]]:
    """The key that signed, and the statement. Every key is tried; the payload is parsed only after that.

    Raises `VerificationRefused`: ATTESTATION_UNKNOWN_KEY where the hint names no pinned key,
    ATTESTATION_SIGNATURE_INVALID where it does, so the payload or the signature was edited.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    for key in keys:
        loaded = load_der_public_key(key.der)
        if not isinstance(loaded, EllipticCurvePublicKey):
            continue
        try:
            loaded.verify(envelope.signature, pae(envelope.payload), ECDSA(SHA256()))
        except InvalidSignature:
            continue
        return key, strict(envelope.payload, "statement", MAX_BUNDLE)
    if envelope.keyid in {k.fingerprint for k in keys}:
        raise VerificationRefused(
            "ATTESTATION_SIGNATURE_INVALID", "The signature does not fit the payload: one of the two was edited."
        )
    raise VerificationRefused("ATTESTATION_UNKNOWN_KEY", "No key of the trust file made this signature.")
