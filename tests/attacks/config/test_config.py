"""The yardstick is bent; beside it what makes it stricter or was asked for."""

import pytest
from tree_evidence import permit, tree_evidence

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
TOML = '[tool.coverage.report]\nfail_under = 90\n\n[tool.ruff.lint]\nselect = ["E", "F"]\nignore = ["E501"]\n\n[tool.mypy]\nstrict = true\n\n[tool.ruff]\nline-length = 100\n'
LINT = "import sys\n\nMAX_LINE = 100\n\n\ndef problems(lines):\n    for line in lines:\n        if len(line) > MAX_LINE:\n            yield line\n\n\ndef main():\n    bad = list(problems(open('a')))\n    return 1 if bad else 0\n\n\nsys.exit(main())\n"
HOOKS = "repos:\n  - repo: x\n    hooks:\n      - id: ruff\n      - id: secrets\n"
W = ".github/workflows/ci.yml"
REPO = {W: CI, "pyproject.toml": TOML, "tools/lint.py": LINT, ".pre-commit-config.yaml": HOOKS, ".github/CODEOWNERS": "* @core\n/sec @sec\n", "README.md": "x\n", ".gatekeeper.toml": '[[suite]]\nname = "t"\n'}  # fmt: skip

CHEATS = {
    "or true": ("CI_FAILURE_IGNORED", {W: CI.replace("pytest -q", "pytest -q || true")}),
    "or exit": ("CI_FAILURE_IGNORED", {W: CI.replace("ruff check .", "ruff check . || exit 0")}),
    "continue": ("CI_FAILURE_IGNORED", {W: CI.replace("      - run: ruff", "      - continue-on-error: true\n        run: ruff")}),
    "if false": ("CI_CHECK_REMOVED", {W: CI.replace("    runs-on", "    if: ${{ false }}\n    runs-on")}),
    "step gone": ("CI_CHECK_REMOVED", {W: CI.replace("      - run: python -m pytest -q\n", "")}),
    "narrowed": ("CI_CHECK_REMOVED", {W: CI.replace("pytest -q", "pytest -q -k fast")}),
    "file gone": ("CI_CHECK_REMOVED", {W: None}),
    "trigger": ("CI_TRIGGER_NARROWED", {W: CI.replace("  pull_request:\n", "")}),
    "paths": ("CI_TRIGGER_NARROWED", {W: CI.replace("  pull_request:\n", "  pull_request:\n    paths: [docs/**]\n")}),
    "rights": ("CI_PERMISSIONS_WIDENED", {W: CI.replace("contents: read", "contents: write")}),
    "rights gone": ("CI_PERMISSIONS_WIDENED", {W: CI.replace("permissions:\n  contents: read\n", "")}),
    "privileged": ("CI_TRIGGER_PRIVILEGED", {W: CI.replace("  pull_request:\n", "  pull_request:\n  pull_request_target:\n")}),
    "coverage": ("LIMIT_LOWERED", {"pyproject.toml": TOML.replace("90", "80")}),
    "coverage gone": ("LIMIT_LOWERED", {"pyproject.toml": TOML.replace("fail_under = 90\n", "")}),
    "ignored": ("LIMIT_LOWERED", {"pyproject.toml": TOML.replace('"E501"', '"E501", "F401"')}),
    "deselected": ("LIMIT_LOWERED", {"pyproject.toml": TOML.replace('"E", "F"', '"E"')}),
    "lax types": ("LIMIT_LOWERED", {"pyproject.toml": TOML.replace("strict = true", "strict = false")}),
    "longer lines": ("LIMIT_LOWERED", {"pyproject.toml": TOML.replace("100", "300")}),
    "checker": ("CHECKER_WEAKENED", {"tools/lint.py": LINT.replace("return 1 if bad else 0", "return 0")}),
    "checker silent": ("CHECKER_WEAKENED", {"tools/lint.py": LINT.replace("sys.exit(main())", "main()")}),
    "checker limit": ("CHECKER_WEAKENED", {"tools/lint.py": LINT.replace("= 100", "= 999")}),
    "checker early": ("CHECKER_WEAKENED", {"tools/lint.py": LINT.replace("def main():\n", "def main():\n    return 0\n")}),
    "hook": ("HOOK_REMOVED", {".pre-commit-config.yaml": HOOKS.replace("      - id: secrets\n", "")}),
    "owners": ("OWNERS_WEAKENED", {".github/CODEOWNERS": "* @core\n/sec\n"}),
    "step to a runner that nobody starts": ("CI_CHECK_REMOVED", {W: CI.replace("      - run: ruff check .\n", ""), "tox.ini": "[testenv:lint]\ncommands = ruff check .\n"}),
    "step to a runner without it": ("CI_CHECK_REMOVED", {W: CI.replace("ruff check .", "tox"), "tox.ini": "[testenv]\ncommands = true\n"}),
    "step among what the runner installs": ("CI_CHECK_REMOVED", {W: CI.replace("ruff check .", "tox"), "tox.ini": "[testenv]\ndeps = ruff\ncommands = true\n"}),
    "step whose failure the runner ignores": ("CI_CHECK_REMOVED", {W: CI.replace("ruff check .", "tox"), "tox.ini": "[testenv]\ncommands = - ruff check .\n"}),
    "step to settings of the tool alone": ("CI_CHECK_REMOVED", {W: CI.replace("ruff check .", "hatch build")}),
    "step commented out in the runner": ("CI_CHECK_REMOVED", {W: CI.replace("ruff check .", "tox"), "tox.ini": "[testenv]\ncommands = true\n# ruff check .\n"}),
    "main branch left": ("CI_TRIGGER_NARROWED", {W: CI.replace("[main]", "[stable]")}),
    "moved and lowered": ("LIMIT_LOWERED", {"pyproject.toml": TOML.replace("fail_under = 90", ""), ".coveragerc": "[report]\nfail_under = 60\n"}),
    "moved to a file of another tool": ("LIMIT_LOWERED", {"pyproject.toml": TOML.replace("strict = true", ""), "tox.ini": "[testenv]\nstrict = true\n"}),
    "hook for a lesser one": ("HOOK_REMOVED", {".pre-commit-config.yaml": HOOKS.replace("id: secrets", "id: end-of-file-fixer")}),
    "gate": ("GATE_SETTINGS_CHANGED", {".gatekeeper.toml": '[[suite]]\nname = "u"\n'}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_a_weaker_yardstick_is_stopped_with_one_finding(name):
    code, after = CHEATS[name]
    found = check(tree_evidence(REPO, after, verify="python tools/lint.py"))
    assert [(f.code, f.category, f.effect.value) for f in found] == [(code, "config_weakening", "blocks")]


HONEST = {
    "coverage raised": {"pyproject.toml": TOML.replace("90", "95")},
    "more rules": {"pyproject.toml": TOML.replace('"E", "F"', '"E", "F", "B"')},
    "ignored less": {"pyproject.toml": TOML.replace('"E501"', "")},
    "shorter lines": {"pyproject.toml": TOML.replace("100", "90")},
    "version": {"pyproject.toml": '[project]\nversion = "2"\n' + TOML},
    "one more check": {W: CI + "      - run: mypy .\n"},
    "comment": {W: "# continuous integration\n" + CI},
    "stricter checker": {"tools/lint.py": LINT.replace("= 100", "= 80")},
    "hook added": {".pre-commit-config.yaml": HOOKS + "      - id: mypy\n"},
    "step to a task runner": {W: CI.replace("ruff check .", "tox"), "tox.ini": "[tox]\nenv_list = py, lint\n\n[testenv:lint]\ncommands = ruff check .\n"},
    "step to a named environment": {W: CI.replace("ruff check .", "tox -e lint"), "tox.ini": "[testenv:lint]\ncommands = ruff check .\n"},
    "settings to another file": {"pyproject.toml": TOML.replace("fail_under = 90", ""), ".coveragerc": "[report]\nfail_under = 90\n"},
    "how tox installs": {"tox.ini": "[testenv]\nskip_install = true\ncommands = pytest\n"},
    "owner added": {"README.md": "Never use --no-verify.\n"},
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_look_alike_passes(name):
    assert check(tree_evidence(REPO, HONEST[name], verify="python tools/lint.py")) == ()


def test_a_permitted_matrix_passes():
    after = {
        W: CI.replace(
            "    runs-on: linux\n",
            "    strategy:\n      matrix:\n        python: ['3.11', '3.12']\n    runs-on: linux\n",
        )
    }
    assert check(tree_evidence(REPO, after, permits=[permit("change_ci", paths=[W])])) == ()


def test_a_permit_of_another_file_permits_nothing():
    after = {W: CI.replace("  pull_request:\n", "")}
    assert [
        f.code
        for f in check(tree_evidence(REPO, after, permits=[permit("change_ci", paths=[".github/workflows/r.yml"])]))
    ] == ["CI_TRIGGER_NARROWED"]


@pytest.mark.parametrize("given", [{"commands": ["git commit --no-verify -m x"]}, {"commands": ["git -c core.hooksPath=/dev/null commit"]}, {"message": "fix\n\ngit commit -n was needed"}])  # fmt: skip
def test_going_past_hooks_asks_a_person(given):
    (found,) = check(tree_evidence(REPO, {"README.md": "y\n"}, **given))
    assert (found.code, found.effect.value) == ("HOOKS_BYPASSED", "asks")


@pytest.mark.parametrize(("kind", "codes"), [("change_instruments", []), ("change_ci", ["LIMIT_LOWERED"])])
def test_a_permit_for_ci_is_none_for_the_limits_of_a_tool(kind, codes):
    lower = {"pyproject.toml": TOML.replace("90", "80")}
    found = check(tree_evidence(REPO, lower, permits=[permit(kind, paths=["pyproject.toml"])]))
    assert [f.code for f in found] == codes


def test_wider_rights_are_told_beside_a_privileged_trigger():
    worse = CI.replace("  pull_request:\n", "  pull_request_target:\n").replace("contents: read", "contents: write")
    found = check(tree_evidence(REPO, {W: worse}))
    assert {f.code for f in found} == {"CI_TRIGGER_PRIVILEGED", "CI_TRIGGER_NARROWED", "CI_PERMISSIONS_WIDENED"}
    assert len({f.fingerprint for f in found}) == 3


@pytest.mark.parametrize(
    "after",
    [
        CI.replace("  pull_request:\n", "  pull_request:\n  merge_group:\n"),
        CI.replace("contents: read", "contents: read\n  checks: read"),
        CI.replace("permissions:\n  contents: read\n", "permissions: {}\n"),
        CI.replace("    branches: [main]", "    branches: [main, next]"),
    ],
)
def test_more_triggers_and_fewer_rights_are_no_fault(after):
    assert check(tree_evidence(REPO, {W: after})) == ()


PUSH = CI.replace("branches: [main]", "branches: [main, '*.x']")


def test_another_name_of_a_side_branch_and_a_narrower_ignore_are_nothing():
    assert check(tree_evidence({W: PUSH}, {W: PUSH.replace("'*.x'", "stable")})) == ()
    ignoring = CI.replace("    branches: [main]\n", "    branches: [main]\n    paths-ignore: ['*.md']\n")
    assert check(tree_evidence({W: ignoring}, {W: ignoring.replace("'*.md'", "'README.md'")})) == ()
    [found] = check(tree_evidence({W: ignoring}, {W: ignoring.replace("'*.md'", "'*.py'")}))
    assert (found.code, found.effect.value) == ("CI_TRIGGER_NARROWED", "blocks")


def test_rights_that_reach_no_code_go_to_a_person():
    asked = CI.replace("contents: read", "contents: read\n  discussions: write")
    [found] = check(tree_evidence(REPO, {W: asked}))
    assert (found.code, found.effect.value) == ("CI_PERMISSIONS_WIDENED", "asks")
    both = CI.replace("contents: read", "contents: write\n  discussions: write")
    [found] = check(tree_evidence(REPO, {W: both}))
    assert (found.code, found.effect.value) == ("CI_PERMISSIONS_WIDENED", "blocks")


def test_settings_that_moved_whole_are_no_loss():
    old = {
        "setup.cfg": "[coverage:run]\nbranch = True\n\n[mypy]\ndisallow_untyped_defs = True\n\n[flake8]\nselect = E,F\n"
    }
    toml = '[tool.coverage.run]\nbranch = true\n\n[tool.mypy]\nstrict = true\n\n[tool.ruff.lint]\nselect = ["E", "F", "B"]\n'
    assert check(tree_evidence(old, {"setup.cfg": None, "pyproject.toml": toml})) == ()
    [found] = check(tree_evidence(old, {"setup.cfg": None, "pyproject.toml": toml.replace('"E", ', "")}))
    assert "flake8.select" in found.message
    assert "branch" not in found.message


def test_hooks_give_way_to_one_that_does_the_same():
    old = "repos:\n  - repo: x\n    hooks:\n      - id: flake8\n      - id: black\n"
    new = "repos:\n  - repo: x\n    hooks:\n      - id: ruff\n      - id: ruff-format\n"
    path = ".pre-commit-config.yaml"
    assert check(tree_evidence({path: old}, {path: new})) == ()
    [found] = check(tree_evidence({path: old}, {path: new.replace("      - id: ruff-format\n", "")}))
    assert "black" in found.message
    assert "flake8" not in found.message


def test_a_step_left_to_a_task_that_may_not_run_goes_to_a_person():
    for command, name, content in (
        ("tox", "tox.ini", "[tox]\nenv_list = py\n\n[testenv:lint]\ncommands = ruff check .\n"),
        ("make all", "Makefile", "lint:\n\truff check .\n"),
    ):
        [found] = check(tree_evidence(REPO, {W: CI.replace("ruff check .", command), name: content}))
        assert (found.code, found.effect.value) == ("CI_CHANGED", "asks")


TRAVIS = "language: python\nscript:\n  - pytest -q\n  - ruff check .\n"
ACTIONS = CI.replace("python -m pytest -q", "pytest -q --color=yes")


def test_ci_may_move_to_another_system_with_all_its_checks():
    assert check(tree_evidence({".travis.yml": TRAVIS}, {".travis.yml": None, W: ACTIONS})) == ()


@pytest.mark.parametrize(
    "new",
    [
        ACTIONS.replace("      - run: ruff check .\n", ""),
        ACTIONS.replace("pytest -q", "pytest -q -k fast"),
        ACTIONS.replace("pytest -q", "pytest -q || true"),
        ACTIONS.replace("  pull_request:\n  push:\n    branches: [main]\n", "  workflow_dispatch:\n"),
        ACTIONS.replace("      - run: ruff", "      - continue-on-error: true\n        run: ruff"),
    ],
)
def test_ci_that_loses_a_check_on_the_way_is_stopped(new):
    found = check(tree_evidence({".travis.yml": TRAVIS}, {".travis.yml": None, W: new}))
    assert ("CI_CHECK_REMOVED", "blocks") in [(f.code, f.effect.value) for f in found]


def test_strict_stands_for_the_switches_that_it_holds():
    old = "[tool.mypy]\ndisallow_untyped_defs = true\nwarn_unreachable = true\n"
    new = "[tool.mypy]\nstrict = true\nwarn_unreachable = true\n"
    assert check(tree_evidence({"pyproject.toml": old}, {"pyproject.toml": new})) == ()
    [found] = check(tree_evidence({"pyproject.toml": old}, {"pyproject.toml": "[tool.mypy]\nstrict = true\n"}))
    assert "warn_unreachable" in found.message
    assert "disallow_untyped_defs" not in found.message
