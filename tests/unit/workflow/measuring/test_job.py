"""The job of a measurement: the program's files, and what is said of answers that came to nothing."""

from __future__ import annotations

import ast
import json
from types import SimpleNamespace
from typing import Any

import pytest

from gatekeeper.domain.followup import MutantResult
from gatekeeper.domain.ticket import Suite
from gatekeeper.formats.measurement_lines import Measurement, Trial
from gatekeeper.formats.python_mutants import mutants, whole_code
from gatekeeper.workflow.measuring.job import PROGRAM, Job, program

TEXT = b"def f(a):\n    b = g(a)\n    return b\n"


def job() -> Job:
    code = whole_code("m.py", TEXT, [2, 3])
    assert code is not None
    return Job(Suite("tests", runner="pytest"), ("tests/test_m.py",), (), (), (code,), mutants(code), complete=True)


def told(cover: str, control: str = "", **trials: str) -> Any:
    made = job()
    found = Measurement(cover=cover, control=control, tests=1, passed=1)
    for number in range(len(made.mutants)):
        found.trials[number] = Trial(trials.get(f"m{number}", trials.get("rest", "budget")))
    return made.measured(found, (), 30.0)


def test_the_program_is_whole_and_needs_nothing_of_the_gate() -> None:
    files = program()
    assert PROGRAM in files
    assert {"gatekeeper_measuring/main.py", "gatekeeper_measuring/values.py"} <= files.keys()
    for name, data in files.items():
        tree = ast.parse(data, feature_version=(3, 8))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert f"gatekeeper_measuring/{node.module}.py" in files
            elif isinstance(node, ast.Import | ast.ImportFrom):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                assert not any(n.split(".")[0] == "gatekeeper" for n in names), name


def test_the_document_says_which_mutants_change_a_value() -> None:
    made = job()
    run: Any = SimpleNamespace(sessions=())
    rows = json.loads(made.document(run, 30.0, 512))["mutants"]
    assert [row[-1] for row in rows] == [m.by_value for m in made.mutants]
    assert {True, False} <= {row[-1] for row in rows}


@pytest.mark.parametrize(
    ("cover", "control", "rest", "limit"),
    [
        ("timeout", "", "budget", "did not end within the 30 s"),
        ("ran", "timeout", "budget", "a second time"),
        ("ran", "ran", "budget", "spent before a mutant"),
        ("ran", "none", "not_reached", ""),
        ("crash", "", "not_reached", ""),
        ("ran", "ran", "no_effect", ""),
    ],
)
def test_a_limit_is_named_where_it_ended_everything(cover: str, control: str, rest: str, limit: str) -> None:
    measured = told(cover, control, rest=rest)
    assert measured.tried == ()
    assert measured.notes
    assert (limit in measured.limit) if limit else (measured.limit == "")


def test_a_budget_that_ends_halfway_is_a_note_and_no_limit() -> None:
    measured = told("ran", "ran", m0="survived", m1="no_effect")
    assert [m.result for m in measured.tried] == [MutantResult.SURVIVED]
    assert measured.limit == ""
    late = len(measured.mutants) - 2
    assert f"the budget was spent before {late} of {len(measured.mutants)} mutants could be tried" in measured.notes
    assert "1 mutants changed no value that any test brings, and say nothing" in measured.notes
