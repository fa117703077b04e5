"""A check that keeps its place in CI and no longer runs or counts there; beside it what only joins it."""

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
      - run: pip install -r r.txt
      - run: python -m pytest -q
      - run: ruff check .
"""
W = ".github/workflows/ci.yml"
PYTEST = "      - run: python -m pytest -q\n"


def _found(before, after):
    return {(f.code, f.effect.value) for f in check(tree_evidence(before, after)) if f.effect.value != "advises"}


def _effects(steps, old=PYTEST):
    return {effect for _, effect in _found({W: CI.replace(PYTEST, old)}, {W: CI.replace(PYTEST, steps)})}


def _script(*lines):
    return "      - run: |\n" + "".join(f"          {line}\n" for line in lines)


STOPPED = {
    "left before": _script("exit 0", "python -m pytest -q"),
    "left after a word": _script("date", "exit", "python -m pytest -q"),
    "never true": _script("if false; then", "python -m pytest -q", "fi"),
    "text of another": _script("cat <<EOF", "python -m pytest -q", "EOF"),
    "another meaning": _script("python() { :; }", "python -m pytest -q"),
    "trap": _script("trap 'exit 0' EXIT", "python -m pytest -q"),
    "options": _script("set +ex", "python -m pytest -q", "date"),
    "errexit": _script("set +o errexit", "python -m pytest -q", "date"),
    "or": "      - run: python -m pytest -q || date\n",
    "or a test": "      - run: python -m pytest -q || [ $? -le 1 ]\n",
    "not": "      - run: '! python -m pytest -q'\n",
    "pipe": "      - run: python -m pytest -q | head\n",
    "remark": "      - run: 'date # python -m pytest -q'\n",
    "shell that shows": PYTEST + "        shell: cat -e {0}\n",
    "shell that goes on": PYTEST + "        shell: bash --rcfile no-e {0}\n",
}
ASKED = {
    "when": _script('if test -n "$X"; then', "python -m pytest -q", "fi"),
    "where": _script("cd docs", "python -m pytest -q"),
    "which": _script("export PATH=$PWD/fake:$PATH", "python -m pytest -q"),
    "may leave": _script('[ -n "$X" ] || exit 0', "python -m pytest -q"),
    "only if": '      - run: test -n "$X" && python -m pytest -q\n',
    "one file": "      - run: python -m pytest -q tests/test_one.py\n",
    "settings": "      - run: python -m pytest -q -c lax.ini\n",
    "override": "      - run: python -m pytest -q -o addopts=--co\n",
    "of another program": "      - run: sh -c true python -m pytest -q\n",
    "folder": PYTEST + "        working-directory: docs\n",
    "environment": PYTEST + "        env:\n          BASH_ENV: x.sh\n",
    "environment of later steps": "      - run: echo PYTEST_ADDOPTS=--co >> $GITHUB_ENV\n" + PYTEST,
    "programs of later steps": "      - run: echo $PWD/fake >> $GITHUB_PATH\n" + PYTEST,
}
LET = {
    "an install": _script("pip install -U pip", "python -m pytest -q"),
    "another check": _script("mypy .", "python -m pytest -q"),
    "stricter": _script("set -euxo pipefail", "python -m pytest -q"),
    "said": _script("echo testing", "python -m pytest -q"),
    "side by side": "      - run: python -m pytest -q -n auto --durations=5\n",
    "by a starter": "      - run: uv run --locked python -m pytest -q\n",
    "fails louder": "      - run: python -m pytest -q || exit 1\n",
    "a variable": PYTEST + "        env:\n          FORCE_COLOR: 1\n",
    "a number for later": "      - run: echo VERSION=$V >> $GITHUB_ENV\n" + PYTEST,
    "a folder of the machine": '      - run: echo "$HOME/.local/bin" >> $GITHUB_PATH\n' + PYTEST,
    "a shell by name": PYTEST + "        shell: bash\n",
    "after the check": _script("python -m pytest -q", "cd docs", "ls"),
}


@pytest.mark.parametrize("name", STOPPED)
def test_a_line_that_never_runs_or_counts_is_stopped(name):
    assert "blocks" in _effects(STOPPED[name])


@pytest.mark.parametrize("name", ASKED)
def test_a_line_that_may_do_less_goes_to_a_person(name):
    assert _effects(ASKED[name]) == {"asks"}


@pytest.mark.parametrize("name", LET)
def test_what_joins_a_check_and_leaves_it_alone_is_nothing(name):
    assert _effects(LET[name]) == set()


def test_a_function_that_was_there_is_no_news():
    kept = _script("python() { command python3 $@; }", "python -m pytest -q")
    assert _effects(kept.replace("-m pytest -q", "-m pytest -q -v"), old=kept) == set()


def test_an_expression_with_a_choice_loses_no_failure():
    old, new = (f"      - run: tox run -e ${{{{ matrix.tox{x} }}}}\n" for x in ("", " || 'py'"))
    assert _effects(new, old=old) == set()
    assert _effects(old.replace("matrix.tox", "matrix.tox || '--notest'"), old=old) != set()


TRAVIS = "script:\n  - pytest -q\n  - ruff check .\n"
ACTIONS = CI.replace("python -m pytest", "pytest")


@pytest.mark.parametrize(
    ("gone", "came", "effect"),
    [
        (W, {".github/workflows/tests.yml": CI}, None),
        (W, {".github/workflows/old/ci.yml": CI}, "blocks"),
        (W, {".github/workflows/old/ci.yml": CI + "      - run: date\n"}, "blocks"),
        (W, {".github/actions/ci.yml": CI}, "blocks"),
        (W, {"docs/.travis.yml": CI}, "blocks"),
        (W, {".buildkite/x.yml": "steps:\n  - command: python -m pytest -q\n  - command: ruff check .\n"}, "blocks"),
        (W, {".travis.yml": "script:\n  - python -m pytest -q\n  - ruff check .\n"}, "asks"),
        (".travis.yml", {W: ACTIONS}, None),
        (".travis.yml", {W: ACTIONS.replace("- run: pytest -q", "- run: |\n          exit 0\n          pytest -q")}, "blocks"),
        (".travis.yml", {W: ACTIONS.replace("pytest -q", "pytest -q tests/test_one.py")}, "blocks"),
        (".travis.yml", {W: ACTIONS.replace("ruff check", "ruff format")}, "blocks"),
    ],
)  # fmt: skip
def test_only_what_a_system_reads_takes_over_and_only_with_all_that_was_checked(gone, came, effect):
    found = {
        e
        for code, e in _found({gone: CI if gone == W else TRAVIS}, {gone: None, **came})
        if code.startswith("CI_CHECK")
    }
    assert found == ({effect} if effect else set())


@pytest.mark.parametrize(
    ("event", "before", "after", "effect"),
    [
        ("push", "branches: [main]", "branches: [main, '!main']", "blocks"),
        ("push", "branches: [main]", "branches: ['!main', main]", None),
        ("push", "branches: [main]", "branches: [main, '!ma*']", "blocks"),
        ("push", "branches: [main]", "branches: [main, '!wip/**']", None),
        ("push", "branches: [main]", "branches: [main, '4.x']", None),
        ("push", "branches: [main, 3.x]", "branches: [main, 4.x]", None),
        ("pull_request", "branches: ['*']", "branches: [nope]", "blocks"),
        ("push", "branches: ['**']", "branches: [stable]", "blocks"),
        ("push", "branches-ignore: [wip]", "branches-ignore: [wip, 'm?ain', 'ma[i]n']", "blocks"),
        ("push", "paths: ['src/**']", "paths: ['src/**', '!src/**']", "blocks"),
        ("push", "paths: ['src/**']", "paths: ['src/**', '!**']", "blocks"),
        ("push", "paths: ['src/**']", "paths: ['src/**', '!src/docs/**']", "asks"),
        ("push", "paths: ['src/**']", "paths: ['src/**', 'tests/**']", None),
    ],
)
def test_patterns_are_judged_by_the_branch_that_a_change_lands_on(event, before, after, effect):
    old, new = (f"on:\n  {event}:\n    {given}\n" + CI[CI.index("permissions") :] for given in (before, after))
    assert _found({W: old}, {W: new}) == ({("CI_TRIGGER_NARROWED", effect)} if effect else set())


def test_a_definition_that_others_call_may_be_needed():
    old = CI.replace("  pull_request:\n", "  pull_request:\n  workflow_call:\n")
    assert _found({W: old}, {W: CI}) == {("CI_TRIGGER_NARROWED", "asks")}
    assert _found({W: CI}, {W: old}) == set()


def test_a_pattern_made_to_take_long_is_no_pattern():
    wild = "'" + "*a" * 200 + "'"
    assert _found({W: CI}, {W: CI.replace("[main]", f"[main, {wild}]")}) == set()
