"""Signer with an ECDSA P-256 key file on this machine, made at first use and readable by its owner alone."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatekeeper.domain.ports import SignedAttestation
from gatekeeper.domain.trust import PublicKey
from gatekeeper.errors import ConfigurationError, CouldNotCheck, GatekeeperError, UsageError
from gatekeeper.formats.approvals import verify_approvals
from gatekeeper.formats.canonical_json import canonical
from gatekeeper.formats.dsse import Envelope, pae
from gatekeeper.formats.signatures import public_key
from gatekeeper.formats.sigstore_bundle import make_bundle

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = ["LocalKeySigner", "load_key", "local_verifier_id", "new_key", "public_pem", "verify_approvals"]

MAX_KEY_FILE = 16 * 1024


def local_verifier_id(key: PublicKey) -> str:
    """The verifier id of a key that speaks for this machine's own gate."""
    return f"urn:gatekeeper:verifier:local:{key.fingerprint}"


def new_key(path: Path) -> EllipticCurvePrivateKey:
    """Make a key file: exclusive, 0600, in a 0700 directory where that is new.

    Raises `FileExistsError` where the path is taken, `ConfigurationError` (KEY_UNUSABLE) where it cannot be written.
    """
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = generate_private_key(SECP256R1())
    data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    draft = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.link(draft, path)  # whole or not at all, and never over another key
        finally:
            draft.unlink(missing_ok=True)
    except FileExistsError:
        raise
    except OSError as error:
        raise ConfigurationError("KEY_UNUSABLE", f"The key {str(path)!r} cannot be made: {error.strerror}.") from error
    return key


def load_key(path: Path) -> EllipticCurvePrivateKey:
    """Read a key file. Raises `ConfigurationError` (KEY_UNUSABLE) for a link, a file open to others, another kind."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    def unusable(why: str) -> ConfigurationError:
        return ConfigurationError("KEY_UNUSABLE", f"The key {str(path)!r} cannot be used: {why}.")

    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise unusable(error.strerror or "unreadable") from error
    try:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            raise unusable("it is no regular file")
        if facts.st_mode & 0o077:
            raise unusable(f"its mode {stat.S_IMODE(facts.st_mode):04o} lets others in; make it 0600")
        if facts.st_uid != os.geteuid():
            raise unusable("it belongs to another user")
        data = os.read(handle, MAX_KEY_FILE)
    except OSError as error:
        raise unusable(error.strerror or "unreadable") from error
    finally:
        os.close(handle)
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise unusable("it is not an unencrypted PEM private key") from None
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise unusable("it is not ECDSA on P-256")
    return key


def public_pem(path: Path) -> str:
    """The public half of a key file, PEM."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return load_key(path).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def load_cryptography() -> None:
    """Import what signing needs, and make nothing. Call it while something else is waited for, or not at all."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: F401
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: F401
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: F401
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: F401


class LocalKeySigner:
    """Implements `domain.ports.Signer`. The key is made or read at first use."""

    def __init__(self, path: Path, *, create: bool = True, verifier_id: str | None = None) -> None:
        self._path, self._create, self._verifier_id = path, create, verifier_id
        self._loaded: EllipticCurvePrivateKey | None = None

    def _key(self) -> EllipticCurvePrivateKey:
        if self._loaded is None:
            if self._create and not os.path.lexists(self._path):
                # Another process may make it in this moment; then it is read like any other.
                with contextlib.suppress(FileExistsError):
                    new_key(self._path)
            self._loaded = load_key(self._path)
        return self._loaded

    @property
    def path(self) -> Path:
        """The key file."""
        return self._path

    @property
    def public(self) -> PublicKey:
        """The public half."""
        return public_key(self._key().public_key())

    @property
    def verifier_id(self) -> str:
        """The verifier id that goes with this key."""
        return self._verifier_id or local_verifier_id(self.public)

    def sign(self, statement: Mapping[str, Any]) -> SignedAttestation:
        """Sign the RFC 8785 form. Raises `CouldNotCheck` (SIGNING_FAILED), blame gate."""
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.hashes import SHA256

        try:
            payload = canonical(statement)
            signature = self._key().sign(pae(payload), ECDSA(SHA256()))
            public = self.public
        except UsageError:
            raise
        except (GatekeeperError, ValueError) as error:
            raise CouldNotCheck("SIGNING_FAILED", f"The statement cannot be signed: {error}") from error
        envelope = Envelope(payload, signature, public.fingerprint)
        bundle = make_bundle(payload, signature, keyid=public.fingerprint, spki_der=public.der)
        return SignedAttestation(bundle, envelope.payload_sha256, public.fingerprint)
