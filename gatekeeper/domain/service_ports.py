"""Ports of the service: its store, its queue and its blobs. `wiring` chooses; use cases know only these.

Every method raises `CouldNotCheck` (STORE_FAILED, blame gate) where the technology fails, and nothing else that is not
named here.
"""

# ruff: noqa: D102  # plain reads and writes are told by their names and types

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from gatekeeper.domain.flake import FlakeRecord
from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import (
    ArtifactRecord,
    AttestationRecord,
    AuditEntry,
    ChangeRecord,
    CredentialRecord,
    Event,
    Page,
    Remembered,
    RepositoryRecord,
    ReviewRecord,
    TicketRecord,
    UsageRecord,
    VerificationRecord,
)


class Transaction(Protocol):
    """One transaction: all of it is stored or nothing. Reads see its own writes.

    `add_*` of a name that is taken raises `KeyError`; `save_*` of an unknown one raises `KeyError`. Lists are newest
    first (repositories by name, events and audit entries by sequence) and return at most `page.size + 1` rows, so that
    the caller knows whether more follow; `page.after` is `row_key(row)` of the last row seen.
    """

    # repositories
    def repository(self, name: str) -> RepositoryRecord | None: ...
    def add_repository(self, record: RepositoryRecord) -> None: ...
    def repositories(self, owner: str | None, page: Page) -> list[RepositoryRecord]: ...

    # tickets: the newest revision unless a digest is named
    def ticket(self, name: str, digest: str | None = None) -> TicketRecord | None: ...
    def add_ticket(self, record: TicketRecord) -> None: ...
    def save_ticket(self, record: TicketRecord) -> None: ...
    def tickets(self, repository: str, states: Sequence[TicketState], page: Page) -> list[TicketRecord]: ...

    # changes
    def change(self, name: str) -> ChangeRecord | None: ...
    def add_change(self, record: ChangeRecord) -> None: ...
    def save_change(self, record: ChangeRecord) -> ChangeRecord:
        """Store with `version` one higher; returns what was stored. Raises `RuntimeError` for a record that was read
        before a later change: read it in the same transaction.
        """

    def changes(
        self,
        repository: str | None,
        page: Page,
        *,
        states: Sequence[ChangeState] = (),
        ticket: str = "",
        head: str = "",
    ) -> list[ChangeRecord]: ...

    # verifications
    def verification(self, name: str, *, report: bool = True) -> VerificationRecord | None: ...
    def add_verification(self, record: VerificationRecord) -> None: ...
    def save_verification(self, record: VerificationRecord) -> VerificationRecord:
        """Store with `revision` one higher; returns what was stored. Raises `RuntimeError` as `save_change` does."""

    def verifications(
        self,
        change: str | None,
        page: Page,
        *,
        repository: str = "",
        states: Sequence[VerificationState] = (),
        head: str = "",
        current_only: bool = False,
    ) -> list[VerificationRecord]:
        """Without reports and repair briefs."""

    def active_verifications(self, change: str | None = None) -> list[VerificationRecord]:
        """Those that are not final, oldest first."""

    def active_count(self) -> int:
        """How many are not final."""

    def active_submitters(self) -> list[str]:
        """Who submitted them: ids of principals, one for each that is not final."""

    def retire_verdicts(self, record: VerificationRecord) -> list[str]:
        """Unset `current` of every other verdict with the same change and purpose, and of attestations that came from
        them; names of the verifications.
        """

    # the rest
    def add_review(self, record: ReviewRecord) -> None: ...
    def reviews(self, change: str) -> list[ReviewRecord]:
        """Oldest first."""

    def add_attestation(self, record: AttestationRecord) -> None:
        """One that is there already stays as it is."""

    def attestation(self, name: str) -> AttestationRecord | None: ...
    def attestations(
        self,
        repository: str,
        page: Page,
        *,
        subject_commit: str = "",
        target_ref: str = "",
        kinds: Sequence[str] = (),
        purpose: str = "",
        current_only: bool = False,
    ) -> list[AttestationRecord]:
        """Without bundles."""

    def artifact(self, name: str) -> ArtifactRecord | None: ...
    def add_artifact(self, record: ArtifactRecord) -> None:
        """One that is there already stays, and its `expire_time` becomes the later one."""

    def artifact_uploaders(self, name: str) -> frozenset[str]:
        """`Principal.id` of everybody who uploaded these bytes."""

    def add_usage(self, record: UsageRecord) -> None: ...
    def usage(self, change: str) -> list[UsageRecord]: ...
    def credential(self, digest: str) -> CredentialRecord | None:
        """By the digest of the secret, revoked and expired ones included."""

    def add_credential(self, record: CredentialRecord) -> None: ...
    def save_credential(self, record: CredentialRecord) -> None: ...
    def credentials(self) -> list[CredentialRecord]: ...

    # tests known to be flaky
    def flakes(self, repository: str = "", suite: str = "") -> list[FlakeRecord]:
        """By repository, suite and test; expired ones included."""

    def put_flake(self, record: FlakeRecord) -> None:
        """Add it, or put it in place of the one with its key."""

    def drop_flake(self, record: FlakeRecord) -> None:
        """Take it out; `KeyError` where there is none."""

    # what happened
    def remembered(self, principal: str, method: str, request_id: str) -> Remembered | None: ...
    def remember(self, record: Remembered) -> None: ...
    def event(self, event: Event) -> int:
        """Append; returns the sequence."""

    def events(
        self,
        repository: str | None,
        page: Page,
        *,
        types: Sequence[str] = (),
        since: float | None = None,
        until: float | None = None,
    ) -> list[Event]: ...
    def audit(
        self,
        action: str,
        subject: str,
        actor: Principal | None,
        *,
        time: float,
        allowed: bool = True,
        reason: str = "",
        details: Any = None,
    ) -> AuditEntry:
        """Append a link to the chain."""

    def audit_entries(self, page: Page) -> list[AuditEntry]: ...


class Records(Protocol):
    """The store."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """A writing transaction: one at a time, from its first statement on."""

    def reading(self) -> AbstractContextManager[Transaction]:
        """A consistent view that never waits for a writer; writing methods raise."""

    def latest_event(self) -> int:
        """Highest sequence of an event, 0 for none: cheap, for those who wait for news."""

    def verify_audit(self, expect: str | None = None) -> tuple[int, str]:
        """(entries, digest of the last one) of an intact chain; `expect` is a digest that it must hold. Raises
        `VerificationRefused` (AUDIT_BROKEN) naming the first entry that does not fit.
        """


class Blobs(Protocol):
    """Content-addressed files of the gate."""

    def write(self, sha256: str, chunks: Iterable[bytes], size: int) -> Path:
        """Store; nothing is left of content whose size or digest differ. Raises `InputError` (ARTIFACT_SIZE,
        ARTIFACT_DIGEST) and `CouldNotCheck` (STORAGE_FULL).
        """

    def path(self, sha256: str) -> Path | None:
        """Where the content is, or None."""

    def read(self, sha256: str, limit: int) -> bytes | None:
        """The content; None where it is not there. Raises `InputError` (INPUT_TOO_LARGE)."""

    def chunks(self, sha256: str, size: int) -> Iterator[bytes]:
        """The content in pieces of `size` bytes."""


class VerificationQueue(Protocol):
    """Durable work: every verification enqueued here is run to a final state, whatever dies meanwhile."""

    def enqueue(self, verification: str) -> None:
        """Called after the record was stored; calling it again for the same name does nothing more."""

    def stop(self, verification: str) -> None:
        """Stop the work on it soon: its record is final already. Processes of its sandboxes are killed."""
