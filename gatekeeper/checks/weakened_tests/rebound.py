"""What tests assert with, now replaced: a helper bound or set anew, `self.assertEqual` overridden, `raises` of the tests' own.

The tests themselves may stand unedited, and say nothing any more. Only what is spelled out counts here, and only what the
target had not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gatekeeper.checks.weakened_tests.modules import Modules
from gatekeeper.formats.python_assertions.bound_names import bound_names
from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.plainness import HOOKS, JUDGES, LIBRARY, Plainness
from gatekeeper.formats.python_assertions.support import Place, lineage
from gatekeeper.formats.python_assertions.touch import On, Touch
from gatekeeper.formats.python_code import Function, walk

_OF_CLASSES = HOOKS | LIBRARY
_OF_LIBRARIES = LIBRARY | {"raises", "warns", "approx", "fail", "failureException", "subTest"}


def rebound(modules: Modules, path: str) -> Iterator[tuple[str, str]]:
    """(name, what stands for it now) of each that the module at `path` replaces and did not replace before."""
    home, was = modules.place(path, base=False), modules.place(path, base=True)
    if home is None:
        return
    plain = modules.plainness(home, base=False)
    before = {(t.name, t.root) for t in was.touches} if was is not None else set()
    for touch in home.touches:
        if touch.name and (touch.name, touch.root) not in before and _asserts_with(modules, plain, home, touch):
            yield touch.name, f"{touch.name} is set to something else by {path}"
    if was is None:
        return
    for name, node in was.functions.items():
        if _asserts(node) and home.binds[name] > 1 and any(_defines(n, name) for n in home.tree.body):
            yield name, f"{name} is bound {home.binds[name]} times in {path}"
    earlier = modules.plainness(was, base=True)
    for name in sorted(JUDGES & set(was.imports)):
        if (home.binds[name], home.imports.get(name)) == (was.binds[name], was.imports[name]):
            continue
        other = home.binds[name] and not plain.of_a_library(name) and _replaced(home, was, plain, name)
        if other and was.binds[name] == 1 and earlier.of_a_library(name):
            yield name, f"{name} is one of the tests' own in {path}"
    for name in set(was.classes) & set(home.classes):
        yield from _overridden(modules, home, was, name)


def _overridden(modules: Modules, home: Place, was: Place, name: str) -> Iterator[tuple[str, str]]:
    """Assertions of the test library that a class of tests or one of its bases defines anew."""
    node = home.classes[name]
    used = {last_name(n) for n in walk(node) if isinstance(n, ast.Call)}
    if not any(isinstance(s, Function) and s.name.startswith("test") for s in node.body) or not used & LIBRARY:
        return
    look, earlier = modules.plainness(home, base=False).look, modules.plainness(was, base=True).look
    known = {n for _, c in lineage(was, name, earlier) for n, _ in bound_names(c.body)}
    for at, owner in lineage(home, name, look):
        for n in sorted(
            {n for n, _ in bound_names(owner.body)} & (_OF_CLASSES & used | HOOKS - {"run", "debug", "__call__"})
        ):
            given = next((s for s in owner.body if _defines(s, n)), None)
            if n not in known and not (given is not None and _hands_on(given, n)):
                yield n, f"{owner.name} of {at.path} overrides {n}"


def _asserts_with(modules: Modules, plain: Plainness, home: Place, touch: Touch) -> bool:
    """The target's tests assert with what is set."""
    name = touch.name
    library = touch.on in (On.IMPORTED, On.DOTTED) and touch.root.split(".")[0] in ("unittest", "pytest")
    if library and name in _OF_LIBRARIES and ".mock" not in touch.root:
        return True
    reach = plain.reach(home, touch)
    path, _, owner = reach.partition("::")
    if touch.on is On.UNKNOWN:
        path = home.path
    at, was = modules.place(path, base=False), modules.place(path, base=True)
    if at is None or was is None or not at.tests:
        return False
    if owner or touch.on is On.UNKNOWN:
        for kind in [owner] if owner else list(was.classes):
            if kind not in was.classes:
                continue
            for _, node in lineage(was, kind, modules.plainness(was, base=True).look):
                if any(_defines(s, name) and _asserts(s) for s in node.body):
                    return True
            tests = any(isinstance(s, Function) and s.name.startswith("test") for s in was.classes[kind].body)
            if owner and tests and name in LIBRARY | (HOOKS - {"run"}):
                return True
    return not owner and name in was.functions and _asserts(was.functions[name])


def _replaced(home: Place, was: Place, plain: Plainness, name: str) -> bool:
    """Not for something computed elsewhere: the module itself means another thing by the name."""
    origin = home.imports.get(name, "")
    inside = plain.look(home, origin) is not None or plain.look(home, f"{origin}._") is not None if origin else True
    return inside or home.binds[name] > was.binds[name]


def _defines(node: ast.AST, name: str) -> bool:
    return isinstance(node, Function) and node.name == name


def _asserts(node: ast.AST) -> bool:
    return isinstance(node, Function) and not node.name.startswith("test") and any(
        isinstance(n, ast.Assert | ast.Raise)
        or (isinstance(n, ast.Call) and last_name(n).startswith(("assert", "fail", "raises", "check")))
        for n in ast.walk(node)
    )  # fmt: skip


def _hands_on(node: ast.AST, name: str) -> bool:
    """It asks the library's own as well, with what it was given."""
    given = [a.arg for a in node.args.args] if isinstance(node, Function) else []
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == name and last_name(n.func.value) == "super"
        and [a.id for a in n.args[:2] if isinstance(a, ast.Name)] == given[1:3]
        for n in ast.walk(node)
    )  # fmt: skip
