"""The service's register of flaky tests, in its store; what a person changes in it is an audit entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gatekeeper.domain.flake import MAX_EXPIRY_S, FlakeRecord
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.service_ports import Records


class ServiceFlakes:
    """Implements `domain.ports.FlakeDesk`."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def known(self, repository: str, suite: str, tests: Sequence[str], now: float) -> Sequence[FlakeRecord]:
        """See `FlakeRegister.known`."""
        wanted = frozenset(tests)
        with self._records.reading() as tx:
            found = tx.flakes(repository, suite)
        return [r for r in found if r.test in wanted and r.excuses(now)]

    def seen(self, records: Sequence[FlakeRecord]) -> None:
        """See `FlakeRegister.seen`."""
        with self._records.transaction() as tx:
            for record in records:
                for stale in tx.flakes(record.repository):
                    if stale.expires_at + MAX_EXPIRY_S < record.last_seen:
                        tx.drop_flake(stale)
                known = {r.test: r for r in tx.flakes(record.repository, record.suite)}
                old = known.get(record.test)
                tx.put_flake(old.merged(record) if old is not None else record)

    def records(self) -> Sequence[FlakeRecord]:
        """See `FlakeDesk.records`."""
        with self._records.reading() as tx:
            return tx.flakes()

    def own(self, record: FlakeRecord, actor: Principal, now: float) -> None:
        """See `FlakeDesk.own`."""
        with self._records.transaction() as tx:
            old = next((r for r in tx.flakes(record.repository, record.suite) if r.key == record.key), None)
            if old is None:
                raise KeyError(" ".join(record.key))
            tx.put_flake(replace(old, owner=record.owner, note=record.note, expires_at=record.expires_at))
            details = {"owner": record.owner, "note": record.note, "expires_at": record.expires_at}
            tx.audit("flake.own", subject(record), actor, time=now, details=details)

    def forget(self, record: FlakeRecord, actor: Principal, now: float) -> None:
        """See `FlakeDesk.forget`."""
        with self._records.transaction() as tx:
            tx.drop_flake(record)
            tx.audit("flake.forget", subject(record), actor, time=now, details={"owner": record.owner})


def subject(record: FlakeRecord) -> str:
    """What an audit entry is about."""
    return f"flakes {record.repository} {record.suite} {record.test}"
