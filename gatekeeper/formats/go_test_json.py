"""What `go test -json` wrote (the events of cmd/test2json) to results test by test.

The events are made from what the tested process prints, so they are its claim. What can be seen of a process that ended
before its tests did is taken for what it is: a test that started and never ended, a package that says `ok` although the
testing package never said PASS. Format: https://pkg.go.dev/cmd/test2json
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

from gatekeeper.domain.testrun import CaseResult, Outcome, SuiteReport
from gatekeeper.errors import InputError
from gatekeeper.records import dataclass, field

CODE = "GO_EVENTS_MALFORMED"
MAX_BYTES = 16 * 1024 * 1024
MAX_EVENTS = 500_000
MAX_TESTS = 100_000
MAX_PACKAGES = 5_000
MAX_NAME = 2_000
MAX_DETAIL = 4_000
_KEPT = 16_000
"""Characters of output kept of one test while reading."""
_ENDS = {"pass": Outcome.PASSED, "fail": Outcome.FAILED, "skip": Outcome.SKIPPED, "bench": Outcome.PASSED}
_MARKS = {"pass": "--- PASS: ", "skip": "--- SKIP: "}


class PackageEnd(StrEnum):
    """How a package ended, apart from its tests."""

    PASSED = "passed"
    FAILED = "failed"
    NO_TEST_FILES = "no_test_files"
    NO_TESTS_TO_RUN = "no_tests_to_run"
    """The filter of the command let no test run."""
    BUILD_FAILED = "build_failed"
    SILENT = "silent"
    """It says ok, and the testing package never reported: TestMain did not run the tests, or the process was ended."""
    UNFINISHED = "unfinished"
    """No end at all."""


@dataclass(frozen=True, slots=True)
class GoTest:
    """One run of one test, example or fuzz target with its seeds; subtests are tests of their own."""

    name: str
    outcome: Outcome
    detail: str = ""
    duration_s: float | None = None


@dataclass(frozen=True)
class GoPackage:
    """One package of the run."""

    path: str
    """Import path."""
    end: PackageEnd
    tests: tuple[GoTest, ...] = ()
    detail: str = ""

    @property
    def fault(self) -> str:
        """What is wrong with the package beyond its tests; empty where nothing is."""
        if self.end is PackageEnd.BUILD_FAILED:
            return "the package does not build"
        bad = any(t.outcome in (Outcome.FAILED, Outcome.ERRORED) for t in self.tests)
        if bad:
            return ""  # its tests say it
        if self.end is PackageEnd.SILENT:
            return "the package says ok, but its tests never reported their end: the process ended before, or TestMain does not run them"
        if self.end is PackageEnd.UNFINISHED:
            return "the package never ended"
        return "the package failed outside its tests" if self.end is PackageEnd.FAILED else ""


@dataclass
class _Test:
    output: list[str] = field(default_factory=list)
    size: int = 0
    marks: set[str] = field(default_factory=set)


@dataclass
class _Package:
    open: dict[str, list[_Test]] = field(default_factory=dict)
    done: list[GoTest] = field(default_factory=list)
    output: list[str] = field(default_factory=list)
    size: int = 0
    end: str = ""
    failed_build: str = ""
    said_pass: bool = False


def parse_go_test(data: bytes) -> tuple[GoPackage, ...]:
    """Parse the events of one run. Raises `InputError` (GO_EVENTS_MALFORMED) for what `go test` does not write."""
    if len(data) > MAX_BYTES:
        raise InputError(CODE, f"The events of go test have {len(data)} bytes; at most {MAX_BYTES} are read.")
    packages: dict[str, _Package] = {}
    builds: dict[str, list[str]] = {}
    tests = 0
    lines = data.split(b"\n")
    if len(lines) > MAX_EVENTS:
        raise InputError(CODE, f"There are more than {MAX_EVENTS} events of go test.")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        event = _event(line, number)
        action = _text(event, "Action", number)
        if action.startswith("build-"):
            if action == "build-output":
                kept = builds.setdefault(_text(event, "ImportPath", number), [])
                if len(kept) < 200:
                    kept.append(_text(event, "Output", number)[:2000])
            continue
        name = _text(event, "Package", number)
        if not name:
            continue
        package = packages.setdefault(name, _Package())
        if len(packages) > MAX_PACKAGES:
            raise InputError(CODE, f"There are more than {MAX_PACKAGES} packages in the events of go test.")
        test = _text(event, "Test", number)
        if test:
            tests += action == "run"
            if tests > MAX_TESTS or len(package.done) > MAX_TESTS:
                raise InputError(CODE, f"There are more than {MAX_TESTS} tests in the events of go test.")
            _test_event(package, test, action, event, number)
        else:
            _package_event(package, action, event, number)
    return tuple(_finished(name, package, builds) for name, package in packages.items())


def _event(line: bytes, number: int) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise InputError(CODE, f"Line {number} of the events of go test is not a JSON object.")
    return event


def _text(event: dict[str, Any], key: str, number: int) -> str:
    value = event.get(key, "")
    if not isinstance(value, str) or (key != "Output" and len(value) > MAX_NAME):
        raise InputError(CODE, f"{key} in line {number} of the events of go test is not a text of usual length.")
    return value


def _elapsed(event: dict[str, Any]) -> float | None:
    value = event.get("Elapsed")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _test_event(package: _Package, name: str, action: str, event: dict[str, Any], number: int) -> None:
    running = package.open.setdefault(name, [])
    if action == "run":
        running.append(_Test())
        return
    if action == "output":
        text = _text(event, "Output", number)
        if not running:
            running.append(_Test())
        test = running[-1]
        for end, mark in _MARKS.items():
            # With a flush in between a mark stands behind what the test printed last.
            if mark + name in text:
                test.marks.add(end)
        if not text.startswith(("=== RUN", "=== PAUSE", "=== CONT", "=== NAME")) and test.size < _KEPT:
            test.output.append(text)
            test.size += len(text)
        return
    if action in _ENDS:
        test = running.pop(0) if running else _Test()
        outcome, detail = _ENDS[action], "".join(test.output)[-MAX_DETAIL:]
        if action in _MARKS and action not in test.marks:
            outcome = Outcome.ERRORED
            detail = f"The test started and never ended: the process ended while it ran.\n{detail}"[:MAX_DETAIL]
        elif outcome is Outcome.PASSED:
            detail = ""
        package.done.append(GoTest(name, outcome, detail, _elapsed(event)))


def _package_event(package: _Package, action: str, event: dict[str, Any], number: int) -> None:
    if action == "output":
        text = _text(event, "Output", number)
        package.said_pass |= text.rstrip("\n").endswith("PASS")
        if package.size < _KEPT:
            package.output.append(text)
            package.size += len(text)
    elif action in ("pass", "fail", "skip"):
        # The worst of several ends holds: one process reports one end.
        package.end = "fail" if "fail" in (action, package.end) else package.end or action
        package.failed_build = _text(event, "FailedBuild", number) or package.failed_build


def _finished(name: str, package: _Package, builds: dict[str, list[str]]) -> GoPackage:
    output = "".join(package.output)
    tests = list(package.done)
    for test, running in package.open.items():
        for left in running:
            text = "".join(left.output)
            why = "The test started and never ended.\n"
            tests.append(GoTest(test, Outcome.ERRORED, (why + (text or output))[-MAX_DETAIL:]))
    end = _end(package, output, tests)
    detail = output
    if end is PackageEnd.BUILD_FAILED:
        said = builds.get(package.failed_build) or [
            line for key, lines in builds.items() if key == name or key.startswith(f"{name} [") for line in lines
        ]
        detail = "".join(said) or output
        return GoPackage(name, end, tuple(tests), detail[:MAX_DETAIL])
    return GoPackage(name, end, tuple(tests), detail[-MAX_DETAIL:])


def _end(package: _Package, output: str, tests: list[GoTest]) -> PackageEnd:
    if package.end == "fail":
        built = not package.failed_build and "[build failed]" not in output and "[setup failed]" not in output
        return PackageEnd.FAILED if built or tests else PackageEnd.BUILD_FAILED
    untested = "[no test files]" in output or (output.startswith("\t") and "coverage: 0.0% of statements" in output)
    if not tests and not package.said_pass and untested:
        return PackageEnd.NO_TEST_FILES
    if not package.end:
        return PackageEnd.UNFINISHED
    if not package.said_pass:
        return PackageEnd.SILENT
    if not tests:
        return PackageEnd.NO_TESTS_TO_RUN if "no tests to run" in output else PackageEnd.PASSED
    return PackageEnd.PASSED


Place = Callable[[str, str], tuple[str, str | None, int | None]]
"""(import path, name of a test, empty for the package) -> (path for the id, file, line)."""


def suite_reports(
    packages: Iterable[GoPackage], place: Place, modules: Callable[[str], Iterable[str]]
) -> tuple[SuiteReport, ...]:
    """One report a package that has something to tell; always at least one, so that a run without tests is seen as such.

    `modules` gives the paths that stand for a package as a whole: the files of its tests. A fault of the package is an
    error of each of them, as that of a module that cannot be loaded.
    """
    reports = []
    for package in packages:
        cases = []
        for test in package.tests:
            path, file, line = place(package.path, test.name)
            cases.append(CaseResult(f"{path}::{test.name}", test.outcome, test.detail, test.duration_s, file, line))
        if fault := package.fault:
            detail = f"{fault[0].upper()}{fault[1:]}.\n{package.detail}"[:MAX_DETAIL]
            paths = list(modules(package.path)) or [place(package.path, "")[0]]
            cases += [CaseResult(p, Outcome.ERRORED, detail, None, p if p.endswith(".go") else None) for p in paths]
        if cases:
            reports.append(SuiteReport(package.path, tuple(cases)))
    return tuple(reports) or (SuiteReport("go test", ()),)
