"""Subtler disguises: equality that forgets, a command line that tells, a variable that tests alone set, a check that
checks nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.checks.implementation_gaming.equality import loose_equality
from gatekeeper.checks.implementation_gaming.modules import Module, Modules
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.python_code import dotted, folded, functions, imports, walk, written

_COMMAND_LINE = re.compile(r"sys\.(?:argv|orig_argv|executable|modules)|os\.(?:getcwd|get_exec_path|environ|environb)")
_WITH_BODY = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.For, ast.AsyncFor, ast.With, ast.AsyncWith, ast.Try)  # fmt: skip
_TESTING = re.compile(r"(?i)(?:^|[^a-z])(?:py|unit|_)?tests?(?:ing|ed|er|-?runner)?(?:[^a-z]|$)")
_WORD_OF_TESTS = re.compile(r"(?:^|_)(?:TEST|TESTS|TESTING|UNITTEST|UNDER_TEST|IN_TEST)(?:_|$)")
_READS = re.compile(r"os\.(?:getenv|environ\.get|environb\.get|environ\.__contains__)")


def disguises(module: Module, modules: Modules) -> list[Finding]:
    """New hits in this module."""
    old = {ast.dump(n) for n in walk(module.before)}
    names = imports(module.after)
    return [
        *loose_equality(module, modules),
        *_told_by_command_line(module, old, names),
        *_told_by_variable(module, modules, old, names),
        *_empty_check(module, modules),
    ]


def _told_by_command_line(module: Module, old: set[str], names: dict[str, str]) -> Iterator[Finding]:
    """A search for "test" inside what the process was called or where it stands. A word of the command line compared
    as a whole (`argv[1] == "test"`) is a command and no detection.
    """
    for statement in walk(module.after):
        # The statements inside of one that has a body are looked at by themselves.
        if not isinstance(statement, ast.stmt) or isinstance(statement, _WITH_BODY) or ast.dump(statement) in old:
            continue
        part = statement.test if isinstance(statement, ast.If | ast.While) else statement
        nodes = list(ast.walk(part))
        watched = {id(n) for n in nodes if isinstance(n, ast.Attribute | ast.Name) and _COMMAND_LINE.fullmatch(dotted(n, names))}  # fmt: skip
        if watched and (hit := next((n for n in nodes if _searches(n, watched, names)), None)):
            yield finding(
                "TEST_DETECTED",
                "The code looks for a word of tests in how the process was started: it can tell that tests run and"
                " behave only then.",
                path=module.path, line=getattr(hit, "lineno", None), key="command line", evidence=written(part)[:300],
            )  # fmt: skip
            return


def _searches(node: ast.AST, watched: set[int], names: dict[str, str]) -> bool:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn):
        word = folded(node.left)
        where = node.comparators[0]
        whole = isinstance(where, ast.Attribute | ast.Name) and id(where) in watched  # membership of a whole word
        return word is not None and bool(_TESTING.search(word)) and not whole
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        words = [folded(a) for a in node.args]
        if node.func.attr in ("startswith", "endswith", "find", "count", "index", "rfind", "__contains__"):
            return any(w is not None and _TESTING.search(w) for w in words)
        return dotted(node.func, names).startswith(("re.search", "re.match", "fnmatch.")) and any(
            w is not None and _TESTING.search(w) for w in words
        )
    return False


def _told_by_variable(module: Module, modules: Modules, old: set[str], names: dict[str, str]) -> Iterator[Finding]:
    """An environment variable whose name speaks of tests, read by library code."""
    for node in walk(module.after):
        name = None
        if isinstance(node, ast.Call) and node.args and _READS.fullmatch(dotted(node.func, names)):
            name = folded(node.args[0])
        elif (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and dotted(node.value, names) == "os.environ"
        ):
            name = folded(node.slice)
        elif isinstance(node, ast.Compare) and any(dotted(c, names) == "os.environ" for c in node.comparators):
            name = folded(node.left)
        if not name or not _WORD_OF_TESTS.search(name.upper()) or ast.dump(node) in old:
            continue
        set_by_tests = name in modules.test_constants
        yield finding(
            "TEST_DETECTED",
            f"The code reads the variable {name!r}" + (", which the tests set: it behaves otherwise only there." if set_by_tests else ": it can behave otherwise while tests run."),
            path=module.path, line=getattr(node, "lineno", None), key=name, evidence=written(node)[:300],
            effect=None if set_by_tests else Effect.ASKS,
        )  # fmt: skip
        return


def _empty_check(module: Module, modules: Modules) -> Iterator[Finding]:
    """A new function that gives one answer whatever it is asked, and whose tests replace it by a mock."""
    known = {f.name for f in functions(module.before)}
    for node in module.after.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name in known or node.decorator_list:
            continue
        body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        asked = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        constant = len(body) == 1 and isinstance(body[0], ast.Return) and isinstance(body[0].value, ast.Constant)
        if not asked or not constant or not modules.patched(node.name):
            continue
        yield finding(
            "CHECK_IS_CONSTANT",
            f"{node.name}() says {written(body[0])[:60]!r} whatever it is asked, and the tests put a mock in its place.",
            path=module.path, line=node.lineno, key=node.name, evidence=written(node)[:300],
        )  # fmt: skip
