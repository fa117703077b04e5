"""JUnit XML to a `SuiteReport`: no DOCTYPE, no entities, capped in size, depth and count; recounted, never believed.

The XML libraries are imported where a report is read: most of what a check needs from here does without them.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from typing import Any

from gatekeeper.domain.testrun import CaseResult, Outcome, SuiteReport
from gatekeeper.errors import InputError

CODE = "CLAIM_REPORT_MALFORMED"
MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 16
MAX_CASES = 100_000
MAX_DETAIL = 4000
TOTALS = ("tests", "failures", "errors", "skipped")


def parse_junit(data: bytes) -> SuiteReport:
    """Parse a report. Raises `InputError` (CLAIM_REPORT_MALFORMED) for anything that is not a plain JUnit document.

    Case ids are `classname::name` as the document has them (`name` alone where there is no class name).
    """
    from junitparser import JUnitXmlError

    root = _tree(data)
    if root.tag not in ("testsuites", "testsuite"):
        raise InputError(
            CODE, f"The report's root element is {str(root.tag)[:60]!r}; testsuites or testsuite is expected."
        )
    try:
        node = _of_node(root)
        cases = tuple(_case(element, suites if node else None) for element, suites in _elements(root, (), 0))
    except (JUnitXmlError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise InputError(CODE, f"The report cannot be read as JUnit XML: {error}.") from error
    if len(cases) > MAX_CASES:
        raise InputError(CODE, f"The report has {len(cases)} cases; at most {MAX_CASES} are read.")
    top = [root] if root.tag == "testsuite" else [e for e in root if e.tag == "testsuite"]
    stated = {} if node else _stated(top) or _stated([root])
    name = str(root.get("name") or (top[0].get("name") if top else "") or "")
    stamp = next((str(e.get("timestamp")) for e in top if e.get("timestamp")), None)
    return SuiteReport(name[:200], cases, stated, stamp)


def _tree(data: bytes) -> Any:
    if len(data) > MAX_BYTES:
        raise InputError(CODE, f"The report has {len(data)} bytes; at most {MAX_BYTES} are read.")
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import iterparse

    depth = count = 0
    root = None
    try:
        for event, element in iterparse(
            BytesIO(data), events=("start", "end"), forbid_dtd=True, forbid_entities=True, forbid_external=True
        ):
            if event == "end":
                depth -= 1
                continue
            root = element if root is None else root
            depth += 1
            count += 1
            if depth > MAX_DEPTH or count > MAX_CASES * 4:
                raise InputError(CODE, f"The report is nested deeper than {MAX_DEPTH} levels or has too many elements.")
    except DefusedXmlException:
        raise InputError(
            CODE, "The report holds a DOCTYPE or an entity declaration; no test runner writes one.", attack="entity"
        ) from None
    except (ParseError, ValueError, LookupError, OverflowError) as error:
        raise InputError(CODE, f"The report is not well-formed XML: {error}.") from None
    if root is None:
        raise InputError(CODE, "The report is empty.")
    return root


def _elements(element: Any, suites: tuple[str, ...], depth: int) -> Iterable[tuple[Any, tuple[str, ...]]]:
    """Every test case once, with the names of the suites around it."""
    for child in element:
        if child.tag == "testcase":
            yield child, suites
        elif child.tag == "testsuite" and depth < MAX_DEPTH:
            yield from _elements(child, (*suites, str(child.get("name") or "")), depth + 1)


def _of_node(root: Any) -> bool:
    """Written by node:test: suites nest, tests stand beside suites, and no header counts them all.

    The class name of a test is `test`, or (Node.js 24) the names of the suites around it joined by dots.
    """
    if root.tag != "testsuites" or root.attrib or any("disabled" not in e.attrib for e in root.iter("testsuite")):
        return False
    return all(e.get("classname") in ("test", "suite", ".".join(suites)) for e, suites in _elements(root, (), 0))


def _case(element: Any, suites: tuple[str, ...] | None) -> CaseResult:
    from junitparser import Error, Failure, Skipped, TestCase

    case: Any = TestCase.fromelem(element)  # type: ignore[no-untyped-call]
    name, owner = str(case.name or ""), str(case.classname or "")
    if suites is not None:
        owner, name = "test", " > ".join([*suites, name])
    outcome, detail = Outcome.PASSED, ""
    rank = {Outcome.PASSED: 0, Outcome.SKIPPED: 1, Outcome.FAILED: 2, Outcome.ERRORED: 3}
    for result in case.result:
        kind = (
            Outcome.FAILED
            if isinstance(result, Failure)
            else Outcome.ERRORED
            if isinstance(result, Error)
            else Outcome.SKIPPED
            if isinstance(result, Skipped)
            else None
        )
        if kind is Outcome.SKIPPED and result.type == "todo":
            outcome, detail = kind, "todo"
            break  # its failure is no failure
        if kind is not None and rank[kind] > rank[outcome]:
            outcome = kind
            detail = f"{result.message or ''}\n{result.text or ''}".strip()[:MAX_DETAIL]
    duration = case.time
    if duration is not None and not (isinstance(duration, int | float) and math.isfinite(duration) and duration >= 0):
        duration = None
    return CaseResult(f"{owner}::{name}" if owner else name, outcome, detail, duration)


def _stated(elements: list[Any]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for element in elements:
        for key in TOTALS:
            text = element.get(key)
            if text is None:
                continue
            if not re.fullmatch(r"\s*\d{1,9}\s*", text):
                raise InputError(CODE, f"The report's total {key}={text[:20]!r} is not a number.")
            totals[key] = totals.get(key, 0) + int(text)
    return totals


def contradictions(report: SuiteReport) -> tuple[str, ...]:
    """Where the stated totals and the cases disagree, in words; empty for a report that agrees with itself.

    A header that counts more tests than there are cases is no contradiction: pytest counts subtests there and writes no
    case for them. Cases that were taken out show in the comparison with the gate's own run instead.
    """
    counts = Counter(c.outcome for c in report.cases)
    seen = {
        "tests": len(report.cases),
        "failures": counts[Outcome.FAILED],
        "errors": counts[Outcome.ERRORED],
        "skipped": counts[Outcome.SKIPPED],
    }
    return tuple(
        f"its header states {key}={report.stated[key]}, its cases show {seen[key]}"
        for key in TOTALS
        if key in report.stated
        and report.stated[key] != seen[key]
        and not (key == "tests" and report.stated[key] > seen[key] > 0)
    )


def surplus(report: SuiteReport) -> int:
    """How many tests the header counts beyond the cases: subtests, or cases that were taken out."""
    return max(0, report.stated.get("tests", 0) - len(report.cases))


_ESCAPED = re.compile(r"#x[0-9A-Fa-f]{1,6}|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\[nrt\\]|[\x00-\x20\x7f-\x9f]")


def junit_key(test_id: str) -> tuple[str, str]:
    """(class name, name) under which pytest writes a test id to JUnit XML, made robust against escapes.

    `tests/test_a.py::TestX::test_y[p]` is `("tests.test_a.TestX", "test_y[p]")`; an id that is already
    `classname::name` stays so. Control characters and their escapes compare as one mark, since runners differ in them.
    """
    head, bracket, parameters = test_id.partition("[")
    parts = head.split("::")
    path = parts[0]
    module = path.endswith(".py")
    path = path.removesuffix(".py")
    if len(parts) == 1:
        # A module that could not be collected, or was skipped as a whole.
        owner, name = "", path.replace("/", ".") if module else path
    else:
        owner, name = ".".join([path.replace("/", "."), *parts[1:-1]]), parts[-1]
    return _ESCAPED.sub("\ufffd", owner), _ESCAPED.sub("\ufffd", name + bracket + parameters)
