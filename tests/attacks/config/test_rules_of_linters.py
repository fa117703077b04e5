"""A linter that looks for less: the words of a ticket free no rule, and exceptions for single files are judged one by one."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.config_weakening import check

W = ".github/workflows/ci.yml"
CI = "on:\n  pull_request:\njobs:\n  t:\n    runs-on: linux\n    steps:\n      - run: bash style.sh\n"
STYLE = "#!/bin/sh\npycodestyle --ignore=E128,E501 shop tests\n"
LESS = STYLE.replace("E501", "E501,W605")


def codes(repo, after, goal="x"):
    return [(f.code, f.effect.value) for f in check(tree_evidence(repo, after, goal=goal))]


@pytest.mark.parametrize(
    "goal", ["* ignore W605 warning from pycodestyle\n", "Please ignore W605.", "Support upper case"]
)
def test_the_words_of_a_ticket_free_no_rule(goal):
    assert codes({W: CI, "style.sh": STYLE}, {"style.sh": LESS}, goal) == [("CI_CHECK_REMOVED", "asks")]


FLAKE = "[flake8]\nselect = B, E, F, W, B9\nignore = E203, E501\nexclude = src/shop/__init__.py\n"
REPO = {"setup.cfg": FLAKE, "src/shop/__init__.py": "x = 1\n"}


def test_exceptions_of_single_files_are_those_of_any_linter():
    one = FLAKE.replace("exclude = src/shop/__init__.py", "per-file-ignores =\n    src/shop/__init__.py: F401")
    assert codes(REPO, {"setup.cfg": one}) == []


@pytest.mark.parametrize(
    "rows",
    ["src/shop/__init__.py: F401, F821", "src/shop/core.py: F401", "src/shop/__init__.py, src/shop/core.py: F401", "src/shop/__init__.py: F401\n    src/shop/core.py: F841", "F401", "*: F401", "tests/../src/shop/core.py: F401"],
)  # fmt: skip
def test_exceptions_that_hide_faults_are_told(rows):
    one = FLAKE.replace("exclude = src/shop/__init__.py", f"per-file-ignores =\n    {rows}")
    assert [c for c, _ in codes(REPO, {"setup.cfg": one})] == ["LIMIT_LOWERED"]
