"""Complaints of real tools, read from their output."""

from __future__ import annotations

import pytest

from gatekeeper.formats.tool_output import Complaint, complaints, fresh, missing_tool

CASES = {
    "ruff concise": ("src/app.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n", ("src/app.py", 1)),
    "ruff full": (
        "F401 [*] `os` imported but unused\n --> src/app.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove unused import: `os`\n",
        ("src/app.py", 1),
    ),
    "mypy": ('src/app.py:4: error: Incompatible return value type (got "str", expected "int")  [return-value]\nFound 1 error\n', ("src/app.py", 4)),
    "go vet": ("# example.com/m/calc\ncalc/calc.go:8:38: fmt.Printf format %d has arg s of wrong type\n", ("calc/calc.go", 8)),
    "go build": ("# example.com/m\n./calc.go:7:23: undefined: y\n", ("calc.go", 7)),
    "tsc": ("src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n", ("src/a.ts", 3)),
    "rustc": ("error[E0308]: mismatched types\n --> src/main.rs:2:18\n  |\n", ("src/main.rs", 2)),
    "gcc": ("src/a.c:3:5: error: expected ';' before 'return'\n", ("src/a.c", 3)),
    "javac": ("src/main/java/A.java:3: error: ';' expected\n", ("src/main/java/A.java", 3)),
    "maven": ("[ERROR] /repo/src/main/java/A.java:[3,20] ';' expected\n", ("src/main/java/A.java", 3)),
    "eslint": ("/repo/src/a.js\n  3:5  error  'x' is assigned a value but never used  no-unused-vars\n", ("src/a.js", 3)),
    "absolute": ("/repo/src/app.py:1:1: E902 broken\n", ("src/app.py", 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_one_complaint(name):
    output, place = CASES[name]
    assert [(c.path, c.line) for c in complaints(output)] == [place]


def test_notes_are_none_and_warnings_only_stand_alone():
    mypy = "a.py:1: note: see\na.py:2: error: bad\n"
    assert [c.line for c in complaints(mypy)] == [2]
    gcc = "a.c:1:1: warning: unused\na.c:2:1: error: bad\n"
    assert [c.line for c in complaints(gcc)] == [2]
    assert [c.line for c in complaints("a.c:1:1: warning: unused\n")] == [1]


def test_a_path_is_relative_to_the_suites_directory():
    assert complaints("app.py:1:1: E1 x\n", workdir="server")[0].path == "server/app.py"


@pytest.mark.parametrize(
    "text", ["", "12:30:11 all well\n", "https://example.org/a.py:1\n", "Found 3 errors.\n", "a/b.py\n"]
)
def test_what_is_no_complaint(text):
    assert complaints(text) == ()


def test_fresh_counts_and_ignores_lines():
    one = Complaint("a.py", 1, "x has 3 y")
    assert fresh([Complaint("a.py", 9, "x has 4 y")], [one]) == ()
    assert len(fresh([one, one], [one])) == 1
    assert fresh([Complaint("b.py", 1, "x has 3 y")], [one])


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("/bin/sh: 1: ruff: not found\n", "ruff"),
        ("bash: line 1: mypy: command not found\n", "mypy"),
        ("/x/python: No module named ruff\n", "ruff"),
        ("make: golangci-lint: not found\n", "golangci-lint"),
        ("all well\n", ""),
    ],
)
def test_a_missing_tool(text, tool):
    assert missing_tool(text) == tool
