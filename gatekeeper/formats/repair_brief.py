"""The repair brief: what a rejected agent gets, in plain text. Real output and what to do, bounded and harmless."""

from __future__ import annotations

from gatekeeper.domain.decision import Outcome
from gatekeeper.domain.testrun import RunRole, Termination
from gatekeeper.domain.verdict import Effect, Verdict
from gatekeeper.formats.text_safety import harmless

MAX_BYTES = 60_000
MAX_REASONS = 50
MAX_LOG = 6_000
"""Characters of the tail of a failing run's log."""


def repair_brief(outcome: Outcome) -> str:
    """Text for the agent; empty for anything but a rejection.

    The log is the tested process' own output: it is told as a quotation and holds no instruction of the gate. Secrets
    that were found are redacted in findings already; a run's log is left out where a secret was found, since tests may
    print what they read.
    """
    if outcome.verdict is not Verdict.REJECTED:
        return ""
    lines = [f"Rejected: {outcome.head or 'head'} on base {outcome.base or 'unknown'}.", ""]
    reasons = [f for f in outcome.findings if f.effect is not Effect.ADVISES]
    for number, found in enumerate(reasons[:MAX_REASONS], 1):
        where = f" ({harmless(found.path)}{f':{found.line}' if found.line else ''})" if found.path else ""
        lines.append(f"{number}. [{found.code}]{where} {harmless(found.message)}")
        if found.evidence:
            lines += [f"   | {line}" for line in harmless(found.evidence).splitlines()[:20]]
        lines.append(f"   To do: {found.next_action}")
    if len(reasons) > MAX_REASONS:
        lines.append(f"... and {len(reasons) - MAX_REASONS} more reasons.")
    if not any(f.category == "secret" for f in outcome.findings):
        lines += _failing(outcome)
    lines += [
        "",
        "Submit a new head of the same change when it is mended. Nothing you say can replace a passing re-run.",
    ]
    text = "\n".join(lines)
    return text.encode("utf-8", "replace")[:MAX_BYTES].decode("utf-8", "ignore")


def _failing(outcome: Outcome) -> list[str]:
    lines: list[str] = []
    for run in outcome.runs:
        if run.role is not RunRole.MERGED or (run.termination is Termination.EXITED and run.exit_code == 0):
            continue
        ended = f"exit status {run.exit_code}" if run.exit_code is not None else run.termination.value
        lines += ["", f"Suite {harmless(run.suite)}: {ended}. The end of its output, as the tested code wrote it:"]
        lines += [f"   > {line}" for line in harmless(run.log[-MAX_LOG:]).splitlines()]
    return lines
