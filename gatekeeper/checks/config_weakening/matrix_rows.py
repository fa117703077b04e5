"""Rows that the matrix of a checking job loses by what it leaves out, while they still stand in it."""

from __future__ import annotations

from typing import Any

from gatekeeper.checks.config_weakening.ci_commands import Row, command_lines
from gatekeeper.checks.config_weakening.ci_same_work import checks_of
from gatekeeper.checks.config_weakening.matrix import rows_of
from gatekeeper.domain.verdict import Effect


def rows_left_out(old: dict[str, Any], new: dict[str, Any]) -> list[Row]:
    """A value that a matrix lists and leaves out whole is a row for show. A value taken out of the list is told by the
    difference itself, and people do that when a version is no longer supported.
    """
    was: Any = old.get("jobs")
    now: Any = new.get("jobs")
    rows: list[Row] = []
    for name, job in now.items() if isinstance(now, dict) else ():
        before = was.get(name) if isinstance(was, dict) else None
        if not isinstance(before, dict) or not isinstance(job, dict) or not checks_of(command_lines(job)):
            continue
        ran, runs = rows_of(before), rows_of(job)
        if ran is None or runs is None:
            continue
        most = len(runs) * 2 <= len(ran)
        for axis, value in _listed(job):
            if any(_of(r, axis, value) for r in ran) and not any(_of(r, axis, value) for r in runs):
                said = f"job {name} lists {axis} {value} and leaves it out."
                rows.append(("CI_CHECK_REMOVED", said, None if most else Effect.ASKS))
        if not rows and most and len(runs) < len(ran) and _excluded(job) > _excluded(before):
            said = f"job {name} leaves out {len(ran) - len(runs)} of {len(ran)} rows."
            rows.append(("CI_CHECK_REMOVED", said, Effect.ASKS))
    return rows


def _of(row: dict[str, Any], axis: str, value: Any) -> bool:
    return axis in row and str(row[axis]) == str(value)


def _matrix(job: dict[str, Any]) -> dict[str, Any]:
    strategy = job.get("strategy")
    matrix = strategy.get("matrix") if isinstance(strategy, dict) else None
    return matrix if isinstance(matrix, dict) else {}


def _listed(job: dict[str, Any]) -> list[tuple[str, Any]]:
    axes = [(k, v) for k, v in _matrix(job).items() if k not in ("include", "exclude") and isinstance(v, list)]
    return [(k, value) for k, values in axes for value in values if isinstance(value, str | int | float)]


def _excluded(job: dict[str, Any]) -> int:
    found = _matrix(job).get("exclude")
    return len(found) if isinstance(found, list) else 0
