"""What the parameters of a helper stand for at one call, and the helper's own names kept apart from the caller's."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from gatekeeper.formats.python_code import Function


class NotPlain(Exception):
    """What a helper does cannot be written out at the place where it is called."""


def bound(call: ast.Call, helper: Function, first: ast.expr | None) -> dict[str, ast.expr]:
    """Parameter name to argument; `first` is what the call is made on, for a method."""
    spec = helper.args
    names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
    given = [*([first] if first is not None else []), *call.args]
    named = {k.arg: k.value for k in call.keywords if k.arg is not None}
    if len(named) != len(call.keywords) or any(isinstance(a, ast.Starred) for a in given):
        raise NotPlain
    if len(given) > len(names) and spec.vararg is None:
        raise NotPlain
    table = dict(zip(names, given, strict=False))
    rest = given[len(names) :]
    for name, default in zip(reversed(names), reversed(spec.defaults), strict=False):
        table.setdefault(name, named.pop(name, default))
    for arg, chosen in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        value = named.pop(arg.arg, chosen)
        if value is not None:
            table[arg.arg] = value
    for name in names:
        if name in named:
            if name in table:
                raise NotPlain
            table[name] = named.pop(name)
    if spec.vararg is not None:
        table[spec.vararg.arg] = ast.Tuple(list(rest), ast.Load())
    if spec.kwarg is not None:
        table[spec.kwarg.arg] = ast.Dict([ast.Constant(n) for n in named], list(named.values()))
    elif named:
        raise NotPlain
    if set(names) - set(table):
        raise NotPlain
    return table


class Substitution(ast.NodeTransformer):
    """Names replaced by what they stand for. A default that gives way to what the caller handed over is chosen at once."""

    def __init__(self, env: Mapping[str, ast.expr]) -> None:
        self.env = env

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: D102
        value = self.env.get(node.id)
        if value is None:
            return node
        if isinstance(node.ctx, ast.Load):
            return copy.deepcopy(value)
        if isinstance(value, ast.Name):
            return ast.copy_location(ast.Name(value.id, node.ctx), node)
        raise NotPlain

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:  # noqa: D102
        if any(a.arg in self.env for a in ast.walk(node.args) if isinstance(a, ast.arg)):
            raise NotPlain
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # noqa: D102
        if node.name in self.env or any(a.arg in self.env for a in ast.walk(node.args) if isinstance(a, ast.arg)):
            raise NotPlain
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:  # noqa: D102
        head = node.values[0]
        if isinstance(node.op, ast.Or) and len(node.values) == 2 and isinstance(head, ast.Name) and head.id in self.env:
            empty = falsy(self.env[head.id])
            if empty is not None:
                return self.visit(node.values[1] if empty else head)  # type: ignore[no-any-return]
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:  # noqa: D102
        sure = chosen(node.test, self.env)
        if sure is not None:
            return self.visit(node.body if sure else node.orelse)  # type: ignore[no-any-return]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: D102
        self.generic_visit(node)
        args: list[ast.expr] = []
        for a in node.args:
            spread = a.value if isinstance(a, ast.Starred) else None
            args += spread.elts if isinstance(spread, ast.Tuple | ast.List) else [a]
        keywords: list[ast.keyword] = []
        for k in node.keywords:
            if (
                k.arg is None
                and isinstance(k.value, ast.Dict)
                and all(isinstance(n, ast.Constant) for n in k.value.keys)
            ):
                pairs = zip(k.value.keys, k.value.values, strict=True)
                keywords += [ast.keyword(str(n.value), v) for n, v in pairs if isinstance(n, ast.Constant)]
            else:
                keywords.append(k)
        node.args, node.keywords = args, keywords
        return node


def falsy(node: ast.expr) -> bool | None:
    """Whether a value handed over gives way to a default; None where the source does not tell."""
    if isinstance(node, ast.Constant):
        return not node.value
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return not node.elts
    if isinstance(node, ast.Dict):
        return not node.keys
    return False if isinstance(node, ast.Name | ast.Attribute | ast.Call) else None


def chosen(test: ast.expr, env: Mapping[str, ast.expr]) -> bool | None:
    """What `p is None` or `p is not None` is for a parameter; None for any other question."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
        return None
    right, op = test.comparators[0], test.ops[0]
    if not isinstance(right, ast.Constant) or right.value is not None or test.left.id not in env:
        return None
    value = env[test.left.id]
    none = isinstance(value, ast.Constant) and value.value is None
    if isinstance(op, ast.Is):
        return none
    return not none if isinstance(op, ast.IsNot) else None


def substituted(node: ast.expr, env: Mapping[str, ast.expr]) -> ast.expr:
    """A copy of an expression with the names of `env` replaced."""
    out = Substitution(env).visit(copy.deepcopy(node))
    if not isinstance(out, ast.expr):
        raise NotPlain
    return out
