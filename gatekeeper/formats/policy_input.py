"""The two input documents of the policy: small, aggregated facts, `observed` and `claimed` apart.

Which fact gives which tier is the policy's business, not decided here. Texts of the change never enter; names that do
(paths, suites, reviewers) are reduced to plain characters, because an engine may print them unescaped. Lists carry their
length, so that a document from which something was taken is recognised. What had to be cut off sets `truncated`, which
can only raise the tier.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gatekeeper.domain.change import Change
from gatekeeper.domain.decision import Approval, Plan
from gatekeeper.domain.evidence import ScanReport
from gatekeeper.domain.finding import Finding, verdict_of, verdict_of_all
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.submission import Claim
from gatekeeper.domain.testrun import Outcome, SuiteRun
from gatekeeper.domain.ticket import Ticket
from gatekeeper.domain.tree import EXECUTABLE, GITLINK, SYMLINK, Tree
from gatekeeper.domain.verdict import Verdict
from gatekeeper.formats.policy_signals import Signals, count_signals, is_document, is_test

MAX_PATHS = 100
"""Paths listed for the globs of the policy; more are counted only."""
MAX_WORDS = 300
MAX_RUNS = 64
MAX_APPROVALS = 32
MAX_NAME = 200
EXAMPLES = 3

MIGRATION_AREAS = ("migrations", "data_deletion")
PRIVILEGE_AREAS = ("privileges",)

_UNPLAIN = re.compile(r"[^A-Za-z0-9._/@+-]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def plain_name(text: str) -> str:
    """`text` with everything but letters, digits and `._/@+-` replaced by `_`, bounded. For display and matching only."""
    return _UNPLAIN.sub("_", text[:MAX_NAME])


def words_of(path: str) -> set[str]:
    """Words by which a policy may know a path, lower case.

    The whole file name, its extension with the dot, and every word of every segment, split at anything but letters and
    digits and at changes of case: `src/OAuthLogin_view.py` gives oauth, login, view, src, ... but no part of a word.
    """
    name = path.rpartition("/")[2]
    found = {name.lower()}
    stem, dot, extension = name.rpartition(".")
    if dot and stem:
        found.add("." + extension.lower())
        path = path[: -len(extension) - 1]
    for part in re.split(r"[^A-Za-z0-9]+", path):
        if part:
            found.add(part.lower())
            found.update(word.lower() for word in _CAMEL.split(part))
    return {_UNPLAIN.sub("_", word)[:64] for word in found}


def plan_input(
    *,
    ticket: Ticket,
    claim: Claim,
    settings: Settings,
    change: Change,
    base: Tree,
    merged: Tree,
    now: float,
    mode: str,
) -> dict[str, Any]:
    """Input of `data.gatekeeper.plan.v1.result`. Raises `CouldNotCheck` where a blob is over the trees' cap."""
    paths = [p.path for p in change.paths]
    concrete = [p for p in paths if not is_test(p) and not is_document(p)]
    words: dict[str, list[str]] = {}
    for path in concrete:
        for word in sorted(words_of(path)):
            examples = words.setdefault(word, [])
            if len(examples) < EXAMPLES:
                examples.append(plain_name(path))
    signals = count_signals(change, base, merged)
    truncated = len(concrete) > MAX_PATHS or len(words) > MAX_WORDS or signals.truncated
    words = {word: words[word] for word in sorted(words)[:MAX_WORDS]}
    listed = [plain_name(p) for p in concrete[:MAX_PATHS]]
    return {
        "schema": "gatekeeper.policy.plan/1",
        "now": float(now),
        "mode": mode,
        "ticket": _ticket(ticket),
        "settings": {
            "present": settings.present,
            "tiers": {
                tier: sum(1 for p in paths if matches_any(settings.tiers.get(tier, ()), p))
                for tier in ("medium", "high")
            },
        },
        "claimed": {"present": claim.present, "parts": _parts(claim)},
        "observed": {
            "paths_total": len(paths),
            "paths_listed": len(listed),
            "paths": listed,
            "words_listed": len(words),
            "words": words,
            "special_modes": _special_modes(change),
            "truncated": truncated,
            "signals": _signals(signals),
        },
    }


def decide_input(
    *,
    ticket: Ticket,
    claim: Claim,
    settings: Settings,
    change: Change,
    plan: Plan,
    findings: Sequence[Finding],
    runs: Sequence[SuiteRun],
    secrets: ScanReport,
    code: ScanReport,
    approvals: Sequence[Approval],
    now: float,
    mode: str,
) -> dict[str, Any]:
    """Input of `data.gatekeeper.decide.v1.result`. `findings` are all that stand, advice included."""
    areas = {r.rule.rpartition(":")[2] for r in plan.tier_reasons}
    required = [plain_name(s.name) for s in settings.suites]
    shown = list(runs)[:MAX_RUNS]
    believed = list(approvals)[:MAX_APPROVALS]
    return {
        "schema": "gatekeeper.policy.decide/1",
        "now": float(now),
        "mode": mode,
        "floor": verdict_of_all(findings).value,
        "ticket": _ticket(ticket),
        "plan": {
            "tier": plan.tier.value,
            "approvals": plan.approvals,
            "expiry_s": plan.expiry_s,
            "required_evidence": list(plan.required_evidence),
            "required_evidence_total": len(plan.required_evidence),
            "extra_runs": list(plan.extra_runs),
            "extra_runs_total": len(plan.extra_runs),
            "data_migration": not areas.isdisjoint(MIGRATION_AREAS),
            "privilege_widening": not areas.isdisjoint(PRIVILEGE_AREAS),
        },
        "claimed": {"present": claim.present, "parts": _parts(claim)},
        "observed": {
            "paths_total": len(change.paths),
            "findings": _findings(findings),
            "runs": [_run(r) for r in shown],
            # The true number: where more runs took place than are shown, the input is not complete and says so.
            "runs_total": len(runs),
            "required_suites": required,
            "required_suites_total": len(required),
            "ticket_suite": bool(ticket.verify),
            "scans": {"secrets": _scan(secrets), "code": _scan(code)},
            "approvals": [_approval(a, ticket, change, now) for a in believed],
            "approvals_total": len(believed),
        },
    }


def _ticket(ticket: Ticket) -> dict[str, Any]:
    return {
        "risk": ticket.risk.value,
        "approved": ticket.approved,
        "permits": dict(sorted(Counter(p.kind.value for p in ticket.permits).items())),
    }


def _parts(claim: Claim) -> dict[str, bool]:
    """Only the parts that are there: `true` or absent."""
    table = {
        "commands": bool(claim.commands),
        "report": bool(claim.reports),
        "summary": bool(claim.summary.strip()),
        "reason": bool(claim.reason.strip()),
        "risks": bool(claim.risks.strip()),
        "rollback": bool(claim.rollback.strip()),
        "not_done": bool(claim.not_done.strip()),
        "instructions": bool(claim.instructions),
        "usage": claim.tokens is not None or claim.cost is not None,
    }
    return {part: True for part, there in table.items() if claim.present and there}


def _special_modes(change: Change) -> int:
    """Links and submodules that come or change, and files that become executable outside tests."""
    count = 0
    for p in change.paths:
        if p.new is None or is_document(p.path):
            continue
        became_executable = p.new.mode == EXECUTABLE and (p.old is None or p.old.mode != EXECUTABLE)
        if p.new.mode in (SYMLINK, GITLINK) or (became_executable and not is_test(p.path)):
            count += 1
    return count


def _signals(signals: Signals) -> dict[str, Any]:
    return {
        name: {"count": count, "paths": [plain_name(p) for p in signals.examples.get(name, ())[:EXAMPLES]]}
        for name, count in sorted(signals.counts.items())
    }


def _findings(findings: Sequence[Finding]) -> dict[str, Any]:
    verdicts = Counter(verdict_of(f).value for f in findings)
    return {
        "total": len(findings),
        "by_verdict": {v.value: verdicts.get(v.value, 0) for v in Verdict},
        "by_category": dict(sorted(Counter(plain_name(f.category) for f in findings).items())),
    }


def _run(run: SuiteRun) -> dict[str, Any]:
    executed = sum(1 for c in run.cases if c.outcome is not Outcome.SKIPPED)
    return {
        "suite": plain_name(run.suite),
        "role": run.role.value,
        "termination": run.termination.value,
        "exit_code": run.exit_code,
        "guarantee": plain_name(run.guarantee),
        "tests": executed,
        "sessions": len(run.sessions),
        "sessions_complete": sum(1 for s in run.sessions if s.complete),
    }


def _scan(report: ScanReport) -> dict[str, Any]:
    return {
        "tool": plain_name(report.tool),
        "targets": len(set(report.targets)),
        "scanned": len(set(report.scanned) & set(report.targets)) if report.targets else 0,
        "missing": len(set(report.targets) - set(report.scanned)),
        "errors": len(report.errors),
    }


def _approval(approval: Approval, ticket: Ticket, change: Change, now: float) -> dict[str, Any]:
    reviewer = approval.reviewer.strip().casefold()
    return {
        "reviewer": _digest(reviewer) if reviewer else "",
        "key": _digest(approval.keyid or reviewer) if approval.keyid or reviewer else "",
        "binds_ticket": bool(ticket.digest) and approval.ticket_digest == ticket.digest,
        "binds_diff": approval.diff_digest == change.diff_digest(),
        "is_author": reviewer in _authors(change),
        "expired": approval.expires_at is not None and approval.expires_at <= now,
    }


def _authors(change: Change) -> frozenset[str]:
    people = [p for c in change.commits for p in (c.author, c.committer, *c.co_authors())]
    names: Iterable[str] = (n for p in people for n in (p.email, p.name))
    return frozenset(n.strip().casefold() for n in names if n.strip())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def document_size(document: Mapping[str, Any]) -> int:
    """How many values a document holds, for tests of its bounds."""
    total, stack = 0, [document]
    while stack:
        value: Any = stack.pop()
        total += 1
        if isinstance(value, Mapping):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return total
