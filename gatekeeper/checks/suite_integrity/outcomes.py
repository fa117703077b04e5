"""Tests that ran before and are now skipped or expected to fail, and definitions that hide another one."""

from __future__ import annotations

import ast
from collections import Counter

from gatekeeper.checks.suite_integrity.shown import describe
from gatekeeper.checks.suite_integrity.situation import Situation, place
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.testrun import Outcome
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect

_RAN = {Outcome.PASSED, Outcome.FAILED, Outcome.ERRORED}
SILENT = {Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED}


def silenced(situation: Situation) -> list[Finding]:
    """One finding for each function whose results turned silent. The control must have seen them run."""
    before, merged = situation.before, situation.merged
    if before is None or merged is None:
        return []
    groups: dict[tuple[str, str], list[str]] = {}
    for test_id in before.by_id:
        was, now = before.outcomes(test_id), merged.outcomes(test_id)
        if "::" not in test_id or not set(was) & _RAN or not now:
            continue
        kinds = (PermitKind.SKIP_TESTS, *((PermitKind.CHANGE_EXPECTATIONS,) if not now[Outcome.SKIPPED] else ()))
        quieter = _count(now, SILENT) > _count(was, SILENT) and _count(now, _RAN) < _count(was, _RAN)
        if quieter and not situation.permits(kinds, test_id=test_id, path=place(test_id)[0]):
            groups.setdefault(place(test_id), []).append(test_id)
    out = []
    for (path, name), ids in groups.items():
        test = situation.function(path, name)
        module = situation.module(path)
        marks = (*(test.silencers if test else ()), *(module.silencers if module else ()))
        case = merged.first(ids[0])
        why = case.detail.strip().splitlines()[-1:] if case and case.detail.strip() else []
        what = "expected to fail" if Outcome.SKIPPED not in merged.outcomes(ids[0]) else "skipped"
        message = f"{path}::{name} ran on the target branch and is {what} here."
        evidence = "\n".join([f"{i}: {describe(situation, i)}" for i in ids[:10]] + why)
        line = marks[0][1] if marks else (test.line if test else None)
        effect = Effect.ASKS if _asserts_in_handlers_alone(situation, path, name) else None
        out.append(
            finding(
                "TEST_SILENCED", message, path=path, line=line, evidence=evidence, key=f"{path}::{name}", effect=effect
            )
        )
    return out


def _asserts_in_handlers_alone(situation: Situation, path: str, name: str) -> bool:
    """The target's version asserts nothing but where something had raised: where it passed, it may have asserted nothing."""
    test = situation.definition(path, name, base=True)
    if test is None or any(_asserts(d) for d in test.decorator_list):
        return False
    handlers = [h for n in ast.walk(test) if isinstance(n, ast.Try) for h in n.handlers]
    inside = {id(n) for h in handlers for n in ast.walk(h) if _asserts(n)}
    every = [n for n in ast.walk(test) if _asserts(n)]
    return bool(every) and all(id(n) in inside for n in every)


def _asserts(node: ast.AST) -> bool:
    """A statement that may fail the test on purpose, or a call that is not known to be none."""
    if isinstance(node, ast.Assert | ast.Raise):
        return True
    if not isinstance(node, ast.Call):
        return False
    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return called in ("raises", "warns", "fail") or called.lower().startswith(("assert", "check", "verify", "expect"))


def _count(outcomes: Counter[Outcome], which: set[Outcome]) -> int:
    return sum(outcomes[o] for o in which)


def shadowed(situation: Situation) -> list[Finding]:
    """A later definition of the same name that the change brought: the first one never runs."""
    out = []
    for path, changed in situation.changed.items():
        module = situation.module(path) if changed.new is not None else None
        if module is None or situation.kind(path) is None:
            continue
        old = situation.module(path, base=True)
        known = {d[0] for d in old.duplicates} if old else set()
        for name, first, second in module.duplicates:
            if name in known or situation.permits((PermitKind.REMOVE_TESTS,), test_id=f"{path}::{name}", path=path):
                continue
            if (
                old is not None
                and name not in old.functions
                and not any(f.startswith(f"{name}::") for f in old.functions)
            ):
                continue  # two new ones: careless, and nothing of the base is hidden
            message = f"{path}::{name} is defined twice (lines {first} and {second}); the first one never runs."
            out.append(finding("TEST_HIDDEN", message, path=path, line=second, key=f"{path}::{name}"))
        for what, line in module.hiders:
            if " is bound to something else" in what and (old is None or what not in {h for h, _ in old.hiders}):
                name = what.split(" is ", 1)[0]
                if old is not None and name in old.functions:
                    out.append(finding("TEST_HIDDEN", f"{path}::{what}, so it never runs.", path=path, line=line, key=f"{path}::{name}"))  # fmt: skip
    return out
