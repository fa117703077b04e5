"""Keyless signer: a short-lived key, a certificate for the gate's own identity, and an entry in a transparency log.

It connects to the services that the operator's trust configuration names and to nothing else; there is no default.
Every signature is verified here before it is handed out, with the identity that enforcers are to pin.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatekeeper.adapters.sigstore_signer.verifier import _line, _verified, read_file
from gatekeeper.domain.ports import SignedAttestation
from gatekeeper.domain.trust import Identity
from gatekeeper.errors import ConfigurationError, CouldNotCheck, GatekeeperError
from gatekeeper.formats.canonical_json import canonical
from gatekeeper.records import dataclass

if TYPE_CHECKING:
    from sigstore.sign import Signer as CertifiedKey

MAX_TOKEN = 64 * 1024

WALL_S = 60.0
"""Wall limit of one signature; a public log answers within some seconds."""

REUSE_S = 240.0
"""A certificate serves several statements of one verification; authorities issue it for ten minutes."""


@dataclass(frozen=True, slots=True)
class KeylessSettings:
    """What the operator must name. Exactly one source of the identity token."""

    trust_config: Path
    """Sigstore client trust configuration (JSON): services and trusted root."""
    identity: str
    issuer: str
    verifier_id: str
    token_file: Path | None = None
    token_env: str | None = None
    ambient: bool = False
    """Take the token from the CI system that this process runs in."""

    def __post_init__(self) -> None:
        """Refuse settings that leave something to guess."""
        given = [self.token_file is not None, self.token_env is not None, self.ambient]
        if sum(given) != 1:
            raise ConfigurationError(
                "KEYLESS_UNUSABLE", "Keyless signing needs exactly one of token_file, token_env and ambient = true."
            )
        if not (self.identity and self.issuer and self.verifier_id):
            raise ConfigurationError("KEYLESS_UNUSABLE", "Keyless signing needs identity, issuer and verifier_id.")


def keyless_verifier_id(identity: str, issuer: str) -> str:
    """The verifier id of a keyless gate where the operator names none."""
    return f"urn:gatekeeper:verifier:keyless:{hashlib.sha256(canonical([issuer, identity])).hexdigest()[:32]}"


class SigstoreSigner:
    """Implements `domain.ports.Signer`; thread-safe, one signature at a time."""

    def __init__(self, settings: KeylessSettings, *, wall_s: float = WALL_S) -> None:
        self._settings = settings
        self._wall_s = wall_s
        self._lock = threading.Lock()
        self._key: CertifiedKey | None = None
        self._made = 0.0
        self._root: Any = None

    @property
    def verifier_id(self) -> str:
        """The verifier id that goes with this identity."""
        return self._settings.verifier_id

    def sign(self, statement: Mapping[str, Any]) -> SignedAttestation:
        """Sign the RFC 8785 form. Raises `CouldNotCheck` (SIGNING_FAILED), blame gate."""
        try:
            payload = canonical(statement)
        except (GatekeeperError, ValueError) as error:
            raise CouldNotCheck("SIGNING_FAILED", f"The statement cannot be signed: {error}") from error
        with self._lock:
            try:
                bundle = _within(self._wall_s, lambda: self._signed(payload))
                own = Identity(self._settings.issuer, self._settings.identity, "")
                same = _verified(bundle.encode(), self._root, own) == payload
            except Exception as error:
                self._key = None
                if isinstance(error, CouldNotCheck):
                    raise
                told = (
                    error.message if isinstance(error, GatekeeperError) else f"{type(error).__name__}: {_line(error)}"
                )
                raise CouldNotCheck("SIGNING_FAILED", f"Keyless signing failed: {told}") from error
        if not same:
            raise CouldNotCheck("SIGNING_FAILED", "The signed payload is not the statement.")
        return SignedAttestation(bundle, hashlib.sha256(payload).hexdigest(), "")

    def _signed(self, payload: bytes) -> str:
        from sigstore import dsse

        class Exact(dsse.Statement):
            # The library's own model refuses a subject with `gitCommit`, which in-toto defines; signing uses only the
            # bytes. A test of this adapter fails if a later version uses more.
            def __init__(self, contents: bytes) -> None:
                self._contents = contents

        return self._certified().sign_dsse(Exact(payload)).to_json()

    def _certified(self) -> CertifiedKey:
        if self._key is None or time.monotonic() - self._made > REUSE_S:
            from sigstore.models import ClientTrustConfig
            from sigstore.oidc import IdentityToken
            from sigstore.sign import SigningContext

            text = read_file(self._settings.trust_config, "trust configuration")
            try:
                config = ClientTrustConfig.from_json(text.decode())
                context = SigningContext.from_trust_config(config)
            except Exception as error:
                raise ConfigurationError(
                    "KEYLESS_UNUSABLE",
                    f"The trust configuration {str(self._settings.trust_config)!r} is not one: {_line(error)}.",
                ) from error
            self._root = config.trusted_root
            with context.signer(IdentityToken(self._token()), cache=True) as key:
                self._key, self._made = key, time.monotonic()
        return self._key

    def _token(self) -> str:
        settings = self._settings
        token: str | None
        if settings.token_file is not None:
            token = read_file(settings.token_file, "identity token")[:MAX_TOKEN].decode("ascii", "replace")
        elif settings.token_env is not None:
            token = os.environ.get(settings.token_env)
        else:
            from sigstore.oidc import detect_credential

            token = detect_credential()
        if not token or not token.strip():
            raise ConfigurationError("KEYLESS_UNUSABLE", "There is no identity token where the settings say.")
        return token.strip()


def _within(wall_s: float, call: Callable[[], str]) -> str:
    """The call's result; it runs in a thread of its own because the library waits for its services without a limit."""
    box: list[tuple[str | None, BaseException | None]] = []

    def run() -> None:
        try:
            box.append((call(), None))
        except BaseException as error:
            box.append((None, error))

    thread = threading.Thread(target=run, name="keyless-sign", daemon=True)
    thread.start()
    thread.join(wall_s)
    if not box:
        raise CouldNotCheck("SIGNING_FAILED", f"The signing services gave no answer within {wall_s:g} s.")
    value, error = box[0]
    if value is None:
        raise error if error is not None else CouldNotCheck("SIGNING_FAILED", "Nothing was signed.")
    return value
