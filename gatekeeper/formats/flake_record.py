"""A record of the register of flaky tests as one line of JSON. Read strictly: a line that is none is told, not skipped."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields
from typing import Any

from gatekeeper.domain.flake import MAX_BASES, MAX_WORDS, FlakeRecord
from gatekeeper.errors import InputError
from gatekeeper.formats import strict_json

MAX_LINE = 64 * 1024
MAX_NAME = 16 * 1024
_TEXTS = {"repository": MAX_NAME, "suite": MAX_NAME, "test": MAX_NAME, "owner": MAX_WORDS, "note": MAX_WORDS}
_CODE = "INPUT_MALFORMED"


def dump(record: FlakeRecord) -> str:
    """The line, without its end."""
    return json.dumps(asdict(record), ensure_ascii=True, allow_nan=False, sort_keys=True)


def parse(line: bytes) -> FlakeRecord:
    """The record of a line. Raises `InputError` (INPUT_MALFORMED)."""
    row = strict_json.loads(line, what="record of a flaky test", code=_CODE, max_bytes=MAX_LINE, max_depth=4)
    if not isinstance(row, dict) or set(row) != {f.name for f in fields(FlakeRecord)}:
        raise _wrong("its fields")
    for name, most in _TEXTS.items():
        if not isinstance(row[name], str) or len(row[name]) > most:
            raise _wrong(name)
    bases = row["bases"]
    if (
        not isinstance(bases, list)
        or len(bases) > MAX_BASES
        or not all(isinstance(b, str) and len(b) <= 64 for b in bases)
    ):
        raise _wrong("bases")
    counts = [row["failed"], row["runs"]]
    if not all(type(n) is int and 0 < n < 2**53 for n in counts) or counts[0] >= counts[1]:
        raise _wrong("failed or runs")
    times = {name: _time(row[name]) for name in ("first_seen", "last_seen", "expires_at")}
    return FlakeRecord(**{**row, **times, "bases": tuple(bases)})


def _time(value: Any) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or not 0 <= value < 1e11
    ):
        raise _wrong("a time")
    return float(value)


def _wrong(what: str) -> InputError:
    return InputError(_CODE, f"The record of a flaky test is malformed: {what}.")
