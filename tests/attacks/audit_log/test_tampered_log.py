"""Whoever can write the database file cannot change the audit log unseen, unless the anchor is changed with it."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import record_builder as make

from gatekeeper.adapters.sql_store import SqlRecords
from gatekeeper.domain.records import AuditEntry, Page
from gatekeeper.errors import CouldNotCheck, VerificationRefused
from gatekeeper.formats.audit_chain import FIRST, sealed

COUNT = 7


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "service" / "gatekeeper.sqlite3"
    append(path, COUNT)
    return path


def append(path: Path, count: int, action: str = "ticket.approve") -> list[AuditEntry]:
    records = SqlRecords.file(path)
    for i in range(count):
        with records.transaction() as tx:
            tx.audit(action, f"{make.TICKET}{i}", make.ANN, time=float(i), allowed=i % 2 == 0, details={"number": i})
    with records.reading() as tx:
        found = tx.audit_entries(Page(1000))
    records.close()
    return found


def forge(path: Path, *statements: str | tuple[str, tuple[object, ...]]) -> None:
    """What somebody with the file and a SQLite shell can do: the triggers are no hindrance."""
    with closing(sqlite3.connect(path)) as raw:
        for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {name}")
        raw.execute("PRAGMA ignore_check_constraints = ON")
        for statement in statements:
            raw.execute(*((statement,) if isinstance(statement, str) else statement))
        raw.commit()


def verify(path: Path, expect: str | None = None) -> tuple[int, str]:
    records = SqlRecords.file(path)
    try:
        return records.verify_audit(expect)
    finally:
        records.close()


def refused(path: Path, sequence: int) -> None:
    with pytest.raises(VerificationRefused) as caught:
        verify(path)
    assert caught.value.code == "AUDIT_BROKEN"
    assert caught.value.details["sequence"] == sequence


def test_an_intact_log_verifies(database: Path) -> None:
    entries, digest = verify(database)
    assert entries == COUNT
    assert verify(database, digest) == (entries, digest)
    append(database, 1)
    assert verify(database, digest)[0] == COUNT + 1  # what was noted before still holds


@pytest.mark.parametrize(
    "column", ["time = 99.0", "actor = NULL", "action = 'ticket.reject'", "subject = 'x'", "allowed = 1 - allowed",
               "reason = 'ROLE_REQUIRED'", "details = CAST('{}' AS BLOB)", "actor = 'no json'", "actor = '[1]'",
               "time = 'text'", "details = X'FF'", "allowed = 7", "subject = 5", f"digest = '{'a' * 64}'",
               "actor = replace(actor, 'ann', 'bob')", "details = CAST('{\"number\": 3}' AS BLOB)"],
)  # fmt: skip
def test_an_edited_entry_is_found(database: Path, column: str) -> None:
    forge(database, f"UPDATE audit_entries SET {column} WHERE sequence = 4")
    refused(database, 4)


def test_an_entry_edited_with_its_digest_is_found_by_the_next(database: Path) -> None:
    records = SqlRecords.file(database)
    with records.reading() as tx:
        fourth = tx.audit_entries(Page(1000))[3]
    records.close()
    forged = sealed(replace(fourth, subject="another"))
    change = "UPDATE audit_entries SET subject = ?, digest = ? WHERE sequence = 4"
    forge(database, (change, (forged.subject, forged.digest)))
    refused(database, 5)


@pytest.mark.parametrize("sequence", range(1, COUNT))
def test_a_deleted_entry_is_found(database: Path, sequence: int) -> None:
    forge(database, f"DELETE FROM audit_entries WHERE sequence = {sequence}")
    refused(database, sequence)


def test_a_deleted_entry_is_found_though_the_rest_moved_up(database: Path) -> None:
    forge(
        database,
        "DELETE FROM audit_entries WHERE sequence = 3",
        *(f"UPDATE audit_entries SET sequence = {n - 1} WHERE sequence = {n}" for n in range(4, COUNT + 1)),
    )
    refused(database, 3)


def test_reordered_entries_are_found(database: Path) -> None:
    forge(
        database,
        "UPDATE audit_entries SET sequence = 100 WHERE sequence = 2",
        "UPDATE audit_entries SET sequence = 2 WHERE sequence = 3",
        "UPDATE audit_entries SET sequence = 3 WHERE sequence = 100",
    )
    refused(database, 2)


@pytest.mark.parametrize(("sequence", "found_at"), [(0, 1), (-3, 1), (COUNT + 1, COUNT + 1), (COUNT + 5, COUNT + 1)])
def test_an_inserted_entry_is_found(database: Path, sequence: int, found_at: int) -> None:
    insert = (
        "INSERT INTO audit_entries SELECT ?, time, actor, action, subject, allowed, reason, details, digest, ? "
        "FROM audit_entries WHERE sequence = ?"
    )
    forge(database, (insert, (sequence, "b" * 64, COUNT)))
    refused(database, found_at)


@pytest.mark.parametrize("left", range(COUNT))
def test_a_tail_that_was_cut_off_is_found(database: Path, left: int) -> None:
    forge(database, f"DELETE FROM audit_entries WHERE sequence > {left}")
    refused(database, left + 1)


def test_a_cut_tail_is_found_though_the_gate_went_on_writing(database: Path) -> None:
    forge(database, f"DELETE FROM audit_entries WHERE sequence > {COUNT - 2}")
    append(database, 4)
    refused(database, COUNT)


def written_anew(path: Path, count: int) -> None:
    """Another chain, whole in itself, in the place of the log."""
    forge(path, "DELETE FROM audit_entries")
    previous = FIRST
    with closing(sqlite3.connect(path)) as raw:
        for n in range(1, count + 1):
            entry = sealed(AuditEntry(n, 5.0, None, "nothing.happened", "x", True, "", b"{}", previous, ""))
            previous = entry.digest
            raw.execute(
                "INSERT INTO audit_entries VALUES (?, 5.0, NULL, 'nothing.happened', 'x', 1, '', ?, ?, ?)",
                (n, b"{}", entry.previous_digest, entry.digest),
            )
        raw.commit()


@pytest.mark.parametrize("count", [1, COUNT, COUNT + 3])
def test_a_log_that_was_written_anew_is_found(database: Path, count: int) -> None:
    written_anew(database, count)
    refused(database, min(count + 1, COUNT))


def test_another_database_file_in_its_place_is_found(database: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "gatekeeper.sqlite3"
    append(other, COUNT, "nothing.happened")
    shutil.copy(other, database)
    refused(database, COUNT)


def test_an_older_copy_of_the_file_is_found(database: Path, tmp_path: Path) -> None:
    shutil.copy(database, tmp_path / "backup")
    append(database, 1)
    shutil.copy(tmp_path / "backup", database)
    refused(database, COUNT + 1)


def _missing(anchor: Path) -> None:
    anchor.unlink()


def _other(text: str) -> Callable[[Path], None]:
    return lambda anchor: anchor.write_text(text) and None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    "change",
    [
        _missing, _other(""), _other("[]"), _other("null"), _other('{"entries": 0, "digest": ""}'),
        _other('{"entries": true, "digest": "' + "a" * 64 + '"}'), _other("{" * 5000),
        _other('{"entries": 7, "digest": "' + "A" * 64 + '"}'), _other('{"entries": 9999, "digest": "' + "a" * 64 + '"}'),
    ],
)  # fmt: skip
def test_an_anchor_that_is_gone_or_none_is_no_proof_and_is_not_made_again(
    database: Path, change: Callable[[Path], None]
) -> None:
    change(database.with_name("audit.anchor"))
    with pytest.raises(VerificationRefused):
        verify(database)
    append(database, 2)
    with pytest.raises(VerificationRefused):
        verify(database)


def test_an_anchor_behind_the_log_is_fine_and_catches_up(database: Path) -> None:
    anchor = database.with_name("audit.anchor")
    old = anchor.read_text()
    append(database, 2)
    anchor.write_text(old)  # as after a crash between commit and anchor
    assert verify(database)[0] == COUNT + 2
    append(database, 1)
    assert f'"entries": {COUNT + 3}' in anchor.read_text()


def test_what_stays_undetectable_here_is_found_by_a_digest_kept_elsewhere(database: Path) -> None:
    noted = verify(database)[1]
    written_anew(database, COUNT)
    with closing(sqlite3.connect(database)) as raw:
        (digest,) = raw.execute("SELECT digest FROM audit_entries ORDER BY sequence DESC LIMIT 1").fetchone()
    database.with_name("audit.anchor").write_text(f'{{"entries": {COUNT}, "digest": "{digest}"}}')
    assert verify(database) == (COUNT, digest)  # both places were replaced together
    with pytest.raises(VerificationRefused):
        verify(database, noted)


def test_an_operator_anchors_a_restored_backup_and_that_is_on_record(database: Path) -> None:
    forge(database, f"DELETE FROM audit_entries WHERE sequence > {COUNT - 2}")
    records = SqlRecords.file(database)
    entries, digest = records.anchor_again(make.ANN, 50.0)
    assert records.verify_audit() == (entries, digest)
    with records.reading() as tx:
        last = tx.audit_entries(Page(1000))[-1]
    records.close()
    assert (last.action, last.actor, last.sequence) == ("audit.anchor", make.ANN, COUNT - 1)
    assert f'"entries":{COUNT}' in last.details.decode()  # what the anchor said before


def test_a_broken_chain_is_not_anchored_again(database: Path) -> None:
    forge(database, "UPDATE audit_entries SET subject = 'x' WHERE sequence = 2")
    records = SqlRecords.file(database)
    before = database.with_name("audit.anchor").read_text()
    with pytest.raises(VerificationRefused):
        records.anchor_again(make.ANN, 50.0)
    records.close()
    assert database.with_name("audit.anchor").read_text() == before


def test_a_damaged_file_is_a_fault_of_the_store(database: Path) -> None:
    data = bytearray(database.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    database.write_bytes(data)
    with pytest.raises(CouldNotCheck) as caught:
        verify(database)
    assert caught.value.code == "STORE_FAILED"
