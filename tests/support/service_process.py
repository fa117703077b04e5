"""A server process without its network: submits what it is told, runs until all is final, prints what is stored.

Reads a plan (JSON) from standard input. `die_at` names a step at whose beginning (or end) the process kills itself.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import wraps

from gatekeeper.adapters.dbos_durable import engine
from gatekeeper.config import paths
from gatekeeper.domain.lifecycle import TicketState
from gatekeeper.domain.principal import Caller, Principal, Role
from gatekeeper.domain.records import Page, RepositoryRecord, TicketRecord
from gatekeeper.domain.verdict import Mode
from gatekeeper.formats.ticket import parse_ticket
from gatekeeper.wiring import server
from gatekeeper.workflow.service import verification_run
from gatekeeper.workflow.service.commands import SubmitCommand
from gatekeeper.workflow.service.idempotency import Request
from gatekeeper.workflow.service.submissions import submit
from gatekeeper.workflow.service.upkeep import sweep

REPOSITORY = "owners/o/repositories/r"
TICKET = f"{REPOSITORY}/tickets/T-1"
OPERATOR = Principal("gatekeeper", "ada@example.org", "human")
AGENT = Caller(Principal("gatekeeper", "bot", "agent"), frozenset({Role.AGENT}))
DOCUMENT = json.dumps(
    {
        "id": "T-1", "title": "add is wrong", "goal": "add adds", "allowed": ["src/**"], "forbidden": [],
        "verify": "python -m pytest -q", "risk": "low", "permits": [],
    }
).encode()  # fmt: skip


def deadly(steps, die_at: str, after: bool):
    """The steps, one of which ends the process."""
    function = steps[die_at]

    @wraps(function)
    def dying(*args):
        if after:
            function(*args)
        os.kill(os.getpid(), signal.SIGKILL)

    return {**steps, die_at: dying}


def store(tx, plan) -> None:
    if tx.repository(REPOSITORY) is not None:
        return
    now = time.time()
    tx.add_repository(
        RepositoryRecord(
            REPOSITORY,
            plan["repo"],
            "https://example.org/r",
            "",
            ("refs/heads/main",),
            Mode.ENFORCED,
            False,
            OPERATOR,
            now,
        )
    )
    digest = parse_ticket(DOCUMENT).digest
    tx.add_ticket(
        TicketRecord(TICKET, 1, DOCUMENT, digest, TicketState.APPROVED, AGENT.principal, now, now, decider=OPERATOR)
    )


def main() -> None:
    plan = json.load(sys.stdin)
    where = paths()
    settings = verification_run.RunSettings(environment="host")
    engine.MAX_RECOVERIES = 2
    if plan["die_at"]:
        made = verification_run.steps
        verification_run.steps = lambda *a: deadly(made(*a), plan["die_at"], plan["die_after"])
    with server.service_runtime(where, settings, grace_s=0) as runtime:
        service = runtime.service
        with service.records.transaction() as tx:
            store(tx, plan)
        for name in plan["submit"]:
            submit(
                service,
                AGENT,
                SubmitCommand(
                    REPOSITORY, name, "refs/heads/main", plan["heads"][name], TICKET,
                    Request("Submit", f"id-{name}", "0" * 64), claim=plan["claims"][name].encode(),
                ),
            )  # fmt: skip
        finish(service)
        if plan.get("target"):
            subprocess.run(
                ["git", "-C", plan["repo"], "update-ref", "refs/heads/main", plan["heads"][plan["target"]]], check=True
            )
            sweep(service, runtime.tools)
            finish(service)
        print(json.dumps(told(service)))


def finish(service) -> None:
    """Wait until nothing is left to do."""
    while True:
        with service.records.reading() as tx:
            if not tx.active_verifications():
                return
        time.sleep(0.02)  # the process' own business: the test waits for its end


def told(service) -> dict:
    with service.records.reading() as tx:
        rows = tx.verifications(None, Page(50), repository=REPOSITORY)
        changes = tx.changes(REPOSITORY, Page(50))
        attestations = tx.attestations(REPOSITORY, Page(100))
        events = tx.events(None, Page(1000))
        reports = {r.name: tx.verification(r.name).report for r in rows}
    return {
        "verifications": {
            r.change.rpartition("/")[2]: {
                "base": r.base,
                "state": r.state.value,
                "verdict": r.verdict.value if r.verdict else None,
                "current": r.current,
                "attestation": r.attestation,
                "codes": [f["code"] for f in (reports[r.name] or {}).get("findings", [])],
                "kinds": sorted(a.kind for a in attestations if a.verification == r.name),
                "decided_events": sum(
                    e.subject == r.name and e.type == "gatekeeper.verification.decided.v1" for e in events
                ),
            }
            # Newest first: the oldest is written first, the newest stays.
            for r in reversed(rows)
        },
        "changes": {c.name.rpartition("/")[2]: c.state.value for c in changes},
        "audit_entries": service.records.verify_audit()[0],
    }


if __name__ == "__main__":
    main()
