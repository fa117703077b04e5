"""What a reviewer sees before signing: what the gate found, where the change reaches, and where to read it."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from gatekeeper.formats.text_safety import harmless

if TYPE_CHECKING:
    from gatekeeper.domain.change import Change, ChangedPath
    from gatekeeper.domain.instruments import InstrumentKind
    from gatekeeper.domain.ticket import Ticket
    from gatekeeper.formats.stored_report import Row, RunRow, StoredReport

MAX_SHOWN = 200
MAX_REASONS = 40
MAX_EVIDENCE_LINES = 8
WIDTH = 100
_WORDS = {
    "accepted": "accepted",
    "rejected": "rejected: an approval does not lift what blocks",
    "needs_human": "a person must decide",
    "undecided": "could not be checked: an approval does not help, have the gate run again",
}
_MANIFESTS = (
    *("requirements", "pyproject.toml", "package.json", "poetry.lock", "uv.lock", "package-lock.json", "go.mod"),
    *("go.sum", "Cargo.toml", "Cargo.lock", "yarn.lock", "pnpm-lock.yaml", "Pipfile"),
)


def plain(text: str, limit: int = 200) -> str:
    """One line of hostile text made harmless for a terminal: what cannot be seen becomes an escape."""
    return harmless(text[:limit], newlines=False).replace("\t", " ")


def summary(change: Change, ticket: Ticket) -> str:
    """What the reviewer signs, in words: ticket, areas, paths, commits."""
    lines = [
        f"ticket    {plain(ticket.id)}: {plain(ticket.title)}",
        f"goal      {plain(ticket.goal, 600)}",
        f"digest    {ticket.digest}",
        f"target    {plain(change.target_ref)} at {change.base}",
        f"head      {change.head}",
        f"diff      {change.diff_digest()}, {len(change.paths)} paths",
        "",
        *(f"  {line}" for line in areas(change.paths)),
        "",
    ]
    lines += [f"  {p.status} {plain(p.path)}" for p in change.paths[:MAX_SHOWN]]
    if len(change.paths) > MAX_SHOWN:
        lines.append(f"  ... and {len(change.paths) - MAX_SHOWN} more paths")
    lines.append("")
    for commit in change.commits[:MAX_SHOWN]:
        title = plain(commit.message.partition("\n")[0])
        lines.append(f"  {commit.oid[:12]} {plain(commit.author.email)}: {title}")
    if len(change.commits) > MAX_SHOWN:
        lines.append(f"  ... and {len(change.commits) - MAX_SHOWN} more commits")
    lines.append(f"\nRead the whole diff with: git diff {change.merge_base} {change.head}")
    return "\n".join(lines)


def areas(paths: tuple[ChangedPath, ...]) -> list[str]:
    """How many paths changed where, by kind of file, the most delicate first. Taken from git, not from a report."""
    from gatekeeper.domain.instruments import Instruments
    from gatekeeper.domain.settings import Settings

    kinds = Instruments(Settings(), (), None)
    words = {"A": "added", "D": "deleted", "M": "changed", "T": "of another kind"}
    found: dict[str, Counter[str]] = {}
    for path in paths:
        found.setdefault(_area(path.path, kinds.kind(path.path)), Counter())[words[path.status]] += 1
    order = [*_AREAS, "other files"]
    rows = []
    for area in sorted(found, key=order.index):
        told = ", ".join(f"{n} {word}" for word, n in sorted(found[area].items()))
        rows.append(f"{area:<22} {told}")
    return rows or ["nothing changed"]


_AREAS = ("gate settings", "instructions of agents", "build and CI", "dependencies", "runner and settings", "tests")


def _area(path: str, kind: InstrumentKind | None) -> str:
    from gatekeeper.domain.instruments import InstrumentKind

    if kind is InstrumentKind.GATE:
        return "gate settings"
    if kind is InstrumentKind.INSTRUCTIONS:
        return "instructions of agents"
    if kind is InstrumentKind.CI:
        return "build and CI"
    if path.rpartition("/")[2].startswith(_MANIFESTS):
        return "dependencies"
    if kind in (InstrumentKind.TEST, InstrumentKind.TEST_SUPPORT):
        return "tests"
    return "runner and settings" if kind is not None else "other files"


def no_report(change: Change, ticket_option: str, repo: str) -> str:
    """Said plainly where nothing is known of the gate's findings."""
    import shlex

    words = ["gatekeeper", "check", "--repo", plain(repo, 1000), "--target"]
    words += [plain(change.target_ref.removeprefix("refs/heads/")), "--head", change.head, "--ticket"]
    words.append(plain(ticket_option, 1000))
    return (
        "THE GATE'S FINDINGS ARE NOT HERE: no report of this head, branch and ticket is stored on this machine.\n"
        "You would sign without having seen them. Make one first, or give one with --report FILE:\n"
        f"  {shlex.join(words)}"
    )


def findings(report: StoredReport, change: Change, *, now: float, given: bool) -> str:
    """What the gate found: verdict, needs, reasons, tier, runs, and how much to make of the report itself."""
    lines = [f"THE GATE FOUND: {_WORDS[report.verdict]}"]
    lines += [f"  needs     {n.count} x {plain(n.role)}: {plain(n.cause)}" for n in report.needs]
    for number, row in enumerate(report.reasons[:MAX_REASONS], 1):
        lines += ["", *_reason(row, number)]
    if len(report.reasons) > MAX_REASONS:
        lines.append(f"\n  ... and {len(report.reasons) - MAX_REASONS} more that block or ask")
    lines.append("")
    if report.tier is not None:
        why = "; ".join(plain(r, 300) for r in report.tier_reasons[:10]) or "nothing raises it"
        lines += _wrapped(f"tier {plain(report.tier)}: {why}", "  ", "    ")
    lines += [f"  {_run(r)}" for r in report.runs[:20]] or ["  no suite ran"]
    missing = sorted({plain(m) for r in report.runs for m in r.missing})
    if missing:
        lines.append(f"  sandbox weaker than it should be: no {', no '.join(missing)}")
    if report.notes:
        codes = Counter(plain(r.code) for r in report.notes)
        told = ", ".join(f"{code} x{n}" if n > 1 else code for code, n in sorted(codes.items())[:20])
        lines += _wrapped(f"notes that neither block nor ask: {told}", "  ", "    ")
    lines += ["", *_standing(report, change, now, given)]
    return "\n".join(lines)


def _standing(report: StoredReport, change: Change, now: float, given: bool) -> list[str]:
    age = "age unknown" if report.written_at is None else f"{_age(now - report.written_at)} old"
    lines = [f"  report    run {plain(report.run_id) or '?'}, mode {plain(report.mode)}, {age}"]
    if given:
        lines.append("  A file given with --report: nothing proves that a gate wrote it.")
    else:
        lines.append("  As `check` wrote it on this machine; a report is not signed.")
    if report.base != change.base:
        lines.append("  The target has moved since: the gate judged another merge than the one that would land now.")
    return lines


def _age(seconds: float) -> str:
    if seconds < 0:
        return "less than nothing (a clock is wrong)"
    for size, word in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{int(seconds // size)} {word}"
    return f"{int(seconds)} seconds"


def _reason(row: Row, number: int) -> list[str]:
    where = "" if row.path is None else f" {plain(row.path)}" + (f":{row.line}" if row.line else "")
    verb = "BLOCKS" if row.effect == "blocks" else "ASKS"
    lines = _wrapped(f"{number}. {verb} {plain(row.category)} / {plain(row.code)}{where}", "  ", "     ")
    lines += _wrapped(plain(row.message, 2000), "     ", "     ")
    shown = harmless(row.evidence[:20_000]).strip("\n").split("\n")
    if shown != [""]:
        lines += [f"       | {line[:200]}" for line in shown[:MAX_EVIDENCE_LINES]]
        if len(shown) > MAX_EVIDENCE_LINES:
            lines.append(f"       | ... {len(shown) - MAX_EVIDENCE_LINES} more lines")
    return lines


def _run(run: RunRow) -> str:
    from gatekeeper.cli.report_text import place

    counts = ", ".join(f"{n} {plain(word)}" for word, n in run.counts) or "no single results"
    end = f"exit {run.exit}" if run.termination == "exited" else plain(run.termination).replace("_", " ")
    return (
        f"{plain(run.suite)} on {place(run.role[:200])}: {end}, {counts} (guarantee: {plain(run.guarantee) or 'none'})"
    )


def _wrapped(text: str, first: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=indent) or [first]
