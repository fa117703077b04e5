"""Tests of one module by the naming rules of pytest and unittest, read from the source without running it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.formats import python_code
from gatekeeper.formats.python_source.material import Material, material
from gatekeeper.formats.python_spelling import plain
from gatekeeper.records import dataclass

MAX_TESTS = 20_000
_SILENCERS = {"skip", "skipif", "xfail", "skipIf", "skipUnless", "expectedFailure"}
_NESTING = 20


@dataclass(frozen=True)
class TestFunction:
    """One function that the naming rules take for a test."""

    __test__ = False

    name: str
    """Qualified with `::`, as in test ids: `TestA::test_b`."""
    line: int
    body: str
    """Dump of arguments (self left out) and body; equal for tests that do the same. Empty where it is too deep."""
    decorators: tuple[str, ...]
    silencers: tuple[tuple[str, int], ...]
    """(skip, skipif, xfail, expectedFailure ..., line) by decorator, at the class, or within parametrize."""
    rows: tuple[str, ...] | None
    """Parameter sets of the parametrize decorators, in canonical form; None where they can not be read."""
    material: Material
    node: ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class TestModule:
    """What the source of one test module says about its tests."""

    __test__ = False

    tests: dict[str, TestFunction]
    """Definitions that count: the last one of a name."""
    duplicates: tuple[tuple[str, int, int], ...]
    """(name, line of the hidden definition, line of what replaces it), where the two differ."""
    hiders: tuple[tuple[str, int], ...]
    """(what, line): `__test__ = False`, `del test_x`, `test_x = ...`, an `__init__` in a test class."""
    silencers: tuple[tuple[str, int], ...]
    """Marks and skips of the whole module."""
    functions: dict[str, str]
    """Every function of the module, test or not: qualified name -> dump of its body."""
    imports: frozenset[str]
    """Names that imports bind."""


def read_module(source: bytes | str | None) -> TestModule | None:
    """The inventory; None for a text that is missing, too long, too deep or no Python."""
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    tree = python_code.parse(text)
    if tree is None:
        return None
    try:
        return _read(plain(tree))
    except (RecursionError, MemoryError):
        return None


def _read(tree: ast.Module) -> TestModule:
    tests: dict[str, TestFunction] = {}
    duplicates: list[tuple[str, int, int]] = []
    hiders: list[tuple[str, int]] = []
    functions: dict[str, str] = {}
    marks: list[tuple[str, int]] = []
    for name, node, outer in _functions(tree, "", (), duplicates, hiders, 0):
        if len(functions) >= MAX_TESTS:
            break
        functions[name] = _body(node)
        if not _is_test(name, node):
            continue
        tests[name] = TestFunction(
            name, node.lineno, functions[name], tuple(ast.dump(d) for d in node.decorator_list),
            (*(s for d in (*node.decorator_list, *outer) for s in _silencers(d)), *_called_skips(node)),
            _rows(node), material(node), node,
        )  # fmt: skip
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == "pytestmark" for t in statement.targets
        ):
            marks += _silencers(statement.value)
        elif isinstance(statement, ast.Expr | ast.If | ast.Raise | ast.Assign | ast.Try):
            marks += _module_skips(statement)
    return TestModule(
        tests, tuple(duplicates), tuple(hiders), tuple(marks), functions, frozenset(python_code.imports(tree))
    )


def _is_test(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    fixture = any("fixture" in ast.dump(d) for d in node.decorator_list)
    return re.match(r"test", name.rsplit("::", 1)[-1]) is not None and not fixture


def _functions(
    tree: ast.AST,
    prefix: str,
    outer: tuple[ast.expr, ...],
    duplicates: list[tuple[str, int, int]],
    hiders: list[tuple[str, int]],
    depth: int,
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef, tuple[ast.expr, ...]]]:
    if depth > _NESTING:
        return
    seen: dict[str, ast.stmt] = {}
    in_class = isinstance(tree, ast.ClassDef)
    for node in _statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            before = seen.get(node.name)
            if (
                before is not None
                and _collectable(node.name)
                and python_code.meaning(before) != python_code.meaning(node)
            ):
                duplicates.append((prefix + node.name, before.lineno, node.lineno))
            seen[node.name] = node
            if isinstance(node, ast.ClassDef):
                decorators = (*outer, *node.decorator_list, *_class_marks(node))
                yield from _functions(node, f"{prefix}{node.name}::", decorators, duplicates, hiders, depth + 1)
            else:
                if in_class and node.name in ("__init__", "__new__") and prefix.split("::")[-2].startswith("Test"):
                    hiders.append((f"{prefix}{node.name}", node.lineno))
                yield prefix + node.name, node, outer
            continue
        for name, value in _bound(node):
            if name == "__test__" and isinstance(value, ast.Constant) and not value.value:
                hiders.append((f"{prefix}__test__ = False", node.lineno))
            elif name.endswith(".__test__") and isinstance(value, ast.Constant) and not value.value:
                hiders.append((f"{prefix}{name} = False", node.lineno))
            elif name in seen and _collectable(name):
                what = "del " if isinstance(node, ast.Delete) else ""
                hiders.append((f"{what}{prefix}{name}{'' if what else ' is bound to something else'}", node.lineno))


def _collectable(name: str) -> bool:
    return name.startswith(("test", "Test")) or name.endswith(("Test", "Tests", "TestCase"))


def _statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Statements of a body, of `with` too. Branches of if and try are alternatives, so their duplicates are none."""
    for node in getattr(tree, "body", ()):
        if isinstance(node, ast.With):
            yield from _statements(node)
        elif isinstance(node, ast.If | ast.Try | ast.For):
            inner = [*node.body, *node.orelse]
            names = {n.name for n in inner if isinstance(n, ast.FunctionDef | ast.ClassDef)}
            yield from (
                n for n in inner if not (isinstance(n, ast.FunctionDef) and n.name in names and n in node.orelse)
            )
        else:
            yield node


def _bound(node: ast.stmt) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            yield _target(target), node.value
    elif isinstance(node, ast.Delete):
        for target in node.targets:
            yield _target(target), None
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, None
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        name = python_code.written(call.func)[:60] if len(call.args) <= 3 else ""
        first = python_code.folded(call.args[0]) if call.args else None
        if name in ("globals().pop", "vars().pop", "globals().__delitem__") and first:
            yield first, None
        if name == "setattr" and len(call.args) == 3 and python_code.folded(call.args[1]) == "__test__":
            yield f"{_target(call.args[0])}.__test__", call.args[2]


def _target(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_target(node.value)}.{node.attr}"
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Call)
        and python_code.written(node.value)[:20] in ("globals()", "vars()", "locals()")
    ):
        return python_code.folded(node.slice) or ""
    return ""


def _class_marks(node: ast.ClassDef) -> list[ast.expr]:
    return [
        s.value for s in node.body if isinstance(s, ast.Assign) and any(_target(t) == "pytestmark" for t in s.targets)
    ]


def _silencers(node: ast.AST) -> list[tuple[str, int]]:
    found = []
    for one in ast.walk(node):
        name = one.attr if isinstance(one, ast.Attribute) else one.id if isinstance(one, ast.Name) else ""
        if name in _SILENCERS:
            found.append((name, getattr(one, "lineno", 0)))
    return found


def _called_skips(node: ast.AST) -> list[tuple[str, int]]:
    """skip, xfail or importorskip called in the body, SkipTest raised, an early return under a condition left aside."""
    found = []
    for one in ast.walk(node):
        if isinstance(one, ast.Call):
            name = (
                one.func.attr
                if isinstance(one.func, ast.Attribute)
                else one.func.id
                if isinstance(one.func, ast.Name)
                else ""
            )
            if name in ("skip", "skipTest", "xfail", "importorskip", "SkipTest"):
                found.append((name, one.lineno))
    return found


def _module_skips(node: ast.AST) -> list[tuple[str, int]]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return []
    return _called_skips(node)


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Dump of what the function does. `self` is dropped, so that a method equals the function it became."""
    args = node.args
    arguments = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs) if a.arg not in ("self", "cls")]
    # What an argument holds without being given is what the test uses: nobody gives it.
    held = [ast.dump(d) for d in (*args.defaults, *args.kw_defaults) if d is not None]
    dump = ";".join(python_code.meaning(s) for s in node.body if not _bare(s))
    return f"{','.join([*sorted(arguments), *held])}|{dump}" if dump else ""


def _bare(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _rows(node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...] | None:
    rows: list[str] = []
    for decorator in node.decorator_list:
        if not (
            isinstance(decorator, ast.Call)
            and isinstance(decorator.func, ast.Attribute)
            and decorator.func.attr == "parametrize"
        ):
            continue
        values = (
            decorator.args[1]
            if len(decorator.args) > 1
            else next((k.value for k in decorator.keywords if k.arg == "argvalues"), None)
        )
        if not isinstance(values, ast.List | ast.Tuple):
            return None
        rows += [_row(v) for v in values.elts]
    return tuple(rows)


def _row(node: ast.expr) -> str:
    """One parameter set without its id and marks, so that naming a row does not change it."""
    if isinstance(node, ast.Call) and (
        (isinstance(node.func, ast.Attribute) and node.func.attr == "param")
        or (isinstance(node.func, ast.Name) and node.func.id == "param")
    ):
        inner = [ast.dump(a) for a in node.args]
        return inner[0] if len(inner) == 1 else f"({', '.join(inner)})"
    if isinstance(node, ast.Tuple | ast.List):
        return f"({', '.join(ast.dump(e) for e in node.elts)})" if len(node.elts) != 1 else ast.dump(node.elts[0])
    return ast.dump(node)
