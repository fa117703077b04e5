"""Risks that come with models and agents: dangerous code, orders to the judge, text that hides from people."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator

from gatekeeper.domain.evidence import Evidence, ScanHit
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.instruction_files import steers_agents
from gatekeeper.domain.tree import EXECUTABLE, REGULAR
from gatekeeper.domain.verdict import Effect
from gatekeeper.errors import reasons
from gatekeeper.formats.added_lines import added_lines
from gatekeeper.formats.reviewer_notes import reviewer_note
from gatekeeper.formats.text_safety import hidden_characters, identifiers, lookalike, mixed_script

_CODE = re.compile(
    r"\.(?:py|pyi|js|jsx|ts|tsx|mjs|cjs|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|sh|lua|pl|sql)$",
    re.IGNORECASE,
)
_TRANSLATION = re.compile(
    r"(?:^|/)(?:locales?|i18n|l10n|translations?|lang)/|\.(?:po|pot|xlf|xliff|ftl|strings|arb)$", re.IGNORECASE
)
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|//.*|#.*")
_MAX_TEXT = 4_000_000


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """All risks of one change; at most one finding a kind and file, or a kind and word."""
    found = [*_code(evidence), *_messages(evidence)]
    imitated: dict[str, Finding] = {}
    for path, added, whole in _texts(evidence):
        found += _hidden(path, added)
        if not steers_agents(path):
            found += _notes(path, added)
        for word, problem in _imitations(path, added, whole):
            imitated.setdefault(word, problem)
    return (*found, *imitated.values())


# --- code -----------------------------------------------------------------------------------------------------------


def _code(evidence: Evidence) -> Iterator[Finding]:
    report = evidence.code
    if not report.verified:
        missed = sorted(set(report.targets) - set(report.scanned))
        what = "; ".join([*report.errors[:3], *(f"not scanned: {m!r}" for m in missed[:3])])
        yield finding("CODE_SCAN_FAILED", f"The code scan is not complete: {what}.", key="code")
    before = evidence.code_before
    old = Counter(_mark(h) for h in before.hits) if before is not None else Counter[tuple[str | None, str, str]]()
    worst: dict[tuple[str | None, int], tuple[Effect, str, ScanHit]] = {}
    for hit in report.hits:
        if old[_mark(hit)] > 0:
            old[_mark(hit)] -= 1
            continue
        code = hit.metadata.get("code", "")
        if code not in reasons():
            yield finding("CODE_SCAN_FAILED", f"The rule {hit.rule} names no known reason.", key=hit.rule)
            continue
        effect = Effect(hit.metadata.get("effect", reasons()[code].effect))
        place = (hit.path, hit.line)
        order = [Effect.BLOCKS, Effect.ASKS, Effect.ADVISES]
        if place not in worst or order.index(effect) < order.index(worst[place][0]):
            worst[place] = (effect, code, hit)
    for effect, code, hit in worst.values():
        yield finding(
            code, hit.message, path=hit.path, line=hit.line, evidence=hit.excerpt, effect=effect,
            key=f"{hit.rule}:{' '.join(hit.excerpt.split())}",
        )  # fmt: skip


def _mark(hit: ScanHit) -> tuple[str | None, str, str]:
    return hit.path, hit.rule, " ".join(hit.excerpt.split())


# --- text -----------------------------------------------------------------------------------------------------------


def _texts(evidence: Evidence) -> Iterator[tuple[str, list[tuple[int, str]], str]]:
    """(path, added lines, whole text) of every changed text file of the merge result."""
    for changed in evidence.change.paths:
        entry = changed.new
        if entry is None or entry.mode not in (REGULAR, EXECUTABLE) or (entry.size or 0) > _MAX_TEXT:
            continue
        data = evidence.merged.read(changed.path)
        if b"\x00" in data:
            continue
        whole = data.decode("utf-8", "replace")
        old = changed.old
        base = None
        if old is not None and old.mode in (REGULAR, EXECUTABLE) and (old.size or 0) <= _MAX_TEXT:
            base = evidence.base.read(changed.path).decode("utf-8", "replace")
        yield changed.path, added_lines(base, whole), whole


def _hidden(path: str, added: list[tuple[int, str]]) -> Iterator[Finding]:
    seen = [c for n, line in added if not line.isascii() for c in hidden_characters(line, n)]
    if not seen:
        return
    grave = [c for c in seen if c.kind in ("bidi", "tag", "selector")]
    effect = Effect.BLOCKS
    if not any(c.kind in ("tag", "selector") for c in grave):
        if _TRANSLATION.search(path):
            effect = Effect.ADVISES
        elif not grave and not _CODE.search(path) and not steers_agents(path):
            # A zero-width space in prose is mostly a leftover of copying.
            effect = Effect.ADVISES
    first = (grave or seen)[0]
    yield finding(
        "HIDDEN_CHARACTERS",
        f"{len(seen)} characters that people cannot see or that reorder what they see, first {first.name}.",
        path=path, line=first.line, effect=effect, key="hidden",
    )  # fmt: skip


def _notes(path: str, added: list[tuple[int, str]]) -> Iterator[Finding]:
    note = reviewer_note(added)
    if note is not None:
        yield finding(
            "NOTE_TO_REVIEWER", "Text of the change gives orders to whoever judges it.", path=path, line=note.line,
            evidence=note.text, effect=Effect.ASKS if note.quoted or note.doubtful else None, key="note",
        )  # fmt: skip


def _messages(evidence: Evidence) -> Iterator[Finding]:
    texts = [(f"commit {c.oid[:12]}", c.message) for c in evidence.change.commits]
    claim = evidence.claim
    texts += [("the claim", t) for t in (claim.summary, claim.reason, claim.risks, claim.not_done) if t]
    for where, body in texts:
        lines = list(enumerate(body.split("\n"), 1))
        note = reviewer_note(lines)
        if note is not None and not note.quoted:
            yield finding(
                "NOTE_TO_REVIEWER", f"The text of {where} gives orders to whoever judges the change.",
                evidence=note.text, effect=Effect.ASKS if note.doubtful else None, key=f"note {where}",
            )  # fmt: skip
        grave = [c for c in hidden_characters(body) if c.kind in ("bidi", "tag", "selector")]
        if grave:
            yield finding(
                "HIDDEN_CHARACTERS", f"The text of {where} holds hidden characters, first {grave[0].name}.",
                key=f"hidden {where}",
            )  # fmt: skip


# --- identifiers ----------------------------------------------------------------------------------------------------


def _imitations(path: str, added: list[tuple[int, str]], whole: str) -> Iterator[tuple[str, Finding]]:
    if whole.isascii() or not _CODE.search(path) or all(line.isascii() for _, line in added):
        return
    known = frozenset(w for w in identifiers(whole) if w.isascii())
    for number, word in _names(path, added, whole):
        twin = lookalike(word, known)
        if twin is None and not mixed_script(word):
            continue
        like = f" imitates {twin!r}" if twin else " mixes alphabets"
        odd = ", ".join(f"U+{ord(c):04X}" for c in word if not c.isascii())
        yield (
            word,
            finding("LOOKALIKE_IDENTIFIER", f"The name {word!r}{like} ({odd}).", path=path, line=number, key=word),
        )


def _names(path: str, added: list[tuple[int, str]], whole: str) -> Iterator[tuple[int, str]]:
    """(line, word) of names that are not ASCII on added lines, outside texts and comments."""
    lines = dict(added)
    if path.lower().endswith((".py", ".pyi")):
        try:
            tokens = list(tokenize.generate_tokens(io.StringIO(whole).readline))
        except (tokenize.TokenError, SyntaxError, ValueError):
            tokens = []
        if tokens:
            for t in tokens:
                if t.type == tokenize.NAME and not t.string.isascii() and t.start[0] in lines:
                    yield t.start[0], t.string
            return
    for number, line in lines.items():
        if not line.isascii():
            for word in sorted(identifiers(_QUOTED.sub(" ", line))):
                if not word.isascii():
                    yield number, word
