"""Tricks that need no knowledge of the tests: seeing that tests run, equal to everything, bent clocks, early ends."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator

from gatekeeper.checks.implementation_gaming.modules import Module
from gatekeeper.checks.implementation_gaming.warning_frames import frames_for_warnings
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.python_code import dotted, folded, imports, strings, walk, written
from gatekeeper.formats.python_old_branches import never_taken
from gatekeeper.records import dataclass

_RUNNER_TEXT = re.compile(r"_?pytest(?:$|[._].*)|py\.test|PYTEST_\w*|_?unittest(?:$|\..*)|nose2?|TOX_\w+|_called_from_test|.*PYTEST_CURRENT_TEST.*|conftest(?:\.py)?", re.DOTALL)  # fmt: skip
_CI_TEXT = {
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "CONTINUOUS_INTEGRATION",
    "JENKINS_URL",
    "TRAVIS",
    "CIRCLECI",
    "BUILDKITE",
}
_WATCHED = re.compile(r"sys\.(?:modules|argv|orig_argv|flags|gettrace|getprofile|monitoring)(?:\..*)?|os\.(?:environ|getenv|environb)(?:\..*)?|importlib\.util\.find_spec")  # fmt: skip
_FRAMES = {"sys._getframe", "sys._current_frames", "inspect.stack", "inspect.currentframe", "inspect.trace", "inspect.getouterframes", "traceback.extract_stack", "traceback.walk_stack", "traceback.format_stack", "gc.get_referrers", "gc.get_objects", "sys._getframemodulename"}  # fmt: skip
_INTO_CALLER = {"co_consts", "co_names", "co_name", "co_filename", "co_varnames", "f_locals", "f_back", "f_trace", "f_lineno", "co_code"}  # fmt: skip
_LOGGING = {"f_globals"}
_MAY_SET = {"sys.excepthook", "sys.displayhook", "sys.stdout", "sys.stderr", "sys.stdin", "sys.path", "sys.ps1", "sys.ps2", "sys.tracebacklimit", "sys.dont_write_bytecode", "sys.argv", "sys.unraisablehook", "logging.raiseExceptions", "threading.excepthook"}  # fmt: skip
_ALWAYS = (
    "__eq__",
    "__ne__",
    "__contains__",
    "__le__",
    "__ge__",
    "__lt__",
    "__gt__",
    "__instancecheck__",
    "__subclasscheck__",
)


@dataclass(frozen=True)
class _Hit:
    code: str
    message: str
    node: ast.AST
    effect: Effect | None = None


def tricks(module: Module) -> list[Finding]:
    """New hits only: what the base already did is not the change's doing. Blocking ones first."""
    old = Counter((h.code, ast.dump(h.node)) for h in _hits(module.before))
    out = []
    for hit in _hits(module.after):
        mark = (hit.code, ast.dump(hit.node))
        if old[mark] > 0:
            old[mark] -= 1
            continue
        shown = written(hit.node)[:300]
        out.append(finding(hit.code, hit.message, path=module.path, line=getattr(hit.node, "lineno", None), evidence=shown, key=mark[1], effect=hit.effect))  # fmt: skip
    return sorted(out, key=lambda f: f.effect is not Effect.BLOCKS)


def _hits(tree: ast.Module) -> Iterator[_Hit]:
    names = imports(tree)
    yield from _detection(tree, names)
    yield from _equality(tree)
    yield from _patches(tree, names)
    yield from _ends(tree, names)


def _detection(tree: ast.Module, names: dict[str, str]) -> Iterator[_Hit]:
    placed = frames_for_warnings(tree, names)
    for node in walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            runner = any(m.split(".")[0] in ("pytest", "_pytest", "hypothesis") for m in modules)
            if runner or ("unittest.mock" in modules and id(node) not in never_taken(tree)):
                yield _Hit("TEST_RUNNER_IN_CODE", "Library code imports a test runner or its mocks.", node)
        if isinstance(node, ast.Attribute | ast.Name) and dotted(node, names) in _FRAMES and id(node) not in placed:
            yield _Hit(
                "CALLER_INSPECTED",
                "The code looks at who calls it, so it can answer for the tests alone.",
                node,
                Effect.ASKS,
            )
        if isinstance(node, ast.Attribute) and node.attr in _INTO_CALLER - _LOGGING and id(node) not in placed:
            yield _Hit("CALLER_INSPECTED", f"The code reads `{node.attr}` of its caller's frame or code.", node)
    watched = any(
        isinstance(n, ast.Attribute | ast.Name | ast.Call) and _WATCHED.fullmatch(dotted(n.func if isinstance(n, ast.Call) else n, names))
        for n in walk(tree)
    )  # fmt: skip
    if not watched:
        watched = any(
            isinstance(n, ast.Call) and dotted(n.func, names) in ("getattr", "hasattr", "__import__", "vars", "globals")
            for n in walk(tree)
        )
    for value, node in strings(tree):
        if not watched or not isinstance(node, ast.expr):
            continue
        if _RUNNER_TEXT.fullmatch(value):
            yield _Hit(
                "TEST_DETECTED", f"The code looks for {value!r}: it can tell that tests run and behave only then.", node
            )
        elif value in _CI_TEXT:
            yield _Hit(
                "CI_DETECTED", f"The code looks for {value!r} and may behave differently under CI.", node, Effect.ASKS
            )


def _truth(node: ast.AST | None) -> bool | None:
    """Constant truth of an expression, None where it depends on something."""
    if isinstance(node, ast.Constant):
        return bool(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _truth(node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.BoolOp):
        parts = [_truth(v) for v in node.values]
        if isinstance(node.op, ast.Or):
            return True if True in parts else (None if None in parts else False)
        return False if False in parts else (None if None in parts else True)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and ast.dump(node.left) == ast.dump(node.comparators[0]):
        return isinstance(node.ops[0], ast.Eq | ast.Is | ast.LtE | ast.GtE)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id == "bool" and len(node.args) == 1:
            return _truth(node.args[0])
        if (
            node.func.id == "isinstance"
            and len(node.args) == 2
            and isinstance(node.args[1], ast.Name)
            and node.args[1].id == "object"
        ):
            return True
    return None


def _returns(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[bool | None]:
    if isinstance(node, ast.Lambda):
        return [_truth(node.body)]
    return [_truth(n.value) for n in ast.walk(node) if isinstance(n, ast.Return) and not (isinstance(n.value, ast.Name) and n.value.id == "NotImplemented")]  # fmt: skip


def _equality(tree: ast.Module) -> Iterator[_Hit]:
    message = "`{}` gives the same answer for every operand, so any comparison in a test succeeds."
    for node in walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in _ALWAYS:
            answers = _returns(node)
            if answers and None not in answers and len(set(answers)) == 1 and answers[0] is (node.name != "__ne__"):
                yield _Hit("ALWAYS_EQUAL", message.format(node.name), node)
            elif node.name == "__eq__" and not any(isinstance(n, ast.Attribute | ast.Compare) or (isinstance(n, ast.Call) and not (isinstance(n.func, ast.Name) and n.func.id == "isinstance")) for n in ast.walk(ast.Module(node.body, []))) and answers:  # fmt: skip
                yield _Hit("ALWAYS_EQUAL", "`__eq__` compares nothing of the object itself.", node)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                name = (
                    target.id
                    if isinstance(target, ast.Name)
                    else target.attr
                    if isinstance(target, ast.Attribute)
                    else ""
                )
                if name in ("__eq__", "__ne__") and _returns(node.value) == [name == "__eq__"]:
                    yield _Hit("ALWAYS_EQUAL", message.format(name), node)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                method = folded(key) if key is not None else None
                if (
                    method in ("__eq__", "__ne__")
                    and isinstance(value, ast.Lambda)
                    and _returns(value) == [method == "__eq__"]
                ):
                    yield _Hit("ALWAYS_EQUAL", message.format(method), value)


def _patches(tree: ast.Module, names: dict[str, str]) -> Iterator[_Hit]:
    def foreign(owner: str) -> bool:
        return owner.split(".", maxsplit=1)[0] in sys.stdlib_module_names and owner.split(".", maxsplit=1)[0] not in (
            "__future__",
            "this",
        )

    message = "The code replaces `{}` for the whole process, the tests' own clock or comparison included."
    imported = set(names)

    def root(node: ast.AST) -> str:
        while isinstance(node, ast.Attribute):
            node = node.value
        return node.id if isinstance(node, ast.Name) else ""

    for node in walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete):
            targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
            flat = [e for t in targets for e in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]
            for target in flat:
                if isinstance(target, ast.Attribute):
                    name = dotted(target, names)
                    bound = root(target) in imported or (
                        name.startswith(("builtins.", "time.")) and "." in dotted(target, {}) and root(target) == ""
                    )
                    if name and bound and foreign(name) and name not in _MAY_SET:
                        yield _Hit("PROCESS_PATCHED", message.format(name), node)
                elif isinstance(target, ast.Subscript):
                    name = dotted(target.value, names)
                    key = folded(target.slice)
                    if name == "sys.modules" or (
                        name.endswith("__dict__") and foreign(name) and root(target.value) in imported
                    ):
                        yield _Hit("PROCESS_PATCHED", message.format(f"{name}[{key or '...'}]"), node)
        elif isinstance(node, ast.Call):
            called = dotted(node.func, names)
            if called in ("setattr", "delattr", "object.__setattr__", "vars") and node.args:
                owner = dotted(node.args[0], names)
                if called != "vars" and owner and root(node.args[0]) in imported and foreign(owner):
                    yield _Hit(
                        "PROCESS_PATCHED",
                        message.format(f"{owner}.{(folded(node.args[1]) if len(node.args) > 1 else None) or '...'}"),
                        node,
                    )


def _ends(tree: ast.Module, names: dict[str, str]) -> Iterator[_Hit]:
    main_guard = {
        id(n) for s in tree.body if isinstance(s, ast.If) and "__name__" in ast.dump(s.test) for n in ast.walk(s)
    }
    inside = {id(n) for f in walk(tree) if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) for n in walk(f)}  # fmt: skip
    for node in walk(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = dotted(node.exc.func if isinstance(node.exc, ast.Call) else node.exc, names)
            if raised in ("unittest.SkipTest", "unittest.case.SkipTest", "SkipTest") or raised.startswith(
                ("pytest.skip", "_pytest.outcomes")
            ):
                yield _Hit(
                    "SKIP_FROM_CODE",
                    "Library code raises the skip of a test runner: a failing test becomes a skipped one.",
                    node,
                )
            elif raised == "SystemExit" and id(node) not in inside and id(node) not in main_guard:
                yield _Hit("PROCESS_ENDED", "Importing the module ends the process.", node)
        elif isinstance(node, ast.Call):
            called = dotted(node.func, names)
            if called in ("os._exit", "os.abort"):
                yield _Hit(
                    "PROCESS_ENDED",
                    f"`{called}` ends the process at once, whatever the test runner wanted to report.",
                    node,
                )
            elif called in ("sys.exit", "exit", "quit") and id(node) not in inside and id(node) not in main_guard:
                yield _Hit("PROCESS_ENDED", "Importing the module ends the process.", node)
            elif called.startswith(("pytest.skip", "pytest.xfail", "pytest.importorskip", "pytest.exit")):
                yield _Hit("SKIP_FROM_CODE", "Library code calls the skip of a test runner.", node)
