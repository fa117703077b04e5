"""The rows of a matrix of CI jobs, as far as they stand in the definition."""

from __future__ import annotations

import itertools
import re
from typing import Any

from gatekeeper.formats import workflow_yaml

_ASKED = r"\$\{\{\s*matrix\.([\w-]+)(?:\s*\|\|\s*false|\s*==\s*(true|false|'[^']*'))?\s*\}\}"
_MOST = 500


def in_every_row(job: Any, condition: str) -> bool:
    """True where `${{ matrix.x }}`, or a comparison of it, holds in each row, so that it chooses none; a row that cannot be told counts as one."""
    asked = re.fullmatch(_ASKED, condition.strip())
    rows = rows_of(job)
    if asked is None or rows is None:
        return False
    name, wanted = asked.groups()
    if wanted is None:
        return all(str(row.get(name, "")).lower() not in ("", "false", "0", "null", "~") for row in rows)
    return all(str(row.get(name, "")).lower() == wanted.strip("'").lower() for row in rows)


def rows_of(job: Any) -> list[dict[str, Any]] | None:
    """All combinations with what `include` adds to them; None where they are made by an expression, or are too many."""
    strategy = job.get("strategy") if isinstance(job, dict) else None
    matrix = strategy.get("matrix") if isinstance(strategy, dict) else None
    if matrix is None:
        return [{}]
    if not isinstance(matrix, dict) or any("${{" in str(v) for _, v in workflow_yaml.walk(matrix)):
        return None
    axes = {k: v for k, v in matrix.items() if k not in ("include", "exclude")}
    if not all(isinstance(v, list) and v for v in axes.values()):
        return None
    made = itertools.product(*axes.values()) if axes else ()
    rows = [dict(zip(axes, values, strict=True)) for values in itertools.islice(made, _MOST + 1)]
    if len(rows) > _MOST:
        return None
    left_out, more = (matrix.get(k) or [] for k in ("exclude", "include"))
    if not all(isinstance(part, list) and all(isinstance(e, dict) for e in part) for part in (left_out, more)):
        return None
    rows = [row for row in rows if not any(all(row.get(k) == v for k, v in e.items()) for e in left_out)]
    fresh = []
    for entry in more[:_MOST]:
        # It adds to each row whose axes it does not contradict, and is a row of its own where there is none.
        fits = [row for row in rows if all(row[k] == v for k, v in entry.items() if k in axes)]
        for row in fits:
            row.update(entry)
        fresh += [] if fits else [dict(entry)]
    return rows + fresh
