"""Builders of the in-toto statements that the gate and its reviewers sign, as plain JSON-able dicts.

They carry codes and digests, never the text of a finding: a finding can point at a live secret. Times are RFC 3339 in
UTC. docs/predicates/ describes every field.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from gatekeeper.domain.change import Change
from gatekeeper.domain.decision import Approval, Outcome
from gatekeeper.domain.testrun import Outcome as CaseOutcome
from gatekeeper.domain.testrun import SuiteRun, Termination
from gatekeeper.domain.verdict import Mode, Verdict

STATEMENT = "https://in-toto.io/Statement/v1"
VERDICT = "https://slsa.dev/verification_summary/v1"
TEST_RESULT = "https://in-toto.io/attestation/test-result/v0.1"
APPROVAL = "https://gatekeeper.invalid/predicates/approval/v1"
BINDING = "https://gatekeeper.invalid/predicates/binding/v1"
RUN = "https://gatekeeper.invalid/predicates/run/v1"
LEVEL = "GATEKEEPER_CHANGE_VERIFIED"
UNEVALUATED = "SLSA_SOURCE_LEVEL_UNEVALUATED"
MAX_NAMES = 200
"""Names of failed tests kept in a statement; the number of all stands beside them."""
MAX_NAME = 300
MAX_PEOPLE = 200


def rfc3339(seconds: float) -> str:
    """Seconds since the epoch as `2026-01-02T03:04:05Z`."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _clean(text: str, limit: int = MAX_NAME) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")[:limit]


def _subject(commit: str, repository: str, target_ref: str) -> list[dict[str, Any]]:
    # gitCommit alone: digest sets match if any entry matches, so gitTree would let another commit pass.
    return [
        {
            "uri": _clean(f"{repository}@{commit}", 2000),
            "digest": {"gitCommit": commit},
            "annotations": {"sourceRefs": [target_ref]},
        }
    ]


def people_of(change: Change) -> list[str]:
    """Casefolded addresses of authors, committers and co-authors of base..head, sorted, capped."""
    people = [p for c in change.commits for p in (c.author, c.committer, *c.co_authors())]
    return sorted({_clean(p.email.strip().casefold()) for p in people})[:MAX_PEOPLE]


def suite_result(run: SuiteRun) -> str:
    """PASSED only for a command that ended by itself with status 0; everything else is FAILED."""
    return "PASSED" if run.termination is Termination.EXITED and run.exit_code == 0 else "FAILED"


def _run_digest(run: SuiteRun) -> str:
    """sha256 over how the run ended and the outcome of every test, sorted: names a result without its text."""
    rows = sorted(f"{c.id}\x00{c.outcome.value}" for c in run.cases)
    head = [run.suite, run.role.value, run.tree, run.command, run.termination.value, str(run.exit_code)]
    return hashlib.sha256("\x00\n".join([*head, *rows]).encode("utf-8", "surrogateescape")).hexdigest()


def _suite(run: SuiteRun) -> dict[str, Any]:
    return {
        "name": _clean(run.suite),
        "role": run.role.value,
        "tree": run.tree,
        "result": suite_result(run),
        "resultDigest": {"sha256": _run_digest(run)},
        "guarantee": run.guarantee,
        "engine": {
            "name": run.engine.name,
            "version": run.engine.version,
            "isolation": sorted(run.engine.isolation),
            "missing": sorted(run.engine.missing),
        },
    }


def _codes(outcome: Outcome) -> list[str]:
    return sorted({f.code for f in outcome.findings if f.effect.value != "advises"})


def verdict_statement(
    *,
    outcome: Outcome,
    change: Change,
    verifier_id: str,
    gate_version: str,
    issued_at: float,
    expires_at: float,
    purpose: str = "PRE_MERGE",
    settings_digest: str,
    approvals: Sequence[Approval],
    inputs: Sequence[tuple[str, str]],
    attempt: int = 1,
    merge_group: str = "",
    change_name: str = "",
    submitter: str | None,
    on_behalf_of: str | None,
    nonce: str,
) -> dict[str, Any]:
    """The verdict: a SLSA VSA v1 with the binding extension. `inputs` are (name, sha256 of the DSSE payload).

    Times are seconds since the epoch. Anything but an accepted verdict is FAILED. Raises `ValueError` where the outcome
    has no plan or no ticket: such a verdict binds nothing.
    """
    if outcome.plan is None or outcome.ticket is None:
        raise ValueError("a verdict without plan or ticket binds nothing")
    # A shadow verdict is for figures: it is never a pass in anything signed.
    passed = outcome.verdict is Verdict.ACCEPTED and outcome.mode is not Mode.SHADOW
    plan = outcome.plan
    bundles = {(b.name, b.revision, b.digest) for b in (plan.bundle, outcome.decision and outcome.decision.bundle) if b}
    ticket = outcome.ticket
    binding = {
        "mode": outcome.mode.value,
        "purpose": purpose,
        "verdict": outcome.verdict.value,
        "codes": _codes(outcome),
        "repository": {"uri": change.repository},
        "targetRef": change.target_ref,
        "base": {"gitCommit": change.base, "gitTree": change.base_tree},
        "head": {"gitCommit": change.head, "gitTree": change.head_tree},
        "mergeBase": {"gitCommit": change.merge_base},
        "mergeResult": {"gitTree": change.merge_tree},
        "mergeGroup": merge_group or None,
        "change": change_name or None,
        "attempt": attempt,
        "submitter": submitter,
        "onBehalfOf": on_behalf_of,
        "commitAuthors": people_of(change),
        "ticket": {"id": _clean(ticket.id), "digest": {"sha256": ticket.digest}, "approved": ticket.approved},
        "diff": {"sha256": change.diff_digest()},
        "approvals": [
            {"reviewer": a.reviewer, "keyid": a.keyid, "digest": {"sha256": a.payload_sha256}}
            for a in sorted(approvals, key=lambda a: (a.reviewer, a.payload_sha256))
        ],
        "waivers": sorted(outcome.waived),
        "settings": {"sha256": settings_digest},
        "policies": [{"name": n, "revision": r, "digest": {"sha256": d}} for n, r, d in sorted(bundles)],
        "tier": plan.tier.value,
        "suites": [_suite(r) for r in sorted(outcome.runs, key=lambda r: (r.suite, r.role.value, r.id))],
        "gateVersion": gate_version,
        "runId": outcome.run_id,
        "issuedAt": rfc3339(issued_at),
        "expiresAt": rfc3339(expires_at),
        "nonce": nonce,
    }
    return {
        "_type": STATEMENT,
        "subject": _subject(change.head, change.repository, change.target_ref),
        "predicateType": VERDICT,
        "predicate": {
            "verifier": {"id": verifier_id, "version": {"gatekeeper": gate_version}},
            "timeVerified": rfc3339(issued_at),
            "resourceUri": change.repository,
            "policy": {
                "uri": f"urn:gatekeeper:policy:{plan.bundle.name}",
                "digest": {"sha256": plan.bundle.digest},
            },
            "inputAttestations": [
                {"name": _clean(name), "uri": f"urn:sha256:{sha}", "digest": {"sha256": sha}} for name, sha in inputs
            ],
            "verificationResult": "PASSED" if passed else "FAILED",
            "verifiedLevels": [LEVEL, UNEVALUATED] if passed else ["FAILED"],
            "slsaVersion": "1.2",
            BINDING: binding,
        },
    }


def _names(ids: Iterable[str]) -> list[str]:
    return sorted({_clean(i) for i in ids})[:MAX_NAMES]


def test_result_statement(run: SuiteRun, change: Change) -> dict[str, Any]:
    """What the gate saw of one run, as in-toto test-result v0.1. Names of failed tests are capped; no output text."""
    bad = (CaseOutcome.FAILED, CaseOutcome.ERRORED)
    failed = [c.id for c in run.cases if c.outcome in bad]
    return {
        "_type": STATEMENT,
        "subject": _subject(change.head, change.repository, change.target_ref),
        "predicateType": TEST_RESULT,
        "predicate": {
            "result": suite_result(run),
            "configuration": [
                {
                    "name": _clean(run.suite),
                    "digest": {"sha256": hashlib.sha256(run.command.encode("utf-8", "surrogateescape")).hexdigest()},
                }
            ],
            "failedTests": _names(failed),
            RUN: {
                **_suite(run),
                "repository": {"uri": change.repository},
                "targetRef": change.target_ref,
                "runId": run.id,
                "termination": run.termination.value,
                "exitCode": run.exit_code,
                "counts": run.counts,
                "failedCount": len(failed),
                "partial": run.partial,
                "takenCount": len(run.taken),
            },
        },
    }


test_result_statement.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name looks like to pytest


def approval_statement(
    *,
    reviewer: str,
    decision: str,
    repository: str,
    target_ref: str,
    ticket_digest: str,
    diff_digest: str,
    head: str,
    issued_at: float,
    expires_at: float,
    reason: str = "",
) -> dict[str, Any]:
    """A reviewer's answer to one diff of one ticket. `decision` is approve or request_changes."""
    if decision not in ("approve", "request_changes"):
        raise ValueError(f"no such decision: {decision!r}")
    return {
        "_type": STATEMENT,
        "subject": _subject(head, repository, target_ref),
        "predicateType": APPROVAL,
        "predicate": {
            "reviewer": reviewer,
            "decision": decision,
            "repository": {"uri": repository},
            "targetRef": target_ref,
            "ticket": {"sha256": ticket_digest},
            "diff": {"sha256": diff_digest},
            "issuedAt": rfc3339(issued_at),
            "expiresAt": rfc3339(expires_at),
            "reason": _clean(reason, 2000),
        },
    }
