"""What the assertions of one JavaScript test hold on to: subject, matcher, expectation, strength, and whether they run.

Values that are bound once are put in for their names, and local names are numbered, so that renaming or naming a value
makes no other assertion of it. A reading for comparison: what it misreads, it misreads in both versions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gatekeeper.formats.javascript_reach import State, awaited, state, value_end
from gatekeeper.formats.javascript_strength import EXACT, GLUE, compared, rank
from gatekeeper.formats.javascript_tokens import Kind, Token, closing
from gatekeeper.records import dataclass

_MAX_TOKENS = 20_000
_MAX_ASSERTIONS = 400
_MAX_VALUE = 60
"""Tokens of a value that is put in for its name."""
_MAX_TEXT = 4000
_LOCAL = "\x1e"
_BARE = {
    "strictEqual", "deepStrictEqual", "deepEqual", "notStrictEqual", "notDeepStrictEqual", "notDeepEqual",
    "partialDeepStrictEqual", "rejects", "doesNotReject", "doesNotThrow", "equal", "notEqual",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScriptAssertion:
    """One assertion, normalised. Texts are words with `GLUE` between them."""

    subject: str
    matcher: str
    expected: str
    rank: int
    """10 for an equality with a value that is written down, 0 for what always holds."""
    state: State
    looped: bool
    """True where it stands in a loop, and so speaks for many."""
    line: int

    @property
    def key(self) -> tuple[str, str, str]:
        """The same for assertions that hold for the same values."""
        same = "equal" if self.rank == EXACT and self.matcher.startswith("assert") else self.matcher
        return self.subject, same, self.expected

    @property
    def literals(self) -> frozenset[str]:
        """Values that it names."""
        words = f"{self.subject}{GLUE}{self.expected}".split(GLUE)
        return frozenset(w for w in words if re.match(r"[\"\d/`]", w))


@dataclass(frozen=True, slots=True)
class Delegate:
    """A function that a test calls and that asserts for it."""

    name: str
    rank: int
    """Of its strongest assertion; 0 where something else stands in its place."""
    later: bool = False
    """Nothing is asserted before its promise is waited for."""
    inside: bool = False
    """It is defined in the test itself, where its assertions are read already."""


def assertions(
    body: tuple[Token, ...], delegate: Callable[[int], Delegate | None] | None = None
) -> tuple[ScriptAssertion, ...]:
    """All assertions of a test's arguments behind its name, in order.

    `delegate` says what the name at an index of `body`, which is called there, does for the test; such a call is an
    assertion of its own, with the matcher `call name`.
    """
    if len(body) > _MAX_TOKENS:
        return ()
    local = _locals(body)
    pairs = closing(body)
    opened = {b: a for a, b in pairs.items()}
    values = _values(body, pairs)
    out: list[ScriptAssertion] = []
    calls = {t.text for i, t in enumerate(body) if t.kind is Kind.NAME and i + 1 in pairs and body[i + 1].text == "("}
    for index, token in enumerate(body):
        if len(out) >= _MAX_ASSERTIONS or token.kind is not Kind.NAME:
            continue
        bare = token.text in _BARE and (not index or body[index - 1].text not in (".", "function"))
        helper = None
        if not bare and token.text not in ("expect", "assert"):
            called = delegate is not None and index + 1 in pairs and body[index + 1].text == "("
            helper = delegate(index) if called and delegate is not None else None
            if helper is None:
                continue
        made = _read(body, pairs, index, bare=bare) if helper is None else _called(body, pairs, index, helper)
        if made is None:
            continue
        subject_range, matcher, expected_ranges, end = made
        subject = _text(body, *subject_range, values, local)
        expected = f"{GLUE},{GLUE}".join(_text(body, a, b, values, local) for a, b in expected_ranges)
        subject, matcher, expected = _numbered(subject, matcher, expected)
        runs, looped = state(body, pairs, opened, index, end, matcher, calls)
        if helper is None:
            subject, matcher, expected = compared(subject, matcher, expected)
            strength = rank(subject, matcher, expected)
        else:
            strength = helper.rank
            if helper.later and runs is State.LIVE and not awaited(body, index, end):
                runs = State.UNAWAITED
        out.append(ScriptAssertion(subject, matcher, expected, strength, runs, looped, token.line))
    return tuple(out)


CALL = "call "
"""Before the name of a function that asserts, as the matcher of its call."""


def _called(
    body: tuple[Token, ...], pairs: dict[int, int], index: int, helper: Delegate
) -> tuple[tuple[int, int], str, list[tuple[int, int]], int]:
    """As `_read`, for a call of a function that asserts: its first argument is the subject."""
    end = pairs[index + 1]
    parts = _split(body, pairs, index + 2, end)
    return (parts[0] if parts else (0, 0)), CALL + helper.name, parts[1:], end + 1


def _read(
    body: tuple[Token, ...], pairs: dict[int, int], index: int, *, bare: bool
) -> tuple[tuple[int, int], str, list[tuple[int, int]], int] | None:
    """(range of the subject, matcher, ranges of what it is compared with, end)."""
    place, names, calls = index + 1, [], []
    if bare:
        names.append(body[index].text)
    while place < len(body):
        if body[place].text == "(" and place in pairs:
            calls.append((place, pairs[place]))
            place = pairs[place] + 1
        elif body[place].text in (".", "?.") and place + 1 < len(body):
            names.append(body[place + 1].text)
            place += 2
        else:
            break
    if not calls:
        return None
    names = [n for n in names if n not in ("strict", "soft")]
    first = _split(body, pairs, calls[0][0] + 1, calls[0][1])
    if body[index].text == "expect" and not bare:
        if len(calls) < 2 and not names:
            return None
        if names and names[0] in ("assertions", "hasAssertions", "extend", "anything", "any", "objectContaining", "arrayContaining", "stringContaining", "stringMatching"):  # fmt: skip
            return None
        rest = _split(body, pairs, calls[-1][0] + 1, calls[-1][1]) if len(calls) > 1 else []
        return (first[0] if first else (0, 0)), ".".join(names), rest, place
    matcher = ".".join(["assert", *names])
    count = 3 if names[-1:] == ["closeTo"] else 2
    return (first[0] if first else (0, 0)), matcher, first[1:count], place


def _split(body: tuple[Token, ...], pairs: dict[int, int], start: int, end: int) -> list[tuple[int, int]]:
    parts, first, index = [], start, start
    while index < end:
        if body[index].text == "," and body[index].kind is Kind.MARK:
            parts.append((first, index))
            first = index + 1
        index = pairs.get(index, index) + 1
    if first < end:
        parts.append((first, end))
    return parts


def _values(body: tuple[Token, ...], pairs: dict[int, int]) -> dict[str, str]:
    """What names that are bound once stand for, earlier names put in: `const a = f(b);`."""
    found: dict[str, tuple[int, int]] = {}
    often: set[str] = set()
    for index, token in enumerate(body[:-3]):
        name = body[index + 1]
        declares = token.kind is Kind.NAME and token.text in ("const", "let", "var")
        if declares and name.kind is Kind.NAME and body[index + 2].text == "=":
            start, end = index + 3, value_end(body, pairs, index + 3)
            callback = any(t.text in ("=>", "function") for t in body[start:end][:_MAX_VALUE])
            if name.text in found or end == start or end - start > _MAX_VALUE or callback:
                often.add(name.text)
            found[name.text] = (start, end)
        elif token.kind is Kind.NAME and name.text in ("=", "+=", "-=", "++", "--"):
            declared = index and body[index - 1].text in ("const", "let", "var", ".")
            often |= set() if declared else {token.text}
    out: dict[str, str] = {}
    for bound, (start, end) in found.items():
        if bound not in often:
            text = _text(body, start, end, out, _locals(()))
            if len(text) <= _MAX_TEXT:
                out[bound] = text
    return out


def _locals(body: tuple[Token, ...]) -> frozenset[str]:
    """Names that the test binds itself: in declarations, and as parameters of its functions."""
    out: set[str] = set()
    for index, token in enumerate(body):
        if token.kind is Kind.NAME and token.text in ("const", "let", "var"):
            for one in body[index + 1 : index + 40]:
                if one.text in ("=", "of", "in", ";"):
                    break
                if one.kind is Kind.NAME:
                    out.add(one.text)
        elif token.text == "=>" and index:
            at, depth = index - 1, 0
            while at >= 0 and index - at < 40:
                depth += (body[at].text in (")", "]", "}")) - (body[at].text in ("(", "[", "{"))
                if body[at].kind is Kind.NAME:
                    out.add(body[at].text)
                if depth <= 0:
                    break
                at -= 1
    return frozenset(out - {"async", "true", "false", "null", "undefined"})


def _numbered(subject: str, matcher: str, expected: str) -> tuple[str, str, str]:
    """Local names by the order in which they come, so that another name makes no other assertion."""
    names: dict[str, str] = {}

    def number(text: str) -> str:
        words = text.split(GLUE)
        return GLUE.join(names.setdefault(w, f"${len(names) + 1}") if w.startswith(_LOCAL) else w for w in words)

    return number(subject), matcher, number(expected)


def _text(body: tuple[Token, ...], start: int, end: int, values: dict[str, str], local: frozenset[str]) -> str:
    """Words of a part, bound values put in, without `await`, semicolons and trailing commas."""
    words: list[str] = []
    size = 0
    for index in range(start, end):
        token = body[index]
        if (token.text == ";" and token.kind is Kind.MARK) or (token.text == "await" and token.kind is Kind.NAME):
            continue
        if token.text in (")", "]", "}") and words and words[-1] == ",":
            words.pop()
        word = f'"{token.text}"' if token.kind is Kind.STRING else token.text
        free = token.kind is Kind.NAME and (index == start or body[index - 1].text not in (".", "?."))
        if free and (index + 1 >= end or body[index + 1].text != ":"):
            if token.text in values and size < _MAX_TEXT:
                word = values[token.text]
                size += len(word)
            elif token.text in local:
                word = f"{_LOCAL}{token.text}"
        words.append(word)
    if words and words[-1] == ",":
        words.pop()
    return GLUE.join(words)
