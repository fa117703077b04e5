"""Approvals without a trust file count for nothing, and that is said."""

from __future__ import annotations

from gatekeeper.domain.verdict import Effect
from gatekeeper.wiring.signers import approval_verifier


def test_an_approval_that_nobody_can_judge_is_told_and_counts_for_nothing():
    taken, told = approval_verifier(None)([b"{}", b"{}"])
    assert taken == ()
    assert [(f.code, f.effect) for f in told] == [("APPROVAL_WITHOUT_TRUST", Effect.ADVISES)]
    assert "2 approvals" in told[0].message


def test_without_approvals_nothing_is_said():
    assert approval_verifier(None)([]) == ((), ())
