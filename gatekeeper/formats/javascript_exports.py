"""What a JavaScript module gives to others, and the members of others that it puts something else in the place of."""

from __future__ import annotations

from gatekeeper.formats.javascript_tokens import Kind, Token

_DECLARES = ("const", "let", "var")
_LOADS = ("require", "import", "importActual", "requireActual")
_ACTS = {"method", "stub", "replace", "replaceProperty", "property", "defineProperty", "getter", "setter", "redefine"}
ALL = "*"
DEFAULT = "default"


def loaded(found: tuple[Token, ...], at: int) -> str:
    """The module of `require('m')` or `await import('m')` at `at`."""
    while at < len(found) and found[at].text in ("await", "("):
        at += 1
    if at + 2 < len(found) and found[at].text in _LOADS and found[at + 1].text == "(" and found[at + 2].kind is Kind.STRING:  # fmt: skip
        return found[at + 2].text
    return ""


def exports(found: tuple[Token, ...], pairs: dict[int, int]) -> tuple[dict[str, tuple[int, ...]], tuple[tuple[str, str, str], ...]]:  # fmt: skip
    """(exported name -> indexes of its values; (name, module, name there) of what is passed on)."""
    own: dict[str, list[int]] = {}
    passed: list[tuple[str, str, str]] = []
    for index, token in enumerate(found):
        if token.kind is not Kind.NAME or (index and found[index - 1].text == "." and token.text != "exports"):
            continue
        after = [t.text for t in found[index + 1 : index + 5]]
        if token.text == "export":
            _exported(found, pairs, index, own, passed)
        elif token.text == "exports":
            if after[:1] == ["."] and after[2:3] == ["="]:
                own.setdefault(after[1], []).append(index + 4)
            elif after[:1] == ["="] and after[1:2] == ["{"]:
                for name, at in _members(found, pairs, index + 2):
                    own.setdefault(name, []).append(at)
            elif after[:1] == ["="] and (module := loaded(found, index + 2)):
                passed.append((ALL, module, ALL))
            elif after[:1] == ["="]:
                own.setdefault(DEFAULT, []).append(index + 2)
    return {n: tuple(i) for n, i in own.items()}, tuple(passed)


def _exported(found: tuple[Token, ...], pairs: dict[int, int], index: int, own: dict[str, list[int]], passed: list[tuple[str, str, str]]) -> None:  # fmt: skip
    at = index + 1
    word = found[at].text if at < len(found) else ""
    if word == "default":
        at += 1 + (at + 1 < len(found) and found[at + 1].text == "async")
        if at + 1 < len(found) and found[at].text == "function" and found[at + 1].kind is Kind.NAME:
            at += 1
        own.setdefault(DEFAULT, []).append(at)
        if at < len(found) and found[at].text == "{":
            for name, place in _members(found, pairs, at):
                own.setdefault(name, []).append(place)
    elif word == "*" and (place := next((i for i in range(at, min(at + 5, len(found))) if found[i].kind is Kind.STRING), 0)):  # fmt: skip
        passed.append((found[at + 2].text if found[at + 1].text == "as" else ALL, found[place].text, ALL))
    elif word == "{" and at in pairs:
        end = pairs[at]
        module = found[end + 2].text if end + 2 < len(found) and found[end + 1].text == "from" else ""
        place = at + 1
        while place < end:
            if found[place].kind is Kind.NAME:
                name = found[place].text
                if place + 2 < end and found[place + 1].text == "as":
                    other = found[place + 2].text
                    passed += [(other, module, name)] if module else []
                    if not module:
                        own.setdefault(other, []).append(place)
                    place += 2
                elif module:
                    passed.append((name, module, name))
                else:
                    own.setdefault(name, []).append(place)
            place += 1
    else:
        while at < len(found) and found[at].text in ("async", "function", "*", "abstract", "class", *_DECLARES) and at - index < 5:  # fmt: skip
            at += 1
        if at < len(found) and found[at].kind is Kind.NAME:
            own.setdefault(found[at].text, []).append(at)


def _members(found: tuple[Token, ...], pairs: dict[int, int], brace: int) -> list[tuple[str, int]]:
    """(key, index of its value) of an object that is written down."""
    out, at, end = [], brace + 1, pairs.get(brace, brace)
    while at < end:
        if found[at].kind in (Kind.NAME, Kind.STRING) and found[at - 1].text in ("{", ",", "async", "*"):
            after = found[at + 1].text
            out += [(found[at].text, at + 2 if after == ":" else at + 1 if after == "(" else at)]
        at = pairs.get(at, at) + 1
    return out


def patches(found: tuple[Token, ...], pairs: dict[int, int]) -> list[tuple[str, str, int]]:
    """(object or module, member, line) of what is put in the place of members; `*` for any member."""
    out = []
    for index in range(2, len(found) - 1):
        token = found[index]
        if token.kind is Kind.MARK and token.text == "=":
            if found[index - 2].text == "." and index > 2:
                out.append((_object(found, index - 3), found[index - 1].text, token.line))
            elif found[index - 1].text == "]" and index > 3 and found[index - 3].text == "[":
                out.append((_object(found, index - 4), found[index - 2].text, token.line))
        if token.kind is not Kind.NAME or found[index + 1].text != "(" or index + 2 >= len(found):
            continue
        whom = found[index + 2]
        name = whom.text
        if loaded(found, index + 2):
            name = loaded(found, index + 2)
        elif whom.kind is not Kind.NAME:
            continue
        comma = next((i for i in range(index + 3, min(index + 10, len(found))) if found[i].text == ","), 0)
        if not comma or comma + 1 >= len(found):
            continue
        end = pairs.get(index + 1, index)
        rest = [t.text for t in found[comma + 1 : min(end + 24, len(found))]]
        if token.text in ("assign", "defineProperties") and found[index - 1].text == ".":
            keys = [k for k, _ in _members(found, pairs, comma + 1)] if found[comma + 1].text == "{" else [ALL]
            out += [(name, k, token.line) for k in keys]
        elif token.text in _ACTS or token.text == "spyOn":
            acts = any(t.startswith("mock") for t in rest) if token.text == "spyOn" else True
            if found[comma + 1].kind is Kind.STRING and acts:
                out.append((name, found[comma + 1].text, token.line))
    return out


def _object(found: tuple[Token, ...], at: int) -> str:
    """Name before a member, or the module that is loaded there."""
    if at < 0:
        return ""
    if found[at].text == ")" and at > 2 and found[at - 1].kind is Kind.STRING and found[at - 3].text in _LOADS:
        return found[at - 1].text
    return found[at].text if at == 0 or found[at - 1].text != "." else f"{found[at - 2].text}.{found[at].text}"
