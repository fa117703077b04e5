"""What every store of the service must do, on a SQLite file and on a real Postgres."""

# ruff: noqa: PT012  # what a transaction does is several statements

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import postgres_server
import pytest
import record_builder as make
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from gatekeeper.adapters.sql_store import SqlRecords
from gatekeeper.adapters.sql_store.schema import metadata
from gatekeeper.domain.lifecycle import ChangeState, TicketState, VerificationState
from gatekeeper.domain.paging import row_key
from gatekeeper.domain.records import Page
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import CouldNotCheck

ALL = Page(1000)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    why_not = postgres_server.usable()
    if why_not:
        if os.environ.get("CI") == "true":
            pytest.fail(why_not)
        pytest.skip(why_not)
    with postgres_server.server() as directory:
        yield directory


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], SqlRecords]]:
    """A function that opens the same store, each time it is called."""
    stores: list[SqlRecords] = []
    if request.param == "sqlite":

        def again() -> SqlRecords:
            stores.append(SqlRecords.file(tmp_path / "service" / "gatekeeper.sqlite3"))
            return stores[-1]
    else:
        directory = request.getfixturevalue("postgres")
        name = f"t{os.urandom(6).hex()}"
        base = f"postgresql+psycopg://postgres@/{{}}?host={directory}"
        admin = sa.create_engine(base.format("postgres"), isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE template0")
        admin.dispose()

        def again() -> SqlRecords:
            stores.append(SqlRecords.postgres(base.format(name), tmp_path / "service" / "audit.anchor"))
            return stores[-1]

    yield again
    for store in stores:
        store.close()


@pytest.fixture
def records(opened: Callable[[], SqlRecords]) -> SqlRecords:
    return opened()


@pytest.fixture
def filled(records: SqlRecords) -> SqlRecords:
    """A repository, a ticket and a change."""
    with records.transaction() as tx:
        tx.add_repository(make.repository())
        tx.add_ticket(make.ticket())
        tx.add_change(make.change())
    return records


ADDED: list[tuple[str, Any, Callable[[Transaction], Any]]] = [
    ("add_review", make.review(), lambda tx: tx.reviews(make.CHANGE)[0]),
    ("add_attestation", make.attestation(), lambda tx: tx.attestation(make.attestation().name)),
    ("add_artifact", make.artifact(), lambda tx: tx.artifact(make.artifact().name)),
    ("add_usage", make.usage(), lambda tx: tx.usage(make.CHANGE)[0]),
    ("add_credential", make.credential(), lambda tx: tx.credential(make.credential().digest)),
    ("add_credential", make.credential(delegators=None, expire_time=9.5), lambda tx: tx.credentials()[0]),
    ("remember", make.remembered(), lambda tx: tx.remembered(make.AGENT.id, "Submit", "req-1")),
    ("add_verification", make.verification(), lambda tx: tx.verification(make.verification().name)),
    ("add_verification", make.decided(), lambda tx: tx.verification(make.decided().name)),
]


@pytest.mark.parametrize(("method", "record", "read"), ADDED)
def test_a_record_comes_back_as_it_was(
    filled: SqlRecords, method: str, record: Any, read: Callable[[Transaction], Any]
) -> None:
    with filled.transaction() as tx:
        getattr(tx, method)(record)
        assert read(tx) == record  # its own writes
    with filled.reading() as tx:
        assert read(tx) == record


def test_repository_ticket_and_change_come_back(filled: SqlRecords) -> None:
    with filled.reading() as tx:
        assert tx.repository(make.REPOSITORY) == make.repository()
        assert tx.ticket(make.TICKET) == make.ticket()
        assert tx.change(make.CHANGE) == make.change()
        assert tx.repository("owners/x/repositories/y") is None
        assert tx.ticket(make.TICKET, "0" * 64) is None
        assert tx.verification("nothing") is None


@pytest.mark.parametrize("method", ["add_repository", "add_ticket", "add_change", "add_review", "add_usage", "remember",
                                    "add_credential", "add_verification"])  # fmt: skip
def test_a_name_that_is_taken_is_refused_and_nothing_changes(filled: SqlRecords, method: str) -> None:
    record = getattr(make, {"remember": "remembered"}.get(method, method.removeprefix("add_")))()
    if method not in ("add_repository", "add_ticket", "add_change"):
        with filled.transaction() as tx:
            getattr(tx, method)(record)
    with pytest.raises(KeyError), filled.transaction() as tx:
        tx.event(make.event())
        getattr(tx, method)(record)
    assert filled.latest_event() == 0


def test_saving_what_is_unknown_is_refused(records: SqlRecords) -> None:
    for save in (
        lambda tx: tx.save_ticket(make.ticket()),
        lambda tx: tx.save_change(make.change()),
        lambda tx: tx.save_verification(make.verification()),
        lambda tx: tx.save_credential(make.credential()),
    ):
        with pytest.raises(KeyError), records.transaction() as tx:
            save(tx)


def test_an_exception_leaves_nothing(filled: SqlRecords) -> None:
    with pytest.raises(ZeroDivisionError), filled.transaction() as tx:
        tx.add_verification(make.verification())
        tx.event(make.event())
        tx.audit("change.abandon", make.CHANGE, make.ANN, time=1.0)
        raise ZeroDivisionError
    with filled.reading() as tx:
        assert tx.active_verifications() == []
        assert tx.audit_entries(ALL) == []
    assert filled.latest_event() == 0
    assert filled.verify_audit()[0] == 0


def test_versions_grow_and_a_stale_record_is_refused(filled: SqlRecords) -> None:
    with filled.transaction() as tx:
        read = tx.change(make.CHANGE)
        assert read is not None
        stored = tx.save_change(replace(read, state=ChangeState.RUNNING))
        assert (stored.version, tx.change(make.CHANGE)) == (2, stored)
    with pytest.raises(RuntimeError, match="read it again"), filled.transaction() as tx:
        tx.save_change(replace(read, state=ChangeState.ABANDONED))
    with filled.reading() as tx:
        assert tx.change(make.CHANGE) == stored


def test_tickets_have_revisions_and_the_newest_is_listed(filled: SqlRecords) -> None:
    second = make.ticket(revision=2, state=TicketState.APPROVED)
    with filled.transaction() as tx:
        tx.save_ticket(make.ticket(state=TicketState.SUPERSEDED))
        tx.add_ticket(second)
        assert tx.ticket(make.TICKET) == second
        assert tx.ticket(make.TICKET, make.ticket().digest) == make.ticket(state=TicketState.SUPERSEDED)
        assert tx.tickets(make.REPOSITORY, (), ALL) == [second]
        assert tx.tickets(make.REPOSITORY, (TicketState.SUPERSEDED,), ALL) == []
        assert tx.tickets(make.REPOSITORY, (TicketState.APPROVED, TicketState.PROPOSED), ALL) == [second]
    with pytest.raises(KeyError), filled.transaction() as tx:
        tx.add_ticket(make.ticket(revision=2))


def test_a_current_verdict_is_alone(filled: SqlRecords) -> None:
    first = make.decided(f"{make.CHANGE}/verifications/v1")
    second = make.decided(f"{make.CHANGE}/verifications/v2")
    merge_group = make.decided(f"{make.CHANGE}/verifications/v3", purpose="MERGE_GROUP")
    with filled.transaction() as tx:
        tx.add_verification(first)
        tx.add_verification(merge_group)
        tx.add_attestation(make.attestation("a1", verification=first.name))
        tx.add_attestation(make.attestation("a3", verification=merge_group.name))
    with pytest.raises(CouldNotCheck) as caught, filled.transaction() as tx:
        tx.add_verification(second)
    assert caught.value.code == "STORE_FAILED"
    with filled.transaction() as tx:
        assert tx.retire_verdicts(second) == [first.name]
        tx.add_verification(second)
        current = tx.verifications(make.CHANGE, ALL, current_only=True)
        assert {v.name for v in current} == {second.name, merge_group.name}
        retired = tx.verification(first.name)
        assert retired is not None
        assert (retired.current, retired.verdict, retired.revision) == (False, Verdict.ACCEPTED, 2)
        current_attestations = tx.attestations(make.REPOSITORY, ALL, current_only=True)
        assert [a.verification for a in current_attestations] == [merge_group.name]
        assert tx.retire_verdicts(second) == []


def test_an_active_verification_is_alone(filled: SqlRecords) -> None:
    first, second = make.verification(), make.verification(f"{make.CHANGE}/verifications/v2", create_time=99.0)
    with filled.transaction() as tx:
        tx.add_verification(first)
    with pytest.raises(CouldNotCheck), filled.transaction() as tx:
        tx.add_verification(second)
    with filled.transaction() as tx:
        tx.save_verification(replace(first, state=VerificationState.SUPERSEDED))
        tx.add_verification(second)
        tx.add_verification(make.verification(f"{make.CHANGE}/verifications/v3", purpose="MERGE_GROUP"))
    with filled.reading() as tx:
        names = [v.name.rpartition("/")[2] for v in tx.active_verifications()]
        assert names == ["v2", "v3"]  # oldest first
        assert len(tx.active_verifications(make.CHANGE)) == 2
        assert tx.active_verifications("another") == []


@pytest.mark.parametrize(
    "record",
    [
        make.verification(ticket_digest="A" * 64),
        make.verification(ticket_digest="a" * 63),
        make.verification(diff_digest="g" * 64),
        make.verification(state=VerificationState.RUNNING, current=True),
    ],
)
def test_what_has_no_shape_is_refused_by_the_schema(filled: SqlRecords, record: Any) -> None:
    with pytest.raises(CouldNotCheck) as caught, filled.transaction() as tx:
        tx.add_verification(record)
    assert (caught.value.code, caught.value.blame) == ("STORE_FAILED", "gate")


def test_a_verification_of_no_change_is_refused(records: SqlRecords) -> None:
    with pytest.raises(CouldNotCheck), records.transaction() as tx:
        tx.add_verification(make.verification())


def test_a_failed_statement_spoils_the_transaction(filled: SqlRecords) -> None:
    with pytest.raises(CouldNotCheck), filled.transaction() as tx:
        tx.event(make.event())
        with pytest.raises(CouldNotCheck):
            tx.add_verification(make.verification(ticket_digest="no digest"))
    assert filled.latest_event() == 0


def test_artifacts_keep_the_later_expiry_and_every_uploader(records: SqlRecords) -> None:
    name = make.artifact().name
    with records.transaction() as tx:
        tx.add_artifact(make.artifact())
        tx.add_artifact(make.artifact(uploader="x#bob", expire_time=900.0, create_time=300.0))
        tx.add_artifact(make.artifact(expire_time=20.0))
        assert tx.artifact(name) == make.artifact(expire_time=900.0)
        assert tx.artifact_uploaders(name) == {make.AGENT.id, "x#bob"}
        assert tx.artifact_uploaders("artifacts/none") == frozenset()
    with pytest.raises(CouldNotCheck), records.transaction() as tx:
        tx.add_artifact(make.artifact(name="artifacts/../../etc/passwd"))


def test_an_attestation_stays_as_it_is(filled: SqlRecords) -> None:
    with filled.transaction() as tx:
        tx.add_attestation(make.attestation())
        tx.add_attestation(make.attestation(bundle=b"other", current=False))
        assert tx.attestation(make.attestation().name) == make.attestation()
        assert tx.attestations(make.REPOSITORY, ALL) == [make.attestation(bundle=b"")]


def test_lists_leave_out_large_columns(filled: SqlRecords) -> None:
    with filled.transaction() as tx:
        tx.add_verification(make.decided())
        (listed,) = tx.verifications(None, ALL)
        assert listed == make.decided(report=None, repair_brief="")
        assert tx.verification(listed.name, report=False) == listed


def test_credentials_are_found_by_digest_and_revoked(records: SqlRecords) -> None:
    with records.transaction() as tx:
        tx.add_credential(make.credential())
        tx.save_credential(make.credential(revote := "c1", revoke_time=12.0))
        found = tx.credential(make.credential().digest)
        assert found is not None
        assert (found.id, found.revoke_time) == (revote, 12.0)
    with pytest.raises(KeyError), records.transaction() as tx:
        tx.add_credential(make.credential("c2", digest=make.credential().digest))


def _pages(read: Callable[[Page], list[Any]], size: int) -> list[Any]:
    found: list[Any] = []
    after = None
    while True:
        rows = read(Page(size, after))
        assert len(rows) <= size + 1
        found += rows[:size]
        if len(rows) <= size:
            return found
        after = row_key(rows[size - 1])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_pages_show_every_row_once(records: SqlRecords, size: int) -> None:
    with records.transaction() as tx:
        for i in range(7):
            name = f"owners/{'ab'[i % 2]}/repositories/r{i}"
            tx.add_repository(make.repository(name))
            tx.add_change(make.change(f"{name}/changes/c", create_time=float(i // 3)))
            tx.add_ticket(make.ticket(f"{name}/tickets/t", create_time=float(i // 2)))
            tx.event(make.event(f"e{i}", subject=f"{name}/changes/c", time=float(i)))
            tx.audit("x.y", name, None, time=float(i))
    with records.reading() as tx:
        names = [f"owners/a/repositories/r{i}" for i in (0, 2, 4, 6)] + [
            f"owners/b/repositories/r{i}" for i in (1, 3, 5)
        ]
        assert [r.name for r in _pages(lambda p: tx.repositories(None, p), size)] == names
        assert [r.name for r in _pages(lambda p: tx.repositories("b", p), size)] == names[4:]
        changes = _pages(lambda p: tx.changes(None, p), size)
        assert [row_key(c) for c in changes] == sorted((row_key(c) for c in changes), reverse=True)
        assert len(changes) == 7
        events = _pages(lambda p: tx.events(None, p), size)
        assert [e.sequence for e in events] == [1, 2, 3, 4, 5, 6, 7]
        assert [e.sequence for e in _pages(lambda p: tx.events(names[1], p), size)] == [3]
        assert [e.sequence for e in _pages(lambda p: tx.events(None, p, since=2.0, until=5.0), size)] == [3, 4, 5]
        assert _pages(lambda p: tx.events(None, p, types=("other",)), size) == []
        assert [e.sequence for e in _pages(tx.audit_entries, size)] == [1, 2, 3, 4, 5, 6, 7]


def test_filters_of_changes_and_verifications(filled: SqlRecords) -> None:
    other = make.change(f"{make.REPOSITORY}/changes/c2", head="b" * 40, ticket="t2", state=ChangeState.MERGED)
    with filled.transaction() as tx:
        tx.add_change(other)
        tx.add_verification(make.verification())
        tx.add_verification(make.decided(f"{other.name}/verifications/w", head="b" * 40))
    with filled.reading() as tx:
        assert tx.changes(make.REPOSITORY, ALL, states=(ChangeState.MERGED, ChangeState.STALE)) == [other]
        assert tx.changes(None, ALL, head="b" * 40, ticket="t2") == [other]
        assert tx.changes("owners/x/repositories/y", ALL) == []
        assert [v.change for v in tx.verifications(None, ALL, head="b" * 40)] == [other.name]
        assert [v.change for v in tx.verifications(None, ALL, states=(VerificationState.QUEUED,))] == [make.CHANGE]
        assert len(tx.verifications(None, ALL, repository=make.REPOSITORY)) == 2
        assert len(tx.verifications(other.name, ALL)) == 1


def test_filters_of_attestations(filled: SqlRecords) -> None:
    with filled.transaction() as tx:
        tx.add_attestation(make.attestation("a1"))
        tx.add_attestation(make.attestation("a2", kind="APPROVAL", purpose="", subject_commit="b" * 40))
    with filled.reading() as tx:

        def kinds(**wanted: Any) -> list[str]:
            return [a.kind for a in tx.attestations(make.REPOSITORY, ALL, **wanted)]

        assert kinds(kinds=("APPROVAL",)) == ["APPROVAL"]
        assert kinds(purpose="PRE_MERGE") == ["VERDICT"]
        assert kinds(subject_commit="b" * 40) == ["APPROVAL"]
        assert kinds(target_ref="refs/heads/none") == []


@pytest.mark.parametrize("after", [(), ("x",), (1.0,), ("1.0", "n"), (float("nan"), "n"), (True, "n"), (1.0, "\0"), 7])
def test_a_page_key_of_another_shape_is_refused(records: SqlRecords, after: Any) -> None:
    with records.reading() as tx, pytest.raises(ValueError, match="no page"):
        tx.changes(None, Page(10, after))


def test_a_reading_transaction_writes_nothing(filled: SqlRecords) -> None:
    with filled.reading() as tx:
        for write in (
            lambda: tx.event(make.event()),
            lambda: tx.save_change(make.change()),
            lambda: tx.audit("a.b", "c", None, time=1.0),
            lambda: tx.remember(make.remembered()),
        ):
            with pytest.raises(RuntimeError):
                write()
    assert filled.latest_event() == 0


def test_a_reader_sees_one_moment_and_waits_for_nobody(filled: SqlRecords) -> None:
    with filled.reading() as before:
        with filled.transaction() as writing:
            writing.event(make.event())
            with filled.reading() as during:
                assert during.events(None, ALL) == []
            assert filled.latest_event() == 0
        assert before.events(None, ALL) == []
        assert filled.latest_event() == 1


def test_writers_of_many_threads_lose_nothing(opened: Callable[[], SqlRecords]) -> None:
    stores = [opened(), opened()]
    with stores[0].transaction() as tx:
        tx.add_repository(make.repository())
        tx.add_change(make.change())
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(5):
                with stores[number % 2].transaction() as tx:
                    found = tx.change(make.CHANGE)
                    assert found is not None
                    tx.save_change(replace(found, attempts_used=found.attempts_used + 1))
                    tx.event(make.event(f"{number}-{i}"))
                    tx.audit("x.y", str(number), None, time=float(i))
                stores[number % 2].latest_event()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    with stores[0].reading() as tx:
        found = tx.change(make.CHANGE)
        assert found is not None
        assert (found.attempts_used, found.version) == (30, 31)
        assert [e.sequence for e in tx.events(None, ALL)] == list(range(1, 31))
    assert stores[1].verify_audit()[0] == 30


def test_a_transaction_inside_another_is_refused_at_once(records: SqlRecords) -> None:
    with records.transaction(), pytest.raises(RuntimeError, match="open in this thread"), records.transaction():
        pass
    with records.transaction() as tx:
        tx.event(make.event())
    assert records.latest_event() == 1


@pytest.mark.parametrize("table", ["events", "audit_entries"])
@pytest.mark.parametrize("change", ["UPDATE {} SET subject = 'x'", "DELETE FROM {}"])
def test_what_happened_cannot_be_changed(records: SqlRecords, table: str, change: str) -> None:
    with records.transaction() as tx:
        tx.event(make.event())
        tx.audit("a.b", "c", None, time=1.0)
    with pytest.raises(sa.exc.DBAPIError, match="append-only"), records._engines.writer.begin() as connection:
        connection.exec_driver_sql(change.format(table))
    with records.reading() as tx:
        assert (len(tx.events(None, ALL)), tx.events(None, ALL)[0].subject) == (1, make.CHANGE)


def test_a_store_opened_again_has_everything(opened: Callable[[], SqlRecords]) -> None:
    with opened().transaction() as tx:
        tx.add_repository(make.repository())
        tx.audit("repository.register", make.REPOSITORY, make.ANN, time=2.5, details={"mode": "enforced"})
    again = opened()
    with again.reading() as tx:
        assert tx.repository(make.REPOSITORY) == make.repository()
    assert again.verify_audit()[0] == 1


def test_migrations_make_what_the_code_expects(records: SqlRecords) -> None:
    with records._engines.reader.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
