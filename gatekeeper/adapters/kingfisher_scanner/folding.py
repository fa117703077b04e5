"""Texts that an expression of constants makes in a source file of any language: names bound to literals, sums, templates,
joins and formats. A token put together from a named prefix and a rest has its shape nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

MOST = 400_000
"""Characters of one text that are read; what stands behind them has the other readings."""
LEAST = 16
"""Characters of a text worth telling: no token is shorter."""
LONGEST = 4000
"""Characters of one folded text; what is longer is prose or data."""
_DEPTH = 6
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(\r?\n))")
_HOLE = re.compile(r"%[sv]|\{(?:\d|\w+)?\}")
_KEPT_BY = frozenset(
    [
        "encode",
        "decode",
        "strip",
        "trim",
        "lstrip",
        "rstrip",
        "toString",
        "to_string",
        "to_owned",
        "into",
        "clone",
        "String",
    ]
)
_FORMATS = frozenset(["Sprintf", "Sprint", "sprintf", "format", "Join"])

Token = tuple[str, str, int]
"""(kind, text, offset): kind is `text` (a plain literal), `template`, `name`, or the sign itself."""
Folded = tuple[str, int, int]
"""(text, parts it was made of, index of the token behind it)."""


def folded_texts(source: str) -> Iterator[tuple[int, str]]:
    """(offset, text) of each expression of several parts, or of escapes, that makes one text. Linear in the source."""
    if _drawn().search(source, 0, MOST) and _combining().search(source, 0, MOST):
        yield from _Reader(list(_tokens(source[:MOST]))).read()


@cache
def _drawn() -> re.Pattern[str]:
    """A literal that begins with letters and digits mixed, as a part of a token does."""
    return re.compile(
        r"""(?<=["'`}])(?=[A-Za-z_+/=.\\-]{0,60}\d)(?=[\d_+/=.\\-]{0,60}[A-Za-z])[\w+/=.\\-]{6,}""", re.ASCII
    )


@cache
def _combining() -> re.Pattern[str]:
    """Signs without which nothing is put together: most data files have none."""
    return re.compile(
        r"""["'`]\s*(?:\\\s*)?[+%]|[+%]\s*\(?\s*[bfrBFR]{0,2}["'`]|\+=|["'`\])]\s*\.\s*(?:join|format|concat)\b|["'`]\s*\.\s*["'$]|\w\s*\.\s*["']"""
        r"""|\[::-1|[$#]\{|\$[A-Za-z_]|\b[fF][rR]?["'].{0,300}?\{|\b(?:Sprintf?|sprintf|Join|concat|define)\b|\b\w+\s["']|["']\s+["']|\\x[2-7]|\\u00[2-7]"""
    )


@cache
def _grammar() -> re.Pattern[str]:
    return re.compile(
        r"(?P<comment>(?:^|(?<=\s))#(?=[\s!])[^\n]*|(?<!:)//[^\n]*|/\*.{0,2000}?\*/)"
        r"|(?P<prefix>[bBfFrRuU]{1,2}(?=[\"']))?(?:(?P<long>\"\"\".{0,4000}?\"\"\"|'''.{0,4000}?''')"
        r"|(?P<short>\"(?:\\(?:\r\n|.)|[^\"\\\n])*\"|'(?:\\(?:\r\n|.)|[^'\\\n])*')|(?P<tick>`(?:\\.|[^`\\]){0,4000}`))"
        r"|(?P<name>\$?[A-Za-z_]\w*)|(?P<sign>:=|\+=|==|=>|[^\s\w])|(?P<number>\d+)|(?P<line>\n)",
        re.DOTALL | re.MULTILINE,
    )


def _tokens(source: str) -> Iterator[Token]:
    for found in _grammar().finditer(source):
        kind = found.lastgroup
        body = found.group()
        if kind in ("comment", "prefix"):
            continue
        if kind in ("long", "short", "tick"):
            prefix = (found.group("prefix") or "").lower()
            quotes = 3 if kind == "long" else 1
            inner = found.group(kind)[quotes:-quotes]
            if "r" not in prefix and "\\" in inner:
                plain = _ESCAPE.sub(lambda e: chr(int(e[1] or e[2], 16)) if not e[3] else "", inner)
                if plain != inner:
                    # Two literals: a text that is read otherwise than it is written is told as a sum is.
                    yield "text", "", found.start()
                    inner = plain
            template = "f" if "f" in prefix else "template"
            yield (template if "{" in inner or "$" in inner else "text"), inner, found.start()
        elif kind == "sign":
            yield body, body, found.start()
        elif kind is not None:
            yield kind, body, found.start()


class _Reader:
    """Reads the tokens in order, so that a name has the value it was bound to last; a second time for names bound below."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._bound: dict[str, str] = {}
        self._failed: set[int] = set()
        """Places of lists known to hold something else than constants: nested ones would be read again and again."""

    def read(self) -> Iterator[tuple[int, str]]:
        seen: set[tuple[int, str]] = set()
        for _ in range(2):
            at = 0
            self._failed.clear()
            while at < len(self._tokens):
                found = self._chain(at, 0) if self._starts(at) else None
                if found is None:
                    at += 1
                    continue
                value, parts, end = found
                if (grown := self._bind(at, value)) is not None:
                    value, parts = grown, 2
                key = (self._tokens[at][2], value)
                if parts > 1 and LEAST <= len(value) <= LONGEST and key not in seen:
                    seen.add(key)
                    yield key
                at = max(end, at + 1)

    def _starts(self, at: int) -> bool:
        kind = self._tokens[at][0]
        return kind in ("text", "template", "f", "name", "(", "[")

    def _kind(self, at: int) -> str:
        return self._tokens[at][0] if 0 <= at < len(self._tokens) else ""

    def _text(self, at: int) -> str:
        return self._tokens[at][1] if 0 <= at < len(self._tokens) else ""

    def _skip(self, at: int) -> int:
        while self._kind(at) == "line":
            at += 1
        return at

    def _bind(self, at: int, value: str) -> str | None:
        """Bind the name in front of a value: `NAME = `, `NAME: str = `, `var name string = `, `name := `, `name: `.

        Gives what a name has become that grew by the value.
        """
        sign = at - 1
        while self._kind(sign) in ("line", "("):
            sign -= 1
        kind = self._kind(sign)
        if kind not in ("=", ":=", "+=", ":") or len(value) > LONGEST:
            # A preprocessor's constant has no sign: `#define NAME "..."`.
            if self._kind(sign) == "name" and self._text(sign - 1) == "define":
                self._bound[self._text(sign)] = value
            return None
        back = sign - 1
        if self._kind(back) == "]":  # a type such as `char name[]`
            back -= 2
        for _ in range(3):
            if self._kind(back) in ("name", "text"):
                name = self._text(back)
                self._bound[name] = self._bound.get(name, "") + value if kind == "+=" else value
                if len(self._bound[name]) > LONGEST:
                    del self._bound[name]
                if kind == "+=":
                    return self._bound.get(name)
            elif self._kind(back) != ":":
                return None
            back -= 1
        return None

    def _chain(self, at: int, depth: int) -> Folded | None:
        first = self._operand(at, depth)
        if first is None:
            return None
        value, parts, end = first
        while len(value) <= LONGEST:
            sign = self._skip(end) if depth or self._kind(self._skip(end)) in ("+", ".", "\\") else end
            if self._kind(sign) == "\\" and self._kind(self._skip(sign + 1)) == "+":
                sign = self._skip(sign + 1)
            kind = self._kind(sign)
            following = self._skip(sign + 1) if kind in ("+", ".", "\\") else sign
            if kind == "." and self._kind(following) == "name" and not self._text(following).startswith("$"):
                break  # an attribute
            if kind not in ("+", ".", "\\", "text", "template", "f"):
                break
            other = self._operand(following, depth)
            if other is None:
                break
            value, parts, end = value + other[0], parts + other[1], other[2]
        return value, parts, end

    def _operand(self, at: int, depth: int) -> Folded | None:
        kind, text = self._kind(at), self._text(at)
        found: Folded | None = None
        if depth > _DEPTH:
            return None
        if kind == "text":
            found = text, 1, at + 1
        elif kind in ("template", "f"):
            found = self._filled(text, kind == "f"), 1, at + 1
            if found[0] != text:
                found = found[0], 2, at + 1
        elif kind == "name":
            found = self._named(at, depth)
        elif kind == "(":
            inner = self._chain(self._skip(at + 1), depth + 1)
            if inner is not None and self._kind(self._skip(inner[2])) == ")":
                found = inner[0], inner[1], self._skip(inner[2]) + 1
        elif kind == "[":
            values, end = self._list(at, "]", depth)
            if values and self._kind(end) == "." and self._text(end + 1) == "join" and self._kind(end + 2) == "(":
                glue, close = self._list(end + 2, ")", depth)
                found = (("".join(glue[:1])).join(values), len(values) + 1, close) if close else None
        return self._methods(found, depth) if found is not None else None

    def _filled(self, text: str, braces: bool) -> str:
        def value(hole: re.Match[str]) -> str:
            return self._bound.get(hole[1].rsplit(".", 1)[-1], hole[0])[:LONGEST]

        if braces:
            return re.sub(r"\{([\w.]+)(?:![rs])?\}", value, text)
        return re.sub(r"[$#]\{\s*([\w.]+)\s*\}", value, re.sub(r"\$([A-Za-z_]\w*)", value, text))

    def _named(self, at: int, depth: int) -> Folded | None:
        name, end = self._text(at), at + 1
        while self._kind(end) in (".", "?") and self._kind(end + 1) == "name":
            owner, name, end = name, self._text(end + 1), end + 2
            if owner == "String":
                continue
            if self._text(end - 1) in _KEPT_BY or name in ("join", "format", "concat"):
                name, end = owner, end - 2
                break
        if self._kind(end) == "(":
            if name not in _FORMATS:
                return None
            values, close = self._list(end, ")", depth)
            if not close or not values:
                return None
            filled = _put(values[0], values[1:]) if _HOLE.search(values[0]) else "".join(values)
            return filled, len(values) + 1, close
        if self._kind(end) == "[" and self._kind(end + 1) == "text" and self._kind(end + 2) == "]":
            name, end = self._text(end + 1), end + 3
        value = self._bound.get(name)
        return None if value is None or self._kind(end) in ("=", ":=", "+=") else (value, 1, end)

    def _methods(self, found: Folded, depth: int) -> Folded:
        value, parts, end = found
        for _ in range(_DEPTH):
            if self._kind(end) == "%" and depth <= _DEPTH:
                values, close = self._list(end + 1, ")", depth) if self._kind(end + 1) == "(" else ([], 0)
                if not close and (single := self._operand(end + 1, depth + 1)):
                    values, close = [single[0]], single[2]
                if not close:
                    break
                value, parts, end = _put(value, values), parts + 1, close
            elif self._kind(end) == "[" and "".join(self._text(n) for n in range(end, end + 6)).startswith("[::-1]"):
                value, parts = value[::-1], parts + 1
                end = next(n for n in range(end, end + 6) if self._kind(n) == "]") + 1
            elif self._kind(end) == "." and self._kind(end + 2) == "(":
                method = self._text(end + 1)
                values, close = self._list(end + 2, ")", depth)
                if not close or method not in _KEPT_BY | {"join", "format", "concat"}:
                    break
                if method == "join":
                    value, parts = value.join(values), parts + len(values)
                elif method == "format":
                    value, parts = _put(value, values), parts + 1
                elif method == "concat":
                    value, parts = value + "".join(values), parts + 1
                end = close
            else:
                break
        return value[: LONGEST + 1], parts, end

    def _list(self, at: int, closing: str, depth: int) -> tuple[list[str], int]:
        """Texts of `( a, b, ...)` or of a list within it, and the token behind it; 0 where something is no constant."""
        if depth > _DEPTH or at in self._failed:
            return [], 0
        values: list[str] = []
        place = self._skip(at + 1)
        while self._kind(place) != closing:
            if self._kind(place) == "name" and self._kind(place + 1) == "=":
                place += 2  # a keyword
            inner, end = self._inner(place, depth + 1)
            if not end:
                found = self._chain(place, depth + 1)
                inner, end = ([found[0]], found[2]) if found is not None else ([], 0)
            values += inner
            place = self._skip(end)
            if end and self._kind(place) == ",":
                place = self._skip(place + 1)
            elif not end or self._kind(place) != closing:
                self._failed.add(at)
                return [], 0
        return values, place + 1

    def _inner(self, at: int, depth: int) -> tuple[list[str], int]:
        """A list among the arguments: `[a, b]`, `(a, b)` and `[]string{a, b}`."""
        if self._kind(at) == "[" and self._kind(at + 1) == "]":
            opener = next((n for n in range(at + 2, at + 4) if self._kind(n) == "{"), 0)
            return self._list(opener, "}", depth) if opener else ([], 0)
        closing = {"[": "]", "(": ")"}.get(self._kind(at))
        values, end = self._list(at, closing, depth) if closing else ([], 0)
        # A sum in brackets, or one that goes on, is no list.
        return (values, end) if self._kind(self._skip(end)) in (",", ")", "]", "}") else ([], 0)


def _put(template: str, values: list[str]) -> str:
    """The template with its holes filled in their order."""
    left = iter(values)
    return _HOLE.sub(lambda hole: next(left, hole[0])[:LONGEST], template)
