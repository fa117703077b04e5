"""Scripts that check something (linters, coverage limits of the project's own) and no longer do."""

from __future__ import annotations

import ast
import re
from collections import Counter

from gatekeeper.checks.config_weakening.limits import permitted
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.tree import text
from gatekeeper.formats import python_code

_FOLDERS = {
    "tools",
    "scripts",
    "ci",
    "bin",
    "hooks",
    ".githooks",
    "dev",
    "build_tools",
    "devtools",
    "lint",
    "utils",
    ".hooks",
}
_NAMES = re.compile(r"(?:check|lint|cover|verify|validate|audit|gate|guard|policy|license)", re.IGNORECASE)


def gutted_checkers(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding for each checker that lost a way to fail, a rule or a limit."""
    instruments = Instruments(evidence.settings, evidence.suites, evidence.base)
    out = []
    for changed in evidence.change.paths:
        path = changed.path
        if changed.old is None or not path.endswith(".py") or permitted(evidence, path):
            continue
        kind = instruments.kind(path)
        folder = set(path.split("/")[:-1]) & _FOLDERS
        if kind not in (InstrumentKind.SCRIPT, InstrumentKind.DECLARED) and not (
            kind is None and folder and _NAMES.search(path.rsplit("/", 1)[-1])
        ):
            continue
        before = python_code.parse(text(evidence.base, path))
        after_text = text(evidence.merged, path)
        after = python_code.parse(after_text)
        if before is None:
            continue
        if after is None:
            what = "is gone" if after_text is None else "is no longer valid Python"
            if after_text is None and any(p.new and p.new.oid == changed.old.oid for p in evidence.change.paths):
                continue
            out.append(finding("CHECKER_WEAKENED", f"{path} {what}.", path=path))
            continue
        lost = _lost(before, after)
        if lost:
            out.append(finding("CHECKER_WEAKENED", f"{path} checks less: {'; '.join(lost[:3])}.", path=path, evidence="\n".join(lost[:20]), key="; ".join(lost)))  # fmt: skip
    return tuple(out)


def _failures(tree: ast.AST) -> Counter[str]:
    """Ways in which a script says that something is wrong."""
    found: Counter[str] = Counter()
    names = python_code.imports(tree)
    for node in python_code.walk(tree):
        if isinstance(node, ast.Return) and node.value is not None and _may_fail(node.value):
            found["return of a status"] += 1
        elif isinstance(node, ast.Yield | ast.YieldFrom):
            found["reported problem"] += 1
        elif isinstance(node, ast.Raise):
            found["raise"] += 1
        elif isinstance(node, ast.Assert):
            found["assert"] += 1
        elif isinstance(node, ast.Call):
            called = python_code.dotted(node.func, names)
            if (called in ("sys.exit", "exit", "quit", "os._exit") and node.args and _may_fail(node.args[0])) or (
                called == "SystemExit" and node.args and _may_fail(node.args[0])
            ):
                found["exit with a status"] += 1
            elif getattr(node.func, "attr", "") in ("append", "add", "extend", "error", "fail", "report", "warn"):
                found["reported problem"] += 1
        elif isinstance(node, ast.AugAssign):
            found["counted problem"] += 1
    return found


def _may_fail(value: ast.expr) -> bool:
    return not (isinstance(value, ast.Constant) and value.value in (0, None, True, False, ""))


def _lost(before: ast.Module, after: ast.Module) -> list[str]:
    old, new = _failures(before), _failures(after)
    lost = [f"{what}: {count} -> {new[what]}" for what, count in old.items() if new[what] < count]
    if lost and sum(new.values()) >= sum(old.values()):
        lost = []  # said another way, as often
    limits = _limits(after)
    for name, value in _limits(before).items():
        now = limits.get(name)
        if now is not None and now != value and (now > value if re.search(r"max|limit|allowed|toler", name, re.IGNORECASE) else now < value if re.search(r"min|thresh|under|requir|cover", name, re.IGNORECASE) else False):  # fmt: skip
            lost.append(f"{name} {value} -> {now}")
    first = next((s for s in after.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and "exit" in ast.dump(s.value.func) and not any(_may_fail(a) for a in s.value.args)), None)  # fmt: skip
    if first is not None and ast.dump(first) not in {ast.dump(s) for s in before.body}:
        lost.append("it exits with success at once")
    defs = dict(python_code.definitions(before))
    for name, node in python_code.definitions(after):
        was = defs.get(name)
        if isinstance(node, ast.FunctionDef) and isinstance(was, ast.FunctionDef) and _early(node) and not _early(was):
            lost.append(f"{name}() returns before it checks")
    return lost


def _early(node: ast.FunctionDef) -> bool:
    body = [s for s in node.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return any(isinstance(s, ast.Return) for s in body[:-1])


def _limits(tree: ast.Module) -> dict[str, float]:
    return {
        t.id: float(s.value.value)
        for s in tree.body
        if isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, int | float)
        for t in s.targets
        if isinstance(t, ast.Name)
    }
