"""JSON as hostile bytes deserve it: UTF-8, size and depth capped, no duplicate keys, no NaN, no huge numbers."""

from __future__ import annotations

import json
from typing import Any

from gatekeeper.errors import InputError

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 40
MAX_NUMBER = 400
"""Characters of one number; longer ones make Python work quadratically."""


def loads(data: bytes, *, what: str, code: str, max_bytes: int = MAX_BYTES, max_depth: int = MAX_DEPTH) -> Any:
    """Parse `data`. Raises `InputError` with `code`; the message names `what` and the fault."""

    def refuse(why: str) -> InputError:
        return InputError(code, f"The {what} is not usable JSON: {why}.")

    if len(data) > max_bytes:
        raise refuse(f"it has {len(data)} bytes, at most {max_bytes} are read")
    if data.startswith(b"\xef\xbb\xbf"):
        raise refuse("it starts with a byte order mark; plain UTF-8 is expected")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse(f"it is not UTF-8 (byte {error.start})") from None
    if _depth(text) > max_depth:
        raise refuse(f"it is nested deeper than {max_depth} levels")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        table = dict(items)
        if len(table) != len(items):
            seen: set[str] = set()
            twice = next(k for k, _ in items if k in seen or seen.add(k))  # type: ignore[func-returns-value]
            raise refuse(f"the key {twice[:80]!r} stands twice in one object")
        return table

    def constant(name: str) -> Any:
        raise refuse(f"{name} is no JSON number")

    def number(kind: type[int | float]) -> Any:
        def parse(digits: str) -> int | float:
            if len(digits) > MAX_NUMBER:
                raise refuse("a number is too long")
            value = kind(digits)
            if value in (float("inf"), float("-inf")):
                raise refuse("a number is out of range")
            return value

        return parse

    try:
        value = json.loads(
            text, object_pairs_hook=pairs, parse_constant=constant, parse_int=number(int), parse_float=number(float)
        )
    except json.JSONDecodeError as error:
        raise refuse(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except (RecursionError, ValueError) as error:
        raise refuse(type(error).__name__) from None
    if _lone_surrogate(value):
        raise refuse("a text holds half a surrogate pair")
    return value


def _depth(text: str) -> int:
    """Deepest nesting of brackets outside strings, without parsing."""
    depth = deepest = 0
    inside = escaped = False
    for char in text:
        if inside:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                inside = False
        elif char == '"':
            inside = True
        elif char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth -= 1
    return deepest


def _lone_surrogate(value: Any) -> bool:
    if isinstance(value, str):
        return any(0xD800 <= ord(c) <= 0xDFFF for c in value)
    if isinstance(value, dict):
        return any(_lone_surrogate(k) or _lone_surrogate(v) for k, v in value.items())
    return isinstance(value, list) and any(_lone_surrogate(v) for v in value)
