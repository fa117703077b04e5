"""Alembic's entry: runs the revisions on the connection, and inside the transaction, that `migrate` gives."""

from alembic import context

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=None,
    transactional_ddl=True,  # SQLite can, although Alembic does not presume it; `migrate` holds the transaction
    transaction_per_migration=False,
)
context.run_migrations()
