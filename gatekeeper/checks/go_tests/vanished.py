"""Tests of the base that the merge result no longer has or no longer runs."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable

from gatekeeper.checks.go_tests.project import BAD, INTERFACE, Project, excluded, is_test_file
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.testrun import Outcome
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.formats.go_tests import GoFunction

_REMOVES = (PermitKind.REMOVE_TESTS, PermitKind.REMOVE_FEATURE)
_MISSING = re.compile(r"(?:undefined: (?:\w+\.)?|has no field or method |unknown field |in call to (?:\w+\.)?)(\w+)")
_SHARE = 0.75
"""Share of what a removed test says that its successors must say."""
_FOLLOWING = 0.5
"""The same share where the interface itself changed."""
_PLAIN = {"t", "testing", "T", "Run", "Errorf", "Error", "Fatal", "Fatalf", "Helper", "nil", "true", "false", "err", "got",
          "want", "int", "string", "range", "_", "name", "error", "bool", "tc", "tt", "c", "Log", "Logf", "Parallel"}  # fmt: skip


def vanished(project: Project) -> list[Finding]:
    """One finding for each test that is gone or hidden without an explanation."""
    out = []
    for path, old, new in project.changed_tests():
        for name, test in (old.functions if old else {}).items():
            if not test.is_test:
                continue
            words = test.names | {name}
            if project.permits(_REMOVES, path, name, words):
                continue
            here = project.here(posixpath.dirname(path), name)
            found = _gone(project, path, test, new is None) if here is None else _hidden(project, path, test, here)
            if found is not None:
                out.append(found)
    return [*out, *_kept_from_running(project), *_rows(project)]


def _gone(project: Project, path: str, test: GoFunction, whole: bool) -> Finding | None:
    fresh = [(p, f) for p, f in project.fresh if f.is_test and not _silent(project, p, f)]
    if any(f.body == test.body for _, f in fresh) or _same_elsewhere(project, path, test):
        return None
    if _covered(test, [f for _, f in fresh if f.name != test.name], _SHARE):
        return None
    key = f"{path}::{test.name}"
    detail = project.detail(project.restored, path, test.name)
    missing = set(_MISSING.findall(detail))
    if INTERFACE.search(detail) and _covered(test, [f for _, f in fresh], _FOLLOWING, missing):
        if project.permits((PermitKind.RENAME_API,), path, test.name, _words(detail)):
            return None
        message = (
            f"{key} does not build any more because the interface it uses changed, and another test took its place."
        )
        return finding("TEST_FOLLOWS_INTERFACE", message, path=path, evidence=detail[:1500], key=key)
    moved = _not_compiled(project, test) if whole else ""
    if moved:
        message = f"{key} runs on the target branch; it stands in {moved} now, which go test does not compile."
        return finding("TEST_HIDDEN", message, path=moved, evidence=_seen(project, path, test.name), key=key)
    message = f"{key} runs on the target branch and is gone."
    return finding(
        "TEST_REMOVED", message, path=path, line=test.line, evidence=_seen(project, path, test.name), key=key
    )


def _words(detail: str) -> set[str]:
    return set(detail.replace(".", " ").replace(":", " ").replace("(", " ").split())


def _silent(project: Project, path: str, function: GoFunction) -> bool:
    """The successor is skipped in the gate's run, or does not run where there are results at all."""
    seen = project.outcome(project.merged, path, function.name)
    if not project.merged:
        return any(not condition for _, condition in function.skips)
    return not seen or set(seen) <= {Outcome.SKIPPED}


def _same_elsewhere(project: Project, path: str, test: GoFunction) -> bool:
    """The very test stands, and stood, elsewhere: a duplicate was removed."""
    folder = posixpath.dirname(path)
    for other in sorted(project.evidence.merged.entries):
        if posixpath.dirname(other) == folder and is_test_file(other) and other not in project.changed:
            file = project.file(other)
            if file is not None and any(f.body == test.body and f.is_test for f in file.functions.values()):
                return True
    return False


def _covered(test: GoFunction, others: list[GoFunction], share: float, missing: Iterable[str] = ()) -> bool:
    """What the test says is said by the others together: its constants, and what it calls but for what is `missing`."""
    if not others:
        return False
    constants = Counter({c: n for c, n in test.constants.items() if "%" not in c})
    said: Counter[str] = Counter()
    names: set[str] = set()
    for other in others:
        said |= other.constants
        names |= other.names
    wanted = test.names - _PLAIN - set(missing)
    kept = sum((constants & said).values())
    if constants and kept < share * sum(constants.values()):
        return False
    if wanted and len(wanted & names) < share * len(wanted):
        return False
    return bool(constants or wanted) and (not test.assertions or any(o.assertions for o in others))


def _not_compiled(project: Project, test: GoFunction) -> str:
    """A file of the change that holds the test and is none of go test's."""
    for path, changed in project.changed.items():
        if changed.new is None or is_test_file(path) or not (path.endswith((".go", ".bak", ".txt", ".old", ".disabled", ".skip"))):  # fmt: skip
            continue
        file = project.file(path)
        if file is not None and test.name in file.functions and file.functions[test.name].body == test.body:
            return path
    return ""


def _hidden(project: Project, path: str, test: GoFunction, here: tuple[str, GoFunction]) -> Finding | None:
    """The test is in the source. Did it run before and does not now?"""
    place, now = here
    demand, before = excluded(place, project.file(place)), excluded(path, project.file(path, base=True))
    key = f"{path}::{test.name}"
    if project.before and project.merged:
        ran = project.outcome(project.before, path, test.name)
        if not ran or project.outcome(project.merged, place, now.name):
            return None
        if project.outcome(project.merged, place, ""):
            return None  # the package does not build or never reported: its own failure
    elif demand == before or not demand:
        return None
    why = f": {place} is compiled only with {demand}" if demand and demand != before else ""
    message = f"{key} is still in the source and go test no longer runs it{why}."
    return finding("TEST_HIDDEN", message, path=place, line=now.line, evidence=_seen(project, path, test.name), key=key)


def _kept_from_running(project: Project) -> list[Finding]:
    """Tests of files that nobody touched, and that do not run any more: TestMain, flags, what the code does at start."""
    if not project.before or not project.merged:
        return []
    lost: dict[str, list[str]] = {}
    for test_id in project.before:
        path, sep, name = test_id.partition("::")
        if not sep or "/" in name or path in project.changed or test_id in project.merged:
            continue
        file = project.file(path)
        if file is None or name not in file.functions or project.permits(_REMOVES, path, name):
            continue
        if project.outcome(project.merged, path, name):
            continue
        lost.setdefault(path, []).append(name)
    out = []
    for path, names in lost.items():
        message = f"{path}::{names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
        message += f" run on the target branch; {path} is as it was and they do not run any more."
        evidence = "\n".join(_seen(project, path, n) for n in names[:10])
        out.append(finding("TEST_HIDDEN", message, path=path, evidence=evidence, key=path))
    return out


def _rows(project: Project) -> list[Finding]:
    """Subtests that are gone while their test still runs, and no others came in their place."""
    if not project.before or not project.merged:
        return []
    before, merged = _subtests(project.before), _subtests(project.merged)
    out = []
    for (path, name), rows in before.items():
        now = merged.get((path, name), set())
        lost = rows - now
        if not lost or len(now) >= len(rows) or f"{path}::{name}" not in project.merged:
            continue
        if {c.outcome for c in project.merged[f"{path}::{name}"]} & {*BAD, Outcome.SKIPPED}:
            continue  # told as what it is
        if all(project.permits(_REMOVES, path, f"{name}/{r}") for r in lost) or project.permits(_REMOVES, path, name):
            continue
        others = [f for _, f in project.fresh if f.name != name]
        old, new = _function(project, path, name, base=True), _function(project, path, name)
        if old is not None and new is not None and not old.constants - new.constants and old.body != new.body:
            continue  # the same values, checked without subtests of their own
        if old is not None and others and _covered(old, others, _SHARE):
            continue
        some = ", ".join(sorted(lost)[:5])
        message = f"{len(lost)} subtest(s) of {path}::{name} that the target branch runs are gone: {some}."
        line = new.line if new else None
        out.append(finding("PARAMETERS_REMOVED", message, path=path, line=line, key=f"{path}::{name}"))
    return out


def _subtests(table: Iterable[str]) -> dict[tuple[str, str], set[str]]:
    found: dict[tuple[str, str], set[str]] = {}
    for test_id in table:
        path, _, name = test_id.partition("::")
        top, sep, rest = name.partition("/")
        if sep:
            found.setdefault((path, top), set()).add(rest)
    return found


def _function(project: Project, path: str, name: str, *, base: bool = False) -> GoFunction | None:
    file = project.file(path, base=base)
    return file.functions.get(name) if file else None


def _seen(project: Project, path: str, name: str) -> str:
    """What each run showed of a test."""
    parts = []
    for table, where in (
        (project.before, "on the target branch"),
        (project.restored, "on the change's code with the target's own tests"),
        (project.merged, "on the merge result"),
    ):
        if table:
            seen = "/".join(o.value for o in project.outcome(table, path, name)) or "not run"
            parts.append(f"{seen} {where}")
    return f"{path}::{name}: {', '.join(parts)}" if parts else ""
