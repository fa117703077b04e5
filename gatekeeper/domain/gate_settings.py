"""The operator's settings of a gate: which engine decides, which signer signs. Frozen and complete; no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from gatekeeper.domain.effort import DEFAULT, Effort
from gatekeeper.domain.ticket import Risk
from gatekeeper.records import dataclass, field


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
class SourceSettings:
    """`[sources]`: how registered repositories on other machines are reached. None: as the transport does by itself."""

    credential_helper: str | None = None
    certificates: Path | None = None
    proxy: str | None = None
    ssh_key: Path | None = None
    ssh_known_hosts: Path | None = None
    max_mib: int = 4096
    """Of one fetch, packed."""
    fetch_s: float = 600.0


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """`[server]`: what `gatekeeper serve` does where its command line says nothing."""

    listen: str = "127.0.0.1:7433"
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    client_ca: Path | None = None
    require_client_certificate: bool = False
    reflection: bool = False
    environment: str = "auto"
    trust: Path | None = None
    """Trust file that names the reviewers whose own signatures count."""
    statements_required: bool = False
    """True: an approval needs the reviewer's own signed statement."""
    publish: bool = False
    retries: int = 1
    workers: int | None = None
    timeout_s: float = 600.0
    grace_s: float = 10.0
    upkeep_s: float = 30.0


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """`[environment]`: what this machine adds to the environment of every suite."""

    toolchains: tuple[Path, ...] = ()
    """Directories shown read-only at their own place; their `bin` is on PATH."""
    caches: tuple[Path, ...] = ()
    """Directories shown at their own place as copies that a run can write to and that go with it."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables of every run; no secret, tested code reads them."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """A whole settings file; all defaults where there is none."""

    policy: PolicySettings = PolicySettings()
    signing: SigningSettings = SigningSettings()
    sources: SourceSettings = SourceSettings()
    server: ServeSettings = ServeSettings()
    environment: ToolSettings = ToolSettings()
    effort: Mapping[Risk, Effort] = field(default_factory=lambda: DEFAULT)
    """`[effort.<tier>]`: what is done beyond the deciding runs."""
