"""Tests of the base that the merge result no longer shows, and files that report none of the tests in them."""

from __future__ import annotations

import re
from collections import Counter

from gatekeeper.checks.javascript_tests.project import BAD, INTERFACE, Project
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.testrun import Outcome
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.javascript_tests import ScriptTest

_REMOVES = (PermitKind.REMOVE_TESTS, PermitKind.REMOVE_FEATURE)
SHARE = 0.75
"""Share of what a vanished test says that its successor must say, where their bodies are not the same."""
_FOLLOWING = 0.5
"""The same share where the interface itself changed."""
_PLAIN = {
    "expect", "assert", "toBe", "toEqual", "equal", "strictEqual", "deepEqual", "const", "let", "async", "await",
    "function", "return", "new", "t", "true", "false", "null", "undefined",
}  # fmt: skip


def vanished(project: Project) -> list[Finding]:
    """One finding for each test, or table of tests, that is gone without an explanation."""
    if not project.before or not project.merged:
        return []
    groups: dict[tuple[str, str], tuple[ScriptTest | None, list[str]]] = {}
    silent: dict[tuple[str, str], list[str]] = {}
    for test_id, rows in project.before.items():
        missing = len(rows) - len(project.merged.get(test_id, ()))
        path, sep, title = test_id.partition("::")
        if missing <= 0 or all(c.outcome is Outcome.SKIPPED for c in rows):
            continue
        if not sep and (
            project.outcomes(project.merged, test_id) or any(i.startswith(f"{path}::") for i in project.merged)
        ):
            continue  # the file has tests of its own now, or its fault is told as a failure
        if (suite := project.silent_suite(test_id)) is not None:
            silent.setdefault((path, suite.id.partition("::")[2]), []).append(test_id)
            continue
        test = project.find(path, title, base=True)
        key = (path, title if test is None or not test.dynamic else test.title)
        groups.setdefault(key, (test, []))[1].append(test_id)
    found = [_silenced(project, path, title, ids) for (path, title), ids in silent.items()]
    for (path, title), (test, ids) in groups.items():
        words = [title, *(test.words if test else ())]
        if not project.permits(_REMOVES, path=path, ids=ids, words=words):
            found.append(_gone(project, path, title, test, ids))
    return [f for f in found if f is not None]


def _silenced(project: Project, path: str, title: str, ids: list[str]) -> Finding | None:
    if project.permits((PermitKind.SKIP_TESTS,), path=path, ids=ids):
        return None
    module = project.module(path)
    line = next((t.line for t in module.tests if t.suite and t.title == title), None) if module else None
    message = f"{len(ids)} tests of {path}::{title} ran on the target branch, and the suite is skipped here."
    return finding("TEST_SILENCED", message, path=path, line=line, evidence=project.seen(ids), key=f"{path}::{title}")


def _gone(project: Project, path: str, title: str, test: ScriptTest | None, ids: list[str]) -> Finding | None:
    key = f"{path}::{title}" if title else path
    failing = [i for i in ids if any(project.outcomes(project.restored, i)[o] for o in BAD)]
    evidence = project.seen(ids)
    if test is not None:
        same = [f for f in project.standing if f[1].body == test.body and project.runs(*f)]
        others = [f for f in same if (f[0], f[1].title) != (path, test.title)]
        if any(set(test.rows) <= set(t.rows) for _, t in others):
            detail = project.detail(ids[0])
            if not failing or INTERFACE.search(detail):
                return None
            where, twin = others[0]
            message = f"{key} fails on this code; moved to {where}::{twin.title} it passes, with another set-up."
            return finding("EXPECTATION_BENT", message, path=where, line=twin.line, evidence=evidence, key=key)
        now = next((t for t in project.tests(path) if t.title == test.title), None)
        if now is not None and project.runs(path, now):
            return _rows(project, path, test, now, ids)
        fresh = [(p, t) for p, t in project.fresh if (p, t.title) != (path, test.title) and project.runs(p, t)]
        if not failing and (covered(test, [t for _, t in fresh], SHARE) or _holds_rows(test, [t for _, t in fresh])):
            return None
        detail = project.detail(ids[0])
        if INTERFACE.search(detail) and covered(test, [t for _, t in fresh], _FOLLOWING):
            if project.loads_no_more(path):
                return None  # suite_integrity tells it once, for the file
            if project.permits((PermitKind.RENAME_API,), path=path, words=re.findall(r"\w+", detail)):
                return None
            message = (
                f"{key} cannot run any more because the interface it uses changed, and another test took its place."
            )
            return finding(
                "TEST_FOLLOWS_INTERFACE", message, path=path, evidence=f"{evidence}\n{detail[:1500]}", key=key
            )
        if now is not None:
            why = f" ({', '.join(now.silencers)})" if now.silencers else ""
            message = f"{key} is still in the source and no longer runs{why}."
            return finding("TEST_HIDDEN", message, path=path, line=now.line, evidence=evidence, key=key)
    elif not failing and len(project.merged) >= len(project.before) and path in project.changed:
        message = f"{key} runs on the target branch and is gone; it is made at run time, so a new name cannot be told from a loss."
        return finding("TEST_REMOVED", message, path=path, evidence=evidence, key=key, effect=Effect.ASKS)
    count = f" ({len(ids)} results)" if len(ids) > 1 else ""
    message = f"{key} runs on the target branch and is gone{count}."
    line = test.line if test else None
    return finding("TEST_REMOVED", message, path=path, line=line, evidence=evidence, key=key)


def _rows(project: Project, path: str, test: ScriptTest, now: ScriptTest, ids: list[str]) -> Finding | None:
    """The call is still there; some of what its table made is not."""
    lost = Counter(test.rows) - Counter(now.rows)
    before, after = project.ids_of(project.before, path, test), project.ids_of(project.merged, path, now)
    if not lost and len(after) >= len(before):
        return None
    said = Counter(w for _, t in project.fresh for r in (*t.rows, t.body) for w in r.split("\x1f"))
    if lost and all(set(row.split("\x1f")) <= set(said) for row in lost) and len(project.merged) >= len(project.before):
        return None  # the rows became tests of their own
    message = f"{len(ids)} of the tests that {path}::{now.title} makes on the target branch are gone."
    return finding(
        "PARAMETERS_REMOVED", message, path=path, line=now.line, evidence=project.seen(ids), key=f"{path}::{now.title}"
    )


def _holds_rows(test: ScriptTest, others: list[ScriptTest]) -> bool:
    """The rows of the table moved into the body of another test, which calls what this one called."""
    values = Counter(w for row in test.rows for w in re.findall(r"[^\x1f\[\],]+", row))
    return bool(values) and any(
        set(values) <= {f'"{w}"' for w in other.words} | set(other.words)
        and any(w not in _PLAIN and w in other.words for w in test.words if len(w) > 1)
        for other in others
    )


def covered(test: ScriptTest, others: list[ScriptTest], share: float) -> bool:
    """One of the others says what the test says: names and literals, each as often, the usual words left out."""
    words = Counter({w: n for w, n in test.words.items() if w not in _PLAIN})
    total = words.total()
    return total > 0 and any((words & (other.words | other.reach)).total() >= share * total for other in others)


def unreported(project: Project) -> list[Finding]:
    """Files that ended well and showed none of the tests that stand in them: their process ended before it could."""
    out = []
    for path in project.files(project.merged):
        rows = project.merged.get(path, [])
        tests = [t for t in project.tests(path) if not t.dynamic and not t.silencers]
        shown = any(i.startswith(f"{path}::") for i in project.merged)
        if not rows or shown or not tests or any(c.outcome in BAD for c in rows):
            continue
        if path in project.before and not any(i.startswith(f"{path}::") for i in project.before):
            continue  # it is so on the target branch as well
        message = f"{path} holds {len(tests)} tests and reported none of them, though it ended without a fault."
        out.append(finding("TEST_HIDDEN", message, path=path, line=tests[0].line, evidence=project.seen([f"{path}::{t.title}" for t in tests]), key=path))  # fmt: skip
    return out
