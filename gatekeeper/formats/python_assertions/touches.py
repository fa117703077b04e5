"""What a module sets on other things than its own local objects: attributes, entries of namespaces, patches, code run from text.

Each is a `Touch`: the name that is set, and what it is set on as far as the module alone tells.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from gatekeeper.formats.python_assertions.bound_names import bound_names
from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_assertions.touch import ANY, On, Touch, broken, dotted, entries, into
from gatekeeper.formats.python_code import folded, parse
from gatekeeper.records import dataclass


@dataclass(frozen=True)
class _Scope:
    """Where a statement stands."""

    owner: str = ""
    """The class around it."""
    first: str = ""
    """The parameter that is the object or the class."""
    function: bool = False
    local: frozenset[str] = frozenset()
    made: frozenset[str] = frozenset()
    """Local names that only ever stand for objects made in the function."""


_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_HARMLESS = frozenset({"__name__", "__doc__", "__module__", "__qualname__", "__test__", "__signature__", "__annotations__", "__version__"})  # fmt: skip
_READS = frozenset({"get", "items", "keys", "values", "copy"})
_WRITES = frozenset({"update", "setdefault", "pop", "__setitem__", "__delitem__", "clear", "popitem"})
_TAKES = frozenset({"len", "sorted", "set", "list", "dict", "repr", "str", "print", "isinstance", "pformat", "pprint", "any", "all"})  # fmt: skip
_BARE = frozenset({"setattr", "delattr", "exec", "eval", "globals", "vars", "__setattr__", "__delattr__", "_getframe", "get_referrers", "currentframe"})  # fmt: skip
_LOOKED_UP = _BARE | {"__dict__", "__code__", "__globals__", "__builtins__", "f_globals", "f_locals", "__class__", "__bases__", "modules"}  # fmt: skip
_KEEPS = frozenset(
    {"isinstance", "issubclass", "super", "type", "makeSuite", "loadTestsFromTestCase", "loadTestsFromModule", "getsource",
     "partial", "wraps", "reload", "dir", "hasattr", "getattr", "repr", "str", "len", "print", "cast", "raises", "assertRaises", "vars", "id",
     "assertIsInstance", "Mock", "MagicMock", "create_autospec", "param", "parametrize", "setattr", "delattr", "object"}
)  # fmt: skip
_DEEP = 3


def touches(tree: ast.Module, imports: Mapping[str, str], deep: int = 0) -> tuple[Touch, ...]:
    """All of them in a module."""
    scan = _Scan(tree, imports, deep)
    return tuple(dict.fromkeys(t for s in tree.body for t in scan.below(s, _Scope(), tree)))


class _Scan:
    def __init__(self, tree: ast.Module, imports: Mapping[str, str], deep: int) -> None:
        self._imports, self._deep = imports, deep
        self._classes = {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
        self._functions = {n.name for n in tree.body if isinstance(n, _FUNCTION)}
        self._made = self._made_in(tree.body)

    def _made_in(self, body: list[ast.stmt]) -> frozenset[str]:
        names = Counter(n for n, _ in bound_names(body))
        pairs: list[tuple[ast.AST | None, ast.expr | None]] = []
        for s in body:
            for n in ast.walk(s):
                if isinstance(n, ast.Assign):
                    pairs += [(t, n.value) for t in n.targets]
                elif isinstance(n, ast.AnnAssign):
                    pairs.append((n.target, n.value))
                elif isinstance(n, ast.withitem):
                    pairs.append((n.optional_vars, n.context_expr))
        made = Counter(t.id for t, v in pairs if isinstance(t, ast.Name) and v is not None and self._object(v))
        return frozenset(n for n in made if made[n] == names[n])

    def _object(self, value: ast.expr) -> bool:
        """An object made on the spot: `Client()`, `{}`, `"text"`."""
        if isinstance(value, ast.Constant | ast.List | ast.Dict | ast.Set | ast.JoinedStr):
            return True
        if not isinstance(value, ast.Call) or not last_name(value)[:1].isupper():
            return False
        given = [*value.args, *(k.value for k in value.keywords)]
        return not any(
            isinstance(n, ast.Name) and (n.id in self._classes or n.id in ("self", "cls", "request"))
            for g in given for n in ast.walk(g)
        )  # fmt: skip

    def below(self, node: ast.AST, scope: _Scope, parent: ast.AST) -> Iterator[Touch]:
        """The touches of one node and all below it."""
        inner = scope
        if isinstance(node, ast.ClassDef):
            inner = _Scope(owner=node.name)
        elif isinstance(node, _FUNCTION):
            inner = self._inside(node, scope)
        yield from self._one(node, scope, parent)
        for child in ast.iter_child_nodes(node):
            outside = inner is not scope and isinstance(child, ast.expr)  # decorators and bases
            yield from self.below(child, scope if outside else inner, node)

    def _inside(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: _Scope) -> _Scope:
        spec = node.args
        names = [a.arg for a in [*spec.posonlyargs, *spec.args]]
        static = any(last_name(d) == "staticmethod" for d in node.decorator_list)
        first = names[0] if names and scope.owner and not scope.function and not static else scope.first
        stored = {n for n, _ in bound_names(node.body)}
        arguments = {a.arg for a in ast.walk(spec) if isinstance(a, ast.arg)}
        if first in stored or (scope.function and first in arguments):
            first = ""
        made = self._made_in(node.body) - arguments
        return _Scope(
            scope.owner,
            first,
            True,
            (scope.local | stored | arguments) - made,
            (scope.made - stored - arguments) | made,
        )

    def _one(self, node: ast.AST, scope: _Scope, parent: ast.AST) -> Iterator[Touch]:
        if isinstance(node, ast.Attribute):
            if not isinstance(node.ctx, ast.Load):
                yield from self._set(node.attr, node.value, scope)
            elif node.attr in _BARE and not _called(node, parent):
                yield ANY
        elif isinstance(node, ast.Name):
            if node.id in _BARE and isinstance(node.ctx, ast.Load) and not _called(node, parent):
                yield ANY
        elif isinstance(node, ast.Import | ast.ImportFrom):
            taken = {a.name for a in node.names} | ({node.module} if isinstance(node, ast.ImportFrom) else set())
            if taken & (_BARE | {"ctypes"}):
                yield ANY
        elif isinstance(node, ast.Call):
            yield from self._call(node, scope)
        space = self._space(node, scope)
        if space is not None:
            yield from self._entry(space, node, parent)

    def _root(self, node: ast.AST, scope: _Scope) -> tuple[On, str]:
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Call) and last_name(node) == "type" and len(node.args) == 1 and not attributes:
            node, attributes = node.args[0], ["__class__"]
        if not isinstance(node, ast.Name):
            return On.UNKNOWN, ""
        if scope.first and node.id == scope.first:
            return (On.OWN, scope.owner) if set(attributes) <= {"__class__"} else (On.UNKNOWN, "")
        if any(a.startswith("__") for a in attributes):
            return On.UNKNOWN, ""
        if node.id in scope.made:
            return On.OBJECT, ""
        if node.id in scope.local:
            return On.UNKNOWN, ""
        if node.id in self._imports:
            return On.IMPORTED, ".".join([self._imports[node.id], *attributes])
        if node.id in self._classes:
            return (On.UNKNOWN, "") if attributes else (On.CLASS, node.id)
        return (On.OBJECT, "") if node.id in self._functions or node.id in self._made else (On.UNKNOWN, "")

    def _set(self, name: str, target: ast.AST, scope: _Scope) -> Iterator[Touch]:
        """`name` set on `target`; with a name like `__code__` it is `target` itself that becomes another thing."""
        on, root = self._root(target, scope)
        dunder = name.startswith("__") and name not in _HARMLESS
        if dunder or not name:
            parts = {n.attr if isinstance(n, ast.Attribute) else n.id for n in ast.walk(target) if isinstance(n, ast.Attribute | ast.Name)}  # fmt: skip
            yield from (Touch(p, On.UNKNOWN) for p in parts if dunder or on is On.OBJECT)
            yield Touch("", on, root)
        else:
            yield Touch(name, on, root)

    def _space(self, node: ast.AST, scope: _Scope) -> tuple[On, str] | None:
        """What the names in a namespace belong to; None for anything that is no namespace."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "vars" and node.args:
                return self._root(node.args[0], scope)
            if node.func.id == "globals" or (node.func.id in ("vars", "locals") and not scope.function):
                return (On.OWN, scope.owner) if scope.owner and node.func.id != "globals" else (On.UNKNOWN, "")
        if isinstance(node, ast.Attribute):
            if node.attr == "__dict__":
                return self._root(node.value, scope)
            if node.attr in ("__globals__", "f_globals", "f_locals", "__builtins__"):
                return On.UNKNOWN, ""
            if node.attr == "modules" and self._root(node.value, scope) == (On.IMPORTED, "sys"):
                return On.MODULES, ""
        if isinstance(node, ast.Name):
            if node.id == "__builtins__":
                return On.UNKNOWN, ""
            if self._imports.get(node.id) == "sys.modules" and node.id not in scope.local:
                return On.MODULES, ""
        return None

    def _entry(self, space: tuple[On, str], node: ast.AST, parent: ast.AST) -> Iterator[Touch]:
        """What is done with a namespace."""
        if isinstance(parent, ast.Subscript) and parent.value is node:
            if not isinstance(parent.ctx, ast.Load):
                yield into(space, parent.slice)
        elif isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is not node):
            known = parent.attr in _READS | _WRITES if isinstance(parent, ast.Attribute) else (
                last_name(parent) in _TAKES | {"setitem", "delitem", "dict", "exec", "eval", "getattr", "setattr"}
            )  # fmt: skip
            if not known:
                yield into(space, None)
        elif not isinstance(
            parent, ast.Compare | ast.keyword | ast.BinOp | ast.Starred | ast.For | ast.comprehension | ast.FormattedValue | ast.Expr
        ) or (isinstance(parent, ast.keyword) and parent.arg is not None):  # fmt: skip
            yield into(space, None)

    def _call(self, node: ast.Call, scope: _Scope) -> Iterator[Touch]:
        name, args = last_name(node), node.args
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        space = self._space(owner, scope) if owner is not None and name in _WRITES else None
        if space is not None:
            yield from entries(space, node)
        elif name in ("setattr", "delattr", "__setattr__", "__delattr__"):
            yield from self._attribute(node, name, owner, scope)
        elif name == "patch" and args:
            text = folded(args[0])
            if text is not None:
                yield dotted(text)
            elif owner is None or last_name(owner) in ("mock", "mocker"):
                yield broken(args[0])
        elif owner is not None and last_name(owner) == "patch" and name in ("object", "multiple", "dict") and args:
            yield from self._patched(node, name, scope)
        elif name in ("setitem", "delitem") and args and (space := self._space(args[0], scope)) is not None:
            yield into(space, args[1] if len(args) > 1 else None)
        elif name in ("exec", "eval", "compile") and (owner is None or last_name(owner) == "builtins"):
            yield from self._run(node, name)
        elif name in ("getattr", "attrgetter", "methodcaller"):
            text = folded(args[-1 if len(args) < 3 else 1]) if args else None
            if text in _LOOKED_UP or (text is None and args and last_name(args[0]) in ("builtins", "__builtins__")):
                yield ANY
        if name not in _KEEPS:
            yield from self._handed(node, scope)

    def _attribute(self, node: ast.Call, name: str, owner: ast.expr | None, scope: _Scope) -> Iterator[Touch]:
        args = [k.value for k in node.keywords if k.arg in ("target", "name", "value")] if not node.args else node.args
        takes = 2 if name.startswith("del") or name == "__delattr__" else 3
        if any(isinstance(a, ast.Starred) for a in args) or not args:
            yield ANY
        elif name.startswith("__") and owner is not None and len(args) < takes:
            yield from self._set(folded(args[0]) or "", owner, scope)
        elif len(args) < takes:
            text = folded(args[0])
            yield dotted(text) if text is not None else broken(args[0])
        else:
            yield from self._set(folded(args[1]) or "", args[0], scope)

    def _patched(self, node: ast.Call, name: str, scope: _Scope) -> Iterator[Touch]:
        target = node.args[0]
        if name == "object":
            yield from self._set((folded(node.args[1]) or "") if len(node.args) > 1 else "", target, scope)
            return
        text = folded(target)
        space = self._space(target, scope) if name == "dict" else self._root(target, scope)
        if text is not None and (name == "multiple" or text.endswith(("__dict__", "modules"))):
            space = (On.DOTTED, text.removesuffix(".__dict__"))
        if space is None:
            return
        yield from entries(space, ast.Call(node.func, node.args[1:], node.keywords))

    def _run(self, node: ast.Call, name: str) -> Iterator[Touch]:
        source = node.args[0] if node.args else None
        text = folded(source) if source is not None else None
        if text is None:
            shown = isinstance(source, ast.Call) and last_name(source) in ("repr", "ascii", "compile")
            if not (shown and name != "exec") and not (shown and last_name(source) == "compile"):  # type: ignore[arg-type]
                yield ANY
            return
        tree = parse(text)
        if tree is None or self._deep >= _DEEP:
            yield ANY
            return
        yield from (Touch(n, On.UNKNOWN) for n, _ in bound_names(tree.body))
        if any(isinstance(n, ast.ImportFrom) and n.names[0].name == "*" for n in ast.walk(tree)):
            yield ANY
        yield from touches(tree, {**self._imports, **{n: o for n, o in bound_names(tree.body) if o}}, self._deep + 1)

    def _handed(self, node: ast.Call, scope: _Scope) -> Iterator[Touch]:
        """Classes, modules and, at the top, functions that are given to something that may do anything with them."""
        for given in [*node.args, *(k.value for k in node.keywords)]:
            for n in _bare(given):
                on, root = self._root(n, scope)
                if on in (On.CLASS, On.IMPORTED):
                    yield Touch("", On.GIVEN if on is On.IMPORTED else on, root)
                if isinstance(n, ast.Name) and not scope.function and (n.id in self._functions or on is On.IMPORTED):
                    yield Touch(n.id, On.UNKNOWN)
                if isinstance(n, ast.Subscript) and self._space(n.value, scope) == (On.MODULES, ""):
                    yield Touch("", On.MODULES, folded(n.slice) or "")


def _bare(node: ast.AST) -> Iterator[ast.AST]:
    """Names, attributes and subscripts that are handed over as they are, in a list or tuple too."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        yield node
    elif isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Starred | ast.Dict):
        for child in ast.iter_child_nodes(node):
            yield from _bare(child)


def _called(node: ast.AST, parent: ast.AST) -> bool:
    return isinstance(parent, ast.Call) and parent.func is node
