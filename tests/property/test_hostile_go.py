"""Go's files and events as hostile bytes: typed errors alone, and work that stays in bounds."""

from __future__ import annotations

import contextlib
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.domain.testrun import Outcome
from gatekeeper.errors import InputError
from gatekeeper.formats.go_mod import parse_go_mod
from gatekeeper.formats.go_test_json import parse_go_test, suite_reports
from gatekeeper.formats.go_tests import read_go_tests
from gatekeeper.formats.go_tokens import tokens
from gatekeeper.formats.tool_output import complaints, missing_tool

ACTIONS = st.sampled_from(
    ["start", "run", "pause", "cont", "pass", "fail", "skip", "output", "bench", "build-output", "attr", ""]
)
TEXT = st.one_of(
    st.text(max_size=20), st.sampled_from(["PASS\n", "--- PASS: TestA (0.00s)\n", "ok  \tp\t0.1s\n", "[no test files]"])
)
EVENT = st.fixed_dictionaries(
    {"Action": ACTIONS},
    optional={
        "Package": st.sampled_from(["p", "q", ""]), "Test": st.sampled_from(["TestA", "TestA/b", ""]), "Output": TEXT,
        "Elapsed": st.one_of(st.none(), st.floats(), st.integers(), st.text(max_size=3), st.booleans()),
        "ImportPath": st.sampled_from(["p", "p [p.test]"]), "FailedBuild": st.sampled_from(["", "p [p.test]"]),
    },
)  # fmt: skip
GO = st.lists(
    st.sampled_from(["func ", "Test", "A", "(", ")", "{", "}", "t", " *testing.T", ".", "Error", '"', "`", "'", "\\", "\n", "/*", "*/",
                     "//", "if ", "false", "return", ";", ",", "[", "]", "1", "\u00e9", "\x00", "package a\n", "//go:build x\n"]),
    max_size=60,
).map("".join)  # fmt: skip


@given(st.binary(max_size=300))
def test_bytes_are_no_events(data):
    with contextlib.suppress(InputError):
        parse_go_test(data)


@settings(deadline=None)
@given(st.lists(EVENT, max_size=40))
def test_any_events_give_results_or_an_error(rows):
    data = b"".join(json.dumps(r).encode() + b"\n" for r in rows)
    packages = parse_go_test(data)
    for report in suite_reports(packages, lambda p, t: (p, None, None), lambda p: []):
        for case in report.cases:
            assert len(case.detail) <= 4000
            assert case.duration_s is None or case.duration_s >= 0


@settings(deadline=None)
@given(st.lists(EVENT, max_size=30), st.integers(0, 29))
def test_an_end_taken_away_is_no_gain(rows, index):
    """Without the event that ends a test, no test more passes."""

    def passed(events):
        data = b"".join(json.dumps(r).encode() + b"\n" for r in events)
        return sum(t.outcome is Outcome.PASSED for p in parse_go_test(data) for t in p.tests)

    if index < len(rows) and rows[index]["Action"] in ("pass", "fail", "skip"):
        assert passed(rows[:index] + rows[index + 1 :]) <= passed(rows)


@settings(deadline=None)
@given(GO)
def test_any_text_is_read(source):
    file = read_go_tests(source)
    for function in (*file.functions.values(), *file.others.values()):
        assert function.line >= 1


@given(st.text(max_size=200))
def test_any_characters_are_read(source):
    read_go_tests(source)
    complaints(source)
    missing_tool(source)


def test_long_runs_of_one_mark_are_read_in_linear_time():
    for mark in ("/*", "`", '"', "'", "(", "{", "if ", "func ", "t.Error(", "return;", "a.b(", "/", "\\"):
        tokens(mark * 20_000)
    for mark in ("func TestA(t *testing.T) {", "{if ", "t.Error("):
        read_go_tests("package a\nfunc TestA(t *testing.T) {" + mark * 2_000)


@given(st.binary(max_size=200))
def test_bytes_are_a_go_mod_or_an_error(data):
    with contextlib.suppress(InputError):
        parse_go_mod(data)


@given(
    st.lists(
        st.sampled_from(
            [
                "a.py",
                ":",
                "1",
                "(",
                ",",
                ")",
                " error",
                "/repo/",
                "\n",
                "  ",
                "-->",
                "[ERROR]",
                "note",
                "\x1b[0m",
                "x" * 50,
            ]
        ),
        max_size=60,
    ).map("".join)
)
def test_any_output_has_complaints_with_a_place(output):
    for one in complaints(output):
        assert one.path
        assert len(one.message) <= 500


def test_functions_of_any_kind_of_repetition_are_read_in_bounded_time():
    for piece in ("go ", "go f( ", "f( ", "x := func( ", "a , ", "a = ", "t . Run ( ", "if a . b != ", "& a ", "func("):
        source = "package p\n\nfunc TestA(t *testing.T) {\n" + piece * (60_000 // len(piece)) + "\n}\n"
        assert read_go_tests(source).package == "p"
