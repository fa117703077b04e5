"""What a run came to: how it ended, which results came back, and its output as harmless text."""

from __future__ import annotations

import functools

from gatekeeper.adapters.bubblewrap_sandbox import cgroups, command, process
from gatekeeper.adapters.bubblewrap_sandbox.runners import structured
from gatekeeper.domain.ports import RunRequest
from gatekeeper.domain.testrun import Session, SuiteReport, Termination
from gatekeeper.errors import InputError
from gatekeeper.formats.junit_xml import parse_junit
from gatekeeper.records import replace


def guarantee(request: RunRequest, recorded: bool, reported: bool) -> str:
    """How far the results of a run can be believed, in the words of the report."""
    if recorded:
        return "recorded"
    if reported:
        return "structured" if structured(request.suite.runner) is not None else "reported"
    return "exit_status"


def termination(request: RunRequest, seen: process.Seen, group: cgroups.Group | None) -> tuple[Termination, int | None]:
    """How a run ended, and its exit status where it ended by itself."""
    code = seen.returncode
    if seen.flooded:
        return Termination.OUTPUT_FLOOD, None
    if seen.timed_out:
        return Termination.TIMED_OUT, None
    if seen.crowded:
        return Termination.OUT_OF_MEMORY, None  # files inside are memory, however empty they are
    if code != 0 and group is not None:
        if group.out_of_memory:
            return Termination.OUT_OF_MEMORY, None
        if group.out_of_processes:
            return Termination.TOO_MANY_PROCESSES, None
    # bubblewrap says 128+n for a signal; pytest itself never ends with such a status.
    if code < 0 or (code > 128 and request.suite.runner == "pytest"):
        return Termination.SIGNALLED, None
    return Termination.EXITED, code


def checked(sessions: list[Session], request: RunRequest, exit_code: int | None) -> list[Session]:
    """For a structured run the recorded status must be that of the process; an opaque command may have many."""
    if request.suite.runner != "pytest" or exit_code is None:
        return sessions
    return [
        replace(s, complete=False, problems=(*s.problems, f"recorded status {s.exit_code}, process {exit_code}"))
        if s.exit_code != exit_code
        else s
        for s in sessions
    ]


def received(
    request: RunRequest, files: list[bytes]
) -> tuple[tuple[bytes, ...], tuple[SuiteReport, ...], tuple[tuple[str, str], ...]]:
    """(files of the gate's own program, reports, faults of reports)."""
    if request.program:
        return tuple(files), (), ()
    runner = structured(request.suite.runner)
    if runner is None:
        return (), *_parsed(files)
    if len(files) != 1:
        return (), (), (("REPORT_MISSING", f"The runner {request.suite.runner} left no events."),)
    if len(files[0]) > command.MAX_REPORT_BYTES:
        return (), (), (("INPUT_TOO_LARGE", f"The events have more than {command.MAX_REPORT_BYTES} bytes."),)
    try:
        return (), runner.reports(files[0], request), ()
    except InputError as error:
        return (), (), ((error.code, error.message),)


def _parsed(files: list[bytes]) -> tuple[tuple[SuiteReport, ...], tuple[tuple[str, str], ...]]:
    reports, faults = [], []
    if len(files) > command.MAX_REPORTS:
        faults.append(("INPUT_TOO_LARGE", f"There are more than {command.MAX_REPORTS} reports."))
        files = files[: command.MAX_REPORTS]
    for data in files:
        if len(data) > command.MAX_REPORT_BYTES:
            faults.append(("INPUT_TOO_LARGE", f"A report has more than {command.MAX_REPORT_BYTES} bytes."))
            continue
        try:
            reports.append(parse_junit(data))
        except InputError as error:
            faults.append((error.code, error.message))
    return tuple(reports), tuple(faults)


@functools.cache
def _controls() -> dict[int, str]:
    return {c: "\N{REPLACEMENT CHARACTER}" for c in (*range(32), *range(127, 160)) if chr(c) not in "\n\t"}


def harmless(tail: bytes) -> str:
    """Output as text: control characters, and so every terminal sequence, made visible and powerless."""
    return tail.decode("utf-8", "replace").replace("\r\n", "\n").translate(_controls())
