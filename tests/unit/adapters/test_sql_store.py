"""The SQL store where it differs from any other: files, migrations, faults of the database, plans of its queries."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import record_builder as make
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from gatekeeper.adapters.sql_store import SqlRecords, migrate, store
from gatekeeper.adapters.sql_store.engines import Engines
from gatekeeper.adapters.sql_store.schema import metadata
from gatekeeper.domain import records as records_of
from gatekeeper.domain.flake import FlakeRecord
from gatekeeper.domain.records import Page
from gatekeeper.errors import CouldNotCheck


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "service" / "gatekeeper.sqlite3"


def opened(path: Path) -> None:
    SqlRecords.file(path).close()


def failing(path: Path) -> CouldNotCheck:
    with pytest.raises(CouldNotCheck) as caught:
        opened(path)
    assert caught.value.blame == "gate"
    return caught.value


def test_only_the_gates_user_can_read_it(path: Path) -> None:
    path.parent.mkdir(mode=0o755)
    path.touch(mode=0o644)
    records = SqlRecords.file(path)
    with records.transaction() as tx:
        tx.audit("a.b", "c", None, time=1.0)
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in path.parent.iterdir()}
    records.close()
    assert set(modes.values()) == {0o600}
    assert path.name in modes
    assert path.name + "-wal" in modes
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE((path.parent / "audit.anchor").stat().st_mode) == 0o600


def test_commits_are_on_the_disk_and_readers_never_wait(path: Path) -> None:
    records = SqlRecords.file(path)
    with records._engines.writer.connect() as connection:
        found = [
            connection.exec_driver_sql(f"PRAGMA {p}").scalar() for p in ("journal_mode", "synchronous", "foreign_keys")
        ]
    with records._engines.reader.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA query_only").scalar() == 1
    records.close()
    assert found == ["wal", 2, 1]


def test_a_link_in_its_place_is_refused(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "elsewhere")
    assert failing(path).code == "STORE_FAILED"
    assert not (tmp_path / "elsewhere").exists()


def test_migrations_make_what_the_code_expects(path: Path) -> None:
    opened(path)
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
    engine.dispose()
    with closing(sqlite3.connect(path)) as raw:
        checks = [sql for (sql,) in raw.execute("SELECT sql FROM sqlite_master WHERE type = 'table'") if sql]
    for table in metadata.tables.values():
        (made,) = [
            sql for sql in checks if sql.startswith((f"CREATE TABLE {table.name} ", f'CREATE TABLE "{table.name}"'))
        ]
        for constraint in table.constraints:
            if isinstance(constraint, sa.CheckConstraint):
                assert " ".join(str(constraint.sqltext).split()) in " ".join(made.split())


TABLES = {
    "repositories": (records_of.RepositoryRecord, {"owner"}),
    "tickets": (records_of.TicketRecord, {"repository", "newest"}),
    "changes": (records_of.ChangeRecord, {"repository"}),
    "verifications": (records_of.VerificationRecord, {"repository"}),
    "reviews": (records_of.ReviewRecord, set()),
    "attestations": (records_of.AttestationRecord, {"repository"}),
    "artifacts": (records_of.ArtifactRecord, set()),
    "usage_reports": (records_of.UsageRecord, set()),
    "credentials": (records_of.CredentialRecord, set()),
    "requests": (records_of.Remembered, set()),
    "events": (records_of.Event, {"repository"}),
    "audit_entries": (records_of.AuditEntry, set()),
    "flakes": (FlakeRecord, set()),
}


@pytest.mark.parametrize("table", sorted(TABLES))
def test_each_field_of_a_record_has_its_column(table: str) -> None:
    """A new field needs a column here and a new revision that adds it."""
    record, more = TABLES[table]
    assert set(metadata.tables[table].columns.keys()) == {f.name for f in dataclasses.fields(record)} | more


def test_every_table_is_known_here() -> None:
    assert set(metadata.tables) == set(TABLES) | {"artifact_uploaders"}


def test_revisions_are_those_of_the_files() -> None:
    found = {}
    for file in (migrate.MIGRATIONS / "versions").glob("[0-9]*.py"):
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found[module.revision] = module.down_revision
    assert set(found) == set(migrate.REVISIONS)
    assert [found[r] for r in migrate.REVISIONS] == [None, *migrate.REVISIONS[:-1]]


def test_a_newer_database_is_refused_and_left_alone(path: Path) -> None:
    opened(path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
        raw.commit()
    before = path.read_bytes()
    error = failing(path)
    assert error.code == "STORE_NEWER"
    assert "9999" in error.message
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("CREATE TABLE repositories (name TEXT)")
        raw.execute("INSERT INTO repositories VALUES ('theirs')")
        raw.commit()
    before = path.read_bytes()
    assert "another program" in failing(path).message
    assert path.read_bytes() == before


def test_a_migration_that_fails_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = migrate._upgrade

    def half(connection: sa.Connection) -> None:
        real(connection)
        connection.exec_driver_sql("CREATE TABLE half (x INTEGER)")
        connection.exec_driver_sql("SELECT nothing FROM nowhere")

    monkeypatch.setattr(migrate, "_upgrade", half)
    failing(path)
    monkeypatch.undo()
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    opened(path)


def test_many_processes_can_open_a_new_store_at_once(path: Path) -> None:
    code = "import sys; from pathlib import Path; from gatekeeper.adapters.sql_store import SqlRecords; SqlRecords.file(Path(sys.argv[1])).close()"
    env = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    children = [subprocess.Popen([sys.executable, "-c", code, str(path)], env=env) for _ in range(3)]
    assert [child.wait(60) for child in children] == [0, 0, 0]


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough" * 100, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_what_is_no_database_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    assert failing(path).code == "STORE_FAILED"
    assert path.read_bytes() == content


def test_a_full_disk_is_a_fault_and_the_store_stays_whole(path: Path) -> None:
    records = SqlRecords.file(path)

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    records._engines.writer.dispose()
    sa.event.listen(records._engines.writer, "connect", limit)
    with pytest.raises(CouldNotCheck) as caught, records.transaction() as tx:
        tx.add_repository(make.repository(source_uri="x" * 100_000))
    assert (caught.value.code, "disk is full" in caught.value.message) == ("STORE_FAILED", True)
    with records.reading() as tx:
        assert tx.repositories(None, Page(5)) == []
    records.close()


def test_a_store_that_another_process_holds_is_a_fault(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gatekeeper.adapters.sql_store.engines.BUSY_S", 0.05)
    records = SqlRecords.file(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CouldNotCheck) as caught, records.transaction():
            pass
        assert "another process" in caught.value.message
        with records.reading() as tx:  # readers do not wait
            assert tx.credentials() == []
        other.execute("ROLLBACK")
    with records.transaction() as tx:
        tx.event(make.event())
    records.close()


def test_a_writer_that_never_ends_is_not_waited_for_forever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "WRITER_WAIT_S", 0.05)
    records = SqlRecords.file(path)
    records._lock.acquire()
    with pytest.raises(CouldNotCheck), records.transaction():
        pass
    records._lock.release()
    with records.transaction() as tx:
        tx.event(make.event())
    records.close()


def test_a_malformed_row_is_a_fault(path: Path) -> None:
    records = SqlRecords.file(path)
    with records.transaction() as tx:
        tx.add_credential(make.credential())
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE credentials SET roles = '{'")
        raw.commit()
    with records.reading() as tx, pytest.raises(CouldNotCheck):
        tx.credentials()
    records.close()


@pytest.mark.parametrize("value", [float("nan"), object(), "\ud800"])
def test_values_that_no_column_takes_are_a_fault(path: Path, value: object) -> None:
    records = SqlRecords.file(path)
    event = make.event(subject=value) if isinstance(value, str) else make.event(data={"x": value})
    with pytest.raises(CouldNotCheck), records.transaction() as tx:
        tx.event(event)
    records.close()


def test_an_anchor_that_cannot_be_written_does_not_undo_what_was_decided(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    records = SqlRecords.file(path)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(records._anchor, "write", full)
    with records.transaction() as tx:
        tx.audit("a.b", "c", None, time=1.0)
    monkeypatch.undo()
    assert "anchor" in caplog.text
    with records.reading() as tx:
        assert len(tx.audit_entries(Page(5))) == 1
    records.close()


LISTS = [
    ("changes", lambda tx, page: tx.changes(make.REPOSITORY, page)),
    ("changes", lambda tx, page: tx.changes(None, page)),
    ("changes", lambda tx, page: tx.changes(make.REPOSITORY, page, ticket=make.TICKET)),
    ("changes", lambda tx, page: tx.changes(make.REPOSITORY, page, head="a" * 40)),
    ("tickets", lambda tx, page: tx.tickets(make.REPOSITORY, (), page)),
    ("verifications", lambda tx, page: tx.verifications(make.CHANGE, page)),
    ("verifications", lambda tx, page: tx.verifications(None, page, repository=make.REPOSITORY)),
    ("verifications", lambda tx, page: tx.verifications(None, page)),
    ("verifications", lambda tx, page: tx.verifications(None, page, head="a" * 40)),
    ("verifications", lambda tx, page: tx.active_verifications()),
    ("attestations", lambda tx, page: tx.attestations(make.REPOSITORY, page)),
    ("attestations", lambda tx, page: tx.attestations(make.REPOSITORY, page, subject_commit="a" * 40)),
    ("repositories", lambda tx, page: tx.repositories("acme", page)),
    ("reviews", lambda tx, page: tx.reviews(make.CHANGE)),
    ("usage_reports", lambda tx, page: tx.usage(make.CHANGE)),
    ("credentials", lambda tx, page: tx.credential("a" * 64)),
]
FOLLOWED = [
    ("events", lambda tx, page: tx.events(None, page)),
    ("events", lambda tx, page: tx.events(make.REPOSITORY, page)),
    ("audit_entries", lambda tx, page: tx.audit_entries(page)),
]


@pytest.mark.parametrize(("table", "read"), LISTS + FOLLOWED)
def test_lists_go_along_an_index(path: Path, table: str, read: object) -> None:
    records = SqlRecords.file(path)
    seen: list[tuple[str, object]] = []

    def note(_c: object, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        seen.append((statement, parameters))

    after = (7,) if (table, read) in FOLLOWED else ("n",) if table == "repositories" else (7.0, "n")
    sa.event.listen(records._engines.reader, "before_cursor_execute", note)
    with records.reading() as tx:
        read(tx, Page(10, after))  # type: ignore[operator]
    sa.event.remove(records._engines.reader, "before_cursor_execute", note)
    statement, parameters = seen[-1]
    with closing(sqlite3.connect(path)) as raw:
        plan = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]  # type: ignore[arg-type]
    records.close()
    assert len(plan) == 1, plan  # no sorting step
    assert f"SEARCH {table} USING" in plan[0] or f"SCAN {table} USING INDEX" in plan[0], plan


def test_the_news_counter_reads_one_entry(path: Path) -> None:
    records = SqlRecords.file(path)
    assert isinstance(records._engines, Engines)
    with closing(sqlite3.connect(path)) as raw:
        ((_, _, _, plan),) = raw.execute("EXPLAIN QUERY PLAN SELECT max(sequence) FROM events").fetchall()
    records.close()
    assert plan == "SEARCH events"
