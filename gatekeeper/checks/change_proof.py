"""Does the change do what it claims: what the tests can tell of its lines, as far as that was measured.

A measurement comes from the tested process and only ever adds doubt. One finding at most, the strongest: the details are
in the report. Nothing is said of a change that brings no test, of lines that were not tried, and of what ran at import. A
measurement that a limit ended is told, since its silence would look like praise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.followup import Measured, MeasuredLine, MeasuredMutant, MutantResult
from gatekeeper.domain.testrun import Outcome, RunRole
from gatekeeper.domain.ticket import Risk
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.measurement_json import told

MIN_TRIED = 3
"""Mutants that must have been tried before tests are said to notice none."""
MIN_A_LINE = 2
"""Mutants of a line that must have been tried before the line is said to be untold."""
UNTOLD_SHARE = 0.5
"""Of the lines that were tried: below, tests that miss some lines are like those of most projects."""
_SAME_BEHAVIOUR = re.compile(
    r"\b(?:refactor\w*|clean\w*|tidy\w*|simplif\w*|renam\w*|reorder\w*|mov(?:e|es|ed|ing)|split\w*|extract\w*|typing"
    r"|type hints?|annotat\w*|docstrings?|document\w*|format\w*|lint\w*|deprecat\w*|remov(?:e|es|ed|al))\b",
    re.IGNORECASE,
)


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """The strongest doubt that the measurement leaves, if any."""
    measured = evidence.measured
    if measured is None:
        return ()
    if measured.disturbed:
        effect = _weight(measured)
        return (finding("MEASUREMENT_MALFORMED", measured.disturbed, key="measurement", effect=effect),)
    if measured.limit and not measured.tried:
        return (
            finding(
                "MEASUREMENT_CUT_SHORT",
                f"What the tests can tell was not measured: {measured.limit}.",
                key="measurement",
            ),
        )
    for rule in (_cannot_fail, _not_executed, _untold):
        found = rule(evidence, measured)
        if found is not None:
            return (found,)
    return ()


def _weight(measured: Measured) -> Effect:
    """A person decides where the change matters; in the low tier it is advice."""
    return Effect.ADVISES if measured.tier is Risk.LOW else Effect.ASKS


def _cannot_fail(evidence: Evidence, measured: Measured) -> Finding | None:
    """The change's own tests run its lines and notice no fault in them, nor the absence of the change."""
    del evidence
    # Only a test that is known to pass without the change says nothing of it.
    if not measured.own_tests or measured.failed_before or not set(measured.own_tests) <= set(measured.passed_before):
        return None
    reached = {(one.path, one.line) for one in measured.lines if one.own_tests and not one.at_import}
    tried = [m for m in measured.tried if (m.path, m.line) in reached]
    noticed = [m for m in tried if m.by_own_test or m.result is MutantResult.TIMED_OUT or not (m.test or _lives(m))]
    if len(tried) < MIN_TRIED or noticed:
        return None
    first = tried[0]
    names = ", ".join(measured.own_tests[:5])
    return finding(
        "TESTS_NOTICE_NOTHING",
        f"The change's own tests ({names}) run its lines, pass without the change as well, and notice none of "
        f"{len(tried)} faults put into those lines.",
        path=first.path,
        line=first.line,
        key="own tests",
        evidence="\n".join(told(m) for m in tried[:12]),
        effect=_weight(measured),
    )


def _lives(mutant: MeasuredMutant) -> bool:
    return mutant.result is MutantResult.SURVIVED


def _not_executed(evidence: Evidence, measured: Measured) -> Finding | None:
    """The change brings tests, and not one of its lines of code is run by any test."""
    if not measured.own_tests or not measured.complete or measured.failed_before or _same_behaviour(evidence):
        return None
    if (
        not measured.lines
        or any(one.executed is not False for one in measured.lines)
        or not _passed(evidence, measured)
    ):
        return None
    first = measured.lines[0]
    return finding(
        "CHANGE_NOT_EXECUTED",
        f"The change brings tests ({', '.join(measured.own_tests[:5])}), and no test of the suite runs any of its "
        f"{len(measured.lines)} changed lines of code.",
        path=first.path,
        line=first.line,
        key="not executed",
        evidence="\n".join(f"{path}: lines {_ranges(lines)}" for path, lines in by_path(measured.lines)),
        effect=_weight(measured),
    )


def _passed(evidence: Evidence, measured: Measured) -> bool:
    """One of the change's tests ran and passed: those for another platform are skipped here, and honest."""
    own = set(measured.own_tests)
    return any(
        c.outcome is Outcome.PASSED and c.id.split("[", 1)[0] in own
        for r in evidence.runs
        if r.role is RunRole.MERGED
        for c in r.cases
    )


def _untold(evidence: Evidence, measured: Measured) -> Finding | None:
    """Lines that no test can tell from their mutants, where that is true of most of what was tried."""
    if _same_behaviour(evidence):
        return None
    rows: dict[tuple[str, int], list[MeasuredMutant]] = {}
    at_import = {(one.path, one.line) for one in measured.lines if one.at_import}
    for mutant in measured.tried:
        if (mutant.path, mutant.line) not in at_import:
            rows.setdefault((mutant.path, mutant.line), []).append(mutant)
    tried = {place: found for place, found in rows.items() if len(found) >= MIN_A_LINE}
    untold = {place: found for place, found in tried.items() if all(map(_lives, found))}
    if not untold or len(untold) < UNTOLD_SHARE * len(tried):
        return None
    path, line = min(untold)
    lines = [told(found[0]) for _, found in sorted(untold.items())]
    return finding(
        "LINES_UNTOLD",
        f"{len(untold)} of {len(tried)} changed lines can be wrong without any test noticing: {'; '.join(lines[:3])}.",
        path=path,
        line=line,
        key="untold",
        evidence="\n".join(told(m) for found in untold.values() for m in found)[:3000],
    )


def _same_behaviour(evidence: Evidence) -> bool:
    return _SAME_BEHAVIOUR.search(evidence.ticket.title) is not None


def by_path(lines: Iterable[MeasuredLine]) -> list[tuple[str, list[int]]]:
    """Line numbers by path."""
    table: dict[str, list[int]] = {}
    for one in lines:
        table.setdefault(one.path, []).append(one.line)
    return sorted(table.items())


def _ranges(lines: list[int]) -> str:
    out: list[list[int]] = []
    for line in sorted(lines):
        if out and line == out[-1][1] + 1:
            out[-1][1] = line
        else:
            out.append([line, line])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in out[:20])
