"""The verdict for a tired reader: what was decided, why, what to do; details after that."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence

from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.finding import Finding, Seen
from gatekeeper.domain.testrun import RunRole, SuiteRun, Termination
from gatekeeper.domain.verdict import Blame, Effect, Verdict
from gatekeeper.errors import reasons
from gatekeeper.formats.measurement_json import measurement_lines
from gatekeeper.formats.repair_brief import PLACES, ticket_alone
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
MAX_MESSAGE = 900
"""Characters of a message; the whole of it is in the JSON."""
IN_FULL = 3
"""Findings of one code that are told with evidence and advice; the rest only where they are and what is wrong."""
SHORT = {
    "merged": "the merge",
    "base_instruments": "the merge with the target's tests",
    "base": "the target branch",
    "new_tests_on_base": "the target's code with the change's tests",
}
_OWN_TESTS = {
    RunRole.WITNESS: "by the second witness, beside tests of the gate that must fail",
    RunRole.MEASURE: "with faults put into the changed lines",
}
_PLAIN = ("tests_failed", "checks_failed")
_AS_SEEN = re.compile(r"\S+: .* on the target branch, .* on the merge result")
"""Evidence that says of one test what `seen` says."""


def report(outcome: Outcome, *, color: bool = False, width: int = WIDTH) -> str:
    """The whole report as text, no line of the gate wider than `width`."""
    paint = COLOR[outcome.verdict] if color else ""
    reasons_ = [f for f in outcome.findings if f.effect is not Effect.ADVISES]
    advice = [f for f in outcome.findings if f.effect is Effect.ADVISES]
    count = f", {len(reasons_)} reasons" if len(reasons_) > 1 else ""
    lines = [f"{paint}{HEADLINE[outcome.verdict]}{chr(27) + '[0m' if color else ''}{count}", *_subject(outcome, width)]
    known: set[str] = set()
    short = False
    for number, (found, brief) in enumerate(_told(reasons_), 1):
        lines += [] if short and brief else [""]
        short = brief
        if brief:
            where = f" {_where(found)}" if found.path is not None else ""
            text = f"{number}. {found.code}{where}: {harmless(found.message, newlines=False)}"
            lines += wrapped(text[: width * 2], "   ", width=width)
            continue
        why = "" if found.code in known else _why(found)
        known.add(found.code)
        lines += finding_lines(found, f"{number}.", why=why, width=width)
    if advice:
        lines += ["", "Notes (these do not block):"]
        for found in advice:
            lines += finding_lines(found, "-", brief=True, width=width)
    lines += ["", *_facts(outcome, width), *_next(outcome, width)]
    return "\n".join(lines)


def _told(found: Sequence[Finding]) -> Iterable[tuple[Finding, bool]]:
    """Each with whether it is told in brief: one of many alike."""
    total, told = Counter(f.code for f in found), Counter[str]()
    for one in found:
        told[one.code] += 1
        yield one, total[one.code] > IN_FULL + 1 and told[one.code] > IN_FULL


def _why(found: Finding) -> str:
    """Why it matters, where that does not go without saying."""
    if found.category in _PLAIN:
        return ""
    entry = reasons().get(found.code)
    return entry.meaning if entry else ""


def _subject(outcome: Outcome, width: int) -> list[str]:
    lines = []
    if outcome.ticket is not None:
        title = harmless(f"{outcome.ticket.id}: {outcome.ticket.title}", newlines=False)
        lines += wrapped(f"ticket   {title[:300]}", "         ", width=width)
    if outcome.head:
        where = f" ({harmless(outcome.target_ref)})" if outcome.target_ref else ""
        text = f"change   head {outcome.head[:12]} onto {outcome.base[:12] if outcome.base else '?'}{where}"
        lines += wrapped(text, "         ", width=width)
    return lines


def finding_lines(found: Finding, mark: str, *, why: str = "", brief: bool = False, width: int = WIDTH) -> list[str]:
    """One finding for people; its code and category are the gate's own words, all else is made harmless.

    `why` says why it matters; it comes from the registry, or from a server's answer.
    """
    where = f" {_where(found)}" if found.path is not None else ""
    blame = f", blame {found.blame.value}" if found.blame is not Blame.NONE else ""
    lines = wrapped(f"{mark} {found.category} / {found.code}{blame}{where}", "   ", width=width)
    message = harmless(found.message)
    if len(message) > MAX_MESSAGE:
        message = f"{message[:MAX_MESSAGE]} ... ({len(message) - MAX_MESSAGE} characters more)"
    lines += wrapped(message, "   ", first="   ", width=width)
    if brief:
        return lines
    lines += _seen_lines(found.seen, width)
    lines += _evidence_lines(found, width)
    if why and why.rstrip(".") not in found.message:
        lines += wrapped(f"why: {harmless(why)}", "        ", first="   ", width=width)
    lines += wrapped(f"-> {found.next_action}", "      ", first="   ", width=width)
    return lines


def _where(found: Finding) -> str:
    return harmless(found.path or "", newlines=False) + (f":{found.line}" if found.line else "")


def _seen_lines(seen: Sequence[Seen], width: int) -> list[str]:
    """`seen: failed on the merge, passed on the target branch`; the suite where there are several."""
    if not seen:
        return []
    several = len({s.suite for s in seen}) > 1
    told = Counter(
        f"{harmless(s.what, newlines=False)} on {place(s.role)}"
        + (f" in {harmless(s.suite, newlines=False)}" if several else "")
        for s in seen[:50]
    )
    rows = [row if n == 1 else f"{row} ({n} times)" for row, n in told.items()][:10]
    return wrapped(f"seen: {'; '.join(rows)}", "         ", first="   ", width=width)


def place(role: str) -> str:
    """A role of a run in few words; one that this version does not know is shown as it is, harmless."""
    return SHORT.get(role) or PLACES.get(role) or harmless(role.replace("_", " "), newlines=False)


def _evidence_lines(found: Finding, width: int) -> list[str]:
    shown = harmless(found.evidence).strip("\n").splitlines()
    if found.seen and sum(1 for line in shown if _AS_SEEN.fullmatch(line)) == 1:
        shown = [line for line in shown if not _AS_SEEN.fullmatch(line)]
    if len(shown) == 1 and shown[0].strip() and shown[0].strip() in found.message:
        return []
    cut = shown[-MAX_EVIDENCE_LINES:]
    lines = [f"     | ... {len(shown) - len(cut)} lines before"] if len(cut) < len(shown) else []
    for line in cut:
        room = width * 2
        lines.append(f"     | {line if len(line) <= room else line[:room] + '...'}".rstrip())
    return lines


def wrapped(text: str, indent: str, first: str = "", *, width: int = WIDTH) -> list[str]:
    """Lines no wider than the report, the later ones indented; a name is broken only where no line can hold it."""
    out: list[str] = []
    for part in text.splitlines() or [""]:
        out += textwrap.wrap(part, width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False) or [
            first.rstrip()
        ]
    return out


def _facts(outcome: Outcome, width: int) -> list[str]:
    lines: list[str] = []
    for run in outcome.runs:
        if run.role not in _OWN_TESTS:
            lines += wrapped(f"run      {_run(run)}", "         ", width=width)
    for text in _further(outcome.runs):
        lines += wrapped(f"run      {text}", "         ", width=width)
    if outcome.environment:
        lines += wrapped(f"with     {harmless(outcome.environment, newlines=False)}", "         ", width=width)
    lines += measurement_lines(outcome.measured)
    missing = sorted({m for r in outcome.runs for m in r.engine.missing})
    if missing:
        lines += wrapped(
            f"sandbox  weaker than it should be here: no {', no '.join(missing)}", "         ", width=width
        )
    if outcome.plan is not None:
        why = "; ".join(harmless(r.message) for r in outcome.plan.tier_reasons) or "nothing raises it"
        lines += wrapped(f"policy   tier {outcome.plan.tier.value} ({why})", "         ", width=width)
        bundle = outcome.plan.bundle
        lines.append(f"         bundle {bundle.name} {bundle.revision}, sha256 {bundle.digest[:16]}")
    lines += [f"needs    {need.count} x {need.role}: {need.cause}" for need in outcome.needs]
    if outcome.waived:
        lines += wrapped(f"waived   {', '.join(outcome.waived)}", "         ", width=width)
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


def _further(runs: Sequence[SuiteRun]) -> list[str]:
    """Runs that hold tests or faults of the gate: their counts would be taken for those of the suite."""
    groups: dict[tuple[str, RunRole], list[SuiteRun]] = {}
    for run in runs:
        if run.role in _OWN_TESTS:
            groups.setdefault((run.suite, run.role), []).append(run)
    return [
        f"{harmless(suite, newlines=False)} {_OWN_TESTS[role]}: {len(rows)} {'run' if len(rows) == 1 else 'runs'}"
        f" ({sum(r.wall_s for r in rows):.1f} s)"
        for (suite, role), rows in groups.items()
    ]


def _run(run: SuiteRun) -> str:
    counts = ", ".join(f"{n} {word}" for word, n in sorted(run.counts.items())) or "no single results"
    end = f"exit {run.exit_code}" if run.termination is Termination.EXITED else run.termination.value.replace("_", " ")
    part = ", only what was not known" if run.partial else ""
    if run.taken:
        counts += f", {len(run.taken)} of them as on {place(RunRole.BASE_INSTRUMENTS.value)}"
    return (
        f"{harmless(run.suite, newlines=False)} on {place(run.role.value)}{part}: {end}, {counts}"
        f" ({run.wall_s:.1f} s, {run.guarantee or 'no guarantee'})"
    )


def _next(outcome: Outcome, width: int) -> list[str]:
    words = {
        Verdict.ACCEPTED: "",
        Verdict.REJECTED: "mend what the reasons name, commit, check again (--brief FILE tells an agent)",
        Verdict.NEEDS_HUMAN: "a reviewer looks with `gatekeeper review`; check again with --trust (and --approval for a file of it)",
        Verdict.UNDECIDED: "do what the reasons name, then check again",
    }[outcome.verdict]
    if ticket_alone(outcome.findings):
        words = "the ticket is at fault, not the change: whoever keeps the ticket mends it; then check the same commit again"
    return wrapped(f"next     {words}", "         ", width=width) if words else []
