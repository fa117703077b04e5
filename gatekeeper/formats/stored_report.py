"""A report of `check` read back for a reviewer: hostile bytes to the few fields that are shown. Pure.

Nothing proves who wrote a report: it helps a person to look, and nothing of it is ever signed.
"""

from __future__ import annotations

import re
from typing import Any

from gatekeeper.errors import InputError
from gatekeeper.formats.fields import Fields
from gatekeeper.formats.report_json import SCHEMA
from gatekeeper.formats.strict_json import loads
from gatekeeper.records import dataclass

STORED = "gatekeeper.stored_report/1"
MAX_REPORT = 4 * 1024 * 1024
MAX_ROWS = 2000
_CODE = "REPORT_MALFORMED"
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
VERDICTS = ("accepted", "rejected", "needs_human", "undecided")
EFFECTS = ("blocks", "asks", "advises")


@dataclass(frozen=True, slots=True)
class Row:
    """One reason or note."""

    code: str
    category: str
    effect: str
    message: str
    path: str | None
    line: int | None
    evidence: str
    next_action: str


@dataclass(frozen=True, slots=True)
class NeedRow:
    """A call for people."""

    cause: str
    role: str
    count: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run of a suite."""

    suite: str
    role: str
    termination: str
    exit: int | None
    counts: tuple[tuple[str, int], ...]
    guarantee: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StoredReport:
    """What a reviewer is shown of a report. Texts are as they came: make them harmless before showing."""

    verdict: str
    mode: str
    run_id: str
    head: str | None
    base: str | None
    ticket_digest: str | None
    reasons: tuple[Row, ...]
    notes: tuple[Row, ...]
    needs: tuple[NeedRow, ...]
    runs: tuple[RunRow, ...]
    tier: str | None
    tier_reasons: tuple[str, ...]
    target_ref: str | None = None
    """None in what `check` printed; a stored report names it."""
    written_at: float | None = None
    """Seconds since the epoch."""


def parse_report(data: bytes) -> StoredReport:
    """A stored report, or what `check --format json` printed. Raises `InputError` (REPORT_MALFORMED)."""
    outer = Fields(loads(data, what="report", code=_CODE, max_bytes=MAX_REPORT), what="report", code=_CODE)
    target, written, body = None, None, outer
    if outer.table.get("schema") == STORED:
        outer.only("schema", "target_ref", "written_at", "report")
        target = outer.text("target_ref", limit=1000, required=True)
        written = outer.number("written_at")
        body = outer.object("report")
    if body.table.get("schema") != SCHEMA:
        raise body.refuse("schema", f"{SCHEMA!r}")
    if "error" in body.table:
        raise InputError(_CODE, "The report is that of a usage error: nothing was judged.")
    rows = tuple(_row(f) for f in body.objects("findings", limit=MAX_ROWS))
    ticket = body.object("ticket")
    policy = body.object("policy")
    return StoredReport(
        verdict=_word(body, "verdict", VERDICTS),
        mode=body.text("mode", limit=40, required=True),
        run_id=body.text("run_id", limit=100),
        head=_name(body, "head", _OID),
        base=_name(body, "base", _OID),
        ticket_digest=_name(ticket, "digest", _SHA256),
        reasons=tuple(r for r in rows if r.effect != "advises"),
        notes=tuple(r for r in rows if r.effect == "advises"),
        needs=tuple(
            NeedRow(
                n.text("cause", limit=200, required=True),
                n.text("role", limit=200, required=True),
                n.integer("count", high=1000) or 0,
            )
            for n in body.objects("needs")
        ),
        runs=tuple(_run(r) for r in body.objects("runs")),
        tier=policy.text("tier", limit=40) or None,
        tier_reasons=tuple(r.text("message", limit=4000) for r in policy.objects("tier_reasons")),
        target_ref=target,
        written_at=written,
    )


def _word(fields: Fields, name: str, words: tuple[str, ...]) -> str:
    value = fields.text(name, limit=40, required=True)
    if value not in words:
        raise fields.refuse(name, f"one of {', '.join(words)}")
    return value


def _name(fields: Fields, name: str, shape: re.Pattern[str]) -> str | None:
    value = fields.text(name, limit=64)
    if value and not shape.fullmatch(value):
        raise fields.refuse(name, "a lowercase hex digest")
    return value or None


def _row(fields: Fields) -> Row:
    return Row(
        code=fields.text("code", limit=100, required=True),
        category=fields.text("category", limit=100, required=True),
        effect=_word(fields, "effect", EFFECTS),
        message=fields.text("message", limit=100_000),
        path=fields.text("path", limit=65_536) or None,
        line=fields.integer("line"),
        evidence=fields.text("evidence", limit=1_000_000),
        next_action=fields.text("next_action", limit=4000),
    )


def _run(fields: Fields) -> RunRow:
    counts: Any = fields.table.get("counts")
    if not isinstance(counts, dict) or len(counts) > 20:
        raise fields.refuse("counts", "an object of numbers", counts)
    shown = Fields(counts, what="report's counts", code=_CODE)
    return RunRow(
        suite=fields.text("suite", limit=1000),
        role=fields.text("role", limit=40),
        termination=fields.text("termination", limit=40, required=True),
        exit=fields.integer("exit", low=-(2**31), high=2**31),
        counts=tuple(sorted((str(k)[:40], shown.integer(k) or 0) for k in counts)),
        guarantee=fields.text("guarantee", limit=100),
        missing=fields.object("engine").texts("missing", limit=50, length=100),
    )
