"""Hooks that keep their names and lose their work; beside them lists that follow a hook to its home or reach more."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.config_weakening import check

P = ".pre-commit-config.yaml"
LEAKS = "  - repo: https://github.com/gitleaks/gitleaks\n    rev: v8\n    hooks:\n      - id: gitleaks\n"
TYPES = "  - repo: https://github.com/pre-commit/mirrors-mypy\n    rev: v1\n    hooks:\n      - id: mypy\n        args: [--strict]\n"
STYLE = "  - repo: https://gitlab.com/pycqa/flake8\n    rev: 3.9.2\n    hooks:\n      - id: flake8\n      - id: black\n"
HOOKS = "repos:\n" + LEAKS + TYPES + STYLE
ID = "      - id: gitleaks\n"
LOCAL = "  - repo: local\n    hooks:\n      - id: {}\n        name: x\n        language: system\n        entry: {}\n"

CASES = {
    "no file": (HOOKS.replace(ID, ID + "        files: ^$\n"), "blocks"),
    "every file": (HOOKS.replace(ID, ID + "        exclude: .*\n"), "blocks"),
    "every file of all": ("exclude: .*\n" + HOOKS, "blocks"),
    "no file of all": ("files: ^$\n" + HOOKS, "blocks"),
    "by hand": ("default_stages: [manual]\n" + HOOKS, "blocks"),
    "when nothing leaves": (HOOKS.replace(ID, ID + "        stages: [post-rewrite]\n"), "blocks"),
    "no text": (HOOKS.replace(ID, ID + "        exclude_types: [text]\n"), "blocks"),
    "never fails": (HOOKS.replace("[--strict]", "[--strict, --exit-zero]"), "blocks"),
    "does nothing": (HOOKS.replace(LEAKS, LOCAL.format("gitleaks", "python -c pass")), "blocks"),
    "successor that does nothing": (HOOKS.replace("      - id: flake8\n", "") + LOCAL.format("ruff", "python -c pass"), "blocks"),
    "named elsewhere": (HOOKS.replace(LEAKS, "") + "x-was:\n  - id: gitleaks\n", "blocks"),
    "less strict": (HOOKS.replace("        args: [--strict]\n", ""), "asks"),
    "of a stranger": (HOOKS.replace("gitleaks/gitleaks", "evil/gitleaks"), "asks"),
    "of any day": (HOOKS.replace("rev: v8", "rev: main"), "asks"),
    "some files": (HOOKS.replace(ID, ID + "        exclude: ^src/\n"), "asks"),
    "some files of all": ("exclude: ^src/\n" + HOOKS, "asks"),
    "newer": (HOOKS.replace("rev: v8", "rev: v9").replace("rev: v1", "rev: 0123456789012345678901234567890123456789"), None),
    "followed home": (HOOKS.replace("gitlab.com", "github.com").replace("pycqa/flake8", "PyCQA/flake8.git"), None),
    "one more": (HOOKS + LOCAL.format("own", "tools/own.py"), None),
    "stricter": (HOOKS.replace("[--strict]", "[--strict, --pretty]"), None),
    "tidies elsewhere": (HOOKS.replace("      - id: black\n", "      - id: black\n        exclude: ^docs/\n"), None),
    "every stage": ("default_stages: [pre-commit, pre-push]\nexclude: ^vendor/\n" + HOOKS, "asks"),
    "in another order": ("repos:\n" + STYLE + TYPES + LEAKS, None),
}  # fmt: skip


def _effects(before, after):
    return {f.effect.value for f in check(tree_evidence(before, after)) if f.code == "HOOK_REMOVED"}


@pytest.mark.parametrize("name", CASES)
def test_a_hook_is_more_than_its_name(name):
    after, effect = CASES[name]
    assert _effects({P: HOOKS, "a.py": ""}, {P: after}) == ({effect} if effect else set())


LEFT = "pre-commit:\n  commands:\n    lint:\n      run: ruff check .\n    secrets:\n      run: gitleaks protect\n"


@pytest.mark.parametrize(
    ("path", "before", "after", "effect"),
    [
        ("lefthook.yml", LEFT, LEFT[: LEFT.index("    secrets")], "blocks"),
        ("lefthook.yml", LEFT, None, "blocks"),
        ("lefthook.yml", LEFT, LEFT.replace("gitleaks protect", "true"), "blocks"),
        ("lefthook.yml", LEFT, LEFT.replace("    secrets:\n", "    secrets:\n      skip: true\n"), "blocks"),
        ("lefthook.yml", LEFT, LEFT.replace("gitleaks protect", "gitleaks version"), "asks"),
        ("lefthook.yml", LEFT, LEFT + "    types:\n      run: mypy .\n", None),
        (".husky/pre-commit", "npm test\n", "exit 0\n", "blocks"),
        (".husky/pre-commit", "npm test\n", "exit 0\nnpm test\n", "blocks"),
        (".husky/pre-commit", "npm test\n", "npm test || true\n", "blocks"),
        (".husky/pre-commit", "npm test\nnpm run lint\n", "npm test\n", "asks"),
        (".husky/pre-commit", "npm test\n", "npm  test\nnpm run lint\n", None),
    ],
)
def test_commands_of_other_managers_are_compared(path, before, after, effect):
    assert _effects({path: before}, {path: after}) == ({effect} if effect else set())


@pytest.mark.parametrize(("came", "effect"), [(HOOKS, None), (HOOKS.replace(LEAKS, ""), "blocks")])
def test_a_list_may_take_the_name_that_is_read_by_itself(came, effect):
    old = ".pre-commit-config.yml"
    assert _effects({old: HOOKS}, {old: None, P: came}) == ({effect} if effect else set())
