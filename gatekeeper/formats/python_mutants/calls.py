"""Faults of calls: another function of the same shape, arguments that are missing, swapped, or another value."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.formats.python_mutants.fault import (
    EDGE,
    PLAIN,
    TEXT_ARGUMENTS,
    WEAK,
    Fault,
    called,
    is_message,
    is_text,
)
from gatekeeper.formats.python_mutants.source import SourceText
from gatekeeper.formats.python_mutants.values import OTHER, passed

_CALLED = {
    "min": "max", "max": "min", "any": "all", "all": "any", "startswith": "endswith", "endswith": "startswith",
    "upper": "lower", "lower": "upper", "lstrip": "rstrip", "rstrip": "lstrip", "find": "rfind", "rfind": "find",
    "split": "rsplit", "rsplit": "split", "ceil": "floor", "floor": "ceil", "issubset": "issuperset",
    "issuperset": "issubset", "append": "remove", "ljust": "rjust", "rjust": "ljust", "popleft": "pop",
    "union": "intersection", "intersection": "union", "removeprefix": "removesuffix", "removesuffix": "removeprefix",
}  # fmt: skip
_LIMITED = {"split", "rsplit"}
"""Which end they begin at is no matter unless the number of parts is bounded."""
_LEFT_OUT = {
    "strip", "lstrip", "rstrip", "lower", "upper", "casefold", "title", "capitalize", "copy", "swapcase", "replace",
}  # fmt: skip
_AROUND = {"sorted", "abs", "round", "reversed", "set", "int", "float", "str", "bool", "frozenset", "deepcopy"}
_ABOUT = {"isinstance", "getattr", "setattr", "hasattr", "issubclass", "len", "super"}
"""Calls in which another argument is a fault of another kind: it raises at once."""
_SAME_EITHER_WAY = {"min", "max", "gcd", "lcm", "isclose", "hypot", "samefile", "assertEqual"}
_PASSED = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.Call)
MAX_ARGUMENTS = 3


def of_call(node: ast.Call, text: SourceText, *, in_raise: bool) -> Iterator[Fault]:
    """Faults of one call. In `raise`, texts that are put together are messages for people."""
    yield from _other_call(node, text)
    name = called(node)
    for keyword in node.keywords:
        if keyword.arg is None:
            yield from passed(keyword.value, text, OTHER, EDGE, kind="argument changed")
        elif not (keyword.arg in TEXT_ARGUMENTS and is_text(keyword.value)) and not (
            in_raise and is_message(keyword.value)
        ):
            yield _dropped(keyword, text, text.span(node)[1])
            if not in_raise:
                yield from passed(keyword.value, text, OTHER, EDGE, kind="argument changed")
    if name not in _ABOUT:
        for argument in node.args[:MAX_ARGUMENTS]:
            if not (in_raise and is_message(argument)):
                yield from _argument(argument, text, in_raise=in_raise)
    yield from _places(node, name, text)


def _other_call(node: ast.Call, text: SourceText) -> Iterator[Fault]:
    name = called(node)
    start, end = text.span(node)
    function = node.func
    if name in _CALLED and not (name in _LIMITED and len(node.args) + len(node.keywords) < 2):
        last = text.span(function)[1]
        first = last - len(name.encode())
        if text.of(first, last) == name:
            yield Fault(first, last, _CALLED[name], "call", name, _CALLED[name], PLAIN)
    if isinstance(function, ast.Attribute) and name in _LEFT_OUT:
        first = text.span(function.value)[1]
        owner = text.of(start, first)
        # A parenthesis around the owner ends after it.
        if owner.count("(") == owner.count(")"):
            yield Fault(start, end, owner, "call left out", f".{name}(...)", "leaving it out", PLAIN)
    if (
        isinstance(function, ast.Name)
        and name in _AROUND
        and len(node.args) == 1
        and not isinstance(node.args[0], ast.GeneratorExp | ast.Starred)
    ):
        inner = text.of(*text.span(node.args[0]))
        yield Fault(start, end, f"({inner})", "call left out", f"{name}(...)", "leaving it out", EDGE)


def _argument(argument: ast.expr, text: SourceText, *, in_raise: bool) -> Iterator[Fault]:
    inner = argument.value if isinstance(argument, ast.Starred) else argument
    if not isinstance(inner, _PASSED):
        return
    if not in_raise:  # what an exception carries is for people as a rule
        yield from passed(inner, text, OTHER, EDGE, kind="argument changed")
    if not isinstance(argument, ast.Starred):
        first, last = text.span(argument)
        yield Fault(first, last, "None", "argument replaced", text.of(first, last), "None", WEAK)


def _places(node: ast.Call, name: str, text: SourceText) -> Iterator[Fault]:
    """The first two the other way round; the last one gone."""
    if len(node.args) < 2 or name in _ABOUT or any(isinstance(a, ast.Starred) for a in node.args):
        return
    one, two = (text.span(a) for a in node.args[:2])
    first, second = text.of(*one), text.of(*two)
    if first != second and name not in _SAME_EITHER_WAY:
        turned = second + text.of(one[1], two[0]) + first
        yield Fault(one[0], two[1], turned, "arguments swapped", f"{first}, {second}", "the other order", EDGE)
    before = text.span(node.args[-2])[1]
    last = text.span(node.args[-1])[1]
    gone = text.of(before, last)
    if gone.lstrip().startswith(",") and gone.count("(") == gone.count(")"):
        words = text.of(*text.span(node.args[-1]))
        yield Fault(before, last, "", "argument dropped", f"the argument {words}", "leaving it out", WEAK)


def _dropped(keyword: ast.keyword, text: SourceText, limit: int) -> Fault:
    start, end = text.span(keyword)
    tail = re.match(r"[ \t]*,[ \t]*", text.of(end, min(limit, end + 20)) if limit > end else "")
    stop = end + (len(tail.group()) if tail is not None else 0)
    return Fault(start, stop, "", "argument dropped", text.of(start, end), "leaving it out", EDGE)
