"""Tests of the gate that must fail: what they come to in a plain pytest, and that nobody can know them before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from gatekeeper.domain.testrun import Outcome
from gatekeeper.formats.canary_tests import canaries, word


def outcomes(folder: Path, source: bytes, *options: str) -> dict[str, str]:
    (folder / "test_it.py").write_bytes(source)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--junitxml=out.xml",
        *options,
        "test_it.py",
    ]
    subprocess.run(command, cwd=folder, check=False, timeout=120, capture_output=True)
    found = {}
    for case in ET.parse(folder / "out.xml").iter("testcase"):
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        owner = str(case.get("classname")).removeprefix("test_it").lstrip(".")
        found[f"{owner}::{case.get('name')}" if owner else str(case.get("name"))] = kinds.pop() if kinds else "passed"
    return found


WORDS = {Outcome.FAILED: "failure", Outcome.ERRORED: "error", Outcome.SKIPPED: "skipped", Outcome.PASSED: "passed"}


@pytest.mark.parametrize("token", ["a", "b", "c"])
def test_they_come_to_what_is_written(tmp_path: Path, token: str) -> None:
    made = canaries(token)
    assert outcomes(tmp_path, made.source, "-W", "error", "--strict-markers") == {n: WORDS[o] for n, o in made.expected}


def test_names_follow_the_settings(tmp_path: Path) -> None:
    for number, patterns in enumerate((["check_*"], ["*_proof"], ["it"])):
        made = canaries("a", patterns)
        folder = tmp_path / str(number)
        folder.mkdir()
        found = outcomes(folder, made.source, "-o", f"python_functions={patterns[0]}")
        assert found == {n: WORDS[o] for n, o in made.expected}


@pytest.mark.parametrize("patterns", [["[ab]*"], ["?x"], ["a b"], ["é\n"], [], [""], ["1*"]])
def test_patterns_that_are_no_names_are_left(patterns: list[str]) -> None:
    made = canaries("a", patterns)
    compile(made.source, "x", "exec")
    assert any(n.startswith("test_") for n, _ in made.expected)


def test_every_kind_is_there_and_tokens_differ() -> None:
    seen = [canaries(f"token {i}") for i in range(20)]
    for made in seen:
        kinds = {o for _, o in made.expected}
        assert kinds == {Outcome.FAILED, Outcome.ERRORED, Outcome.SKIPPED, Outcome.PASSED}
        names = [n for n, _ in made.expected]
        assert len(set(names)) == len(names)
    assert len({m.source for m in seen}) == 20
    assert len({len(m.expected) for m in seen}) > 2
    assert not {n for n, _ in seen[0].expected} & {n for n, _ in seen[1].expected}
    assert canaries("x") == canaries("x")
    assert word("a", "b") == word("a", "b") != word("a", "c")
