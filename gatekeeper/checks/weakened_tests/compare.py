"""What one test lost between two versions of it."""

from __future__ import annotations

import builtins
from collections import Counter
from dataclasses import dataclass

from gatekeeper.formats.python_assertions import Assertion, Body, Kind, ModuleAssertions, State


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing a test no longer proves."""

    code: str
    line: int
    before: str
    now: str
    value: str = ""
    """The new expectation, where one was edited."""


_BY_STATE = {
    State.SWALLOWED: "ASSERTION_SWALLOWED",
    State.UNREACHABLE: "ASSERTION_UNREACHABLE",
    State.CONDITIONAL: "ASSERTION_UNREACHABLE",
}
_EXACT = (Kind.EQUAL, Kind.NEAR, Kind.TRUE, Kind.FALSE, Kind.NONE, Kind.MEMBER, Kind.RAISES)


def losses(old: Body, new: Body, module: ModuleAssertions) -> list[Loss]:
    """What `new` no longer proves that `old` did, in the order of the old assertions."""
    out: list[Loss] = []
    if new.yields and not old.yields and new.test:
        return [Loss("ASSERTION_UNREACHABLE", new.line, "a function that runs", "a generator, whose body never runs")]
    left = list(new.assertions)
    lost: list[Assertion] = []
    for a in old.live:
        same = next((b for b in left if b.canonical == a.canonical and b.live), None)
        same = same or next((b for b in left if b.live and _renamed(a, b, module)), None)
        if same is None:
            lost.append(a)
        elif not _loosened(a, same):
            left.remove(same)
        else:
            left.remove(same)
            out.append(Loss("ASSERTION_WEAKENED", same.line, a.text, same.text))
    for a in list(lost):
        muted = next((b for b in left if not b.live and _alike(a, b)), None)
        if muted is not None and not any(b.live and b.rank >= a.rank and b.subject == a.subject for b in left):
            lost.remove(a)
            left.remove(muted)
            code = "ASSERTION_ALWAYS_TRUE" if muted.kind is Kind.CONSTANT else _BY_STATE[muted.state]
            out.append(Loss(code, muted.line, a.text, muted.text))
    for a in list(lost):
        near = next((b for b in left if b.live and b.subject == a.subject), None)
        if near is not None:
            lost.remove(a)
            left.remove(near)
            loss = _changed(a, near)
            if loss is not None:
                out.append(loss)
    return out + _unmatched(old, new, module, lost, [b for b in left if b.live])


def _alike(a: Assertion, b: Assertion) -> bool:
    if a.canonical == b.canonical:
        return True
    return a.subject == b.subject and (b.expected in (a.expected, "") or b.state is not State.LIVE)


def _loosened(a: Assertion, b: Assertion) -> bool:
    if a.tolerance is None or b.tolerance is None or a.kind is not b.kind:
        return False
    return b.tolerance > a.tolerance * (1 + 1e-9) if a.upper else b.tolerance < a.tolerance - abs(a.tolerance) * 1e-9


def _renamed(a: Assertion, b: Assertion, module: ModuleAssertions) -> bool:
    """The same assertion about other names: a one-to-one renaming, to nothing the test module defines itself."""
    if not a.shape or a.shape != b.shape or a.kind is not b.kind or len(a.words) != len(b.words):
        return False
    forth = dict(zip(a.words, b.words, strict=True))
    back = dict(zip(b.words, a.words, strict=True))
    if any(forth[x] != y or back[y] != x for x, y in zip(a.words, b.words, strict=True)):
        return False
    fixed = set(dir(builtins))  # `any` for `all`, or `Exception` for `ValueError`, is no renaming
    return not any(x != y and (y in module.bound or x in fixed or y in fixed) for x, y in forth.items())


def _changed(a: Assertion, b: Assertion) -> Loss | None:
    """Two assertions about the same thing."""
    if {a.kind, b.kind} == {Kind.TRUE, Kind.FALSE} or {a.kind, b.kind} in (
        {Kind.NONE, Kind.NOT_NONE},
        {Kind.EQUAL, Kind.UNEQUAL},
    ):
        return Loss("EXPECTED_VALUE_EDITED", b.line, a.text, b.text, b.expected)
    if a.kind is Kind.ORDER and b.kind is Kind.ORDER and a.upper == b.upper:
        return Loss("ASSERTION_WEAKENED", b.line, a.text, b.text) if _loosened(a, b) else None
    if a.kind is b.kind and a.kind in _EXACT and a.expected != b.expected:
        if a.kind is Kind.RAISES and b.rank < a.rank:
            return Loss("ASSERTION_WEAKENED", b.line, a.text, b.text)
        if a.kind is Kind.RAISES and (b.rank > a.rank or b.expected.startswith(a.expected)):
            return None
        if a.kind is Kind.EQUAL and not (a.literal and b.literal):
            # One side is computed: whether the value is the same only a run can tell.
            return (
                None
                if not b.literal or a.literal == b.literal
                else Loss("EXPECTED_VALUE_EDITED", b.line, a.text, b.text, b.expected)
            )
        if a.expected or b.expected:
            return Loss("EXPECTED_VALUE_EDITED", b.line, a.text, b.text, b.expected)
    if b.kind is Kind.NEAR and a.kind is Kind.EQUAL and (b.tolerance or 0.0) <= 1e-5 and a.expected == b.expected:
        return None  # the customary way to compare floats
    return Loss("ASSERTION_WEAKENED", b.line, a.text, b.text) if b.rank < a.rank else None


def _unmatched(
    old: Body, new: Body, module: ModuleAssertions, lost: list[Assertion], left: list[Assertion]
) -> list[Loss]:
    """Old assertions without a counterpart against new ones without: as strong ones may stand in for them."""
    out: list[Loss] = []
    delegated = _delegated(old, new, module)
    for a in sorted(lost, key=lambda a: -a.rank):
        if delegated >= min(a.rank, 5):
            continue
        stand_in = next((b for b in sorted(left, key=lambda b: -b.rank) if b.rank >= a.rank), None)
        if stand_in is not None:
            left.remove(stand_in)
            continue
        if left:
            weak = left.pop(0)
            out.append(Loss("ASSERTION_WEAKENED", weak.line, a.text, weak.text))
        elif len(new.live) < len(old.live) and not _covered(a, new):
            out.append(Loss("ASSERTION_REMOVED", new.line, a.text, "nothing in its place"))
    return out


def _covered(a: Assertion, new: Body) -> bool:
    """A whole value compared says what its parts said."""
    return any(b.kind is Kind.EQUAL and b.rank == 10 and a.subject.startswith(b.subject) for b in new.live)


def _delegated(old: Body, new: Body, module: ModuleAssertions) -> int:
    """The strength of asserting functions that the new version calls and the old did not."""
    best = 0
    for name in new.calls - old.calls:
        helper = module.bodies.get(name)
        if helper is not None and not helper.test:
            best = max([best, *(a.rank for a in helper.live)])
    return best


def lost_rows(old: Body, new: Body, everywhere: Counter[str]) -> list[str]:
    """Parameter rows of `old` that no test of the module has any more."""
    if not old.rows:
        return []
    texts = " ".join([*new.rows, new.meaning, *everywhere])
    return [r for r in old.rows if r not in new.rows and r.strip("()[] ,") not in texts and not _spelled(r, texts)]


def _spelled(row: str, texts: str) -> bool:
    """True where every part of the row stands together, in order, somewhere in the module's other tests."""
    parts = [p.strip(" ()[]") for p in row.split(",")]
    at = 0
    for part in parts:
        found = texts.find(part, at)
        if found < 0 or (at and found - at > 200):
            return False
        at = found + len(part)
    return len(parts) > 1 and len(row) > 11
