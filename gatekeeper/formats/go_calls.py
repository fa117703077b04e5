"""Calls and function literals in a Go function: what is handed to whom, and what never runs or is waited for by nobody."""

from __future__ import annotations

import re
from collections import Counter

from gatekeeper.formats.go_tokens import Token, closing

_WINDOW = 4_000
"""Tokens that are looked ahead for the end of one literal or call."""
_MOST = 300
_WAITS = re.compile(r"\. (?:Wait|Done|Eventually|Synctest) \(|<-|\bselect\b")
_LOSES = re.compile(
    r"(?:^|[;{}] )t (?::=|=) (?=[^;]*(?:\bt\b|testing \. [TB]\b))"
    r"|(?:^|[;{}] )(?:require|assert) := (?![^;]*\b(?:t|T|s|suite)\b)"
    r"|(?:^|[;{}] )var t "
)
_FAILING = re.compile(r"\b(?:t|tb) \. (?:Error|Errorf|Fatal|Fatalf|Fail|FailNow) \(|\b(?:require|assert) \. ")


def called(words: list[Token], index: int) -> tuple[str, str, tuple[str, ...]] | None:
    """(owner, name, arguments) of the call whose name is at `index`; None for none, and for methods of `t`."""
    if words[index].kind != "name" or index + 1 >= len(words) or words[index + 1].text != "(":
        return None
    owner = ""
    if index and words[index - 1].text == ".":
        owner = words[index - 2].text if index > 1 and words[index - 2].kind == "name" else "?"
        if owner in ("t", "tb"):
            return None
    elif index and words[index - 1].text == "func":
        return None
    end = closing(words, index + 1, _WINDOW)
    arguments: list[str] = []
    first, at = index + 2, index + 2
    while at < end and len(arguments) < 8:
        if words[at].text in ("(", "[", "{"):
            at = closing(words, at, _WINDOW)
        elif words[at].text == ",":
            arguments.append(" ".join(t.text for t in words[first:at][:40]))
            first = at + 1
        at += 1
    if first < end:
        arguments.append(" ".join(t.text for t in words[first:end][:40]))
    return owner, words[index].text, tuple(arguments)


def idle_parts(words: list[Token]) -> list[tuple[int, int]]:
    """Ranges of function literals, and of calls, that nobody runs or waits for."""
    out: list[tuple[int, int]] = []
    waits: bool | None = None
    seen = 0
    often: Counter[str] = Counter()
    for index, token in enumerate(words):
        if token.kind != "keyword" or token.text not in ("go", "func") or seen >= _MOST:
            continue
        seen += 1
        often = often or Counter(t.text for t in words)
        if token.text == "go":
            if waits is None:
                waits = _WAITS.search(" ".join(t.text for t in words)) is not None
            end = index + 1
            while end < min(len(words), index + _WINDOW) and words[end].text != ";":
                end = closing(words, end, _WINDOW) + 1 if words[end].text in ("(", "{", "[") else end + 1
            if not waits:
                out.append((index, end))
        elif token.text == "func" and index > 1 and words[index - 1].text in ("=", ":="):
            name = words[index - 2].text
            if name != "_" and (words[index - 2].kind != "name" or often[name] > 1):
                continue
            brace = next((i for i in range(index, min(index + 200, len(words))) if words[i].text == "{"), 0)
            if brace:
                out.append((index, closing(words, brace, _WINDOW)))
    return out


def wrapping(words: list[Token]) -> list[str]:
    """Names of functions of the package to which a literal that can fail the test is handed."""
    out: list[str] = []
    seen = 0
    for index, token in enumerate(words):
        if token.kind != "name" or index + 1 >= len(words) or words[index + 1].text != "(" or seen >= _MOST:
            continue
        if index and words[index - 1].text in (".", "func"):
            continue
        seen += 1
        part = words[index + 1 : closing(words, index + 1, _WINDOW)]
        if any(t.text == "func" for t in part) and _FAILING.search(" ".join(t.text for t in part)):
            out.append(token.text)
    return out


def loses_t(body: str) -> bool:
    """A `t`, or a library's object, is put in the place of the one that the runner gave."""
    return _LOSES.search(body) is not None
