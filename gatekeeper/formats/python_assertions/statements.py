"""Statements as they are written out: rows of a loop, returns straightened, parts of tuples compared one by one."""

from __future__ import annotations

import ast
import copy

from gatekeeper.formats.python_assertions.binding import NotPlain, Substitution
from gatekeeper.formats.python_assertions.expression import last_name

_ROUNDS = 60
"""Rows of one loop."""
_PART = "__part__"
_ASSERTS = frozenset({"assertEqual", "assertEquals", "assertTupleEqual"})
Env = dict[str, ast.expr]


class Attributes(ast.NodeTransformer):
    """`self.x`, given once, as a name of its own."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:  # noqa: D102
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self._names:
            return ast.copy_location(ast.Name(f"self__{node.attr}", node.ctx), node)
        return node


def given_once(hook: list[ast.stmt]) -> frozenset[str]:
    """Attributes that these statements assign once."""
    names = [t.attr for s in hook if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Attribute)]
    return frozenset(n for n in names if names.count(n) == 1)


def unrolled(s: ast.For) -> list[ast.stmt] | None:
    """The rounds of a loop over rows that are spelled out; None for any other loop."""
    rows = s.iter.elts if isinstance(s.iter, ast.List | ast.Tuple) else []
    left = (ast.Break, ast.Continue, ast.Return)
    if not 0 < len(rows) <= _ROUNDS or s.orelse or any(isinstance(n, left) for b in s.body for n in ast.walk(b)):
        return None
    out: list[ast.stmt] = []
    try:
        for row in rows:
            env: Env = {}
            pairs = [(s.target, row)]
            if isinstance(s.target, ast.Tuple | ast.List):
                if not isinstance(row, ast.Tuple | ast.List) or len(row.elts) != len(s.target.elts):
                    return None
                pairs = list(zip(s.target.elts, row.elts, strict=True))
            for name, value in pairs:
                if not isinstance(name, ast.Name) or isinstance(value, ast.Starred):
                    return None
                env[name.id] = value
            out += under(s.body, env)
    except NotPlain:
        return None
    return out


def bare(s: ast.stmt) -> bool:
    """A docstring or another constant that stands alone."""
    return isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)


def straightened(body: list[ast.stmt]) -> list[ast.stmt]:
    """No `return`: what stands behind one is left out, or stands under the opposite of its condition."""
    out: list[ast.stmt] = []
    for i, s in enumerate(body):
        if isinstance(s, ast.Return):
            return out
        if isinstance(s, ast.If) and not s.orelse and s.body and isinstance(s.body[-1], ast.Return):
            inner = s.body[:-1] or [ast.Pass()]
            out.append(ast.copy_location(ast.If(s.test, inner, straightened(body[i + 1 :]) or [ast.Pass()]), s))
            break
        out.append(s)
    if any(isinstance(n, ast.Return) for s in out for n in ast.walk(s)):
        raise NotPlain
    return out


def statement(s: ast.stmt, env: Env) -> ast.stmt:
    """A copy of a statement with the names of `env` replaced."""
    made = Substitution(env).visit(copy.deepcopy(s))
    if not isinstance(made, ast.stmt):
        raise NotPlain
    return made


def placed(s: ast.stmt, where: ast.stmt) -> ast.stmt:
    """The same with the line of the call, which is where a reader looks."""
    made = copy.deepcopy(s)
    for n in ast.walk(made):
        if "lineno" in n._attributes:
            ast.copy_location(n, where)
    return made


def unpacked(s: ast.Assign) -> list[ast.stmt]:
    """`a, b = f()` as two names of the parts of one value."""
    target = s.targets[0]
    if len(s.targets) != 1 or not isinstance(target, ast.Tuple | ast.List):
        return [s]
    if not all(isinstance(t, ast.Name) for t in target.elts):
        return [s]
    if isinstance(s.value, ast.Tuple | ast.List):
        if len(s.value.elts) != len(target.elts) or any(isinstance(v, ast.Starred) for v in s.value.elts):
            return [s]
        values = list(s.value.elts)
    else:
        values = [_part(s.value, i, len(target.elts)) for i in range(len(target.elts))]
    return [ast.copy_location(ast.Assign([t], v), s) for t, v in zip(target.elts, values, strict=True)]


def _part(whole: ast.expr, at: int, of: int) -> ast.expr:
    return ast.Call(ast.Name(_PART, ast.Load()), [whole, ast.Constant(at), ast.Constant(of)], [])


def _compared(s: ast.stmt) -> list[ast.stmt]:
    pair: tuple[ast.expr, ast.expr] | None = None
    if isinstance(s, ast.Assert) and isinstance(s.test, ast.Compare) and len(s.test.ops) == 1:
        if isinstance(s.test.ops[0], ast.Eq):
            pair = (s.test.left, s.test.comparators[0])
    elif isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and last_name(s.value) in _ASSERTS:
        pair = (s.value.args[0], s.value.args[1]) if len(s.value.args) >= 2 else None
    if pair is None:
        return [s]
    if isinstance(pair[0], ast.Tuple) and not isinstance(pair[1], ast.Tuple):
        pair = (pair[1], pair[0])
    got, wanted = pair
    if (
        not isinstance(wanted, ast.Tuple)
        or len(wanted.elts) < 2
        or any(isinstance(e, ast.Starred) for e in wanted.elts)
    ):
        return [s]
    if isinstance(got, ast.Tuple) and len(got.elts) == len(wanted.elts):
        gots = list(got.elts)
    else:
        gots = [_part(got, i, len(wanted.elts)) for i in range(len(wanted.elts))]
    return [
        ast.copy_location(ast.Assert(ast.Compare(g, [ast.Eq()], [w])), s)
        for g, w in zip(gots, wanted.elts, strict=True)
    ]  # fmt: skip


def under(body: list[ast.stmt], env: Env) -> list[ast.stmt]:
    """Statements with the names of `env` replaced. Raises `NotPlain` where one of them is bound in them."""
    stored = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if stored & set(env):
        raise NotPlain
    return [statement(s, env) for s in body]


def parts(body: list[ast.stmt]) -> list[ast.stmt]:
    """A comparison with a whole tuple is one with each of its parts."""
    out: list[ast.stmt] = []
    for s in body:
        for field in ("body", "orelse", "finalbody"):
            if getattr(s, field, None) and isinstance(
                s, ast.With | ast.AsyncWith | ast.For | ast.If | ast.Try | ast.While
            ):
                setattr(s, field, parts(getattr(s, field)))
        out += _compared(s)
    return out
