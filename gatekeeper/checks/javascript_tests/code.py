"""Scripts that reach for the test runner: to know that they are watched, to replace it, or to end it early."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gatekeeper.checks.javascript_tests.project import Project
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.javascript_tokens import Kind, Token, tokens

_COMMAND = re.compile(r"(?:^|/)(?:bin|scripts?|cli|cmd|tools?)(?:/|\.|-|$)|(?:^|/)(?:server|main)\.[cm]?[jt]sx?$")
_RUNNER_VARIABLES = {
    "NODE_TEST_CONTEXT",
    "JEST_WORKER_ID",
    "VITEST",
    "VITEST_WORKER_ID",
    "VITEST_POOL_ID",
    "NODE_TEST_WORKER_ID",
}
_RUNNER_GLOBALS = {"jest", "vi", "describe", "it", "test", "expect", "vitest", "mocha"}
_RUNNER_MODULES = {"node:test", "vitest", "@jest/globals", "jest", "mocha", "node:test/reporters"}
_RUNNER_NAME = re.compile(r"jest|vitest|mocha|--test\b|\.test\.|\.spec\.")
_TEST_NAME = re.compile(r"\btests?\b|\bspec\b|jest|vitest|mocha|node:internal/test_runner", re.IGNORECASE)
_NEAR_TESTS = re.compile(r"test|mock|spec|fixture|stories|bench", re.IGNORECASE)
_SHARED = {"assert", "expect", "describe", "it", "test"}
_PROTOTYPES = {
    "Object",
    "Array",
    "String",
    "Number",
    "Function",
    "Promise",
    "Map",
    "Set",
    "Date",
    "JSON",
    "Math",
    "Reflect",
}
_EQUAL = (
    "strictEqual",
    "deepEqual",
    "deepStrictEqual",
    "equal",
    "ok",
    "throws",
    "rejects",
    "notEqual",
    "fail",
    "AssertionError",
)


def gaming(project: Project) -> list[Finding]:
    """One finding for each file and kind of reach that the change brings."""
    out = []
    for path, before, after in project.changed_scripts:
        if not after:
            continue
        now = tokens(project.source(path) or "")
        known = {code for code, _, _ in _signs(tokens(project.source(path, base=True) or ""))} if before else set()
        kind = project.kind(path)
        test = kind is not None and kind.bends_runs
        told: set[str] = set()
        for code, line, what in _signs(now):
            if code in known or code in told or (test and code not in ("RUNNER_PATCHED", "REPORT_HOOK")):
                continue
            if code == "PROCESS_ENDED" and _COMMAND.search(path):
                continue
            if code == "TEST_RUNNER_IN_CODE" and _NEAR_TESTS.search(path):
                continue  # helpers of tests stand beside the code, too
            if test and project.permits((PermitKind.CHANGE_INSTRUMENTS,), path=path):
                continue
            told.add(code)
            effect = Effect.ASKS if what.startswith("NODE_ENV") else None
            out.append(finding(code, f"{path}: {what}.", path=path, line=line, key=what, effect=effect))
    return [*out, *_vendored(project)]


def _vendored(project: Project) -> Iterable[Finding]:
    """Packages committed by the change would be found before those of the lock."""
    tops: dict[str, str] = {}
    for path, changed in project.changed.items():
        parts = path.split("/")
        if "node_modules" in parts[:-1] and changed.new is not None and changed.old is None:
            tops.setdefault("/".join(parts[: parts.index("node_modules") + 2]), path)
    for top, path in tops.items():
        if not project.permits((PermitKind.CHANGE_INSTRUMENTS, PermitKind.ADD_DEPENDENCY), path=path):
            yield finding(
                "RUNNER_SHADOWED", f"{top} would be loaded in place of the package of that name.", path=path, key=top
            )


def _signs(found: tuple[Token, ...]) -> Iterable[tuple[str, int, str]]:
    """(code, line, in words)."""
    texts = [t.text for t in found]
    for i, token in enumerate(found):
        after = texts[i + 1 : i + 6]
        before = texts[max(0, i - 4) : i]
        if token.text in _RUNNER_VARIABLES and ("env" in before or token.kind is Kind.STRING):
            yield "TEST_DETECTED", token.line, f"it looks for the variable {token.text} of a test runner"
        if token.text == "NODE_ENV" and "env" in before and "test" in after:
            yield (
                "TEST_DETECTED",
                token.line,
                "NODE_ENV is compared with 'test', so it can behave otherwise when watched",
            )
        if token.kind is not Kind.NAME:
            continue
        near = " ".join(t.text for t in found[i + 1 : i + 14] if t.kind in (Kind.STRING, Kind.REGEX))
        if token.text in ("argv", "execArgv", "argv0") and _RUNNER_NAME.search(near):
            yield "TEST_DETECTED", token.line, "it looks for a test runner on the command line"
        if token.text == "stack" and before[-1:] == ["."] and _TEST_NAME.search(near):
            yield "CALLER_INSPECTED", token.line, "it looks for a test among its callers"
        if token.text == "typeof" and after[:1] and after[0] in _RUNNER_GLOBALS and found[i + 1].kind is Kind.NAME:
            yield "TEST_DETECTED", token.line, f"it asks whether {after[0]} of a test runner is there"
        if token.text in ("from", "require", "import") and _module(found, i) in _RUNNER_MODULES:
            yield "TEST_RUNNER_IN_CODE", token.line, f"it imports {_module(found, i)}"
        if (
            token.text == "process"
            and after[:1] == ["."]
            and after[1:2] in (["exit"], ["reallyExit"], ["abort"])
            and (after[2:4] in (["(", ")"], ["(", "0"]) or after[1] != "exit")
        ):
            yield "PROCESS_ENDED", token.line, f"process.{after[1]} ends the process as if all were well"
        if (
            token.text in _SHARED
            and before[-1:] != ["."]
            and after[:1] == ["."]
            and after[2:3] == ["="]
            and after[1] in (*_EQUAL, "extend")
        ):
            yield "RUNNER_PATCHED", token.line, f"it replaces {token.text}.{after[1]}"
        if (
            token.text in ("globalThis", "global")
            and after[:1] == ["."]
            and after[2:3] == ["="]
            and after[1] in _SHARED | {"jest", "vi"}
        ):
            yield "RUNNER_PATCHED", token.line, f"it replaces the runner's {after[1]}"
        if token.text == "defineProperty" and after[:1] == ["("] and after[1:2] and after[1] in _SHARED:
            yield "RUNNER_PATCHED", token.line, f"it redefines a part of {after[1]}"
        if token.text in _SHARED and after[:1] == ["["] and after[2:4] == ["]", "="]:
            yield "RUNNER_PATCHED", token.line, f"it replaces {token.text}[{after[1]!r}]"
        if (
            token.text == "assign"
            and before[-2:] == ["Object", "."]
            and after[:1] == ["("]
            and after[1:2]
            and after[1] in _SHARED
        ):
            yield "RUNNER_PATCHED", token.line, f"it replaces parts of {after[1]}"
        if token.text in ("_load", "_resolveFilename", "_compile", "_extensions") and "=" in after[:3]:
            yield "PROCESS_PATCHED", token.line, f"it replaces Module.{token.text}, by which every module is loaded"
        if token.text == "asymmetricMatch" and after[:1] in (["("], [":"], ["="]):
            yield "ALWAYS_EQUAL", token.line, "asymmetricMatch decides what the runner takes for equal to the value"
        if token.text == "retryTimes" and before[-2:] in (["jest", "."], ["vi", "."]):
            yield "RUNNER_PATCHED", token.line, "it makes failing tests run again until they pass"
        if token.text == "exitCode" and before[-2:] == ["process", "."] and after[:2] == ["=", "0"]:
            yield "REPORT_HOOK", token.line, "it sets the exit status to 0"
        if token.text in _PROTOTYPES and after[:1] == ["."]:
            name = after[3:4] if after[1:2] == ["prototype"] else after[1:2]
            place = after[4:5] if after[1:2] == ["prototype"] else after[2:3]
            if place == ["="] and name:
                yield (
                    "PROCESS_PATCHED",
                    token.line,
                    f"it replaces {token.text}{'.prototype' if after[1] == 'prototype' else ''}.{name[0]} for the whole process",
                )


def _module(found: tuple[Token, ...], index: int) -> str:
    for token in found[index + 1 : index + 3]:
        if token.kind is Kind.STRING:
            return token.text
        if token.text != "(":
            return ""
    return ""
