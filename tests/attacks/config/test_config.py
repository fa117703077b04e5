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


TYPED = "[tool.mypy]\nfiles = ['src', 'tests']\nwarn_unreachable = true\n"
MYPY = {
    "pyproject.toml": TYPED,
    "setup.cfg": "[flake8]\nselect = B, E, F, W\n",
    "tox.ini": "[testenv:typing]\ncommands = mypy\n",
}


@pytest.mark.parametrize(
    ("after", "effect"),
    [
        (TYPED.replace("warn_unreachable = true", ""), "blocks"),
        (TYPED.replace("warn_unreachable = true", "") + "[tool.pyright]\ninclude = ['src']\n", "blocks"),
        (TYPED.replace("warn_unreachable = true", "") + "[tool.pyright]\ntypeCheckingMode = 'off'\n", "blocks"),
        (TYPED.replace("warn_unreachable = true", "disallow_untyped_defs = true"), "asks"),
        (TYPED.replace("warn_unreachable = true", "pretty = true"), "blocks"),
        (TYPED.replace("warn_unreachable = true", "warn_unused_configs = true"), "blocks"),
        (TYPED.replace("warn_unreachable = true", "error_summary = true"), "blocks"),
        (TYPED + "ignore_errors = true\nwarn_return_any = true\n", "blocks"),
        (TYPED + "ignore_missing_imports = true\nwarn_return_any = true\n", "blocks"),
        (TYPED.replace("warn_unreachable = true", "strict = true"), "asks"),
        (TYPED.replace("'src', 'tests'", "'src'") + "warn_return_any = true\n", "asks"),
        (TYPED.replace("'src', 'tests'", "'src/'") + "warn_return_any = true\n", "asks"),
        (TYPED.replace("'src', 'tests'", "'tests'") + "warn_return_any = true\n", "blocks"),
        (TYPED.replace("'src', 'tests'", "'src'"), "blocks"),
    ],
)
def test_a_type_checker_that_is_exchanged_goes_to_a_person(after, effect):
    found = check(tree_evidence(MYPY, {"pyproject.toml": after}))
    assert [(f.code, f.effect.value) for f in found] == [("LIMIT_LOWERED", effect)]


@pytest.mark.parametrize(("gone", "effect"), [("warn_unreachable = true\n", "advises"), ("warn_return_any = true\n", None), ("strict = true\n", "blocks"), ("'src', ", "blocks")])  # fmt: skip
def test_what_goes_beyond_strict_is_told(gone, effect):
    strict = TYPED + "strict = true\nwarn_return_any = true\n"
    found = check(tree_evidence({**MYPY, "pyproject.toml": strict}, {"pyproject.toml": strict.replace(gone, "")}))
    assert [f.effect.value for f in found] == ([effect] if effect else [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ignore_errors = false", "ignore_errors = true"),
        ("pretty = true", "ignore_errors = true"),
        ("strict_optional = true", "strict_optional = false"),
        ("pretty = true", "strict_optional = false"),
        ("pretty = true", "ignore_missing_imports = true"),
        ("pretty = true", "follow_imports = 'skip'"),
        ("pretty = true", "disable_error_code = ['arg-type']"),
    ],
)
def test_what_lets_faults_of_types_pass_is_stopped_whatever_strict_says(old, new):
    strict = f"[tool.mypy]\nstrict = true\n{old}\n"
    [found] = check(tree_evidence({**MYPY, "pyproject.toml": strict}, {"pyproject.toml": strict.replace(old, new)}))
    assert (found.code, found.effect.value) == ("LIMIT_LOWERED", "blocks")
    assert check(tree_evidence({"pyproject.toml": strict.replace(old, new)}, {"pyproject.toml": strict})) == ()


def test_a_folder_around_the_old_one_and_another_spelling_are_no_loss():
    repo = {"setup.cfg": "[mypy]\nfiles = src/shop/, tests/\n"}
    assert check(tree_evidence(repo, {"setup.cfg": "[mypy]\nfiles = src, tests\n"})) == ()
    assert check(tree_evidence(repo, {"setup.cfg": "[mypy]\nfiles = src/shop, tests\n"})) == ()
    assert [f.code for f in check(tree_evidence(repo, {"setup.cfg": "[mypy]\nfiles = src/sho, tests\n"}))] == [
        "LIMIT_LOWERED"
    ]


@pytest.mark.parametrize(("kept", "codes"), [("extend-select = B", []), ("extend-select = C", ["LIMIT_LOWERED"]), ("extend-select =", ["LIMIT_LOWERED"])])  # fmt: skip
def test_rules_that_a_linter_selects_by_itself_are_kept(kept, codes):
    after = {"setup.cfg": "[flake8]\n", ".flake8": f"[flake8]\n{kept}\n"}
    assert [f.code for f in check(tree_evidence(MYPY, after))] == codes


@pytest.mark.parametrize(
    ("repo", "codes"),
    [
        ({"README.md": "x"}, []),
        ({"README.md": "x", W: CI.replace("      - run: ruff check .\n", "      - uses: actions/cache@v4\n")}, []),
        ({"README.md": "x", "requirements/dev.txt": "mypy==1.0\n"}, ["LIMIT_LOWERED"]),
        ({"scripts/check": "#!/bin/sh\nmypy src\n"}, ["LIMIT_LOWERED"]),
        ({"tools/lint.py": "import subprocess\nsubprocess.call(['mypy', 'src'])\n"}, ["LIMIT_LOWERED"]),
        ({"requirements/dev.txt": "pytest-mypy\n"}, ["LIMIT_LOWERED"]),
        ({W: CI + "      - uses: acme/types@v1\n"}, ["LIMIT_LOWERED"]),
        ({W: CI.replace("    steps:", "    strategy:\n      matrix:\n        include:\n          - {os: a}\n    steps:")}, []),
        ({".gitlab-ci.yml": "include:\n  - project: acme/checks\n"}, ["LIMIT_LOWERED"]),
        ({".gitlab-ci.yml": "t:\n  trigger:\n    include: a.yml\n"}, ["LIMIT_LOWERED"]),
        ({"setup.cfg": "[mypy]\nstrict = true\n"}, ["LIMIT_LOWERED"]),
        ({"mypy.ini": "[mypy]\nstrict = true\n"}, ["LIMIT_LOWERED"]),
        ({"tox.ini": "[testenv:typing]\ncommands = mypy src\n"}, ["LIMIT_LOWERED"]),
        ({W: CI + "      - run: mypy src\n"}, ["LIMIT_LOWERED"]),
        ({".pre-commit-config.yaml": HOOKS + "      - id: mypy\n"}, ["LIMIT_LOWERED"]),
    ],
)  # fmt: skip
def test_a_tool_that_arrives_lowers_nothing_and_one_that_is_used_does(repo, codes):
    lax = {"pyproject.toml": "[tool.mypy]\nignore_missing_imports = true\nno_implicit_optional = true\n"}
    found = check(tree_evidence({**repo, "pyproject.toml": "[project]\nname = 'x'\n"}, lax))
    assert [f.code for f in found] == codes


@pytest.mark.parametrize(
    ("repo", "codes"),
    [
        ({W: CI.replace("pytest -q", "pytest --cov=shop --cov-fail-under=90")}, ["LIMIT_LOWERED"]),
        ({"requirements-dev.txt": "pytest-cov\n"}, ["LIMIT_LOWERED"]),
        ({"docs/a.md": "Tests discover.\n"}, []),
    ],
)
@pytest.mark.parametrize("lax", ['run]\nomit = ["shop/*"]\n', 'report]\nexclude_also = [".*"]\n'])
def test_coverage_that_a_plugin_measures_is_used(repo, codes, lax):
    toml = "[build-system]\nrequires = ['setuptools']\n"
    found = check(tree_evidence({**repo, "pyproject.toml": toml}, {"pyproject.toml": f"{toml}[tool.coverage.{lax}"}))
    assert [f.code for f in found] == codes


@pytest.mark.parametrize(
    ("rule", "effect"),
    [
        ("UP007", "asks"),
        ("D100", "asks"),
        ("F401", "blocks"),
        ("S603", "blocks"),
        ("B006", "blocks"),
        ("E722", "blocks"),
        ("E", "blocks"),
    ],
)
def test_an_ignored_rule_of_style_goes_to_a_person(rule, effect):
    after = {"pyproject.toml": TOML.replace('"E501"', f'"E501", "{rule}"')}
    assert [(f.code, f.effect.value) for f in check(tree_evidence(REPO, after))] == [("LIMIT_LOWERED", effect)]


@pytest.mark.parametrize(
    ("row", "codes"),
    [
        ("if t.TYPE_CHECKING", []),
        ("raise NotImplementedError", []),
        (r": \\.{3}", []),
        ("pragma: no cover", []),
        ("def ", ["LIMIT_LOWERED"]),
        (r"raise NotImplementedError\\(\\)", []),
        ("if __name__ == .__main__.:", []),
        ("if __name__ == '__main__'", []),
        (r"if __name__ == \"__main__\":", []),
        ("raise NotImplementedError|return", ["LIMIT_LOWERED"]),
        ("raise NotImplementedError|.", ["LIMIT_LOWERED"]),
        ("raise AssertionError|", ["LIMIT_LOWERED"]),
        ("if __name__ == '__main__'|.", ["LIMIT_LOWERED"]),
        ("if __name__ == '|.__main__.", ["LIMIT_LOWERED"]),
        ("if TYPE_CHECKING:|.", ["LIMIT_LOWERED"]),
        ("if .*", ["LIMIT_LOWERED"]),
    ],
)
def test_only_what_never_runs_is_left_out_of_coverage(row, codes):
    after = {"pyproject.toml": TOML.replace("fail_under = 90", f'fail_under = 90\nexclude_also = ["{row}"]')}
    assert [f.code for f in check(tree_evidence(REPO, after))] == codes


@pytest.mark.parametrize(("gone", "effect"), [("pip-compile-multi-verify", "asks"), ("pyupgrade", "asks"), ("bandit", "blocks"), ("mypy", "blocks")])  # fmt: skip
def test_a_hook_that_only_tidies_goes_to_a_person(gone, effect):
    repo = {".pre-commit-config.yaml": HOOKS + f"      - id: {gone}\n".replace("pyupgrade", "doc8")}
    found = check(tree_evidence(repo, {".pre-commit-config.yaml": HOOKS}))
    assert [(f.code, f.effect.value) for f in found] == [("HOOK_REMOVED", effect)]
    others = check(tree_evidence(repo, {".pre-commit-config.yaml": HOOKS + "      - id: debug-statements\n"}))
    assert [f.effect.value for f in others] == [effect]
    emptied = check(tree_evidence(repo, {".pre-commit-config.yaml": "repos: []\n"}))
    assert [(f.code, f.effect.value) for f in emptied] == [("HOOK_REMOVED", "blocks")]


@pytest.mark.parametrize(
    ("gone", "came", "effect"),
    [
        ("codespell", "typos", "advises"),
        ("pip-compile", "poetry-lock", "advises"),
        ("codespell", "nothing", "asks"),
        ("check-manifest", "uv-lock", "asks"),
        ("check-manifest", "nothing", "asks"),
        ("secrets", "secrets\n        entry: 'true'", "blocks"),
        ("secrets", "secrets\n        entry: echo fine", "blocks"),
        ("secrets", "secrets\n        args: [--version]", "blocks"),
        ("mypy", "ty\n        entry: sh -c 'exit 0'", "blocks"),
        ("secrets", "secrets\n        entry: secrets --all", None),
    ],
)
def test_a_hook_in_place_of_another_is_weighed_by_its_purpose(gone, came, effect):
    path, start = ".pre-commit-config.yaml", "repos:\n  - repo: x\n    hooks:\n      - id: ruff\n"
    found = check(tree_evidence({path: start + f"      - id: {gone}\n"}, {path: start + f"      - id: {came}\n"}))
    assert [(f.code, f.effect.value) for f in found] == ([("HOOK_REMOVED", effect)] if effect else [])


def _compiled(by):
    return f"#\n# This file is autogenerated by {by}\n#\npytest==9.2.0\n"


MULTI, SINGLE = _compiled("pip-compile-multi"), _compiled("pip-compile with Python 3.12")


@pytest.mark.parametrize(
    ("locks", "after", "effect"),
    [
        ({"req/a.txt": MULTI, "req/b.txt": MULTI}, {"req/a.txt": SINGLE, "req/b.txt": SINGLE}, "advises"),
        ({"req/a.txt": MULTI}, {"req/a.txt": _compiled("uv via the following command")}, "advises"),
        ({"req/a.txt": MULTI, "req/b.txt": MULTI}, {"req/a.txt": SINGLE}, "asks"),
        ({"req/a.txt": MULTI}, {"req/a.txt": "pytest==9.2.0\n"}, "asks"),
        ({"req/a.txt": MULTI}, {"req/a.txt": "pytest==9.2.0\n" * 100 + SINGLE}, "asks"),
        ({"req/a.txt": MULTI}, {"req/a.txt": None}, "asks"),
        ({"req/a.txt": MULTI}, {"req/a.txt": None, "req/c.txt": SINGLE}, "asks"),
        ({"req/a.txt": MULTI}, {"req/a.txt": SINGLE, "req/c.txt": MULTI}, "asks"),
        ({"req/a.txt": "pytest==9.2.0\n"}, {"req/a.txt": SINGLE}, "asks"),
        ({}, {}, "asks"),
    ],
)
@pytest.mark.parametrize("hook", ["pip-compile-multi-verify", "check-manifest"])
def test_a_hook_goes_with_the_lock_files_that_it_looked_after(locks, after, effect, hook):
    path = ".pre-commit-config.yaml"
    repo = {path: HOOKS + f"      - id: {hook}\n", **locks}
    found = check(tree_evidence(repo, {path: HOOKS, **after}))
    told = effect if hook.startswith("pip") else "asks"
    assert [(f.code, f.effect.value) for f in found] == [("HOOK_REMOVED", told)]


def test_a_hook_of_two_tools_goes_only_where_it_is_known_whose_it_was():
    path = ".pre-commit-config.yaml"
    before, by_uv = {path: HOOKS + "      - id: pip-compile\n", "a.txt": SINGLE}, _compiled("uv via a command")
    [found] = check(tree_evidence(before, {path: HOOKS, "a.txt": by_uv}))
    assert (found.code, found.effect.value) == ("HOOK_REMOVED", "advises")
    [found] = check(tree_evidence({**before, "b.txt": by_uv}, {path: HOOKS, "a.txt": by_uv}))
    assert (found.code, found.effect.value) == ("HOOK_REMOVED", "asks")


@pytest.mark.parametrize(
    ("before", "after", "effect"),
    [
        ("", "    continue-on-error: ${{ matrix.experimental }}\n", "asks"),
        ("", "    continue-on-error: ${{ matrix.experimental || false }}\n", "asks"),
        ("", "    continue-on-error: ${{ matrix.os == 'mac' }}\n", "asks"),
        ("", "    continue-on-error: ${{ matrix.experimental || true }}\n", "blocks"),
        ("", "    continue-on-error: ${{ matrix.os || 'x' }}\n", "blocks"),
        ("", "    steps2:\n      - uses: acme/lint@v1\n        continue-on-error: true\n", "blocks"),
        ("", "    continue-on-error: ${{ always() }}\n", "blocks"),
        (
            "    continue-on-error: true\n",
            "    steps2:\n      - run: pytest\n        continue-on-error: true\n",
            "asks",
        ),
        ("", "    continue-on-error: true\n", "blocks"),
    ],
)
def test_failures_that_did_not_count_before_go_to_a_person(before, after, effect):
    base, merged = (CI.replace("    runs-on: linux\n", f"    runs-on: linux\n{x}") for x in (before, after))
    found = check(tree_evidence({W: base}, {W: merged}))
    assert [(f.code, f.effect.value) for f in found] == [("CI_FAILURE_IGNORED", effect)]


@pytest.mark.parametrize(("step", "codes"), [("uses: actions/cache@v4", []), ("run: mypy .", ["CI_CHECK_REMOVED"]), ("uses: acme/lint@v1", ["CI_CHECK_REMOVED"])])  # fmt: skip
def test_a_condition_of_a_step_that_checks_nothing_is_no_loss(step, codes):
    before = CI + f"      - {step}\n"
    found = check(tree_evidence({W: before}, {W: before + "        if: matrix.tox == 'typing'\n"}))
    assert [f.code for f in found] == codes
    assert check(tree_evidence({W: CI}, {W: before + "        if: matrix.tox == 'typing'\n"})) == ()


@pytest.mark.parametrize(
    ("module", "codes"),
    [
        ("argcomplete.*", []),
        ("lost.*", []),
        ("payments.*", ["LIMIT_LOWERED"]),
        ("shop.*", ["LIMIT_LOWERED"]),
        ("*", ["LIMIT_LOWERED"]),
        ("tests.*", ["LIMIT_LOWERED"]),
    ],
)
def test_imports_of_strangers_need_no_types(module, codes):
    code = {"src/shop/a.py": "x = 1\n", "tests/test_a.py": "", "lib/payments/a.py": "", "src/vendor/lost/a.py": ""}
    repo = {**MYPY, **code}
    toml = TYPED + f"[[tool.mypy.overrides]]\nmodule = ['{module}']\nignore_missing_imports = true\n"
    assert [f.code for f in check(tree_evidence(repo, {"pyproject.toml": toml}))] == codes
    ini = MYPY["setup.cfg"] + f"[mypy-{module}]\nignore_missing_imports = True\n"
    assert [f.code for f in check(tree_evidence(repo, {"setup.cfg": ini}))] == codes


WHEELS = "on:\n  pull_request:\n  push:\njobs:\n  wheels:\n    runs-on: linux\n    steps:\n      - uses: acme/cibuildwheel@v1\n"


@pytest.mark.parametrize(
    ("more", "effect"),
    [
        ("", "advises"),
        ("      - uses: actions/checkout@v4\n      - run: python -m build\n", "advises"),
        ("      - run: pip install build && ./ci.sh\n", "blocks"),
        ("      - uses: acme/thing@v1\n", "blocks"),
        ("      - uses: ./.github/actions/publish\n", "blocks"),
        ("      - run: ./scripts/run-tests.sh\n", "blocks"),
        ("      - run: ./ci.sh\n", "blocks"),
        ("      - run: python -m behave\n", "blocks"),
        ("      - run: pytest\n", "blocks"),
        ("        env:\n          CIBW_TEST_COMMAND: x\n", "blocks"),
        ("      - uses: acme/lint@v1\n", "blocks"),
    ],
)
def test_building_less_often_is_told(more, effect):
    found = check(tree_evidence({W: WHEELS + more}, {W: (WHEELS + more).replace("  pull_request:\n", "")}))
    assert [(f.code, f.effect.value) for f in found] == [("CI_TRIGGER_NARROWED", effect)]


def test_wheels_that_are_tested_as_they_are_built_count():
    repo = {W: WHEELS, "pyproject.toml": "[tool.cibuildwheel]\ntest-command = 'x'\n"}
    [found] = check(tree_evidence(repo, {W: WHEELS.replace("  pull_request:\n", "")}))
    assert (found.code, found.effect.value) == ("CI_TRIGGER_NARROWED", "blocks")


@pytest.mark.parametrize("command", ["./scripts/run-tests.sh", "python -m behave", "./ci.sh"])
def test_a_command_of_unknown_meaning_may_be_the_check(command):
    flow = f"on: [push, pull_request]\njobs:\n  b:\n    steps:\n      - uses: actions/checkout@v4\n      - run: {command}\n"
    [found] = check(tree_evidence({W: flow}, {W: flow.replace("[push, pull_request]", "workflow_dispatch")}))
    assert (found.code, found.effect.value) == ("CI_TRIGGER_NARROWED", "blocks")


DOCS = CI + "  docs:\n    steps:\n      - run: make docs\n        continue-on-error: true\n"
MOVABLE = CI + "      - run: make docs\n        continue-on-error: true\n"
COVERED = CI + "      - uses: codecov/codecov-action@v4\n"


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (DOCS, DOCS.replace("        continue-on-error: true\n", "").replace("-q\n", "-q\n        continue-on-error: true\n"), "CI_FAILURE_IGNORED"),
        (MOVABLE, MOVABLE.replace("        continue-on-error: true\n", "").replace("-q\n", "-q\n        continue-on-error: true\n"), "CI_FAILURE_IGNORED"),
        (COVERED, COVERED + "        if: false\n", "CI_CHECK_REMOVED"),
        (CI, CI.replace("pytest -q", "pytest -q --version"), "CI_CHECK_REMOVED"),
        (CI, CI.replace("pytest -q", "pytest -q --setup-plan"), "CI_CHECK_REMOVED"),
        (CI, CI.replace("pytest -q", "pytest -q --help"), "CI_CHECK_REMOVED"),
        (CI.replace("ruff check .", "./scripts/run-tests.sh"), CI.replace("      - run: ruff check .\n", ""), "CI_CHECK_REMOVED"),
    ],
)  # fmt: skip
def test_a_check_that_finds_nothing_any_more_is_stopped(before, after, code):
    [found] = check(tree_evidence({W: before}, {W: after}))
    assert (found.code, found.effect.value) == (code, "blocks")


def test_a_step_whose_failure_never_counted_may_stand_elsewhere():
    step = "      - run: make docs\n        continue-on-error: true\n"
    assert check(tree_evidence({W: MOVABLE}, {W: CI.replace("      - run: ruff", f"{step}      - run: ruff")})) == ()


def test_a_check_that_only_tells_its_version_takes_nothing_over():
    other = ".github/workflows/new.yml"
    found = check(tree_evidence({W: CI}, {W: None, other: CI.replace("pytest -q", "pytest --version")}))
    assert ("CI_CHECK_REMOVED", "blocks") in [(f.code, f.effect.value) for f in found]
    said = {W: CI.replace("ruff check .", "tox"), "tox.ini": "[testenv]\ncommands = ruff --version\n"}
    assert [f.code for f in check(tree_evidence(REPO, said))] == ["CI_CHECK_REMOVED"]
    assert (
        check(tree_evidence(REPO, {W: CI.replace("      - run: ruff", "      - run: cd tests\n      - run: ruff")}))
        == ()
    )


INI = "[flake8]\nselect = C, E, F, W, B\nignore = F401, E501\nexclude = build\n"
MOVED = "[tool.flake8]\nselect = ['C', 'E', 'F', 'W', 'B']\nignore = ['F401', 'E501']\nexclude = ['build']\n"


@pytest.mark.parametrize(
    ("moved", "codes"),
    [
        (MOVED, []),
        (MOVED.replace("'E501'", "'E501', 'F811'"), ["LIMIT_LOWERED"]),
        (MOVED.replace("'build'", "'build', 'src'"), ["LIMIT_LOWERED"]),
        (MOVED.replace(", 'B'", ""), ["LIMIT_LOWERED"]),
    ],
)
def test_exceptions_that_moved_along_are_no_new_ones(moved, codes):
    repo = {"setup.cfg": INI, "pyproject.toml": "[build-system]\nrequires = ['setuptools']\n"}
    assert [f.code for f in check(tree_evidence(repo, {"setup.cfg": None, "pyproject.toml": moved}))] == codes


@pytest.mark.parametrize(
    ("new", "effect"),
    [
        ("extend-exclude = venv, docs, .eggs, build", None),
        ("exclude = venv, docs, .tox", None),
        ("extend-exclude = venv, docs, tasks.py", "advises"),
        ("extend-exclude = venv, docs, src", "blocks"),
        ("extend-exclude = venv, docs, src/shop", "blocks"),
        ("extend-exclude = venv, docs, ./src/shop/a.py", "blocks"),
        ("extend-exclude = venv, docs, *.py", "blocks"),
        ("exclude = venv, docs, a.py", "blocks"),
        ("extend-exclude = venv, docs, shop/a.py", "blocks"),
        ("extend-exclude = venv, docs, x/../src", "blocks"),
        ("extend-exclude = venv, docs, ././src", "blocks"),
        ("extend-exclude = venv, docs, x//y", "blocks"),
        ("extend-exclude = venv, docs, /home/runner/work", "blocks"),
        ("extend-exclude = venv, docs, {src", "blocks"),
    ],
)
def test_an_exclusion_counts_by_the_files_that_it_leaves_out(new, effect):
    repo = {"setup.cfg": "[flake8]\nexclude = venv, docs\n", "src/shop/a.py": "x = 1\n", "docs/conf.py": ""}
    found = check(tree_evidence(repo, {"setup.cfg": f"[flake8]\n{new}\n"}))
    assert [(f.code, f.effect.value) for f in found] == ([("LIMIT_LOWERED", effect)] if effect else [])


PUSHED = CI.replace("  pull_request:\n  push:\n    branches: [main]\n", "  push:\n")


@pytest.mark.parametrize(
    ("on", "codes"),
    [
        ("  push:\n    branches: [main]\n  pull_request:\n    branches: [main]\n", []),
        ("  push:\n    branches: [main]\n  pull_request:\n", []),
        ("  push:\n    branches: [main]\n  pull_request:\n    types: [opened, synchronize, labeled]\n", []),
        ("  push:\n    branches: [main]\n  pull_request:\n    types: [closed]\n", ["CI_TRIGGER_NARROWED"]),
        ("  push:\n    branches: [main]\n  pull_request:\n    types: opened\n", ["CI_TRIGGER_NARROWED"]),
        ("  push:\n    branches: [main]\n", ["CI_TRIGGER_NARROWED"]),
        ("  push:\n    branches: [docs]\n  pull_request:\n", ["CI_TRIGGER_NARROWED"]),
        ("  push:\n    branches: [main]\n  pull_request:\n    branches: [docs]\n", ["CI_TRIGGER_NARROWED"]),
        ("  push:\n    branches: [main]\n  pull_request:\n    paths: [docs]\n", ["CI_TRIGGER_NARROWED"]),
    ],
)
def test_requests_in_place_of_pushes_elsewhere_are_no_loss(on, codes):
    after = PUSHED.replace("  push:\n", on)
    assert [f.code for f in check(tree_evidence({W: PUSHED}, {W: after}))] == codes


def test_errors_that_were_ignored_may_count_again():
    repo = {".coveragerc": "[report]\nignore_errors = True\nfail_on_missing = True\n"}
    assert check(tree_evidence(repo, {".coveragerc": "[report]\nfail_on_missing = True\n"})) == ()
    assert [f.code for f in check(tree_evidence(repo, {".coveragerc": "[report]\nignore_errors = True\n"}))] == [
        "LIMIT_LOWERED"
    ]


RUFF = "[tool.ruff.lint]\nselect = ['E', 'F', 'TCH']\nignore = ['E501']\n"


@pytest.mark.parametrize(
    ("select", "ignore", "codes"),
    [
        ("'E', 'F', 'TC', 'PYI'", "'E501', 'PYI036'", []),
        ("'E', 'F', 'TC', 'PYI'", "'E501', 'F821'", ["LIMIT_LOWERED"]),
        ("'E', 'F', 'TC', 'PYI'", "'E501', 'PYI036', 'F'", ["LIMIT_LOWERED"]),
        ("'E', 'F', 'TC001'", "'E501'", ["LIMIT_LOWERED"]),
        ("'E', 'F', 'PYI'", "'E501'", ["LIMIT_LOWERED"]),
    ],
)
def test_exceptions_from_new_rules_are_no_loss(select, ignore, codes):
    after = f"[tool.ruff.lint]\nselect = [{select}]\nignore = [{ignore}]\n"
    assert [f.code for f in check(tree_evidence({"pyproject.toml": RUFF}, {"pyproject.toml": after}))] == codes


@pytest.mark.parametrize(
    ("select", "ignore", "codes"),
    [
        ("'B', 'PYI'", "'PYI036'", []),
        ("'B', 'F', 'E'", "'F', 'E'", ["LIMIT_LOWERED"]),
        ("'B', 'F8'", "'F821'", ["LIMIT_LOWERED"]),
        ("'B', 'E'", "'E722'", ["LIMIT_LOWERED"]),
    ],
)
def test_rules_that_a_linter_looks_at_by_itself_are_not_new(select, ignore, codes):
    before = "[tool.ruff.lint]\nextend-select = ['B']\n"
    after = f"[tool.ruff.lint]\nextend-select = [{select}]\nignore = [{ignore}]\n"
    assert [f.code for f in check(tree_evidence({"pyproject.toml": before}, {"pyproject.toml": after}))] == codes
    extended = [f"extend = '../ruff.toml'\n{x.replace('tool.ruff.', '')}" for x in (before, after)]
    found = check(tree_evidence({"ruff.toml": extended[0]}, {"ruff.toml": extended[1]}))
    assert [f.code for f in found] == ["LIMIT_LOWERED"]


def test_letters_of_another_linter_hold_no_rules_of_this_one():
    repo = {"pyproject.toml": "[tool.ruff.lint]\nselect = ['E', 'PLE', 'F401']\n"}
    assert check(tree_evidence(repo, {"pyproject.toml": "[tool.ruff.lint]\nselect = ['E', 'PLE', 'F']\n"})) == ()
    found = check(tree_evidence(repo, {"pyproject.toml": "[tool.ruff.lint]\nselect = ['E', 'P', 'F']\n"}))
    assert [f.code for f in found] == ["LIMIT_LOWERED"]


@pytest.mark.parametrize(
    ("new", "effect"),
    [
        ("['docs', 'build', '^venv/']", None),
        ("['docs', 'generated']", "advises"),
        (r"['docs', '^gen/x\\.py$']".replace("\\\\", "\\"), "advises"),
        ("'.py'", "blocks"),
        ("['docs', 'src.shop']", "blocks"),
        ("['docs', 'env']", "blocks"),
        ("['docs', 'shop/$']", "blocks"),
        ("['docs', '^./src']", "blocks"),
        ("['docs', '^environment']", "blocks"),
        ("['docs', 'nothing|s']", "blocks"),
        ("['docs', '(a|a)+$']", "blocks"),
        ("['docs', '(?i)SRC']", "blocks"),
        ("['docs', 'tests/']", "blocks"),
    ],
)
def test_exclusions_of_the_type_checker_are_expressions(new, effect):
    repo = {"src/shop/environment.py": "x = 1\n", "tests/test_a.py": "", "docs/a.md": "", "vendored.txt": ""}
    toml = "[tool.mypy]\nstrict = true\nexclude = ['docs']\n"
    found = check(tree_evidence({**repo, "pyproject.toml": toml}, {"pyproject.toml": toml.replace("['docs']", new)}))
    assert [(f.code, f.effect.value) for f in found] == ([("LIMIT_LOWERED", effect)] if effect else [])


@pytest.mark.parametrize(("new", "effect"), [("'build'", None), ("'gen'", "advises"), ("'{src,lib}'", "blocks"), ("'x/../src'", "blocks"), ("'[s]rc'", "blocks")])  # fmt: skip
def test_exclusions_beyond_plain_paths_cannot_be_judged(new, effect):
    repo = {"src/a.py": "", "pyproject.toml": "[tool.ruff]\nexclude = ['docs']\n"}
    found = check(tree_evidence(repo, {"pyproject.toml": f"[tool.ruff]\nexclude = ['docs', {new}]\n"}))
    assert [f.effect.value for f in found] == ([effect] if effect else [])
    other = {x: c.replace("tool.ruff", "tool.vulture") for x, c in repo.items()}
    found = check(tree_evidence(other, {"pyproject.toml": f"[tool.vulture]\nexclude = ['docs', {new}]\n"}))
    assert [f.effect.value for f in found] == ["blocks"]


LAX = "[mypy]\nignore_errors = true\n"
BARE = "[build-system]\nrequires = ['setuptools']\n"
FROM = BARE + "[tool.mypy]\nignore_errors = true\n"


@pytest.mark.parametrize(
    ("base", "after", "codes"),
    [
        ({"mypy.ini": LAX, "pyproject.toml": BARE}, {"mypy.ini": None, "pyproject.toml": FROM}, []),
        ({"a/mypy.ini": LAX, "pyproject.toml": BARE}, {"a/mypy.ini": None, "pyproject.toml": FROM}, ["LIMIT_LOWERED"]),
        ({"mypy.ini": "[mypy]\nstrict = true\n", "setup.cfg": LAX, "pyproject.toml": BARE}, {"setup.cfg": None, "pyproject.toml": FROM}, ["LIMIT_LOWERED"]),
        ({"setup.cfg": LAX, "pyproject.toml": BARE + "[tool.mypy]\npretty = true\n"}, {"setup.cfg": None, "pyproject.toml": FROM}, ["LIMIT_LOWERED"]),
    ],
)  # fmt: skip
def test_only_what_a_tool_read_can_have_moved(base, after, codes):
    assert [f.code for f in check(tree_evidence(base, after))] == codes


@pytest.mark.parametrize(("path", "codes"), [(".coveragerc", []), ("attic/.coveragerc", ["LIMIT_LOWERED"])])
def test_settings_are_kept_where_the_tool_looks_for_them(path, codes):
    toml = "[tool.coverage.report]\nfail_under = 90\n"
    after = {"pyproject.toml": BARE, path: "[report]\nfail_under = 90\n"}
    assert [f.code for f in check(tree_evidence({"pyproject.toml": toml}, after))] == codes


@pytest.mark.parametrize(
    ("more", "effect"),
    [
        ({"tox.ini": "[testenv:typing]\ncommands =\n    mypy\n    pyright\n"}, "asks"),
        ({W: CI + "      - run: pyright\n"}, "asks"),
        ({".pre-commit-config.yaml": HOOKS + "      - id: pyright\n"}, "asks"),
        ({"tox.ini": "[testenv:typing]\ndeps = pyright\ncommands = mypy\n"}, "blocks"),
        ({"tox.ini": "[testenv:typing]\ncommands =\n    mypy\n    - pyright\n"}, "blocks"),
        ({"tox.ini": "[testenv:typing]\ncommands =\n    mypy\n    pyright --version\n"}, "blocks"),
        ({W: CI + "      - run: pip install pyright\n"}, "blocks"),
        ({"Makefile": "# pyright\nall:\n\techo pyright\n"}, "blocks"),
        ({"README.md": "pyright\n"}, "blocks"),
    ],
)
def test_settings_of_a_type_checker_that_nothing_runs_pay_for_no_switch(more, effect):
    lax = TYPED.replace("warn_unreachable = true", "") + "[tool.pyright]\ninclude = ['src']\n"
    found = check(tree_evidence({**MYPY, W: CI}, {"pyproject.toml": lax, **more}))
    assert [(f.code, f.effect.value) for f in found if f.path == "pyproject.toml"] == [("LIMIT_LOWERED", effect)]


LIMIT = "[tool.coverage.report]\nfail_under = 90\n"


@pytest.mark.parametrize(
    ("path", "content", "codes"),
    [
        ("setup.cfg", "[coverage:report]\nfail_under = 90\n", []),
        (".coveragerc", "[report]\nfail_under = 90\n", []),
        ("setup.cfg", "[coverage.report]\nfail_under = 90\n", ["LIMIT_LOWERED"]),
        ("setup.cfg", "[report]\nfail_under = 90\n", ["LIMIT_LOWERED"]),
        ("tox.ini", "[tool.coverage.report]\nfail_under = 90\n", ["LIMIT_LOWERED"]),
        ("setup.cfg", "[Coverage:report]\nfail_under = 90\n", ["LIMIT_LOWERED"]),
        ("setup.cfg", "[coverage:report]\nfail-under = 90\n", ["LIMIT_LOWERED"]),
        (".coveragerc", "[report]\nfail-under = 90\n", ["LIMIT_LOWERED"]),
        ("pyproject.toml", BARE + LIMIT.replace("fail_under", "fail-under"), ["LIMIT_LOWERED"]),
    ],
)
def test_a_limit_that_moved_counts_where_coverage_reads_it(path, content, codes):
    repo = {
        "pyproject.toml": BARE + LIMIT,
        "setup.cfg": "[metadata]\nname = x\n",
        "tox.ini": "[testenv]\ncommands = a\n",
    }
    found = check(tree_evidence(repo, {"pyproject.toml": BARE, path: content}))
    assert [f.code for f in found] == codes


STRICT = {"setup.cfg": "[mypy]\nstrict = True\nwarn_unreachable = True\n", "pyproject.toml": BARE}


@pytest.mark.parametrize(
    ("base", "after", "codes"),
    [
        (STRICT, {"pyproject.toml": BARE + "[tool.mypy]\npretty = true\n"}, ["LIMIT_LOWERED"]),
        (STRICT, {"pyproject.toml": BARE + "[tool.mypy]\n"}, ["LIMIT_LOWERED"]),
        (STRICT, {"mypy.ini": ""}, ["LIMIT_LOWERED"]),
        (STRICT, {"mypy.ini": "[mypy]\nstrict = True\n"}, ["LIMIT_LOWERED"]),
        (
            STRICT,
            {"mypy.ini": "[mypy]\nstrict = True\nwarn_unreachable = True\nignore_errors = True\n"},
            ["LIMIT_LOWERED"],
        ),
        (STRICT, {"mypy.ini": "[mypy]\nstrict = True\nwarn_unreachable = True\npretty = True\n"}, []),
        (STRICT, {"docs/mypy.ini": "[mypy]\n"}, []),
        ({"pyproject.toml": LIMIT}, {".coveragerc": "[run]\nbranch = True\n"}, ["LIMIT_LOWERED"]),
        ({"pyproject.toml": LIMIT}, {".coveragerc": "[report]\nfail_under = 90\n"}, []),
        ({"pyproject.toml": LIMIT}, {"setup.cfg": "[coverage:run]\nbranch = True\n"}, ["LIMIT_LOWERED"]),
        ({"pyproject.toml": LIMIT}, {"setup.cfg": "[metadata]\nname = x\n"}, []),
        ({"pyproject.toml": RUFF}, {"ruff.toml": "[lint]\nselect = ['E', 'F']\n"}, ["LIMIT_LOWERED"]),
        ({"pyproject.toml": RUFF}, {"ruff.toml": "[lint]\nselect = ['E', 'F', 'TCH']\nignore = ['E501']\n"}, []),
        ({".flake8": "[flake8]\nselect = E,F\n"}, {"setup.cfg": "[flake8]\nselect = E\n"}, ["LIMIT_LOWERED"]),
    ],
)
def test_settings_may_not_come_before_those_that_demand_more(base, after, codes):
    assert [f.code for f in check(tree_evidence(base, after))] == codes


@pytest.mark.parametrize(
    ("matrix", "condition", "effect"),
    [
        ("x: [true, false]", "matrix.x", "asks"),
        ("x: [true]", "matrix.x", "blocks"),
        ("x: [true, true]", "matrix.x || false", "blocks"),
        ("x: [mac]", "matrix.x == 'mac'", "blocks"),
        ("x: [mac, linux]", "matrix.x == 'mac'", "asks"),
        ("x: [false]", "matrix.x == false", "blocks"),
        ("{py: [a, b], include: [{x: true}]}", "matrix.x", "blocks"),
        ("{py: [a, b], include: [{py: b, x: true}]}", "matrix.x", "asks"),
        ("{py: [a, b], include: [{py: b, x: true}, {py: a, x: true}]}", "matrix.x", "blocks"),
        ("{py: [a, b], exclude: [{py: a}], include: [{py: b, x: true}]}", "matrix.x", "blocks"),
        ("{include: [{py: a, x: true}, {py: b}]}", "matrix.x", "asks"),
        ("{include: [{py: a, x: true}]}", "matrix.x", "blocks"),
        ("x: ${{ fromJSON('[true]') }}", "matrix.x", "asks"),
    ],
)
def test_failures_of_every_row_are_not_those_of_some(matrix, condition, effect):
    block = f"    strategy:\n      matrix: {matrix if matrix[0] == '{' else '{' + matrix + '}'}\n"
    block = block.replace("{x: ${{ fromJSON('[true]') }}}", "\n        x: ${{ fromJSON('[true]') }}")
    rows = CI.replace("    runs-on: linux\n", f"    runs-on: linux\n{block}")
    lenient = rows.replace(
        "    runs-on: linux\n", f"    runs-on: linux\n    continue-on-error: ${{{{ {condition} }}}}\n"
    )
    for name, base in (("with the matrix", CI), ("into the matrix", rows)):
        found = check(tree_evidence({W: base}, {W: lenient}))
        assert [(f.code, f.effect.value) for f in found] == [("CI_FAILURE_IGNORED", effect)], name


def test_rows_of_which_some_failed_in_vain_may_not_become_all():
    some = CI.replace(
        "    runs-on: linux\n",
        "    continue-on-error: ${{ matrix.x }}\n    strategy:\n      matrix:\n        x: [true, false]\n",
    )
    [found] = check(tree_evidence({W: some}, {W: some.replace("[true, false]", "[true]")}))
    assert (found.code, found.effect.value) == ("CI_FAILURE_IGNORED", "blocks")
    assert check(tree_evidence({W: some}, {W: some.replace("[true, false]", "[false]")})) == ()
    every = some.replace("[true, false]", "[true]")
    assert check(tree_evidence({W: every}, {W: every.replace("[true]", "[true, true]")})) == ()


NEXT = ".github/workflows/next.yml"


@pytest.mark.parametrize(
    ("old", "new", "effect"),
    [
        (W, CI, None),
        (W, CI.replace("branches: [main]", "branches: [main, next]"), None),
        (W, CI.replace("    runs-on", "    if: ${{ always() }}\n    runs-on"), None),
        (W, CI.replace("  pull_request:\n", "  pull_request:\n    paths: [docs/**]\n"), "blocks"),
        (W, CI.replace("  pull_request:\n", "  pull_request:\n    branches: [stable]\n"), "blocks"),
        (W, CI.replace("  pull_request:\n", ""), "blocks"),
        (W, CI.replace("    runs-on", "    if: github.actor == 'me'\n    runs-on"), "asks"),
        (W, CI.replace("      - run: ruff", "      - if: github.actor == 'me'\n        run: ruff"), "asks"),
        (W, CI.replace("    runs-on", "    needs: [gate]\n    runs-on") + "  gate:\n    if: github.actor == 'me'\n    steps: []\n", "asks"),
        (W, CI.replace("    runs-on", "    if: false\n    runs-on"), "blocks"),
        (".travis.yml", ACTIONS, None),
        (".travis.yml", ACTIONS.replace("  pull_request:\n", "  pull_request:\n    paths-ignore: ['*.md', docs/**]\n"), None),
        (".travis.yml", ACTIONS.replace("on:\n  pull_request:\n  push:\n    branches: [main]\n", "on:\n  push:\n    paths: [docs/**]\n"), "blocks"),
        (".travis.yml", ACTIONS.replace("on:\n  pull_request:\n  push:\n    branches: [main]\n", "on:\n  push:\n    paths-ignore: ['src/**']\n"), "blocks"),
        (".travis.yml", ACTIONS.replace("on:\n  pull_request:\n  push:\n    branches: [main]\n", "on:\n  push:\n    branches: [never]\n"), "blocks"),
        (".travis.yml", ACTIONS.replace("on:\n  pull_request:\n  push:\n    branches: [main]\n", "on:\n  push:\n    tags: ['v*']\n"), "blocks"),
        (".travis.yml", ACTIONS.replace("on:\n  pull_request:\n  push:\n    branches: [main]\n", "on:\n  pull_request:\n    types: [closed]\n"), "blocks"),
        (".travis.yml", ACTIONS.replace("    runs-on", "    if: github.actor == 'me'\n    runs-on"), "asks"),
    ],
)  # fmt: skip
def test_ci_in_place_of_another_runs_as_often_and_in_every_case(old, new, effect):
    before = CI if old == W else TRAVIS
    found = check(tree_evidence({old: before}, {old: None, NEXT: f"name: next\n{new}"}))
    found = [f for f in found if f.path == old]
    assert [(f.code, f.effect.value) for f in found] == ([("CI_CHECK_REMOVED", effect)] if effect else [])


LINTED = CI.replace("ruff check .", "flake8 --ignore=E501 .")
BY_TOX = CI.replace("ruff check .", "tox")


def _tox_ini(command, *, envs="py, lint", more=""):
    return (
        f"[tox]\nenv_list = {envs}\n\n[testenv]\ncommands = pytest\n\n[testenv:lint]\n{more}commands =\n    {command}\n"
    )


@pytest.mark.parametrize(
    ("ini", "effect"),
    [
        (_tox_ini("flake8 --ignore=E501 ."), None),
        (_tox_ini("flake8 ."), None),
        (_tox_ini("flake8 --show-source {posargs:.}"), None),
        (_tox_ini("python -m flake8"), None),
        (_tox_ini("lint: flake8 ."), None),
        (_tox_ini("flake8 --ignore=E501 src"), "asks"),
        (_tox_ini("flake8 {posargs:src}"), "asks"),
        (_tox_ini("flake8 --ignore=E501,F401 ."), "asks"),
        (_tox_ini("flake8 --extend-ignore=F ."), "asks"),
        (_tox_ini("flake8 --extend-exclude=src ."), "asks"),
        (_tox_ini("flake8 --select=E9 ."), "asks"),
        (_tox_ini("flake8 --max-line-length=999 ."), "asks"),
        (_tox_ini("flake8 --exit-zero ."), "asks"),
        (_tox_ini("flake8 --config=lax.ini ."), "asks"),
        (_tox_ini("bash -c 'flake8 . || true'"), "asks"),
        (_tox_ini("flake8 .", envs="py"), "asks"),
        (_tox_ini("other: flake8 ."), "asks"),
        (_tox_ini("flake8 .", more="ignore_outcome = true\n"), "asks"),
        (_tox_ini("- flake8 ."), "blocks"),
        (_tox_ini("flake8 --version"), "blocks"),
        (_tox_ini("true", more="deps = flake8\n"), "blocks"),
    ],
)
def test_a_task_runner_that_runs_by_itself_looks_at_as_much_as_before(ini, effect):
    found = check(tree_evidence({W: LINTED}, {W: BY_TOX, "tox.ini": ini}))
    code = "CI_CHECK_REMOVED" if effect == "blocks" else "CI_CHANGED"
    assert [(f.code, f.effect.value) for f in found] == ([(code, effect)] if effect else [])


@pytest.mark.parametrize(
    ("more", "effect"),
    [
        ("", None),
        ("        args: [--show-source]\n", None),
        ("        args: [--exit-zero]\n", "asks"),
        ("        args: [--extend-ignore=F]\n", "asks"),
        ("        files: ^docs/\n", "asks"),
        ("        exclude: .*\n", "asks"),
        ("        stages: [manual]\n", "asks"),
    ],
)
def test_a_hook_that_ci_starts_looks_at_as_much_as_before(more, effect):
    hooks = f"repos:\n  - repo: https://github.com/PyCQA/flake8\n    hooks:\n      - id: flake8\n{more}"
    after = {
        W: LINTED.replace("flake8 --ignore=E501 .", "pre-commit run --all-files"),
        ".pre-commit-config.yaml": hooks,
    }
    found = check(tree_evidence({W: LINTED}, after))
    assert [(f.code, f.effect.value) for f in found] == ([("CI_CHANGED", effect)] if effect else [])
