"""What a test is made of: constants, names it uses, assertions. Two tests of the same material prove the same."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from gatekeeper.formats import python_code
from gatekeeper.records import dataclass, field

_ASSERTING = ("assert", "check", "verify", "expect", "should", "validate", "ensure", "compare", "approve", "match")
_RAISING = {"raises", "warns", "deprecated_call", "fail"}
_IGNORED = {"self", "cls", "pytest", "parametrize", "mark", "param", "assertEqual", "assertTrue", "assertFalse"}


@dataclass(frozen=True)
class Material:
    """Bags of what a test says. Constants are their reprs."""

    constants: Counter[str] = field(default_factory=Counter)
    names: frozenset[str] = frozenset()
    assertions: int = 0

    def within(self, other: Material, share: float = 1.0) -> bool:
        """True where at least `share` of what this test says is said by `other` too, with as many assertions of some kind."""
        if self.assertions and not other.assertions:
            return False
        said = len(set(self.constants)) + len(self.names)
        if not said:
            return False
        missing = sum(1 for c in self.constants if c not in other.constants) + len(self.names - other.names)
        return missing <= said * (1 - share)


def material(node: ast.AST) -> Material:
    """The material of one definition, its decorators included."""
    constants: Counter[str] = Counter()
    names: set[str] = set()
    count = 0
    for one in ast.walk(python_code.without_docstrings(node)):
        if isinstance(one, ast.Constant) and one.value is not None and one.value is not Ellipsis:
            constants[repr(one.value)] += 1
        elif isinstance(one, ast.Call):
            name = call_name(one)
            names.add(name)
            count += _asserts(name)
        elif isinstance(one, ast.Assert):
            count += 1
    return Material(
        constants, frozenset(n for n in names if n and n not in _IGNORED and not n.startswith("assert")), count
    )


def call_name(node: ast.Call) -> str:
    """The last part of what is called: `f` in a.b.f()."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _asserts(name: str) -> bool:
    return name in _RAISING or name.lstrip("_").lower().startswith(_ASSERTING)


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a definition's body and its inner functions, without its decorators and arguments."""
    for statement in getattr(node, "body", ()):
        yield from ast.walk(statement)


def _constant_truth(node: ast.expr) -> bool:
    """An expression that is true whatever the code does: True, 1, x == x, `x or True`, a non-empty tuple."""
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.Tuple | ast.List):
        return bool(node.elts)
    if isinstance(node, ast.BoolOp):
        parts = [_constant_truth(v) for v in node.values]
        return any(parts) if isinstance(node.op, ast.Or) else all(parts)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
        return not node.operand.value
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right, op = node.left, node.comparators[0], node.ops[0]
        if isinstance(left, ast.Constant) and isinstance(right, ast.Constant) and isinstance(op, ast.Eq | ast.Is):
            return bool(left.value == right.value)
        if isinstance(op, ast.Eq | ast.Is) and ast.dump(left) == ast.dump(right):
            return not any(isinstance(n, ast.Call) for n in ast.walk(left))
        length = isinstance(left, ast.Call) and call_name(left) == "len"
        return length and isinstance(op, ast.GtE) and isinstance(right, ast.Constant) and right.value == 0
    return False


def proves_nothing(node: ast.AST) -> str:
    """Why a test can not fail: `constant` (only assertions that always hold), `empty` (nothing is done), or "".

    `silent` is a test that does something and asserts nothing: it still fails where the code raises.
    """
    held = told = 0
    works = False
    for one in own_nodes(node):
        if isinstance(one, ast.Assert):
            told += 1
            held += _constant_truth(one.test)
        elif isinstance(one, ast.Raise | ast.Yield | ast.YieldFrom):
            return ""
        elif isinstance(one, ast.Call):
            works = True
            name = call_name(one)
            if _asserts(name) or name in ("skip", "xfail", "importorskip", "benchmark"):
                told += 1
                always = (
                    name in ("assertTrue", "assertIsNotNone", "assert_") and one.args and _constant_truth(one.args[0])
                )
                always = always or (
                    name in ("assertEqual", "assertIs") and len(one.args) > 1 and ast.dump(one.args[0]) == ast.dump(one.args[1])
                    and not any(isinstance(n, ast.Call) for n in ast.walk(one.args[0]))
                )  # fmt: skip
                held += bool(always)
        elif isinstance(
            one,
            ast.Await
            | ast.With
            | ast.AsyncWith
            | ast.Import
            | ast.ImportFrom
            | ast.Subscript
            | ast.Attribute
            | ast.BinOp,
        ):
            works = True
    if told:
        return "constant" if told == held else ""
    return "silent" if works else "empty"
