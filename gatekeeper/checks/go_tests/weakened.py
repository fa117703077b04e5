"""Tests that both sides have, and that prove less than they did."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator

from gatekeeper.checks.go_tests.project import Project
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.testrun import Outcome
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.go_tests import GoFunction

_FREES = (PermitKind.CHANGE_EXPECTATIONS, PermitKind.REMOVE_FEATURE)
_HONEST_SKIP = re.compile(r"runtime \. (?:GOOS|GOARCH)|testing \. Short|exec \. LookPath|os \. Geteuid|os \. Getuid")
_LONG = 2000
_NUMBER = re.compile(r"[0-9][0-9_.]*(?:[eE][+-]?\d+)?")


def weakened(project: Project) -> list[Finding]:
    """At most one finding for each function."""
    out = []
    for path, old, new in _pairs(project):
        found = _skipped(project, path, old, new) or _unreachable(project, path, old, new)
        found = found or _fewer(project, path, old, new) or _looser(project, path, old, new)
        if found is not None:
            out.append(found)
    return [*out, *_hollow(project)]


def _pairs(project: Project) -> Iterator[tuple[str, GoFunction, GoFunction]]:
    """(path now, before, after) of each test, and of each function beside them that can fail one."""
    for path, old, new in project.changed_tests():
        for name, before in (old.functions if old else {}).items():
            here = project.here(posixpath.dirname(path), name)
            if here is not None and here[1].body != before.body:
                yield here[0], before, here[1]
        for name, before in (old.others if old else {}).items():
            after = new.others.get(name) if new else None
            if after is not None and before.assertions and after.body != before.body:
                yield path, before, after


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
    ):
        if len(lines) > len(before):
            return finding("ASSERTION_UNREACHABLE", f"{key} {why}.", path=path, line=lines[-1], key=key)
    if "recover" in new.names and "recover" not in old.names:
        message = f"{key} recovers from panics now, which hides those that the test is there to show."
        return finding("ASSERTION_SWALLOWED", message, path=path, line=new.line, key=key, effect=Effect.ASKS)
    return None


def _fewer(project: Project, path: str, old: GoFunction, new: GoFunction) -> Finding | None:
    """Fewer statements that can fail the test, and nothing as strong in their place."""
    lost, gained = old.assertions - new.assertions, new.assertions - old.assertions
    short = sum(old.assertions.values()) - sum(new.assertions.values())
    key = f"{path}::{new.name}"
    if short <= 0 or project.permits(_FREES, path, new.name, old.names):
        return None
    if not new.assertions and _calls_asserting(project, path, new):
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
            gained |= other.assertions
    if lost and not lost - gained:
        return None  # split: the others assert it now
    if not (gone - elsewhere) and (gone or not only_removed):
        # One comparison of the whole instead of several, or the values stand in another test now.
        return None
    message = f"{key} no longer checks: {told}."
    return finding("ASSERTION_REMOVED", message, path=path, line=new.line, key=key, evidence=told)


def _calls_asserting(project: Project, path: str, function: GoFunction) -> bool:
    """The test calls a function of its package's test files that asserts."""
    folder = posixpath.dirname(path)
    for other in project.evidence.merged.entries:
        if posixpath.dirname(other) == folder and other.endswith("_test.go"):
            file = project.file(other)
            for name, helper in (file.others if file else {}).items():
                if helper.assertions and name.rsplit(".", 1)[-1] in function.names:
                    return True
    return False


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
        (first, side) for first, parts in map(_parts, new.assertions) for part in parts for side in _exact(part) or ()
    }
    for after in gained:
        for before in lost:
            why = looser(before, after) or _duller(before, after, exact)
            if why and not _in_parts(before, new.assertions):
                message = f"{key}: {why}: {before[:200]!r} became {after[:200]!r}."
                return finding("ASSERTION_WEAKENED", message, path=path, line=new.line, key=key, evidence=message)
    return None


def _exact(part: str) -> tuple[str, str] | None:
    """(what is compared, with what) of a condition that holds unless the two are the same."""
    for pattern in (_DIFFERS, _NOT_SAME, _DIFF):
        if (match := pattern.fullmatch(part)) and "nil" not in (match[1], match[2]):
            return match[1], match[2]
    return None


def _parts(statement: str) -> tuple[str, list[str]]:
    """What an `if` sets first, and the reasons for which it fails."""
    before, _, condition = statement.removeprefix("if ").rpartition(" ; ")
    if (match := _DIFF_FIRST.fullmatch(before)) and condition == f'{match[1]} != ""':
        return "", [f'cmp . Diff ( {match[2]} ) != ""']
    return before, condition.split(" || ")


_PART = r"([^|&;]+?)"
_DIFFERS = re.compile(rf"{_PART} != {_PART}")
_NOT_SAME = re.compile(
    rf"! (?:reflect \. DeepEqual|(?:cmp|bytes|slices|maps|errors) \. (?:Equal|Is)) \( {_PART} , {_PART} \)"
)
_DIFF_FIRST = re.compile(r"(\w+) := cmp \. Diff \( (.+) \)")
_DIFF = re.compile(rf'cmp \. Diff \( {_PART} , {_PART} \) != ""')


def _duller(before: str, after: str, exact: set[tuple[str, str]]) -> str:
    """Something is asked of a value that was compared as a whole, and nothing else compares it."""
    (first, old), (then, new) = _parts(before), _parts(after)
    if first != then or len(after) > _LONG:
        return ""
    for part in (p for p in old if p not in new):
        found = _exact(part)
        for side in found or ():
            if (first, side) in exact or _NUMBER.fullmatch(side) or side.startswith('"'):
                continue
            for less in (p for p in new if p not in old):
                for why, form in _LESS:
                    if re.fullmatch(form.replace("SIDE", re.escape(side)), less):
                        return why
    return ""


_LESS = (
    ("an exact comparison became a look at whether there is anything, or a bound", r'SIDE (?:==|<=?|>=?) (?:nil|0|""|-?[\d.]+)'),
    ("a comparison of the whole became one of the length", r"len \( SIDE \) (?:==|!=|<=?) .*"),
    ("an exact comparison became a look for a part", r"! (?:strings|bytes|slices) \. (?:Contains|HasPrefix|HasSuffix|ContainsAny) \( SIDE , .*"),
)  # fmt: skip


def _in_parts(before: str, now: Counter[str]) -> bool:
    """The reasons to fail became conditions of their own."""
    first, reasons = _parts(before)
    return not first and len(reasons) > 1 and all(f"if {r}" in now for r in reasons)


def looser(before: str, after: str) -> str:
    """Why the condition `after` fails a test less often than `before`; empty where that is not evident."""
    old, new = before.split(" "), after.split(" ")
    if new[: len(old)] == old and len(new) > len(old) and new[len(old)] == "&&":
        return "a further condition must hold for it to fail"
    if len(old) > len(new) and old[: len(new)] == new and old[len(new)] == "||":
        return "one of the reasons to fail is gone"
    if len(old) != len(new):
        for libraries in (("Equal", "Contains"), ("Equal", "NotNil"), ("Equal", "NotEmpty"), ("ErrorIs", "Error"), ("EqualError", "Error"), ("Equal", "True")):  # fmt: skip
            if _method(old) == libraries[0] and _method(new) == libraries[1]:
                return f"{libraries[0]} became {libraries[1]}"
        return ""
    different = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    if len(different) != 1:
        return ""
    was, now = different[0]
    if was == "!=" and now in ("<", ">"):
        return "an exact comparison became a bound"
    if was in ("Equal", "EqualValues", "Exactly") and now in ("NotEqual", "Contains", "Subset", "GreaterOrEqual", "LessOrEqual", "ObjectsAreEqual"):  # fmt: skip
        return f"{was} became {now}"
    if _NUMBER.fullmatch(was) and _NUMBER.fullmatch(now):
        at = next(i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
        try:
            grown = float(now.replace("_", "")) > float(was.replace("_", ""))
        except ValueError:
            return ""
        if old[at - 1] in (">", ">=") and grown and any(w in old for w in ("Abs", "Sub", "Since", "diff", "delta")):
            return "the tolerance grew"
        if _method(old) in ("InDelta", "InEpsilon", "WithinDuration") and grown and at >= len(old) - 3:
            return "the tolerance grew"
    return ""


def _method(words: list[str]) -> str:
    return words[2] if len(words) > 3 and words[1] == "." else ""


def _hollow(project: Project) -> list[Finding]:
    """New tests that cannot fail."""
    out = []
    for path, test in project.fresh:
        old = project.file(path, base=True)
        if not test.name.startswith("Test") or (old and test.name in old.functions) or test.assertions or test.skips:
            continue
        if _calls_asserting(project, path, test) or test.names - {"t", "_"} - _HARMLESS:
            continue
        message = f"The new test {path}::{test.name} does nothing that could fail."
        out.append(finding("TEST_PROVES_NOTHING", message, path=path, line=test.line, key=f"{path}::{test.name}"))
    return out


_HARMLESS = {"Log", "Logf", "Parallel", "Helper", "Println", "fmt", "Name"}
