"""The faults themselves: for one statement, what could be wrong in it and how that would be written."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.formats.python_mutants.source import SourceText
from gatekeeper.records import dataclass, replace

# Ranks: a fault that any test notices which looks at the result comes first, so that a line is not called untested for a
# subtle one alone; then faults at the edges; last those that often change nothing.
GROSS, PLAIN, EDGE, WEAK = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Fault:
    """Bytes `start` to `end` become `replacement`; `before` and `after` say it to people."""

    start: int
    end: int
    replacement: str
    kind: str
    before: str
    after: str
    rank: int

    def padded(self, filler: str) -> Fault:
        """With line ends added."""
        return replace(self, replacement=self.replacement + filler)


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
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"), ast.Pow: ("**", "*"), ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"), ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"), ast.BitXor: ("^", "&"),
}  # fmt: skip
_CALLED = {
    "min": "max", "max": "min", "any": "all", "all": "any", "startswith": "endswith", "endswith": "startswith",
    "upper": "lower", "lower": "upper", "lstrip": "rstrip", "rstrip": "lstrip", "find": "rfind", "rfind": "find",
    "split": "rsplit", "rsplit": "split", "ceil": "floor", "floor": "ceil", "issubset": "issuperset",
    "issuperset": "issubset", "append": "remove", "ljust": "rjust", "rjust": "ljust", "popleft": "pop",
    "union": "intersection", "intersection": "union", "removeprefix": "removesuffix", "removesuffix": "removeprefix",
}  # fmt: skip
_LEFT_OUT = {
    "strip",
    "lstrip",
    "rstrip",
    "lower",
    "upper",
    "casefold",
    "title",
    "capitalize",
    "copy",
    "swapcase",
    "replace",
}
_AROUND = {"sorted", "abs", "round", "reversed", "set", "int", "float", "str", "bool", "frozenset", "deepcopy"}
_LOG = {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "echo", "secho"}
_LOGGERS = {"logging", "logger", "log", "warnings", "_log", "_logger", "LOG", "LOGGER", "console", "click"}
_TYPE_CALLS = {"cast", "TypeVar", "NewType", "ParamSpec", "NamedTuple", "TypedDict", "namedtuple", "getLogger"}
_TEXT_ARGUMENTS = {"help", "description", "msg", "message", "doc", "title", "epilog", "metavar", "reason", "name"}
_ABOUT = {"isinstance", "getattr", "setattr", "hasattr", "issubclass", "len", "super"}
"""Calls in which another argument is a fault of another kind: it raises at once."""
_SAME_EITHER_WAY = {"min", "max", "gcd", "lcm", "isclose", "hypot", "samefile", "assertEqual"}
_EMPTIED = "(lambda v: type(v)() if v and type(v) in (bool, int, float, str, bytes, list, tuple, dict, set) else None)"
"""A value of the same type where there is one: what only breaks on None is noticed by any test that runs the line."""
_OPERATOR = re.compile(r"not\s+in\b|is\s+not\b|in\b|is\b|<=|>=|==|!=|<|>")


def faults(statement: ast.stmt, text: SourceText) -> Iterator[Fault]:
    """All faults of one statement; statements below it are not looked at."""
    if is_talk(statement):
        return
    yield from _of_statement(statement, text)
    for node, parent in _expressions(statement):
        yield from _of_expression(node, parent, text)


def is_talk(statement: ast.stmt) -> bool:
    """Logging, printing, warning: its texts are for people."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return _talks(statement.value)


def _talks(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in ("print", "warn", "log", "debug")
    if not isinstance(function, ast.Attribute) or function.attr not in _LOG:
        return False
    owner = function.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return name in _LOGGERS or name.lower().endswith(("log", "logger"))


# --- whole statements -------------------------------------------------------------------------------------------


def _of_statement(node: ast.stmt, text: SourceText) -> Iterator[Fault]:
    if isinstance(node, ast.Return | ast.Assign | ast.AugAssign | ast.Expr | ast.Raise | ast.Delete | ast.AnnAssign):
        start, end = text.span(node)
        words = text.of(start, end)
    if isinstance(node, ast.Return):
        yield from _returned(node, text)
    elif isinstance(node, ast.Raise):
        yield Fault(start, end, "pass", "statement removed", words, "nothing", GROSS)
        yield from _raised(node, text)
    elif isinstance(node, ast.Expr):
        if isinstance(node.value, ast.Call | ast.Await):
            yield Fault(start, end, "pass", "statement removed", words, "nothing", GROSS)
        elif isinstance(node.value, ast.Yield) and node.value.value is not None:
            yield _swap(node.value.value, text, "None", "value yielded", GROSS)
    elif isinstance(node, ast.AugAssign):
        yield Fault(start, end, "pass", "statement removed", words, "nothing", GROSS)
        yield from _augmented(node, text)
    elif isinstance(node, ast.Delete):
        yield Fault(start, end, "pass", "statement removed", words, "nothing", PLAIN)
    elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        yield from _assigned(node, text)
    elif isinstance(node, ast.Break):
        start, end = text.span(node)
        yield Fault(start, end, "continue", "loop control", "break", "continue", PLAIN)
    elif isinstance(node, ast.Continue):
        start, end = text.span(node)
        yield Fault(start, end, "break", "loop control", "continue", "break", GROSS)
        yield Fault(start, end, "pass", "loop control", "continue", "nothing", PLAIN)
    elif isinstance(node, ast.If):
        yield from _forced(node.test, text, loop=False)
    elif isinstance(node, ast.While):
        yield from _forced(node.test, text, loop=True)
    elif isinstance(node, ast.For | ast.AsyncFor) and not isinstance(node, ast.AsyncFor):
        yield _swap(node.iter, text, "()", "loop never runs", GROSS)
    elif isinstance(node, ast.Try):
        for handler in node.handlers:
            yield from _handled(handler, text)


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
        if not isinstance(value, ast.Constant | ast.Starred | ast.Tuple | ast.Yield | ast.YieldFrom | ast.Await):
            yield Fault(
                start, end, f"{_EMPTIED}({words})", "value emptied", f"return {words}", "leaving the value empty", PLAIN
            )


def _is_truth(node: ast.expr) -> bool:
    if isinstance(node, ast.Compare) or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)):
        return True
    if isinstance(node, ast.Call):
        name = _called(node)
        return name in ("isinstance", "issubclass", "any", "all", "bool", "callable", "hasattr") or name.startswith(
            ("is", "has_", "startswith", "endswith")
        )
    return isinstance(node, ast.BoolOp) and all(_is_truth(v) for v in node.values)


def _raised(node: ast.Raise, text: SourceText) -> Iterator[Fault]:
    made = node.exc
    kind = made.func if isinstance(made, ast.Call) else made
    if isinstance(kind, ast.Name | ast.Attribute):
        name = kind.id if isinstance(kind, ast.Name) else kind.attr
        if name[:1].isupper() and name not in ("Exception", "BaseException"):
            start, end = text.span(kind)
            other = "Exception" if not (isinstance(made, ast.Call) and made.keywords) else "RuntimeError"
            if isinstance(made, ast.Call) and made.keywords:
                return
            yield Fault(start, end, other, "exception type", f"raise {text.of(start, end)}", f"raise {other}", PLAIN)


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
    entry = _ARITHMETIC.get(type(node.op))
    if entry is None or _is_text(node.value) or isinstance(node.value, ast.List | ast.Tuple | ast.JoinedStr):
        return
    sign, other = entry
    start, end = text.span(node.target)[1], text.span(node.value)[0]
    between = text.of(start, end)
    at = between.find(f"{sign}=")
    if at >= 0 and between.isascii():
        yield Fault(start + at, start + at + len(sign) + 1, f"{other}=", "arithmetic", f"{sign}=", f"{other}=", GROSS)


def _assigned(node: ast.Assign | ast.AnnAssign, text: SourceText) -> Iterator[Fault]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    value = node.value
    if value is None:
        return
    start, end = text.span(node)
    words = text.of(start, end)
    if all(isinstance(t, ast.Attribute | ast.Subscript) for t in targets) and isinstance(node, ast.Assign):
        yield Fault(start, end, "pass", "statement removed", words, "nothing", GROSS)
        if not isinstance(value, ast.Constant):
            first, last = text.span(value)
            yield Fault(first, last, "None", "value assigned", words, f"{text.of(start, first).strip()} None", EDGE)
            if not isinstance(value, ast.Starred | ast.Tuple | ast.Yield | ast.YieldFrom | ast.Await):
                emptied = f"{_EMPTIED}({text.of(first, last)})"
                yield Fault(first, last, emptied, "value emptied", words, "leaving the value empty", PLAIN)
    elif not (isinstance(value, ast.Constant) or any(isinstance(t, ast.Tuple | ast.List) for t in targets)):
        first, last = text.span(value)
        yield Fault(first, last, "None", "value assigned", words, f"{text.of(start, first).strip()} None", GROSS)


def _forced(test: ast.expr, text: SourceText, *, loop: bool) -> Iterator[Fault]:
    if isinstance(test, ast.Constant):
        return
    start, end = text.span(test)
    words = text.of(start, end)
    yield Fault(start, end, "False", "condition forced", f"if {words}", "never", GROSS)
    if not loop:
        yield Fault(start, end, "True", "condition forced", f"if {words}", "always", PLAIN)


# --- expressions ------------------------------------------------------------------------------------------------


def _expressions(statement: ast.stmt) -> Iterator[tuple[ast.AST, ast.AST]]:
    """(node, parent) of the statement's own expressions, without annotations, texts for people and nested statements."""
    stack: list[tuple[ast.AST, ast.AST]] = []
    for name, value in ast.iter_fields(statement):
        if name in ("annotation", "returns", "decorator_list", "type_params", "bases", "keywords", "name"):
            continue
        if name == "handlers":
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.arguments):
                stack += [(d, one) for d in (*one.defaults, *one.kw_defaults) if d is not None]
            elif isinstance(one, ast.match_case):
                if one.guard is not None:
                    stack.append((one.guard, one))
            elif isinstance(one, ast.expr | ast.withitem):
                stack.append((one, statement))
    if isinstance(statement, ast.Assert):
        stack = [(statement.test, statement)]
    in_raise = isinstance(statement, ast.Raise)
    while stack:
        node, parent = stack.pop()
        if isinstance(node, ast.JoinedStr):
            # Before Python 3.12 positions inside are not those in the file.
            if not in_raise:
                yield node, parent
            continue
        if in_raise and _is_text(node):
            continue
        if isinstance(node, ast.Call) and (_talks(node) or _called(node) in _TYPE_CALLS):
            continue
        yield node, parent
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.arguments):
                stack += [(d, child) for d in (*child.defaults, *child.kw_defaults) if d is not None]
            elif isinstance(child, ast.keyword) and child.arg in _TEXT_ARGUMENTS and _is_text(child.value):
                continue
            elif isinstance(child, ast.expr | ast.keyword | ast.comprehension):
                stack.append((child, node))


def _of_expression(node: ast.AST, parent: ast.AST, text: SourceText) -> Iterator[Fault]:
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
        yield from _forced(node.test, text, loop=False)
    elif isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield from _forced(test, text, loop=False)
    elif isinstance(node, ast.Call):
        yield from _call(node, text)
    elif isinstance(node, ast.Slice):
        yield from _slice(node, text)
    elif isinstance(node, ast.JoinedStr):
        yield _swap(node, text, '""', "text emptied", PLAIN)
    elif isinstance(node, ast.List | ast.Set | ast.Dict) and _elements(node) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):  # fmt: skip
        empty = "[]" if isinstance(node, ast.List) else "{}" if isinstance(node, ast.Dict) else "set()"
        yield _swap(node, text, empty, "collection emptied", PLAIN)
    elif isinstance(node, ast.Lambda) and not isinstance(node.body, ast.Constant):
        yield _swap(node.body, text, "None", "value returned", PLAIN)


def _elements(node: ast.List | ast.Set | ast.Dict) -> bool:
    return bool(node.keys if isinstance(node, ast.Dict) else node.elts)


def _swap(node: ast.AST, text: SourceText, other: str, kind: str, rank: int) -> Fault:
    start, end = text.span(node)
    return Fault(start, end, other, kind, text.of(start, end), other, rank)


def _compared(node: ast.Compare, parent: ast.AST, text: SourceText) -> Iterator[Fault]:
    left = node.left
    for operator, right in zip(node.ops, node.comparators, strict=True):
        start, end = text.span(left)[1], text.span(right)[0]
        left = right
        between = text.of(start, end)
        if "#" in between or not between.isascii():
            continue
        match = _OPERATOR.search(between)
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
    entry = _ARITHMETIC.get(type(node.op))
    texts = (ast.JoinedStr, ast.List, ast.Tuple, ast.ListComp)
    if entry is None or any(_is_text(s) or isinstance(s, texts) for s in (node.left, node.right)):
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
    start, end = text.span(node)
    words = text.of(start, end)
    if isinstance(parent, ast.FormattedValue | ast.JoinedStr):
        return
    if isinstance(value, bool):
        yield Fault(start, end, str(not value), "constant", words, str(not value), GROSS)
    elif isinstance(value, int):
        yield Fault(start, end, str(value + 1), "constant", words, str(value + 1), PLAIN)
        if value not in (0, 1):
            yield Fault(start, end, str(value - 1), "constant", words, str(value - 1), WEAK)
    elif isinstance(value, float):
        if abs(value) < 1e300:
            yield Fault(start, end, repr(value + 1.0), "constant", words, repr(value + 1.0), PLAIN)
    elif isinstance(value, str | bytes):
        mark = "b" if isinstance(value, bytes) else ""
        other = f'{mark}"XX"' if not value else f'{mark}""'
        yield Fault(start, end, other, "constant", words, other, PLAIN)
    elif value is None and isinstance(parent, ast.arguments):
        yield Fault(start, end, "0", "default", words, "0", WEAK)


def _called(node: ast.Call) -> str:
    function = node.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def _call(node: ast.Call, text: SourceText) -> Iterator[Fault]:
    name = _called(node)
    start, end = text.span(node)
    function = node.func
    if name in _CALLED:
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
    plain = [a for a in node.args if not isinstance(a, ast.Starred)]
    if isinstance(function, ast.Name) and name in _AROUND and len(node.args) == len(plain) == 1 and not isinstance(node.args[0], ast.GeneratorExp):  # fmt: skip
        inner = text.of(*text.span(node.args[0]))
        yield Fault(start, end, f"({inner})", "call left out", f"{name}(...)", "leaving it out", EDGE)
    for keyword in node.keywords:
        if keyword.arg is not None and not (keyword.arg in _TEXT_ARGUMENTS and _is_text(keyword.value)):
            yield from _dropped(keyword, text, end)
    for argument in plain[:3]:
        if isinstance(argument, ast.Name | ast.Attribute | ast.Subscript | ast.BinOp | ast.Call) and name not in _ABOUT:
            first, last = text.span(argument)
            yield Fault(first, last, "None", "argument replaced", text.of(first, last), "None", EDGE)
    if len(plain) == len(node.args) >= 2:
        one, two = (text.span(a) for a in node.args[:2])
        first_text, second_text = text.of(*one), text.of(*two)
        if first_text != second_text and name not in _ABOUT and name not in _SAME_EITHER_WAY:
            swapped = second_text + text.of(one[1], two[0]) + first_text
            yield Fault(one[0], two[1], swapped, "arguments swapped", f"{first_text}, {second_text}", "the other order", EDGE)  # fmt: skip
        if name not in _ABOUT:
            before = text.span(node.args[-2])[1]
            last = text.span(node.args[-1])[1]
            gone = text.of(before, last)
            if gone.lstrip().startswith(",") and gone.count("(") == gone.count(")"):
                words = text.of(*text.span(node.args[-1]))
                yield Fault(before, last, "", "argument dropped", f"the argument {words}", "leaving it out", WEAK)


def _dropped(keyword: ast.keyword, text: SourceText, limit: int) -> Iterator[Fault]:
    start, end = text.span(keyword)
    tail = re.match(r"[ \t]*,[ \t]*", text.of(end, min(limit, end + 20)) if limit > end else "")
    stop = end + (len(tail.group()) if tail is not None else 0)
    words = text.of(start, end)
    yield Fault(start, stop, "", "argument dropped", words, "leaving it out", EDGE)


def _slice(node: ast.Slice, text: SourceText) -> Iterator[Fault]:
    for bound, word in ((node.lower, "lower"), (node.upper, "upper")):
        if bound is not None:
            start, end = text.span(bound)
            yield Fault(start, end, "", "slice bound", f"the {word} bound {text.of(start, end)}", "none", PLAIN)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
