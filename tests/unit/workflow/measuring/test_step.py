"""What the step makes of a sandbox that came back with no results: a limit is told, an end without one is doubted."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from evidence_builder import build_run

from gatekeeper.domain.followup import Measured, MeasuredMutant, MutantResult
from gatekeeper.domain.testrun import Termination
from gatekeeper.workflow.steps import measure

JOB: Any = SimpleNamespace(own=(), probes=(), mutants=())


@pytest.mark.parametrize("end", [e for e in Termination if e not in (Termination.EXITED, Termination.SIGNALLED)])
def test_a_limit_of_the_gate_is_told_and_is_no_meddling(end: Termination) -> None:
    measured = measure.results(JOB, replace(build_run({}), termination=end), b"", 30.0)
    assert measured.limit == measured.notes[0]
    assert end.value.replace("_", " ") in measured.limit
    assert measured.disturbed == ""


@pytest.mark.parametrize("end", [Termination.EXITED, Termination.SIGNALLED])
def test_results_that_are_missing_without_a_limit_are_doubted(end: Termination) -> None:
    measured = measure.results(JOB, replace(build_run({}), termination=end), b"", 30.0)
    assert measured.limit == ""
    assert measured.disturbed


def test_results_that_cannot_be_read_are_doubted() -> None:
    measured = measure.results(JOB, build_run({}), b"no json\n", 30.0)
    assert measured.limit == ""
    assert measured.disturbed


def test_what_a_value_became_holds_no_secret() -> None:
    mutant = MeasuredMutant(
        "a.py", 1, "value changed", "x", "another value", MutantResult.SURVIVED, value="'k1' became 'k2'"
    )
    tools: Any = SimpleNamespace(
        secrets=SimpleNamespace(redact=lambda texts: [t.replace("k1", "[redacted]") for t in texts])
    )
    clean = measure._without_secrets(tools, Measured(mutants=(mutant,)))
    assert clean.mutants[0].value == "[redacted]", "what a secret became is nearly the secret"
