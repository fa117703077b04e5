"""A real signed verdict over made-up values, and its parts to bend."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from gatekeeper.adapters.local_key_signer import LocalKeySigner, public_pem
from gatekeeper.domain.binding import Expected
from gatekeeper.domain.change import Change, Commit, Person
from gatekeeper.domain.decision import BundleId, Outcome, Plan
from gatekeeper.domain.statement import test_result_statement as result_statement
from gatekeeper.domain.statement import verdict_statement
from gatekeeper.domain.testrun import Engine, RunRole, SuiteRun, Termination
from gatekeeper.domain.ticket import Budget, Risk, Ticket
from gatekeeper.domain.trust import Trust
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.formats.trust import parse_trust

NOW = 1_800_000_000.0
REPO, REF = "/srv/app.git", "refs/heads/main"
DIGEST = "d" * 64


def change(
    base: str = "b" * 40, head: str = "a" * 40, tree: str = "c" * 40, repository: str = REPO, ref: str = REF
) -> Change:
    me = Person("Agent", "agent@agents.example")
    commits = (Commit(head, tree, (base,), me, me, "work\n\nCo-authored-by: Eve <eve@example.org>"),)
    return Change(repository, ref, base, "e" * 40, base, head, tree, tree, (), commits, ())


def outcome(c: Change, verdict: Verdict = Verdict.ACCEPTED, mode: Mode = Mode.ENFORCED, exit_code: int = 0) -> Outcome:
    ticket = Ticket("T-1", "t", "g", (), (), (), (), (), Risk.LOW, Budget(), "f" * 64)
    plan = Plan(Risk.LOW, (), (), 0, 3600, BundleId("base", "1.10", DIGEST), 1, 1)
    run = SuiteRun(
        "r1", RunRole.MERGED, "tests", "pytest", c.merge_tree, exit_code, Termination.EXITED, (), (),
        Engine("bubblewrap", "0.11", ("network_none",)), "", 1.0, guarantee="exit_status",
    )  # fmt: skip
    return Outcome(verdict, mode, (), "run-1", c.base, c.head, c.merge_tree, ticket, (run,), plan=plan)


def verdict(c: Change, o: Outcome, signer: LocalKeySigner, now: float = NOW) -> list[dict[str, Any]]:
    """The statements of one verification: test results, then the verdict."""
    results = [result_statement(r, c) for r in o.runs]
    inputs = [(f"test-result:{r.suite}", signer.sign(s).payload_sha256) for r, s in zip(o.runs, results, strict=True)]
    return [
        *results,
        verdict_statement(
            outcome=o, change=c, verifier_id=signer.verifier_id, gate_version="0", issued_at=now,
            expires_at=now + 3600, settings_digest="1" * 64, approvals=(), inputs=inputs, submitter=None,
            on_behalf_of=None, nonce="n",
        ),
    ]  # fmt: skip


def bundles(statements: list[dict[str, Any]], signer: LocalKeySigner) -> list[bytes]:
    return [signer.sign(copy.deepcopy(s)).bundle.encode() for s in statements]


def trust_text(signer: LocalKeySigner, key: Path, repository: str = REPO, extra: str = "", **changes: str) -> str:
    rows = {
        "verifier_id": json.dumps(signer.verifier_id),
        "modes": '["enforced"]',
        "policy": f'name = "base"\ndigests = ["{DIGEST}"]',
        **changes,
    }
    return (
        f"repositories = [{json.dumps(repository)}]\n\n[[signer]]\nverifier_id = {rows['verifier_id']}\n"
        f"modes = {rows['modes']}\npublic_key = {json.dumps(public_pem(key))}\n\n[[policy]]\n{rows['policy']}\n{extra}"
    )


def trust(signer: LocalKeySigner, key: Path, **changes: str) -> Trust:
    return parse_trust(trust_text(signer, key, **changes).encode())


def expected(c: Change) -> Expected:
    return Expected(c.target_ref, c.head, c.base, c.merge_tree)
