"""Faults of expressions: comparisons, connectives, signs, constants, bounds, elements."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from gatekeeper.formats.python_mutants.fault import EDGE, GROSS, PLAIN, WEAK, Fault, is_text, swapped
from gatekeeper.formats.python_mutants.source import SourceText
from gatekeeper.formats.python_mutants.statements import ARITHMETIC, forced
from gatekeeper.formats.python_mutants.values import FEWER, OTHER, passed

_COMPARE: dict[type[ast.cmpop], tuple[str, tuple[tuple[str, int], ...]]] = {
    ast.Lt: ("<", ((">=", GROSS), ("<=", EDGE))),
    ast.LtE: ("<=", ((">", GROSS), ("<", EDGE))),
    ast.Gt: (">", (("<=", GROSS), (">=", EDGE))),
    ast.GtE: (">=", (("<", GROSS), (">", EDGE))),
    ast.Eq: ("==", (("!=", GROSS),)),
    ast.NotEq: ("!=", (("==", GROSS),)),
    ast.Is: ("is", (("is not", GROSS),)),
    ast.IsNot: ("is not", (("is", GROSS),)),
    ast.In: ("in", (("not in", GROSS),)),
    ast.NotIn: ("not in", (("in", GROSS),)),
}


@functools.cache
def _operator() -> re.Pattern[str]:
    return re.compile(r"not\s+in\b|is\s+not\b|in\b|is\b|<=|>=|==|!=|<|>")


def of_expression(node: ast.AST, parent: ast.AST, text: SourceText) -> Iterator[Fault]:
    """Faults of one expression that is no call; not of those inside it."""
    if isinstance(node, ast.Compare):
        yield from _compared(node, parent, text)
    elif isinstance(node, ast.BoolOp):
        yield from _joined(node, text)
    elif isinstance(node, ast.UnaryOp):
        yield from _unary(node, text)
    elif isinstance(node, ast.BinOp):
        yield from _arithmetic(node, text)
    elif isinstance(node, ast.Constant):
        yield from _constant(node, parent, text)
    elif isinstance(node, ast.IfExp):
        yield from forced(node.test, text, loop=False)
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield from forced(test, text, loop=False)
        if not node.is_async:
            yield from passed(node.iter, text, FEWER, PLAIN)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        yield from passed(node.elt, text, OTHER, PLAIN)
    elif isinstance(node, ast.DictComp):
        yield from passed(node.value, text, OTHER, PLAIN)
    elif isinstance(node, ast.Yield):
        if node.value is not None:
            yield from passed(node.value, text, OTHER, PLAIN, f"yield {text.of(*text.span(node.value))}")
    elif isinstance(node, ast.Slice):
        yield from _slice(node, text)
    elif isinstance(node, ast.JoinedStr):
        yield swapped(node, text, '""', "text emptied", PLAIN)
    elif isinstance(node, ast.List | ast.Set | ast.Dict):
        yield from _collection(node, text)
    elif isinstance(node, ast.Lambda) and not isinstance(node.body, ast.Constant):
        yield swapped(node.body, text, "None", "value returned", PLAIN)
        yield from passed(node.body, text, OTHER, PLAIN)


def _compared(node: ast.Compare, parent: ast.AST, text: SourceText) -> Iterator[Fault]:
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        start, end = text.span(left)[1], text.span(right)[0]
        left = right
        between = text.of(start, end)
        if "#" in between or not between.isascii():
            continue
        match = _operator().search(between)
        sign, others = _COMPARE[type(operator)]
        if match is None or " ".join(match.group().split()) != sign:
            continue
        for other, rank in others:
            if rank is EDGE and _edge_is_nothing(node, parent):
                continue
            spaced = other if other[0] in "<>=!" or match.group()[0] not in "<>=!" else f" {other} "
            yield Fault(start + match.start(), start + match.end(), spaced, "comparison", sign, other, rank)


def _edge_is_nothing(node: ast.Compare, parent: ast.AST) -> bool:
    """`if a > best: best = a` and `a if a > b else b`: at equality both ways give the same."""
    sides = {ast.dump(node.left).replace("Load()", ""), *(ast.dump(c).replace("Load()", "") for c in node.comparators)}
    if isinstance(parent, ast.IfExp):
        return {ast.dump(parent.body).replace("Load()", ""), ast.dump(parent.orelse).replace("Load()", "")} == sides
    if isinstance(parent, ast.If) and len(parent.body) == 1 and not parent.orelse:
        only = parent.body[0]
        if isinstance(only, ast.Assign) and len(only.targets) == 1:
            target = ast.dump(only.targets[0]).replace("Store()", "")
            return {target, ast.dump(only.value).replace("Load()", "")} == sides
    return False


def _joined(node: ast.BoolOp, text: SourceText) -> Iterator[Fault]:
    word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
    neutral = "True" if word == "and" else "False"
    for before, after in zip(node.values, node.values[1:], strict=False):
        start, end = text.span(before)[1], text.span(after)[0]
        between = text.of(start, end)
        match = re.search(rf"\b{word}\b", between)
        if match is not None and "#" not in between and between.isascii():
            yield Fault(start + match.start(), start + match.end(), other, "boolean", word, other, PLAIN)
    for value in node.values:
        if isinstance(value, ast.Constant):
            continue
        start, end = text.span(value)
        yield Fault(
            start, end, neutral, "condition forced", text.of(start, end), f"leaving it out of the {word!r}", EDGE
        )


def _unary(node: ast.UnaryOp, text: SourceText) -> Iterator[Fault]:
    start, end = text.span(node)
    words = text.of(start, end)
    if isinstance(node.op, ast.Not):
        match = re.match(r"not\b[ \t]*", words)
        if match is not None:
            yield Fault(start, start + match.end(), "", "boolean", words, words[match.end() :], GROSS)
    elif isinstance(node.op, ast.USub | ast.Invert):
        yield Fault(start, start + 1, "", "arithmetic", words, words[1:], PLAIN)


def _arithmetic(node: ast.BinOp, text: SourceText) -> Iterator[Fault]:
    entry = ARITHMETIC.get(type(node.op))
    texts = (ast.List, ast.Tuple, ast.ListComp)
    if entry is None or any(is_text(s) or isinstance(s, texts) for s in (node.left, node.right)):
        return
    if isinstance(node.op, ast.BitOr) and all(
        isinstance(s, ast.Name | ast.Attribute) and (s.id if isinstance(s, ast.Name) else s.attr)[:1].isupper()
        for s in (node.left, node.right)
    ):
        return  # a union of types, or of flags
    sign, other = entry
    start, end = text.span(node.left)[1], text.span(node.right)[0]
    between = text.of(start, end)
    at = between.find(sign)
    if at >= 0 and "#" not in between and between.isascii():
        yield Fault(start + at, start + at + len(sign), other, "arithmetic", sign, other, GROSS)


def _constant(node: ast.Constant, parent: ast.AST, text: SourceText) -> Iterator[Fault]:
    value = node.value
    if isinstance(parent, ast.FormattedValue | ast.JoinedStr):
        return
    others: list[tuple[str, int]] = []
    kind = "constant"
    if isinstance(value, bool):
        others.append((str(not value), GROSS))
    elif isinstance(value, int):
        others.append((str(value + 1), PLAIN))
        if value not in (0, 1):
            others.append((str(value - 1), WEAK))
    elif isinstance(value, float):
        if abs(value) < 1e300:
            others.append((repr(value + 1.0), PLAIN))
    elif isinstance(value, str):
        others.append(('""' if value else '"XX"', PLAIN))
        if value.isascii() and value.isprintable() and value[-1:].isalnum():
            others.append((repr(value[:-1] + _next(value[-1])), EDGE))
    elif isinstance(value, bytes):
        others.append(('b""' if value else 'b"XX"', PLAIN))
    elif value is None and isinstance(parent, ast.arguments):
        others.append(("0", WEAK))
        kind = "default"
    for other, rank in others:
        yield swapped(node, text, other, kind, rank)


def _next(letter: str) -> str:
    """A letter of the same sort."""
    ends = {"9": "0", "z": "a", "Z": "A"}
    return ends.get(letter) or chr(ord(letter) + 1)


def _slice(node: ast.Slice, text: SourceText) -> Iterator[Fault]:
    for bound, word in ((node.lower, "lower"), (node.upper, "upper")):
        if bound is not None:
            start, end = text.span(bound)
            yield Fault(start, end, "", "slice bound", f"the {word} bound {text.of(start, end)}", "none", PLAIN)
            yield from passed(bound, text, OTHER, EDGE, f"the {word} bound {text.of(start, end)}")


def _collection(node: ast.List | ast.Set | ast.Dict, text: SourceText) -> Iterator[Fault]:
    if isinstance(node, ast.List) and not isinstance(node.ctx, ast.Load):
        return
    empty = "[]" if isinstance(node, ast.List) else "{}" if isinstance(node, ast.Dict) else "set()"
    if not (node.keys if isinstance(node, ast.Dict) else node.elts):
        return
    yield swapped(node, text, empty, "collection emptied", PLAIN)
    yield from passed(node, text, OTHER, EDGE)
