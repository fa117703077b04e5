"""What one test lost between two versions of it."""

from __future__ import annotations

import builtins
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice

from gatekeeper.formats.python_assertions import Assertion, Body, Kind, ModuleAssertions, State
from gatekeeper.formats.python_assertions.dulled import calls_of, dulled
from gatekeeper.records import dataclass


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
_MOST_ALIKE = 200
"""Assertions of one key that are tried; only a made-up test has more of the same form."""
_MAX_ROWS = 500
"""Rows gone from one test that are searched for elsewhere; those beyond count as gone."""
_MAX_TEXTS = 500_000
_EXACT = (Kind.EQUAL, Kind.NEAR, Kind.TRUE, Kind.FALSE, Kind.NONE, Kind.MEMBER, Kind.RAISES)


def losses(old: Body, new: Body, module: ModuleAssertions) -> list[Loss]:
    """What `new` no longer proves that `old` did, in the order of the old assertions."""
    out: list[Loss] = []
    if new.yields and not old.yields and new.test:
        return [Loss("ASSERTION_UNREACHABLE", new.line, "a function that runs", "a generator, whose body never runs")]
    left = _Left(new.assertions)
    lost: list[Assertion] = []
    for a in old.live:
        same = next((b for b in left.among(a.canonical) if b[1].live), None)
        same = same or next((b for b in left.among(_form(a)) if b[1].live and _renamed(a, b[1], module)), None)
        if same is None:
            lost.append(a)
        elif _loosened(a, left.take(same)):
            out.append(Loss("ASSERTION_WEAKENED", same[1].line, a.text, same[1].text))
    still: list[Assertion] = []
    for a in lost:
        muted = next((b for b in left.among(a.subject) if not b[1].live and _alike(a, b[1])), None)
        if muted is None or any(b.live and b.rank >= a.rank for _, b in left.among(a.subject)):
            still.append(a)
            continue
        now = left.take(muted)
        code = "ASSERTION_ALWAYS_TRUE" if now.kind is Kind.CONSTANT else _BY_STATE[now.state]
        out.append(Loss(code, now.line, a.text, now.text))
    lost = []
    for a in still:
        near = next((b for b in left.among(a.subject) if b[1].live), None)
        if near is None:
            lost.append(a)
        elif (loss := _from_subject(old, a, near[1], module) or _changed(a, near[1])) is not None:
            left.take(near)
            out.append(loss)
        else:
            left.take(near)
    spare = [b for b in left.rest() if b.live]
    lost, dull = _dulled(lost, spare)
    return out + dull + _unmatched(old, new, module, lost, [b for b in spare if b.line not in {d.line for d in dull}])


def _dulled(lost: list[Assertion], spare: list[Assertion]) -> tuple[list[Assertion], list[Loss]]:
    """(what is still lost, what was asked again of less). Where something as strong asks of the whole, nothing was lost."""
    still, out = [], []
    for a in lost[:_MOST_ALIKE]:
        near = next((b for b in spare if dulled(a, b)), None)
        if near is None or any(
            b is not near and b.rank >= a.rank and a.subject in b.subject and not dulled(a, b) for b in spare
        ):
            still.append(a)
        else:
            out.append(Loss("ASSERTION_WEAKENED", near.line, a.text, near.text))
    return still + lost[_MOST_ALIKE:], out


class _Left:
    """The new assertions that stand for no old one yet, found by what they say, by form or by subject."""

    def __init__(self, assertions: tuple[Assertion, ...]) -> None:
        self._assertions = assertions
        self._taken: set[int] = set()
        self._places: dict[object, list[int]] = {}
        for at, a in enumerate(assertions):
            for key in (a.canonical, _form(a), a.subject):
                self._places.setdefault(key, []).append(at)

    def among(self, key: object) -> Iterator[tuple[int, Assertion]]:
        """(place, assertion) of those with this key; of very many alike only some, which can cost no finding."""
        left = (at for at in self._places.get(key, ()) if at not in self._taken)
        return ((at, self._assertions[at]) for at in islice(left, _MOST_ALIKE))

    def take(self, one: tuple[int, Assertion]) -> Assertion:
        """Take one away, for it stands for an old one now."""
        self._taken.add(one[0])
        return one[1]

    def rest(self) -> list[Assertion]:
        """What is left, in order."""
        return [a for at, a in enumerate(self._assertions) if at not in self._taken]


def _form(a: Assertion) -> tuple[str, str]:
    return f"form {a.kind.value}", a.shape


def _alike(a: Assertion, b: Assertion) -> bool:
    if a.canonical == b.canonical:
        return True
    return a.subject == b.subject and (b.expected in (a.expected, "") or b.state is not State.LIVE)


def _loosened(a: Assertion, b: Assertion) -> bool:
    if a.tolerance is None or b.tolerance is None or a.kind is not b.kind:
        return False
    return b.tolerance > a.tolerance * (1 + 1e-9) if a.upper else b.tolerance < a.tolerance - abs(a.tolerance) * 1e-9


def same_bound(a: Assertion, b: Assertion) -> bool:
    """Of two assertions that read the same, `b` allows no more than `a`."""
    return not _loosened(a, b)


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


def _from_subject(old: Body, a: Assertion, b: Assertion, module: ModuleAssertions) -> Loss | None:
    """What was expected is now computed by the very code under test, which agrees with itself whatever it does."""
    if a.kind is not Kind.EQUAL or b.kind is not Kind.EQUAL or b.literal:
        return None
    own = {
        n
        for n in calls_of(b.expected) - calls_of(a.expected)
        if n in old.calls and n in module.imports and n[:1].islower()
    }
    return Loss("ASSERTION_WEAKENED", b.line, a.text, b.text) if own else None


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
    """Old assertions without a counterpart against new ones without: as strong ones that reach the code may stand in for them."""
    out: list[Loss] = []
    idle = [b for b in left if b.line in new.idle or _helper(b) in module.rebound]
    left = [b for b in left if b not in idle]
    delegated = _delegated(old, new, module)
    strongest = deque(sorted(left, key=lambda b: -b.rank))
    for a in sorted(lost, key=lambda a: -a.rank):
        if delegated >= min(a.rank, 5):
            continue
        if strongest and strongest[0].rank >= a.rank:
            strongest.popleft()
        elif strongest:
            weak = strongest.pop()
            out.append(Loss("ASSERTION_WEAKENED", weak.line, a.text, weak.text))
        elif idle and a.line not in old.idle and not _covered(a, new):
            empty = idle.pop()
            out.append(Loss("ASSERTION_WEAKENED", empty.line, a.text, empty.text))
        elif len(new.live) < len(old.live) and not _covered(a, new):
            out.append(Loss("ASSERTION_REMOVED", new.line, a.text, "nothing in its place"))
    return out


def _covered(a: Assertion, new: Body) -> bool:
    """A whole value compared says what its parts said."""
    return any(b.kind is Kind.EQUAL and b.rank == 10 and a.subject.startswith(b.subject) for b in new.live)


def _helper(a: Assertion) -> str:
    """The asserting function that a call of one calls."""
    return a.subject.partition("(")[0].rpartition(".")[2] if a.kind is Kind.CALL else ""


def _delegated(old: Body, new: Body, module: ModuleAssertions) -> int:
    """The strength of asserting functions that the new version calls and the old did not."""
    best = 0
    for name in new.calls - old.calls:
        helper = module.bodies.get(name)
        if helper is not None and not helper.test and name not in module.rebound:
            best = max([best, *(a.rank for a in helper.live)])
    return best


def lost_rows(old: Body, new: Body, everywhere: Counter[str]) -> list[str]:
    """Parameter rows of `old` that no test of the module has any more."""
    there = set(new.rows)
    gone = [r for r in old.rows if r not in there]
    if not gone:
        return []
    texts = " ".join([*new.rows, new.meaning, *everywhere])[:_MAX_TEXTS]
    return [r for r in gone[:_MAX_ROWS] if r.strip("()[] ,") not in texts and not _spelled(r, texts)] + gone[_MAX_ROWS:]


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
