"""One assertion in a form that can be compared: what is asserted on, how, and how much it proves."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import StrEnum

from gatekeeper.formats.python_code import written
from gatekeeper.records import dataclass, replace

MAX_TEXT = 2000
"""Characters kept of an expression's text."""


class Kind(StrEnum):
    """How an assertion judges."""

    EQUAL = "equal"
    UNEQUAL = "unequal"
    NEAR = "near"
    ORDER = "order"
    MEMBER = "member"
    TYPE = "type"
    TRUE = "true"
    FALSE = "false"
    NONE = "none"
    NOT_NONE = "not_none"
    RAISES = "raises"
    EITHER = "either"
    """Several ways to pass."""
    CALL = "call"
    """A call of an asserting function."""
    CONSTANT = "constant"
    """True whatever the code does."""


class State(StrEnum):
    """Whether a failing assertion reaches the runner."""

    LIVE = "live"
    CONDITIONAL = "conditional"
    SWALLOWED = "swallowed"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion. `subject` and `expected` are canonical texts; `rank` 0 (nothing) to 10 (an exact value)."""

    kind: Kind
    subject: str
    expected: str
    rank: int
    text: str
    """As a person would write it."""
    line: int
    state: State = State.LIVE
    shape: str = ""
    """The canonical text with every identifier blanked, for renames."""
    words: tuple[str, ...] = ()
    """The identifiers in order, for renames."""
    tolerance: float | None = None
    """Bound or tolerance where it is a number."""
    upper: bool = False
    """True where a larger `tolerance` proves less."""
    literal: bool = False
    """True where what is expected is spelled out."""

    @property
    def live(self) -> bool:
        """True where it can fail the test whenever the test runs."""
        return self.state is State.LIVE and self.kind is not Kind.CONSTANT

    @property
    def canonical(self) -> tuple[str, str, str]:
        """What makes two assertions the same."""
        return self.kind.value, self.subject, self.expected


_UNITTEST = {
    "assertEqual": "==", "assertEquals": "==", "assertListEqual": "==", "assertDictEqual": "==", "assertSetEqual": "==",
    "assertTupleEqual": "==", "assertSequenceEqual": "==", "assertMultiLineEqual": "==", "assertNotEqual": "!=",
    "assertIs": "is", "assertIsNot": "is not", "assertIn": "in", "assertNotIn": "not in", "assertLess": "<",
    "assertLessEqual": "<=", "assertGreater": ">", "assertGreaterEqual": ">=",
}  # fmt: skip
_OPERATORS: dict[str, ast.cmpop] = {
    "==": ast.Eq(), "!=": ast.NotEq(), "is": ast.Is(), "is not": ast.IsNot(), "in": ast.In(), "not in": ast.NotIn(),
    "<": ast.Lt(), "<=": ast.LtE(), ">": ast.Gt(), ">=": ast.GtE(),
}  # fmt: skip
_OPPOSITE = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
}  # fmt: skip
_MIRROR = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}


def last_name(node: ast.AST) -> str:
    """The last part of a name or attribute, of the function for a call; empty for anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def literal(node: ast.AST) -> bool:
    """True where the expression is spelled out: constants and displays of constants."""
    if isinstance(node, ast.Call) and last_name(node) in ("approx", "frozenset", "set", "Decimal", "Fraction"):
        return all(literal(a) for a in node.args)
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(literal(e) for e in node.elts)
    if isinstance(node, ast.Dict):
        return all(k is not None and literal(k) for k in node.keys) and all(literal(v) for v in node.values)
    if isinstance(node, ast.UnaryOp):
        return literal(node.operand)
    return isinstance(node, ast.BinOp) and literal(node.left) and literal(node.right)


def number(node: ast.AST | None) -> float | None:
    """The value of a simple arithmetic expression of numbers; None for anything else."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, (int, float)) and not isinstance(node.value, bool) and abs(node.value) < 1e300:
            return float(node.value)
        return None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp):
        a, b = number(node.left), number(node.right)
        if a is None or b is None or max(abs(a), abs(b)) > 1e100:
            return None
        if isinstance(node.op, ast.Add):
            return a + b
        if isinstance(node.op, ast.Sub):
            return a - b
        if isinstance(node.op, ast.Mult):
            return a * b
        if isinstance(node.op, ast.Div) and b:
            return a / b
    return None


def canonical(node: ast.AST) -> str:
    """One spelling for equal expressions: numbers folded, keyword order and quoting left to the printer."""
    value = number(node)
    if value is not None:
        return repr(value)
    return written(node)[:MAX_TEXT]


def truth(node: ast.expr) -> bool | None:
    """What an expression is whatever the code does; None where that depends."""
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return bool(node.elts) if not any(isinstance(e, ast.Starred) for e in node.elts) else None
    if isinstance(node, ast.Dict):
        return bool(node.keys)
    if isinstance(node, (ast.Lambda, ast.GeneratorExp)):
        return True
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = truth(node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.BoolOp):
        parts = [truth(v) for v in node.values]
        decisive = isinstance(node.op, ast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compared(node.left, node.ops[0], node.comparators[0])
    return None


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool | None:
    reflexive = isinstance(op, (ast.Eq, ast.Is, ast.LtE, ast.GtE)) and isinstance(
        left, (ast.Name, ast.Constant, ast.Attribute)
    )
    if reflexive and ast.dump(left) == ast.dump(right):
        return True
    if isinstance(op, ast.GtE) and last_name(left) == "len" and number(right) == 0:
        return True
    if isinstance(op, ast.Gt) and last_name(left) == "len" and (number(right) or 0) < 0:
        return True
    if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
        if isinstance(op, ast.Eq):
            return bool(left.value == right.value)
        if isinstance(op, ast.NotEq):
            return bool(left.value != right.value)
    return None


def from_condition(test: ast.expr, line: int, *, depth: int = 0) -> Iterator[Assertion]:
    """The assertions that `assert test` makes. `and` is several; a chain of comparisons is several."""
    if depth > 40:
        return
    if isinstance(test, ast.Tuple) and test.elts:
        inner = next(from_condition(test.elts[0], line, depth=depth + 1), None)
        yield _made(
            Kind.CONSTANT, inner.subject if inner else canonical(test), inner.expected if inner else "", 0, test, line
        )
        return
    known = truth(test)
    if known is True:
        yield _made(Kind.CONSTANT, canonical(test), "", 0, test, line)
        return
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from from_condition(value, line, depth=depth + 1)
        return
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inside = test.operand
        if isinstance(inside, ast.UnaryOp) and isinstance(inside.op, ast.Not):
            yield from from_condition(inside.operand, line, depth=depth + 1)
        elif isinstance(inside, ast.Compare) and len(inside.ops) == 1:
            op = _OPPOSITE[type(inside.ops[0])]()
            yield from from_condition(ast.Compare(inside.left, [op], inside.comparators), line, depth=depth + 1)
        else:
            yield _made(Kind.FALSE, canonical(inside), "", 4, test, line)
        return
    if isinstance(test, ast.Compare):
        left = test.left
        for op, right in zip(test.ops, test.comparators, strict=True):
            yield _comparison(left, op, right, line)
            left = right
        return
    yield _truthy(test, line)


def _truthy(test: ast.expr, line: int) -> Assertion:
    name = last_name(test) if isinstance(test, ast.Call) else ""
    if isinstance(test, (ast.BoolOp, ast.IfExp)):
        return _made(Kind.EITHER, canonical(test), "", 1, test, line)
    if name in ("isinstance", "issubclass", "hasattr", "callable"):
        return _made(Kind.TYPE, canonical(test), "", 2, test, line)
    if name in ("isclose", "allclose"):
        return _near(test, line)
    if name == "all":
        return _made(Kind.TRUE, canonical(test), "", 7, test, line)
    return _made(Kind.TRUE, canonical(test), "", 4, test, line)


def _near(test: ast.expr, line: int) -> Assertion:
    assert isinstance(test, ast.Call)
    args = [canonical(a) for a in test.args[:2]] + ["", ""]
    bounds = [number(k.value) for k in test.keywords if k.arg in ("rel_tol", "abs_tol", "rtol", "atol")]
    worst = max((b for b in bounds if b is not None), default=1e-9)
    return _made(Kind.NEAR, args[0], args[1], 8, test, line, tolerance=worst, upper=True)


def _approx(node: ast.Call) -> float:
    named = {k.arg: number(k.value) for k in node.keywords}
    spread = [number(a) for a in node.args[1:3]] + [None, None]
    rel = named.get("rel", spread[0])
    size = abs(number(node.args[0]) or 1.0) if node.args else 1.0
    ab = named.get("abs", spread[1])
    if rel is None and ab is None:
        return 1e-6 * size
    return max((rel or 0.0) * size, ab or 0.0)


def _comparison(left: ast.expr, op: ast.cmpop, right: ast.expr, line: int) -> Assertion:
    shown = ast.Compare(left, [op], [right])
    if literal(left) and not literal(right) and isinstance(op, (ast.Eq, ast.NotEq, *_MIRROR)):
        left, right = right, left
        op = _MIRROR[type(op)]() if type(op) in _MIRROR else op
    if isinstance(op, (ast.Eq, ast.Is)):
        if isinstance(right, ast.Constant) and right.value is None:
            return _made(Kind.NONE, canonical(left), "None", 8, shown, line)
        if isinstance(right, ast.Constant) and isinstance(right.value, bool):
            kind = Kind.TRUE if right.value else Kind.FALSE
            return _made(kind, canonical(left), "", 5, shown, line)
        if last_name(right) == "approx" and isinstance(right, ast.Call) and right.args:
            return _made(
                Kind.NEAR, canonical(left), canonical(right.args[0]), 8, shown, line, tolerance=_approx(right), upper=True,
                spelled=literal(right.args[0]),
            )  # fmt: skip
        rank = 5 if last_name(left) in ("len", "type", "bool", "callable") and isinstance(left, ast.Call) else 10
        return _made(Kind.EQUAL, canonical(left), canonical(right), rank, shown, line, spelled=literal(right))
    if isinstance(op, (ast.NotEq, ast.IsNot)):
        if isinstance(right, ast.Constant) and right.value is None:
            return _made(Kind.NOT_NONE, canonical(left), "None", 1, shown, line)
        return _made(Kind.UNEQUAL, canonical(left), canonical(right), 3, shown, line, spelled=literal(right))
    if isinstance(op, (ast.In, ast.NotIn)):
        positive = isinstance(op, ast.In)
        word = "in" if positive else "not in"
        if isinstance(right, ast.Dict) and all(k is not None for k in right.keys):
            right = ast.Set([k for k in right.keys if k is not None])  # what is in a mapping is in its keys
        if positive and isinstance(right, (ast.Tuple, ast.List, ast.Set)) and len(right.elts) > 1:
            return _made(Kind.EITHER, canonical(left), f"in {canonical(right)}", 4, shown, line)
        return _made(Kind.MEMBER, canonical(right), f"{word} {canonical(left)}", 6, shown, line, spelled=literal(left))
    upper = isinstance(op, (ast.Lt, ast.LtE))
    sign = "<" if upper else ">"
    return _made(
        Kind.ORDER, canonical(left), f"{sign} {canonical(right)}", 6 if number(right) != 0 else 4, shown, line,
        tolerance=number(right), upper=upper, spelled=literal(right),
    )  # fmt: skip


def from_call(call: ast.Call, line: int) -> Iterator[Assertion]:
    """The assertions of a call like `self.assertEqual(a, b)` or `mock.assert_called_once_with(...)`; none for others."""
    name, args = last_name(call), call.args
    if name in _UNITTEST and len(args) >= 2:
        yield from from_condition(ast.Compare(args[0], [_OPERATORS[_UNITTEST[name]]], [args[1]]), line)
    elif name in ("assertTrue", "assert_", "failUnless") and args:
        yield from from_condition(args[0], line)
    elif name == "assertFalse" and args:
        yield from from_condition(ast.UnaryOp(ast.Not(), args[0]), line)
    elif name in ("assertIsNone", "assertIsNotNone") and args:
        op: ast.cmpop = ast.Is() if name == "assertIsNone" else ast.IsNot()
        yield from from_condition(ast.Compare(args[0], [op], [ast.Constant(None)]), line)
    elif name == "assertIsInstance" and len(args) >= 2:
        yield _made(Kind.TYPE, f"isinstance({canonical(args[0])}, {canonical(args[1])})", "", 2, call, line)
    elif name in ("assertAlmostEqual", "assertAlmostEquals") and len(args) >= 2:
        named = {k.arg: number(k.value) for k in call.keywords}
        places = named.get("places", number(args[2]) if len(args) > 2 else 7.0)
        spread = named.get("delta")
        wide = spread if spread is not None else 10.0 ** -max(-50.0, min(50.0, 7.0 if places is None else places))
        yield _made(
            Kind.NEAR, canonical(args[0]), canonical(args[1]), 8, call, line, tolerance=wide, upper=True,
            spelled=literal(args[1]),
        )  # fmt: skip
    elif name in ("assertRaises", "assertRaisesRegex", "raises") and len(args) >= 2 and not _is_pattern(name, args):
        yield raised(
            args[0], "regex" if name.endswith("Regex") else "", written(ast.Tuple(args[1:], ast.Load())), call, line
        )
    elif name.lower().startswith(("assert", "_assert", "check_", "_check", "verify_", "expect_")):
        yield _made(Kind.CALL, canonical(call), "", 7, call, line)


def _is_pattern(name: str, args: list[ast.expr]) -> bool:
    return name == "assertRaisesRegex" and len(args) == 2


def raised(kinds: ast.expr, pattern: str, body: str, shown: ast.AST, line: int) -> Assertion:
    """`with raises(kinds): body`."""
    names = sorted(last_name(k) for k in kinds.elts) if isinstance(kinds, ast.Tuple) else [last_name(kinds)]
    broad = bool({"Exception", "BaseException"} & set(names))
    rank = 2 if broad else 8 - (len(names) > 1)
    try:
        inside: ast.AST = ast.parse(body)
    except SyntaxError:
        inside = ast.Constant(body)
    made = _made(
        Kind.RAISES, body[:MAX_TEXT], f"{','.join(names)} {pattern}".strip(), rank + bool(pattern), shown, line
    )
    shape, words = _shape(inside)
    return replace(made, shape=f"{made.shape} | {shape}", words=(*made.words, *words))


def _made(
    kind: Kind, subject: str, expected: str, rank: int, shown: ast.AST, line: int, *,
    tolerance: float | None = None, upper: bool = False, spelled: bool = False,
) -> Assertion:  # fmt: skip
    shape, words = _shape(shown)
    text = written(ast.fix_missing_locations(shown))[:300]
    return Assertion(kind, subject, expected, rank, text, line, State.LIVE, shape, words, tolerance, upper, spelled)


def _shape(node: ast.AST) -> tuple[str, tuple[str, ...]]:
    """The structure with identifiers blanked, and the identifiers in order."""
    marks: list[str] = []
    words: list[str] = []
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            words.append(inner.id)
            marks.append("N")
        elif isinstance(inner, ast.Attribute):
            words.append(inner.attr)
            marks.append("A")
        elif isinstance(inner, ast.keyword):
            words.append(inner.arg or "**")
            marks.append("K")
        elif isinstance(inner, ast.Constant):
            marks.append(repr(inner.value))
        else:
            marks.append(type(inner).__name__)
    return " ".join(marks)[: 2 * MAX_TEXT], tuple(words[:400])
