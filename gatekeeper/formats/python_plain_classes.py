"""Classes to which an `__init__` can be added that hands everything on, without a change of how they are made."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping

from gatekeeper.formats import python_code

_HARMLESS = frozenset({
    "object", "dict", "list", "set", "Exception", "ValueError", "TypeError", "RuntimeError", "LookupError", "abc.ABC",
    "collections.UserDict", "collections.UserList", "collections.OrderedDict", "collections.defaultdict",
    "weakref.WeakValueDictionary", "weakref.WeakKeyDictionary", "threading.Thread", "threading.local",
    "unittest.TestCase", "typing.Generic",
})  # fmt: skip
"""Classes of the standard library that are made by `__init__` alone."""
_MAKERS = frozenset({"__new__", "__init_subclass__", "__class_getitem__", "__getattribute__", "__prepare__"})
_MOST = 20


def plain_class(tree: ast.Module, name: str, *, decorated: bool = False) -> bool:
    """The class (qualified name) and all that it is built on are made by `__init__` alone, with nothing said about how.

    No decorator, no keyword, no `__new__`; a base is another such class of the module, or one of the standard library
    that is known. Nothing in the module is built on the class itself. `decorated`: it may have decorators.
    """
    classes = {n: c for n, c in python_code.definitions(tree) if isinstance(c, ast.ClassDef)}
    last = name.rpartition(".")[2]
    if any(last == _last(b) for c in classes.values() for b in c.bases):
        return False
    return _plain(classes, python_code.imports(tree), _doubtful(tree), name, 0 if not decorated else -1)


def _plain(
    classes: Mapping[str, ast.ClassDef], origins: dict[str, str], bound: set[str], name: str, depth: int
) -> bool:
    node = classes.get(name)
    if (
        node is None
        or (node.decorator_list and depth >= 0)
        or node.keywords
        or members(node) & _MAKERS
        or depth > _MOST
    ):
        return False
    for base in node.bases:
        plain = base.value if isinstance(base, ast.Subscript) else base
        if isinstance(plain, ast.Name) and plain.id in classes:
            if not _plain(classes, origins, bound, plain.id, max(depth, 0) + 1):
                return False
        elif getattr(plain, "id", "") in bound or (python_code.dotted(plain, origins) or _last(plain)) not in _HARMLESS:
            return False
    return True


def members(node: ast.ClassDef) -> set[str]:
    """Every name that the body of a class binds, in whatever way."""
    return _bound(node.body)


def _doubtful(tree: ast.Module) -> set[str]:
    """Names that the module binds by anything but one import."""
    imported = Counter((a.asname or a.name).split(".")[0] for n in python_code.walk(tree) for a in getattr(n, "names", ()) if isinstance(a, ast.alias))  # fmt: skip
    return _bound([n for n in tree.body if not isinstance(n, ast.Import | ast.ImportFrom)]) | {n for n, many in imported.items() if many > 1}  # fmt: skip


def _bound(body: list[ast.stmt]) -> set[str]:
    found: set[str] = set()
    for statement in body:
        stack: list[ast.AST] = [statement]
        while stack:
            one = stack.pop()
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found.add(one.name)
                continue
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store | ast.Del):
                found.add(one.id)
            found.update((a.asname or a.name) for a in getattr(one, "names", ()) if isinstance(a, ast.alias))
            stack += ast.iter_child_nodes(one)
    return found


def _last(node: ast.AST) -> str:
    plain = node.value if isinstance(node, ast.Subscript) else node
    return str(getattr(plain, "attr", getattr(plain, "id", "")))
