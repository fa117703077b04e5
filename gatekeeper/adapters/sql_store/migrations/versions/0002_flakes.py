"""The register of flaky tests. Never edited once released: a change of the schema is a new revision."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "flakes",
        sa.Column("repository", TEXT, nullable=False),
        sa.Column("suite", TEXT, nullable=False),
        sa.Column("test", TEXT, nullable=False),
        sa.Column("failed", BIG, nullable=False),
        sa.Column("runs", BIG, nullable=False),
        sa.Column("bases", TEXT, nullable=False),
        sa.Column("first_seen", sa.Double(), nullable=False),
        sa.Column("last_seen", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("owner", TEXT, nullable=False),
        sa.Column("note", TEXT, nullable=False),
        sa.CheckConstraint("failed > 0 AND failed < runs", name="ck_flakes_both"),
        sa.PrimaryKeyConstraint("repository", "suite", "test"),
    )
