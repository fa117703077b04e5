"""An outcome as the one JSON object that `gatekeeper check` prints (DESIGN section 5)."""

from __future__ import annotations

import json
from typing import Any

from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.testrun import SuiteRun
from gatekeeper.domain.verdict import Effect
from gatekeeper.errors import reason
from gatekeeper.formats.measurement_json import measurement
from gatekeeper.formats.repair_brief import repair_brief
from gatekeeper.formats.text_safety import harmless

SCHEMA = "gatekeeper.check/1"
MAX_LOG = 20_000
"""Characters of a run's log in the report; the tail says most."""


def document(outcome: Outcome) -> dict[str, Any]:
    """The outcome as JSON-able data. Texts that came from the change lose their control characters."""
    rows = [finding_row(f) for f in outcome.findings]
    plan = outcome.plan
    return {
        "schema": SCHEMA,
        "mode": outcome.mode.value,
        "verdict": outcome.verdict.value,
        "waived": list(outcome.waived),
        "run_id": outcome.run_id,
        "base": outcome.base,
        "head": outcome.head,
        "merge_tree": outcome.merge_tree,
        "ticket": None
        if outcome.ticket is None
        else {
            "id": harmless(outcome.ticket.id),
            "digest": outcome.ticket.digest,
            "approved": outcome.ticket.approved,
        },
        "reasons": [r for r, f in zip(rows, outcome.findings, strict=True) if f.effect is not Effect.ADVISES],
        "findings": rows,
        "runs": [run_row(r) for r in outcome.runs],
        "measurement": measurement(outcome.measured),
        "needs": [{"cause": n.cause, "role": n.role, "count": n.count} for n in outcome.needs],
        "timings_ms": dict(outcome.timings_ms),
        "policy": None
        if plan is None
        else {
            "bundle": plan.bundle.name,
            "revision": plan.bundle.revision,
            "digest": plan.bundle.digest,
            "tier": plan.tier.value,
            "tier_reasons": [
                {
                    "tier": r.tier.value,
                    "rule": r.rule,
                    "message": harmless(r.message),
                    "paths": [*map(harmless, r.paths)],
                }
                for r in plan.tier_reasons
            ],
        },
        "attestation": outcome.attestation,
        "environment": harmless(outcome.environment),
        "brief": repair_brief(outcome),
    }


def finding_row(found: Finding) -> dict[str, Any]:
    """One reason or finding."""
    return {
        "fingerprint": found.fingerprint,
        "category": found.category,
        "code": found.code,
        "effect": found.effect.value,
        "primary": found.primary,
        "blame": found.blame.value,
        "message": harmless(found.message),
        "path": None if found.path is None else harmless(found.path),
        "line": found.line,
        "evidence": harmless(found.evidence),
        "next_action": found.next_action,
        "why": reason(found.code).meaning,
        "seen": [{"role": s.role, "suite": harmless(s.suite), "what": harmless(s.what)} for s in found.seen],
    }


def run_row(run: SuiteRun) -> dict[str, Any]:
    """One run, without its single results."""
    return {
        "id": run.id,
        "role": run.role.value,
        "suite": run.suite,
        "command": harmless(run.command),
        "tree": run.tree,
        "exit": run.exit_code,
        "termination": run.termination.value,
        "counts": run.counts,
        "partial": run.partial,
        "taken": len(run.taken),
        "engine": {
            "name": run.engine.name,
            "version": run.engine.version,
            "isolation": list(run.engine.isolation),
            "missing": list(run.engine.missing),
        },
        "guarantee": run.guarantee,
        "wall_s": round(run.wall_s, 3),
        "cpu_s": None if run.cpu_s is None else round(run.cpu_s, 3),
        "log": harmless(run.log[-MAX_LOG:]),
    }


def dumps(value: dict[str, Any]) -> str:
    """One line of ASCII JSON: undecodable bytes of paths come out as escapes, whatever the terminal's encoding is."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
