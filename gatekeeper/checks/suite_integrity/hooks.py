"""Hooks of the runner that the change adds or edits: results rewritten, tests dropped or skipped while collecting."""

from __future__ import annotations

import ast

from gatekeeper.checks.suite_integrity.outcomes import SILENT
from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code

_REPORT = {"outcome", "longrepr", "exitstatus", "wasxfail", "excinfo", "shouldfail", "shouldstop", "testsfailed", "failed", "passed", "skipped"}  # fmt: skip
_REPLACING = {
    "pytest_runtest_protocol", "pytest_pyfunc_call", "pytest_runtestloop", "pytest_cmdline_main", "pytest_runtest_call",
    "pytest_report_teststatus", "pytest_collect_file", "pytest_pycollect_makeitem", "pytest_make_collect_report",
    "pytest_collection", "pytest_runtest_makereport", "pytest_pycollect_makemodule",
}  # fmt: skip
_CHOOSING = {
    "pytest_collection_modifyitems",
    "pytest_ignore_collect",
    "pytest_itemcollected",
    "pytest_deselected",
    "pytest_generate_tests",
}
_EXITS = {"_exit", "exit", "abort", "kill"}
_SKIPS = {"skip", "skipif", "xfail", "SkipTest"}


def hooks(situation: Situation) -> list[Finding]:
    """One finding a file, with every hook that bends results or the choice of tests."""
    out = []
    for path, changed in situation.changed.items():
        if changed.new is None or not path.endswith(".py"):
            continue
        tree = python_code.parse(situation.source(path))
        if tree is None:
            continue
        old_tree = python_code.parse(situation.source(path, base=True)) if changed.old is not None else None
        before = _defined(old_tree) if old_tree is not None else {}
        rows: list[tuple[int, str, bool]] = []
        for name, node in _defined(tree).items():
            if name in before and python_code.meaning(before[name]) == python_code.meaning(node):
                continue
            what = _rewrites(name, node)
            if what:
                rows.append((node.lineno, f"{name} {what}", True))
            elif (chosen := _chooses(name, node)) and _felt(situation):
                rows.append((node.lineno, f"{name} {chosen}", True))
        if path.rsplit("/", 1)[-1] == "conftest.py":
            rows += [
                (n.lineno, w, True)
                for n, w in _ignores(tree)
                if old_tree is None or w not in {x for _, x in _ignores(old_tree)}
            ]
        if not rows:
            continue
        permitted = situation.permits((PermitKind.CHANGE_INSTRUMENTS,), path=path)
        message = f"{path}: {'; '.join(r[1] for r in rows[:4])}."
        effect = Effect.ASKS if permitted else None
        out.append(finding("REPORT_HOOK", message, path=path, line=rows[0][0], key="; ".join(r[1] for r in rows), effect=effect))  # fmt: skip
    return out


def _defined(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """Hooks at any depth (plugin classes), also under another name through hookimpl(specname=...)."""
    out = {}
    for node in python_code.walk(tree):
        if isinstance(node, ast.FunctionDef):
            name = node.name
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call):
                    given = [python_code.folded(k.value) for k in decorator.keywords if k.arg == "specname"]
                    name = given[0] if given and given[0] else name
            if name.startswith("pytest_"):
                out[name] = node
    return out


def _rewrites(name: str, hook: ast.FunctionDef) -> str:
    """What of the results a hook rewrites, or ""."""
    if name in ("pytest_addoption", "pytest_report_header", "pytest_configure_node"):
        return ""
    for node in python_code.walk(hook):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = [t for one in node.targets for t in (one.elts if isinstance(one, ast.Tuple) else [one])]
        elif isinstance(node, ast.AnnAssign | ast.AugAssign):
            targets = [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and target.attr in _REPORT:
                return f"sets {target.attr} (line {target.lineno})"
        if isinstance(node, ast.Call):
            called = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else node.func.id
                if isinstance(node.func, ast.Name)
                else ""
            )
            if called == "setattr" and len(node.args) == 3 and python_code.folded(node.args[1]) in _REPORT:
                return f"sets {python_code.folded(node.args[1])} (line {node.lineno})"
            if called in ("force_result", "force_exception"):
                return f"replaces the result (line {node.lineno})"
            if called in _EXITS:
                return f"ends the process (line {node.lineno})"
            if called in ("from_item_and_call", "TestReport", "CollectReport"):
                return ""
    if name in _REPLACING and _answers(hook):
        return "answers in place of the runner"
    if name in _REPLACING - {"pytest_runtest_makereport"} and any(
        isinstance(n, ast.Try) and any(_swallows(h) for h in n.handlers) for n in python_code.walk(hook)
    ):
        return "swallows exceptions of tests"
    return ""


def _answers(hook: ast.FunctionDef) -> bool:
    """Returns something that stops the runner's own hook; a wrapper that hands on what it was given does not."""
    if any(isinstance(n, ast.Yield) for n in python_code.walk(hook)):
        passed_on = {t.id for n in python_code.walk(hook) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Yield) for t in n.targets if isinstance(t, ast.Name)}  # fmt: skip
        return any(
            isinstance(n, ast.Return) and n.value is not None and not isinstance(n.value, ast.Yield)
            and not (isinstance(n.value, ast.Name) and n.value.id in passed_on)
            for n in python_code.walk(hook)
        )  # fmt: skip
    harmless = {"pytest_collect_file", "pytest_pycollect_makeitem", "pytest_report_teststatus"}
    returns = [n.value for n in python_code.walk(hook) if isinstance(n, ast.Return) and n.value is not None and not (isinstance(n.value, ast.Constant) and n.value.value is None)]  # fmt: skip
    if hook.name in harmless:
        if hook.name == "pytest_report_teststatus":
            return any(
                isinstance(r, ast.Tuple) and r.elts and python_code.folded(r.elts[0]) == "passed" for r in returns
            )
        return any(isinstance(r, ast.List | ast.Constant) for r in returns)
    return bool(returns)


def _swallows(handler: ast.ExceptHandler) -> bool:
    return not any(isinstance(n, ast.Raise) for n in ast.walk(handler))


def _chooses(name: str, hook: ast.FunctionDef) -> str:
    """What a collecting hook does to the choice of tests, or ""."""
    if name not in _CHOOSING:
        return ""
    for node in python_code.walk(hook):
        if (
            isinstance(node, ast.Assign)
            and any(isinstance(t, ast.Subscript) for t in node.targets)
            and name != "pytest_generate_tests"
        ):
            return "replaces the list of tests"
        if isinstance(node, ast.Delete):
            return "removes tests"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("remove", "pop", "clear", "pytest_deselected"):
                return "removes tests"
            if node.func.attr in _SKIPS:
                return "marks tests as skipped or expected to fail"
        if isinstance(node, ast.Attribute) and node.attr in _SKIPS:
            return "marks tests as skipped or expected to fail"
        if name == "pytest_ignore_collect" and isinstance(node, ast.Return) and node.value is not None:
            return "leaves files out"
    return ""


def _felt(situation: Situation) -> bool:
    """True where results of the base are missing or silent on the merge result, or no run can tell."""
    before, merged = situation.before, situation.merged
    if before is None or merged is None:
        return True
    for test_id in before.by_id:
        now = merged.outcomes(test_id)
        if not now or (set(now) & SILENT and not set(before.outcomes(test_id)) & SILENT):
            return True
    return False


def _ignores(tree: ast.Module) -> list[tuple[ast.stmt, str]]:
    out: list[tuple[ast.stmt, str]] = []
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                named = isinstance(target, ast.Name) and target.id in ("collect_ignore", "collect_ignore_glob")
                empty = isinstance(node.value, ast.List) and not node.value.elts
                if named and not empty:
                    out.append((node, f"{python_code.written(target)} = {python_code.written(node.value)[:120]}"))
    return out
