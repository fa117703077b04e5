"""Tests that stand where they stood and prove less: assertions gone, looser, swallowed, the subject replaced."""

from __future__ import annotations

from gatekeeper.checks.javascript_tests.delegated import delegated, shown
from gatekeeper.checks.javascript_tests.helpers import Helpers
from gatekeeper.checks.javascript_tests.losses import losses
from gatekeeper.checks.javascript_tests.project import Project
from gatekeeper.checks.javascript_tests.subjects import mocked
from gatekeeper.checks.javascript_tests.vanished import SHARE, covered
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.javascript_assertions import CALL, assertions
from gatekeeper.formats.javascript_reach import State
from gatekeeper.formats.javascript_strength import SNAPSHOT
from gatekeeper.formats.javascript_tests import ScriptTest

_FREES = (PermitKind.CHANGE_EXPECTATIONS, PermitKind.REMOVE_FEATURE, PermitKind.RENAME_API)


def weakened(project: Project) -> list[Finding]:
    """One finding for each test that proves less than it did."""
    before_, after_ = Helpers(project, base=True), Helpers(project, base=False)
    sides = (before_, after_)
    less = delegated(project, before_, after_)
    out, told = [f for _, f in less], {n for n, _ in less}
    known = {t.title for p, b, _ in project.changed_scripts if b for t in project.tests(p, base=True)}
    for path, before, after in project.changed_scripts:
        if not before:
            continue
        tests = project.tests(path) if after else ()
        new = {t.title: t for t in tests}
        same = {(t.title, t.body): t for t in tests}
        for old in project.tests(path, base=True):
            here = same.get((old.title, old.body)) or new.get(old.title)  # several may have one name
            where, now = (path, here) if here is not None else _moved(project, path, old, known)
            if now is None:
                continue
            ids = [f"{path}::{old.title}"]
            kinds = _FREES if here is not None else (*_FREES, PermitKind.REMOVE_TESTS)
            if not project.permits(kinds, path=path, ids=ids, words=(old.words - now.words).keys()):
                out += _compared(project, sides, (path, old), (where, now), told)
        out += mocked(project, path) if after else []
    return out


def _moved(project: Project, path: str, old: ScriptTest, known: set[str]) -> tuple[str, ScriptTest | None]:
    """The one test of the change that took the place of one that is gone: by its name, or by what it says."""
    others = [(p, t) for p, t in project.fresh if not t.dynamic and not (t.title in known and p == path)]
    named = [f for f in others if f[1].names[-1] == old.names[-1]]
    alike = named or [f for f in others if f[1].title not in known and covered(old, [f[1]], SHARE)]
    return alike[0] if len(alike) == 1 else (path, None)


def _compared(
    project: Project,
    sides: tuple[Helpers, Helpers],
    was: tuple[str, ScriptTest],
    is_: tuple[str, ScriptTest],
    told: set[str],
) -> list[Finding]:
    (source, old), (path, now) = was, is_
    before, after = sides
    key = f"{path}::{old.title}"
    if now.swallows and not old.swallows:
        message = f"{key} catches its own failing assertions now."
        return [finding("ASSERTION_SWALLOWED", message, path=path, line=now.line, key=key)]

    def elsewhere() -> set[tuple[str, str, str]]:
        others = [t for p, t in project.fresh if (p, t.title) != (path, now.title) and project.runs(p, t)]
        return {a.key for t in others for a in assertions(t.part) if a.state is State.LIVE}

    said = frozenset(f'"{w}"' for w in now.words) | frozenset(now.words)
    own = after.of(path, now)

    def delegates() -> int:
        fresh = [
            a.rank
            for a in own
            if a.state is State.LIVE and a.matcher.startswith(CALL) and a.matcher.removeprefix(CALL) not in old.words
        ]
        return max([after.inner(path, now), *fresh])

    first_ = before.of(source, old)
    found = [f for f in losses(first_, own, elsewhere, delegates, said) if f.was.matcher.removeprefix(CALL) not in told]
    if not found:
        return []
    first = found[0]
    what = shown(first.was)
    line = first.now.line if first.now is not None else now.line
    if first.code == "ASSERTION_REMOVED" or first.now is None:
        more = f" and {len(found) - 1} more." if found[1:] else "."
        return [finding("ASSERTION_REMOVED", f"{key} no longer asserts {what}{more}", path=path, line=line, key=key)]
    if first.code == "ASSERTION_UNREACHABLE":
        return [finding(first.code, f"{key}: {what} {first.why} now.", path=path, line=line, key=key)]
    effect = Effect.ASKS if first.now.rank == SNAPSHOT else None
    message = f"{key}: {what} became {shown(first.now)}, which holds for more."
    return [finding(first.code, message, path=path, line=line, key=key, effect=effect)]
