"""Where the helpers that a test calls are defined, and which of them can be written out as their `def` says."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping

from gatekeeper.formats.python_assertions.binding import NotPlain
from gatekeeper.formats.python_assertions.bound_names import bound_names, local_names
from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.frames import frame, swallows
from gatekeeper.formats.python_assertions.plainness import JUDGES, Plainness, builtin
from gatekeeper.formats.python_assertions.statements import Env
from gatekeeper.formats.python_assertions.support import Place, method
from gatekeeper.formats.python_code import Function

OWN = "__of_the_tests"
"""Ending of a name that the tests' own modules define in the place of an imported one."""
Found = tuple[Place, Function, bool]
"""Module, function, whether it is a method."""


class Helpers:
    """Those of one test module; `enter` says for which test."""

    def __init__(
        self, home: Place, plainness: Plainness, known: Mapping[str, str], trusted: frozenset[str] | None
    ) -> None:
        """`trusted` are the frames of the older version; None for that version itself, all of whose frames are."""
        self._home, self._plain, self._known, self._trusted = home, plainness, known, trusted
        self._look = plainness.look
        self._class, self._first = "", ""
        self._hidden: frozenset[str] = frozenset()
        self.foreign: set[str] = set()
        """Names that the tests' own other modules define and that were written out."""
        self.frames: set[str] = set()
        """Context managers of the tests that were met."""

    def enter(self, class_name: str, node: Function) -> None:
        """From now on it is this test that calls."""
        self._class, self._hidden = class_name, local_names(node)
        first = node.args.args[0].arg if node.args.args and class_name else ""
        self._first = "" if first in {n for n, _ in bound_names(node.body)} else first

    def swallows(self, call: ast.expr, at: Place) -> bool:
        """The frame is one of the tests' own that keeps failures inside, or may, and the older version had it not."""
        found = frame(call, at, self._home, self._class, self._look)
        if found is None:
            return False
        place, node = found
        text = ast.dump(node) if node is not None else ast.dump(call)
        self.frames.add(text)
        plain = node is None or self._plain.function(place, node.name) or place.functions.get(node.name) is not node
        return (
            self._trusted is not None and text not in self._trusted and (not plain or swallows(node, place, self._look))
        )

    def of_the_library(self, call: ast.expr) -> bool:
        """`self.subTest` is the one of the test library."""
        func = call.func if isinstance(call, ast.Call) else call
        own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("self", "cls")
        return not own or self._plain.inherited(self._class, last_name(call))

    def find(self, call: ast.Call, at: Place) -> Found | None:
        """(module, function, whether it is a method) of a helper of the tests."""
        func = call.func
        if isinstance(func, ast.Name):
            if func.id in self._hidden:
                return None
            if func.id in at.functions:
                return at, at.functions[func.id], False
            found = self._look(at, at.imports[func.id]) if func.id in at.imports else None
            node = found[0].functions.get(found[1]) if found is not None and found[0].tests else None
            return (found[0], node, False) if found is not None and node is not None else None
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("self", "cls"):
            if func.value.id != self._first:
                return None
            bound_to = method(self._home, self._class, func.attr, self._look) if self._class else None
            return (bound_to[0], bound_to[1], True) if bound_to is not None else None
        return None

    def reliable(self, call: ast.Call, at: Place, found: Found) -> bool:
        """Nothing may have put something else in the place of the helper."""
        place, node, bound_method = found
        if any(isinstance(d, ast.Name) and place.binds[d.id] for d in node.decorator_list):
            return False
        if bound_method:
            return self._plain.method(self._class, node.name)
        if not self._plain.function(place, node.name):
            return False
        return (
            not isinstance(call.func, ast.Name)
            or call.func.id in at.functions
            or self._plain.imported(at, call.func.id)
        )

    def doubtful(self, call: ast.Call, at: Place) -> ast.Call | None:
        """A call of a helper that may be something else: an assertion that is the same only as the same call of the same."""
        found = self.find(call, at)
        if found is None or self.reliable(call, at, found):
            return None
        shown = ast.Constant(hashlib.sha256(ast.dump(found[1]).encode()).hexdigest())
        return ast.copy_location(ast.Call(ast.Name(f"assert{OWN}", ast.Load()), [shown, call], []), call)

    def same_names(self, at: Place, node: Function) -> Env:
        """A helper of another module must mean by its names what the module of the test means by them.

        What it defines itself under a name that the tests took from elsewhere is given a name of its own.
        """
        env: Env = {}
        if at is self._home:
            return env
        own = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
        for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - own:
            there = at.imports.get(name, "")
            here = self._known.get(name, "")
            if name in at.defined or name in at.values:
                self.foreign.add(name)
                if name in JUDGES:
                    raise NotPlain
                if (here and self._own_module(here) is None) or (not here and builtin(name)):
                    env[name] = ast.Name(name + OWN, ast.Load())
            elif not at.binds[name]:
                stars = self._plain.stars(at, name)
                if stars and (builtin(name) or name in JUDGES or (here and any(here != f"{s}.{name}" for s in stars))):
                    raise NotPlain
            elif (name not in local_names(node) and not (there and self._plain.imported(at, name))) or (
                there
                and (
                    (here and there.lstrip(".") != here.lstrip("."))
                    or (name in JUDGES and self._look(at, f"{there}._") is not None)
                )
            ):
                raise NotPlain
        return env

    def _own_module(self, origin: str) -> Place | None:
        found = self._look(self._home, origin)
        return found[0] if found is not None and found[0].tests else None


def own_names(node: Function) -> set[str]:
    """Names that a helper binds in other ways than by assignment, which are told apart from the caller's."""
    stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    given = {a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]}
    return set(local_names(node)) - stored - given
