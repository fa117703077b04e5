"""What CI checks without lines of its own, and jobs that no longer run or count: told, with the honest change beside it."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.config_weakening import check

CI = """on:
  pull_request:
  push:
    branches: [main]
permissions:
  contents: read
jobs:
  test:
    runs-on: linux
    steps:
      - uses: actions/checkout@v4
      - run: python -m pytest -q
"""
W, L, G = ".github/workflows/ci.yml", ".github/workflows/lint.yml", ".gitlab-ci.yml"


def _effects(before, after):
    return {f.effect.value for f in check(tree_evidence(before, after)) if f.effect.value != "advises"}


def _step(uses, more=""):
    return f"      - uses: {uses}\n{more}"


def _with(key, value):
    return f"        with:\n          {key}: {value}\n"


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (_step("gitleaks/gitleaks-action@v2"), "", "blocks"),
        (_step("github/codeql-action/analyze@v3"), "", "blocks"),
        (_step("pre-commit/action@v3.0.1"), "", "blocks"),
        (_step("acme/lint@v1"), "", "blocks"),
        (_step("gitleaks/gitleaks-action@v2"), "      - run: echo gitleaks\n", "blocks"),
        (_step("gitleaks/gitleaks-action@v2"), "      - run: gitleaks detect || true\n", "blocks"),
        (_step("gitleaks/gitleaks-action@v2"), _step("gitleaks/gitleaks-action@v3"), None),
        (_step("gitleaks/gitleaks-action@v2"), _step("zricethezav/gitleaks-action@v3"), None),
        (_step("pre-commit/action@v3.0.1"), "      - run: uvx pre-commit run --all-files\n", None),
        (_step("pre-commit/action@v3.0.1"), _step("j178/prek-action@v1"), None),
        (_step("pre-commit/action@v3.0.1"), _step("tox-dev/action-pre-commit-uv@v1"), None),
        (_step("codecov/codecov-action@v4"), "", None),
        (_step("actions/upload-artifact@v4"), "", None),
        (_step("astral-sh/ruff-action@v3", _with("args", "check .")), _step("astral-sh/ruff-action@v3", _with("args", "--version")), "asks"),
        (_step("astral-sh/ruff-action@v3", _with("args", "check .")), _step("astral-sh/ruff-action@v3", _with("args", "check . --exit-zero")), "asks"),
        (_step("astral-sh/ruff-action@v3", _with("args", "check src")), _step("astral-sh/ruff-action@v3", _with("args", "check .")), None),
        (_step("pre-commit/action@v3"), _step("pre-commit/action@v3", _with("extra_args", "--version")), "asks"),
        (_step("pre-commit/action@v3"), _step("pre-commit/action@v3", _with("extra_args", "--all-files")), None),
    ],
)  # fmt: skip
def test_an_action_that_checks_may_go_only_for_one_that_does_as_much(old, new, effect):
    found = check(tree_evidence({W: CI + old}, {W: CI + new}))
    assert {f.effect.value for f in found if f.code.startswith("CI_C") or f.code == "CI_FAILURE_IGNORED"} == (
        {effect} if effect else set()
    )


def test_an_action_may_move_to_a_definition_that_runs_as_often():
    scan = _step("gitleaks/gitleaks-action@v2")
    alone = CI.replace("      - run: python -m pytest -q\n", scan)
    assert _effects({W: CI + scan}, {W: CI, L: alone}) == set()
    assert _effects({W: CI + scan}, {W: CI, L: alone.replace("  pull_request:\n", "")}) == {"blocks"}


CALLS = CI + "  more:\n    uses: org/x/.github/workflows/more.yml@v1\n"
NOOP = CI + "  noop:\n    runs-on: x\n    steps:\n      - run: date\n"


def test_a_workflow_that_is_called_no_longer_is_told_whatever_job_takes_its_place():
    assert _effects({W: CALLS}, {W: NOOP}) == {"asks"}
    assert _effects({W: CALLS}, {W: CALLS.replace("@v1", "@v2")}) == set()


RELEASE = (
    CI + "  release:\n    if: startsWith(github.ref, 'refs/tags/')\n    runs-on: linux\n    steps:\n      - run: date\n"
)
MATRIX = CI.replace("    runs-on", "    strategy:\n      matrix:\n        py: ['3.11', '3.12']\n    runs-on")


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (RELEASE, RELEASE.replace("  test:\n", "  test:\n    needs: release\n"), "asks"),
        (RELEASE, RELEASE.replace("  release:\n", "  release:\n    needs: test\n"), None),
        (MATRIX, MATRIX.replace("'3.12']\n", "'3.12']\n        exclude:\n          - py: '3.11'\n          - py: '3.12'\n"), "blocks"),
        (MATRIX, MATRIX.replace("'3.12']\n", "'3.12']\n        exclude:\n          - py: '3.11'\n"), "blocks"),
        (MATRIX, MATRIX.replace("'3.12']\n", "'3.12', '3.13']\n"), None),
        (CI, CI.replace("runs-on: linux", "runs-on: self-hosted"), "asks"),
        (CI, CI.replace("runs-on: linux", "runs-on: ubuntu-24.04"), None),
    ],
)  # fmt: skip
def test_a_job_that_may_not_run_at_all_is_told(old, new, effect):
    assert _effects({W: old}, {W: new}) == ({effect} if effect else set())


LAB = "test:\n  script:\n    - pytest -q\nlint:\n  script:\n    - ruff check .\n"


@pytest.mark.parametrize(
    ("new", "effect"),
    [
        (LAB + "  allow_failure:\n    exit_codes: [1]\n", "blocks"),
        (LAB + "  only: [schedules]\n", "blocks"),
        (LAB + "  only: [main]\n", "asks"),
        (LAB.replace("test:", ".test:"), "blocks"),
        (LAB.replace("test:", ".test:") + "real:\n  extends: .test\n", None),
        ("default:\n  before_script:\n    - exit 0\n" + LAB, "blocks"),
        ("default:\n  before_script:\n    - pip install -r r.txt\n" + LAB, None),
        (LAB + "docs:\n  script:\n    - make html\n  allow_failure:\n    exit_codes: [1]\n", None),
    ],
)
def test_jobs_of_another_system_are_hidden_bounded_or_made_harmless(new, effect):
    assert _effects({G: LAB}, {G: new}) == ({effect} if effect else set())


ROWS = "jobs:\n  include:\n    - python: '3.9'\nscript:\n  - pytest -q\n"


@pytest.mark.parametrize(
    ("new", "effect"),
    [
        (ROWS.replace("script", "  allow_failures:\n    - python: '3.9'\nscript", 1), "blocks"),
        (
            ROWS.replace("script", "    - python: nightly\n  allow_failures:\n    - python: nightly\nscript", 1),
            None,
        ),
    ],
)
def test_rows_that_counted_may_not_fail(new, effect):
    assert _effects({".travis.yml": ROWS}, {".travis.yml": new}) == ({effect} if effect else set())


LISTED = "    strategy:\n      matrix:\n        python: ['3.10', '3.11', '3.12']\n        os: [linux, mac]\n"


def _matrix(more, listed=LISTED):
    return CI.replace("    runs-on: linux\n", f"    runs-on: linux\n{listed}{more}")


@pytest.mark.parametrize(
    ("more", "effects"),
    [
        ("        exclude:\n          - python: '3.10'\n          - python: '3.11'\n", {"blocks"}),
        ("        exclude:\n          - {python: '3.10', os: linux}\n          - {python: '3.10', os: mac}\n", {"asks"}),
        ("        exclude:\n          - {python: '3.10', os: linux}\n          - {python: '3.11', os: mac}\n          - {python: '3.12', os: mac}\n", {"asks"}),
        ("        exclude:\n          - {python: '3.10', os: mac}\n", set()),
        ("        include:\n          - {python: '3.13', os: linux}\n", set()),
    ],
)  # fmt: skip
def test_a_matrix_that_lists_what_it_leaves_out(more, effects):
    assert _effects({W: _matrix("")}, {W: _matrix(more)}) == effects


def test_a_matrix_without_a_version_that_is_no_longer_supported():
    assert _effects({W: _matrix("")}, {W: _matrix("", LISTED.replace("'3.10', ", ""))}) == set()


@pytest.mark.parametrize(
    ("condition", "effects"),
    [
        ("github.event_name == 'schedule'", {"blocks"}),
        ("${{ github.event_name == 'workflow_dispatch' }}", {"blocks"}),
        ("github.ref == 'refs/heads/main'", {"blocks"}),
        ("github.event_name != 'pull_request'", {"blocks"}),
        ("github.repository == 'acme/shop'", {"asks"}),
    ],
)
@pytest.mark.parametrize("whole_job", [True, False])
def test_a_condition_that_no_change_meets_before_it_is_merged(condition, effects, whole_job):
    place = ("    runs-on: linux\n", f"    if: {condition}\n    runs-on: linux\n")
    if not whole_job:
        place = ("      - run: python -m pytest -q\n", f"      - if: {condition}\n        run: python -m pytest -q\n")
    assert _effects({W: CI}, {W: CI.replace(*place)}) == effects


def test_a_step_that_checks_nothing_may_wait_for_the_merge():
    deploy = "      - run: ./deploy.sh\n"
    bound = "      - if: github.ref == 'refs/heads/main'\n        run: ./deploy.sh\n"
    assert "blocks" not in _effects({W: CI + deploy}, {W: CI + bound})
    assert _effects({W: CI}, {W: CI + bound}) == set()
