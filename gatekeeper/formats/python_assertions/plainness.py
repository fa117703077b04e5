"""Whether a helper of the tests still is what its `def` says when a test calls it.

A helper is plain where nothing that is loaded with the test can bind its name anew or set something else in its place:
not its module, the module of the test, those of the test's bases, the conftest files around or what they import.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from functools import cached_property

from gatekeeper.formats.python_assertions.bound_names import bound_names, local_names
from gatekeeper.formats.python_assertions.case_classes import bends, unreadable
from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.support import Look, Place, lineage
from gatekeeper.formats.python_assertions.touch import On, Touch
from gatekeeper.formats.python_code import Function

_REACHES = frozenset({"sys", "builtins", "gc", "inspect", "importlib", "ctypes", "types", "__main__", "unittest"})
"""Modules through which anything may be set."""
_STANDARD = frozenset({"raises", "warns", "approx", "subTest", "fail", "isclose", "allclose", "suppress"})
JUDGES = frozenset({"pytest", "unittest", "raises", "warns", "approx", "contextlib", "suppress"})
"""Names that the reading of assertions takes for what the test libraries mean by them."""
HOOKS = frozenset(
    {"run", "__call__", "debug", "fail", "failureException", "subTest", "addTypeEqualityFunc", "_type_equality_funcs",
     "_callTestMethod", "_callSetUp", "_baseAssertEqual", "_getAssertEqualityFunc", "_formatMessage", "assertMultiLineEqual",
     "assertSequenceEqual", "assertListEqual", "assertTupleEqual", "assertSetEqual", "assertDictEqual"}
)  # fmt: skip
"""Attributes of a test case on which its assertions rest."""
LIBRARY = frozenset(
    f"assert{n}" for n in (
        "Equal", "Equals", "NotEqual", "NotEquals", "True", "False", "Is", "IsNot", "IsNone", "IsNotNone", "In", "NotIn",
        "IsInstance", "NotIsInstance", "Raises", "RaisesRegex", "RaisesRegexp", "Warns", "WarnsRegex", "Logs", "NoLogs",
        "AlmostEqual", "AlmostEquals", "NotAlmostEqual", "Greater", "GreaterEqual", "Less", "LessEqual", "Regex", "NotRegex",
        "CountEqual", "MultiLineEqual", "SequenceEqual", "ListEqual", "TupleEqual", "SetEqual", "DictEqual", "_",
    )
)  # fmt: skip
_MOST_STARS = 50


class Plainness:
    """Answers for one test module, `home`, and the modules that are loaded `near` it."""

    def __init__(self, home: Place, look: Look, loaded: Callable[[], tuple[list[Place], bool]]) -> None:
        """`loaded` gives those modules, and whether they are all; otherwise nothing is known to be plain."""
        self._home, self.look, self._loaded = home, look, loaded
        self._known: dict[tuple[str, str, str], bool] = {}
        self._families: dict[str, list[tuple[Place, ast.ClassDef]] | None] = {}

    @cached_property
    def _near(self) -> list[Place]:
        return self._loaded()[0]

    @cached_property
    def _whole(self) -> bool:
        return self._loaded()[1]

    def function(self, at: Place, name: str) -> bool:
        """The function or class `name` of `at`, also where `home` imports it."""
        key = (at.path, name, "")
        if key not in self._known:
            self._known[key] = self._whole and self._bound_once(at, name) and not self._module_touched(at, name)
        return self._known[key]

    def imported(self, at: Place, name: str) -> bool:
        """`name` is what one import at the top of `at` brings, and nothing else."""
        return self.function(at, name)

    def method(self, class_name: str, name: str) -> bool:
        """`self.name` of a test of this class is what the classes say."""
        key = ("", class_name, name)
        if key not in self._known:
            self._known[key] = self._whole and self._method(class_name, name)
        return self._known[key]

    def inherited(self, class_name: str, name: str) -> bool:
        """`self.name` of a test of this class is what the test library defines, and it rests on nothing else."""
        if not class_name:
            return True
        wanted = HOOKS | {name}
        for _, node in lineage(self._home, class_name, self.look):
            if wanted & {n for n, _ in bound_names(node.body)}:
                return False
            if any(isinstance(n, ast.Call) and last_name(n) == "addTypeEqualityFunc" for n in ast.walk(node)):
                return False
        return all(self.method(class_name, n) for n in wanted)

    def fixture(self, class_name: str, name: str, at: Place, node: Function) -> bool:
        """The fixture `name` that `at` defines is the one that a test of this class is given."""
        mark = node.decorator_list[0] if node.decorator_list else None
        mark = mark.func if isinstance(mark, ast.Call) else mark
        origin = at.names_of(mark) if mark is not None else ""
        if not origin.startswith(("pytest.", "pytest_asyncio.")) or not self._bound_once(at, origin_name(mark)):
            return False
        if any({name, ""} & (p.named | p.rows) for p in self._near):
            return False
        if at is not self._home and (self._home.binds[name] or self._by_star(self._home, name, 0)):
            return False
        for _, owner in lineage(self._home, class_name, self.look):
            if name in {n for n, _ in bound_names(owner.body)}:
                return False
        return self.function(at, name)

    def doubtful(self, class_name: str, name: str, *, shadowed: bool) -> bool:
        """A test of this class calls a helper of the tests by this name, and it may be something else."""
        home = self._home
        defined = [n for n in home.tree.body if isinstance(n, Function) and n.name == name]
        if defined:
            return (
                shadowed or not self.function(home, name) or not all(map(self._of_libraries, defined[0].decorator_list))
            )
        if name in home.imports and home.binds[name]:
            found = self.look(home, home.imports[name])
            if found is not None and found[0].tests:
                whole = self.function(found[0], found[1]) if found[0].binds[found[1]] else False
                return shadowed or not (whole and self.imported(home, name))
        for _, node in lineage(home, class_name, self.look):
            if any(isinstance(n, Function) and n.name == name for n in node.body):
                return not self.method(class_name, name)
        return False

    def standard(self, class_name: str, tree: ast.AST) -> frozenset[str]:
        """Calls that read as those of the test libraries and are something else, by what they are made on."""
        found = set()
        local = local_names(tree)
        for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
            name = last_name(call)
            if name not in _STANDARD and not name.startswith(("assert", "failUnless", "failIf")):
                continue
            root: ast.AST = call.func
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name):
                continue
            if root.id in ("self", "cls"):
                own = any(
                    name in {n for n, _ in bound_names(c.body)} for _, c in lineage(self._home, class_name, self.look)
                )
                library = name in _STANDARD or name in LIBRARY
                if library and (own or not self.inherited(class_name, name)):
                    found.add(f"self.{name}")
            elif root.id in local:
                if root.id in JUDGES or root is call.func:
                    found.add(f"{root.id} of the test itself")
            elif (root.id in JUDGES or name in _STANDARD) and not self.of_a_library(root.id):
                found.add(root.id)
        return frozenset(found)

    def _of_libraries(self, mark: ast.expr) -> bool:
        """A decorator of Python's or of an installed library's."""
        first = origin_name(mark.func if isinstance(mark, ast.Call) else mark)
        return self.of_a_library(first) and (first in self._home.imports or builtin(first))

    def of_a_library(self, name: str) -> bool:
        """The name is what Python or an installed library means by it."""
        home = self._home
        if not home.binds[name]:
            return not self._by_star(home, name, 0) and name not in home.imports
        origin = home.imports.get(name, "")
        outside = bool(origin) and self.look(home, origin) is None and self.look(home, f"{origin}._") is None
        return outside and self.imported(home, name)

    def _bound_once(self, at: Place, name: str) -> bool:
        if at.binds[name] != 1:
            return False
        line = 10**9
        if name in at.functions or name in at.classes:
            line = (at.functions.get(name) or at.classes[name]).lineno
        else:
            for s in at.tree.body:
                if name in {n for n, _ in bound_names([s])}:
                    line = s.lineno
        return not self._by_star(at, name, line if line < 10**9 else 0)

    def _by_star(self, at: Place, name: str, after: int) -> bool:
        return bool(self.stars(at, name, after))

    def stars(self, at: Place, name: str, after: int = 0) -> list[str]:
        """Modules whose star import behind line `after` may bind the name."""
        return [origin for origin, line in at.stars if line >= after and self._offers(at, origin, name, late=after > 0)]

    def _offers(self, at: Place, origin: str, name: str, *, late: bool) -> bool:
        """A module, or one that it takes everything from, has the name or cannot be read. `late`: behind the helper itself,
        where only a module of the tests is believed to bring nothing but what can be seen in it.
        """
        waiting = [(at, origin)]
        seen: set[str] = set()
        while waiting:
            user, wanted = waiting.pop()
            found = self.look(user, f"{wanted}._" if wanted.strip(".") else f"{wanted}_")
            if found is None or (late and not found[0].tests) or len(seen) > _MOST_STARS:
                return True
            module = found[0]
            if module.path in seen:
                continue
            seen.add(module.path)
            if module.binds[name] or module.binds["__getattr__"]:
                return True
            if any(t.name in (name, "") and t.on in (On.UNKNOWN, On.MODULES) for t in module.touches):
                return True
            waiting += [(module, o) for o, _ in module.stars]
        return False

    def _module_touched(self, at: Place, name: str) -> bool:
        mine = {"anything", at.path, self._home.path}
        return any(self.reach(p, t) in mine for n in (name, "") for p, t in self._touches.get(n, ()))

    @cached_property
    def _touches(self) -> dict[str, list[tuple[Place, Touch]]]:
        table: dict[str, list[tuple[Place, Touch]]] = {}
        for p in self._near:
            for t in p.touches:
                if t.on is not On.OBJECT:
                    table.setdefault(t.name, []).append((p, t))
        return table

    def _method(self, class_name: str, name: str) -> bool:
        if class_name not in self._families:
            self._families[class_name] = self._family(class_name)
        family = self._families[class_name]
        if family is None:
            return False
        mine = {"anything", *(f"{at.path}::{node.name}" for at, node in family)}
        near = {p.path for p in self._near}
        beyond = [(at, t) for at, _ in family if at.path not in near for t in at.touches]
        for p, t in [*self._touches.get(name, ()), *self._touches.get("", ()), *beyond]:
            reach = self.reach(p, t) if t.name in (name, "") else ""
            if reach in mine or (not t.name and any(reach == at.path for at, _ in family)):
                return False
        return True

    def _family(self, class_name: str) -> list[tuple[Place, ast.ClassDef]] | None:
        """A class of tests and its bases; None where their methods may be other ones than those they define."""
        family = list(lineage(self._home, class_name, self.look))
        if not family or any(bends(at, node) or unreadable(at, node, self.look) for at, node in family):
            return None
        return family if all(self.function(at, node.name) for at, node in family) else None

    def reach(self, p: Place, t: Touch) -> str:
        """The word anything, the path of a module, `path::class` of a class, or an empty text for nothing that a helper is looked up in."""
        if t.on is On.UNKNOWN:
            return "anything"
        if t.on in (On.OWN, On.CLASS):
            return f"{p.path}::{t.root}"
        if t.on is On.OBJECT:
            return ""
        if t.on is On.MODULES:
            found = self.look(p, f"{t.root}._") if t.root else None
            return "anything" if not t.root or t.root == "__main__" or (found is not None and found[0].tests) else ""
        if t.on is On.DOTTED and (not t.root or t.root.endswith(".")):
            return self._begun(t.root)
        return self._of(p, t.root, t.on)

    def _of(self, p: Place, origin: str, on: On) -> str:
        if on is not On.GIVEN and (not origin.strip(".") or origin.lstrip(".").split(".")[0] in _REACHES):
            return "anything"
        whole = self.look(p, f"{origin}._")
        if whole is not None:
            return whole[0].path if whole[0].tests else ""
        found = self.look(p, origin)
        if found is not None:
            at, name = found
            if not at.tests or name in at.functions or (on is On.GIVEN and name not in at.classes):
                return ""
            return f"{at.path}::{name}" if name in at.classes else "anything"
        return self._begun(f"{origin}.") if on is On.DOTTED or origin.count(".") > 1 else ""

    def _begun(self, text: str) -> str:
        """What a dotted name may reach of which only these parts are known: the tests, or only the code and its libraries."""
        parts = [w for w in text.split(".") if w]
        stems = {w for q in self._near if q.tests for w in q.path.removesuffix(".py").split("/")}
        return "anything" if not parts or parts[0] in _REACHES or stems & set(parts) else ""


def origin_name(node: ast.AST | None) -> str:
    """The first name of a dotted expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def builtin(name: str) -> bool:
    """Whether Python itself gives the name a meaning."""
    return hasattr(builtins, name)
