"""The results of a measurement as the program in the sandbox writes them: lines of JSON, hostile, parsed strictly."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gatekeeper.errors import InputError
from gatekeeper.records import dataclass, field

MAX_BYTES = 8 * 1024 * 1024
MAX_LINES = 20_000
MAX_TEXT = 2000
MAX_VALUE = 200
MAX_NUMBER = 10**9


@dataclass(frozen=True, slots=True)
class Probe:
    """One changed statement: how many tests reach it, and some of them by name."""

    tests: int
    named: tuple[str, ...]
    at_import: bool


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutant: killed, survived, timeout, not_reached, budget or no_effect; and the first test that failed."""

    result: str
    test: str = ""
    by_assertion: bool = False
    """The test failed because of what it asserts."""
    value: str = ""
    """What the first value that it changed became, in words of the tested process."""


@dataclass
class Measurement:
    """Everything that was measured in one sandbox."""

    cover: str = ""
    """ran, timeout or crash; empty where it never came to that."""
    control: str = ""
    """ran, none, timeout or crash; empty likewise."""
    tests: int = 0
    passed: int = 0
    excluded: int = 0
    error: str = ""
    probes: dict[int, Probe] = field(default_factory=dict)
    elsewhere: frozenset[int] = frozenset()
    trials: dict[int, Trial] = field(default_factory=dict)


def parse_measurement(data: bytes, *, probes: int, mutants: int) -> Measurement:
    """Read the results of a job with so many probes and mutants.

    Raises `InputError` (MEASUREMENT_MALFORMED) for anything that the program does not write: too large, no JSON, unknown
    records, numbers out of range, a second result of one mutant, an end that is missing or counts otherwise.
    """
    found = Measurement()
    seen: set[str] = set()
    count = 0
    for count, row in enumerate(_rows(data), 1):
        if "end" in seen:
            raise _bad("records after the end")
        kind = _text(row, "k", 20)
        if kind in ("start", "cover", "control", "elsewhere", "error", "end"):
            if kind in seen:
                raise _bad(f"a second {kind} record")
            seen.add(kind)
        _take(found, kind, row, probes, mutants)
        if kind == "end" and _number(row, "n") != count - 1:
            raise _bad("the end counts other records than came")
    if "end" not in seen:
        raise _bad("the end is missing")
    if not found.error and "start" not in seen:
        raise _bad("the start is missing")
    return found


def _take(found: Measurement, kind: str, row: Mapping[str, Any], probes: int, mutants: int) -> None:
    if kind == "start":
        _text(row, "pytest", 100)
        _text(row, "python", 100)
    elif kind == "cover":
        found.cover = _word(row, "r", ("ran", "timeout", "crash"))
        found.tests = _number(row, "n")
        found.passed = _number(row, "passed") if found.cover == "ran" else 0
    elif kind == "control":
        found.control = _word(row, "r", ("ran", "none", "timeout", "crash"))
        found.excluded = _number(row, "excluded")
    elif kind == "probe":
        number = _number(row, "p", probes)
        if number in found.probes:
            raise _bad("a second result of one statement")
        found.probes[number] = Probe(_number(row, "n"), tuple(_texts(row, "t", 40)), _truth(row, "i"))
    elif kind == "elsewhere":
        found.elsewhere = frozenset(_numbers(row, "p", probes))
    elif kind in ("mutant", "skip"):
        number = _number(row, "m", mutants)
        if number in found.trials:
            raise _bad("a second result of one mutant")
        if kind == "skip":
            found.trials[number] = Trial(_word(row, "r", ("not_reached", "budget", "no_effect")))
        else:
            found.trials[number] = Trial(
                _word(row, "r", ("killed", "survived", "timeout")),
                _text(row, "t"),
                _truth(row, "a"),
                _text(row, "v", MAX_VALUE) if "v" in row else "",
            )
    elif kind == "error":
        found.error = _text(row, "what")
    elif kind != "end":
        raise _bad("a record of unknown kind")


def _bad(why: str) -> InputError:
    return InputError("MEASUREMENT_MALFORMED", f"The results of the measurement cannot be used: {why}.")


def _rows(data: bytes) -> Iterator[dict[str, Any]]:
    if len(data) > MAX_BYTES:
        raise _bad(f"they have more than {MAX_BYTES} bytes")
    lines = data.split(b"\n")
    if lines[-1]:
        raise _bad("the last line is cut off")
    if len(lines) > MAX_LINES:
        raise _bad(f"they have more than {MAX_LINES} lines")
    for line in lines[:-1]:
        try:
            row = json.loads(line.decode("ascii"), parse_constant=_refused)
        except (ValueError, RecursionError):
            raise _bad("a line is no JSON") from None
        if not isinstance(row, dict):
            raise _bad("a line is no object")
        yield row


def _refused(name: str) -> float:
    raise ValueError(name)


def _text(row: Mapping[str, Any], name: str, limit: int = MAX_TEXT) -> str:
    return _one_text(row.get(name), limit)


def _one_text(value: object, limit: int) -> str:
    if not isinstance(value, str) or len(value) > limit or "\0" in value:
        raise _bad("a text is missing, too long or holds a NUL")
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _texts(row: Mapping[str, Any], name: str, most: int) -> list[str]:
    value = row.get(name)
    if not isinstance(value, list) or len(value) > most:
        raise _bad("a list is missing or too long")
    return [_one_text(v, MAX_TEXT) for v in value]


def _word(row: Mapping[str, Any], name: str, words: tuple[str, ...]) -> str:
    value = row.get(name)
    if value not in words or not isinstance(value, str):
        raise _bad("a result is an unknown word")
    return value


def _number(row: Mapping[str, Any], name: str, below: int = MAX_NUMBER) -> int:
    return _one_number(row.get(name), below)


def _one_number(value: object, below: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < below:
        raise _bad("a number is missing or out of range")
    return value


def _numbers(row: Mapping[str, Any], name: str, below: int) -> list[int]:
    value = row.get(name)
    if not isinstance(value, list) or len(value) > MAX_LINES:
        raise _bad("a list is missing or too long")
    return [_one_number(v, below) for v in value]


def _truth(row: Mapping[str, Any], name: str) -> bool:
    value = row.get(name)
    if not isinstance(value, bool):
        raise _bad("a truth value is missing")
    return value
