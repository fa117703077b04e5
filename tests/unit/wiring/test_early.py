"""The worker of the secret scanner that a check begins before its imports."""

from dataclasses import replace

import pytest
from policy_documents import example

from gatekeeper import config
from gatekeeper.domain.gate_settings import PolicySettings
from gatekeeper.domain.ports import ScanTarget
from gatekeeper.domain.verdict import Verdict
from gatekeeper.wiring import early, engines


@pytest.fixture
def begun(gate_paths, monkeypatch):
    monkeypatch.setattr(config, "paths", lambda: gate_paths)
    early.begin()
    yield gate_paths
    early.taken(replace(gate_paths, state=gate_paths.state / "other"))
    if left := early.policy_taken():
        left.kill()


def test_the_worker_begun_for_this_place_scans(begun) -> None:
    worker = early.taken(begun)
    assert worker is not None
    scanner = engines.secret_scanner(begun, worker)
    scanner.start()
    try:
        assert scanner.scan([ScanTarget("a", "a.py", b"x = 1\n")]).verified
    finally:
        scanner.close()
    assert early.taken(begun) is None


def test_one_begun_for_another_place_is_ended(begun) -> None:
    (_, worker), *_ = early._begun
    assert early.taken(replace(begun, state=begun.state / "other")) is None
    assert not worker.usable


def test_the_policy_worker_begun_decides(begun) -> None:
    worker = early.policy_taken()
    assert worker is not None
    policy = engines.policy_engine(settings=PolicySettings(), begun=worker)
    try:
        assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
        assert worker.usable
    finally:
        policy.close()
    assert not worker.usable
    assert early.policy_taken() is None


def test_a_policy_worker_that_has_died_is_replaced(begun) -> None:
    worker = early.policy_taken()
    assert worker is not None
    worker.kill()
    policy = engines.policy_engine(settings=PolicySettings(), begun=worker)
    try:
        assert policy.decide(example("decision")).verdict is Verdict.ACCEPTED
    finally:
        policy.close()


def test_an_engine_that_is_never_asked_ends_the_worker_begun_for_it(begun) -> None:
    worker = early.policy_taken()
    assert worker is not None
    engines.policy_engine(settings=PolicySettings(), begun=worker).close()
    assert not worker.usable


def test_a_worker_that_cannot_begin_is_no_fault_yet(gate_paths, monkeypatch) -> None:
    blocked = gate_paths.state / "a file"
    blocked.write_text("")
    monkeypatch.setattr(config, "paths", lambda: replace(gate_paths, state=blocked))
    early.begin()
    assert early.taken(gate_paths) is None
    policy = early.policy_taken()
    assert policy is not None
    policy.kill()
