"""What the service keeps: repositories, tickets, changes, verifications, and the record of who did what. Frozen; a
change of state is a new value with `dataclasses.replace`.

Names are resource names as in DESIGN section 5 and are the keys of the store. Times are seconds since the epoch, UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.records import dataclass, field


@dataclass(frozen=True)
class RepositoryRecord:
    """A source that an operator registered."""

    name: str
    source_uri: str
    repository_uri: str
    forge_id: str
    target_refs: tuple[str, ...]
    mode: Mode
    accept_bundles: bool
    registrant: Principal
    create_time: float


@dataclass(frozen=True)
class TicketRecord:
    """One revision of a plan; `name` and `revision` together are its key."""

    name: str
    revision: int
    document: bytes
    digest: str
    state: TicketState
    author: Principal
    create_time: float
    update_time: float
    decider: Principal | None = None
    decision_comment: str = ""
    approval_attestation: str = ""

    @property
    def etag(self) -> str:
        """Changes with every change of the ticket."""
        return f"{self.revision}-{self.state.value.lower()}"


@dataclass(frozen=True)
class Question:
    """A typed call for a person, raised by an agent."""

    id: str
    cause: str
    text: str
    author: Principal
    create_time: float
    answered: bool = False


@dataclass(frozen=True)
class ChangeRecord:
    """One piece of work on a ticket."""

    name: str
    ticket: str
    target_ref: str
    state: ChangeState
    submitter: Principal
    create_time: float
    update_time: float
    state_time: float
    version: int = 1
    """Grows with every change; the etag."""
    head: str = ""
    state_reason: str = ""
    attempts_used: int = 0
    """Heads that were rejected with blame change, or accepted: what the cap counts."""
    attempts_allowed: int = 0
    """0: no cap."""
    latest_verification: str = ""
    verdict: Verdict | None = None
    tier: str = ""
    needs: tuple[Mapping[str, Any], ...] = ()
    questions: tuple[Question, ...] = ()
    landed_commit: str = ""
    on_behalf_of: frozenset[str] = frozenset()
    """All for whom heads were submitted; none of them can decide."""

    @property
    def etag(self) -> str:
        """Changes with every change of the resource."""
        return str(self.version)

    @property
    def open_questions(self) -> tuple[Question, ...]:
        """Questions that nobody answered yet."""
        return tuple(q for q in self.questions if not q.answered)


@dataclass(frozen=True)
class VerificationRecord:
    """The gate's run on one head of a change."""

    name: str
    change: str
    state: VerificationState
    purpose: str
    """PRE_MERGE or MERGE_GROUP."""
    mode: Mode
    ticket: str
    ticket_digest: str
    target_ref: str
    head: str
    submitter: Principal
    attempt: int
    create_time: float
    revision: int = 1
    """Grows with every visible change."""
    retry: int = 0
    claim_artifact: str = ""
    """Name of the artifact with the claim, inline claims included; empty where none was sent."""
    bundle_artifact: str = ""
    merge_group: str = ""
    verdict: Verdict | None = None
    current: bool = False
    base: str = ""
    merge_tree: str = ""
    diff_digest: str = ""
    step: str = ""
    step_time: float | None = None
    runs_done: int = 0
    runs_planned: int = 0
    report: Mapping[str, Any] | None = None
    """What `gatekeeper check` prints, as JSON values; None until decided. Large: lists leave it out."""
    repair_brief: str = ""
    people: tuple[str, ...] = ()
    """Addresses of authors, committers and co-authors, casefolded: none of them can decide on it."""
    reason: str = ""
    """Why it was enqueued where nobody submitted a new head: approved, retry, stale."""
    attestation: str = ""
    superseded_by: str = ""
    canceller: Principal | None = None
    start_time: float | None = None
    end_time: float | None = None
    expire_time: float | None = None

    @property
    def repository(self) -> str:
        """Name of the repository that it belongs to."""
        return self.change.partition("/changes/")[0]


@dataclass(frozen=True)
class ReviewRecord:
    """What a person decided on a change. Never edited."""

    name: str
    change: str
    kind: str
    """APPROVE, REQUEST_CHANGES, AMEND_TICKET, WAIVE, RETRY or ABANDON."""
    verification: str
    ticket_digest: str
    diff_digest: str
    comment: str
    reviewer: Principal
    create_time: float
    waived_fingerprints: tuple[str, ...] = ()
    statement_bundle: bytes = b""
    expire_time: float | None = None
    attestation: str = ""


@dataclass(frozen=True)
class AttestationRecord:
    """One signed statement that the gate keeps."""

    name: str
    """`{repository}/attestations/{sha256 of the DSSE payload}`."""
    kind: str
    """VERDICT, TEST_RESULT, APPROVAL, WAIVER or LANDED."""
    bundle: bytes
    predicate_type: str
    subject_commit: str
    target_ref: str
    verification: str
    key_id: str
    create_time: float
    verdict: Verdict | None = None
    mode: Mode | None = None
    purpose: str = ""
    current: bool = True
    expire_time: float | None = None


@dataclass(frozen=True)
class ArtifactRecord:
    """A blob that a client uploaded, named `artifacts/{sha256}`; the bytes lie in the blob store."""

    name: str
    kind: str
    """CLAIM or GIT_BUNDLE."""
    size: int
    uploader: str
    """`Principal.id`."""
    create_time: float
    expire_time: float


@dataclass(frozen=True)
class UsageRecord:
    """What models consumed, as somebody reported it. `entries` are JSON values."""

    id: str
    change: str
    verification: str
    entries: tuple[Mapping[str, Any], ...]
    reporter: Principal
    create_time: float


@dataclass(frozen=True)
class CredentialRecord:
    """A token or client certificate. `digest` is sha256 of the token (or of the certificate's DER), hexadecimal."""

    id: str
    digest: str
    principal: Principal
    roles: frozenset[str]
    create_time: float
    expire_time: float | None = None
    revoke_time: float | None = None
    delegators: frozenset[str] | None = None
    emails: frozenset[str] = frozenset()
    comment: str = ""


@dataclass(frozen=True)
class Event:
    """One state change, in the manner of CloudEvents. `sequence` is given by the store."""

    type: str
    """For instance gatekeeper.verification.decided.v1."""
    subject: str
    time: float
    id: str
    actor: Principal | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    """Codes, digests and counts; never the text of a finding."""
    sequence: int = 0


@dataclass(frozen=True)
class AuditEntry:
    """One link of the hash chain. `details` is the canonical JSON that was hashed."""

    sequence: int
    time: float
    actor: Principal | None
    action: str
    """For instance ticket.approve."""
    subject: str
    allowed: bool
    reason: str
    details: bytes
    previous_digest: str
    digest: str


@dataclass(frozen=True)
class Remembered:
    """An answered request id: the digest of the request, and the resource that answered it."""

    principal: str
    method: str
    request_id: str
    request_digest: str
    answer: str
    create_time: float


@dataclass(frozen=True)
class Page:
    """Which part of a list is asked for. `after` is the sort key of the last row seen, None for the first page."""

    size: int
    after: tuple[Any, ...] | None = None
