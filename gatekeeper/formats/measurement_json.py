"""The measurement of a change as the section `measurement` of a report, and as lines of text."""

from __future__ import annotations

from typing import Any

from gatekeeper.domain.followup import Measured, MeasuredMutant, MutantResult
from gatekeeper.formats.text_safety import harmless

MAX_ROWS = 200
MAX_SHOWN = 12
"""Rows of each kind in the text report; all are in the JSON."""
_WORDS = ("another value", "one element less", "nothing", "never", "always", "its opposite", "going on", "none")


def measurement(measured: Measured | None) -> dict[str, Any] | None:
    """The section; None where nothing was to be measured. `measured` in it is false where no mutant was tried."""
    if measured is None:
        return None
    counts = {r.value: sum(m.result is r for m in measured.mutants) for r in MutantResult}
    lines = measured.lines
    return {
        "measured": bool(measured.tried),
        "tier": measured.tier.value,
        "budget_s": measured.budget_s,
        "complete": measured.complete,
        "notes": [harmless(n) for n in measured.notes],
        "limit": harmless(measured.limit),
        "disturbed": harmless(measured.disturbed),
        "lines": {
            "changed": len(lines),
            "executed": sum(one.executed is True for one in lines),
            "not_executed": [{"path": harmless(one.path), "line": one.line} for one in lines if one.executed is False][
                :MAX_ROWS
            ],
            "unknown": sum(one.executed is None for one in lines),
        },
        "mutants": {"made": len(measured.mutants), "tried": len(measured.tried), **counts},
        "untold_lines": [{"path": harmless(p), "line": n} for p, n in untold(measured)][:MAX_ROWS],
        "survivors": [_row(m) for m in measured.mutants if m.result is MutantResult.SURVIVED][:MAX_ROWS],
        "own_tests": {
            "changed": [harmless(t) for t in measured.own_tests][:MAX_ROWS],
            "pass_without_the_change": [harmless(t) for t in measured.passed_before][:MAX_ROWS],
            "fail_without_the_change": [harmless(t) for t in measured.failed_before][:MAX_ROWS],
        },
    }


def _row(mutant: MeasuredMutant) -> dict[str, Any]:
    return {
        "path": harmless(mutant.path),
        "line": mutant.line,
        "kind": mutant.kind,
        "before": harmless(mutant.before),
        "after": harmless(mutant.after),
        "value": harmless(mutant.value, newlines=False),
        "message": harmless(told(mutant)),
    }


def told(mutant: MeasuredMutant) -> str:
    """One surviving mutant in a sentence."""
    plain = mutant.after in _WORDS or mutant.after.startswith(("leaving ", "catching ", "not ", "the "))
    after = mutant.after if plain else f"`{mutant.after}`"
    value = f" ({harmless(mutant.value, newlines=False)})" if mutant.value else ""
    return f"{mutant.path}:{mutant.line}: no test can tell `{mutant.before}` from {after}{value}"


def untold(measured: Measured) -> list[tuple[str, int]]:
    """Lines of which every mutant that was tried survived: no test looks at them."""
    table: dict[tuple[str, int], bool] = {}
    for mutant in measured.tried:
        place = (mutant.path, mutant.line)
        table[place] = table.get(place, True) and mutant.result is MutantResult.SURVIVED
    return sorted(place for place, all_survived in table.items() if all_survived)


def measurement_lines(measured: Measured | None) -> list[str]:
    """A few lines for people."""
    if measured is None:
        return []
    if not measured.tried:
        why = "; ".join(harmless(n) for n in measured.notes) or "no reason is known"
        return [f"tests    what they can tell of the change was not measured: {why}"]
    lines, tried = measured.lines, measured.tried
    noticed = sum(m.result is not MutantResult.SURVIVED for m in tried)
    known = [one for one in lines if one.executed is not None]
    run = sum(one.executed is True for one in known)
    rest = len(measured.mutants) - len(tried)
    rows = [
        f"tests    run {run} of {len(lines)} changed lines, notice {noticed} of {len(tried)} faults in them ({rest} not tried)"
    ]
    missed = [f"{harmless(one.path)}:{one.line}" for one in lines if one.executed is False]
    if missed:
        more = f" and {len(missed) - MAX_SHOWN} more" if len(missed) > MAX_SHOWN else ""
        rows.append(f"         run by no test: {', '.join(missed[:MAX_SHOWN])}{more}")
    blind = set(untold(measured))
    survivors = [m for m in tried if m.result is MutantResult.SURVIVED]
    survivors.sort(key=lambda m: ((m.path, m.line) not in blind, m.path, m.line))
    rows += [f"         {harmless(told(m))}" for m in survivors[:MAX_SHOWN]]
    if len(survivors) > MAX_SHOWN:
        rows.append(f"         and {len(survivors) - MAX_SHOWN} more")
    if measured.passed_before:
        some = ", ".join(harmless(t) for t in measured.passed_before[:5])
        rows.append(f"         pass without the change as well: {some}")
    rows += [f"         {harmless(n)}" for n in measured.notes]
    return rows
