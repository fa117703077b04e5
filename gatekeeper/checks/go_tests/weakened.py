"""Tests that both sides have, and that prove less than they did."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator

from gatekeeper.checks.go_tests.conditions import duller, exact_sides, in_parts, looser, parts_of
from gatekeeper.checks.go_tests.helpers import Helpers
from gatekeeper.checks.go_tests.project import Project, is_test_file
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.testrun import Outcome
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.go_tests import GoFunction

_FREES = (PermitKind.CHANGE_EXPECTATIONS, PermitKind.REMOVE_FEATURE)
_HONEST_SKIP = re.compile(r"runtime \. (?:GOOS|GOARCH)|testing \. Short|exec \. LookPath|os \. Geteuid|os \. Getuid")


def weakened(project: Project) -> list[Finding]:
    """At most one finding for each function."""
    out = []
    told: set[str] = set()
    before, after = Helpers(project, base=True), Helpers(project, base=False)
    for source, path, old, new in _pairs(project, before, after):
        found = None
        if old.body != new.body:
            found = _skipped(project, path, old, new) or _unreachable(project, path, old, new)
            found = found or _wrapped(project, path, old, new, after)
        both = before.all(source, old), after.all(path, new)
        found = found or _fewer(project, path, old, new, both, after)
        if old.body != new.body:
            found = (
                found
                or _looser(project, path, old, new)
                or _through_less(project, (source, old), (path, new), before, after)
            )
        if found is not None:
            told.add(new.name.rsplit(".", 1)[-1])
            out.append(found)
    out += _emptied(project, before, after, told)
    return [*out, *_hollow(project, after)]


def _pairs(project: Project, was: Helpers, now: Helpers) -> Iterator[tuple[str, str, GoFunction, GoFunction]]:
    """(path before, path now, before, after) of each test, and of each function beside them that can fail one."""
    for path, old, new in project.changed_tests():
        for name, before in (old.functions if old else {}).items():
            here = project.here(posixpath.dirname(path), name)
            if here is not None:
                yield path, here[0], before, here[1]
        for name, before in (old.others if old else {}).items():
            after = new.others.get(name) if new else None
            if after is not None and before.assertions and after.body != before.body:
                yield path, path, before, after
    for folder in _folders(project):
        for name, found in was.defined(folder).items():
            others = now.defined(folder).get(name, [])
            if len(found) != 1 or len(others) != 1 or found[0][1].body == others[0][1].body:
                continue
            both = found[0][0] == others[0][0] and is_test_file(found[0][0])
            if (
                not both
                and (found[0][1].assertions or was.asserts(folder, name))
                and found[0][1].name == others[0][1].name
            ):
                yield found[0][0], others[0][0], found[0][1], others[0][1]


def _folders(project: Project) -> list[str]:
    return sorted({posixpath.dirname(p) for p in project.changed if p.endswith(".go")})


def _emptied(project: Project, before: Helpers, after: Helpers, told: set[str]) -> list[Finding]:
    """Functions that asserted, and that are replaced or do it no longer though nothing of the kind was told of them."""
    out = []
    for folder in _folders(project):
        for name in before.defined(folder):
            found = after.defined(folder).get(name, [])
            if name in told or not found or not before.asserts(folder, name) or after.asserts(folder, name):
                continue
            path, function = found[-1]
            if project.permits(_FREES, path, function.name, {name}):
                continue
            how = "is assigned to, or stands for several things" if len(found) > 1 or after.replaced(folder, name) else "does not fail a test any more, or not always"  # fmt: skip
            message = f"{path}::{function.name} asserted for the tests of its package, and {how}."
            out.append(finding("ASSERTION_REMOVED", message, path=path, line=function.line, key=f"{path}::{name}"))
    return out


def _wrapped(project: Project, path: str, old: GoFunction, new: GoFunction, after: Helpers) -> Finding | None:
    """What asserts is handed to a function of the package, and that one does not call it."""
    for name in new.wraps:
        found = after.defined(posixpath.dirname(path)).get(name, [])
        if name in old.wraps or not found or project.permits(_FREES, path, new.name):
            continue
        if not any(_passes_on(f) for _, f in found):
            key = f"{path}::{new.name}"
            message = f"{key} hands what it asserts to {name}, which does not run it."
            return finding("ASSERTION_UNREACHABLE", message, path=path, line=new.line, key=key)
    return None


def _passes_on(function: GoFunction) -> bool:
    """It calls one of its parameters that are functions, or hands it on."""
    names = re.findall(r"(\w+)(?: , \w+){0,8} (?:\.\.\. )?(?:func \(|\w*Func\b|\w+ \. \w*Func\b)", function.parameters)
    names = names or re.findall(r"\w+", function.parameters)[-2:-1]
    return any(re.search(rf"\b{n} \(|[(,=] {n} [,)]|return {n}\b|range {n}\b", f"{function.body} ,") for n in names)


def _skipped(project: Project, path: str, old: GoFunction, new: GoFunction) -> Finding | None:
    """A skip under a condition of the author's, which did not hold in the gate's run."""
    known = Counter(condition for _, condition in old.skips)
    for line, condition in new.skips:
        if known[condition]:
            known[condition] -= 1
            continue
        if project.permits((PermitKind.SKIP_TESTS,), path, new.name, new.names):
            continue
        seen = project.outcome(project.merged, path, new.name)
        if seen[Outcome.SKIPPED]:
            return None  # seen in the runs, and told there
        if not condition:
            message = f"{path}::{new.name} skips where the target branch's version does not."
            return finding("TEST_SILENCED", message, path=path, line=line, key=f"{path}::{new.name}")
        if not _HONEST_SKIP.search(condition):
            message = f"{path}::{new.name} now skips under a condition: {condition[:200]}."
            return finding("TEST_SILENCED", message, path=path, line=line, key=f"{path}::{new.name}", effect=Effect.ASKS)  # fmt: skip
    return None


def _unreachable(project: Project, path: str, old: GoFunction, new: GoFunction) -> Finding | None:
    key = f"{path}::{new.name}"
    if project.permits(_FREES, path, new.name):
        return None
    for lines, before, why in (
        (new.returns, old.returns, "returns before its last assertions"),
        (new.dead, old.dead, "has a branch whose condition never holds"),
        (new.exits, old.exits, "ends the process"),
        (new.adrift, old.adrift, "asserts where nobody calls it or waits for it"),
        ((new.line,) * new.loses_t, (old.line,) * old.loses_t, "asserts with something that it made itself"),
    ):
        if len(lines) > len(before):
            return finding("ASSERTION_UNREACHABLE", f"{key} {why}.", path=path, line=lines[-1], key=key)
    if "recover" in new.names and "recover" not in old.names:
        message = f"{key} recovers from panics now, which hides those that the test is there to show."
        return finding("ASSERTION_SWALLOWED", message, path=path, line=new.line, key=key, effect=Effect.ASKS)
    return None


def _through_less(project: Project, was: tuple[str, GoFunction], now: tuple[str, GoFunction], before: Helpers, after: Helpers) -> Finding | None:  # fmt: skip
    """What the test compared itself is left to functions that compare less, or that it calls under a condition."""
    (source, old), (path, new) = was, now
    key = f"{path}::{new.name}"
    if new.assertions or project.permits(_FREES, path, new.name, old.names):
        return None
    calls = after.delegated(path, new)
    under = {c.condition for c in calls}
    if len(under) == 1 and _CONDITION.search(next(iter(under))):
        known = {c.condition for c in before.delegated(source, old)}
        if not under & known and not any(a.startswith(next(iter(under))) for a in old.assertions):
            message = f"{key} asserts under a condition only: {next(iter(under))[:200]}."
            return finding("ASSERTION_UNREACHABLE", message, path=path, line=new.line, key=key)
    if calls and before.exact(source, old) and not after.exact(path, new):
        message = f"{key} compared values, and {calls[0].name}, which asserts for it now, does not."
        return finding("ASSERTION_WEAKENED", message, path=path, line=new.line, key=key)
    return None


_CONDITION = re.compile(r"(?:^|/ )if (?!.*\belse\b)")


def _fewer(
    project: Project,
    path: str,
    old: GoFunction,
    new: GoFunction,
    both: tuple[Counter[str], Counter[str]],
    after: Helpers,
) -> Finding | None:
    """Fewer statements that can fail the test, and nothing as strong in their place."""
    was, now = both
    lost, gained = was - now, now - was
    short = sum(was.values()) - sum(now.values())
    key = f"{path}::{new.name}"
    if short <= 0 or project.permits(_FREES, path, new.name, old.names):
        return None
    gone_calls = [c for c in lost if c.startswith("call ")]
    if old.body == new.body and gone_calls:
        return None  # told of the function, once
    if now and len(gone_calls) == len(lost) and not after.any_exact(path, gone_calls):
        return None  # steps of a set-up, which only must not go wrong
    if not new.assertions and now and not any(c.startswith("call ") for c in was):
        return None  # functions that assert say it all now
    if after.drawn_out(path, old, new) or (not now and after.hands_on(path, old, new)):
        return None
    told = "; ".join(list(lost)[:3])[:400]
    logged = len(new.logs) - len(old.logs)
    if logged > 0 and len(new.logs) >= short:
        message = f"{key} only logs what it failed on before: {told}."
        return finding("ASSERTION_REMOVED", message, path=path, line=new.logs[-1], key=key, evidence=told)
    only_removed = not gained and _subsequence(new.body.split(" "), old.body.split(" "))
    gone = Counter({c: n for c, n in (old.constants - new.constants).items() if "%" not in c})
    elsewhere: Counter[str] = Counter()
    for _, other in project.fresh:
        if other.name != new.name:
            elsewhere |= other.constants
            gained |= other.assertions + Counter({c: n for c, n in lost.items() if c.startswith("call ") and c.rsplit(".", 1)[-1].removeprefix("call ") in other.names})  # fmt: skip
    if lost and not lost - gained:
        return None  # split: the others assert it now
    if not now and not (old.constants and not old.constants - elsewhere):
        message = f"{key} no longer fails on anything: {told}."
        return finding("ASSERTION_REMOVED", message, path=path, line=new.line, key=key, evidence=told)
    if not (gone - elsewhere) and (gone or not only_removed):
        # One comparison of the whole instead of several, or the values stand in another test now.
        return None
    message = f"{key} no longer checks: {told}."
    return finding("ASSERTION_REMOVED", message, path=path, line=new.line, key=key, evidence=told)


def _subsequence(short: list[str], long: list[str]) -> bool:
    rest = iter(long)
    return all(word in rest for word in short)


def _looser(project: Project, path: str, old: GoFunction, new: GoFunction) -> Finding | None:
    """A condition that fails the test less often than the one whose place it took."""
    lost, gained = old.assertions - new.assertions, new.assertions - old.assertions
    if project.permits((PermitKind.CHANGE_EXPECTATIONS,), path, new.name, old.names):
        return None
    key = f"{path}::{new.name}"
    exact = {
        (first, side)
        for first, parts in map(parts_of, new.assertions)
        for part in parts
        for side in exact_sides(part) or ()
    }
    for after in gained:
        for before in lost:
            why = looser(before, after) or duller(before, after, exact)
            if why and not in_parts(before, new.assertions):
                message = f"{key}: {why}: {before[:200]!r} became {after[:200]!r}."
                return finding("ASSERTION_WEAKENED", message, path=path, line=new.line, key=key, evidence=message)
    return None


def _hollow(project: Project, after: Helpers) -> list[Finding]:
    """New tests that cannot fail."""
    out = []
    for path, test in project.fresh:
        old = project.file(path, base=True)
        if not test.name.startswith("Test") or (old and test.name in old.functions) or test.assertions or test.skips:
            continue
        if after.calls(path, test) or test.names - {"t", "_"} - _HARMLESS:
            continue
        message = f"The new test {path}::{test.name} does nothing that could fail."
        out.append(finding("TEST_PROVES_NOTHING", message, path=path, line=test.line, key=f"{path}::{test.name}"))
    return out


_HARMLESS = {"Log", "Logf", "Parallel", "Helper", "Println", "fmt", "Name"}
