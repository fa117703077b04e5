"""Parameter sets of a test that is still there, and what became of those that are not."""

from __future__ import annotations

import ast
import posixpath
import re
from collections import Counter

from gatekeeper.checks.suite_integrity.departed import warned_way_went
from gatekeeper.checks.suite_integrity.rows_elsewhere import exchanged
from gatekeeper.checks.suite_integrity.shown import fails, never_ran, passed, runs, seen_in_runs, silent, some
from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.checks.suite_integrity.superseded import superseded
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.python_source import TestFunction

_EDITS = (PermitKind.CHANGE_EXPECTATIONS, PermitKind.UPDATE_SNAPSHOTS)
_MOST_ROWS = 500
_LITTLE = 2
_ALLOWS = re.compile(r"\b(?:allow|accept|support|permit)\w*\b([^;\n]{1,120})", re.IGNORECASE)
_DENIES = re.compile(r"\b(?:not|never|no|without|longer|drop|remove)\b|n't\b", re.IGNORECASE)


def lost_parameters(
    situation: Situation, path: str, test: TestFunction, now: TestFunction, gone: list[str]
) -> Finding | None:
    """The function is still there; some of its parameter sets are not."""
    if test.rows is not None and now.rows is not None and (test.rows or now.rows):
        lost = Counter(test.rows) - Counter(now.rows)
        come = list((Counter(now.rows) - Counter(test.rows)).elements())
        if not lost and _as_many(situation, path, test.name, now.name):
            return _rows_elsewhere(situation, path, test, now, gone)
        if lost and _only_repeated(test, now, lost) and not any(fails(situation, i) for i in gone):
            return None  # they stood there more than once, and stand there still
        if lost and not any(fails(situation, i) for i in gone):
            others = [
                f[1]
                for f in situation.new_functions
                if f[1].name != test.name and runs(situation, f) and not silent(situation, f)
            ]
            if _widened(list(lost.elements()), come):
                return None  # the same values, and one more parameter
            if not now.rows and all(_constants(row) <= set(now.material.constants) for row in lost):
                return None  # the rows moved into the body
            if all(any(_constants(row) <= set(t.material.constants) for t in others) for row in lost):
                return None  # the rows became tests of their own
        if lost and _expecting_otherwise(list(lost.elements()), come):
            if all(
                situation.permits(_EDITS, test_id=i, path=path, words=words_of(situation, path, test.name))
                for i in gone
            ):
                return None
            # An id may hold a place in the list, which a new row shifts: such a one is gone by name alone, and fails nowhere.
            failing = [i for i in gone if fails(situation, i)]
            if passed(situation, gone) and failing:
                message = (
                    f"{path}::{now.name} expects otherwise of the same input: {some(failing)} passed on the target branch and"
                    " fails on this code."
                )
                return finding("EXPECTATION_FOLLOWS_CODE", message, path=path, line=now.line, evidence=seen_in_runs(situation, gone), key=f"{path}::{now.name}")  # fmt: skip
    elif test.decorators == now.decorators and test.body == now.body:
        if _as_many(situation, path, test.name, now.name):
            return _rows_elsewhere(situation, path, test, now, gone)
    elif not any(fails(situation, i) for i in gone) and set(test.material.constants) <= set(now.material.constants):
        return None
    return _removed(situation, path, test, now, gone)


def _rows_elsewhere(
    situation: Situation, path: str, test: TestFunction, now: TestFunction, gone: list[str]
) -> Finding | None:
    """The function is as it was and gets as many parameter sets as before, from elsewhere: under new names, or other ones.

    Only names differ where none of the lost ones fails on this code. Where one does, the sets that it came from do not
    say the same any more.
    """
    failing = [i for i in gone if fails(situation, i)]
    if not failing:
        return None
    words = words_of(situation, path, test.name)
    if all(_freed(situation, i, path, words) for i in failing):
        return None
    if not passed(situation, failing):
        return _removed(situation, path, test, now, gone)
    restored = situation.restored
    if restored is not None and not any(i in restored.by_id for i in failing):
        case = restored.first(path)
        renamed = f"{words} {case.detail if case else ''}"
        if all(situation.permits((PermitKind.RENAME_API,), test_id=i, path=path, words=renamed) for i in failing):
            return None
        message = f"{path} of the target branch does not load on this code, and {some(failing)} is gone from it."
        return finding("TEST_FOLLOWS_INTERFACE", message, path=path, line=now.line, evidence=seen_in_runs(situation, gone), key=f"{path}::{now.name}")  # fmt: skip
    if exchanged(situation, path, test.name, now.name):
        return _removed(situation, path, test, now, gone)
    message = (
        f"{path}::{now.name} gets other parameter sets: {some(failing)} passed on the target branch, fails on this code"
        " and is gone."
    )
    return finding("EXPECTATION_FOLLOWS_CODE", message, path=path, line=now.line, evidence=seen_in_runs(situation, gone), key=f"{path}::{now.name}")  # fmt: skip


def _freed(situation: Situation, test_id: str, path: str, words: str) -> bool:
    """A permit names the test, or every changed file that its parameter sets can have come from."""
    if situation.permits(_EDITS, test_id=test_id, path=path, words=words):
        return True
    source = situation.source(path, base=True) or ""
    kinds = {p: k for p in situation.changed if p != path and (k := situation.kind(p)) is not None and k.bends_runs}
    named = [p for p in kinds if posixpath.splitext(posixpath.basename(p))[0] in source]
    return path not in situation.changed and bool(named) and all(situation.permits(_EDITS, path=p) for p in named)


def _removed(situation: Situation, path: str, test: TestFunction, now: TestFunction, gone: list[str]) -> Finding:
    effect = None
    if (
        passed(situation, gone)
        and any(fails(situation, i) for i in gone)
        and warned_way_went(situation, path, test.name, gone) is not None
    ):
        effect = Effect.ASKS  # rows of what the code warned against and warns no more; ids with numbers change along
    elif superseded(situation, path, test.name, gone) or _allowed_now(situation, test, now, gone):
        effect = Effect.ASKS
    elif _expecting_otherwise(*_exchanged(test, now)) and all(never_ran(situation, i) for i in gone):
        effect = Effect.ASKS  # skipped here before and after: what they would have shown, no run can tell
    message = f"{len(gone)} parameter set(s) of {path}::{now.name} that the target branch runs are gone: {some(gone)}."
    return finding("PARAMETERS_REMOVED", message, path=path, line=now.line, evidence=seen_in_runs(situation, gone), key=f"{path}::{now.name}", effect=effect)  # fmt: skip


def _exchanged(test: TestFunction, now: TestFunction) -> tuple[list[str], list[str]]:
    """(rows that went, rows that came)."""
    was, has = Counter(test.rows or ()), Counter(now.rows or ())
    return list((was - has).elements()), list((has - was).elements())


def _only_repeated(test: TestFunction, now: TestFunction, lost: Counter[str]) -> bool:
    """Every lost row is still in the one list of parameter sets that the test has, and had."""
    lists = [sum("parametrize" in ast.dump(d) for d in t.node.decorator_list) for t in (test, now)]
    return lists == [1, 1] and all(row in (now.rows or ()) for row in lost)


def _allowed_now(situation: Situation, test: TestFunction, now: TestFunction, gone: list[str]) -> bool:
    """Some went that passed and fail now, and a sentence of the ticket says to allow what each lost row holds."""
    lost = Counter(test.rows or ()) - Counter(now.rows or ())
    ticket = situation.evidence.ticket
    plan = [s for row in (ticket.title, ticket.goal, *ticket.acceptance) for s in re.split(r"(?<=[.;])\s|\n", row)]
    said = [m[1] for s in plan if (m := _ALLOWS.search(s[:2000])) and not _DENIES.search(s[: m.end()][:2000])]
    if not lost or not said or not passed(situation, gone) or not any(fails(situation, i) for i in gone):
        return False
    values = [{v.strip("'\"") for v in _constants(row)} for row in list(lost)[:_MOST_ROWS]]
    return all(any(_spoken(v, sentence) for v in held for sentence in said) for held in values)


def _spoken(value: str, sentence: str) -> bool:
    """A number, or a text that is no little word, stands there by itself."""
    telling = value[:1].isdigit() or len(value) > _LITTLE
    return telling and re.search(rf"(?<![\w.-]){re.escape(value)}(?!\w|[.-]\w)", sentence) is not None


def _widened(lost: list[str], come: list[str]) -> bool:
    """Every lost row is the beginning, the end or the frame of a new one of its own that has more values."""
    if len(lost) > len(come) or len(lost) > _MOST_ROWS:
        return False
    left = [_values(row) for row in come]
    for row in lost:
        parts = _values(row)
        heir = next((new for new in left if len(new) > len(parts) and _within(parts, new)), None)
        if heir is None:
            return False
        left.remove(heir)
    return True


def _expecting_otherwise(lost: list[str], come: list[str]) -> bool:
    """Every lost row has an heir of its own: as many values, the same first one, at least one other."""
    if len(lost) > len(come) or len(lost) > _MOST_ROWS:
        return False
    left = [_values(row) for row in come]
    for row in lost:
        parts = _values(row)
        heir = next((new for new in left if len(new) == len(parts) > 1 and new[0] == parts[0]), None)
        if heir is None:
            return False
        left.remove(heir)
    return True


def _values(row: str) -> list[str]:
    """The values of one canonical parameter set."""
    parts, depth, start = [], 0, 0
    inner = row[1:-1] if row.startswith("(") and row.endswith(")") else row
    quote = ""
    for at, sign in enumerate(inner):
        if quote:
            quote = "" if sign == quote and inner[at - 1] != "\\" else quote
        elif sign in "'\"":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "," and not depth:
            parts.append(inner[start:at].strip())
            start = at + 1
    return [*parts, inner[start:].strip()]


def _within(parts: list[str], whole: list[str]) -> bool:
    """The parts stand in the whole in their order."""
    rest = iter(whole)
    return all(any(part == other for other in rest) for part in parts)


def _as_many(situation: Situation, path: str, old: str, new: str) -> bool:
    """The function yields at least as many results as before."""
    before, merged = situation.before, situation.merged
    if before is None or merged is None:
        return False
    return len(merged.functions.get((path, new), ())) >= len(before.functions.get((path, old), ()))


def _constants(row: str) -> set[str]:
    """Reprs of the constants of one canonical parameter set."""
    return set(re.findall(r"Constant\(value=(.*?)\)(?=[,)\]]|$)", row)) - {"None"}


def words_of(situation: Situation, path: str, name: str) -> str:
    """What a permit may name of a test: its own name and the names that it uses."""
    test = situation.function(path, name, base=True)
    return f"{name} {' '.join(test.material.names)}" if test else name
