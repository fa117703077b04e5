"""What asserts for tests and does it no longer: functions that were emptied or replaced, libraries that are no libraries."""

from __future__ import annotations

from gatekeeper.checks.javascript_tests.helpers import LIBRARY, RUNNER, Helper, Helpers
from gatekeeper.checks.javascript_tests.losses import losses
from gatekeeper.checks.javascript_tests.project import Project
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.formats.javascript_assertions import ScriptAssertion
from gatekeeper.formats.javascript_names import How
from gatekeeper.formats.javascript_reach import State

_FREES = (PermitKind.CHANGE_EXPECTATIONS, PermitKind.REMOVE_FEATURE, PermitKind.RENAME_API)
_MOST = 200
"""Functions of one module that are compared."""


def delegated(project: Project, before: Helpers, after: Helpers) -> list[tuple[str, Finding]]:
    """(name of the function or library, finding), one for each function or library of a changed module of tests."""
    out: list[tuple[str, Finding]] = []
    for path, was, there in project.changed_scripts:
        kind = project.kind(path)
        if not there or kind is None or not kind.bends_runs:
            continue
        out += _libraries(project, before, after, path, was)
        if was:
            out += _functions(project, before, after, path)
            out += _given(project, before, after, path, {n for n, f in out if f.path == path})
    return out


def _libraries(project: Project, before: Helpers, after: Helpers, path: str, was: bool) -> list[tuple[str, Finding]]:
    """`assert`, `expect` or the runner's own names are something of the change's."""
    if not project.tests(path) or project.permits((PermitKind.CHANGE_INSTRUMENTS,), path=path):
        return []
    own = after.owns(path, LIBRARY | RUNNER)
    if own is None or (was and before.owns(path, LIBRARY | RUNNER) is not None):
        return []
    name, line = own
    message = f"{path}: {name} is not that of the library any more, but something of this project's own."
    return [(name, finding("RUNNER_PATCHED", message, path=path, line=line, key=f"{path} {name}"))]


def _functions(project: Project, before: Helpers, after: Helpers, path: str) -> list[tuple[str, Finding]]:
    """Functions of the module that assert, and that assert less under the same name."""
    out = []
    old, new = before.names(path), after.names(path)
    for name in list(old.bound)[:_MOST]:
        was = [b for b in old.bound[name] if b.how in (How.FUNCTION, How.VALUE) and b.end > b.start]
        now = [b for b in new.bound.get(name, ()) if b.how in (How.FUNCTION, How.VALUE) and b.end > b.start]
        if len(was) != 1 or len(now) != 1 or was[0].scope[0] or now[0].scope[0]:
            continue
        texts = [[t.text for t in n.found[b.start : b.end]] for n, b in ((old, was[0]), (new, now[0]))]
        if texts[0] == texts[1] or not {"=>", "function", "{"} & set(texts[0]):
            continue
        said = before.said(Helper(path, name, was[0].start, was[0].end, was[0].later))
        if not any(a.state is State.LIVE and a.rank > 0 for a in said):
            continue
        if project.permits(_FREES, path=path, words=[name]):
            continue
        says = after.said(Helper(path, name, now[0].start, now[0].end, now[0].later))
        words = frozenset(f'"{w}"' for w in texts[1]) | frozenset(texts[1])
        found = losses(said, says, set, lambda: 0, words)
        if found:
            key = f"{path}::{name}"
            line = found[0].now.line if found[0].now is not None else now[0].line
            why = f"{shown(found[0].was)} {found[0].why}" if found[0].why else f"no longer {shown(found[0].was)}"
            message = f"{key}, which asserts for tests, does it less: {why}."
            out.append((name, finding(found[0].code, message, path=path, line=line, key=key)))
    return out


def _given(project: Project, before: Helpers, after: Helpers, path: str, told: set[str]) -> list[tuple[str, Finding]]:
    """What the module gives to others under a name that asserted, and is another function now that does not."""
    out = []
    for name in before.names(path).exports:
        old = before.exported(path, name)
        if old is None or not (rank := before.rank(old)) or old.name in told:
            continue
        if name not in after.names(path).exports or project.permits(_FREES, path=path, words=[name]):
            continue
        new = after.exported(path, name)
        if new is None or after.rank(new) < min(rank, 9):
            message = f"{path}::{name} asserted for tests; what it gives under that name now does not, or is replaced."
            out.append((name, finding("ASSERTION_REMOVED", message, path=path, key=f"{path}::{name}")))
    return out


def shown(one: ScriptAssertion) -> str:
    """An assertion as it would be written."""
    subject, expected = (p.replace("\x1f", "").replace("\x1e", "")[:80] for p in (one.subject, one.expected))
    if one.matcher.startswith(("assert", "call ")):
        return f"{one.matcher.removeprefix('call ')}({', '.join(p for p in (subject, expected) if p)})"
    return f"expect({subject}).{one.matcher}({expected})"
