"""Statements that may come into a test which otherwise only follows the code: they make it say more, and never other things.

An added statement is an assertion, or it binds names that nothing of the older test reads. It changes no object, imports
nothing over a name that is used, consumes nothing that the test holds, and lets every later statement run. In doubt it is
none of these, and a person looks.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator

_KINDS = (ast.Assert, ast.Assign, ast.AnnAssign, ast.Expr, ast.With, ast.For, ast.Import, ast.ImportFrom, ast.Pass)
_SKIPPING = frozenset({"skip", "skipTest", "xfail", "exit", "_exit", "importorskip", "suppress", "patch", "setattr"})
_CHANGING = frozenset(
    [
        "append", "extend", "insert", "remove", "pop", "popitem", "clear", "update", "setdefault", "sort", "reverse", "add",
        "discard", "appendleft", "extendleft", "popleft", "rotate", "delattr", "setitem", "delitem", "setenv", "delenv", "chdir",
        "syspath_prepend", "exec", "eval", "globals", "locals", "vars", "compile", "reload", "import_module", "iadd", "isub",
        "imul", "iconcat", "intersection_update", "difference_update", "symmetric_difference_update", "write", "write_text",
        "write_bytes", "writelines", "truncate", "seek", "send", "throw", "close", "install", "register", "replace_with",
        "mock", "Mock", "MagicMock", "object", "multiple", "main", "run_path", "run_module", "breakpoint",
    ]
)  # fmt: skip
"""Last names of calls that change what is there, or run what nobody sees."""
_CONSUMING = frozenset(
    [
        "list", "tuple", "set", "frozenset", "dict", "sorted", "sum", "any", "all", "next", "min", "max", "zip", "map", "filter",
        "enumerate", "iter", "reversed", "join", "deque", "Counter", "islice", "chain", "read", "readline", "readlines",
    ]
)  # fmt: skip
"""Calls that may leave a generator empty for the assertions that come after them."""
_FRAMES = frozenset(
    {"raises", "warns", "assertRaises", "assertRaisesRegex", "assertWarns", "assertWarnsRegex", "subTest"}
)


class Additions:
    """The added statements of one comparison."""

    def __init__(self) -> None:
        self.statements: list[ast.stmt] = []

    def harmless(self, old: ast.AST, new: ast.AST, begun: Collection[str]) -> bool:
        """True where all of them leave what `old` says, and `new` without them, as it is.

        `begun` are names that the code defines anew.
        """
        if not self.statements:
            return True
        apart = {id(n) for s in self.statements for n in ast.walk(s)}
        rest = [n for n in ast.walk(new) if id(n) not in apart]
        used = {name for n in (*ast.walk(old), *rest) for name in _names(n)}
        held = {name for n in rest for name in _held(n)}
        return all(_harmless(s, used, held, begun) for s in self.statements)


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).split(".")[0]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name


def _held(node: ast.AST) -> Iterator[str]:
    """What the test itself binds: values, which an addition could use up."""
    if isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id


def _harmless(statement: ast.stmt, used: set[str], held: set[str], begun: Collection[str]) -> bool:
    inner = {
        id(t) for n in ast.walk(statement) if isinstance(n, ast.comprehension) for t in ast.walk(n.target)
    }  # a comprehension's own names end with it
    for node in ast.walk(statement):
        if isinstance(node, ast.stmt) and not isinstance(node, _KINDS):
            return False
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            if id(node) not in inner and node.id in used:
                return False
        elif (isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load)) or (
            isinstance(node, ast.Attribute) and node.attr.startswith("__") and node.attr not in ("__name__", "__doc__")
        ):
            return False
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if not _imports_only(node, used, begun):
                return False
        elif isinstance(node, ast.Call):
            if not _asks_only(node, held):
                return False
        elif isinstance(node, ast.comprehension | ast.For):
            if isinstance(node.iter, ast.Name) and node.iter.id in held:
                return False
        elif isinstance(node, ast.Await | ast.Yield | ast.YieldFrom):
            return False
    return _for_what_it_says(statement, framed=False)


def _imports_only(node: ast.Import | ast.ImportFrom, used: set[str], begun: Collection[str]) -> bool:
    if any((a.asname or a.name).split(".")[0] in used or a.name == "*" for a in node.names):
        return False
    if isinstance(node, ast.Import):
        return all(a.name.split(".")[0] in sys.stdlib_module_names for a in node.names)
    outside = not node.level and (node.module or "").split(".")[0] in sys.stdlib_module_names
    return outside or all(a.name in begun for a in node.names)


def _asks_only(call: ast.Call, held: set[str]) -> bool:
    name = _called(call)
    if name in _SKIPPING or name in _CHANGING or (name.startswith("__") and name.endswith("__")):
        return False
    of = [*call.args, *([call.func.value] if isinstance(call.func, ast.Attribute) else [])]
    return name not in _CONSUMING or not any(isinstance(a, ast.Name) and a.id in held for a in of)


def _called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _for_what_it_says(statement: ast.stmt, *, framed: bool) -> bool:
    """No call stands for its effect alone, unless it is to raise or to warn."""
    if isinstance(statement, ast.Expr):
        call = statement.value
        return framed or isinstance(call, ast.Constant) or (isinstance(call, ast.Call) and _asserts(call))
    if isinstance(statement, ast.With):
        calls = [i.context_expr for i in statement.items]
        if not all(isinstance(c, ast.Call) and _called(c) in _FRAMES for c in calls):
            return False
        frame = any(isinstance(c, ast.Call) and _called(c) != "subTest" for c in calls)
        return all(_for_what_it_says(s, framed=framed or frame) for s in statement.body)
    if isinstance(statement, ast.For):
        return all(_for_what_it_says(s, framed=framed) for s in (*statement.body, *statement.orelse))
    return True


def _asserts(call: ast.Call) -> bool:
    name = _called(call)
    return name.startswith("assert") or name in ("raises", "warns")
