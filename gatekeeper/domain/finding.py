"""A finding: one thing the gate says about a change, with a stable code and a stable fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from gatekeeper.domain.testrun import SuiteRun
from gatekeeper.domain.verdict import Blame, Effect, Verdict, worst
from gatekeeper.errors import CouldNotCheck, GatekeeperError, reason
from gatekeeper.records import dataclass, replace

MAX_TEXT = 4000
"""Characters kept of a message or an evidence text; a report is read by people."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run showed of the thing that a finding is about."""

    role: str
    """Which tree it ran on: a word of `RunRole`."""
    suite: str
    what: str
    """In words: `failed`, `3 passed, 1 not collected`, `exit status 2`."""


def saw(run: SuiteRun, what: str) -> Seen:
    """What `run` showed."""
    return Seen(run.role.value, run.suite, what)


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. Made with `finding()`, which fills category, effect, blame and next action from `codes.toml`."""

    code: str
    category: str
    effect: Effect
    blame: Blame
    message: str
    next_action: str
    path: str | None = None
    """Path in the repository, or None where the finding is about no file."""
    line: int | None = None
    """1-based line in the merge result (in the base for things that vanished)."""
    evidence: str = ""
    """What was seen, bounded and redacted. Never holds a secret in clear."""
    primary: bool = False
    fingerprint: str = ""
    """sha256 over code, path and `key`: survives a moved line."""
    seen: tuple[Seen, ...] = ()
    """The runs it rests on and what each showed; empty for what no run showed."""


def finding(
    code: str,
    message: str,
    *,
    path: str | None = None,
    line: int | None = None,
    evidence: str = "",
    key: str = "",
    effect: Effect | None = None,
    blame: Blame | None = None,
    next_action: str | None = None,
    seen: Iterable[Seen] = (),
) -> Finding:
    """A finding with the registry's defaults.

    `key` is what tells two findings of one code in one file apart (a test id, a rule id plus a digest of the text);
    it defaults to the message. Raises `KeyError` for a code that is not registered.
    """
    entry = reason(code)
    mark = hashlib.sha256(_bytes("\x00".join([code, path or "", key or message]))).hexdigest()
    return Finding(
        code=code,
        category=entry.category,
        effect=effect if effect is not None else Effect(entry.effect),
        blame=blame if blame is not None else Blame(entry.blame),
        message=_writable(message[:MAX_TEXT]),
        next_action=next_action if next_action is not None else entry.next_action,
        path=path,
        line=line,
        evidence=_writable(evidence[:MAX_TEXT]),
        fingerprint=mark,
        seen=tuple(seen),
    )


def _bytes(text: str) -> bytes:
    """Hostile text may hold any surrogate: those of undecodable file names, and those that JSON or YAML spell out."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _writable(text: str) -> str:
    """`text` with surrogates as escapes, so that every report can be written."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def from_error(error: GatekeeperError) -> Finding:
    """The finding that stands for an error, with the blame that a `CouldNotCheck` carries."""
    blame = Blame(error.blame) if isinstance(error, CouldNotCheck) else None
    return finding(error.code, error.message, next_action=error.next_action, blame=blame)


def verdict_of(found: Finding) -> Verdict:
    """The verdict that this finding alone would give.

    A could-not-check is undecided, except where the change itself is to blame: then it is a rejection (DESIGN rule 6).
    """
    if found.effect is Effect.ADVISES:
        return Verdict.ACCEPTED
    if found.category == "could_not_check" and found.blame is not Blame.CHANGE:
        return Verdict.UNDECIDED
    return Verdict.NEEDS_HUMAN if found.effect is Effect.ASKS else Verdict.REJECTED


def verdict_of_all(found: Iterable[Finding]) -> Verdict:
    """The worst verdict of all findings; no finding at all says nothing against the change."""
    return worst([verdict_of(f) for f in found] or [Verdict.ACCEPTED])


# What the reader should see first when several things are wrong. The root of a fault stands before its symptoms:
# a bent instrument explains a false report, and a failing test is the most ordinary of all.
PRIMARY_ORDER = (
    "ticket_invalid",
    "not_mergeable",
    "secret",
    "test_tampering",
    "implementation_gaming",
    "config_weakening",
    "instruction_drift",
    "llm_risk",
    "supply_chain",
    "scope_violation",
    "evidence_mismatch",
    "tests_failed",
    "checks_failed",
    "budget_exceeded",
    "could_not_check",
    "needs_human",
)


def ordered(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Without duplicates (same fingerprint), worst verdict first, then by category; the first non-advice is primary."""
    unique: dict[str, Finding] = {}
    for f in found:
        kept = unique.get(f.fingerprint)
        if kept is None or verdict_of(f).rank < verdict_of(kept).rank:
            unique[f.fingerprint] = replace(f, primary=False)
    rank = {c: i for i, c in enumerate(PRIMARY_ORDER)}
    rows = sorted(
        unique.values(),
        key=lambda f: (
            verdict_of(f).rank,
            rank.get(f.category, len(rank)),
            f.code,
            f.path or "",
            f.line or 0,
            f.fingerprint,
        ),
    )
    if rows and rows[0].effect is not Effect.ADVISES:
        rows[0] = replace(rows[0], primary=True)
    return tuple(rows)
