"""Verify a bundle with a certificate against one pinned identity, offline: no root but the pinned one, no connection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatekeeper.domain.trust import Identity
from gatekeeper.errors import ConfigurationError, VerificationRefused
from gatekeeper.formats.dsse import PAYLOAD_TYPE

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.models import TrustedRoot

MAX_ROOT = 4 * 1024 * 1024
"""Cap on a trusted root or trust configuration file; the public one has some kilobytes."""


def read_file(path: str | Path, what: str) -> bytes:
    """A file that the operator names. Raises `ConfigurationError` (KEYLESS_UNUSABLE)."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_ROOT + 1)
    except OSError as error:
        raise ConfigurationError(
            "KEYLESS_UNUSABLE", f"The {what} {str(path)!r} cannot be read: {error.strerror}."
        ) from error
    if len(data) > MAX_ROOT:
        raise ConfigurationError("KEYLESS_UNUSABLE", f"The {what} {str(path)!r} is larger than {MAX_ROOT} bytes.")
    return data


def trusted_root(path: str) -> TrustedRoot:
    """The root in a file. Raises `ConfigurationError` (KEYLESS_UNUSABLE)."""
    from sigstore.models import TrustedRoot

    try:
        # The library's own reader takes a path alone and has no cap, so its parser is used directly.
        from sigstore_models.trustroot import v1

        return TrustedRoot(v1.TrustedRoot.from_json(read_file(path, "trusted root")))
    except ConfigurationError:
        raise
    except Exception as error:
        raise ConfigurationError(
            "KEYLESS_UNUSABLE", f"The trusted root {path!r} is not one: {_line(error)}."
        ) from error


class _OtherIdentityError(Exception):
    """The certificate is for somebody else."""


class _Pinned:
    """The identity policy of one verification: exactly this subject, vouched for by exactly this issuer."""

    def __init__(self, identity: Identity) -> None:
        self._identity = identity

    def verify(self, cert: Certificate) -> None:
        """Called by the library once the certificate's chain, time and log proof hold."""
        from sigstore.errors import VerificationError
        from sigstore.verify import policy

        issuer = policy.AnyOf([policy.OIDCIssuer(self._identity.issuer), policy.OIDCIssuerV2(self._identity.issuer)])
        try:
            policy.AllOf([policy.Identity(identity=self._identity.subject), issuer]).verify(cert)
        except VerificationError as error:
            raise _OtherIdentityError(_line(error)) from error


def verify_keyless(data: bytes, identity: Identity) -> bytes:
    """The payload that the identity signed. Implements `formats.attestation.Keyless`.

    Raises `VerificationRefused`: ATTESTATION_IDENTITY for a certificate of somebody else, ATTESTATION_SIGNATURE_INVALID
    for an edited payload, ATTESTATION_CERTIFICATE where certificate, log entry or time do not hold under the pinned root.
    """
    root = trusted_root(identity.trusted_root)
    return _verified(data, root, identity)


def _verified(data: bytes, root: Any, identity: Identity) -> bytes:
    from sigstore.errors import Error
    from sigstore.models import Bundle
    from sigstore.verify import Verifier

    try:
        bundle = Bundle.from_json(data)
        kind, payload = Verifier(trusted_root=root).verify_dsse(bundle, _Pinned(identity))
    except _OtherIdentityError as error:
        raise VerificationRefused(
            "ATTESTATION_IDENTITY", f"The certificate is not for {identity.fingerprint}: {error}"
        ) from error
    except Exception as error:  # hostile bytes reach several parsers; whatever they raise is a refusal
        edited = isinstance(error, Error) and str(error).startswith("DSSE: invalid signature")
        code = "ATTESTATION_SIGNATURE_INVALID" if edited else "ATTESTATION_CERTIFICATE"
        raise VerificationRefused(code, f"The keyless signature does not hold: {_line(error)}") from error
    if kind != PAYLOAD_TYPE:
        raise VerificationRefused("ATTESTATION_PAYLOAD_TYPE", f"The payload type is not {PAYLOAD_TYPE}.")
    return bytes(payload)


def _line(error: Exception) -> str:
    text = str(error).split("\n", 1)[0][:300]
    return text.encode("ascii", "replace").decode() or type(error).__name__
