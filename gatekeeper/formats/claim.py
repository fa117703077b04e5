"""claim.json to a `Claim`. Everything is optional; a broken report is a fault of the claim, not an exception."""

from __future__ import annotations

import re
from collections import Counter

from gatekeeper.domain.submission import ABSENT_CLAIM, Claim, ClaimedCommand, InstructionFile
from gatekeeper.domain.testrun import Outcome, SuiteReport
from gatekeeper.errors import InputError
from gatekeeper.formats.fields import Fields
from gatekeeper.formats.junit_xml import contradictions, parse_junit
from gatekeeper.formats.strict_json import loads

CODE = "CLAIM_MALFORMED"
MAX_REPORTS = 40
MAX_TEXT = 200_000
_SHA = re.compile(r"[0-9a-fA-F]{7,64}")
# The closing line of a pytest log: the other place where an author may have told the truth.
_SUMMARY = re.compile(r"(\d{1,6}) (passed|failed|errors?|skipped)\b")


def parse_claim(data: bytes | None) -> Claim:
    """Parse a claim; None (nothing was sent) is `ABSENT_CLAIM`. Raises `InputError` (CLAIM_MALFORMED)."""
    if data is None:
        return ABSENT_CLAIM
    claim = Fields(loads(data, what="claim", code=CODE, max_bytes=32 * 1024 * 1024), what="claim", code=CODE)
    commands = [_command(c) for c in claim.objects("commands", limit=100)]
    texts: list[str] = []
    single = claim.table.get("junit_xml")
    if single is not None:
        texts.append(claim.text("junit_xml", limit=16 * 1024 * 1024))
    log = claim.text("log", limit=MAX_TEXT)
    for run in claim.objects("runs", limit=50):
        command = _command(run)
        if command.cmd:
            commands.append(command)
        texts += run.texts("reports", limit=MAX_REPORTS, length=16 * 1024 * 1024)
        log = f"{log}\n{run.text('log', limit=MAX_TEXT)}".strip()
    reports, faults = _reports(texts)
    agent = claim.object("agent")
    tokens, cost = _usage(claim)
    return Claim(
        head_sha=_sha(claim, "head_sha"),
        base_sha=_sha(claim, "base_sha"),
        commands=tuple(commands),
        reports=reports,
        report_faults=(*faults, *_log_faults(log, reports), *_exit_faults(commands, reports)),
        summary=claim.text("summary", limit=MAX_TEXT),
        log=log,
        reason=claim.text("reason", limit=MAX_TEXT),
        risks=claim.text("risks", limit=MAX_TEXT),
        rollback=claim.text("rollback", limit=MAX_TEXT),
        not_done=claim.text("not_done", limit=MAX_TEXT),
        instructions=tuple(
            InstructionFile(i.text("path", limit=4096, required=True), i.text("sha256", limit=64))
            for i in agent.objects("instructions")
        ),
        agent_tool=agent.text("tool", limit=200),
        agent_model=agent.text("model", limit=200),
        agent_version=agent.text("version", limit=200),
        tokens=tokens,
        cost=cost,
    )


def _sha(claim: Fields, name: str) -> str | None:
    value = claim.text(name, limit=64)
    if not value:
        return None
    if not _SHA.fullmatch(value):
        raise claim.refuse(name, "a commit id in hexadecimal")
    return value.lower()


def _command(fields: Fields) -> ClaimedCommand:
    return ClaimedCommand(
        fields.text("cmd", limit=8192),
        fields.integer("exit_code", low=-255, high=255),
        fields.text("suite", limit=100) or None,
    )


def _usage(claim: Fields) -> tuple[int | None, float | None]:
    rows = claim.objects("usage", limit=200)
    tokens = [n for r in rows for n in (r.integer("input_tokens"), r.integer("output_tokens")) if n is not None]
    costs = [c for c in (r.number("cost") for r in rows) if c is not None]
    return (sum(tokens) if tokens else None), (sum(costs) if costs else None)


def _reports(texts: list[str]) -> tuple[tuple[SuiteReport, ...], list[tuple[str, str]]]:
    reports: list[SuiteReport] = []
    faults: list[tuple[str, str]] = []
    for number, text in enumerate(texts, 1):
        which = "The claimed report" if len(texts) == 1 else f"Claimed report {number}"
        try:
            report = parse_junit(text.encode("utf-8"))
        except InputError as error:
            faults.append((error.code, error.message))
            continue
        reports.append(report)
        wrong = contradictions(report)
        if wrong:
            faults.append(("CLAIM_REPORT_CONTRADICTS_ITSELF", f"{which} contradicts itself: {'; '.join(wrong)}."))
    return tuple(reports), faults


def _failed(reports: tuple[SuiteReport, ...]) -> int:
    counts = Counter(c.outcome for r in reports for c in r.cases)
    return counts[Outcome.FAILED] + counts[Outcome.ERRORED]


def _log_faults(log: str, reports: tuple[SuiteReport, ...]) -> list[tuple[str, str]]:
    """A log that tells of failures beside a report that has none.

    Advice only: what decides is the re-run, and a log left out must not fare better than one that tells the truth.
    """
    if not log or not reports or _failed(reports):
        return []
    said = [
        m for line in log.splitlines()[-200:] for m in _SUMMARY.findall(line) if m[1] != "passed" and m[1] != "skipped"
    ]
    told = next(((n, w) for n, w in said if int(n) > 0), None)
    if told is None:
        return []
    return [
        (
            "CLAIM_LOG_DISAGREES",
            f"The claimed log says {told[0]} {told[1]}, the claimed report has no failure.",
        )
    ]


def _exit_faults(commands: list[ClaimedCommand], reports: tuple[SuiteReport, ...]) -> list[tuple[str, str]]:
    """Exit status 0 beside a report with failures, or the reverse where there is only one of each."""
    if len(commands) != 1 or not reports:
        return []
    code, failed = commands[0].exit_code, _failed(reports)
    if code == 0 and failed:
        return [
            ("CLAIM_REPORT_CONTRADICTS_ITSELF", f"The claim says exit status 0, its report has {failed} failed tests.")
        ]
    return []
