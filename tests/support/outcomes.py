"""Whole outcomes made by hand, for tests of what is told about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatekeeper.domain.decision import BundleId, Need, Outcome, Plan, TierReason
from gatekeeper.domain.finding import Finding, ordered, verdict_of_all
from gatekeeper.domain.testrun import CaseResult, Engine, RunRole, Session, SuiteRun, Termination
from gatekeeper.domain.testrun import Outcome as CaseOutcome
from gatekeeper.domain.ticket import Budget, Permit, PermitKind, Risk, Ticket
from gatekeeper.domain.verdict import Mode, Verdict

BASE, HEAD, TREE = "a" * 40, "b" * 40, "c" * 40
ENGINE = Engine("bubblewrap", "0.11.0", ("network_none", "seccomp"))


def made_ticket(**over: Any) -> Ticket:
    """A ticket with a permit and a budget."""
    values: dict[str, Any] = {
        "id": "SHOP-12", "title": "Cart total ignores vouchers", "goal": "total() subtracts vouchers",
        "allowed": ("src/shop/**", "tests/**"), "forbidden": ("src/shop/secret/**",), "suites": (),
        "verify": ("python -m pytest -q",), "permits": (Permit(PermitKind.SKIP_TESTS, tests=("tests/test_old.py::*",)),),
        "risk": Risk.LOW, "budget": Budget(attempts=3), "digest": "d" * 64,
    }  # fmt: skip
    return Ticket(**{**values, **over})


def made_run(
    outcomes: Mapping[str, str], *, role: RunRole = RunRole.MERGED, suite: str = "verify", log: str = "", **over: Any
) -> SuiteRun:
    """A recorded run; its status follows from the outcomes."""
    cases = tuple(CaseResult(i, CaseOutcome(o), file=i.partition("::")[0], line=4) for i, o in outcomes.items())
    status = int(any(o in ("failed", "errored") for o in outcomes.values()))
    values: dict[str, Any] = {
        "id": f"run-{role.value}-{suite}", "role": role, "suite": suite, "command": "python -m pytest -q", "tree": TREE,
        "exit_code": status, "termination": Termination.EXITED,
        "sessions": (Session(cases, len(cases), status, True),) if cases else (), "reports": (), "engine": ENGINE,
        "log": log, "wall_s": 1.25, "guarantee": "recorded" if cases else "exit_status",
    }  # fmt: skip
    return SuiteRun(**{**values, **over})


def made_outcome(
    findings: Sequence[Finding] = (),
    runs: Sequence[SuiteRun] = (),
    *,
    verdict: Verdict | None = None,
    needs: Sequence[Need] = (),
    **over: Any,
) -> Outcome:
    """An outcome whose verdict follows from its findings unless given."""
    found = ordered(findings)
    plan = Plan(
        Risk.LOW, (TierReason(Risk.LOW, "baseline", "nothing raises it"),), (), 0, 3600,
        BundleId("gatekeeper", "7", "e" * 64), 1, 1,
    )  # fmt: skip
    values: dict[str, Any] = {
        "verdict": verdict or verdict_of_all(found), "mode": Mode.LOCAL, "findings": found, "run_id": "f" * 32,
        "base": BASE, "head": HEAD, "merge_tree": TREE, "ticket": made_ticket(), "runs": tuple(runs),
        "needs": tuple(needs), "plan": plan, "timings_ms": {"total": 3400.0}, "environment": "from requirements.txt",
        "repository": "/srv/git/shop.git", "target_ref": "refs/heads/main",
    }  # fmt: skip
    return Outcome(**{**values, **over})
