"""What one JavaScript test no longer proves: its assertions before against those after."""

from __future__ import annotations

import re
from collections.abc import Callable

from gatekeeper.formats.javascript_assertions import ScriptAssertion
from gatekeeper.formats.javascript_reach import State
from gatekeeper.formats.javascript_strength import GLUE
from gatekeeper.records import dataclass

_STRONG = 9
"""Strength from which on assertions stand for each other."""
_TELLING = 4
_NUMBER = re.compile(r"-?\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?")
_ANY = re.compile(r"[\^$.*+?()\[\]{}|\\sSdDwWbB]*")


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that is no longer proved."""

    code: str
    was: ScriptAssertion
    now: ScriptAssertion | None
    why: str = ""


def losses(
    old: tuple[ScriptAssertion, ...],
    new: tuple[ScriptAssertion, ...],
    elsewhere: Callable[[], set[tuple[str, str, str]]],
    delegated: Callable[[], int],
    words: frozenset[str],
) -> list[Loss]:
    """Losses in the order of the old assertions.

    `elsewhere`: keys of assertions of other tests of the change; `delegated`: strength of asserting functions that only
    the new version calls; `words`: all that the new version says.
    """
    out: list[Loss] = []
    left = list(new)
    lost: list[ScriptAssertion] = []
    alive = [a for a in old if a.state is State.LIVE and a.rank > 0]
    for a in alive:
        same = next((b for b in left if b.key == a.key and b.state is State.LIVE), None)
        if same is None:
            lost.append(a)
        else:
            left.remove(same)
    if not lost:
        return []
    known = elsewhere()
    still: list[ScriptAssertion] = []
    for a in lost:
        if a.key in known:
            continue
        muted = next((b for b in left if b.state is not State.LIVE and (b.key == a.key or (b.subject, b.expected) == (a.subject, a.expected))), None)  # fmt: skip
        if muted is not None and not any(
            b.state is State.LIVE and b.subject == a.subject and _stands(b, a) for b in left
        ):
            left.remove(muted)
            out.append(Loss("ASSERTION_UNREACHABLE", a, muted, _WHY[muted.state]))
        else:
            still.append(a)
    lost = []
    for a in still:
        near = [b for b in left if b.state is State.LIVE and b.subject == a.subject]
        best = max(near, key=lambda b: b.rank, default=None)
        if best is None:
            lost.append(a)
            continue
        left.remove(best)
        if not _stands(best, a) or _looser(a, best):
            out.append(Loss("ASSERTION_WEAKENED", a, best))
    return out + _unmatched(alive, lost, left, new, delegated, words)


_WHY = {
    State.LIVE: "",
    State.CONDITIONAL: "runs only under a condition",
    State.DEAD: "never runs",
    State.UNAWAITED: "is not waited for",
    State.CAUGHT: "fails to no effect, its error is caught",
}


def _unmatched(
    alive: list[ScriptAssertion],
    lost: list[ScriptAssertion],
    left: list[ScriptAssertion],
    new: tuple[ScriptAssertion, ...],
    delegated: Callable[[], int],
    words: frozenset[str],
) -> list[Loss]:
    out: list[Loss] = []
    rest = sorted((b for b in left if b.state is State.LIVE), key=lambda b: b.rank)
    running = [b for b in new if b.state is State.LIVE]
    for a in sorted(lost, key=lambda a: -a.rank):
        if any(_about(b, a) and _stands(b, a) for b in running):
            continue  # what is still asserted of the same says as much
        if rest and _stands(rest[-1], a):
            if not (rest[-1].looped and a.literals <= words):
                rest.pop()
            continue
        if delegated() >= min(a.rank, _TELLING):
            continue
        if a.literals and any(_stands(b, a) for b in running) and _said(a, running, words):
            continue
        weak = next((b for b in rest if _about(b, a) or b.subject in a.subject), None) or (rest[0] if rest else None)
        if weak is not None:
            rest.remove(weak)
            out.append(Loss("ASSERTION_WEAKENED", a, weak))
        elif len(running) < len(alive):
            out.append(Loss("ASSERTION_REMOVED", a, None))
    return out


def _said(a: ScriptAssertion, running: list[ScriptAssertion], words: frozenset[str]) -> bool:
    """Its values stand in assertions as strong, or in what a loop asserts of."""
    strong = [b for b in running if _stands(b, a)]
    values = {v for b in strong for v in b.literals}
    return a.literals <= values or (any(b.looped for b in strong) and a.literals <= words)


def _stands(b: ScriptAssertion, a: ScriptAssertion) -> bool:
    return b.rank >= min(a.rank, _STRONG)


def _about(b: ScriptAssertion, a: ScriptAssertion) -> bool:
    """Its subject is made of the other's subject, or is a part of which the other is made."""
    return b.subject == a.subject or f"{GLUE}{a.subject}{GLUE}" in f"{GLUE}{b.subject}{GLUE}"


def _looser(a: ScriptAssertion, b: ScriptAssertion) -> bool:
    """The same matcher with an expectation that more values meet."""
    if a.matcher != b.matcher or a.expected == b.expected:
        return False
    was, now = a.expected.split(GLUE), b.expected.split(GLUE)
    name = a.matcher.rsplit(".", 1)[-1]
    if name == "toBeCloseTo":
        return _digits(now) < _digits(was)
    if name in ("closeTo", "approximately"):
        return _last(now) > _last(was)
    if re.fullmatch(r"toBeLessThan\w*|below|most|isBelow|isAtMost", name):
        return _last(now) > _last(was)
    if re.fullmatch(r"toBeGreaterThan\w*|above|least|isAbove|isAtLeast", name):
        return _last(now) < _last(was)
    if re.search(r"match|throw|reject|include|contain", name, re.IGNORECASE) and len(was) == 1:
        if not b.expected:
            return True
        old, fresh = _core(was[0]), _core(now[0])
        shorter = len(fresh) < len(old) and fresh in old
        return len(now) == 1 and (shorter or (bool(old) and _ANY.fullmatch(fresh) is not None))
    return False


def _core(word: str) -> str:
    """The letters of a text or a regular expression, without what only frames it."""
    if word.startswith("/"):
        return word[1 : word.rfind("/")].strip("^$")
    return word.strip('"')


def _digits(words: list[str]) -> float:
    return float(words[-1]) if "," in words and _NUMBER.fullmatch(words[-1]) else 2.0


def _last(words: list[str]) -> float:
    found = [w.replace("_", "") for w in words if _NUMBER.fullmatch(w)]
    sign = -1 if len(words) > 1 and words[-2] == "-" else 1
    return sign * float(found[-1]) if found else 0.0
