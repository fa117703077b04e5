"""The ports that the steps use, gathered in one place. `wiring` fills it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from gatekeeper.domain.base_run import KeptBaseRuns
from gatekeeper.domain.decision import Approval
from gatekeeper.domain.effort import DEFAULT, Effort
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.ports import (
    AttestationStore,
    Clock,
    EnvironmentBuilder,
    FlakeRegister,
    GitRepositories,
    Limits,
    PolicyEngine,
    Sandbox,
    Scanner,
    SecretScanner,
    Signer,
    ToolchainBuilder,
)
from gatekeeper.domain.ticket import Risk
from gatekeeper.domain.verdict import Mode
from gatekeeper.records import dataclass, field


class ApprovalVerifier(Protocol):
    """Believes approvals: checks signature, signer and binding of each statement against the operator's trust file."""

    def __call__(
        self,
        bundles: Sequence[bytes],
        *,
        ticket_digest: str,
        diff_digest: str,
        repository: str,
        target_ref: str,
        people: Sequence[str],
        now: float,
    ) -> tuple[tuple[Approval, ...], tuple[Finding, ...]]:
        """(approvals that hold, findings about those that do not)."""


@dataclass(frozen=True)
class Tools:
    """Everything the pipeline needs of the world."""

    git: GitRepositories
    environments: EnvironmentBuilder
    sandbox: Sandbox
    secrets: SecretScanner
    code: Scanner
    policy: PolicyEngine
    signer: Signer
    store: AttestationStore
    clock: Clock
    new_id: Callable[[], str]
    approvals: ApprovalVerifier
    toolchains: tuple[ToolchainBuilder, ...] = ()
    """Languages other than Python."""
    effort: Mapping[Risk, Effort] = field(default_factory=lambda: DEFAULT)
    """Extra work by tier."""
    mode: Mode = Mode.LOCAL
    limits: Limits = field(default_factory=Limits)
    gate_version: str = ""
    desk: Signer | None = None
    """Signs, with a key of its own, that a reviewer approved at the gate's API; None where that counts for nothing."""
    kept: KeptBaseRuns | None = None
    """Runs of bases that were made already; None: every run is made anew."""
    flakes: FlakeRegister | None = None
    """Tests known to be flaky; None: none is known."""
    publish: bool = False
    """True: signed statements are stored with the repository (git notes), where enforcers look."""
