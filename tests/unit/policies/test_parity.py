"""The shipped engine gives the answers of real OPA: compared with OPA's golden answers, and with OPA where it is."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from opa_program import opa_program
from policy_documents import everything

from gatekeeper.adapters.rego_policy.engine import DECIDE, PLAN
from gatekeeper.adapters.rego_policy.loader import load_bundle
from gatekeeper.adapters.rego_policy.policy_worker import WORKER
from gatekeeper.config import policy_bundle
from gatekeeper.worker_process import Worker

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
EVERY = 1 if os.environ.get("CI") == "true" else 8
"""One of so many documents is evaluated: all take half a minute."""

_spec = importlib.util.spec_from_file_location("make_policy_parity", GOLDEN / "make_policy_parity.py")
assert _spec is not None
assert _spec.loader is not None
parity = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(parity)


@pytest.fixture(scope="module")
def golden():
    return parity.read()


@pytest.fixture(scope="module")
def worker():
    bundle = load_bundle(policy_bundle())
    worker = Worker(WORKER, "regopy")
    load = {"modules": bundle.modules, "data": bundle.data, "entrypoints": [PLAN, DECIDE]}
    worker.ask(load | {"memory_mib": 1024}, 20.0)
    yield worker
    worker.kill()


def test_golden_answers_are_of_this_bundle_and_these_documents(golden):
    again = "run tests/golden/make_policy_parity.py where opa is on PATH"
    assert golden["bundle"] == load_bundle(policy_bundle()).id.digest, again
    for entrypoint, documents in everything().items():
        assert sorted(golden[entrypoint]) == sorted(documents), again


@pytest.mark.parametrize("entrypoint, query", [("plan", PLAN), ("decide", DECIDE)])
def test_shipped_engine_answers_as_opa_does(golden, worker, entrypoint, query):
    documents = {n: d for n, d in everything()[entrypoint].items() if int(n, 16) % EVERY == 0}
    assert len(documents) > 100
    different = {}
    for name, document in documents.items():
        answer = parity.sealed(worker.ask({"entrypoint": query, "input": document}, 20.0))
        if answer != golden[entrypoint][name]:
            different[name] = (golden[entrypoint][name], answer)
    assert different == {}


def test_golden_answers_hold_every_verdict_and_tier(golden):
    words = {(e, (a or "undefined").split()[0]) for e in ("plan", "decide") for a in golden[e].values()}
    verdicts = ("rejected", "undecided", "needs_human", "accepted")
    assert words == {("plan", t) for t in ("low", "medium", "high")} | {("decide", v) for v in verdicts}


def test_opa_still_gives_the_golden_answers(golden):
    assert parity.made(str(opa_program())) == golden
