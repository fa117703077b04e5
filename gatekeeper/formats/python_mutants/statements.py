"""Faults of whole statements: one that is gone, another result, another value kept, another exception."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gatekeeper.formats.python_mutants.fault import EDGE, GROSS, PLAIN, Fault, called, is_text, swapped
from gatekeeper.formats.python_mutants.source import SourceText
from gatekeeper.formats.python_mutants.values import EMPTIED, FEWER, OTHER, passed

ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"), ast.Pow: ("**", "*"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"), ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"), ast.BitXor: ("^", "&"),
}  # fmt: skip
"""Signs and what they become."""


def of_statement(node: ast.stmt, text: SourceText) -> Iterator[Fault]:
    """Faults of the statement itself; those of its expressions are made elsewhere."""
    if isinstance(node, ast.Return):
        yield from _returned(node, text)
    elif isinstance(node, ast.Raise):
        yield _removed(node, text, GROSS)
        yield from _raised(node, text)
    elif isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Call | ast.Await):
            yield _removed(node, text, GROSS)
        elif isinstance(node.value, ast.Yield) and node.value.value is not None:
            yield swapped(node.value.value, text, "None", "value yielded", GROSS)
    elif isinstance(node, ast.AugAssign):
        yield _removed(node, text, GROSS)
        yield from _augmented(node, text)
        yield from passed(node.value, text, OTHER, EDGE)
    elif isinstance(node, ast.Delete):
        yield _removed(node, text, PLAIN)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        yield from _assigned(node, node.value, text)
    elif isinstance(node, ast.Break):
        yield swapped(node, text, "continue", "loop control", PLAIN)
    elif isinstance(node, ast.Continue):
        yield swapped(node, text, "break", "loop control", GROSS)
        start, end = text.span(node)
        yield Fault(start, end, "pass", "loop control", "continue", "nothing", PLAIN)
    elif isinstance(node, ast.If):
        yield from forced(node.test, text, loop=False)
    elif isinstance(node, ast.While):
        yield from forced(node.test, text, loop=True)
    elif isinstance(node, ast.For):
        yield swapped(node.iter, text, "()", "loop never runs", GROSS)
        yield from passed(node.iter, text, FEWER, PLAIN)
    elif isinstance(node, ast.Try):
        for handler in node.handlers:
            yield from _handled(handler, text)


def _removed(node: ast.stmt, text: SourceText, rank: int) -> Fault:
    start, end = text.span(node)
    return Fault(start, end, "pass", "statement removed", text.of(start, end), "nothing", rank)


def _returned(node: ast.Return, text: SourceText) -> Iterator[Fault]:
    value = node.value
    if value is None:
        start, end = text.span(node)
        yield Fault(start, end, "pass", "statement removed", "return", "going on", PLAIN)
        return
    start, end = text.span(value)
    words = text.of(start, end)
    if isinstance(value, ast.Constant) and value.value is None:
        yield Fault(start, end, "0", "value returned", "return None", "return 0", PLAIN)
    elif isinstance(value, ast.Constant) and isinstance(value.value, bool):
        return  # the constant itself is turned round
    elif _is_truth(value):
        yield Fault(start, end, f"not ({words})", "value returned", f"return {words}", "its opposite", GROSS)
        yield Fault(start, end, "True", "value returned", f"return {words}", "return True", PLAIN)
        yield Fault(start, end, "False", "value returned", f"return {words}", "return False", PLAIN)
    else:
        yield Fault(start, end, "None", "value returned", f"return {words}", "return None", GROSS)
        yield from passed(value, text, OTHER, PLAIN, f"return {words}")
        yield from passed(value, text, EMPTIED, PLAIN, f"return {words}")


def _is_truth(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return True
    if isinstance(node, ast.Call):
        name = called(node)
        return name in ("isinstance", "issubclass", "any", "all", "bool", "callable", "hasattr") or name.startswith(
            ("is", "has_", "startswith", "endswith")
        )
    return isinstance(node, ast.BoolOp) and all(_is_truth(v) for v in node.values)


def _raised(node: ast.Raise, text: SourceText) -> Iterator[Fault]:
    made = node.exc
    kind = made.func if isinstance(made, ast.Call) else made
    if not isinstance(kind, ast.Name | ast.Attribute) or (isinstance(made, ast.Call) and made.keywords):
        return
    name = kind.id if isinstance(kind, ast.Name) else kind.attr
    if name[:1].isupper() and name not in ("Exception", "BaseException"):
        start, end = text.span(kind)
        yield Fault(start, end, "Exception", "exception type", f"raise {text.of(start, end)}", "raise Exception", PLAIN)


def _handled(handler: ast.ExceptHandler, text: SourceText) -> Iterator[Fault]:
    if handler.type is None:
        return
    start, end = text.span(handler.type)
    words = text.of(start, end)
    yield Fault(start, end, "()", "exception type", f"except {words}", "catching nothing", PLAIN)
    if isinstance(handler.type, ast.Tuple) and len(handler.type.elts) > 1:
        for element in handler.type.elts:
            others = [text.of(*text.span(e)) for e in handler.type.elts if e is not element]
            named = text.of(*text.span(element))
            yield Fault(
                start, end, f"({', '.join(others)},)", "exception type", f"except {named}", "not catching it", EDGE
            )


def _augmented(node: ast.AugAssign, text: SourceText) -> Iterator[Fault]:
    entry = ARITHMETIC.get(type(node.op))
    if entry is None or is_text(node.value) or isinstance(node.value, ast.List | ast.Tuple):
        return
    sign, other = entry
    start, end = text.span(node.target)[1], text.span(node.value)[0]
    between = text.of(start, end)
    at = between.find(f"{sign}=")
    if at >= 0 and between.isascii():
        yield Fault(start + at, start + at + len(sign) + 1, f"{other}=", "arithmetic", f"{sign}=", f"{other}=", GROSS)


def _assigned(node: ast.Assign | ast.AnnAssign, value: ast.expr, text: SourceText) -> Iterator[Fault]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    start, end = text.span(node)
    first, last = text.span(value)
    words = text.of(start, end)
    none = f"{text.of(start, first).strip()} None"
    if all(isinstance(t, ast.Attribute | ast.Subscript) for t in targets) and isinstance(node, ast.Assign):
        yield _removed(node, text, GROSS)
        if not isinstance(value, ast.Constant):
            yield from passed(value, text, OTHER, PLAIN, words)
            yield from passed(value, text, EMPTIED, PLAIN, words)
            yield Fault(first, last, "None", "value assigned", words, none, EDGE)
    elif any(isinstance(t, ast.Tuple | ast.List) for t in targets):
        yield from passed(value, text, OTHER, PLAIN, words)
    elif not isinstance(value, ast.Constant):
        yield Fault(first, last, "None", "value assigned", words, none, GROSS)
        yield from passed(value, text, OTHER, PLAIN, words)


def forced(test: ast.expr, text: SourceText, *, loop: bool) -> Iterator[Fault]:
    """A condition that never holds, or always does; a loop that never ends says nothing."""
    if isinstance(test, ast.Constant):
        return
    start, end = text.span(test)
    words = text.of(start, end)
    yield Fault(start, end, "False", "condition forced", f"if {words}", "never", GROSS)
    if not loop:
        yield Fault(start, end, "True", "condition forced", f"if {words}", "always", PLAIN)
