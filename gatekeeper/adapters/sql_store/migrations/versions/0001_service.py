"""First schema of the service's store. Never edited once released: a change of the schema is a new revision."""

# ruff: noqa: S608  # names of tables are constants of this file

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
APPEND_ONLY = ("events", "audit_entries")


def upgrade() -> None:
    """Make the tables, their indexes and the triggers."""
    op.create_table(
        "artifacts",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("size", BIG, nullable=False),
        sa.Column("uploader", TEXT, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.Column("expire_time", sa.Double(), nullable=False),
        sa.CheckConstraint(
            "length(name) = 74 AND substr(name, 1, 10) = 'artifacts/' AND trim(substr(name, 11), '0123456789abcdef') = ''",
            name="ck_artifacts_name_hex",
        ),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "audit_entries",
        sa.Column("sequence", BIG, autoincrement=False, nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("actor", TEXT, nullable=True),
        sa.Column("action", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("allowed", sa.Boolean(), nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("details", sa.LargeBinary(), nullable=False),
        sa.Column("previous_digest", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.CheckConstraint(
            "length(digest) = 64 AND trim(digest, '0123456789abcdef') = ''", name="ck_audit_entries_digest_hex"
        ),
        sa.CheckConstraint(
            "length(previous_digest) = 64 AND trim(previous_digest, '0123456789abcdef') = ''",
            name="ck_audit_entries_previous_digest_hex",
        ),
        sa.PrimaryKeyConstraint("sequence"),
    )
    op.create_index("uq_audit_entries_digest", "audit_entries", ["digest"], unique=True)
    op.create_table(
        "credentials",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("principal", TEXT, nullable=False),
        sa.Column("roles", TEXT, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.Column("expire_time", sa.Double(), nullable=True),
        sa.Column("revoke_time", sa.Double(), nullable=True),
        sa.Column("delegators", TEXT, nullable=True),
        sa.Column("emails", TEXT, nullable=False),
        sa.Column("comment", TEXT, nullable=False),
        sa.CheckConstraint(
            "length(digest) = 64 AND trim(digest, '0123456789abcdef') = ''", name="ck_credentials_digest_hex"
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("uq_credentials_digest", "credentials", ["digest"], unique=True)
    op.create_table(
        "events",
        sa.Column("sequence", BIG, autoincrement=False, nullable=False),
        sa.Column("repository", TEXT, nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("subject", TEXT, nullable=False),
        sa.Column("time", sa.Double(), nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("actor", TEXT, nullable=True),
        sa.Column("data", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("sequence"),
    )
    op.create_index("ix_events_repository", "events", ["repository", "sequence"], unique=False)
    op.create_index("ix_events_type", "events", ["type", "sequence"], unique=False)
    op.create_index("uq_events_id", "events", ["id"], unique=True)
    op.create_table(
        "repositories",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("owner", TEXT, nullable=False),
        sa.Column("source_uri", TEXT, nullable=False),
        sa.Column("repository_uri", TEXT, nullable=False),
        sa.Column("forge_id", TEXT, nullable=False),
        sa.Column("target_refs", TEXT, nullable=False),
        sa.Column("mode", TEXT, nullable=False),
        sa.Column("accept_bundles", sa.Boolean(), nullable=False),
        sa.Column("registrant", TEXT, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("ix_repositories_owner", "repositories", ["owner", "name"], unique=False)
    op.create_table(
        "requests",
        sa.Column("principal", TEXT, nullable=False),
        sa.Column("method", TEXT, nullable=False),
        sa.Column("request_id", TEXT, nullable=False),
        sa.Column("request_digest", TEXT, nullable=False),
        sa.Column("answer", TEXT, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.CheckConstraint(
            "length(request_digest) = 64 AND trim(request_digest, '0123456789abcdef') = ''",
            name="ck_requests_request_digest_hex",
        ),
        sa.PrimaryKeyConstraint("principal", "method", "request_id"),
    )
    op.create_table(
        "artifact_uploaders",
        sa.Column("artifact", TEXT, nullable=False),
        sa.Column("principal", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["artifact"], ["artifacts.name"], name="fk_artifact_uploaders_artifact"),
        sa.PrimaryKeyConstraint("artifact", "principal"),
    )
    op.create_table(
        "attestations",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("repository", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("bundle", sa.LargeBinary(), nullable=False),
        sa.Column("predicate_type", TEXT, nullable=False),
        sa.Column("subject_commit", TEXT, nullable=False),
        sa.Column("target_ref", TEXT, nullable=False),
        sa.Column("verification", TEXT, nullable=False),
        sa.Column("key_id", TEXT, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.Column("verdict", TEXT, nullable=True),
        sa.Column("mode", TEXT, nullable=True),
        sa.Column("purpose", TEXT, nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("expire_time", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["repository"], ["repositories.name"], name="fk_attestations_repository"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index(
        "ix_attestations_commit", "attestations", ["repository", "subject_commit", "create_time", "name"], unique=False
    )
    op.create_index("ix_attestations_repository", "attestations", ["repository", "create_time", "name"], unique=False)
    op.create_index("ix_attestations_verification", "attestations", ["verification"], unique=False)
    op.create_table(
        "changes",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("repository", TEXT, nullable=False),
        sa.Column("ticket", TEXT, nullable=False),
        sa.Column("target_ref", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("submitter", TEXT, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.Column("update_time", sa.Double(), nullable=False),
        sa.Column("state_time", sa.Double(), nullable=False),
        sa.Column("version", BIG, nullable=False),
        sa.Column("head", TEXT, nullable=False),
        sa.Column("state_reason", TEXT, nullable=False),
        sa.Column("attempts_used", BIG, nullable=False),
        sa.Column("attempts_allowed", BIG, nullable=False),
        sa.Column("latest_verification", TEXT, nullable=False),
        sa.Column("verdict", TEXT, nullable=True),
        sa.Column("tier", TEXT, nullable=False),
        sa.Column("needs", TEXT, nullable=False),
        sa.Column("questions", TEXT, nullable=False),
        sa.Column("landed_commit", TEXT, nullable=False),
        sa.Column("on_behalf_of", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["repository"], ["repositories.name"], name="fk_changes_repository"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("ix_changes_head", "changes", ["head", "create_time", "name"], unique=False)
    op.create_index("ix_changes_list", "changes", ["create_time", "name"], unique=False)
    op.create_index("ix_changes_repository", "changes", ["repository", "create_time", "name"], unique=False)
    op.create_index("ix_changes_state", "changes", ["repository", "state", "create_time", "name"], unique=False)
    op.create_index("ix_changes_ticket", "changes", ["ticket", "create_time", "name"], unique=False)
    op.create_table(
        "tickets",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("revision", BIG, autoincrement=False, nullable=False),
        sa.Column("repository", TEXT, nullable=False),
        sa.Column("newest", sa.Boolean(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("author", TEXT, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.Column("update_time", sa.Double(), nullable=False),
        sa.Column("decider", TEXT, nullable=True),
        sa.Column("decision_comment", TEXT, nullable=False),
        sa.Column("approval_attestation", TEXT, nullable=False),
        sa.CheckConstraint(
            "length(digest) = 64 AND trim(digest, '0123456789abcdef') = ''", name="ck_tickets_digest_hex"
        ),
        sa.ForeignKeyConstraint(["repository"], ["repositories.name"], name="fk_tickets_repository"),
        sa.PrimaryKeyConstraint("name", "revision"),
    )
    op.create_index("ix_tickets_digest", "tickets", ["name", "digest"], unique=False)
    op.create_index(
        "ix_tickets_list",
        "tickets",
        ["repository", "create_time", "name"],
        unique=False,
        sqlite_where=sa.text("newest"),
        postgresql_where=sa.text("newest"),
    )
    op.create_index(
        "uq_tickets_newest",
        "tickets",
        ["name"],
        unique=True,
        sqlite_where=sa.text("newest"),
        postgresql_where=sa.text("newest"),
    )
    op.create_table(
        "reviews",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("change", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("verification", TEXT, nullable=False),
        sa.Column("ticket_digest", TEXT, nullable=False),
        sa.Column("diff_digest", TEXT, nullable=False),
        sa.Column("comment", TEXT, nullable=False),
        sa.Column("reviewer", TEXT, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.Column("waived_fingerprints", TEXT, nullable=False),
        sa.Column("statement_bundle", sa.LargeBinary(), nullable=False),
        sa.Column("expire_time", sa.Double(), nullable=True),
        sa.Column("attestation", TEXT, nullable=False),
        sa.CheckConstraint(
            "(length(diff_digest) = 64 AND trim(diff_digest, '0123456789abcdef') = '') OR diff_digest = ''",
            name="ck_reviews_diff_digest_hex",
        ),
        sa.CheckConstraint(
            "(length(ticket_digest) = 64 AND trim(ticket_digest, '0123456789abcdef') = '') OR ticket_digest = ''",
            name="ck_reviews_ticket_digest_hex",
        ),
        sa.ForeignKeyConstraint(["change"], ["changes.name"], name="fk_reviews_change"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index("ix_reviews_change", "reviews", ["change", "create_time", "name"], unique=False)
    op.create_table(
        "usage_reports",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("change", TEXT, nullable=False),
        sa.Column("verification", TEXT, nullable=False),
        sa.Column("entries", TEXT, nullable=False),
        sa.Column("reporter", TEXT, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["change"], ["changes.name"], name="fk_usage_reports_change"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_usage_reports_change", "usage_reports", ["change", "create_time", "id"], unique=False)
    op.create_table(
        "verifications",
        sa.Column("name", TEXT, nullable=False),
        sa.Column("repository", TEXT, nullable=False),
        sa.Column("change", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("purpose", TEXT, nullable=False),
        sa.Column("mode", TEXT, nullable=False),
        sa.Column("ticket", TEXT, nullable=False),
        sa.Column("ticket_digest", TEXT, nullable=False),
        sa.Column("target_ref", TEXT, nullable=False),
        sa.Column("head", TEXT, nullable=False),
        sa.Column("submitter", TEXT, nullable=False),
        sa.Column("attempt", BIG, nullable=False),
        sa.Column("create_time", sa.Double(), nullable=False),
        sa.Column("revision", BIG, nullable=False),
        sa.Column("retry", BIG, nullable=False),
        sa.Column("claim_artifact", TEXT, nullable=False),
        sa.Column("bundle_artifact", TEXT, nullable=False),
        sa.Column("merge_group", TEXT, nullable=False),
        sa.Column("verdict", TEXT, nullable=True),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("base", TEXT, nullable=False),
        sa.Column("merge_tree", TEXT, nullable=False),
        sa.Column("diff_digest", TEXT, nullable=False),
        sa.Column("step", TEXT, nullable=False),
        sa.Column("step_time", sa.Double(), nullable=True),
        sa.Column("runs_done", BIG, nullable=False),
        sa.Column("runs_planned", BIG, nullable=False),
        sa.Column("report", TEXT, nullable=True),
        sa.Column("repair_brief", TEXT, nullable=False),
        sa.Column("people", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("attestation", TEXT, nullable=False),
        sa.Column("superseded_by", TEXT, nullable=False),
        sa.Column("canceller", TEXT, nullable=True),
        sa.Column("start_time", sa.Double(), nullable=True),
        sa.Column("end_time", sa.Double(), nullable=True),
        sa.Column("expire_time", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "(length(diff_digest) = 64 AND trim(diff_digest, '0123456789abcdef') = '') OR diff_digest = ''",
            name="ck_verifications_diff_digest_hex",
        ),
        sa.CheckConstraint(
            "(length(ticket_digest) = 64 AND trim(ticket_digest, '0123456789abcdef') = '') OR ticket_digest = ''",
            name="ck_verifications_ticket_digest_hex",
        ),
        sa.CheckConstraint(
            "NOT current OR (state = 'DECIDED' AND verdict IS NOT NULL)", name="ck_verifications_current_is_decided"
        ),
        sa.ForeignKeyConstraint(["change"], ["changes.name"], name="fk_verifications_change"),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_index(
        "ix_verifications_active",
        "verifications",
        ["create_time", "name"],
        unique=False,
        sqlite_where=sa.text("state IN ('QUEUED', 'RUNNING')"),
        postgresql_where=sa.text("state IN ('QUEUED', 'RUNNING')"),
    )
    op.create_index("ix_verifications_change", "verifications", ["change", "create_time", "name"], unique=False)
    op.create_index("ix_verifications_head", "verifications", ["head", "create_time", "name"], unique=False)
    op.create_index("ix_verifications_list", "verifications", ["create_time", "name"], unique=False)
    op.create_index("ix_verifications_repository", "verifications", ["repository", "create_time", "name"], unique=False)
    op.create_index(
        "uq_verifications_active",
        "verifications",
        ["change", "purpose"],
        unique=True,
        sqlite_where=sa.text("state IN ('QUEUED', 'RUNNING')"),
        postgresql_where=sa.text("state IN ('QUEUED', 'RUNNING')"),
    )
    op.create_index(
        "uq_verifications_current",
        "verifications",
        ["change", "purpose"],
        unique=True,
        sqlite_where=sa.text("current"),
        postgresql_where=sa.text("current"),
    )
    for table in APPEND_ONLY:
        if op.get_bind().dialect.name == "sqlite":
            _sqlite_triggers(table)
        else:
            _postgres_triggers(table)


def _sqlite_triggers(table: str) -> None:
    refuse = f"SELECT RAISE(ABORT, 'append-only: {table}');"
    for verb in ("UPDATE", "DELETE"):
        op.execute(f"CREATE TRIGGER tr_{table}_{verb.lower()} BEFORE {verb} ON {table} BEGIN {refuse} END")
    # INSERT OR REPLACE would delete without firing the trigger above; a row with a gap before it has lost others.
    op.execute(
        f"CREATE TRIGGER tr_{table}_insert BEFORE INSERT ON {table} "
        f"WHEN NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM {table}) BEGIN {refuse} END"
    )


def _postgres_triggers(table: str) -> None:
    op.execute(
        f"""CREATE FUNCTION refuse_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'append-only: {table}'; END $$"""
    )
    op.execute(
        f"""CREATE FUNCTION next_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM {table}) THEN
            RAISE EXCEPTION 'append-only: {table}';
          END IF;
          RETURN NEW;
        END $$"""
    )
    op.execute(
        f"CREATE TRIGGER tr_{table}_change BEFORE UPDATE OR DELETE ON {table} "
        f"FOR EACH ROW EXECUTE FUNCTION refuse_{table}()"
    )
    op.execute(
        f"CREATE TRIGGER tr_{table}_truncate BEFORE TRUNCATE ON {table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION refuse_{table}()"
    )
    op.execute(
        f"CREATE TRIGGER tr_{table}_insert BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION next_{table}()"
    )
