"""Tests that stand in files of the code: they change with what they judge, so that no run of the target's own can show it."""

from __future__ import annotations

import ast
import re
from collections import Counter

from gatekeeper.checks.suite_integrity.shown import seen_in_runs
from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.domain.testrun import Outcome
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code
from gatekeeper.formats.python_delegates import binds_any, delegates, handed_on
from gatekeeper.formats.python_examples import Example, examples, examples_of, lost_examples
from gatekeeper.formats.python_source import TestFunction

TEXTS = (".rst", ".txt", ".md")
_EDITS = (PermitKind.CHANGE_EXPECTATIONS, PermitKind.UPDATE_SNAPSHOTS)
_ENDS = (*_EDITS, PermitKind.REMOVE_TESTS, PermitKind.REMOVE_FEATURE, PermitKind.RENAME_API)


def in_code(situation: Situation) -> list[Finding]:
    """One finding for each changed file whose own tests say otherwise, or less, of what they try."""
    ids = _ids(situation)
    out = []
    for path in situation.changed:
        if path not in ids or not path.endswith(".py") or situation.kind(path) is not None:
            continue
        found = _examples(situation, path, ids[path]) or _functions(situation, path)
        if found is not None:
            out.append(found)
    return out


def went_with_its_code(situation: Situation, path: str, name: str, gone: list[str]) -> tuple[bool, Finding | None]:
    """(whether this is an example of code that is gone or stands elsewhere, what to say of it)."""
    if situation.kind(path) is not None or not path.endswith(".py"):
        return False, None
    old = examples_of(situation.source(path, base=True))
    place = _place(name, old)
    if place is None:
        return False, None
    lost = lost_examples({place: old[place]}, {}, _spare(situation, path, place))
    if not lost:
        return True, None  # moved: it stands elsewhere as it was
    after = python_code.parse(situation.source(path))
    if not place or (after is not None and place in dict(python_code.definitions(after))):
        return False, None
    if any(p.startswith("_") and not p.startswith("__") for p in place.split(".")):
        return True, None  # nobody's business outside
    if all(situation.permits(_ENDS, test_id=i, path=path, words=place) for i in gone):
        return True, None
    message = f"{path}::{name} runs on the target branch and is gone with {place}, whose examples it was."
    return True, finding("TEST_FOLLOWS_INTERFACE", message, path=path, evidence=seen_in_runs(situation, gone), key=f"{path}::{name}")  # fmt: skip


def _ids(situation: Situation) -> dict[str, list[str]]:
    """File -> ids of its tests that a run of the merge result or of the target branch showed."""
    found: dict[str, list[str]] = {}
    for results in (situation.merged, situation.before):
        for (path, _), ids in results.functions.items() if results is not None else ():
            found.setdefault(path, []).extend(ids)
    return found


def _examples(situation: Situation, path: str, ids: list[str]) -> Finding | None:
    if not any(_changed_code(situation, p) for p in situation.changed):
        return None  # the code does what it did, so what it shows of itself can hide nothing
    old, new = (examples_of(situation.source(path, base=base)) for base in (True, False))
    names = [i.partition("::")[2] for i in ids]
    ran = {p for n in names if (p := _place(n, {**old, **new})) is not None}
    merged, before = situation.merged, situation.before
    for place in (p for p in old if p in ran and p in new):
        mine = [i for i in ids if _place(i.partition("::")[2], old) == place]
        if before is not None and not any(Outcome.PASSED in before.outcomes(i) for i in mine):
            continue  # it judged nothing there
        if merged is not None and not any(merged.outcomes(i) for i in mine):
            continue  # gone as a whole: told as such
        lost = lost_examples({place: old[place]}, {place: new[place]}, _spare(situation, path, place))
        if lost and _called_directly(situation, path, place, old[place], new[place]):
            continue
        if not lost or all(situation.permits(_EDITS, test_id=i, path=path, words=place) for i in mine):
            continue
        first = lost[0]
        what = f"{path}{f'::{place}' if place else ''}"
        key, shown = f"{path}::{place}", f"was: {_said(first.was)}\nis: {_said(first.now)}"
        evidence = f"{shown}\n{seen_in_runs(situation, list(dict.fromkeys(mine)))}"
        if any(e.now is not None for e in lost):
            message = f"Examples of {what}, which run as tests, changed together with their file: {_said(first.was)}."
            return finding("EXPECTATION_FOLLOWS_CODE", message, path=path, evidence=evidence, key=key)
        message = f"{len(lost)} example(s) of {what}, which run as tests on the target branch, are gone: {_said(first.was)}."  # fmt: skip
        return finding("TEST_REMOVED", message, path=path, evidence=evidence, key=key, effect=Effect.ASKS)
    return None


def _called_directly(situation: Situation, path: str, place: str, old: list[Example], new: list[Example]) -> bool:
    """The same examples, some of which call now what the function that they called only hands on to, then and now."""
    module = path.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
    try:
        was, now = (delegates(situation.source(path, base=base)) for base in (True, False))
        # What such a function does itself must still be tried by a module of tests.
        known = {n: d for n, d in was.items() if now.get(n) == d and _tested(situation, n)}
        if not known or binds_any(new, set(known), module):
            return False
        after = handed_on({place: old}, known, module)[place]
        plain = handed_on({place: new}, {}, module)[place]
    except RecursionError:
        return False
    return len(old) == len(new) and all(o == n or a == b for o, n, a, b in zip(old, new, after, plain, strict=True))


def _tested(situation: Situation, name: str) -> bool:
    """A module of tests, as it was and as it is, says the name."""
    entries = situation.evidence.merged.entries
    tests = [p for p in entries if p.endswith(".py") and situation.kind(p) is InstrumentKind.TEST]
    return any(
        all(re.search(rf"(?<!\w){re.escape(name)}\(", situation.source(p, base=base) or "") for base in (True, False))
        for p in tests
    )


def _changed_code(situation: Situation, path: str) -> bool:
    if situation.kind(path) is not None or path.endswith(TEXTS):
        return False
    trees = [python_code.parse(situation.source(path, base=base)) for base in (True, False)]
    if not path.endswith(".py") or trees[0] is None or trees[1] is None:
        return True
    return python_code.meaning(trees[0]) != python_code.meaning(trees[1])


def _functions(situation: Situation, path: str) -> Finding | None:
    """Functions that are tests there: what they did they must still do first."""
    old, new = situation.module(path, base=True), situation.module(path)
    for name, test in old.tests.items() if old is not None else ():
        now = new.tests.get(name) if new is not None else None
        ran = [r.functions.get((path, name), []) for r in (situation.merged, situation.before) if r is not None]
        ids = list(dict.fromkeys(i for rows in ran for i in rows))
        if now is None or not ids or _goes_on(test, now):
            continue
        if all(situation.permits(_EDITS, test_id=i, path=path, words=name) for i in ids):
            continue
        message = f"{path}::{name} stands in a file of the code and changed together with it."
        return finding("EXPECTATION_FOLLOWS_CODE", message, path=path, line=now.line, evidence=seen_in_runs(situation, ids), key=f"{path}::{name}")  # fmt: skip
    return None


def _goes_on(test: TestFunction, now: TestFunction) -> bool:
    """The same arguments and decorators, and the same statements, after which others may come."""
    told = [[python_code.meaning(s) for s in t.node.body if not _bare(s)] for t in (test, now)]
    heads = [t.body.partition("|")[0] for t in (test, now)]
    return bool(test.body) and (heads[0], test.decorators, told[0]) == (
        heads[1],
        now.decorators,
        told[1][: len(told[0])],
    )


def _bare(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _place(name: str, old: dict[str, list[Example]]) -> str | None:
    """The definition whose examples a test of that name runs: the runner puts the module's dotted name in front."""
    if name in old and name:
        return name
    inner = [p for p in old if p and name.endswith(f".{p}")]
    if inner:
        return max(inner, key=len)
    return "" if "" in old and "::" not in name and not name.startswith("test") else None


def _spare(situation: Situation, path: str, place: str) -> Counter[Example]:
    """Examples that the changed files have more often now, this place left out: what was lost may have moved there."""
    ran = {p for p, _ in situation.merged.functions} if situation.merged is not None else set()
    spare: Counter[Example] = Counter()
    for other in situation.changed:
        if other not in ran or not other.endswith((".py", *TEXTS)):
            continue
        was, now = (_all(situation, other, base, path, place) for base in (True, False))
        spare += now - was
    return spare


def _all(situation: Situation, other: str, base: bool, path: str, place: str) -> Counter[Example]:
    source = situation.source(other, base=base)
    table = examples_of(source) if other.endswith(".py") else {"": examples(source)}
    return Counter(e for n, rows in table.items() if (other, n) != (path, place) for e in rows)


def _said(example: Example | None) -> str:
    return "nothing" if example is None else f">>> {example[0]} -> {example[1]}"[:200]
