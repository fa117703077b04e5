"""What the names of a JavaScript module stand for: who binds, replaces and exports them, and how far each binding reaches.

A reading for comparison, not a resolver: what is bound in more than one way, or in a way that is not known, is plain to
nobody, and is said to be so.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache

from gatekeeper.formats.javascript_exports import ALL, DEFAULT, exports, loaded, patches
from gatekeeper.formats.javascript_reach import value_end
from gatekeeper.formats.javascript_tokens import Kind, Token, closing, tokens
from gatekeeper.records import dataclass, field

_DECLARES = ("const", "let", "var")
_MAX_PATTERN = 200
"""Tokens of one pattern or list of parameters that are looked at."""
_MAX_STEPS = 60
"""Tokens and brackets of one value that are looked at."""
_MAX_BOUND = 100
"""Places that bind one name; what is bound more often is plain to nobody anyhow."""
_NO_METHOD = {"if", "for", "while", "switch", "catch", "function", "with", "return", "await", "of", "in"}
_NO_NAMES = {"async", "await", "static", "get", "set", "function", "typeof", "true", "false", "null", "undefined", "this", "new"}  # fmt: skip


class How(StrEnum):
    """How a name is bound."""

    FUNCTION = "function"
    VALUE = "value"
    PATTERN = "pattern"
    IMPORT = "import"
    PARAMETER = "parameter"
    ASSIGNED = "assigned"


@dataclass(frozen=True, slots=True)
class Binding:
    """One place where a name is bound."""

    how: How
    start: int
    """First token of the value; of a function that of its parameters."""
    end: int
    scope: tuple[int, int]
    """Tokens between which it holds."""
    line: int
    module: str = ""
    imported: str = ""
    """Name in that module; `*` for all of it."""
    later: bool = False
    """Its promise must be waited for."""
    has_default: bool = False


_Add = Callable[[str, Binding], None]


@dataclass(frozen=True)
class ScriptNames:
    """The names of one module."""

    found: tuple[Token, ...] = ()
    pairs: dict[int, int] = field(default_factory=dict)
    bound: dict[str, tuple[Binding, ...]] = field(default_factory=dict)
    exports: dict[str, tuple[int, ...]] = field(default_factory=dict)
    """Exported name -> index of the local name or value, one for each time that it is exported."""
    passed_on: tuple[tuple[str, str, str], ...] = ()
    """(exported name, module, name there) of `export ... from`."""
    patched: tuple[tuple[str, str, int], ...] = ()
    """(object or module, member, line) of members that it puts something else in the place of; `*` for any member."""

    def at(self, name: str, index: int) -> tuple[Binding, ...]:
        """All that binds `name` in the innermost scope around `index` that binds it."""
        around = [b for b in self.bound.get(name, ()) if b.scope[0] <= index <= b.scope[1]]
        own = [b for b in around if b.how is not How.ASSIGNED]
        if not own:
            return tuple(around)
        inner = max(own, key=lambda b: b.scope[0]).scope
        here = [b for b in own if b.scope == inner]
        for one in self.bound.get(name, ()):
            if one.how is How.ASSIGNED and inner[0] <= one.start <= inner[1]:
                nearer = [b for b in own if b.scope[0] > inner[0] and b.scope[0] <= one.start <= b.scope[1]]
                here += [one] if not nearer else []
        return tuple(here)

    def plain(self, name: str, index: int) -> Binding | None:
        """The one thing that `name` stands for at `index`; None for several or none."""
        here = self.at(name, index)
        return here[0] if len(here) == 1 else None


@lru_cache(maxsize=128)
def read_names(source: str) -> ScriptNames:
    """Read a module. Never raises; a text over the cap of `tokens` has no names."""
    found = tokens(source)
    pairs = closing(found)
    scopes = _scopes(found, pairs)
    bound: dict[str, list[Binding]] = {}
    whole = (0, len(found))

    def add(name: str, binding: Binding) -> None:
        here = bound.setdefault(name, [])
        if name not in _NO_NAMES and len(here) < _MAX_BOUND:
            here.append(binding)

    for index, token in enumerate(found):
        if token.kind is Kind.NAME:
            before = found[index - 1].text if index else ""
            if before == ".":
                continue
            if token.text == "function":
                _function(found, pairs, scopes, index, add)
            elif token.text in _DECLARES:
                _declared(found, pairs, scopes, index, add)
            elif token.text == "import" and before != "=":
                for name, other, module in _imported(found, index):
                    add(name, Binding(How.IMPORT, index, index, whole, token.line, module, other))
            elif found[index + 1 : index + 2] and found[index + 1].text == "=" and _assigns(found, index):
                end = min(index + 2 + _MAX_STEPS, len(found))
                add(token.text, Binding(How.ASSIGNED, index + 2, end, whole, token.line))
        elif token.text == "=>" and index:
            _parameters(found, pairs, index, add)
        elif token.text == "{" and index and found[index - 1].text == ")" and index in pairs:
            _method(found, pairs, index, add)
        elif token.text in ("{", "[") and index in pairs and pairs[index] + 1 < len(found) and found[pairs[index] + 1].text == "=":  # fmt: skip
            before = found[index - 1].text if index else ""
            if before in (";", "{", "}", "(", "") and token.kind is Kind.MARK:
                for name in _pattern(found, index, pairs[index]):
                    add(name, Binding(How.ASSIGNED, index, index, whole, token.line))
    given, passed_on = exports(found, pairs)
    return ScriptNames(
        found, pairs, {n: tuple(b) for n, b in bound.items()}, given, passed_on, tuple(patches(found, pairs))
    )


def _assigns(found: tuple[Token, ...], index: int) -> bool:
    """The `=` behind a name is no declaration, and no default of a pattern or parameter: a block may stand around it."""
    before = found[index - 1].text if index else ""
    if before not in (*_DECLARES, ",", "{", "[", "type", "("):
        return True
    return index > 1 and found[index - 1].text == "{" and found[index - 2].text in ("=>", ")", "else", "try", "finally")


def _scopes(found: tuple[Token, ...], pairs: dict[int, int]) -> list[tuple[int, int]]:
    """The innermost braces around each token; the module for none."""
    out: list[tuple[int, int]] = []
    open_ = [(0, len(found))]
    for index, token in enumerate(found):
        while len(open_) > 1 and index > open_[-1][1]:
            open_.pop()
        out.append(open_[-1])
        if token.text == "{" and token.kind is Kind.MARK and index in pairs:
            open_.append((index, pairs[index]))
    return out


def _pattern(found: tuple[Token, ...], start: int, end: int) -> list[str]:
    """Names that a pattern or a list of parameters binds: no keys, no defaults, no types."""
    names = []
    for at in range(start, min(end + 1, start + _MAX_PATTERN)):
        after = found[at + 1].text if at + 1 < len(found) else ""
        before = found[at - 1].text if at else ""
        if found[at].kind is Kind.NAME and before not in (".", "=", "?", "|", "&", "<") and (after in (",", "=", "}", "]", ")", "=>", "?") or at == end or after == ":"):  # fmt: skip
            names.append(found[at].text)
    return names


def _params(found: tuple[Token, ...], pairs: dict[int, int], start: int, body: int, add: _Add) -> None:
    """Parameters between the bracket at `start` and its partner hold in the function whose body begins at `body`."""
    end = pairs.get(start, start)
    last = pairs.get(body) if body < len(found) and found[body].text == "{" else None
    scope = (body, last if last is not None else value_end(found, pairs, body, _MAX_STEPS))
    for at in range(start, min(end + 1, start + _MAX_PATTERN)):
        token = found[at]
        after = found[at + 1].text if at + 1 < len(found) else ""
        before = found[at - 1].text if at else ""
        if token.kind is Kind.NAME and (before in ("(", ",", "{", "[", "...", ":") or at == start) and after in (",", ")", "=", "]", "}", ":", "=>", "?"):  # fmt: skip
            add(token.text, Binding(How.PARAMETER, at, at, scope, token.line, has_default=after == "="))


def _parameters(found: tuple[Token, ...], pairs: dict[int, int], arrow: int, add: _Add) -> None:
    start = arrow - 1
    if found[start].text == ")":
        start = next((a for a in range(start, max(-1, start - _MAX_PATTERN), -1) if pairs.get(a) == arrow - 1), start)
    _params(found, pairs, start, arrow + 1, add)


def _method(found: tuple[Token, ...], pairs: dict[int, int], brace: int, add: _Add) -> None:
    close = brace - 1
    start = next((a for a in range(close, max(-1, close - _MAX_PATTERN), -1) if pairs.get(a) == close), -1)
    if start > 0 and found[start - 1].text not in _NO_METHOD - {"catch", "function"}:
        _params(found, pairs, start, brace, add)


def function_end(found: tuple[Token, ...], pairs: dict[int, int], start: int) -> int:
    """Behind the body of a function whose parameters begin at `start` (or `async`, `function` before them)."""
    at = start
    while at < len(found) and at - start < 8 and found[at].text != "(" and found[at].text != "=>":
        at += 1
    if at < len(found) and found[at].text == "(":
        at = pairs.get(at, at) + 1
    arrow = at
    while arrow < len(found) and arrow - at < 40 and found[arrow].text not in ("=>", "{", ";"):
        arrow += 1
    if arrow < len(found) and found[arrow].text == "=>":
        at = arrow + 1
        if at < len(found) and found[at].text == "{":
            return pairs.get(at, at) + 1
        return value_end(found, pairs, at, _MAX_STEPS)
    while at < len(found) and at - start < 400 and found[at].text not in ("{", ";"):
        at += 1
    return pairs.get(at, at) + 1 if at < len(found) and found[at].text == "{" else at


def _function(found: tuple[Token, ...], pairs: dict[int, int], scopes: list[tuple[int, int]], index: int, add: _Add) -> None:  # fmt: skip
    at = index + 1
    at += at < len(found) and found[at].text == "*"
    if at >= len(found) or found[at].kind is not Kind.NAME:
        return
    end = function_end(found, pairs, at + 1)
    if found[end - 1].text != "}" if end > at else True:
        return  # an overload: no body
    later = index > 0 and found[index - 1].text == "async"
    binding = Binding(How.FUNCTION, at + 1, end, scopes[index], found[index].line, later=later)
    add(found[at].text, binding)


def _declared(found: tuple[Token, ...], pairs: dict[int, int], scopes: list[tuple[int, int]], index: int, add: _Add) -> None:  # fmt: skip
    at = index + 1
    if at + 1 >= len(found):
        return
    line, scope = found[index].line, scopes[index]
    if found[at].text in ("{", "[") and at in pairs:
        close = pairs[at]
        start = close + 2
        module = loaded(found, start) if start < len(found) and found[close + 1].text == "=" else ""
        names = found[at + 1 : close]
        for offset, token in enumerate(names[:_MAX_PATTERN]):
            after = names[offset + 1].text if offset + 1 < len(names) else ","
            before = names[offset - 1].text if offset else ","
            if token.kind is not Kind.NAME or after not in (",", "=", "}", "]") or before in (".", "="):
                continue
            key = names[offset - 2].text if before == ":" and offset > 1 else token.text
            how = How.IMPORT if module else How.PATTERN
            add(token.text, Binding(how, at, close, scope, line, module, key if module else ""))
        return
    while at < len(found) and found[at].kind is Kind.NAME:
        name, place = found[at].text, at + 1
        if place < len(found) and found[place].text == ":":  # a type
            while place < len(found) and found[place].text not in ("=", ";") and place - at < _MAX_PATTERN:
                place = pairs.get(place, place) + 1
        if place >= len(found) or found[place].text != "=":
            end = place
            add(name, Binding(How.VALUE, place, place, scope, line))
        else:
            start, end = place + 1, value_end(found, pairs, place + 1, _MAX_STEPS)
            module = loaded(found, start)
            if module:
                rest = [t.text for t in found[start:end]]
                member = rest[-1] if len(rest) > 2 and rest[-2] == "." else ALL
                add(name, Binding(How.IMPORT, start, end, scope, line, module, member))
            else:
                later = start < len(found) and found[start].text == "async"
                add(name, Binding(How.VALUE, start, end, scope, line, later=later))
        if end < len(found) and found[end].text == "," and end + 1 < len(found):
            at = end + 1
        else:
            return


def _imported(found: tuple[Token, ...], index: int) -> list[tuple[str, str, str]]:
    """(local name, name in the module, module) of an import statement."""
    at = index + 1
    end = at
    while end < len(found) and end - at < _MAX_PATTERN and found[end].text not in ("from", ";", "("):
        end += 1
    if end + 1 >= len(found) or found[end].text != "from" or found[end + 1].kind is not Kind.STRING:
        return []
    module, out, braces = found[end + 1].text, [], False
    while at < end:
        text = found[at].text
        if text in ("{", "}"):
            braces = text == "{"
        elif text == "*" and at + 2 < end:
            out.append((found[at + 2].text, ALL, module))
            at += 2
        elif found[at].kind is Kind.NAME and not (
            text == "type" and found[at + 1].text not in (",", "}", "from", "as")
        ):
            if braces and at + 2 < end and found[at + 1].text == "as":
                out.append((found[at + 2].text, text, module))
                at += 2
            else:
                out.append((text, text if braces else DEFAULT, module))
        at += 1
    return out
