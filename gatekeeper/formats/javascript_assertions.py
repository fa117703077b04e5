"""What the assertions of one JavaScript test hold on to: subject, matcher, expectation, strength, and whether they run.

Values that are bound once are put in for their names, and local names are numbered, so that renaming or naming a value
makes no other assertion of it. A reading for comparison: what it misreads, it misreads in both versions.
"""

from __future__ import annotations

import re
from enum import StrEnum

from gatekeeper.formats.javascript_tokens import Kind, Token, closing
from gatekeeper.records import dataclass

GLUE = "\x1f"
"""Between the words of a subject or an expectation."""
_MAX_TOKENS = 20_000
_MAX_ASSERTIONS = 400
_MAX_VALUE = 60
"""Tokens of a value that is put in for its name."""
_MAX_TEXT = 4000
_MAX_AROUND = 40
_LOCAL = "\x1e"
EXACT = 10
SNAPSHOT = 8
_RANKS: tuple[tuple[int, re.Pattern[str]], ...] = (
    (3, re.compile(r"assert\.(?:notEqual|notStrictEqual|notDeepEqual|notDeepStrictEqual|doesNotMatch)|.*\bnot\..*|.*\bnot\.?(?:be|exist)?.*")),
    (EXACT, re.compile(
        r"assert\.(?:equal|strictEqual|deepEqual|deepStrictEqual|same|deepSame)"
        r"|(?:resolves\.|rejects\.)?(?:toBe|toEqual|toStrictEqual|toHaveBeenCalledWith|toHaveBeenCalledTimes|toHaveBeenNthCalledWith"
        r"|toHaveBeenLastCalledWith|toHaveReturnedWith|toMatchInlineSnapshot|toThrowErrorMatchingInlineSnapshot)"
        r"|(?:(?:to|be|been|is|that|which|and|has|have|with|at|of|same|but|does|still|also|should|deep|strict|eventually)\.)*(?:equal|equals|eq|eql|eqls)"
    )),
    (SNAPSHOT, re.compile(r".*toMatchSnapshot|.*toThrowErrorMatchingSnapshot|assert\.(?:snapshot|fileSnapshot)|.*\bmembers")),
    (7, re.compile(r".*toBeCloseTo|.*\bcloseTo|.*approximately|assert\.closeTo")),
    (6, re.compile(r".*toMatchObject|assert\.partialDeepStrictEqual|.*toContainEqual|.*toHaveProperty|.*\bproperty|assert\.(?:throws|rejects)|.*toThrow(?:Error)?|.*\bthrow\w*|.*rejectedWith")),
    (5, re.compile(r".*toContain|.*\binclude\w*|.*\bcontain\w*|assert\.match|.*toMatch|.*\bmatch")),
    (4, re.compile(r".*toBe(?:Greater|Less)Than\w*|.*toHaveLength|.*lengthOf|.*\b(?:above|below|least|most|within|isAbove|isBelow)")),
    (3, re.compile(r".*toBeInstanceOf|.*toBeTypeOf|.*\b(?:instanceof|instanceOf|an?|isArray|isObject|isString|isNumber|isFunction)")),
    (9, re.compile(r".*toBe(?:Null|Undefined|NaN)|.*\b(?:true|false|null|undefined|NaN|isTrue|isFalse|isNull|isUndefined)")),
)  # fmt: skip
_DERIVED = re.compile(
    r"typeof\x1f|Array\x1f\.\x1fisArray\x1f|Object\x1f\.\x1f(?:keys|entries)\x1f|Boolean\x1f\(|!\x1f!|Number\x1f\.\x1fis\w+"
)
_LENGTH = re.compile(r"\x1f\??\.\x1f(?:length|size)$")
_LOOSE_VALUE = re.compile(
    r"(?:expect|vi|jest|sinon\x1f\.\x1fmatch)\x1f\.\x1f(?:not\x1f\.\x1f)?(anything|any|objectContaining|arrayContaining|stringContaining|stringMatching)\b|match\x1f\.\x1fany"
)
_BARE = {
    "strictEqual", "deepStrictEqual", "deepEqual", "notStrictEqual", "notDeepStrictEqual", "notDeepEqual",
    "partialDeepStrictEqual", "rejects", "doesNotReject", "doesNotThrow", "equal", "notEqual",
}  # fmt: skip
_OPERATORS = {
    ".", "?.", "+", "-", "*", "/", "%", "**", "=", "==", "===", "!=", "!==", "<", ">", "<=", ">=", "&&", "||", "??", "?", ":",
    ",", "=>", "(", "[", "{", "!", "in", "of", "instanceof", "new", "await", "typeof", "...",
}  # fmt: skip
_CONTINUES = {
    ".", "?.", "+", "-", "*", "/", "%", "**", "==", "===", "!=", "!==", "<", ">", "<=", ">=", "&&", "||", "??", "?", ":", "=>",
    "instanceof", "in",
}  # fmt: skip
_LATER = {"setTimeout", "setImmediate", "queueMicrotask", "nextTick", "on", "once", "addEventListener", "then", "catch", "finally", "setInterval"}  # fmt: skip
_PROMISES = ("resolves", "rejects", "eventually", "doesNotReject", "rejectedWith", "fulfilled")


class State(StrEnum):
    """Whether an assertion runs whenever its test does."""

    LIVE = "live"
    CONDITIONAL = "conditional"
    DEAD = "dead"
    UNAWAITED = "unawaited"


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


def assertions(body: tuple[Token, ...]) -> tuple[ScriptAssertion, ...]:
    """All assertions of a test's arguments behind its name, in order."""
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
        if not bare and token.text not in ("expect", "assert"):
            continue
        made = _read(body, pairs, index, bare=bare)
        if made is None:
            continue
        subject_range, matcher, expected_ranges, end = made
        subject = _text(body, *subject_range, values, local)
        expected = f"{GLUE},{GLUE}".join(_text(body, a, b, values, local) for a, b in expected_ranges)
        subject, matcher, expected = _compared(*_numbered(subject, matcher, expected))
        state, looped = _state(body, pairs, opened, index, end, matcher, calls)
        rank = _rank(subject, matcher, expected)
        out.append(ScriptAssertion(subject, matcher, expected, rank, state, looped, token.line))
    return tuple(out)


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
            start, end = index + 3, _end(body, pairs, index + 3)
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


def _end(body: tuple[Token, ...], pairs: dict[int, int], start: int) -> int:
    """Where an expression ends: at `;` or `,`, a closing bracket, or a new line that does not go on with it."""
    index = start
    while index < len(body):
        token = body[index]
        if token.kind is Kind.MARK and token.text in (";", ",", ")", "]", "}"):
            return index
        if (
            index > start
            and token.line > body[index - 1].line
            and token.text not in _CONTINUES
            and body[index - 1].text not in _OPERATORS
        ):
            return index
        index = pairs.get(index, index) + 1
    return index


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


def _compared(subject: str, matcher: str, expected: str) -> tuple[str, str, str]:
    """`assert.ok(a === b)` and `expect(a === b).toBe(true)` are equalities of a and b."""
    words = subject.split(GLUE)
    truth = matcher in ("assert", "assert.ok", "toBeTruthy", "assert.isTrue", "assert.isOk") or (
        expected == "true" and matcher in ("toBe", "toEqual", "toStrictEqual", "assert.equal", "assert.strictEqual")
    )
    if truth and "&&" not in words and "||" not in words and "?" not in words:
        for mark in ("===", "=="):
            at = [i for i, w in enumerate(words) if w == mark and _balanced(words[:i])]
            if len(at) == 1:
                return GLUE.join(words[: at[0]]), "assert.equal", GLUE.join(words[at[0] + 1 :])
        if words[:2] == ["isDeepStrictEqual", "("] or words[1:4] == [".", "isDeepStrictEqual", "("]:
            inner = words[words.index("(") + 1 : -1]
            at = [i for i, w in enumerate(inner) if w == "," and _balanced(inner[:i])]
            if len(at) == 1:
                return GLUE.join(inner[: at[0]]), "assert.deepEqual", GLUE.join(inner[at[0] + 1 :])
    if matcher.startswith("assert.") and _written(subject) and not _written(expected) and expected:
        return expected, matcher, subject  # the two sides the other way round
    return subject, matcher, expected


def _balanced(words: list[str]) -> bool:
    return sum(w in ("(", "[", "{") for w in words) == sum(w in (")", "]", "}") for w in words)


def _written(text: str) -> bool:
    """Nothing in it is computed."""
    words = text.split(GLUE)
    return bool(text) and "(" not in words and not any(re.match(r"[A-Za-z_$]", w) and w not in ("true", "false", "null", "undefined", "NaN") and words[i + 1 : i + 2] != [":"] for i, w in enumerate(words))  # fmt: skip


def _rank(subject: str, matcher: str, expected: str) -> int:
    if _written(subject) and (not expected or _written(expected)):
        return 0
    if subject == expected:
        return 0
    names = set(re.findall(r"[A-Za-z_$][\w$]*(?=\x1f\()", subject))
    if (
        expected
        and names & set(re.findall(r"[A-Za-z_$][\w$]*(?=\x1f\()", expected))
        and subject.split(GLUE, 1)[0] == expected.split(GLUE, 1)[0]
    ):
        return 2  # the code agrees with itself whatever it does
    rank = next((r for r, p in _RANKS if p.fullmatch(matcher)), 2)
    if rank >= EXACT and (_DERIVED.match(subject) or _LENGTH.search(subject)):
        rank = 4
    if rank > 5 and (m := _LOOSE_VALUE.search(expected)):
        rank = 3 if m[1] in ("anything", "any", None) and _LOOSE_VALUE.match(expected) else 6
    if rank == 6 and not expected and re.search(r"throw|reject", matcher, re.IGNORECASE):
        rank = 4
    if matcher in ("assert", "assert.ok") and re.search(
        r"\x1f(?:<|>|<=|>=|\.\x1f(?:includes|startsWith|endsWith|test|has|some|every))(?:\x1f|$)", subject
    ):
        rank = 4
    return rank


def _state(
    body: tuple[Token, ...],
    pairs: dict[int, int],
    opened: dict[int, int],
    index: int,
    end: int,
    matcher: str,
    calls: set[str],
) -> tuple[State, bool]:
    state, looped = State.LIVE, False
    before = body[index - 1].text if index else ""
    at = index - 1
    while at >= 0 and body[at].text in ("await", "return", "void"):
        at -= 1
    prior = body[at].text if at >= 0 else ""
    if prior in ("&&", "||", "??", "?", "else") or (
        prior == ")" and at in opened and body[opened[at] - 1].text in ("if", "while")
    ):
        state = State.CONDITIONAL
    outer = _first_block(body)
    around = [a for a, b in pairs.items() if outer < a < index < b and body[a].text in ("{", "(")]
    for start in sorted(around)[-_MAX_AROUND:]:
        word = _opener(body, opened, start)
        if body[start].text == "(":
            if (
                word in _LATER
                and any(t.text in ("=>", "function") for t in body[start:index])
                and not _kept(body, start)
            ):
                state = State.UNAWAITED if state is State.LIVE else state
            elif word in ("forEach", "map", "each"):
                looped = True
            continue
        if word == "for":
            looped = True
            head = opened.get(start - 1)
            if head is not None and [t.text for t in body[start - 3 : start - 1]] == ["[", "]"]:
                state = State.DEAD
        elif word in ("if", "else", "switch", "while", "catch"):
            state = State.CONDITIONAL if state is State.LIVE else state
            head = opened.get(start - 1)
            if (
                head is not None
                and word in ("if", "while")
                and body[head + 1].text in ("false", "0", "null")
                and start - head <= 3
            ):
                state = State.DEAD
        elif word.startswith("=") and word[1:] and word[1:] not in calls:
            state = State.DEAD
        state = _left(body, pairs, opened, start, index) or state
    if outer >= 0:
        state = _left(body, pairs, opened, outer, index) or state
    promise = any(p in matcher.split(".") for p in _PROMISES) and state is State.LIVE
    if (
        promise
        and before not in ("await", "return", "=>", "(", "[", ",", "=", "yield")
        and (end >= len(body) or body[end].text != ".")
    ):
        state = State.UNAWAITED
    return state, looped


def _first_block(body: tuple[Token, ...]) -> int:
    """Index of the brace of the test's own function; -1 for a function without one."""
    for index, token in enumerate(body):
        if token.kind is Kind.MARK and token.text == "{" and index and body[index - 1].text in ("=>", ")"):
            return index
    return -1


def _opener(body: tuple[Token, ...], opened: dict[int, int], start: int) -> str:
    """What stands in front of a bracket: if, else, for, ..., a called name, or `=name` of a function bound to a name."""
    before = start - 1
    if before < 0:
        return ""
    if body[start].text == "(":
        return body[before].text if body[before].kind is Kind.NAME else ""
    if body[before].text == ")" and before in opened:
        head = opened[before] - 1
        word = body[head].text if head >= 0 else ""
        if word in ("if", "for", "while", "switch", "catch"):
            return word
        if word == "await" and head and body[head - 1].text == "for":
            return "for"
        return f"={word}" if head and body[head - 1].text == "function" else ""
    if body[before].text == "=>":
        at = opened[before - 1] if body[before - 1].text == ")" and before - 1 in opened else before - 1
        at -= body[at - 1].text == "async"
        return f"={body[at - 2].text}" if at > 1 and body[at - 1].text == "=" else ""
    return body[before].text if body[before].text in ("else", "catch", "try", "finally", "do") else ""


def _kept(body: tuple[Token, ...], start: int) -> bool:
    """The promise that a call of then, catch or finally gives back is awaited, returned or held; timers never are."""
    if body[start - 1].text not in ("then", "catch", "finally"):
        return any(t.text in ("Promise", "done", "resolve") for t in body)
    line = start
    while line > 0 and body[line].text not in (";", "{", "}"):
        line -= 1
        if body[line].text in ("await", "return", "=", "=>", "yield"):
            return True
    return False


def _left(
    body: tuple[Token, ...], pairs: dict[int, int], opened: dict[int, int], start: int, index: int
) -> State | None:
    """Whether a block may leave, or always leaves, before the assertion."""
    state: State | None = None
    at = start + 1
    while at < index:
        token, inner = body[at], pairs.get(at)
        if inner is not None and inner > index:
            break
        if inner is not None:
            if token.text == "{" and _opener(body, opened, at) in ("if", "else") and _leaves(body[at + 1 : inner]):
                state = State.CONDITIONAL
            at = inner + 1
            continue
        prior = body[at - 1]
        if token.kind is Kind.NAME and token.text in ("return", "break", "continue") and prior.text != ".":
            if _end(body, pairs, at + 1) > index:
                break
            if prior.text == "else" or (
                prior.text == ")" and at - 1 in opened and body[opened[at - 1] - 1].text == "if"
            ):
                state = State.CONDITIONAL
            elif prior.text in (";", "{", "}") or prior.line < token.line:
                return State.DEAD
        at += 1
    return state


def _leaves(part: tuple[Token, ...]) -> bool:
    """A statement of its own, in no function in it, that leaves."""
    return any(t.text == "return" and t.kind is Kind.NAME for t in part) and not any(
        t.text in ("=>", "function") for t in part
    )
