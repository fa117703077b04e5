"""What an agent sends: the claim, and the request to verify a head commit. All of it is hostile until compared."""

from __future__ import annotations

from gatekeeper.domain.testrun import SuiteReport
from gatekeeper.records import dataclass


@dataclass(frozen=True, slots=True)
class ClaimedCommand:
    """A command the author says was run, with the exit status the author saw (None: not said)."""

    cmd: str
    exit_code: int | None
    suite: str | None = None


@dataclass(frozen=True, slots=True)
class InstructionFile:
    """An instruction file the agent says it followed."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Claim:
    """A parsed claim. Everything is optional; what is missing becomes a finding, not a crash."""

    present: bool = True
    unreadable: bool = False
    """True where something was sent that is no claim; a finding of its own says so."""
    head_sha: str | None = None
    base_sha: str | None = None
    commands: tuple[ClaimedCommand, ...] = ()
    reports: tuple[SuiteReport, ...] = ()
    """Parsed JUnit documents, in order."""
    report_faults: tuple[tuple[str, str], ...] = ()
    """(reason code, message) for every claimed report that could not be read or contradicts itself."""
    summary: str = ""
    log: str = ""
    reason: str = ""
    risks: str = ""
    rollback: str = ""
    not_done: str = ""
    instructions: tuple[InstructionFile, ...] = ()
    agent_tool: str = ""
    agent_model: str = ""
    agent_version: str = ""
    tokens: int | None = None
    """Sum of claimed input and output tokens, None where not claimed."""
    cost: float | None = None


ABSENT_CLAIM = Claim(present=False)


@dataclass(frozen=True, slots=True)
class Waiver:
    """An exception that a person made for one finding of one diff of one ticket."""

    fingerprint: str
    ticket_digest: str
    diff_digest: str
    reviewer: str
    expires_at: float


@dataclass(frozen=True, slots=True)
class Submission:
    """One request to verify: texts as received, nothing parsed. Bytes are the caller's files, size-capped on read."""

    repository: str
    """Path or URI from which the gate itself fetches."""
    target_ref: str
    head: str
    ticket: bytes
    claim: bytes | None
    environment: str = "auto"
    """auto, host, or the path of an environment that the operator prepared."""
    approvals: tuple[bytes, ...] = ()
    """Sigstore bundles of approval statements; believed only after verification."""
    run_id: str = ""
    submitter: str | None = None
    """Address of whoever sent it, where one is known: that person cannot approve it."""
    on_behalf_of: str | None = None
    """Address of the person for whom it was sent, where one is known: neither can that one."""
    repository_uri: str = ""
    """Identity under which statements name the repository; empty for `repository` itself."""
    change: str = ""
    """Resource name of the change, in the service."""
    attempt: int = 1
    purpose: str = "PRE_MERGE"
    merge_group: str = ""
    ticket_approved: bool = False
    """True where the service knows that a person approved exactly these ticket bytes."""
    waivers: tuple[Waiver, ...] = ()
    """Exceptions that the service knows to be made by reviewers; each counts for the diff it names, until it expires."""
    bundle: str | None = None
    """Path of a git bundle that brings objects of head, and nothing else."""

    def senders(self) -> tuple[str, ...]:
        """The addresses of those who sent it, as far as they are known."""
        return tuple(p for p in (self.submitter, self.on_behalf_of) if p)
