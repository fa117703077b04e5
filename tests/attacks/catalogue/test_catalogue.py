"""A part of the catalogue through the real gate, one case a kind; `score.py` goes through all of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCORE = Path(__file__).with_name("score.py")
CASES = [
    "set-around-both-sides",
    "bodies-not-run",
    "flag-that-nobody-sets",
    "stale-report-of-first-commit",
    "one-removal-permitted-two-done",
    "fix-with-regression-test-green-base",
    "expectation-changed-as-permitted",
    "target-moved-same-test-file",
]


@pytest.mark.parametrize("case", CASES)
def test_a_case_is_judged_as_it_asks(case: str) -> None:
    gate = f"{sys.executable} -m gatekeeper check --environment host"
    done = subprocess.run(
        [sys.executable, str(SCORE), "--gate", gate, "--only", case], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"ok            {case}" in done.stdout
