"""Any sequence of transactions leaves the store as a plain model of it would be, and never breaks an invariant."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
import record_builder as make
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from gatekeeper.adapters.sql_store import SqlRecords
from gatekeeper.domain.lifecycle import VerificationState
from gatekeeper.domain.records import AttestationRecord, ChangeRecord, Event, Page, VerificationRecord
from gatekeeper.domain.verdict import Verdict
from gatekeeper.errors import CouldNotCheck

ALL = Page(1000)
CHANGES = [f"{make.REPOSITORY}/changes/c{i}" for i in range(2)]
NAMES = [f"{c}/verifications/v{i}" for c in CHANGES for i in range(4)]
PURPOSES = ("PRE_MERGE", "MERGE_GROUP")
states = st.sampled_from(list(VerificationState))


class Model(RuleBasedStateMachine):
    """The store beside dictionaries."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp(prefix="gatekeeper-model-"))
        self.store = self.opened()
        self.changes: dict[str, ChangeRecord] = {}
        self.verifications: dict[str, VerificationRecord] = {}
        self.attestations: dict[str, AttestationRecord] = {}
        self.events: list[Event] = []
        self.audited = 0

    def opened(self) -> SqlRecords:
        return SqlRecords.file(self.directory / "service" / "gatekeeper.sqlite3")

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.directory)

    @initialize()
    def begin(self) -> None:
        with self.store.transaction() as tx:
            tx.add_repository(make.repository())
            for name in CHANGES:
                self.changes[name] = make.change(name)
                tx.add_change(self.changes[name])

    def allowed(self, record: VerificationRecord) -> bool:
        """What the invariants say of one more or changed verification."""
        others = [
            v for v in self.verifications.values()
            if v.name != record.name and (v.change, v.purpose) == (record.change, record.purpose)
        ]  # fmt: skip
        if record.current and (record.state is not VerificationState.DECIDED or any(v.current for v in others)):
            return False
        return record.state.final or all(v.state.final for v in others)

    @rule(name=st.sampled_from(NAMES), purpose=st.sampled_from(PURPOSES), state=states, current=st.booleans(),
          time=st.integers(0, 3))  # fmt: skip
    def add(self, name: str, purpose: str, state: VerificationState, current: bool, time: int) -> None:
        record = make.verification(
            name, purpose=purpose, state=state, current=current, verdict=Verdict.ACCEPTED, create_time=float(time)
        )
        if name in self.verifications:
            with pytest.raises(KeyError), self.store.transaction() as tx:
                tx.add_verification(record)
        elif not self.allowed(record):
            with pytest.raises(CouldNotCheck), self.store.transaction() as tx:
                tx.add_verification(record)
        else:
            with self.store.transaction() as tx:
                tx.add_verification(record)
            self.verifications[name] = record

    @rule(name=st.sampled_from(NAMES), state=states, current=st.booleans(), retire=st.booleans())
    def save(self, name: str, state: VerificationState, current: bool, retire: bool) -> None:
        known = self.verifications.get(name)
        if known is None:
            with pytest.raises(KeyError), self.store.transaction() as tx:
                tx.save_verification(make.verification(name))
            return
        record = replace(known, state=state, current=current)
        if retire:
            with self.store.transaction() as tx:
                retired = tx.retire_verdicts(record)
            expected = [
                v.name for v in self.verifications.values()
                if v.current and v.name != name and (v.change, v.purpose) == (record.change, record.purpose)
            ]  # fmt: skip
            assert sorted(retired) == sorted(expected)
            for other in expected:
                v = self.verifications[other]
                self.verifications[other] = replace(v, current=False, revision=v.revision + 1)
                for a in list(self.attestations.values()):
                    if a.verification == other:
                        self.attestations[a.name] = replace(a, current=False)
        if not self.allowed(record):
            with pytest.raises(CouldNotCheck), self.store.transaction() as tx:
                tx.save_verification(record)
            return
        with self.store.transaction() as tx:
            self.verifications[name] = tx.save_verification(record)

    @rule(key=st.integers(0, 5), name=st.sampled_from(NAMES))
    def attest(self, key: int, name: str) -> None:
        record = make.attestation(str(key), verification=name, create_time=float(key % 2))
        with self.store.transaction() as tx:
            tx.add_attestation(record)
        self.attestations.setdefault(record.name, record)

    @rule(number=st.integers(1, 3), fails=st.booleans())
    def happen(self, number: int, fails: bool) -> None:
        new = [make.event(f"e{len(self.events) + i}") for i in range(number)]
        try:
            with self.store.transaction() as tx:
                sequences = [tx.event(e) for e in new]
                tx.audit("x.y", "s", make.AGENT, time=float(number), details={"n": number})
                assert 1 // (not fails)
        except ZeroDivisionError:
            return
        self.events += [replace(e, sequence=s) for e, s in zip(new, sequences, strict=True)]
        self.audited += 1

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.opened()

    @invariant()
    def same(self) -> None:
        with self.store.reading() as tx:
            found = [tx.verification(v.name) for v in tx.verifications(None, ALL)]
            expected = sorted(self.verifications.values(), key=lambda v: (v.create_time, v.name), reverse=True)
            assert found == expected
            active = [v for v in reversed(expected) if not v.state.final]
            assert [v.name for v in tx.active_verifications()] == [v.name for v in active]
            listed = tx.attestations(make.REPOSITORY, ALL)
            assert [tx.attestation(a.name) for a in listed] == sorted(
                self.attestations.values(), key=lambda a: (a.create_time, a.name), reverse=True
            )
            assert tx.events(None, ALL) == self.events
        assert self.store.latest_event() == len(self.events)
        assert self.store.verify_audit()[0] == self.audited


TestModel = Model.TestCase
TestModel.settings = settings(
    max_examples=20, stateful_step_count=20, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
