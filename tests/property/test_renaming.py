"""Renaming a case's files and identifiers consistently changes neither verdict nor categories nor codes.

Modules, functions, classes, variables, tests and directories get new names at once: in code, tests, the ticket's globs,
permits and words, and in the claim. What is a convention stays: `tests`, `src`, the prefix `test`, settings files.
"""

from __future__ import annotations

import builtins
import json
import keyword
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from whole_cases import WholeCase, cases, judge, junit, run_tests

from gatekeeper.domain.decision import Outcome as Judged

CASES = cases()
_TOKEN = re.compile(r"\w+")
WORDS = (
    "cart",
    "total",
    "mean",
    "prices",
    "price",
    "amount",
    "LIMIT",
    "key",
    "KEY",
    "many",
    "slow",
    "unit",
    "docs",
    "secret",
)
TESTS = (
    "test_cart",
    "test_many",
    "test_total_of_two",
    "test_total_grows",
    "test_empty_cart",
    "test_mean_of_one",
    "TestMean",
)
_TAKEN = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *sys.stdlib_module_names, *WORDS, "src", "lib", "python", "pytest",
     "conftest", "setup", "self", "mark", "skip", "later", "github", "main", "spec", "specs", "testing", "testdata"}
)  # fmt: skip
_ASCII = st.text("abcdefghijklmnoprstuvwy", min_size=4, max_size=10)
# Letters of one script at a time; a name of mixed scripts is a finding of its own.
_NAMES = st.one_of(_ASCII, st.text("あいうえおかきくけこさしすせそ", min_size=2, max_size=6))
SUITES = ("slow", "unit")
"""Names of suites are ASCII, as the settings demand."""


def _free(name: str) -> bool:
    return name not in _TAKEN and not name.startswith("test") and name.isidentifier()


@st.composite
def renamings(draw: st.DrawFn) -> dict[str, str]:
    """New names for all tokens that a case may use, no two alike."""
    others = [w for w in (*WORDS, *TESTS) if w not in SUITES]
    plain = draw(st.lists(_ASCII.filter(_free), min_size=len(SUITES), max_size=len(SUITES), unique=True))
    fresh = draw(
        st.lists(
            _NAMES.filter(lambda w: _free(w) and w not in plain),
            min_size=len(others),
            max_size=len(others),
            unique=True,
        )
    )
    table = dict(zip(SUITES, plain, strict=True))
    for old, new in zip(others, fresh, strict=True):
        table[old] = (
            new.upper()
            if old.isupper()
            else new
            if old in WORDS
            else f"Test{new.capitalize()}"
            if old[0] == "T"
            else f"test_{new}"
        )
    return table


def renamed(text: str, table: dict[str, str]) -> str:
    return _TOKEN.sub(lambda m: table.get(m[0], m[0]), text)


def whole(case: WholeCase, table: dict[str, str]) -> WholeCase:
    """The case under other names. A report is made anew from the renamed tests, so that classnames follow."""

    def files(tree: dict[str, str]) -> dict[str, str]:
        return {renamed(p, table): renamed(c, table) for p, c in tree.items()}

    def document(value: Any) -> Any:
        return json.loads(renamed(json.dumps(value, ensure_ascii=False), table))

    claim = None if case.claim is None else document(case.claim)
    return WholeCase(
        files(case.base), files(case.head), document(case.ticket), claim, secret=case.secret, tier=case.tier
    )


def told(outcome: Judged) -> tuple[Any, ...]:
    primary = [(f.category, f.code) for f in outcome.findings if f.primary]
    rows = sorted((f.category, f.code, f.effect.value, f.blame.value, len(f.seen)) for f in outcome.findings)
    return outcome.verdict.value, primary, rows


BEFORE = {name: told(judge(case)) for name, case in CASES.items()}


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(table=renamings())
def test_other_names_same_verdict(name, table):
    assert told(judge(whole(CASES[name], table))) == BEFORE[name]


def test_the_renaming_reaches_every_place():
    table = {w: f"x{w}x" for w in WORDS} | {t: t.replace("test_", "test_x").replace("TestM", "TestX") for t in TESTS}
    case = whole(CASES["honest permitted removal"], table)
    everything = json.dumps([case.base, case.head, case.ticket])
    assert not [w for w in (*WORDS, *TESTS) if re.search(rf"(?<!\w){w}(?!\w)", everything)]
    assert {r.id.split("::")[-1] for r in run_tests(case.base)} == {
        "test_xtotal_of_two",
        "test_xtotal_grows",
        "test_xmean_of_one",
    }
    assert "tests.test_xcart" in junit(run_tests(case.head))


REAL = {
    "honest new test": {"cart": "basket", "total": "summed", "test_cart": "test_basket", "test_total_of_two": "test_two", "amount": "so_far", "TestMean": "TestAverage"},
    "deleted passing test": {"cart": "ledger", "mean": "middle", "test_cart": "test_ledger", "test_total_grows": "test_more", "prices": "rows", "docs": "manual"},
}  # fmt: skip
SETTINGS = {"pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n'}


@pytest.mark.parametrize("name", REAL)
def test_other_names_same_verdict_by_the_real_gate(name, make_repo, tmp_path, gate_env):
    def by_the_gate(case: WholeCase, folder: str) -> tuple[Any, ...]:
        repo = make_repo(folder)
        repo.commit({**case.base, **SETTINGS}, "Import")
        repo.branch("agent")
        gone = {p: None for p in case.base if p not in case.head}
        head = repo.commit({**case.head, **gone}, "Change")
        said = {
            "head_sha": head, "commands": [{"cmd": "python -m pytest -q", "exit_code": 0}],
            "junit_xml": junit(run_tests(case.head)), "summary": "Fixed.",
        }  # fmt: skip
        for file, content in (("ticket", case.ticket), ("claim", said)):
            (tmp_path / f"{folder}-{file}.json").write_text(json.dumps(content))
        done = subprocess.run(
            [sys.executable, "-m", "gatekeeper", "check", "-q", "--repo", str(repo.path), "--head", head, "--ticket",
             f"{tmp_path}/{folder}-ticket.json", "--claim", f"{tmp_path}/{folder}-claim.json", "--environment", "host",
             "--format", "json"],
            capture_output=True, text=True, timeout=300, env=os.environ,
        )  # fmt: skip
        answer = json.loads(done.stdout)
        rows = sorted((f["category"], f["code"], f["effect"], f["primary"]) for f in answer["findings"])
        return done.returncode, answer["verdict"], rows

    case = CASES[name]
    assert by_the_gate(case, "before") == by_the_gate(whole(case, REAL[name]), "after")
    assert BEFORE[name][0] == ("accepted" if name.startswith("honest") else "rejected")
