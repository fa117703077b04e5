"""Requests that carry more than a name, as use cases take them: parsed, every field of the right shape and size."""

from __future__ import annotations

from gatekeeper.records import dataclass
from gatekeeper.workflow.service.idempotency import Request


@dataclass(frozen=True)
class SubmitCommand:
    """One head of a change to verify."""

    repository: str
    """Resource name."""
    change_key: str
    target_ref: str
    head: str
    ticket: str
    """Resource name; of the same repository."""
    request: Request
    ticket_digest: str = ""
    """Empty: the one approved now."""
    claim: bytes | None = None
    """Inline claim document, at most 1 MiB; None where none was sent inline."""
    claim_artifact: str = ""
    bundle_artifact: str = ""
    purpose: str = "PRE_MERGE"
    """PRE_MERGE or MERGE_GROUP."""
    merge_group: str = ""
    on_behalf_of: str = ""

    @property
    def change(self) -> str:
        """Resource name of the change."""
        return f"{self.repository}/changes/{self.change_key}"


@dataclass(frozen=True)
class ReviewCommand:
    """A person's decision on a change."""

    change: str
    kind: str
    """APPROVE, REQUEST_CHANGES, AMEND_TICKET, WAIVE, RETRY or ABANDON."""
    verification: str
    request: Request
    ticket_digest: str = ""
    diff_digest: str = ""
    comment: str = ""
    waived_fingerprints: tuple[str, ...] = ()
    amended_ticket: bytes = b""
    statement_bundle: bytes = b""
    expire_time: float | None = None
