"""What a module tells unittest to run and to leave out, read from its source: for runs that show no test one by one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.formats import python_code
from gatekeeper.records import dataclass

_SKIPS = {"skip", "skipIf", "skipUnless", "expectedFailure", "skipTest", "SkipTest", "importorskip", "xfail", "skipif"}
_SETUPS = {
    "setUp",
    "setUpClass",
    "asyncSetUp",
    "setUpModule",
    "setUpTestData",
    "__init__",
    "setup_method",
    "setup_class",
}
_MARKS = {"__unittest_skip__", "__unittest_expecting_failure__", "__test__", "testMethodPrefix", "testNamePatterns"}
_RUNS = {
    "run", "__call__", "_callTestMethod", "_callSetUp", "_callTearDown", "countTestCases", "debug", "failureException",
    "defaultTestResult", "__new__", "fail", "__init_subclass__", "__getattribute__",
}  # fmt: skip
_PLATFORM = re.compile(
    r"sys\.platform|os\.name|platform\.|shutil\.which|version_info|find_spec|hasattr\(|\bHAS_|\bhas_|getuid|cpu_count|ImportError"
)
_MAX_CLASSES = 2000


@dataclass(frozen=True, slots=True)
class Skip:
    """One place at which tests are left out."""

    place: str
    """`Class::method`, `Class`, or nothing for the whole module."""
    how: str
    line: int
    platform: bool
    """True where it hangs on the machine, the interpreter or a tool alone."""


@dataclass(frozen=True)
class UnittestModule:
    """What one module holds."""

    tests: dict[str, bool]
    """`Class::method` of what unittest collects -> whether it is defined under a condition."""
    skips: tuple[Skip, ...]
    loads: str
    """Meaning of `load_tests`, empty where there is none or it only adds to what was found."""
    overrides: tuple[tuple[str, int], ...]
    """(`Class::name`, line) of methods and marks of the framework that a class or the module sets."""


def read_unittest(source: str | None) -> UnittestModule | None:
    """The reading; None for a text that is missing, too long, too deep or no Python."""
    tree = python_code.parse(source)
    if tree is None:
        return None
    try:
        return _read(tree)
    except RecursionError:
        return None


def _read(tree: ast.Module) -> UnittestModule:
    tests: dict[str, bool] = {}
    skips: list[Skip] = []
    overrides: list[tuple[str, int]] = []
    loads = ""
    known: dict[str, bool] = {}
    gone: set[str] = set()
    for node, conditional in _statements(tree.body, False):
        if isinstance(node, ast.ClassDef) and len(known) < _MAX_CLASSES:
            case = known[node.name] = _is_case(node, known)
            skips += [s for d in node.decorator_list for s in _skips(d, node.name, d)]
            for inner, under in _statements(node.body, conditional):
                name = getattr(inner, "name", "")
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    place = f"{node.name}::{name}"
                    if case and name.startswith("test"):
                        tests[place] = under
                    if name.startswith("test") or name in _SETUPS:
                        owner = node.name if name in _SETUPS else place
                        skips += [s for d in inner.decorator_list for s in _skips(d, owner, d)]
                        skips += [s for statement in inner.body for s in _skips(statement, owner, statement)]
                    if case and name in _RUNS:
                        overrides.append((place, inner.lineno))
                overrides += [(f"{node.name}::{n}", inner.lineno) for n in _marked(inner)]
            gone.discard(node.name)
        elif isinstance(node, ast.FunctionDef) and node.name == "load_tests":
            loads = "" if _only_adds(node) else python_code.meaning(node)
        elif isinstance(node, ast.FunctionDef) and node.name in _SETUPS:
            skips += [s for statement in node.body for s in _skips(statement, "", statement)]
        elif isinstance(node, ast.Raise | ast.Expr | ast.If | ast.Try):
            skips += list(_skips(node, "", node))
        elif isinstance(node, ast.Delete):
            gone |= {ast.unparse(t).replace(".", "::") for t in node.targets}
        elif isinstance(node, ast.Assign | ast.ImportFrom):
            bound = (
                [ast.unparse(t) for t in node.targets]
                if isinstance(node, ast.Assign)
                else [a.asname or a.name for a in node.names]
            )
            gone |= {b.replace(".", "::") for b in bound}
            loads = ast.unparse(node) if "load_tests" in bound else loads
        overrides += [(n, getattr(node, "lineno", 0)) for n in _marked(node)]
    kept = {k: v for k, v in tests.items() if k not in gone and k.partition("::")[0] not in gone}
    return UnittestModule(kept, tuple(skips), loads, tuple(overrides))


def _statements(body: list[ast.stmt], conditional: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Statements, those of branches as well; what stands in both branches stands under no condition."""
    for node in body:
        yield node, conditional
        if isinstance(node, ast.If):
            yield from _statements(node.body, conditional or not node.orelse)
            yield from _statements(node.orelse, conditional)
        elif isinstance(node, ast.Try):
            yield from _statements([*node.body, *node.orelse, *node.finalbody], conditional)
        elif isinstance(node, ast.With | ast.For | ast.While):
            yield from _statements(node.body, conditional or isinstance(node, ast.While))


def _is_case(node: ast.ClassDef, known: dict[str, bool]) -> bool:
    """It has a base that is, or may be, a TestCase."""
    for base in node.bases:
        name = ast.unparse(base)
        if name in known:
            if known[name]:
                return True
        elif name not in ("object", "type", "Exception") and not name.startswith(("Generic[", "Protocol")):
            return True
    return False


def _skips(node: ast.AST, place: str, whole: ast.AST) -> Iterator[Skip]:
    """Skips in an expression or statement. Functions and classes in it speak for themselves."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return
    for one in ast.walk(node):
        name = one.attr if isinstance(one, ast.Attribute) else one.id if isinstance(one, ast.Name) else ""
        if name in _SKIPS:
            text = ast.unparse(whole)[:2000]
            platform = _PLATFORM.search(text) is not None and "environ" not in text
            yield Skip(place, name, getattr(one, "lineno", 0), platform)


def _marked(node: ast.stmt) -> list[str]:
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    value = node.value
    if isinstance(value, ast.Constant) and value.value is True and any("__test__" in ast.unparse(t) for t in targets):
        return []
    return [ast.unparse(t) for t in targets if ast.unparse(t).rsplit(".", 1)[-1] in _MARKS]


def _only_adds(node: ast.FunctionDef) -> bool:
    """It gives back the suite that it was given, to which it does nothing but add."""
    arguments = [a.arg for a in node.args.args]
    if len(arguments) < 2:
        return False
    suite = arguments[1]
    for one in ast.walk(node):
        if isinstance(one, ast.Return) and not (isinstance(one.value, ast.Name) and one.value.id == suite):
            return False
        if isinstance(one, ast.Assign) and any(suite in ast.unparse(t) for t in one.targets):
            return False
        used = isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == suite
        if used and getattr(one, "attr", "") not in ("addTest", "addTests"):
            return False
    return any(isinstance(one, ast.Return) for one in ast.walk(node))
