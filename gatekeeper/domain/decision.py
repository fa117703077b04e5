"""What the policy says: a plan before anything runs, a decision after everything ran."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatekeeper.domain.finding import Finding
from gatekeeper.domain.followup import Measured
from gatekeeper.domain.testrun import SuiteRun
from gatekeeper.domain.ticket import Risk, Ticket
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.records import dataclass, field


@dataclass(frozen=True, slots=True)
class BundleId:
    """Identity of an OPA bundle. `digest` is sha256 over the sorted list of {path, sha256}, data included."""

    name: str
    revision: str
    digest: str


@dataclass(frozen=True, slots=True)
class TierReason:
    """Why a tier was raised."""

    tier: Risk
    rule: str
    message: str
    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """Answer of `data.gatekeeper.plan.v1.result`."""

    tier: Risk
    tier_reasons: tuple[TierReason, ...]
    required_evidence: tuple[str, ...]
    """Words of claim parts that must be there: commands, report, summary, risks, rollback, ..."""
    approvals: int
    """How many people must approve the diff."""
    expiry_s: int
    """How long the verdict holds, seconds."""
    bundle: BundleId
    rules_expected: int
    rules_evaluated: int
    extra_runs: tuple[str, ...] = ()
    isolation: str = "standard"


@dataclass(frozen=True, slots=True)
class PolicyMessage:
    """A violation, warning or question of the policy."""

    code: str
    message: str
    rule: str = ""
    role: str = ""
    count: int = 0


@dataclass(frozen=True)
class PolicyDecision:
    """Answer of `data.gatekeeper.decide.v1.result`."""

    verdict: Verdict
    violations: tuple[PolicyMessage, ...]
    warnings: tuple[PolicyMessage, ...]
    questions: tuple[PolicyMessage, ...]
    waived: tuple[str, ...]
    rules_expected: int
    rules_evaluated: int
    bundle: BundleId


@dataclass(frozen=True, slots=True)
class Approval:
    """A verified approval: who, over what. Only `workflow` makes it, after checking the signature."""

    reviewer: str
    keyid: str
    ticket_digest: str
    diff_digest: str
    payload_sha256: str
    expires_at: float | None = None
    """Seconds since the epoch; None where the signed statement sets no end."""
    bundle: str = field(default="", repr=False)
    """The signed statement itself, one line, so that it can stand beside the verdict that rests on it."""


@dataclass(frozen=True, slots=True)
class Need:
    """A call for a person."""

    cause: str
    role: str
    count: int


@dataclass(frozen=True)
class Outcome:
    """Everything `gatekeeper check` prints, before formatting (DESIGN section 5)."""

    verdict: Verdict
    mode: Mode
    findings: tuple[Finding, ...]
    """All, ordered: reasons (blocks, asks) first, the primary one leading."""
    run_id: str
    base: str | None = None
    head: str | None = None
    merge_tree: str | None = None
    ticket: Ticket | None = None
    runs: tuple[SuiteRun, ...] = ()
    needs: tuple[Need, ...] = ()
    waived: tuple[str, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    plan: Plan | None = None
    decision: PolicyDecision | None = None
    attestation: Mapping[str, Any] | None = None
    """{bundle, payload_sha256, keyid, ref} or None where nothing was signed."""
    diff_digest: str = ""
    """What an approval of this diff binds; empty where head was not merged."""
    people: tuple[str, ...] = ()
    """Addresses of everybody who wrote, committed or co-wrote it, casefolded."""
    measured: Measured | None = None
    """What the tests can tell of the changed lines."""
    environment: str = ""
    """What the tests' interpreter and packages were made from, in words; empty where no environment was made."""
    repository: str = ""
    """URI of the repository as the gate knows it; empty where head was not merged."""
    target_ref: str = ""
    """Fully qualified; empty where head was not merged."""
