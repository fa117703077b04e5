"""The verdict for a tired reader: what was decided, why, what to do; details after that."""

from __future__ import annotations

import textwrap

from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import Finding
from gatekeeper.domain.testrun import SuiteRun, Termination
from gatekeeper.domain.verdict import Blame, Effect, Verdict
from gatekeeper.formats.text_safety import harmless

COLOR = {
    Verdict.ACCEPTED: "\x1b[1;32m",
    Verdict.REJECTED: "\x1b[1;31m",
    Verdict.NEEDS_HUMAN: "\x1b[1;33m",
    Verdict.UNDECIDED: "\x1b[1;35m",
}
HEADLINE = {
    Verdict.ACCEPTED: "ACCEPTED",
    Verdict.REJECTED: "REJECTED",
    Verdict.NEEDS_HUMAN: "A PERSON MUST DECIDE",
    Verdict.UNDECIDED: "UNDECIDED (could not be checked; this blocks too)",
}
WIDTH = 110
MAX_EVIDENCE_LINES = 12


def report(outcome: Outcome, *, color: bool = False) -> str:
    """The whole report as text."""
    paint = COLOR[outcome.verdict] if color else ""
    lines = [f"{paint}{HEADLINE[outcome.verdict]}{chr(27) + '[0m' if color else ''}{_subject(outcome)}"]
    reasons = [f for f in outcome.findings if f.effect is not Effect.ADVISES]
    advice = [f for f in outcome.findings if f.effect is Effect.ADVISES]
    for number, found in enumerate(reasons, 1):
        lines += ["", *finding_lines(found, f"{number}.")]
    if advice:
        lines += ["", "Notes (these do not block):"]
        for found in advice:
            lines += finding_lines(found, "-", brief=True)
    lines += ["", *_facts(outcome)]
    return "\n".join(lines)


def _subject(outcome: Outcome) -> str:
    parts = []
    if outcome.ticket is not None:
        parts.append(harmless(f"{outcome.ticket.id}: {outcome.ticket.title}").replace("\n", " "))
    if outcome.head:
        parts.append(f"head {outcome.head[:12]} onto {outcome.base[:12] if outcome.base else '?'}")
    return "  " + ", ".join(parts) if parts else ""


def finding_lines(found: Finding, mark: str, *, brief: bool = False) -> list[str]:
    """One finding for people; its code and category are the gate's own words, all else is made harmless."""
    where = ""
    if found.path is not None:
        where = f" {harmless(found.path)}" + (f":{found.line}" if found.line else "")
    blame = f", blame {found.blame.value}" if found.blame is not Blame.NONE else ""
    lines = wrapped(f"{mark} {found.category} / {found.code}{blame}{where}", "   ")
    lines += wrapped(harmless(found.message), "   ", first="   ")
    if brief:
        return lines
    shown = harmless(found.evidence).strip("\n").splitlines()
    if shown:
        cut = shown[-MAX_EVIDENCE_LINES:] if len(shown) > MAX_EVIDENCE_LINES else shown
        if len(cut) < len(shown):
            lines.append(f"     | ... {len(shown) - len(cut)} lines before")
        lines += [f"     | {line[: WIDTH * 2]}" for line in cut]
    lines += wrapped(f"-> {found.next_action}", "      ", first="   ")
    return lines


def wrapped(text: str, indent: str, first: str = "") -> list[str]:
    """Lines no wider than the report, the later ones indented."""
    out: list[str] = []
    for part in text.splitlines() or [""]:
        out += textwrap.wrap(part, WIDTH, initial_indent=first, subsequent_indent=indent) or [first]
    return out


def _facts(outcome: Outcome) -> list[str]:
    lines = [f"run      {_run(run)}" for run in outcome.runs]
    missing = sorted({m for r in outcome.runs for m in r.engine.missing})
    if missing:
        lines.append(f"sandbox  weaker than it should be here: no {', no '.join(missing)}")
    if outcome.plan is not None:
        why = "; ".join(harmless(r.message) for r in outcome.plan.tier_reasons) or "nothing raises it"
        lines += wrapped(f"policy   tier {outcome.plan.tier.value} ({why})", "         ")
        lines.append(
            f"         bundle {outcome.plan.bundle.name} {outcome.plan.bundle.revision}, sha256 {outcome.plan.bundle.digest[:16]}"
        )
    for need in outcome.needs:
        lines.append(f"needs    {need.count} x {need.role}: {need.cause}")
    if outcome.attestation:
        lines.append(
            f"signed   {outcome.attestation['payload_sha256'][:16]} with {outcome.attestation['keyid']} (mode {outcome.mode.value})"
        )
        where = outcome.attestation.get("stored") or outcome.attestation.get("file")
        lines.append(
            f"         stored in {where}" if where else "         not stored; use --publish or --attestation FILE"
        )
    else:
        lines.append("signed   nothing")
    total = outcome.timings_ms.get("total")
    if total is not None:
        lines.append(f"time     {total / 1000:.1f} s")
    return lines


def _run(run: SuiteRun) -> str:
    counts = ", ".join(f"{n} {word}" for word, n in sorted(run.counts.items())) or "no single results"
    end = f"exit {run.exit_code}" if run.termination is Termination.EXITED else run.termination.value.replace("_", " ")
    return f"{run.suite} on {run.role.value.replace('_', ' ')}: {end}, {counts} ({run.wall_s:.1f} s, {run.guarantee or 'no guarantee'})"
