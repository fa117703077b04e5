"""What the reporters of node:test, jest and vitest leave behind: JSON lines to a `SuiteReport`.

The first line says what it is, the last how many results there are; each line between is one result. The file is written
by the runner's process inside the sandbox, so it is hostile: a file that is cut short, spliced or over a cap is refused
as a whole.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from gatekeeper.domain.testrun import CaseResult, Outcome, SuiteReport
from gatekeeper.errors import InputError
from gatekeeper.formats import strict_json
from gatekeeper.formats.fields import Fields

CODE = "REPORT_UNREADABLE"
VERSION = 1
MAX_BYTES = 16 * 1024 * 1024
MAX_LINE = 128 * 1024
MAX_CASES = 100_000
MAX_DETAIL = 4000
MAX_NAMES = 64
MAX_ID = 4000
SEPARATOR = " > "
"""Between the names of suites and the name of a test in an id: `path::suite > test`."""

_OUTCOMES = frozenset(o.value for o in Outcome)
_UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]+")


def parse_node_events(data: bytes, *, runner: str, workdir: str = ".") -> SuiteReport:
    """Parse one file. Raises `InputError` (`CODE`) for anything that a whole run of `runner` does not leave.

    Ids are `path::suite > test`, the path relative to the root of the tree; the path alone for a file as a whole (it did
    not load, or is a program without tests of its own). The same id may stand there more than once.
    """
    if len(data) > MAX_BYTES:
        raise _refused(f"they have {len(data)} bytes, at most {MAX_BYTES} are read")
    lines = data.split(b"\n")
    if len(lines) < 3 or lines[-1]:
        raise _refused("they are cut short")
    if len(lines) > MAX_CASES + 3:
        raise _refused(f"they hold more than {MAX_CASES} results")
    first = _record(lines[0])
    first.only("gatekeeper", "runner")
    if first.integer("gatekeeper") != VERSION or first.text("runner", limit=20) != runner:
        raise _refused(f"they do not begin as those of {runner}")
    last = _record(lines[-2])
    last.only("end", "success")
    if last.integer("end") != len(lines) - 3:
        raise _refused("their end does not count the results before it")
    success = last.flag("success")
    cases = tuple(_case(_record(line), workdir) for line in lines[1:-2])
    if success and any(c.outcome in (Outcome.FAILED, Outcome.ERRORED) for c in cases):
        raise _refused("their end says success and a result says failure")
    return SuiteReport(runner, cases, {"tests": len(cases)})


def case_id(path: str, names: tuple[str, ...]) -> str:
    """`path::suite > test`; names are made printable, and their white space is one blank, as in reports people read."""
    shown = [" ".join(_UNSAFE.sub(" ", n).split()) or "(no name)" for n in names]
    return f"{path}::{SEPARATOR.join(shown)}"[:MAX_ID] if shown else path


def _record(line: bytes) -> Fields:
    parsed: Any = strict_json.loads(line, what="run's events", code=CODE, max_bytes=MAX_LINE, max_depth=3)
    return Fields(parsed, what="run's event", code=CODE)


def _case(record: Fields, workdir: str) -> CaseResult:
    record.only("file", "names", "outcome", "line", "ms", "text")
    path = _path(record.text("file", limit=4096, required=True), workdir)
    names = record.texts("names", limit=MAX_NAMES, length=4000)
    word = record.text("outcome", limit=20, required=True)
    if word not in _OUTCOMES:
        raise record.refuse("outcome", f"one of {', '.join(Outcome)}")
    line = record.integer("line", low=1, high=10**9)
    duration = record.number("ms")
    return CaseResult(
        id=case_id(path, names),
        outcome=Outcome(word),
        detail=record.text("text", limit=MAX_DETAIL * 2)[:MAX_DETAIL],
        duration_s=None if duration is None else duration / 1000,
        file=path,
        line=line,
    )


def _path(given: str, workdir: str) -> str:
    path = posixpath.normpath(posixpath.join(workdir, given))
    if path.startswith(("/", "../")) or path in (".", "..") or _UNSAFE.search(path):
        raise _refused(f"they name the file {given[:200]!r}, which is not one of the tree")
    return path


def _refused(why: str) -> InputError:
    return InputError(CODE, f"The events that the runner left cannot be used: {why}.")
