"""JavaScript and TypeScript as tokens: enough to find calls and to compare their bodies, never run, never fully parsed.

It is a reading for comparison, not a grammar: what it misreads (markup text, a regular expression after a brace) it
misreads the same way in both versions. Linear in the size of the text, and it accepts every text.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache

from gatekeeper.domain.languages import SCRIPT_EXTENSIONS
from gatekeeper.records import dataclass

MAX_CHARACTERS = 400_000
EXTENSIONS = SCRIPT_EXTENSIONS

_BEFORE_EXPRESSION = {
    "return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "instanceof", "await", "yield", "else",
    "do", "extends",
}  # fmt: skip
_PUNCTUATION = re.compile(
    r"\?\.(?!\d)|\.\.\.|=>|===|!==|\*\*=|<<=|>>>=|>>=|&&=|\|\|=|\?\?=|==|!=|<=|>=|&&|\|\||\?\?|\+\+|--|\+=|-=|\*=|/=|%=|.",
    re.DOTALL,
)
_SPACE = re.compile(r"\s+|//[^\n]*|/\*.*?(?:\*/|\Z)|\A#![^\n]*", re.DOTALL)
_NAME = re.compile(r"[#@]?[\w$\u0080-\U0010ffff]+")
_NUMBER = re.compile(r"(?:0[xXbBoO][\da-fA-F_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?)n?")
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_REGEX = re.compile(r"/(?![*/])(?:[^\\/\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
_INNER = re.compile(r"`(?:[^`\\]|\\.)*`", re.DOTALL)
_ESCAPE = re.compile(r"\\(u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|\r?\n|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}


class Kind(StrEnum):
    """What a token is."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    TEMPLATE = "template"
    REGEX = "regex"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Token:
    """One token. `text` of a string is its value, of everything else what stands there."""

    kind: Kind
    text: str
    line: int


@lru_cache(maxsize=8)
def tokens(source: str) -> tuple[Token, ...]:
    """All tokens of `source`, comments and white space left out; of a text over the cap none."""
    if len(source) > MAX_CHARACTERS:
        return ()
    found: list[Token] = []
    broken: dict[str, int] = {}
    at, line = 0, 1
    while at < len(source):
        match = _SPACE.match(source, at)
        if match is None:
            kind, end = _next(source, at, found[-1] if found else None, broken)
            raw = source[at:end]
            text = _value(raw[1:-1]) if kind is Kind.STRING else raw
            if kind is Kind.TEMPLATE and "${" not in raw and len(raw) > 1:
                kind, text = Kind.STRING, _value(raw[1:-1])
            found.append(Token(kind, text, line))
        else:
            end = match.end()
        line += source.count("\n", at, end)
        at = end
    return tuple(found)


def _next(source: str, at: int, before: Token | None, broken: dict[str, int]) -> tuple[Kind, int]:
    """Kind and end of the token at `at`. `broken` says up to where a literal of a kind is known not to end on its line."""
    char = source[at]
    if char in "'\"":
        if match := _on_line(_STRING, source, at, char, broken):
            return Kind.STRING, match.end()
    elif char == "`":
        return Kind.TEMPLATE, _template_end(source, at)
    elif char == "/" and _begins_expression(before):
        if match := _on_line(_REGEX, source, at, char, broken):
            return Kind.REGEX, match.end()
    elif char.isdigit() or (char == "." and source[at + 1 : at + 2].isdigit()):
        if match := _NUMBER.match(source, at):
            return Kind.NUMBER, match.end()
    elif match := _NAME.match(source, at):
        return Kind.NAME, match.end()
    match = _PUNCTUATION.match(source, at)
    return Kind.MARK, match.end() if match else at + 1


def _on_line(pattern: re.Pattern[str], source: str, at: int, char: str, broken: dict[str, int]) -> re.Match[str] | None:
    """A literal that must end on its line; a line is looked through once for each kind, so that no text takes long."""
    if at < broken.get(char, 0):
        return None
    match = pattern.match(source, at)
    if match is None:
        end = source.find("\n", at)
        broken[char] = len(source) if end < 0 else end
    return match


def _begins_expression(before: Token | None) -> bool:
    if before is None:
        return True
    if before.kind is Kind.MARK:
        return before.text not in (")", "]", "}", "<", "++", "--")
    return before.kind is Kind.NAME and before.text in _BEFORE_EXPRESSION


def _template_end(source: str, at: int) -> int:
    """Behind the closing back-tick; what stands in `${}` may hold templates again."""
    depths: list[int] = []  # of braces, one for each `${` that is open
    inside, place = True, at + 1
    while place < len(source):
        char = source[place]
        if inside:
            if char == "\\":
                place += 1
            elif char == "`":
                return place + 1
            elif source.startswith("${", place):
                depths.append(0)
                inside = False
                place += 1
        elif char == "`":
            place = _template_end_flat(source, place) - 1
        elif char == "{":
            depths[-1] += 1
        elif char == "}":
            if depths[-1] == 0:
                depths.pop()
                inside = True
            else:
                depths[-1] -= 1
        place += 1
    return len(source)


def _template_end_flat(source: str, at: int) -> int:
    """As `_template_end` for a template inside another one: to the next back-tick that is not escaped."""
    match = _INNER.match(source, at)
    return match.end() if match else len(source)


def _value(raw: str) -> str:
    """A string's value; what is no escape of the language stays as it stands."""

    def plain(match: re.Match[str]) -> str:
        code = match[2] or match[3] or match[4]
        if code:
            number = int(code, 16)
            return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
        return _LETTERS.get(match[1], "" if match[1].endswith("\n") else match[1])

    return _ESCAPE.sub(plain, raw) if "\\" in raw else raw


def closing(found: tuple[Token, ...]) -> dict[int, int]:
    """Index of each opening bracket to that of its closing one; brackets without a partner are left out."""
    pairs, open_ = {}, []
    partner = {")": "(", "]": "[", "}": "{"}
    for index, token in enumerate(found):
        if token.kind is not Kind.MARK:
            continue
        if token.text in ("(", "[", "{"):
            open_.append(index)
        elif token.text in partner:
            while open_ and found[open_[-1]].text != partner[token.text]:
                open_.pop()
            if open_:
                pairs[open_.pop()] = index
    return pairs
