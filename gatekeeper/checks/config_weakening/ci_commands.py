"""Commands of CI definitions: which of them check something, how much, and which task runner has them."""

from __future__ import annotations

import configparser
import re
from typing import Any

from gatekeeper.checks.config_weakening.command_reach import LOST
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import tool_settings, workflow_yaml

Row = tuple[str, str, Effect | None]
"""Code, what is said, and an effect where it is not that of the code."""
COMMANDS = frozenset({"run", "script", "command", "before_script", "after_script", "bash", "powershell", "pwsh", "cmd"})
"""Keys under which the common systems have what is run."""
_ASKS_THE_TOOL = re.compile(r"\s--(?:version|help)\b")
_FACTORS = re.compile(r"!?[\w.{},!-]+")
"""What stands before a command of tox that runs in some environments only."""
_INSTALLS = re.compile(r"\b(?:install|add|sync)\b")
CHECKING = re.compile(r"\b(?:pytest|tox|nox|unittest|tests?|check|lint|mypy|pyright|ruff|flake8|pylint|black|isort|bandit|semgrep|coverage|jest|vitest|eslint|tsc|cargo|go|make|npm|yarn|pnpm|gradle|mvn|pre-commit|gatekeeper|verify|audit|zizmor|safety|codeql|sonar)\b", re.IGNORECASE)  # fmt: skip
"""Words of commands that check something."""
CARRIES = re.compile(
    r"(?:actions/(?:cache|checkout|setup-|upload-|download-)|codecov/codecov-action|coverallsapp/|docker/setup-)"
)
"""Actions that set a stage or carry something to or fro."""


def is_ci(path: str) -> bool:
    """True for definitions of the common CI systems."""
    lower = path.lower()
    name = lower.rsplit("/", 1)[-1]
    return lower.endswith((".yml", ".yaml")) and (
        lower.startswith((".github/workflows/", ".github/actions/", ".circleci/", ".gitlab/", ".buildkite/", ".azure-pipelines/"))
        or name in (".gitlab-ci.yml", "azure-pipelines.yml", ".travis.yml", "bitbucket-pipelines.yml", ".drone.yml", "appveyor.yml", ".cirrus.yml")
    )  # fmt: skip


def command_lines(doc: Any) -> list[str]:
    """Every line that a definition runs, blanks folded, comments left out."""
    out: list[str] = []
    for at, value in workflow_yaml.walk(doc):
        names = [p for p in at if not p.isdigit()]
        if names and names[-1] in COMMANDS and isinstance(value, str):
            out += [
                " ".join(r.split())
                for r in value.replace("\\\n", " ").splitlines()
                if r.strip() and not r.strip().startswith("#")
            ]
    return out


_TASKS = {
    "make": ("Makefile", "makefile"), "just": ("justfile",), "nox": ("noxfile.py",), "task": ("Taskfile.yml",),
    "hatch": ("pyproject.toml", "hatch.toml"), "poe": ("pyproject.toml",), "pdm": ("pyproject.toml",), "npm": ("package.json",),
}  # fmt: skip
"""Task runners that run what they are told to, and the files that say what there is."""
_SCRIPTS = re.compile(r"^tool\.(?:hatch\.envs\..*scripts|poe\.tasks|pdm\.scripts|tox)\.|^scripts\.|^envs\..*scripts\.")


def tools_of_line(line: str) -> list[str]:
    """Checking tools that a line names; the program that it starts where it names none; task runners are none."""
    tools = [w.rsplit("/", 1)[-1] for w in line.split() if CHECKING.fullmatch(w.rsplit("/", 1)[-1])]
    tools = [
        t
        for t in tools
        if t not in _TASKS and t not in ("tox", "test", "tests", "check", "lint", "verify", "npm", "go")
    ]
    if not tools:
        words = [
            w
            for w in line.split()
            if "=" not in w and w not in ("python", "python3", "-m", "uv", "run", "uvx", "pipx", "poetry", "pdm")
        ]
        tools = [words[0].rsplit("/", 1)[-1]] if words else []
        tools = [t for t in tools if t not in _TASKS and t != "tox" and re.fullmatch(r"[a-z][\w-]{2,}", t)]
    return tools


_NO_START = re.compile(
    r"(?:pip|python -m pip|uv (?:sync|pip|tool install)|pipx install)\b|(?:echo|printf|true|:|which|type|command -v)(?:\s|$)"
    r"|pre-commit (?:install|clean|gc|autoupdate)\b"
)


def left_somewhere(evidence: Evidence, line: str) -> Effect | None:
    """ASKS where a task runner or a hook that CI starts in some way names the tool of a line; None where nothing does."""
    tools = tools_of_line(line)
    started = [
        row.split()
        for path in evidence.merged.entries
        if is_ci(path) and isinstance(doc := workflow_yaml.load(text(evidence.merged, path)), dict) and _on_changes(doc)
        for row in command_lines(doc)
        if not _NO_START.match(row) and not LOST.search(row)
    ]
    if not tools:
        return None
    hooks = text(evidence.merged, ".pre-commit-config.yaml") or ""
    listed = workflow_yaml.load(hooks)
    other: list[str] = []
    if (isinstance(listed, dict) and "ci" in listed) or any({"pre-commit", "prek"} & set(row) for row in started):
        other += [str(v) for at, v in workflow_yaml.walk(listed) if at and at[-1] in ("id", "entry")]
    if any("tox" in row for row in started):
        other += _tox(text(evidence.merged, "tox.ini") or "")
        other += (text(evidence.merged, "tox.toml") or "")[:200_000].splitlines()
    for runner, names in _TASKS.items():
        if any(runner in row for row in started):
            for name in names:
                content = text(evidence.merged, name) or ""
                table = tool_settings.read(name, content) if name.endswith((".toml", ".json")) else None
                other += [str(v) for k, v in table.items() if _SCRIPTS.match(k)] if table is not None else [
                    row for row in content.splitlines() if not row.lstrip().startswith("#")
                ]  # fmt: skip
    other = [r for r in other if not _ASKS_THE_TOOL.search(r)]
    named = {t: re.compile(rf"(?<![\w-]){re.escape(t)}(?![\w-])") for t in tools}
    return Effect.ASKS if all(any(named[t].search(row) for row in other) for t in tools) else None


def _on_changes(doc: dict[str, Any]) -> bool:
    """A definition of GitHub that no person has to start."""
    return "on" not in doc or re.search(r"push|pull_request|merge_group|workflow_call", str(doc["on"])) is not None


def started(evidence: Evidence, tool: str) -> bool:
    """CI, a task runner or a hook of the change runs this tool; that something installs it or speaks of it is not enough."""
    rows: list[str] = []
    for path in evidence.merged.entries:
        if is_ci(path):
            rows += command_lines(workflow_yaml.load(text(evidence.merged, path)))
    hooks = workflow_yaml.walk(workflow_yaml.load(text(evidence.merged, ".pre-commit-config.yaml")))
    rows += [str(v) for at, v in hooks if at and at[-1] in ("id", "entry")]
    rows += _tox(text(evidence.merged, "tox.ini") or "")
    for name in ("Makefile", "makefile", "justfile", "noxfile.py"):
        rows += (text(evidence.merged, name) or "")[:200_000].splitlines()
    named = re.compile(rf"(?<![\w.-]){re.escape(tool)}(?![\w.-])")
    return any(
        named.search(row) and not _INSTALLS.search(row) and not LOST.search(row) and not _ASKS_THE_TOOL.search(row)
        and not row.strip().startswith(("#", "echo ", "- "))
        for row in rows
    )  # fmt: skip


def program(line: str) -> str:
    """What a line starts: the first word that is no variable and no starter of other programs."""
    starters = (
        "python",
        "python3",
        "-m",
        "uv",
        "run",
        "uvx",
        "pipx",
        "poetry",
        "pdm",
        "sudo",
        "exec",
        "travis_retry",
        "travis_wait",
    )
    words = [w for w in line.split() if "=" not in w and w not in starters]
    return words[0].rsplit("/", 1)[-1] if words else ""


def _tox(content: str) -> list[str]:
    """Commands of every environment."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(content[:200_000])
    except configparser.Error:
        return []
    rows = [
        row
        for section in parser.sections()
        if section.startswith("testenv")
        for row in (parser.get(section, "commands", fallback="") or "").splitlines()
        if not row.strip().startswith(("#", "-"))
    ]
    return [re.sub(rf"^\s*{_FACTORS.pattern}:\s+", "", row) for row in rows]
