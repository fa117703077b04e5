"""What loading a Python module does beyond giving names to things, read from the source.

A test module that only defines things when it is loaded cannot bend the tests of another one before its own have begun.
Nothing named here is no proof of innocence: it says whose tests need no second process.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator

from gatekeeper.formats import python_code

_BUILTINS = {
    "bool", "bytearray", "bytes", "complex", "dict", "enumerate", "float", "frozenset", "int", "len", "list", "max", "min",
    "object", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip", "abs", "chr",
    "ord", "property", "classmethod", "staticmethod", "isinstance", "issubclass", "hasattr", "super",
}  # fmt: skip
_HARMLESS = (
    "pytest.mark.", "pytest.param", "pytest.fixture", "unittest.skip", "unittest.skipIf", "unittest.skipUnless",
    "unittest.expectedFailure", "hypothesis.", "re.compile", "pathlib.", "decimal.Decimal", "fractions.Fraction", "datetime.",
    "collections.", "dataclasses.", "functools.", "typing.", "typing_extensions.", "logging.getLogger", "uuid.", "enum.",
    "textwrap.", "os.path.", "os.environ.get", "os.getenv", "itertools.", "operator.", "string.", "math.", "json.loads",
    "json.dumps", "random.Random", "contextlib.", "abc.", "struct.", "threading.Lock", "threading.RLock", "threading.local",
    "contextvars.ContextVar", "types.SimpleNamespace", "types.MappingProxyType", "timeit.default_timer", "time.monotonic",
    "warnings.filterwarnings",
)  # fmt: skip
"""Callables of other projects that hand back a value and alter nothing that is shared; a final dot: all below."""
_DECORATORS = (
    "unittest.mock.patch",
    "mock.patch",
    "freezegun.freeze_time",
    "responses.activate",
    "attr.",
    "attrs.",
    "six.",
)
"""What does its work only while the function below it runs."""
_MARKS = ("pytest.mark.", "pytest.param", "pytest.fixture", "unittest.skip", "hypothesis.")
"""What is handed to these is kept and not called when the module is loaded, but for `ids`."""
_HOOKS = {
    "pytest_generate_tests",
    "pytest_plugins",
    "load_tests",
    "__getattr__",
    "__dir__",
    "__init_subclass__",
    "__set_name__",
}
"""What pytest or the interpreter calls while modules are collected."""
_GETTERS = ("property", "functools.cached_property")
"""Read by pytest in a class of tests while it looks for fixtures there."""
PROJECTS = frozenset(
    h.split(".")[0] for h in (*_HARMLESS, *_DECORATORS, *_MARKS) if h.split(".")[0] not in sys.stdlib_module_names
)
"""Names of other projects that are trusted here: a tree that holds modules of these names cannot be read so."""
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MADE = {"None", "True", "False", "__file__", "__name__"}
_DEPTH = 8
_MOST = 12


def import_effects(before: str | None, after: str | None, *, test: bool = False) -> tuple[str, ...]:
    """What loading the module newly does, in words; a module that cannot be read as Python does anything.

    What it did before in the same words is none of it, unless it can mean something else now. `test`: pytest collects it.
    """
    if after is None:
        return ()
    new = python_code.parse(after)
    if new is None:
        return ("cannot be read as Python",)
    old = python_code.parse(before) if before is not None else None
    try:
        known = Counter(_Loading(old, test).facts()) if old is not None else Counter[tuple[str, str]]()
        return tuple(dict.fromkeys(words for words, _ in Counter(_Loading(new, test).facts()) - known))[:_MOST]
    except RecursionError:
        return ("is nested too deeply",)


class _Loading:
    """The statements of one module that run when it is loaded."""

    def __init__(self, tree: ast.Module, test: bool) -> None:
        self._tree, self._test = tree, test
        self._names, self._own, self._imported = _origins(tree)
        self._given = _values(tree)
        self._whole = ""

    def facts(self) -> Iterator[tuple[str, str]]:
        """(words, what else must be the same for it to be the same)."""
        for statement in self._tree.body:
            yield from self._statement(statement)

    def _statement(self, node: ast.stmt) -> Iterator[tuple[str, str]]:
        if isinstance(node, _DEFINITIONS):
            yield from self._definition(node)
            return
        targets: list[ast.expr] = []
        match node:
            case ast.ImportFrom() if any(a.name == "*" for a in node.names):
                yield f"imports all of {node.module}", ""
            case ast.Assign() | ast.Delete():
                targets = node.targets
            case ast.AugAssign():
                targets = [node.target]
                if isinstance(node.target, ast.Name) and node.target.id in self._imported:
                    yield self._told("alters", node.target)
            case ast.AnnAssign() | ast.For():
                targets = [node.target]
            case ast.With():
                targets = [i.optional_vars for i in node.items if i.optional_vars is not None]
            case ast.Expr() if not isinstance(node.value, ast.Constant | ast.Call):
                yield self._told("evaluates", node.value)
            case ast.Match() | ast.AsyncFor() | ast.AsyncWith():
                yield f"runs {type(node).__name__}", ast.dump(node)
        for part in (p for t in targets for p in ast.walk(t)):
            if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
                yield self._told("assigns", part)
            elif isinstance(part, ast.Name) and part.id in _HOOKS:
                yield f"sets {part.id}", self._all()
        for child in _below(node):
            yield from self._statement(child) if isinstance(child, ast.stmt) else self._expression(child)

    def _definition(self, node: python_code.Definition) -> Iterator[tuple[str, str]]:
        if node.name in _HOOKS:
            yield f"defines {node.name}", self._all()
        for mark in node.decorator_list:
            named = mark.func if isinstance(mark, ast.Call) else mark
            getter = self._test and python_code.dotted(named, self._names) in _GETTERS
            if getter or not self._harmless(named, _DECORATORS):
                words, whole = self._told("decorates with", mark)
                yield words, f"{whole}{ast.dump(node)}"
            if isinstance(mark, ast.Call):
                yield from self._arguments(mark, plain=self._harmless(named, _DECORATORS))
        if isinstance(node, ast.ClassDef):
            for keyword in node.keywords:
                yield f"makes the class {node.name} with {keyword.arg or '**'}", ast.dump(node)
            for base in node.bases:
                yield from self._expression(base)
            for statement in node.body:
                yield from self._statement(statement)
            return
        for value in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            yield from self._expression(value)

    def _expression(self, node: ast.expr) -> Iterator[tuple[str, str]]:
        match node:
            case ast.Lambda():
                return
            case ast.Call():
                plain = self._harmless(node.func)
                if not plain:
                    yield self._told("calls", node.func)
                elif isinstance(node.func, ast.Attribute):
                    yield from self._expression(node.func.value)
                yield from self._arguments(node, plain=plain)
                return
            case ast.Await() | ast.Yield() | ast.YieldFrom():
                yield self._told("waits for", node)
            case ast.Attribute() if self._foreign(node) and node.attr[:1].islower():
                yield self._told("reads", node)
            case ast.BinOp(left=one, right=other):
                if self._foreign(one) or self._foreign(other):
                    yield self._told("combines", node)
            case ast.Compare(left=one, comparators=rest):
                if any(self._foreign(n) for n in (one, *rest)):
                    yield self._told("compares", node)
            case ast.Subscript(value=one) | ast.UnaryOp(operand=one):
                if self._foreign(one):
                    yield self._told("reads from", node)
        for child in _below(node):
            yield from self._expression(child) if isinstance(child, ast.expr) else ()

    def _arguments(self, call: ast.Call, *, plain: bool) -> Iterator[tuple[str, str]]:
        """What is handed to a harmless callable may be called by it."""
        name = python_code.dotted(call.func, self._names)
        kept = any(name.startswith(m) for m in _MARKS)
        for word, value in (*((None, a) for a in call.args), *((k.arg, k.value) for k in call.keywords)):
            if plain and (not kept or word == "ids") and self._callable(value):
                yield self._told("hands over", value)
            yield from self._expression(value)

    def _callable(self, value: ast.AST, depth: int = 0) -> bool:
        """Holds something of the code or of the module that might be called."""
        if depth > _DEPTH:
            return True
        for n in ast.walk(value):
            if isinstance(n, ast.Lambda):
                return True
            if not isinstance(n, ast.Name) or not isinstance(n.ctx, ast.Load) or n.id in _MADE:
                continue
            if n.id in self._own:
                given = self._given.get(n.id)
                if given is None or any(self._callable(g, depth + 1) for g in given):
                    return True
            elif n.id in self._names and not _of_python(self._names[n.id]):
                return True
        return False

    def _foreign(self, node: ast.expr) -> bool:
        """Begins with a name that was imported, and not from the standard library or pytest."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self._names and not _of_python(self._names[node.id])

    def _harmless(self, func: ast.expr, further: tuple[str, ...] = ()) -> bool:
        root: ast.expr = func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Constant | ast.JoinedStr):
            return True
        if isinstance(root, ast.Call):
            return root is not func and self._harmless(root.func)  # a method of what such a call hands back
        if not isinstance(root, ast.Name):
            return False
        if root.id not in self._names:
            return root is func and root.id in _BUILTINS and root.id not in self._own
        name = python_code.dotted(func, self._names)
        return any(name == h or name.startswith(h if h.endswith(".") else f"{h}.") for h in (*_HARMLESS, *further))

    def _told(self, verb: str, node: ast.expr) -> tuple[str, str]:
        root: ast.AST = node
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        own = not (isinstance(root, ast.Name) and root.id in self._names)
        # What the module defines itself may do something else after any edit of the module.
        return f"{verb} {python_code.written(node)[:60]}", self._all() if own else ast.dump(node)

    def _all(self) -> str:
        self._whole = self._whole or python_code.meaning(self._tree)
        return self._whole


def _origins(tree: ast.Module) -> tuple[dict[str, str], frozenset[str], frozenset[str]]:
    """(imported name -> where from, names that the module binds itself, all names that it imports).

    A name of two origins is its own.
    """
    found: dict[str, set[str]] = {}
    own: set[str] = set()
    for node in python_code.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name, origin in python_code.imports(node).items():
                found.setdefault(name, set()).add(origin)
        elif isinstance(node, _DEFINITIONS):
            own.add(node.name)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            own.add(node.id)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            own.add(node.name)
    own |= {n for n, origins in found.items() if len(origins) > 1}
    return {n: next(iter(o)) for n, o in found.items() if n not in own}, frozenset(own), frozenset(found)


def _values(tree: ast.Module) -> dict[str, list[ast.expr] | None]:
    """Name -> all that it may hold, where each binding of it in the module says so plainly; None where one does not."""
    table: dict[str, list[ast.expr] | None] = {}
    told: set[int] = set()
    for node in python_code.walk(tree):
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign):
            pairs = [(t, node.value) for t in node.targets]
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.For | ast.comprehension):
            pairs = [(node.target, node.iter)]
        for target, value in pairs:
            for n in ast.walk(target):
                if isinstance(n, ast.Name):
                    told.add(id(n))
                    if (rows := table.setdefault(n.id, [])) is not None:
                        rows.append(value)
    for node in python_code.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in told:
            table[node.id] = None
        elif isinstance(node, _DEFINITIONS):
            table[node.name] = None
        elif isinstance(node, ast.Import | ast.ImportFrom):
            table.update(dict.fromkeys(python_code.imports(node)))
    return table


def _of_python(origin: str) -> bool:
    top = origin.split(".", maxsplit=1)[0]
    return top in sys.stdlib_module_names or top in PROJECTS


def _below(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    """Expressions and statements right below; what only holds them (handlers, cases, with items) is looked through."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr | ast.stmt):
            yield child
        elif isinstance(child, ast.excepthandler | ast.withitem | ast.match_case | ast.keyword | ast.comprehension):
            yield from _below(child)
