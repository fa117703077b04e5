"""semgrep's JSON report, read strictly: a report that is not whole proves nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gatekeeper.errors import InputError
from gatekeeper.records import dataclass, field

MAX_BYTES = 64 * 1024 * 1024
MAX_RESULTS = 20_000


@dataclass(frozen=True)
class SemgrepMatch:
    """One result. `path` is as the tool was given it; lines are 1-based."""

    rule: str
    path: str
    line: int
    end_line: int
    message: str
    severity: str
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SemgrepFault:
    """One entry of `errors`: `kind` is the tool's own word (Timeout, PartialParsing, ...), `path` where it names one."""

    kind: str
    path: str | None
    message: str


@dataclass(frozen=True)
class SemgrepReport:
    """A whole report."""

    matches: tuple[SemgrepMatch, ...]
    scanned: tuple[str, ...]
    faults: tuple[SemgrepFault, ...]


def parse_semgrep(data: bytes) -> SemgrepReport:
    """Parse the output of `semgrep scan --json`.

    Raises `InputError` (INPUT_TOO_LARGE, INPUT_MALFORMED) unless results, errors and paths.scanned are all there.
    """
    if len(data) > MAX_BYTES:
        raise InputError("INPUT_TOO_LARGE", f"The code scanner's report is over {MAX_BYTES} bytes.")
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError("INPUT_MALFORMED", "The code scanner's report is not JSON.") from error
    root = _map(document, "the report")
    results = _list(root.get("results"), "results")
    if len(results) > MAX_RESULTS:
        raise InputError("INPUT_TOO_LARGE", f"The code scanner reports over {MAX_RESULTS} results.")
    scanned = _list(_map(root.get("paths"), "paths").get("scanned"), "paths.scanned")
    return SemgrepReport(
        tuple(_match(r) for r in results),
        tuple(_text(p, "paths.scanned[]") for p in scanned),
        tuple(_fault(e) for e in _list(root.get("errors"), "errors")),
    )


def _match(value: Any) -> SemgrepMatch:
    row = _map(value, "results[]")
    extra = _map(row.get("extra"), "results[].extra")
    meta = _map(extra.get("metadata", {}), "results[].extra.metadata")
    return SemgrepMatch(
        rule=_text(row.get("check_id"), "results[].check_id"),
        path=_text(row.get("path"), "results[].path"),
        line=_line(row.get("start")),
        end_line=_line(row.get("end")),
        message=_text(extra.get("message"), "results[].extra.message"),
        severity=_text(extra.get("severity"), "results[].extra.severity"),
        metadata={str(k): str(v) for k, v in meta.items()},
    )


def _fault(value: Any) -> SemgrepFault:
    row = _map(value, "errors[]")
    kind = row.get("type")
    while isinstance(kind, list) and kind:
        kind = kind[0]
    path = row.get("path")
    return SemgrepFault(
        kind if isinstance(kind, str) else "unknown",
        path if isinstance(path, str) else None,
        str(row.get("message", ""))[:300],
    )


def _line(value: Any) -> int:
    line = _map(value, "results[].start").get("line")
    if not isinstance(line, int) or isinstance(line, bool) or line < 1:
        raise _bad("a line", "a positive whole number")
    return line


def _map(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _bad(what, "an object")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise _bad(what, "a list")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise _bad(what, "text")
    return value


def _bad(what: str, expected: str) -> InputError:
    return InputError("INPUT_MALFORMED", f"In the code scanner's report {what} is not {expected}.")
