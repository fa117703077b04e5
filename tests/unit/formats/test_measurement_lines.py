"""Results of a measurement: what the gate's program writes is read, anything else is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gatekeeper.errors import InputError
from gatekeeper.formats.measurement_lines import MAX_BYTES, MAX_LINES, Measurement, parse_measurement

START = {"k": "start", "pytest": "9.2.0", "python": "3.11.2"}
COVER = {"k": "cover", "r": "ran", "wall": 1.0, "n": 3, "passed": 3}
PROBE = {"k": "probe", "p": 0, "n": 1, "t": ["tests/test_a.py::test"], "i": False}
CONTROL = {"k": "control", "r": "ran", "wall": 1.0, "n": 3, "excluded": 1}
KILLED = {"k": "mutant", "m": 0, "r": "killed", "n": 1, "t": "tests/test_a.py::test", "a": True, "wall": 0.1}
SKIPPED = {"k": "skip", "m": 1, "r": "budget"}
GOOD: list[dict[str, Any]] = [START, COVER, PROBE, CONTROL, KILLED, SKIPPED]


def lines(rows: list[Any], end: int | None = None) -> bytes:
    ended = [*rows, {"k": "end", "n": len(rows) if end is None else end, "wall": 1.0}]
    return b"".join(json.dumps(r).encode() + b"\n" for r in ended)


def parsed(data: bytes) -> Measurement:
    return parse_measurement(data, probes=2, mutants=2)


def test_what_the_program_writes_is_read() -> None:
    found = parsed(lines(GOOD))
    assert (found.cover, found.control, found.tests, found.passed, found.excluded) == ("ran", "ran", 3, 3, 1)
    assert found.probes[0].named == ("tests/test_a.py::test",)
    assert {n: t.result for n, t in found.trials.items()} == {0: "killed", 1: "budget"}


def test_an_early_end_with_its_reason_is_read() -> None:
    assert parsed(lines([{"k": "error", "what": "ImportError: pytest"}])).error == "ImportError: pytest"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        lines(GOOD)[:-1],
        lines(GOOD, end=2),
        lines(GOOD) + b"{}\n",
        lines([*GOOD, KILLED]),
        lines([*GOOD, PROBE]),
        lines([*GOOD, COVER]),
        lines(GOOD[1:]),
        lines([*GOOD, []]),
        lines([*GOOD, {"k": "other"}]),
        lines([*GOOD, {"k": "mutant", "m": 2, "r": "killed", "t": ""}]),
        lines([*GOOD, {**SKIPPED, "m": True}]),
        lines([START, {**KILLED, "r": "fine"}]),
        lines([START, {**KILLED, "t": "x" * 3000}]),
        lines([START, {**PROBE, "t": ["x"] * 50}]),
        lines([START, {**PROBE, "p": -1}]),
        lines([START, {**PROBE, "n": 1.5}]),
        lines([START, {"k": "elsewhere", "p": [7]}]),
        lines([START, {**KILLED, "a": 1}]),
        b'{"k": "start", "pytest": NaN, "python": "3"}\n' + lines([]),
        b"[" * 100_000 + b"\n",
        b"x" * (MAX_BYTES + 1),
        b"{}\n" * (MAX_LINES + 1),
    ],
)
def test_anything_else_is_refused_with_its_code(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        parsed(data)
    assert caught.value.code == "MEASUREMENT_MALFORMED"


def test_what_a_value_became_is_read_and_bounded() -> None:
    assert parsed(lines([START, {**KILLED, "v": "41 became 42"}])).trials[0].value == "41 became 42"
    assert parsed(lines([START, KILLED])).trials[0].value == ""
    for wrong in ("x" * 300, 41, None, "a\0b"):
        with pytest.raises(InputError):
            parsed(lines([START, {**KILLED, "v": wrong}]))
