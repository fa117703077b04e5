"""The operator's settings of a gate: which engine decides, which signer signs. Frozen and complete; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class PolicyKind(StrEnum):
    """What evaluates the policy."""

    EMBEDDED = "embedded"
    """In a worker process of the gate."""
    OPA = "opa"
    """An OPA server."""


class SigningKind(StrEnum):
    """What signs."""

    KEY = "key"
    """A key file on this machine."""
    KEYLESS = "keyless"
    """Short-lived certificates of a Sigstore instance."""


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """`[policy]`."""

    engine: PolicyKind = PolicyKind.EMBEDDED
    bundle: Path | None = None
    """Directory of the policy bundle; the package's own where None."""
    url: str | None = None
    """A running OPA server; where None the gate starts one of its own."""
    token_file: Path | None = None
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class SigningSettings:
    """`[signing]`."""

    kind: SigningKind = SigningKind.KEY
    key: Path | None = None
    """Key file; the gate's own, made at first use, where None."""
    verifier_id: str | None = None
    trust_config: Path | None = None
    identity: str | None = None
    issuer: str | None = None
    token_file: Path | None = None
    token_env: str | None = None
    ambient: bool = False


@dataclass(frozen=True, slots=True)
class GateSettings:
    """A whole settings file; all defaults where there is none."""

    policy: PolicySettings = PolicySettings()
    signing: SigningSettings = SigningSettings()
    server: Mapping[str, Any] = field(default_factory=dict)
    """`[server]` as written; whoever serves parses it as strictly."""
