"""A check begins its fetch ahead only where the ticket can be read."""

from __future__ import annotations

import json

import pytest

from gatekeeper.adapters import memory_durable
from gatekeeper.domain.submission import Submission
from gatekeeper.wiring import one_shot

TICKET = {"id": "T-1", "title": "t", "allowed": ["**"], "forbidden": [], "verify": "true", "risk": "low"}


@pytest.mark.parametrize(("ticket", "begun"), [(TICKET, True), ({"id": "T-1"}, False)])
def test_a_broken_ticket_waits_for_no_fetch(make_repo, gate_env, monkeypatch, ticket, begun):
    repo = make_repo()
    head = repo.commit({"a.py": "x = 1\n"}, "base")
    asked = []
    ahead = memory_durable.MemoryDurable.ahead
    monkeypatch.setattr(
        memory_durable.MemoryDurable,
        "ahead",
        lambda self, names, *args: asked.append(names) or ahead(self, names, *args),
    )
    submission = Submission(str(repo.path), "main", head, json.dumps(ticket).encode(), b"{}")
    outcome = one_shot.check(
        submission, trust=None, publish=False, timeout_s=30, listener=lambda *_: None, started=0.0, begun=0.0
    )
    assert bool(asked) is begun
    assert outcome.findings
