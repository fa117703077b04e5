"""Tests that stand where they stood and prove less: assertions gone, looser, swallowed, the subject replaced."""

from __future__ import annotations

import posixpath
import re
from collections import Counter

from gatekeeper.checks.javascript_tests.project import Project
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.formats.javascript_tests import ScriptTest

_FREES = (PermitKind.CHANGE_EXPECTATIONS, PermitKind.REMOVE_FEATURE, PermitKind.RENAME_API)
_LOOSE = re.compile(
    r"(?:not\.)?(?:toBeDefined|toBeUndefined|toBeTruthy|toBeFalsy|toBeNull|toBeInstanceOf|toBeTypeOf|toBeNaN"
    r"|toHaveBeenCalled|toMatchObject|toContain|toMatch|toBeCloseTo|toBeGreaterThan\w*|toBeLessThan\w*|toThrow"
    r"|toHaveProperty|toSatisfy|anything|resolves\.toBeDefined)|not\..*|assert|assert\.(?:ok|match|notEqual|notStrictEqual"
    r"|notDeepEqual|notDeepStrictEqual|doesNotThrow|doesNotReject)"
)
"""Matchers that hold for more values than an equality does."""
_EXACT = re.compile(
    r"(?:resolves\.|rejects\.)?(?:toBe|toEqual|toStrictEqual|toHaveLength|toHaveBeenCalledWith|toHaveBeenCalledTimes"
    r"|toThrowError|toMatchSnapshot|toMatchInlineSnapshot)"
    r"|assert\.(?:equal|strictEqual|deepEqual|deepStrictEqual|partialDeepStrictEqual)"
)


def weakened(project: Project) -> list[Finding]:
    """One finding for each test that proves less than it did."""
    out = []
    elsewhere = {a for p, t in project.fresh if project.runs(p, t) for a in t.assertions}
    for path, before, after in project.changed_scripts:
        if not before or not after:
            continue
        new = {t.title: t for t in project.tests(path)}
        for old in project.tests(path, base=True):
            now = new.get(old.title)
            if now is None or now.body == old.body:
                continue
            ids = [f"{path}::{old.title}"]
            if not project.permits(_FREES, path=path, ids=ids, words=(old.words - now.words).keys()):
                out += _compared(path, old, now, elsewhere)
        out += _mocked(project, path)
    return out


def _compared(path: str, old: ScriptTest, now: ScriptTest, elsewhere: set[tuple[str, str, str]]) -> list[Finding]:
    key = f"{path}::{old.title}"
    if now.swallows and not old.swallows:
        message = f"{key} catches its own failing assertions now."
        return [finding("ASSERTION_SWALLOWED", message, path=path, line=now.line, key=key)]
    lost = [a for a in (Counter(old.assertions) - Counter(now.assertions)).elements() if a not in elsewhere]
    come = list((Counter(now.assertions) - Counter(old.assertions)).elements())
    for subject, matcher, expected in lost:
        loose = [c for c in come if c[0] == subject and _EXACT.fullmatch(matcher) and _LOOSE.fullmatch(c[1])]
        if loose and not any(c[0] == subject and _EXACT.fullmatch(c[1]) for c in come):
            message = f"{key}: {_shown(subject, matcher, expected)} became {_shown(*loose[0])}, which holds for more."
            return [finding("ASSERTION_WEAKENED", message, path=path, line=now.line, key=key)]
    if len(now.assertions) >= len(old.assertions):
        return []
    said = {w for c in come for part in c for w in part.split("\x1f")}
    missing = [a for a in lost if not _literals(a) <= said and not any(c[0] == a[0] for c in now.assertions)]
    if not missing:
        return []
    message = f"{key} no longer asserts {_shown(*missing[0])}" + (
        f" and {len(missing) - 1} more." if missing[1:] else "."
    )
    return [finding("ASSERTION_REMOVED", message, path=path, line=now.line, key=key)]


def _literals(assertion: tuple[str, str, str]) -> set[str]:
    """What an assertion that took its place would have to say: the values of its two sides, or its subject itself."""
    words = {w for part in (assertion[0], assertion[2]) for w in part.split("\x1f")}
    values = {w for w in words if re.match(r'["\d/`]', w)}
    return values or words


def _shown(subject: str, matcher: str, expected: str) -> str:
    parts = [p.replace("\x1f", "")[:80] for p in (subject, expected)]
    if matcher.startswith("assert"):
        return f"{matcher}({', '.join(p for p in parts if p)})"
    return f"expect({parts[0]}).{matcher}({parts[1]})"


def _mocked(project: Project, path: str) -> list[Finding]:
    """The module that the file was written to test is replaced now."""
    old, new = project.module(path, base=True), project.module(path)
    if old is None or new is None:
        return []
    known = {m for m, _ in old.mocked}
    stem = re.sub(r"[._-](?:test|spec)$", "", posixpath.splitext(posixpath.basename(path))[0])
    relative = [i for i in old.imports if i.startswith(".")]
    out = []
    for module, line in new.mocked:
        name = posixpath.splitext(posixpath.basename(module))[0]
        if module in known or not module.startswith(".") or module not in old.imports:
            continue
        if (name == stem or len(relative) == 1) and not project.permits((PermitKind.CHANGE_INSTRUMENTS,), path=path):
            message = f"{path} replaces {module}, the code that it was written to test."
            out.append(finding("SUBJECT_MOCKED", message, path=path, line=line, key=f"{path} {module}"))
    return out
