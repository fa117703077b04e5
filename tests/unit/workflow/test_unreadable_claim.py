"""A claim that cannot be read blocks under its own name, and is not told to be missing as well."""

from __future__ import annotations

import pytest
from fake_ports import World, ticket

from gatekeeper.adapters.memory_durable import MemoryDurable
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.workflow.pipeline import step_table, verify


def judged(claim: bytes | None) -> tuple[Verdict, set[str]]:
    sent = Submission("repo", "main", "b" * 40, ticket(), claim, run_id="r1")
    outcome = verify(MemoryDurable(step_table(World().tools())), sent, mode=Mode.LOCAL, started=1_800_000_000.0)
    return outcome.verdict, {f.code for f in outcome.findings}


@pytest.mark.parametrize("claim", [b"{", b"[]", b"\xff", b'{"head_sha": 1}'])
def test_unreadable_claim_is_malformed_and_not_missing(claim: bytes) -> None:
    verdict, codes = judged(claim)
    assert verdict is Verdict.REJECTED
    assert "CLAIM_MALFORMED" in codes
    assert "CLAIM_MISSING" not in codes


def test_no_claim_is_missing() -> None:
    verdict, codes = judged(None)
    assert verdict is Verdict.REJECTED
    assert "CLAIM_MISSING" in codes
