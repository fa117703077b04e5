"""What an enforcer trusts: its own file, outside everything that is pushed. Every expected value comes from here."""

from __future__ import annotations

from gatekeeper.records import dataclass


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An ECDSA P-256 public key."""

    der: bytes
    """SubjectPublicKeyInfo, DER."""
    fingerprint: str
    """OpenSSH `SHA256:...`. For words and `keyid`; keys are never selected by it."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a keyless certificate must be for, and by whose word. Exact texts, no patterns."""

    issuer: str
    """The OIDC issuer that vouched for the subject."""
    subject: str
    """The certificate's subject alternative name: an address or a URI."""
    trusted_root: str
    """Absolute path of the Sigstore trusted root (JSON) that authorities, logs and clocks are pinned by."""

    @property
    def fingerprint(self) -> str:
        """Words for messages, in the place where a key has its fingerprint."""
        return f"{self.subject} ({self.issuer})"


@dataclass(frozen=True, slots=True)
class TrustedSigner:
    """A gate's key or keyless identity, pinned together with the verifier id it may speak for."""

    key: PublicKey | Identity
    verifier_id: str
    modes: tuple[str, ...] = ("enforced",)


@dataclass(frozen=True, slots=True)
class TrustedPolicy:
    """A policy bundle that counts. Empty `digests`: any digest, which then needs `minimum_revision`."""

    name: str
    digests: tuple[str, ...] = ()
    minimum_revision: str | None = None


@dataclass(frozen=True, slots=True)
class TrustedReviewer:
    """A person whose approvals count."""

    principal: str
    key: PublicKey


@dataclass(frozen=True, slots=True)
class Trust:
    """A parsed trust file."""

    repositories: tuple[str, ...]
    signers: tuple[TrustedSigner, ...]
    policies: tuple[TrustedPolicy, ...]
    reviewers: tuple[TrustedReviewer, ...] = ()
    waivers: tuple[str, ...] = ()
    """Codes of waivers that may stand in a verdict; none by default."""
    max_age_s: float = 7 * 86400.0
    clock_skew_s: float = 60.0
    protected: tuple[str, ...] = ("refs/heads/main",)
    """Globs of refs that demand a verdict: `*` does not cross `/`, `**` does."""


def same_repository(one: str, other: str) -> bool:
    """True where two repository URIs name the same place; `git+`, `file://` and a last `/` make no difference."""
    return _plain(one) == _plain(other) != ""


def _plain(uri: str) -> str:
    text = uri.removeprefix("git+")
    if text.startswith("file:///"):
        text = text.removeprefix("file://")
    return text.rstrip("/")
