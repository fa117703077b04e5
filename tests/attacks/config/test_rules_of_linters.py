"""A linter that looks for less: where a plugin finds the same it is none, and the words of a ticket make it none."""

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
HOOKS = "repos:\n  - repo: x\n    hooks:\n      - id: flake8\n        additional_dependencies: [flake8-bugbear]\n"
TWIN = FLAKE.replace("E501", "E501, E722")
REPO = {"setup.cfg": FLAKE, ".pre-commit-config.yaml": HOOKS, "src/shop/__init__.py": "x = 1\n"}


def test_a_rule_that_a_plugin_has_as_well_is_no_loss():
    assert codes(REPO, {"setup.cfg": TWIN}) == []


@pytest.mark.parametrize(
    ("repo", "after"),
    [
        ({}, {"setup.cfg": TWIN.replace("B, E", "E").replace(", B9", "")}),
        ({}, {"setup.cfg": TWIN.replace("E722", "E722, B001")}),
        ({}, {"setup.cfg": TWIN.replace("E722", "E722, F821")}),
        ({}, {"setup.cfg": TWIN, ".pre-commit-config.yaml": HOOKS.replace("flake8-bugbear", "flake8-bug")}),
        ({".pre-commit-config.yaml": HOOKS.replace("flake8-bugbear", "")}, {"setup.cfg": TWIN, ".pre-commit-config.yaml": HOOKS}),
        ({"tox.ini": "[testenv:style]\ndeps = flake8\ncommands = flake8 src\n"}, {"setup.cfg": TWIN}),
        ({"requirements/dev.txt": "flake8==3.7\n"}, {"setup.cfg": TWIN}),
        ({W: "jobs:\n  t:\n    steps:\n      - run: python -m flake8\n"}, {"setup.cfg": TWIN}),
        ({".pre-commit-config.yaml": "# flake8-bugbear\nrepos: []\n"}, {"setup.cfg": TWIN}),
        ({".pre-commit-config.yaml": HOOKS + "        stages: [manual]\n"}, {"setup.cfg": TWIN}),
    ],
)  # fmt: skip
def test_a_twin_that_does_not_look_counts_for_nothing(repo, after):
    assert "LIMIT_LOWERED" in {c for c, _ in codes({**REPO, **repo}, after)}


def test_exceptions_of_single_files_are_those_of_any_linter():
    one = FLAKE.replace("exclude = src/shop/__init__.py", "per-file-ignores =\n    src/shop/__init__.py: F401")
    assert codes(REPO, {"setup.cfg": one}) == []


@pytest.mark.parametrize(
    "rows",
    ["src/shop/__init__.py: F401, F821", "src/shop/core.py: F401", "src/shop/__init__.py, src/shop/core.py: F401", "src/shop/__init__.py: F401\n    src/shop/core.py: F841", "F401", "*: F401"],
)  # fmt: skip
def test_exceptions_that_hide_faults_are_told(rows):
    one = FLAKE.replace("exclude = src/shop/__init__.py", f"per-file-ignores =\n    {rows}")
    assert [c for c, _ in codes(REPO, {"setup.cfg": one})] == ["LIMIT_LOWERED"]
