"""The grounds of a finding: the line it is about and what each run showed of it, where its check did not say so itself.

Only what the evidence shows is added, never a guess about what the check meant: a finding that names tests gets their
outcomes in every run, one about a changed file the first line that the change touches there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, Seen, saw
from gatekeeper.domain.testrun import RunRole, SuiteRun
from gatekeeper.domain.tree import Tree, text
from gatekeeper.errors import CouldNotCheck

MAX_TESTS = 200
"""Tests of one finding whose outcomes are counted."""
_NAME = re.compile(r"[^\s,;:'\"()\[\]]+(?:::[^\s,;:'\"()\[\]]+)+")
"""A test as messages write it, without parameters: `tests/test_a.py::TestX::test_y`."""
_WHOLE = frozenset({RunRole.MERGED, RunRole.BASE_INSTRUMENTS, RunRole.BASE, RunRole.NEW_TESTS_ON_BASE})
"""Runs of a whole suite: a test that is not in one was not collected there. Of the others it says nothing."""
_ORDER = tuple(RunRole)
_ABOUT_TESTS = frozenset({"test_tampering", "tests_failed", "evidence_mismatch", "implementation_gaming"})


def grounded(evidence: Evidence, found: Sequence[Finding], further: Sequence[SuiteRun] = ()) -> tuple[Finding, ...]:
    """The same findings with `line` and `seen` filled where they were empty and the evidence shows them.

    `further` are runs beyond those of the evidence. Order and fingerprints stay.
    """
    tests = _Tests([*evidence.runs, *further])
    changed = {p.path for p in evidence.change.paths}
    out = []
    for one in found:
        line = one.line
        if line is None and one.path in changed and one.path is not None:
            line = _first_line(evidence.base, evidence.merged, one.path, one.evidence)
        out.append(replace(one, line=line, seen=one.seen or tests.of(one)))
    return tuple(out)


def _first_line(base: Tree, merged: Tree, path: str, quoted: str) -> int | None:
    """The line that the evidence quotes, else the first that the change adds or alters; None where there is none."""
    try:
        before, after = text(base, path), text(merged, path)
    except CouldNotCheck:
        return None
    if after is None:
        return None
    now, was = after.split("\n"), (before or "").split("\n")
    old = Counter(was)
    words = quoted.partition("\n")[0].strip()
    if words:
        for number, line in enumerate(now, 1):
            if line.strip() == words and not old[line]:
                return number
    if before is None:
        return 1
    for number, line in enumerate(now, 1):
        if number > len(was) or line != was[number - 1]:
            return number
    return len(now) if len(was) > len(now) else None


class _Tests:
    """Tests of all runs by the name that messages give them."""

    def __init__(self, runs: Iterable[SuiteRun]) -> None:
        self._runs = sorted((r for r in runs if r.cases), key=lambda r: _ORDER.index(r.role))
        self._table: list[dict[str, list[str]]] | None = None
        """By run: outcomes by test id. Made when the first finding asks."""
        self._ids: Mapping[str, Sequence[str]] = {}
        """By name without parameters: ids."""

    def of(self, one: Finding) -> tuple[Seen, ...]:
        """What the runs showed of the tests that the finding names; nothing where it names none."""
        if one.category not in _ABOUT_TESTS or not self._runs:
            return ()
        table = self._made()
        ids = self._named(one.message, one.message) or self._named(one.evidence, one.evidence)
        if not ids:
            return ()
        rows = []
        suites = {r.suite for r, outcomes in zip(self._runs, table, strict=True) if any(i in outcomes for i in ids)}
        for run, outcomes in zip(self._runs, table, strict=True):
            if run.suite not in suites:
                continue
            counts = Counter(o for i in ids for o in outcomes.get(i, ()))
            if run.role in _WHOLE and not run.partial:
                counts["not collected"] = sum(1 for i in ids if i not in outcomes)
            told = [f"{n} {word}" if len(ids) > 1 else word for word, n in sorted(counts.items()) if n]
            if told:
                rows.append(saw(run, ", ".join(told)))
        return tuple(rows)

    def _named(self, where: str, whole: str) -> list[str]:
        found: list[str] = []
        for name in dict.fromkeys(_NAME.findall(where)):
            ids = self._ids.get(name, ())
            # Parameters count where they are spelled out; else the name stands for all of its sets.
            spelled = [i for i in ids if i != name and i in whole]
            found += spelled or ids
            if len(found) >= MAX_TESTS:
                break
        return list(dict.fromkeys(found))[:MAX_TESTS]

    def _made(self) -> list[dict[str, list[str]]]:
        if self._table is None:
            self._table = []
            ids: dict[str, dict[str, None]] = {}
            for run in self._runs:
                outcomes: dict[str, list[str]] = {}
                for case in run.cases:
                    outcomes.setdefault(case.id, []).append(case.outcome.value)
                self._table.append(outcomes)
                for case_id in outcomes:
                    ids.setdefault(case_id.partition("[")[0], {})[case_id] = None
            self._ids = {name: tuple(rows) for name, rows in ids.items()}
        return self._table
