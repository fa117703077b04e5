"""CI still says the same, and what it starts checks less; beside it what moves, grows or is run otherwise."""

import pytest
from tree_evidence import permit, tree_evidence

from gatekeeper.checks.config_weakening import check

W = ".github/workflows/ci.yml"


def ci(*commands):
    rows = "".join(f"      - run: {c}\n" for c in commands)
    return f"on:\n  pull_request:\n  push:\n    branches: [main]\njobs:\n  t:\n    runs-on: linux\n    steps:\n{rows}"


MAKE = "PYTHON ?= python\n.PHONY: lint test\nlint: style\n\tmypy src\n\nstyle:\n\t@ruff check .\n\ntest:\n\t$(PYTHON) -m pytest -q\n"
TOX = "[tox]\nenv_list = py, lint\n[testenv]\ncommands = pytest {posargs}\n[testenv:lint]\ncommands =\n    ruff check .\n    mypy src\n"
NOX = "import nox\n\n\ndef _types(session):\n    session.run('mypy', 'src')\n\n\n@nox.session\ndef lint(session):\n    session.install('ruff')\n    session.run('ruff', 'check', '.')\n    _types(session)\n"
SHELL = "#!/bin/sh\nset -e\nruff check .\nmypy src\n"
NPM = '{"scripts": {"lint": "eslint . && npm run types", "types": "tsc --noEmit", "test": "jest"}}'
POE = '[tool.poe.tasks]\nlint = "ruff check ."\ntypes = {cmd = "mypy src"}\nall = ["lint", "types"]\n'
HATCH = '[tool.hatch.envs.lint.scripts]\nstyle = "ruff check ."\nall = ["style", "mypy src"]\n'
CALLS = "import subprocess\nimport sys\n\nsys.exit(subprocess.call(['ruff', 'check', '.']) or subprocess.call(['mypy', 'src']))\n"
JUST = "lint: style\n    mypy src\n\nstyle:\n    ruff check .\n"

CHEATS = {
    "make target idle": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("\tmypy src", "\t@true").replace("\t@ruff check .", "\t@:")}, "blocks"),
    "make recipe shortened": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("\tmypy src\n", "")}, "asks"),
    "make dependency gone": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("lint: style", "lint:")}, "asks"),
    "make ignores failure": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("\tmypy", "\t-mypy")}, "asks"),
    "make looks at less": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("ruff check .", "ruff check docs")}, "asks"),
    "make defined again": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE + "\nstyle:\n\t@true\n"}, "asks"),
    "make without a shell": (ci("make lint"), "Makefile", MAKE, {"Makefile": "SHELL = /bin/true\n" + MAKE}, "blocks"),
    "another makefile first": (ci("make lint"), "Makefile", MAKE, {"GNUmakefile": "lint:\n\t@true\n"}, "blocks"),
    "tox commands idle": (ci("tox"), "tox.ini", TOX, {"tox.ini": TOX.replace("    ruff check .\n    mypy src\n", "    python -c pass\n")}, "asks"),
    "tox of one environment idle": (ci("tox -e lint"), "tox.ini", TOX, {"tox.ini": TOX.replace("    ruff check .\n    mypy src\n", "    python -c pass\n")}, "blocks"),
    "tox list shortened": (ci("tox"), "tox.ini", TOX, {"tox.ini": TOX.replace("py, lint", "py")}, "asks"),
    "tox ignores failure": (ci("tox"), "tox.ini", TOX, {"tox.ini": TOX.replace("    mypy", "    - mypy")}, "asks"),
    "tox outcome ignored": (ci("tox"), "tox.ini", TOX, {"tox.ini": TOX + "ignore_outcome = true\n"}, "asks"),
    "another tox file first": (ci("tox"), "tox.ini", TOX, {"tox.toml": 'env_list = ["py"]\n[env_run_base]\ncommands = [["pytest"]]\n'}, "asks"),
    "tox tests fewer": (ci("tox"), "tox.ini", TOX, {"tox.ini": TOX.replace("pytest {posargs}", "pytest -k fast {posargs}")}, "asks"),
    "nox session idle": (ci("nox -s lint"), "noxfile.py", NOX, {"noxfile.py": NOX.replace("session.run('ruff', 'check', '.')\n    _types(session)", "pass")}, "blocks"),
    "nox returns first": (ci("nox"), "noxfile.py", NOX, {"noxfile.py": NOX.replace("    session.install", "    return\n    session.install")}, "blocks"),
    "nox function idle": (ci("nox"), "noxfile.py", NOX, {"noxfile.py": NOX.replace("session.run('mypy', 'src')", "pass")}, "asks"),
    "shell idle": (ci("bash ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": "#!/bin/sh\nset -e\ntrue\n"}, "blocks"),
    "shell ends first": (ci("./ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": SHELL.replace("set -e", "set -e\nexit 0")}, "blocks"),
    "shell in a document": (ci("sh ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": SHELL.replace("ruff", ": <<X\nruff") + "X\n"}, "blocks"),
    "shell never": (ci("sh ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": SHELL.replace("mypy src", "if false; then\nmypy src\nfi")}, "asks"),
    "shell loses failure": (ci("sh ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": SHELL.replace("check .", "check . || true")}, "asks"),
    "shell goes on": (ci("sh ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": SHELL.replace("set -e\n", "")}, "asks"),
    "shell empty": (ci("sh ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": "set -e\n"}, "blocks"),
    "shell only speaks": (ci("sh ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": SHELL.replace("ruff", "echo ruff").replace("mypy src", "which mypy")}, "blocks"),
    "npm script idle": (ci("npm run lint"), "package.json", NPM, {"package.json": NPM.replace("eslint . && npm run types", "true")}, "blocks"),
    "npm script of a script": (ci("npm run lint"), "package.json", NPM, {"package.json": NPM.replace("tsc --noEmit", "echo ok")}, "asks"),
    "npm test": (ci("npm test"), "package.json", NPM, {"package.json": NPM.replace("jest", "exit 0")}, "blocks"),
    "poe task idle": (ci("poe all"), "pyproject.toml", POE, {"pyproject.toml": POE.replace("ruff check .", "true")}, "asks"),
    "hatch script idle": (ci("hatch run lint:all"), "pyproject.toml", HATCH, {"pyproject.toml": HATCH.replace("mypy src", "mypy --version")}, "asks"),
    "just recipe idle": (ci("just lint"), "justfile", JUST, {"justfile": JUST.replace("ruff check .", "true")}, "asks"),
    "checker asks for the version": (ci("python ci/run.py"), "ci/run.py", CALLS, {"ci/run.py": CALLS.replace("'check', '.'", "'--version'")}, "asks"),
    "runner to script": (ci("make lint"), "Makefile", "lint:\n\tbash ci/lint.sh\n", {"Makefile": "lint:\n\tbash ci/lint.sh\n", "ci/lint.sh": "true\n"}, "blocks"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHEATS)
def test_gutted(name):
    workflow, path, old, after, effect = CHEATS[name]
    base = {W: workflow, path: old}
    if name == "runner to script":
        base["ci/lint.sh"] = SHELL
    found = [f for f in check(tree_evidence(base, after)) if f.code in ("CI_CHECK_REMOVED", "CI_FAILURE_IGNORED")]
    assert [f.effect.value for f in found] == [effect]
    allowed = check(tree_evidence(base, after, permits=[permit("change_instruments", paths=["**"])]))
    assert [f for f in allowed if f.code in ("CI_CHECK_REMOVED", "CI_FAILURE_IGNORED")] == []


HONEST = {
    "make grows": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE + "\nlint: more\nmore:\n\tpylint src\n".replace("lint: more\n", "all: more\n")}),
    "make renamed target": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("style", "layout")}),
    "make to ci itself": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("\tmypy src\n", ""), W: ci("make lint", "mypy src")}),
    "make to a script": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("\tmypy src\n", "\tsh ci/types.sh\n"), "ci/types.sh": "set -e\nmypy src\n"}),
    "make looks at more": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("mypy src", "mypy src tests")}),
    "make by uv": (ci("make lint"), "Makefile", MAKE, {"Makefile": MAKE.replace("mypy src", "uv run mypy src").replace("@ruff", "uvx ruff")}),
    "target nobody starts": (ci("make test"), "Makefile", MAKE, {"Makefile": MAKE.replace("\tmypy src\n", "")}),
    "tox to its own format": (ci("tox"), "tox.ini", TOX, {"tox.ini": None, "tox.toml": 'env_list = ["py", "lint"]\n[env_run_base]\ncommands = [["pytest", "{posargs}"]]\n[env.lint]\ncommands = [["ruff", "check", "."], ["mypy", "src"]]\n'}),
    "tox drops a version": (ci("tox"), "tox.ini", TOX.replace("py,", "py{38,39},"), {"tox.ini": TOX.replace("py,", "py{39,310},")}),
    "tox option that shows": (ci("tox"), "tox.ini", TOX, {"tox.ini": TOX.replace("pytest {posargs}", "pytest -vv -ra {posargs:tests}")}),
    "tox to nox": (ci("tox -e lint"), "tox.ini", TOX, {"tox.ini": None, "noxfile.py": NOX, W: ci("nox -s lint")}),
    "tox flake8 to ruff": (ci("tox -e lint"), "tox.ini", TOX.replace("ruff check .", "flake8 src"), {"tox.ini": TOX}),
    "nox renamed": (ci("nox"), "noxfile.py", NOX, {"noxfile.py": NOX.replace("_types", "_check_types")}),
    "shell grows": (ci("sh ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": SHELL.replace("set -e", "set -euo pipefail") + "bandit -r src\n"}),
    "shell moves": (ci("sh ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": None, "scripts/lint.sh": SHELL, W: ci("sh scripts/lint.sh")}),
    "shell gone, and CI fails for it": (ci("sh ci/lint.sh"), "ci/lint.sh", SHELL, {"ci/lint.sh": None, "ci/style.sh": SHELL}),
    "npm script split": (ci("npm run lint"), "package.json", NPM, {"package.json": NPM.replace("eslint . &&", "npm run style &&").replace('"types"', '"style": "eslint .", "types"')}),
    "poe list": (ci("poe all"), "pyproject.toml", POE, {"pyproject.toml": POE.replace('["lint", "types"]', '{sequence = ["types", "lint"]}')}),
    "checker by hand to hooks": (ci("make lint", "pre-commit run -a"), "Makefile", MAKE, {"Makefile": MAKE.replace("\t@ruff check .\n", "\t@true\n"), ".pre-commit-config.yaml": "repos:\n  - repo: x\n    hooks:\n      - id: ruff-check\n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_still_reached(name):
    workflow, path, old, after = HONEST[name]
    found = [f for f in check(tree_evidence({W: workflow, path: old}, after)) if f.effect.value != "advises"]
    assert [f for f in found if "reached" in f.message or "no longer stops" in f.message] == []


P, C, E, G = "pyproject.toml", "codecov.yml", ".eslintrc.json", ".golangci.yml"
CO = "coverage:\n  status:\n    project:\n      default:\n        target: 90%\n        threshold: 1%\n"
RUFF = "[tool.ruff]\nline-length = 88\n"
WORDS = {
    "type checking mode": (P, '[tool.pyright]\ntypeCheckingMode = "strict"\n', '[tool.pyright]\ntypeCheckingMode = "off"\n', "blocks"),
    "type checking mode from the default": (P, '[tool.pyright]\npythonVersion = "3.11"\n', '[tool.pyright]\npythonVersion = "3.11"\ntypeCheckingMode = "off"\n', "blocks"),
    "type checking mode gone": ("pyrightconfig.json", '{"typeCheckingMode": "strict"}', "{}", "blocks"),
    "report level": (P, '[tool.pyright]\nreportCallIssue = "error"\n', '[tool.pyright]\nreportCallIssue = "information"\n', "blocks"),
    "report switched off": (P, "[tool.pyright]\nreportCallIssue = true\n", '[tool.pyright]\nreportCallIssue = "none"\n', "blocks"),
    "ty rule": (P, '[tool.ty.rules]\nunresolved-import = "error"\n', '[tool.ty.rules]\nunresolved-import = "ignore"\n', "blocks"),
    "eslint number": (E, '{"rules": {"no-eval": 2}}', '{"rules": {"no-eval": 0}}', "blocks"),
    "eslint list": (E, '{"rules": {"no-eval": ["error", {}]}}', '{"rules": {"no-eval": ["warn", {}]}}', "blocks"),
    "eslint word": (E, '{"rules": {"no-eval": "error"}}', '{"rules": {"no-eval": "off"}}', "blocks"),
    "eslint rule of elsewhere": (E, '{"extends": "x"}', '{"extends": "x", "rules": {"no-eval": "off"}}', "asks"),
    "golangci": (G, "linters:\n  enable: [gosec]\n", "run:\n  issues-exit-code: 0\nlinters:\n  enable: [gosec]\n", "blocks"),
    "codecov informs": (C, CO, CO + "        informational: true\n", "blocks"),
    "codecov threshold": (C, CO, CO.replace("1%", "50%"), "blocks"),
    "codecov target": (C, CO, CO.replace("90%", "auto"), "blocks"),
    "codecov off": (C, CO, "coverage:\n  status:\n    project: off\n", "blocks"),
    "ruff only repairs": (P, RUFF, RUFF + "fix-only = true\n", "blocks"),
    "ruff selects other rules": (P, RUFF, RUFF + 'lint.select = ["Q"]\n', "asks"),
    "ruff selects nothing": (P, RUFF, RUFF + "lint.select = []\n", "asks"),
    "ruff looks at one file": (P, RUFF, RUFF + 'include = ["a.py"]\n', "asks"),
    "ruff takes what another file says": (P, RUFF, RUFF + 'extend = "lax.toml"\n', "asks"),
    "flake8 selects": ("setup.cfg", "[flake8]\nmax-line-length = 88\n", "[flake8]\nmax-line-length = 88\nselect = E5\n", "asks"),
    "coverage looks at one file": (P, "[tool.coverage.report]\nfail_under = 90\n", '[tool.coverage.report]\nfail_under = 90\ninclude = ["a.py"]\n', "asks"),
    "mypy skips a module of its own": (P, "[tool.mypy]\nstrict = true\n", '[tool.mypy]\nstrict = true\n[[tool.mypy.overrides]]\nmodule = "src"\nfollow_imports = "skip"\n', "asks"),
}  # fmt: skip
USES = ci("ruff check .", "pyright", "ty check", "eslint .", "golangci-lint run", "flake8", "mypy .", "pytest --cov")


@pytest.mark.parametrize("name", WORDS)
def test_word_demands_less(name):
    path, old, new, effect = WORDS[name]
    base = {W: USES, path: old, "src/a.py": "x = 1\n"}
    assert [(f.code, f.effect.value) for f in check(tree_evidence(base, {path: new}))] == [("LIMIT_LOWERED", effect)]


@pytest.mark.parametrize("name", [n for n in WORDS if WORDS[n][3] == "blocks"])
def test_word_demands_more(name):
    path, old, new, _ = WORDS[name]
    base = {W: USES, path: new, "src/a.py": "x = 1\n"}
    assert check(tree_evidence(base, {path: old})) == ()


SAME = {
    "ruff selects more than by itself": (P, RUFF, RUFF + 'lint.select = ["E", "F", "I"]\n'),
    "ruff looks at stubs too": (P, RUFF, RUFF + 'include = ["*.py", "*.pyi"]\n'),
    "type checking as people begin": (P, '[tool.pyright]\npythonVersion = "3.11"\n', '[tool.pyright]\npythonVersion = "3.11"\ntypeCheckingMode = "basic"\n'),
    "the default said": (P, '[tool.pyright]\npythonVersion = "3.11"\n', '[tool.pyright]\npythonVersion = "3.11"\ntypeCheckingMode = "standard"\n'),
    "pyright report set": (P, '[tool.pyright]\npythonVersion = "3.11"\n', '[tool.pyright]\nreportMissingModuleSource = "none"\npythonVersion = "3.11"\n'),
    "codecov closer": (C, CO, CO.replace("1%", "0.5%")),
    "mypy skips a module of others": (P, "[tool.mypy]\nstrict = true\n", '[tool.mypy]\nstrict = true\n[[tool.mypy.overrides]]\nmodule = "numpy.*"\nfollow_imports = "skip"\n'),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_word_demands_as_much(name):
    path, old, new = SAME[name]
    assert check(tree_evidence({W: USES, path: old, "src/a.py": "x = 1\n"}, {path: new})) == ()


FIRST = {
    "mypy ignores": ("mypy.ini", "[mypy]\nignore_errors = true\n"),
    "ruff ignores": ("ruff.toml", 'lint.ignore = ["F"]\n'),
    "ruff selects": (".ruff.toml", 'lint.select = ["Q"]\n'),
    "ruff in a folder": ("src/ruff.toml", 'lint.ignore = ["ALL"]\n'),
    "flake8 leaves code out": (".flake8", "[flake8]\nexclude = src\n"),
    "flake8 never fails": (".flake8", "[flake8]\nexit-zero = true\n"),
    "coverage omits": (".coveragerc", "[run]\nomit = *\n"),
    "pyright off": ("pyrightconfig.json", '{"typeCheckingMode": "off"}'),
    "all in one": ("pyproject.toml", '[tool.ruff.lint]\nignore = ["ALL"]\n'),
}


@pytest.mark.parametrize("name", FIRST)
def test_first_settings(name):
    path, new = FIRST[name]
    base = {W: USES, "src/a.py": "x = 1\n"}
    found = check(tree_evidence(base, {path: new}))
    assert [(f.code, f.effect.value, f.path) for f in found] == [("LIMIT_LOWERED", "asks", path)]
    assert check(tree_evidence({**base, W: ci("make")}, {path: new}, verify="make")) == ()
    assert check(tree_evidence(base, {path: new}, permits=[permit("change_instruments", paths=[path])])) == ()


FIRST_AS_MUCH = {
    "stricter": ("mypy.ini", "[mypy]\nstrict = true\n[mypy-numpy.*]\nignore_missing_imports = true\n"),
    "layout": (".flake8", "[flake8]\nmax-line-length = 100\nextend-ignore = E203,W503\n"),
    "what is made": (".flake8", "[flake8]\nexclude = .git,build,.tox\n"),
    "more rules": ("ruff.toml", 'line-length = 100\nlint.extend-select = ["I", "B"]\n'),
    "an example": ("examples/a/ruff.toml", 'lint.ignore = ["F"]\n'),
    "never run": (".coveragerc", "[run]\nbranch = true\n[report]\nexclude_also =\n    if TYPE_CHECKING:\n"),
}


@pytest.mark.parametrize("name", FIRST_AS_MUCH)
def test_first_settings_that_let_nothing_pass(name):
    path, new = FIRST_AS_MUCH[name]
    assert check(tree_evidence({W: USES, "src/a.py": "x = 1\n"}, {path: new})) == ()


def test_settings_that_move_are_no_first_ones():
    old, new = '[tool.ruff.lint]\nignore = ["F401"]\n', 'lint.ignore = ["F401"]\n'
    assert check(tree_evidence({W: USES, "pyproject.toml": old}, {"pyproject.toml": "", "ruff.toml": new})) == ()


OWNED = "* @core\n/sec @sec\n"
FILES = {"sec/a.py": "", "b.py": "", "docs/c.md": ""}
TAKEN = {
    "a place that comes first": ({"CODEOWNERS": OWNED}, {".github/CODEOWNERS": "* @agent\n"}),
    "an empty file that comes first": ({"CODEOWNERS": OWNED}, {".github/CODEOWNERS": "# none\n"}),
    "the order": ({".github/CODEOWNERS": OWNED}, {".github/CODEOWNERS": "/sec @sec\n* @core\n"}),
    "a row at the end": ({".github/CODEOWNERS": OWNED}, {".github/CODEOWNERS": OWNED + "*.py @agent\n"}),
    "the first of GitLab": ({".gitlab/CODEOWNERS": OWNED}, {"CODEOWNERS": "* @agent\n"}),
    "a place that is gone": ({".github/CODEOWNERS": OWNED, "CODEOWNERS": "* @agent\n"}, {".github/CODEOWNERS": None}),
}
KEPT = {
    "moved": ({"CODEOWNERS": OWNED}, {"CODEOWNERS": None, ".github/CODEOWNERS": OWNED}),
    "one more": ({"CODEOWNERS": OWNED}, {"CODEOWNERS": "* @core @more\n/sec @sec\n"}),
    "what is new": ({"CODEOWNERS": OWNED}, {"CODEOWNERS": OWNED + "/new/ @new\n"}),
    "a place nobody looks at": ({".github/CODEOWNERS": OWNED}, {"docs/CODEOWNERS": "* @agent\n"}),
    "the same otherwise": ({"CODEOWNERS": OWNED}, {"CODEOWNERS": "** @core\n/sec/ @sec\n/sec/** @sec\n"}),
}


@pytest.mark.parametrize("name", TAKEN)
def test_owners_taken(name):
    before, after = TAKEN[name]
    found = [(f.code, f.effect.value) for f in check(tree_evidence({**FILES, **before}, after))]
    # Rows that name others may be meant: a person looks.
    asked = name in ("the order", "a row at the end")
    assert {code for code, _ in found} == {"OWNERS_WEAKENED"}
    assert asked or "blocks" in {effect for _, effect in found}
    assert check(tree_evidence({**FILES, **before}, after, permits=[permit("change_instruments", paths=["**"])])) == ()


@pytest.mark.parametrize("name", KEPT)
def test_owners_kept(name):
    before, after = KEPT[name]
    found = check(tree_evidence({**FILES, **before}, after))
    assert [f for f in found if "takes the owners" in f.message and "CODEOWNERS takes" not in f.message] == []
    assert [f for f in found if "counts" in f.message] == []


def test_rows_of_owners_that_take_long_are_for_a_person():
    found = check(tree_evidence({**FILES, "CODEOWNERS": OWNED}, {".github/CODEOWNERS": "*" + "a*" * 50 + " @x\n"}))
    assert [(f.code, f.effect.value) for f in found] == [("OWNERS_WEAKENED", "asks")]


OLD_RUFF = '[tool.ruff]\nselect = ["E", "F"]\nignore = ["F401"]\n\n[tool.ruff.per-file-ignores]\n"src/*" = ["F403"]\n'
NEW_RUFF = OLD_RUFF.replace("[tool.ruff]", "[tool.ruff.lint]").replace("ruff.per", "ruff.lint.per")


def test_settings_of_ruff_in_their_new_place():
    base = {W: USES, "pyproject.toml": OLD_RUFF, "src/a.py": "x = 1\n"}
    assert check(tree_evidence(base, {"pyproject.toml": NEW_RUFF})) == ()


@pytest.mark.parametrize(
    ("had", "has"), [('"E", "F"', '"E"'), ('["F401"]', '["F401", "F821"]'), ('["F403"]', '["F403", "F405"]')]
)
def test_settings_of_ruff_that_lose_on_the_way(had, has):
    base = {W: USES, "pyproject.toml": OLD_RUFF, "src/a.py": "x = 1\n"}
    found = check(tree_evidence(base, {"pyproject.toml": NEW_RUFF.replace(had, has)}))
    assert [(f.code, f.effect.value) for f in found] == [("LIMIT_LOWERED", "blocks")]
