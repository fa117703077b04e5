"""The tests that a JavaScript or TypeScript module defines, read from its tokens: names, bodies, and what silences them.

It knows the calls of node:test, jest, vitest and mocha (`test`, `it`, `describe` and what hangs on them). A name that is
put together at run time is known by its fixed parts alone.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from gatekeeper.formats.javascript_tokens import Kind, Token, closing, tokens
from gatekeeper.records import dataclass

SEPARATOR = " > "
_TESTS = {"test", "it", "fit", "xit", "xtest", "specify"}
_SUITES = {"describe", "suite", "fdescribe", "xdescribe", "context"}
_CONTEXTS = {"t", "ctx", "context", "tc"}
_TABLES = {"each", "for"}
_CONDITIONS = {"skipIf", "runIf"}
_SILENT = {"skip", "todo", "failing", "fails", "xit", "xtest", "xdescribe", "skipIf", "runIf"}
_FOCUSED = {"only", "fit", "fdescribe"}
_PLACEHOLDER = re.compile(r"%[sdifjoOp#$%]|\$\{[^}]*\}|\$[A-Za-z_#][\w.]*")
_PLACEHOLDER_SPLIT = re.compile(f"({_PLACEHOLDER.pattern})")
_MAX_GAPS = 6
_LITERALS = (Kind.STRING, Kind.NUMBER, Kind.REGEX, Kind.TEMPLATE)
_WORDS = {"true", "false", "null", "undefined"}


@dataclass(frozen=True)
class ScriptTest:
    """One call of `test`, `it` or `describe`."""

    names: tuple[str, ...]
    """From the outermost suite inwards; fixed parts of what is put together at run time."""
    dynamic: bool
    """True where the call can make several tests, or names that are not written down."""
    suite: bool
    line: int
    silencers: tuple[str, ...]
    """skip, todo, only, ... of this call and of the suites around it."""
    body: str
    """What it does, normalised: comments, white space, quotes, trailing commas and semicolons do not count."""
    words: Counter[str]
    """The same as a multiset of names and literals, for likeness."""
    reach: Counter[str]
    """Words of what a call that makes several tests can draw on: the suite around it, or the module."""
    rows: tuple[str, ...]
    """Rows of its table (`each`), normalised."""
    assertions: tuple[tuple[str, str, str], ...]
    """(subject, matcher, expected) of each assertion in it, normalised."""
    swallows: bool
    """True where a failing assertion in it would be caught."""
    hollow: str
    """empty, constant or none_expected where the source alone shows that it cannot fail; else nothing."""
    part: tuple[Token, ...] = ()
    """Tokens of the arguments behind its name; none of a suite."""
    start: int = 0
    """Index of the first of them in the module."""

    @property
    def title(self) -> str:
        """As the end of a test id behind `::`, for one whose names are fixed."""
        return SEPARATOR.join(" ".join(n.split()) or "(no name)" for n in self.names)

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches the part of a test id behind `::` for every test that the call can make."""
        return re.compile(SEPARATOR.join(_pattern(" ".join(n.split()) or "(no name)") for n in self.names), re.DOTALL)


@dataclass(frozen=True)
class ScriptModule:
    """What a module holds."""

    tests: tuple[ScriptTest, ...]
    imports: tuple[str, ...]
    """Modules that it names in import, require or export from."""
    mocked: tuple[tuple[str, int], ...]
    """(module, line) of jest.mock, vi.mock and mock.module."""
    readable: bool = True


@lru_cache(maxsize=256)
def read_tests(source: str) -> ScriptModule:
    """Read a module. A text over the cap of `tokens` holds nothing and says so."""
    found = tokens(source)
    if source.strip() and not found:
        return ScriptModule((), (), (), readable=not source.strip())
    pairs = closing(found)
    rows: list[tuple[int, int, ScriptTest]] = []
    open_: list[tuple[int, ScriptTest]] = []
    for index, token in enumerate(found):
        while open_ and index > open_[-1][0]:
            open_.pop()
        if token.kind is not Kind.NAME:
            continue
        made = _call(found, pairs, index, [s for _, s in open_])
        if made is None:
            continue
        end, test, parent = made
        rows.append((index, end, test))
        if test.suite or parent:
            open_.append((end, test))
    return ScriptModule(tuple(t for _, _, t in rows), _imports(found), _mocked(found))


def _call(
    found: tuple[Token, ...], pairs: dict[int, int], index: int, around: list[ScriptTest]
) -> tuple[int, ScriptTest, bool] | None:
    """(index of the closing bracket, the test, whether tests inside belong to it), None for any other name."""
    name = found[index].text
    before = found[index - 1].text if index else ""
    inner = before == "." and index > 1 and found[index - 2].text in _CONTEXTS and name in ("test", "it", "describe")
    if (name not in _TESTS and name not in _SUITES) or (before == "." and not inner) or before == "function":
        return None
    place, marks, table = index + 1, [name], None
    while place < len(found):
        text = found[place].text
        following = found[place + 1] if place + 1 < len(found) else None
        if text == "." and following is not None and following.kind is Kind.NAME:
            marks.append(following.text)
            place += 2
            if following.text in _TABLES | _CONDITIONS and place < len(found):
                if found[place].text == "(" and place in pairs:
                    table = (place, pairs[place]) if following.text in _TABLES else table
                    place = pairs[place] + 1
                elif found[place].kind in (Kind.TEMPLATE, Kind.STRING):
                    table = (place - 1, place + 1)
                    place += 1
            continue
        break
    if place not in pairs or found[place].text != "(" or (place + 1 == pairs[place]):
        return None
    end = pairs[place]
    parts = _split(found, pairs, place + 1, end)
    first = found[parts[0][0] : parts[0][1]]
    if not any(t.kind in (Kind.STRING, Kind.TEMPLATE) for t in first[:1]) and len(parts) < 2 and not inner:
        return None
    fixed = len(first) == 1 and first[0].kind is Kind.STRING
    title = first[0].text if fixed or (len(first) == 1 and first[0].kind is Kind.TEMPLATE) else "${name}"
    title = title[1:-1] if title.startswith("`") and not fixed else title
    rest = parts[1:]
    marks += _options(found, pairs, rest)
    suite = bool(set(marks) & _SUITES)
    dynamic = not fixed or table is not None or any(p.dynamic for p in around)
    body = found[rest[0][0] : rest[-1][1]] if rest else ()
    silencers = [m for m in marks if m in _SILENT | _FOCUSED] + [s for p in around for s in p.silencers]
    test = ScriptTest(
        names=(*(around[-1].names if around else ()), title),
        dynamic=dynamic,
        suite=suite,
        line=found[index].line,
        silencers=tuple(dict.fromkeys(silencers)),
        body=normalised(body),
        words=Counter(t.text for t in body if t.kind is not Kind.MARK),
        reach=_reach(found, around) if dynamic and not suite else Counter(),
        rows=_rows(found, pairs, table) if table else (),
        assertions=() if suite else _assertions(body),
        swallows=not suite and _swallows(body),
        hollow="" if suite or not rest else _hollow(body),
        part=() if suite else body,
        start=rest[0][0] if rest else 0,
    )
    callbacks = {t.text for t in body[:24]}
    return end, test, not suite and bool(callbacks & _CONTEXTS)


def _reach(found: tuple[Token, ...], around: list[ScriptTest]) -> Counter[str]:
    if around:
        return around[-1].words
    return Counter(t.text for t in found if t.kind is not Kind.MARK)


def _split(found: tuple[Token, ...], pairs: dict[int, int], start: int, end: int) -> list[tuple[int, int]]:
    """Arguments between `start` and `end`, as ranges."""
    parts, first, index = [], start, start
    while index < end:
        if found[index].text == "," and found[index].kind is Kind.MARK:
            parts.append((first, index))
            first = index + 1
        index = pairs.get(index, index) + 1
    if first < end:
        parts.append((first, end))
    return parts or [(start, end)]


def _options(found: tuple[Token, ...], pairs: dict[int, int], parts: list[tuple[int, int]]) -> list[str]:
    """Names of the options object of node:test and vitest that are not `false`."""
    marks = []
    for start, end in parts:
        if found[start].text != "{" or pairs.get(start) != end - 1:
            continue
        for first, last in _split(found, pairs, start + 1, end - 1):
            if last > first and found[first].text in _SILENT | _FOCUSED and found[last - 1].text != "false":
                marks.append(found[first].text)
    return marks


def _rows(found: tuple[Token, ...], pairs: dict[int, int], table: tuple[int, int]) -> tuple[str, ...]:
    start, end = table
    inside = found[start + 1 : end]
    if inside and inside[0].text == "[" and pairs.get(start + 1) == end - 1:
        return tuple(normalised(found[a:b]) for a, b in _split(found, pairs, start + 2, end - 1) if b > a)
    if len(inside) == 1 and inside[0].kind in (Kind.TEMPLATE, Kind.STRING):
        return tuple(" ".join(row.split()) for row in inside[0].text.strip("`").splitlines()[1:] if row.strip())
    return (normalised(inside),)


def normalised(part: tuple[Token, ...]) -> str:
    """Tokens as one text to compare: one mark between them, strings as their value, no semicolon, no trailing comma."""
    words: list[str] = []
    for token in part:
        if token.text == ";" and token.kind is Kind.MARK:
            continue
        if token.text in (")", "]", "}") and words and words[-1] == ",":
            words.pop()
        words.append(f'"{token.text}"' if token.kind is Kind.STRING else token.text)
    if words and words[-1] == ",":
        words.pop()
    return "\x1f".join(words)


def _hollow(body: tuple[Token, ...]) -> str:
    """Why a test cannot fail, as far as its own text shows."""
    start = next((i for i, t in enumerate(body) if t.text in ("=>", "function", "async")), None)
    if start is None:
        return ""
    brace = next((i for i in range(start, len(body)) if body[i].text == "{" and body[i].kind is Kind.MARK), None)
    arrow = next((i for i, t in enumerate(body) if t.text == "=>"), None)
    if brace is None or (arrow is not None and brace > arrow + 1):
        inside = body[(arrow if arrow is not None else start) + 1 :]
    else:
        end = closing(body).get(brace)
        inside = body[brace + 1 : end] if end is not None else ()
        if end is None:
            return ""
    meaning = [t for t in inside if t.kind is not Kind.MARK and t.text not in ("await", "return", "async")]
    if not meaning:
        return "empty"
    text = normalised(inside)
    if "expect\x1f.\x1fassertions\x1f(\x1f0\x1f)" in text:
        return "none_expected"
    return "constant" if _constant(inside) else ""


def _constant(inside: tuple[Token, ...]) -> bool:
    """Every statement is `expect(literal).matcher(literal)` or `assert.x(literal, literal)`."""
    names = [t for t in inside if t.kind is Kind.NAME and t.text not in _WORDS | {"await", "return"}]
    calls = {"expect", "assert"}
    if not names or names[0].text not in calls:
        return False
    before = ""
    for token in inside:
        if token.kind is Kind.NAME and token.text not in _WORDS | calls | {"await", "return"} and before != ".":
            return False
        before = token.text
    return any(t.kind in _LITERALS or t.text in _WORDS for t in inside)


def _assertions(body: tuple[Token, ...]) -> tuple[tuple[str, str, str], ...]:
    """`expect(a).not.toBe(b)` is (a, not.toBe, b); `assert.equal(a, b)` is (a, assert.equal, b)."""
    pairs = closing(body)
    out = []
    for index, token in enumerate(body):
        if token.kind is not Kind.NAME or token.text not in ("expect", "assert") or index + 1 >= len(body):
            continue
        place, names, calls = index + 1, [], []
        while place < len(body):
            if body[place].text == "(" and place in pairs:
                calls.append((place, pairs[place]))
                place = pairs[place] + 1
            elif body[place].text == "." and place + 1 < len(body):
                names.append(body[place + 1].text)
                place += 2
            else:
                break
        if not calls:
            continue
        if token.text == "expect":
            if len(calls) < 2 and not names:
                continue
            subject = normalised(body[calls[0][0] + 1 : calls[0][1]])
            expected = normalised(body[calls[1][0] + 1 : calls[1][1]]) if len(calls) > 1 else ""
            out.append((subject, ".".join(names), expected))
        else:
            parts = _split(body, pairs, calls[0][0] + 1, calls[0][1])
            subject, expected = (normalised(body[a:b]) for a, b in [*parts, (0, 0)][:2])
            out.append((subject, ".".join(["assert", *names]), expected))
    return tuple(out)


def _swallows(body: tuple[Token, ...]) -> bool:
    """An assertion stands in a `try` whose `catch` neither asserts nor throws, or its promise ends in an empty `catch`."""
    pairs = closing(body)
    for index, token in enumerate(body):
        if token.text != "catch" or token.kind is not Kind.NAME:
            continue
        place = index + 1
        if place in pairs and index and body[index - 1].text == ".":
            inside, tried = body[place + 1 : pairs[place]], body[:index]
        else:
            if place in pairs and body[place].text == "(":
                place = pairs[place] + 1
            start = next((a for a, b in pairs.items() if b == index - 1), None)
            if place not in pairs or start is None:
                continue
            inside, tried = body[place + 1 : pairs[place]], body[start : index - 1]
        said = {t.text for t in inside if t.kind is Kind.NAME}
        if any(t.text in ("expect", "assert") for t in tried) and not said & {
            "expect",
            "assert",
            "throw",
            "fail",
            "reject",
            "done",
        }:
            return True
    return False


def _imports(found: tuple[Token, ...]) -> tuple[str, ...]:
    names = []
    for index, token in enumerate(found[:-1]):
        if token.kind is not Kind.NAME or token.text not in (
            "from",
            "import",
            "require",
            "importActual",
            "requireActual",
        ):
            continue
        after = found[index + 1]
        if after.text == "(" and index + 2 < len(found):
            after = found[index + 2]
        if after.kind is Kind.STRING:
            names.append(after.text)
    return tuple(dict.fromkeys(names))


def _mocked(found: tuple[Token, ...]) -> tuple[tuple[str, int], ...]:
    out = []
    for index in range(2, len(found) - 2):
        token = found[index]
        if (
            token.text in ("mock", "doMock", "unstable_mockModule", "setMock", "module")
            and found[index - 1].text == "."
            and found[index - 2].text in ("jest", "vi", "vitest", "mock")
            and found[index + 1].text == "("
            and found[index + 2].kind is Kind.STRING
        ):
            out.append((found[index + 2].text, token.line))
    return tuple(out)


def _pattern(name: str) -> str:
    """A fixed text with gaps; with many gaps only its beginning is fixed, so that matching takes no long time."""
    parts = [p for p in _PLACEHOLDER_SPLIT.split(name) if p]
    gaps = [i for i, p in enumerate(parts) if _PLACEHOLDER.fullmatch(p)]
    if len(gaps) > _MAX_GAPS:
        return "".join(re.escape(p) for p in parts[: gaps[0]]) + ".*"
    return "".join(".*?" if i in gaps else re.escape(p) for i, p in enumerate(parts))
