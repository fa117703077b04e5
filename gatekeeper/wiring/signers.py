"""Factories of signers and of what verifies their statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gatekeeper.config import Paths
from gatekeeper.domain.decision import Approval
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.gate_settings import (
    SigningKind,
    SigningSettings,
)
from gatekeeper.wiring import machine

if TYPE_CHECKING:
    from gatekeeper.adapters.local_key_signer import LocalKeySigner
    from gatekeeper.adapters.sigstore_signer import SigstoreSigner
    from gatekeeper.domain.trust import Trust
    from gatekeeper.formats.attestation import Keyless


def approval_verifier(trust: bytes | None) -> Callable[..., tuple[tuple[Approval, ...], tuple[Finding, ...]]]:
    """Verifies approvals against the operator's trust file; without one no approval counts."""

    def verifier(bundles: Sequence[bytes], **binding: Any) -> tuple[tuple[Approval, ...], tuple[Finding, ...]]:
        if not bundles:
            return (), ()
        if trust is None:
            many = "An approval is" if len(bundles) == 1 else f"{len(bundles)} approvals are"
            message = f"{many} here, but no --trust file says which reviewers' keys count, so none counts."
            return (), (finding("APPROVAL_WITHOUT_TRUST", message, key="trust"),)
        from gatekeeper.adapters.local_key_signer import verify_approvals
        from gatekeeper.formats.trust import parse_trust

        return verify_approvals(bundles, parse_trust(trust), **binding)

    return verifier


def gate_signer(where: Paths, verifier_id: str | None) -> LocalKeySigner | SigstoreSigner:
    """Signer of the server: the gate's key, made at first use, with the verifier id that enforcers pin."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    settings = machine.gate_settings(where).signing
    if settings.kind is SigningKind.KEYLESS:
        return keyless_signer(settings, verifier_id)
    path = settings.key or where.keys / "gate.pem"
    verifier_id = verifier_id or settings.verifier_id
    signer = LocalKeySigner(path, create=settings.key is None)
    if verifier_id is None:
        verifier_id = f"urn:gatekeeper:verifier:{signer.public.fingerprint}"
    return LocalKeySigner(path, create=settings.key is None, verifier_id=verifier_id)


def review_desk(where: Paths) -> LocalKeySigner:
    """Signer of what reviewers decide at the API. Not the gate's key: an enforcer pins both, each for its own purpose."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    return LocalKeySigner(where.keys / "desk.pem")


def desk_verifier(
    trust: bytes | None, desk: LocalKeySigner
) -> Callable[..., tuple[tuple[Approval, ...], tuple[Finding, ...]]]:
    """Verifies approvals against the operator's reviewers and against the service's own desk."""

    def verifier(bundles: Sequence[bytes], **binding: Any) -> tuple[tuple[Approval, ...], tuple[Finding, ...]]:
        if not bundles:
            return (), ()
        from gatekeeper.adapters.local_key_signer import verify_approvals
        from gatekeeper.domain.trust import Trust, TrustedReviewer
        from gatekeeper.formats.approvals import reviewers_named
        from gatekeeper.formats.trust import parse_trust

        own = parse_trust(trust) if trust is not None else Trust((), (), ())
        # The desk speaks for everybody whose approval it took; that is what its key is for.
        rows = [TrustedReviewer(name, desk.public) for name in reviewers_named(bundles)]
        return verify_approvals(bundles, replace(own, reviewers=(*own.reviewers, *rows)), **binding)

    return verifier


def local_signer(where: Paths) -> LocalKeySigner:
    """Signer of this machine's own gate, mode local; its key is made at first use."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    return LocalKeySigner(where.keys / "local.pem")


def load_signing_code() -> None:
    """Import what a local signature needs. Call it while tests run, or not at all."""
    from gatekeeper.adapters.local_key_signer import load_cryptography

    load_cryptography()


def check_signer(where: Paths, settings: SigningSettings | None = None) -> LocalKeySigner | SigstoreSigner:
    """Signer of `check` as the settings choose it."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    settings = settings or machine.gate_settings(where).signing
    if settings.kind is SigningKind.KEYLESS:
        return keyless_signer(settings)
    if settings.key is None and settings.verifier_id is None:
        return local_signer(where)
    path = settings.key or where.keys / "local.pem"
    return LocalKeySigner(path, create=settings.key is None, verifier_id=settings.verifier_id)


def keyless_signer(settings: SigningSettings, verifier_id: str | None = None) -> SigstoreSigner:
    """Signer with certificates of the Sigstore instance that the settings name."""
    from gatekeeper.adapters.sigstore_signer import KeylessSettings, SigstoreSigner, keyless_verifier_id

    identity, issuer = settings.identity or "", settings.issuer or ""
    return SigstoreSigner(
        KeylessSettings(
            trust_config=settings.trust_config or Path(),
            identity=identity,
            issuer=issuer,
            verifier_id=verifier_id or settings.verifier_id or keyless_verifier_id(identity, issuer),
            token_file=settings.token_file,
            token_env=settings.token_env,
            ambient=settings.ambient,
        )
    )


def reviewer_signer(key: Path) -> LocalKeySigner:
    """Signer with a reviewer's own key file, which must exist."""
    from gatekeeper.adapters.local_key_signer import LocalKeySigner

    return LocalKeySigner(key, create=False)


def new_key(path: Path) -> None:
    """Make a key file; `FileExistsError` where the path is taken."""
    from gatekeeper.adapters import local_key_signer

    local_key_signer.new_key(path)


def public_pem(path: Path) -> str:
    """The public half of a key file, PEM."""
    from gatekeeper.adapters import local_key_signer

    return local_key_signer.public_pem(path)


def keyless_verifier(trust: Trust) -> Keyless | None:
    """Verifies keyless signatures where the trust file pins any; the library is loaded only then."""
    from gatekeeper.domain.trust import Identity

    if not any(isinstance(s.key, Identity) for s in trust.signers):
        return None
    from gatekeeper.adapters.sigstore_signer import verify_keyless

    return verify_keyless
