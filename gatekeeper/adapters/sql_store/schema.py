"""Tables of the store as they are now. How an older database gets here is in `migrations/`; a test compares the two.

Every field of a record is a column of the same name (`rows.py` converts); the few columns beside them serve lists.
Invariants that must hold whatever the code does are unique indexes and checks, not only conditions of use cases.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""Compared byte by byte in both databases, so that pages are the same."""
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ACTIVE = "state IN ('QUEUED', 'RUNNING')"

metadata = sa.MetaData(naming_convention={"ck": "ck_%(table_name)s_%(constraint_name)s"})


def _text(name: str, **options: Any) -> sa.Column[str]:
    return sa.Column(name, TEXT, nullable=options.pop("nullable", False), **options)


def _maybe_text(name: str) -> sa.Column[str]:
    return sa.Column(name, TEXT, nullable=True)


def _int(name: str) -> sa.Column[int]:
    return sa.Column(name, BIG, nullable=False)


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=False)


def _maybe_time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=True)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False)


def _bytes(name: str) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=False)


def hexadecimal(column: str, length: int, *, empty: bool = False) -> sa.CheckConstraint:
    """A column that holds this many lowercase hexadecimal digits (or nothing)."""
    # `translate` is Postgres's alone and GLOB is SQLite's; trim is in both.
    shape = f"length({column}) = {length} AND trim({column}, '0123456789abcdef') = ''"
    return sa.CheckConstraint(f"({shape}) OR {column} = ''" if empty else shape, name=f"{column}_hex")


repositories = sa.Table(
    "repositories", metadata,
    _text("name", primary_key=True),
    _text("owner"),
    _text("source_uri"), _text("repository_uri"), _text("forge_id"), _text("target_refs"), _text("mode"),
    _flag("accept_bundles"), _text("registrant"), _time("create_time"),
    sa.Index("ix_repositories_owner", "owner", "name"),
)  # fmt: skip

tickets = sa.Table(
    "tickets", metadata,
    _text("name", primary_key=True),
    sa.Column("revision", BIG, primary_key=True, autoincrement=False),
    sa.Column("repository", TEXT, sa.ForeignKey("repositories.name", name="fk_tickets_repository"), nullable=False),
    _flag("newest"),
    _bytes("document"), _text("digest"), _text("state"), _text("author"), _time("create_time"), _time("update_time"),
    _maybe_text("decider"), _text("decision_comment"), _text("approval_attestation"),
    hexadecimal("digest", 64),
    sa.Index("ix_tickets_digest", "name", "digest"),
    sa.Index("uq_tickets_newest", "name", unique=True,
             sqlite_where=sa.text("newest"), postgresql_where=sa.text("newest")),
    sa.Index("ix_tickets_list", "repository", "create_time", "name",
             sqlite_where=sa.text("newest"), postgresql_where=sa.text("newest")),
)  # fmt: skip

changes = sa.Table(
    "changes", metadata,
    _text("name", primary_key=True),
    sa.Column("repository", TEXT, sa.ForeignKey("repositories.name", name="fk_changes_repository"), nullable=False),
    _text("ticket"), _text("target_ref"), _text("state"), _text("submitter"), _time("create_time"),
    _time("update_time"), _time("state_time"), _int("version"), _text("head"), _text("state_reason"),
    _int("attempts_used"), _int("attempts_allowed"), _text("latest_verification"), _maybe_text("verdict"),
    _text("tier"), _text("needs"), _text("questions"), _text("landed_commit"), _text("on_behalf_of"),
    sa.Index("ix_changes_list", "create_time", "name"),
    sa.Index("ix_changes_repository", "repository", "create_time", "name"),
    sa.Index("ix_changes_state", "repository", "state", "create_time", "name"),
    sa.Index("ix_changes_ticket", "ticket", "create_time", "name"),
    sa.Index("ix_changes_head", "head", "create_time", "name"),
)  # fmt: skip

verifications = sa.Table(
    "verifications", metadata,
    _text("name", primary_key=True),
    _text("repository"),
    sa.Column("change", TEXT, sa.ForeignKey("changes.name", name="fk_verifications_change"), nullable=False),
    _text("state"), _text("purpose"), _text("mode"), _text("ticket"), _text("ticket_digest"), _text("target_ref"),
    _text("head"), _text("submitter"), _int("attempt"), _time("create_time"), _int("revision"), _int("retry"),
    _text("claim_artifact"), _text("bundle_artifact"), _text("merge_group"), _maybe_text("verdict"), _flag("current"),
    _text("base"), _text("merge_tree"), _text("diff_digest"), _text("step"), _maybe_time("step_time"),
    _int("runs_done"), _int("runs_planned"), _maybe_text("report"), _text("repair_brief"), _text("people"),
    _text("reason"), _text("attestation"), _text("superseded_by"), _maybe_text("canceller"), _maybe_time("start_time"), _maybe_time("end_time"),
    _maybe_time("expire_time"),
    hexadecimal("ticket_digest", 64, empty=True),
    hexadecimal("diff_digest", 64, empty=True),
    sa.CheckConstraint("NOT current OR (state = 'DECIDED' AND verdict IS NOT NULL)", name="current_is_decided"),
    sa.Index("uq_verifications_current", "change", "purpose", unique=True,
             sqlite_where=sa.text("current"), postgresql_where=sa.text("current")),
    sa.Index("uq_verifications_active", "change", "purpose", unique=True,
             sqlite_where=sa.text(ACTIVE), postgresql_where=sa.text(ACTIVE)),
    sa.Index("ix_verifications_active", "create_time", "name",
             sqlite_where=sa.text(ACTIVE), postgresql_where=sa.text(ACTIVE)),
    sa.Index("ix_verifications_list", "create_time", "name"),
    sa.Index("ix_verifications_change", "change", "create_time", "name"),
    sa.Index("ix_verifications_repository", "repository", "create_time", "name"),
    sa.Index("ix_verifications_head", "head", "create_time", "name"),
)  # fmt: skip

reviews = sa.Table(
    "reviews", metadata,
    _text("name", primary_key=True),
    sa.Column("change", TEXT, sa.ForeignKey("changes.name", name="fk_reviews_change"), nullable=False),
    _text("kind"), _text("verification"), _text("ticket_digest"), _text("diff_digest"), _text("comment"),
    _text("reviewer"), _time("create_time"), _text("waived_fingerprints"), _bytes("statement_bundle"),
    _maybe_time("expire_time"), _text("attestation"),
    hexadecimal("ticket_digest", 64, empty=True),
    hexadecimal("diff_digest", 64, empty=True),
    sa.Index("ix_reviews_change", "change", "create_time", "name"),
)  # fmt: skip

attestations = sa.Table(
    "attestations", metadata,
    _text("name", primary_key=True),
    sa.Column("repository", TEXT, sa.ForeignKey("repositories.name", name="fk_attestations_repository"), nullable=False),
    _text("kind"), _bytes("bundle"), _text("predicate_type"), _text("subject_commit"), _text("target_ref"),
    _text("verification"), _text("key_id"), _time("create_time"), _maybe_text("verdict"), _maybe_text("mode"),
    _text("purpose"), _flag("current"), _maybe_time("expire_time"),
    sa.Index("ix_attestations_repository", "repository", "create_time", "name"),
    sa.Index("ix_attestations_commit", "repository", "subject_commit", "create_time", "name"),
    sa.Index("ix_attestations_verification", "verification"),
)  # fmt: skip

artifacts = sa.Table(
    "artifacts", metadata,
    _text("name", primary_key=True),
    _text("kind"), _int("size"), _text("uploader"), _time("create_time"), _time("expire_time"),
    sa.CheckConstraint(
        "length(name) = 74 AND substr(name, 1, 10) = 'artifacts/' AND trim(substr(name, 11), '0123456789abcdef') = ''",
        name="name_hex",
    ),
)  # fmt: skip

artifact_uploaders = sa.Table(
    "artifact_uploaders", metadata,
    sa.Column("artifact", TEXT, sa.ForeignKey("artifacts.name", name="fk_artifact_uploaders_artifact"), primary_key=True),
    _text("principal", primary_key=True),
)  # fmt: skip

usage_reports = sa.Table(
    "usage_reports", metadata,
    _text("id", primary_key=True),
    sa.Column("change", TEXT, sa.ForeignKey("changes.name", name="fk_usage_reports_change"), nullable=False),
    _text("verification"), _text("entries"), _text("reporter"), _time("create_time"),
    sa.Index("ix_usage_reports_change", "change", "create_time", "id"),
)  # fmt: skip

credentials = sa.Table(
    "credentials", metadata,
    _text("id", primary_key=True),
    _text("digest"), _text("principal"), _text("roles"), _time("create_time"), _maybe_time("expire_time"),
    _maybe_time("revoke_time"), _maybe_text("delegators"), _text("emails"), _text("comment"),
    hexadecimal("digest", 64),
    sa.Index("uq_credentials_digest", "digest", unique=True),
)  # fmt: skip

requests = sa.Table(
    "requests", metadata,
    _text("principal", primary_key=True), _text("method", primary_key=True), _text("request_id", primary_key=True),
    _text("request_digest"), _text("answer"), _time("create_time"),
    hexadecimal("request_digest", 64),
)  # fmt: skip

events = sa.Table(
    "events", metadata,
    sa.Column("sequence", BIG, primary_key=True, autoincrement=False),
    _text("repository"), _text("type"), _text("subject"), _time("time"), _text("id"), _maybe_text("actor"),
    _text("data"),
    sa.Index("uq_events_id", "id", unique=True),
    sa.Index("ix_events_repository", "repository", "sequence"),
    sa.Index("ix_events_type", "type", "sequence"),
)  # fmt: skip

audit_entries = sa.Table(
    "audit_entries", metadata,
    sa.Column("sequence", BIG, primary_key=True, autoincrement=False),
    _time("time"), _maybe_text("actor"), _text("action"), _text("subject"), _flag("allowed"), _text("reason"),
    _bytes("details"), _text("previous_digest"), _text("digest"),
    hexadecimal("previous_digest", 64),
    hexadecimal("digest", 64),
    sa.Index("uq_audit_entries_digest", "digest", unique=True),
)  # fmt: skip

flakes = sa.Table(
    "flakes", metadata,
    _text("repository", primary_key=True), _text("suite", primary_key=True), _text("test", primary_key=True),
    _int("failed"), _int("runs"), _text("bases"), _time("first_seen"), _time("last_seen"), _time("expires_at"),
    _text("owner"), _text("note"),
    sa.CheckConstraint("failed > 0 AND failed < runs", name="both"),
)  # fmt: skip

APPEND_ONLY = ("events", "audit_entries")
"""Tables whose rows are never changed or removed; triggers hold that."""
