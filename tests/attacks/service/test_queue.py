"""One agent that floods the queue, and the others who still get their turn."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

import pytest
from api_server import make_service
from dbos._error import DBOSAwaitedWorkflowCancelledError, DBOSWorkflowCancelledError
from service_acts import AGENT, OTHER, code, set_up, submit

from gatekeeper.adapters.dbos_durable.engine import Waiting, _fair, _not_a_cancellation
from gatekeeper.workflow.service.service import ServiceLimits


@pytest.fixture
def service(tmp_path: Path):
    made = make_service(tmp_path, limits=ServiceLimits(active_verifications=9, active_each=4))
    set_up(made)
    yield made
    made.records.close()


def head(number: int) -> str:
    return hashlib.sha1(str(number).encode(), usedforsecurity=False).hexdigest()


def test_one_submitter_cannot_fill_the_queue_for_all(service):
    got = [code(submit, service, AGENT, change_key=f"a{n}", head=head(n)) for n in range(7)]
    assert got == ["OK"] * 4 + ["QUEUE_FULL"] * 3
    assert code(submit, service, OTHER, change_key="b1", head=head(99)) == "OK"


def test_a_place_that_becomes_free_goes_to_who_has_none():
    flood = [Waiting(f"a{n}", "agent-1") for n in range(500)]
    queue = [*flood, Waiting("b0", "agent-2")]
    assert [w.name for w in _fair(queue, 1, {"agent-1": 2})] == ["b0"]
    assert [w.name for w in _fair(queue, 2, {"agent-1": 2, "agent-2": 1})] == ["b0", "a0"]
    assert [w.name for w in _fair(flood, 1, {"agent-1": 2})] == ["a0"], "who is alone gets every place"
    assert [w.name for w in _fair(queue, 3, {})] == ["a0", "b0", "a1"]


def test_cancelling_again_and_again_does_not_fill_the_log(caplog):
    log = logging.getLogger("dbos.like")
    log.addFilter(_not_a_cancellation)
    for error in (DBOSAwaitedWorkflowCancelledError("w"), DBOSWorkflowCancelledError("w"), ValueError("a real fault")):
        log.error("Exception encountered in background workflow:", exc_info=error)
    log.error("without a traceback")
    assert [r.exc_info and r.exc_info[0] for r in caplog.records] == [ValueError, None]
