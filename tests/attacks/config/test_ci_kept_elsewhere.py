"""Checks of CI that are said in other words, cut apart or left to something else: honest where they run as before, and only there."""

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
      - run: pip install -r r.txt
      - run: python -m pytest -q
      - run: ruff check .
"""
W, L = ".github/workflows/ci.yml", ".github/workflows/lint.yml"
PYTEST, RUFF = "      - run: python -m pytest -q\n", "      - run: ruff check .\n"


def _effects(before, after, code="CI_"):
    found = [f for f in check(tree_evidence(before, after)) if f.effect.value != "advises" and f.code.startswith(code)]
    return {f.effect.value for f in found}


def _lines(old, new):
    """Effects where one line of the script gives way to others."""
    steps = ["".join(f"      - run: {row}\n" for row in rows) for rows in (old, new)]
    return _effects({W: CI.replace(RUFF, steps[0])}, {W: CI.replace(RUFF, steps[1])})


SAME = [
    (["python -m pytest -q tests"], ["pytest -q tests"]),
    (["python -m pytest -q tests"], ["uv run pytest -q tests"]),
    (["python -m pytest -q tests"], ["python -m pytest tests -vv --durations=5"]),
    (["python -m mypy src"], ["uv run --locked mypy src --pretty"]),
    (["ruff check . && mypy src"], ["ruff check .", "mypy src"]),
    (["ruff check .", "mypy src"], ["ruff check . && mypy src"]),
    (["python3.11 -m mypy src"], ["python3.12 -m mypy src"]),
    (["flake8 src"], ["ruff check src"]),
    (["flake8 src tests"], ["uvx ruff check ."]),
    (["isort --check-only ."], ["ruff check ."]),
    (["black --check ."], ["ruff format --check ."]),
    (["eslint src"], ["npx biome lint src"]),
]
LESS = [
    (["python -m pytest -q tests"], ["pytest -q tests/test_one.py"]),
    (["python -m pytest -q tests"], ["uv run pytest -q tests --co"]),
    (["python -m pytest -W error tests"], ["pytest tests"]),
    (["mypy --strict src"], ["uv run mypy src"]),
    (["mypy src tests"], ["uv run mypy src"]),
    (["ruff check . && mypy src"], ["ruff check ."]),
    (["ruff check . && mypy src"], ["ruff check .", "echo mypy src"]),
    (["ruff check . && mypy src"], ["ruff check .", "mypy src || true"]),
    (["cd src && mypy src"], ["cd src", "mypy src"]),
    (["flake8 src tests"], ["ruff check src"]),
    (["flake8 src"], ["ruff check --select Q src"]),
    (["flake8 src"], ["ruff check --exit-zero src"]),
    (["flake8 src"], ["ruff format src"]),
    (["flake8 src"], ["ruff --version"]),
    (["black --check ."], ["ruff format ."]),
]


@pytest.mark.parametrize(("old", "new"), SAME)
def test_the_same_work_in_other_words_is_no_loss(old, new):
    assert _lines(old, new) == set()


@pytest.mark.parametrize(("old", "new"), LESS)
def test_less_work_in_other_words_is_told(old, new):
    assert _lines(old, new) != set()


def test_another_version_of_an_environment_is_the_same_work_only_where_the_runner_does_it():
    old, new = ({W: CI.replace("ruff check .", f"tox -e {name}")} for name in ("py311", "py312"))
    ini = "[testenv]\ncommands = mypy src\n"
    assert _effects({**old, "tox.ini": ini}, new) == set()
    assert _effects({**old, "tox.ini": ini}, {**new, "tox.ini": ini + "[testenv:py312]\ncommands = python -c pass\n"})


def test_what_is_shown_by_tee_counts_where_the_pipe_fails():
    shown = "      - run: |\n          {}python -m pytest -q | tee log.txt\n"
    assert _effects({W: CI}, {W: CI.replace(PYTEST, shown.format("set -o pipefail\n          "))}) == set()
    assert _effects({W: CI}, {W: CI.replace(PYTEST, shown.format(""))}) == {"blocks"}
    assert _effects({W: CI}, {W: CI.replace(PYTEST, shown.format("set -o pipefail\n          ").replace("-q |", "--co |"))})  # fmt: skip


ALONE = CI.replace(PYTEST, "").replace("test:", "lint:")


@pytest.mark.parametrize(
    ("moved", "effect"),
    [
        (ALONE, None),
        (ALONE.replace("ruff check .", "uv run ruff check ."), None),
        (ALONE.replace("  pull_request:\n", ""), "blocks"),
        (ALONE.replace("[main]", "[other]"), "blocks"),
        (ALONE.replace("    runs-on", "    if: github.actor == 'x'\n    runs-on"), "blocks"),
        (ALONE + "        if: github.actor == 'x'\n", "blocks"),
        (ALONE + "        continue-on-error: true\n", "blocks"),
        (ALONE.replace("ruff check .", "ruff check . || date"), "blocks"),
        (ALONE.replace("ruff check .", "ruff check docs"), "blocks"),
        (ALONE.replace(RUFF, "      - run: |\n          exit 0\n          ruff check .\n"), "blocks"),
    ],
)
def test_a_check_may_move_to_a_definition_of_its_own_that_runs_as_often(moved, effect):
    found = _effects({W: CI}, {W: CI.replace(RUFF, ""), L: moved}, "CI_CHECK")
    assert found == ({effect} if effect else set())


TWO = CI.replace(RUFF, "  lint:\n    runs-on: linux\n    steps:\n" + RUFF)


def test_a_job_that_moved_whole_is_not_gone():
    assert _effects({W: TWO}, {W: CI.replace(RUFF, ""), L: ALONE}) == set()
    assert _effects({W: TWO}, {W: CI.replace(RUFF, "")}) == {"blocks"}


JOIN = {
    "a log in every case": "      - run: cat log.txt\n        if: always()\n",
    "of one system": "      - run: brew install x\n        if: runner.os == 'macOS'\n",
    "tests of one system": "      - run: pytest tests/mac\n        if: runner.os == 'macOS'\n",
    "a figure that is sent": "      - uses: codecov/codecov-action@v4\n        continue-on-error: true\n",
    "an experiment": "  next:\n    runs-on: x\n    continue-on-error: true\n    steps:\n      - run: python3.15 -m pytest\n",
    "a summary": "      - run: cat coverage.txt >> $GITHUB_STEP_SUMMARY || true\n",
    "tidying up": "      - run: docker stop test-db || true\n",
    "a hook of branches": "      - run: pre-commit run -a\n        env:\n          SKIP: no-commit-to-branch\n",
}
STEAL = {
    "an experiment in place of the job": CI.replace("  test:\n    runs-on: linux\n", "  next:\n    runs-on: linux\n    continue-on-error: true\n"),
    "a condition of the job": CI.replace("  test:\n    runs-on: linux\n", "  next:\n    runs-on: linux\n    if: github.actor == 'x'\n"),
    "the check in a step that may fail": CI.replace(RUFF, "      - run: uv run ruff check .\n        continue-on-error: true\n"),
    "the check in some cases": CI.replace(RUFF, "      - run: uv run ruff check .\n        if: github.actor == 'x'\n"),
    "a hook that checks": CI + "      - run: pre-commit run -a\n        env:\n          SKIP: ruff\n",
    "a check behind a name": CI.replace(RUFF, "      - run: ./lint.sh || true\n"),
    "tests that may fail": CI + "      - run: pytest tests || true\n",
}  # fmt: skip


@pytest.mark.parametrize("name", JOIN)
def test_what_joins_and_takes_nothing_away_may_be_bounded(name):
    assert _effects({W: CI}, {W: CI + JOIN[name]}, "CI_C") == set()
    assert _effects({W: CI}, {W: CI + JOIN[name]}, "CI_F") == set()


@pytest.mark.parametrize("name", STEAL)
def test_what_takes_the_place_of_a_check_may_not_be_bounded(name):
    assert _effects({W: CI}, {W: STEAL[name]}) != set()


TOX = "[tox]\nenv_list = lint\n[testenv:lint]\ncommands = ruff check {posargs:.}\n"
HOOKS = (
    "repos:\n  - repo: https://github.com/astral-sh/ruff-pre-commit\n    rev: v0.5.0\n    hooks:\n      - id: ruff\n"
)
OWN = "repos:\n  - repo: local\n    hooks:\n      - id: x\n        language: {}\n        entry: {}\n"
ALL = "pre-commit run --all-files"


@pytest.mark.parametrize(
    ("starter", "files", "effect"),
    [
        ("tox", {"tox.ini": TOX}, None),
        ("uv run tox -e lint", {"tox.ini": TOX}, None),
        ("tox -e lint", {"tox.toml": '[env.lint]\ncommands = [["ruff", "check", "."]]\n'}, None),
        (
            "nox -s lint",
            {"noxfile.py": "import nox\n@nox.session\ndef lint(s):\n    s.run('ruff', 'check', '.')\n"},
            None,
        ),
        ("make lint", {"Makefile": "lint:\n\truff check .\n"}, None),
        ("make lint", {"Makefile": "lint:\n\t-ruff check .\n"}, "blocks"),
        ("make docs", {"Makefile": "docs:\n\tdate\nlint:\n\truff check .\n"}, "asks"),
        (ALL, {"hooks": HOOKS}, None),
        (ALL, {"hooks": HOOKS.replace("id: ruff", "id: ruff-check")}, None),
        ("uvx pre-commit run -a --show-diff-on-failure", {"hooks": HOOKS}, None),
        ("echo tox", {"tox.ini": TOX}, "blocks"),
        ("tox list", {"tox.ini": TOX}, "asks"),
        ("tox -e lint --notest", {"tox.ini": TOX}, "asks"),
        ("tox -e lint -- r.txt", {"tox.ini": TOX}, "asks"),
        ("tox", {"tox.ini": TOX + "platform = win32\n"}, "asks"),
        ("tox", {"tox.ini": TOX.replace("[tox]\n", "[tox]\nskip_missing_interpreters = true\n") + "basepython = python3.99\n"}, "asks"),
        ("tox", {"tox.ini": "[tox]\nenv_list = py\n[testenv]\ncommands = ruff check .\n[testenv:py]\ncommands = date\n"}, "asks"),
        ("tox", {"tox.ini": TOX.replace("ruff", "echo ruff")}, "asks"),
        ("tox", {"tox.ini": TOX.replace("ruff check", "ruff format")}, "asks"),
        ("pre-commit install", {"hooks": HOOKS}, "blocks"),
        ("pre-commit run trailing-whitespace --all-files", {"hooks": HOOKS}, "asks"),
        ("pre-commit run", {"hooks": HOOKS}, "asks"),
        ("SKIP=ruff " + ALL, {"hooks": HOOKS}, "asks"),
        ("date", {"hooks": "# ci: none\n" + HOOKS}, "blocks"),
        ("date", {"hooks": "ci:\n  skip: []\n" + HOOKS}, "asks"),
        (ALL, {"hooks": "exclude: .*\n" + HOOKS}, "asks"),
        (ALL, {"hooks": HOOKS + "        exclude_types: [python]\n"}, "asks"),
        (ALL, {"hooks": HOOKS.replace("astral-sh", "acme")}, "asks"),
        (ALL, {"hooks": OWN.format("system", "echo ruff check .")}, "asks"),
        (ALL, {"hooks": OWN.format("pygrep", "ruff")}, "asks"),
        (ALL, {"hooks": OWN.format("system", "ruff check .")}, None),
    ],
)  # fmt: skip
def test_a_check_is_left_only_to_what_really_starts_it(starter, files, effect):
    new = {".pre-commit-config.yaml" if name == "hooks" else name: content for name, content in files.items()}
    found = _effects({W: CI}, {W: CI.replace("ruff check .", starter), **new}, "CI_C")
    assert found == ({effect} if effect else set())


def test_a_runner_that_only_people_start_runs_no_check():
    by_hand = "on: workflow_dispatch\njobs:\n  l:\n    runs-on: x\n    steps:\n      - run: tox\n"
    assert _effects({W: CI}, {W: CI.replace(RUFF, ""), L: by_hand, "tox.ini": TOX}) == {"blocks"}


ASKED = "  pull_request:\n"
DOCS = "    paths-ignore: ['docs/**', '**.md', README.rst]\n"


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        (ASKED, ASKED + "    types: [opened, synchronize, reopened, ready_for_review]\n", None),
        (ASKED, ASKED + "    types: [opened, reopened, ready_for_review]\n", "blocks"),
        (
            ASKED + "    types: [opened, synchronize, labeled]\n",
            ASKED + "    types: [opened, synchronize, reopened]\n",
            "blocks",
        ),
        (ASKED, ASKED + DOCS, None),
        (ASKED, ASKED + DOCS.replace("docs/**", "src/**"), "blocks"),
        (ASKED, ASKED + DOCS.replace("**.md", "*.txt"), "blocks"),
        (ASKED, ASKED + DOCS.replace("README.rst", "**"), "blocks"),
        (ASKED + "  push:\n", ASKED + "  push:\n    branches: [main]\n", None),
        (ASKED + DOCS + "  push:\n" + DOCS, ASKED + DOCS + "  push:\n    branches: [main]\n" + DOCS, None),
        (ASKED + DOCS + "  push:\n", ASKED + DOCS + "  push:\n    branches: [main]\n", "blocks"),
        ("  push:\n", "  push:\n    branches: [main]\n", "blocks"),
    ],
)
def test_what_starts_ci_for_all_that_can_hold_a_fault_is_enough(before, after, effect):
    old, new = (f"on:\n{given}" + CI[CI.index("permissions") :] for given in (before, after))
    assert _effects({W: old}, {W: new}) == ({effect} if effect else set())


def test_documents_that_ci_looks_at_are_not_passed_over():
    old = CI.replace("ruff check .", "pytest --doctest-glob='*.md'")
    assert _effects({W: old}, {W: old.replace(ASKED, ASKED + DOCS)}) == {"blocks"}


def test_drafts_are_looked_at_when_they_are_none_any_more():
    drafts = CI.replace("    runs-on", "    if: github.event.pull_request.draft == false\n    runs-on")
    ready = drafts.replace(ASKED, ASKED + "    types: [opened, synchronize, reopened, ready_for_review]\n")
    assert _effects({W: CI}, {W: ready}) == set()
    assert _effects({W: CI}, {W: drafts}) == {"asks"}
