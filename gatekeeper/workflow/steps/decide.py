"""Decide: all checks over the evidence, then the policy; the worse of the two is the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gatekeeper.checks import (
    agent_risk,
    change_proof,
    check_suites,
    config_weakening,
    declared_scope,
    flaky_tests,
    go_tests,
    implementation_gaming,
    instruction_drift,
    javascript_tests,
    leaked_secrets,
    rerun_match,
    second_witness,
    suite_integrity,
    suite_results,
    supply_chain,
    weakened_tests,
)
from gatekeeper.domain.decision import Approval, Need, PolicyDecision, PolicyMessage
from gatekeeper.domain.evidence import Evidence, ScanReport
from gatekeeper.domain.finding import Finding, finding, from_error, ordered, verdict_of, verdict_of_all
from gatekeeper.domain.grounds import grounded
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.verdict import Blame, Effect, Verdict, worst
from gatekeeper.errors import GatekeeperError
from gatekeeper.formats.policy_input import decide_input
from gatekeeper.formats.reviewer_notes import reviewer_note
from gatekeeper.records import dataclass, replace
from gatekeeper.workflow.gathered import Gathered
from gatekeeper.workflow.steps.checkout import Checkout
from gatekeeper.workflow.steps.intake import Intake
from gatekeeper.workflow.steps.plan import Planned
from gatekeeper.workflow.tools import Tools

CHECKS: tuple[tuple[str, Callable[[Evidence], tuple[Finding, ...]]], ...] = (
    ("suite_results", suite_results.check),
    ("check_suites", check_suites.check),
    ("flaky_tests", flaky_tests.check),
    ("suite_integrity", suite_integrity.check),
    ("second_witness", second_witness.check),
    ("go_tests", go_tests.check),
    ("javascript_tests", javascript_tests.check),
    ("rerun_match", rerun_match.check),
    ("declared_scope", declared_scope.check),
    ("implementation_gaming", implementation_gaming.check),
    ("config_weakening", config_weakening.check),
    ("weakened_tests", weakened_tests.check),
    ("supply_chain", supply_chain.check),
    ("leaked_secrets", leaked_secrets.check),
    ("agent_risk", agent_risk.check),
    ("instruction_drift", instruction_drift.check),
    ("change_proof", change_proof.check),
)


def prepare() -> None:
    """Make ready what the checks make at their first use and every change needs."""
    reviewer_note([(1, "")])
    reviewer_note([(1, "a"), (2, "b")])


@dataclass(frozen=True)
class Decided:
    """The verdict with everything that led to it."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    needs: tuple[Need, ...]
    decision: PolicyDecision | None
    approvals: tuple[Approval, ...]
    waived: tuple[str, ...] = ()
    """Codes of the findings that a waiver covers."""


def evidence_of(
    tools: Tools,
    intake: Intake,
    checkout: Checkout,
    planned: Planned,
    gathered: Gathered,
) -> Evidence:
    """Gather the evidence. A scan that did not take place is an unverified report, never an empty clean one."""
    missing = ScanReport("missing", "", ("all",), (), (), ("the scan did not take place",))
    mirror, change = checkout.mirror, checkout.change
    secrets, code = gathered.secrets, gathered.code
    return Evidence(
        ticket=intake.ticket,
        claim=intake.claim,
        settings=checkout.settings,
        suites=planned.suites,
        change=change,
        base=tools.git.tree(mirror, change.base_tree),
        merged=tools.git.tree(mirror, change.merge_tree),
        runs=gathered.runs,
        secrets=secrets.after if secrets else missing,
        code=code.after if code else missing,
        secrets_before=secrets.before if secrets else None,
        code_before=code.before if code else None,
        head=tools.git.tree(mirror, change.head_tree) if change.head_tree != change.merge_tree else None,
        witnessed=gathered.witnessed,
        measured=gathered.measured,
        flaky=gathered.flaky,
    )


def findings_of(evidence: Evidence) -> tuple[Finding, ...]:
    """All checks. One that crashes makes the verdict undecided; the others still speak."""
    found: list[Finding] = []
    for name, check in CHECKS:
        try:
            found += check(evidence)
        except GatekeeperError as error:
            found.append(from_error(error))
        except Exception as error:
            found.append(finding("GATE_CRASHED", f"The check {name} failed: {type(error).__name__}: {error}", key=name))
    return tuple(found)


def run(
    tools: Tools,
    submission: Submission,
    intake: Intake,
    checkout: Checkout,
    planned: Planned,
    gathered: Gathered,
    troubles: Sequence[Finding],
) -> Decided:
    """Judge. `troubles` are findings of earlier steps (a scan that failed, an environment that could not be made)."""
    evidence = evidence_of(tools, intake, checkout, planned, gathered)
    found = [*intake.findings, *troubles, *findings_of(evidence)]
    approvals, complaints = _approvals(tools, submission, intake, checkout)
    found, waived = _excused(found, submission, intake, checkout, tools.clock.now())
    found = [*_answered(found, approvals, planned), *complaints]
    decision: PolicyDecision | None = None
    try:
        decision = tools.policy.decide(
            decide_input(
                ticket=intake.ticket,
                claim=intake.claim,
                settings=checkout.settings,
                change=checkout.change,
                plan=planned.plan,
                findings=ordered(found),
                runs=evidence.runs,
                secrets=evidence.secrets,
                code=evidence.code,
                approvals=approvals,
                now=tools.clock.now(),
                mode=tools.mode.value,
            )
        )
    except GatekeeperError as error:
        found.append(from_error(error))
    needs: tuple[Need, ...] = ()
    if decision is not None:
        found += _policy_findings(decision, found)
        needs = tuple(Need(q.code, q.role or "reviewer", q.count or 1) for q in decision.questions)
    verdict = worst([verdict_of_all(found), decision.verdict if decision is not None else Verdict.UNDECIDED])
    asked = [f for f in ordered(found) if f.effect is Effect.ASKS and f.code not in {n.cause for n in needs}]
    needs += tuple(Need(f.code, "reviewer", 1) for f in asked)
    needs = needs if verdict is Verdict.NEEDS_HUMAN else ()
    told = _told(tools, grounded(evidence, ordered(found), gathered.further_runs))
    return Decided(verdict, told, needs, decision, approvals, waived)


def _told(tools: Tools, found: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What findings quote of claims and names of tests can hold a secret too. Fingerprints stay: they name, not quote."""
    texts = dict.fromkeys(t for f in found for t in (f.message, f.evidence) if t)
    try:
        clean = dict(zip(texts, tools.secrets.redact([*texts]), strict=True))
    except GatekeeperError:
        # The scan has failed as well, which blocks; what cannot be looked through is not told.
        clean = dict.fromkeys(texts, "[withheld: the secret scanner does not work]")
    return tuple(replace(f, message=clean.get(f.message, ""), evidence=clean.get(f.evidence, "")) for f in found)


def _approvals(
    tools: Tools, submission: Submission, intake: Intake, checkout: Checkout
) -> tuple[tuple[Approval, ...], tuple[Finding, ...]]:
    change = checkout.change
    people = {c.author.email for c in change.commits} | {c.committer.email for c in change.commits}
    people |= {p.email for c in change.commits for p in c.co_authors()}
    people |= set(submission.senders())
    return tools.approvals(
        submission.approvals,
        ticket_digest=intake.ticket.digest,
        diff_digest=change.diff_digest(),
        repository=change.repository,
        target_ref=change.target_ref,
        people=sorted(people),
        now=tools.clock.now(),
    )


def _excused(
    found: Sequence[Finding], submission: Submission, intake: Intake, checkout: Checkout, now: float
) -> tuple[list[Finding], tuple[str, ...]]:
    """Findings that a waiver of this very diff and ticket covers become advice; their codes go into the verdict."""
    diff = checkout.change.diff_digest()
    covered = {
        w.fingerprint: w
        for w in submission.waivers
        if w.diff_digest == diff and w.ticket_digest == intake.ticket.digest and w.expires_at > now
    }
    left, codes = [], set()
    for one in found:
        waiver = covered.get(one.fingerprint)
        if waiver is None or one.effect is Effect.ADVISES or one.code == "GATE_CRASHED":
            left.append(one)
            continue
        codes.add(one.code)
        note = f"{one.evidence}\nWaived by {waiver.reviewer}.".strip()
        left.append(replace(one, effect=Effect.ADVISES, evidence=note))
    return left, tuple(sorted(codes))


def _answered(found: Sequence[Finding], approvals: Sequence[Approval], planned: Planned) -> list[Finding]:
    """Questions that enough reviewers have answered by approving this very diff become advice; nothing else changes."""
    people = sorted({a.reviewer for a in approvals})
    if not people or len(people) < max(1, planned.plan.approvals):
        return list(found)
    note = f"Approved by {', '.join(people)}."
    return [
        replace(f, effect=Effect.ADVISES, evidence=f"{f.evidence}\n{note}".strip())
        if verdict_of(f) is Verdict.NEEDS_HUMAN
        else f
        for f in found
    ]


def _policy_findings(decision: PolicyDecision, found: Sequence[Finding]) -> list[Finding]:
    """What the policy says beyond the findings it was shown, so that every verdict has its reason in the list."""
    said = {f.code for f in found}
    added = []
    for message in decision.violations:
        if message.code not in said:
            code = message.code if message.code in _known() else "POLICY_VIOLATION"
            added.append(finding(code, message.message, key=f"{message.rule}:{message.code}", evidence=_rule(message)))
    for message in decision.questions:
        if message.code not in said:
            code = message.code if message.code in _known() else "REVIEW_REQUIRED"
            key = f"{message.rule}:{message.code}"
            added.append(finding(code, message.message, key=key, effect=Effect.ASKS, evidence=_rule(message)))
    added += [
        finding(m.code, m.message, key=m.rule, effect=Effect.ADVISES, blame=Blame.NONE, evidence=_rule(m))
        for m in decision.warnings
        if m.code not in said and m.code in _known()
    ]
    if verdict_of_all([*found, *added]).rank > decision.verdict.rank and not added:
        added.append(finding("POLICY_VIOLATION", f"The policy {decision.bundle.name} says {decision.verdict.value}."))
    return added


def _rule(message: PolicyMessage) -> str:
    """Where the policy says so: its rule stands for the file and line that other findings have."""
    return f"policy rule {message.rule}" if message.rule else ""


def _known() -> frozenset[str]:
    from gatekeeper.errors import reasons

    return frozenset(reasons())
