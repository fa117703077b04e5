"""Which files decide how a change is measured: tests, what they need, the runner's settings, the scripts of a suite.

An instrument comes from the protected branch (DESIGN rule 2). The classification is by name and, for scripts, by what
the base's suites and their scripts mention; it never looks at head's content, which could argue its way out.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterable
from enum import StrEnum

from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.settings import Settings
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.domain.tree import Tree, text

SETTINGS_FILE = ".gatekeeper.toml"


class InstrumentKind(StrEnum):
    """What an instrument is."""

    TEST = "test"
    """A module that holds tests."""
    TEST_SUPPORT = "test_support"
    """conftest files, fixtures, golden data: what tests read."""
    RUNNER_SETTINGS = "runner_settings"
    """A file from which the runner, or a tool it starts, may take settings."""
    SCRIPT = "script"
    """A script that a suite's command runs, directly or through another script."""
    SHADOW = "shadow"
    """A module that would be imported instead of the runner, the standard library or the interpreter's own hooks."""
    DECLARED = "declared"
    """Named in the base's settings: [instruments] or a suite's inputs."""
    CI = "ci"
    INSTRUCTIONS = "instructions"
    GATE = "gate"
    """The gate's own settings."""

    @property
    def bends_runs(self) -> bool:
        """True where a change to it can change what a run of the suite reports without changing the code."""
        return self not in (InstrumentKind.CI, InstrumentKind.INSTRUCTIONS, InstrumentKind.GATE)


_TEST_DIRECTORIES = {
    "tests", "test", "testing", "__tests__", "spec", "specs", "testdata", "__snapshots__", "__mocks__", "__fixtures__",
}  # fmt: skip
_TEST_MODULE = re.compile(
    r"(?:test_.*|.*_test|tests)\.py|(?:.*[._-])?(?:test|spec)\.[cm]?[jt]sx?|test-.*\.[cm]?[jt]sx?|.*_test\.go|.*Tests?\.java",
    re.DOTALL,
)
_RUNNER_SETTINGS = {
    "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml", "noxfile.py",
    "tox.toml", ".coveragerc", "package.json", "jest.config.js", "jest.config.ts", "jest.config.cjs", "jest.config.mjs",
    "vitest.config.ts", "vitest.config.js", "vitest.config.mjs", "go.mod", "go.sum", "go.work", "go.work.sum", "pom.xml", "mypy.ini", ".mypy.ini",
    "ruff.toml", ".ruff.toml", ".flake8", ".pylintrc", "pylintrc", "tsconfig.json", "Makefile", "makefile", "GNUmakefile",
}  # fmt: skip
_SCRIPT = re.compile(r"[\w.-]+\.[cm]?[jt]sx?")
_SCRIPT_TESTS = {"__tests__", "test", "tests", "spec", "specs"}
"""Folders of which Node.js's runners run every script."""
_SUPPORT = {"__mocks__", "__fixtures__", "fixtures", "helpers", "support", "testdata", "utils"}
_SCRIPT_SETTINGS = re.compile(
    r"(?:jest|vitest|vite|babel|mocha|playwright)\.(?:config|setup|workspace|preset)(?:\.[\w-]+)*\.(?:[cm]?[jt]s|json)"
    r"|setupTests\.[cm]?[jt]sx?|\.(?:mocha|swc|nyc|c8|babel)rc(?:\.[cm]?js|\.json|\.ya?ml)?|\.npmrc|tsconfig(?:\.[\w-]+)*\.json"
)
"""Settings of Node.js's runners, and of what turns sources into what they run."""
_INSTRUCTION_NAMES = {
    "agents.md",
    "claude.md",
    "gemini.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
    "skill.md",
    ".mcp.json",
}
_INSTRUCTION_DIRECTORIES = {".claude", ".cursor", ".codex", ".gemini", ".windsurf"}
_INTERPRETER_HOOKS = {"sitecustomize", "usercustomize"}
_RUNNER_MODULES = {"pytest", "_pytest", "pluggy", "iniconfig", "py", "xdist", "pytest_cov", "coverage"}
_CI_NAMES = {".gitlab-ci.yml", "azure-pipelines.yml", "jenkinsfile", ".travis.yml", "codeowners"}
_SCRIPT_DEPTH = 4
"""How many scripts deep the search for scripts called by scripts goes."""
_WORD = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")


def scripts_of(suites: Iterable[Suite], base: Tree | None) -> frozenset[str]:
    """Files of the base that the suites' commands mention, and files that those mention, up to `_SCRIPT_DEPTH` deep.

    Tests are left out (a command that names `tests` has no script there), as are modules of the code itself: only
    what stands as a path in a command line counts.
    """
    if base is None:
        return frozenset()
    found: set[str] = set()
    # What a linter is given to look at is no script of it, whatever it is called.
    frontier = [
        (suite.command if suite.kind is SuiteKind.TEST else _started(suite.command), suite.workdir) for suite in suites
    ]
    for _ in range(_SCRIPT_DEPTH):
        following: list[tuple[str, str]] = []
        for line, workdir in frontier:
            for path in _mentioned(line, workdir, base):
                if path not in found:
                    found.add(path)
                    following.append((text(base, path) or "", posixpath.dirname(path)))
        frontier = following
    return frozenset(found)


def _started(command: str) -> str:
    """The words of a command that name what it starts or takes its settings from: programs, and values of options."""
    kept: list[str] = []
    for part in re.split(r"[;&|()\n]+", command[:200_000]):
        words = part.split()
        while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
            words.pop(0)
        waiting = True  # for the program, then for what an interpreter is given first
        for index, word in enumerate(words):
            before = words[index - 1] if index else ""
            if word.startswith("-"):
                kept.append(word)
            elif waiting:
                kept.append(word)
                waiting = before != "-m" and _INTERPRETER.fullmatch(word.rsplit("/", 1)[-1]) is not None
                waiting = waiting or re.fullmatch(r"[A-Za-z_]\w*=.*|\d+", word) is not None
            elif _valued(before, word):
                kept.append(word)
    return " ".join(kept)


def _valued(option: str, word: str) -> bool:
    """Whether `word` can be the value of `option`; source code behind a switch is what the tool looks at."""
    code = (".py", ".pyi", ".ts", ".tsx", ".jsx", ".go", ".rs", ".java", ".c", ".cc", ".cpp", ".h", ".rb", ".sh")
    return option.startswith("-") and option != "-m" and "=" not in option and not word.endswith(code)


_INTERPRETER = re.compile(
    r"python[\d.]*|(?:ba|da|z)?sh|node|ruby|perl|env|exec|time|nice|make|source|\.|deno|bun|tsx|ts-node|uv|run"
)


def _mentioned(line: str, workdir: str, base: Tree) -> Iterable[str]:
    words = _WORD.findall(line[:200_000])
    if any(w == "make" or w.endswith("/make") for w in words):
        words += ["Makefile", "makefile", "GNUmakefile"]
    if any(w in ("npm", "yarn", "pnpm", "npx") for w in words):
        words.append("package.json")
    for index, word in enumerate(words):
        candidates = [word.split("=", 1)[-1]]
        if index and words[index - 1] == "-m" and word.replace(".", "").isidentifier():
            module = word.replace(".", "/")
            candidates += [f"{module}.py", f"{module}/__main__.py", f"src/{module}.py"]
        for candidate in candidates:
            for start in ("", workdir):
                path = posixpath.normpath(posixpath.join(start, candidate))
                if path in base.entries and not path.startswith("../"):
                    yield path


def _top_level_module(path: str) -> str | None:
    """Name under which `path` could be imported from the root or from src/ and lib/, None for anything deeper."""
    parts = path.split("/")
    if parts[0] in ("src", "lib", "python") and len(parts) > 1:
        parts = parts[1:]
    if len(parts) == 1 and parts[0].endswith((".py", ".so", ".pth")):
        return parts[0].split(".")[0]
    if len(parts) >= 2 and parts[1] in ("__init__.py", "__main__.py"):
        return parts[0]
    return None


def _plugs_in(parts: list[str]) -> bool:
    """Metadata of a distribution where the runner finds it: its entry points name plug-ins, which are loaded unasked.

    Deeper, and below tests, it is data of a project that works on packages.
    """
    places = parts[: 2 if parts[0] not in _TEST_DIRECTORIES else 1]
    return any(p.lower().endswith((".dist-info", ".egg-info", ".egg-link", ".egg")) for p in places)


class Instruments:
    """The classification for one base: make it once, ask for many paths."""

    def __init__(self, settings: Settings, suites: Iterable[Suite], base: Tree | None) -> None:
        self._settings = settings
        self._suites = tuple(suites)
        self._scripts = scripts_of(self._suites, base)
        self._base = base

    @property
    def scripts(self) -> frozenset[str]:
        """Files of the base that the suites run, directly or through another script."""
        return self._scripts

    def kind(self, path: str) -> InstrumentKind | None:
        """What `path` is, or None for ordinary code and text."""
        parts = path.split("/")
        name, lower = parts[-1], parts[-1].lower()
        if path == SETTINGS_FILE:
            return InstrumentKind.GATE
        module = _top_level_module(path)
        if module in _INTERPRETER_HOOKS or module in _RUNNER_MODULES:
            return InstrumentKind.SHADOW
        if path.endswith(".pth") or _plugs_in(parts):
            return InstrumentKind.SHADOW
        if module in sys.stdlib_module_names and not (self._base and path in self._base.entries) and module != "test":
            return InstrumentKind.SHADOW
        if "node_modules" in parts[:-1]:
            return InstrumentKind.SHADOW
        if lower == "conftest.py":
            return InstrumentKind.TEST_SUPPORT
        if path in self._scripts and not _TEST_MODULE.fullmatch(name):
            return InstrumentKind.RUNNER_SETTINGS if name in _RUNNER_SETTINGS else InstrumentKind.SCRIPT
        if name in _RUNNER_SETTINGS or _SCRIPT_SETTINGS.fullmatch(name) or parts[-2:] == ["vendor", "modules.txt"]:
            return InstrumentKind.RUNNER_SETTINGS
        if _TEST_MODULE.fullmatch(name):
            return InstrumentKind.TEST
        if _SCRIPT.fullmatch(name) and _SUPPORT.isdisjoint(parts[:-1]) and any(p in _SCRIPT_TESTS for p in parts[:-1]):
            return InstrumentKind.TEST
        if any(p in _TEST_DIRECTORIES for p in parts[:-1]):
            return InstrumentKind.TEST_SUPPORT
        if parts[0] in (".github", ".circleci", ".gitlab") or lower in _CI_NAMES:
            return InstrumentKind.CI
        if lower in _INSTRUCTION_NAMES or any(p.lower() in _INSTRUCTION_DIRECTORIES for p in parts[:-1]):
            return InstrumentKind.INSTRUCTIONS
        declared = self._settings.instruments + tuple(g for s in self._suites for g in s.inputs)
        if matches_any(declared, path):
            return InstrumentKind.DECLARED
        return None


def classify(
    path: str, *, settings: Settings, suites: Iterable[Suite], base: Tree | None = None
) -> InstrumentKind | None:
    """What one path is; for many paths make an `Instruments` once."""
    return Instruments(settings, suites, base).kind(path)
