"""Whether a test is skipped for where it runs: its condition names the platform, the interpreter or what is installed.

Such a test may honestly pass on the author's machine and be skipped on the gate's. A skip without a condition, or with one
that an environment variable decides, is none of these.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from gatekeeper.formats import python_code

_PLACE = re.compile(
    r"(?:^|\.)(?:sys\.(?:platform|version_info|implementation|maxsize|byteorder|hexversion|getwindowsversion)|os\.(?:name|uname|geteuid|getuid)"
    r"|platform\.\w+|sysconfig\.\w+|shutil\.which|importlib\.util\.find_spec|util\.find_spec|find_spec)(?:\.|$)"
)
_CONDITIONAL = ("skipif", "skipIf", "skipUnless")
_SKIPS = ("skip", "skipTest", "SkipTest")


def bound_to_platform(source: str | None, name: str) -> bool:
    """True where the skip of the test `name` (`test_a`, `TestX::test_b`, or "" for the whole module) depends on the place.

    False for a source that cannot be read, and for a test that is not in it.
    """
    tree = python_code.parse(source)
    if tree is None:
        return False
    try:
        return _bound(tree, name)
    except RecursionError:
        return False


def _bound(tree: ast.Module, name: str) -> bool:
    names = python_code.imports(tree)
    flags = _flags(tree, names)
    nodes: list[ast.AST] = [tree]
    scope: ast.AST = tree
    for part in [p for p in name.split("::") if p]:
        found = [
            n
            for n in ast.iter_child_nodes(scope)
            if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and n.name == part
        ]
        if not found:
            return False
        scope = found[-1]
        nodes.append(scope)
    if any(_always(d, names) for node in nodes for d in _decorators(node)):
        return False
    return any(_marked(node, names, flags, whole=node is scope) for node in nodes)


def _decorators(node: ast.AST) -> list[ast.AST]:
    """Marks at a test, a class or, as `pytestmark`, within a class or module."""
    marks: list[ast.AST] = [*getattr(node, "decorator_list", ())]
    body: list[ast.stmt] = getattr(node, "body", [])
    marks += [
        s.value
        for s in body
        if isinstance(s, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "pytestmark" for t in s.targets)
    ]
    return marks


def _always(node: ast.AST, names: dict[str, str]) -> bool:
    """A skip without condition."""
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Attribute | ast.Name) and _last(called, names) == "skip"


def _flags(tree: ast.Module, names: dict[str, str]) -> frozenset[str]:
    """Module-level names that stand for a fact about the place: `WINDOWS = sys.platform == "win32"`."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and _names_place(node.value, names, frozenset(found)):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.Try) and any(
            "ImportError" in ast.dump(h.type) or "ModuleNotFoundError" in ast.dump(h.type)
            for h in node.handlers
            if h.type is not None
        ):
            inner = [s for part in (node.body, node.orelse, *(h.body for h in node.handlers)) for s in part]
            found |= {t.id for s in inner if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
    return frozenset(found)


def _names_place(node: ast.AST, names: dict[str, str], flags: frozenset[str]) -> bool:
    """The expression asks for the platform and for nothing that the author can set at will."""
    dotted = [python_code.dotted(n, names) for n in ast.walk(node) if isinstance(n, ast.Attribute | ast.Name)]
    if any(d.startswith(("os.environ", "os.getenv")) or d in ("environ", "getenv") for d in dotted):
        return False
    return any(_PLACE.search(d) or d in flags for d in dotted)


def _marked(node: ast.AST, names: dict[str, str], flags: frozenset[str], *, whole: bool) -> bool:
    """A mark at `node`; where it is `whole` the thing that is skipped, a skip that its body calls, too."""
    if any(_mark(m, names, flags) for m in _decorators(node)):
        return True
    body: list[ast.stmt] = getattr(node, "body", [])
    return whole and not isinstance(node, ast.ClassDef) and any(_skips(s, names, flags) for s in body)


def _mark(node: ast.AST, names: dict[str, str], flags: frozenset[str]) -> bool:
    return any(
        # A mark by its own name: `mac_only = pytest.mark.skipif(...)`.
        (isinstance(one, ast.Name) and one.id in flags and one is node)
        or (
            isinstance(one, ast.Call)
            and _last(one.func, names) in _CONDITIONAL
            and one.args
            and (_names_place(one.args[0], names, flags) or _text_names_place(one.args[0]))
        )
        for one in ast.walk(node)
    )


def _text_names_place(node: ast.AST) -> bool:
    """Conditions may be text, which pytest evaluates."""
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    try:
        inner = ast.parse(node.value, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return _names_place(inner.body, {}, frozenset())


def _skips(statement: ast.stmt, names: dict[str, str], flags: frozenset[str]) -> bool:
    """It calls importorskip, or says `if <place>: skip(...)`, outside of inner functions and classes."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False

    def called(within: Iterable[ast.AST], which: Iterable[str]) -> bool:
        return any(isinstance(n, ast.Call) and _last(n.func, names) in which for w in within for n in ast.walk(w))

    return called([statement], ("importorskip",)) or any(
        isinstance(one, ast.If) and _names_place(one.test, names, flags) and called(one.body, _SKIPS)
        for one in ast.walk(statement)
    )


def _last(node: ast.AST, names: dict[str, str]) -> str:
    return python_code.dotted(node, names).rsplit(".", 1)[-1]
