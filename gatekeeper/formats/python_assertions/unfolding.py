"""A test with what its helpers and fixtures do written out in their place, so that it compares with one that says it itself.

Only what runs in any case, in this order, is written out; anything else stays the call that it is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from gatekeeper.formats.python_assertions.binding import NotPlain, bound, chosen, substituted
from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.frames import defaults, hushed
from gatekeeper.formats.python_assertions.helpers import Helpers, own_names
from gatekeeper.formats.python_assertions.plainness import Plainness
from gatekeeper.formats.python_assertions.statements import (
    Attributes,
    Env,
    bare,
    given_once,
    parts,
    placed,
    statement,
    straightened,
    under,
    unpacked,
    unrolled,
)
from gatekeeper.formats.python_assertions.support import Place, is_fixture, method, row_names
from gatekeeper.formats.python_code import Function

_DEPTH = 4
_MOST = 400
"""Statements that one test is written out to."""


class Unfolder:
    """Writes out the tests of one module."""

    def __init__(
        self, home: Place, plainness: Plainness, fixtures: Mapping[str, tuple[Place, Function]], known: Mapping[str, str],
        trusted: frozenset[str] | None = None,
    ) -> None:  # fmt: skip
        """`fixtures` of the conftest files around; `known`: what the names of the module's tests stand for, base and change.

        `trusted` are the frames of the older version; None for that version itself, all of whose frames are.
        """
        self._home, self._plain, self._fixtures = home, plainness, fixtures
        self._look = plainness.look
        self._helpers = Helpers(home, plainness, known, trusted)
        self._count = 0
        self._size = 0
        self._class = ""
        self.foreign, self.frames = self._helpers.foreign, self._helpers.frames
        self.called: set[str] = set()
        """Helpers that were written out."""
        self.hushed = False
        """Whether a frame that the older version had not keeps failures inside."""

    def function(self, name: str, node: Function, row: Env | None = None) -> Function:
        """The test `name`, with parameters bound as `row` says. Raises `NotPlain` where there is too much of it."""
        self._class = name.rpartition(".")[0]
        self._size = 0
        made = copy.copy(node)
        env: Env = dict(row or {})
        lines: list[ast.stmt] = []
        self._helpers.enter(self._class, node)
        marks = [d for d in node.decorator_list if isinstance(d, ast.Call) and last_name(d) == "parametrize"]
        apart = {"self", "cls", "request", *env, *defaults(node), *(n for m in marks for n in row_names(m))}
        for arg in [*node.args.args, *node.args.kwonlyargs]:
            if not {arg.arg, ""} & apart:
                lines += self._fixture(arg.arg, arg.arg, 0)
        hook = self._set_up()
        body = [*lines, *hook, *(under(node.body, env) if env else node.body)]
        made.body = parts(self._block(body, {}, self._home, 0))
        attributes = given_once(hook)
        if attributes:
            Attributes(attributes).visit(made := copy.deepcopy(made))
        return ast.fix_missing_locations(made)

    def _fixture(self, name: str, target: str, depth: int) -> list[ast.stmt]:
        """`target = what the fixture gives`, after what it does before; nothing for a fixture that is not plain."""
        at, node = (self._home, self._home.functions[name]) if name in self._home.functions else self._fixtures.get(
            name, (self._home, None)
        )  # fmt: skip
        if node is None or not is_fixture(node) or depth > _DEPTH or isinstance(node, ast.AsyncFunctionDef):
            return []
        if not self._plain.fixture(self._class, name, at, node):
            return []
        try:
            env = self._helpers.same_names(at, node)
            body = [s for s in node.body if not bare(s)]
            last = body[-1] if body else None
            given = last.value if isinstance(last, ast.Return) else None
            for at_yield, s in enumerate(body):
                if isinstance(s, ast.Expr) and isinstance(s.value, ast.Yield):
                    given, body = s.value.value, body[: at_yield + 1]
                    break
            if given is None or any(isinstance(n, ast.Yield | ast.Return) for s in body[:-1] for n in ast.walk(s)):
                return []
            lines: list[ast.stmt] = []
            for arg in node.args.args:
                env[arg.arg] = ast.Name(self._fresh(arg.arg), ast.Load())
                inner = self._fixture(arg.arg, env[arg.arg].id, depth + 1)  # type: ignore[attr-defined]
                if not inner:
                    env[arg.arg] = ast.Name(arg.arg, ast.Load())
                lines += inner
            lines += self._body(body[:-1], env, at, depth + 1)
            lines.append(ast.Assign([ast.Name(target, ast.Store())], substituted(given, env)))
            self.called.add(name)
        except NotPlain:
            return []
        return [placed(s, self._home.tree.body[0] if self._home.tree.body else node) for s in lines]

    def _set_up(self) -> list[ast.stmt]:
        """What `setUp` does for the test, where it only gives attributes."""
        if not self._class:
            return []
        for hook in ("setUp", "setup_method"):
            found = method(self._home, self._class, hook, self._look)
            plain = self._plain.method(self._class, hook)
            if found is not None and found[0] is self._home and len(found[1].args.args) == 1 and plain:
                return [s for s in found[1].body if isinstance(s, ast.Assign)]
        return []

    def _fresh(self, name: str) -> str:
        self._count += 1
        return f"{name}__{self._count}"

    def _block(self, body: list[ast.stmt], env: Env, at: Place, depth: int) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in body:
            self._size += 1
            if self._size > _MOST:
                raise NotPlain
            out += self._one(s, env, at, depth)
        return out

    def _one(self, s: ast.stmt, env: Env, at: Place, depth: int) -> list[ast.stmt]:
        if isinstance(s, ast.Expr):
            call = s.value.value if isinstance(s.value, ast.Await) else s.value
            if isinstance(call, ast.Call):
                lines = self._called(call, isinstance(s.value, ast.Await), at, depth)
                if lines is not None:
                    return [placed(n, s) for n in lines[0]]
                if (doubtful := self._helpers.doubtful(call, at)) is not None:
                    return [ast.copy_location(ast.Expr(doubtful), s)]
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) and len(s.targets) == 1:
            lines = self._called(s.value, False, at, depth)
            if lines is not None and lines[1] is not None:
                s = ast.copy_location(ast.Assign(s.targets, lines[1]), s)
                return [*(placed(n, s) for n in lines[0]), *unpacked(s)]
        if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return [s]
        if isinstance(s, ast.With | ast.AsyncWith):
            quiet = [self._helpers.swallows(i.context_expr, at) for i in s.items]
            if any(quiet):
                self.hushed = True
                return [hushed(s, self._block(s.body, env, at, depth))]
            if all(
                last_name(i.context_expr) == "subTest" and self._helpers.of_the_library(i.context_expr) for i in s.items
            ):
                return self._block(s.body, env, at, depth)
        if isinstance(s, ast.For) and (rounds := unrolled(s)) is not None:
            return self._block(rounds, env, at, depth)
        if isinstance(s, ast.With | ast.AsyncWith | ast.For | ast.AsyncFor | ast.While | ast.If | ast.Try):
            made = copy.copy(s)
            for field in ("body", "orelse", "finalbody"):
                if getattr(s, field, None):
                    setattr(made, field, self._block(getattr(s, field), env, at, depth))
            return [made]
        s = self._values(s, at, depth)
        return unpacked(s) if isinstance(s, ast.Assign) else [s]

    def _values(self, s: ast.stmt, at: Place, depth: int) -> ast.stmt:
        """Calls of helpers that are one expression replaced by it."""
        unfolder = self

        class Calls(ast.NodeTransformer):
            def visit_Call(self, node: ast.Call) -> ast.AST:
                self.generic_visit(node)
                made = unfolder._called(node, False, at, depth)
                return made[1] if made is not None and made[1] is not None and not made[0] else node

        if not any(isinstance(n, ast.Call) and self._helpers.find(n, at) is not None for n in ast.walk(s)):
            return s
        visited = Calls().visit(copy.deepcopy(s))
        return visited if isinstance(visited, ast.stmt) else s

    def _called(
        self, call: ast.Call, awaited: bool, at: Place, depth: int
    ) -> tuple[list[ast.stmt], ast.expr | None] | None:
        """(what the helper does, what it gives); None where that cannot be told."""
        found = self._helpers.find(call, at)
        if found is None or depth >= _DEPTH or not self._helpers.reliable(call, at, found):
            return None
        place, node, bound_method = found
        marks = {last_name(d) for d in node.decorator_list}
        if isinstance(node, ast.AsyncFunctionDef) is not awaited or marks - {"staticmethod", "classmethod"}:
            return None
        if any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal) for n in ast.walk(node)):
            return None
        if any(n in place.functions or n in place.imports for n in own_names(node)):
            return None
        size = self._size
        try:
            other = self._helpers.same_names(place, node)
            first = call.func.value if bound_method and isinstance(call.func, ast.Attribute) else None
            env = {**other, **bound(call, node, None if "staticmethod" in marks else first)}
            body = [s for s in node.body if not bare(s)]
            value: ast.expr | None = None
            given = body[-1] if body and isinstance(body[-1], ast.Return) else None
            lines = self._body(straightened(body[:-1] if given is not None else body), env, place, depth + 1)
            if given is not None and given.value is not None:
                value = substituted(given.value, env)
            self.called.add(node.name)
        except NotPlain:
            self._size = size
            return None
        return lines, value

    def _body(self, body: list[ast.stmt], env: Env, at: Place, depth: int) -> list[ast.stmt]:
        """Statements of a helper with its names told apart from the caller's; `env` is what they stand for at the end."""
        stores: dict[str, int] = {}
        for s in body:
            for n in ast.walk(s):
                if isinstance(n, ast.Attribute | ast.Subscript) and not isinstance(n.ctx, ast.Load):
                    raise NotPlain  # it makes the state that it asks about
                if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
                    stores[n.id] = stores.get(n.id, 0) + 1
        for name in stores:
            if name not in env:
                env[name] = ast.Name(self._fresh(name), ast.Load())
        given = {
            n for n, v in env.items() if n in stores and not (isinstance(v, ast.Name) and v.id.startswith(f"{n}__"))
        }
        out: list[ast.stmt] = []
        for s in body:
            if isinstance(s, ast.If) and not s.orelse and chosen(s.test, env) is not None:
                out += self._body(s.body, env, at, depth) if chosen(s.test, env) else []
                continue
            if isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name):
                name = s.targets[0].id
                value = substituted(s.value, env)
                if name in given or stores[name] > 1:
                    env[name] = ast.Name(self._fresh(name), ast.Load())
                target = env[name]
                assert isinstance(target, ast.Name)
                out += self._one(
                    ast.copy_location(ast.Assign([ast.Name(target.id, ast.Store())], value), s), {}, at, depth
                )
                continue
            if given & {n.id for n in ast.walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}:
                raise NotPlain
            out += self._block([statement(s, env)], {}, at, depth)
        return out
