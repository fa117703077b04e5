"""Commands of CI definitions: which of them check something, how much, and which task runner has them."""

from __future__ import annotations

import configparser
import re
from typing import Any

from gatekeeper.checks.config_weakening.command_reach import LOST, as_much
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


def runs_elsewhere(evidence: Evidence, line: str) -> Effect | None:
    """Where the checking tool of a line went, if CI starts a task runner that has it.

    ADVISES: it runs there by default (an environment of tox, a hook of pre-commit). ASKS: it is there to be run, and whether
    it is only a person can tell. None: it is nowhere.
    """
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
    started = [
        row.split()
        for path in evidence.merged.entries
        if is_ci(path) and isinstance(doc := workflow_yaml.load(text(evidence.merged, path)), dict)
        for row in command_lines(doc)
        if not re.match(r"(?:pip|python -m pip|uv (?:sync|pip|tool install)|pipx install)\b", row)
        and not LOST.search(row)
    ]
    if not tools:
        return None
    hooks = text(evidence.merged, ".pre-commit-config.yaml") or ""
    default: list[str] = []
    other: list[str] = []
    if "ci:" in hooks or any(
        {"pre-commit", "prek", "pre-commit/action"} & {w.split("@")[0] for w in row} for row in started
    ):
        first, rest = _hooks(workflow_yaml.load(hooks))
        default += first
        other += rest
    if runs := [row for row in started if "tox" in row]:
        first, rest = _tox(text(evidence.merged, "tox.ini") or "", runs)
        default += first
        other += rest
    for runner, names in _TASKS.items():
        if any(runner in row for row in started):
            for name in names:
                content = text(evidence.merged, name) or ""
                table = tool_settings.read(name, content) if name.endswith((".toml", ".json")) else None
                other += [str(v) for k, v in table.items() if _SCRIPTS.match(k)] if table is not None else [
                    row for row in content.splitlines() if not row.lstrip().startswith("#")
                ]  # fmt: skip
    default, other = ([r for r in rows if not _ASKS_THE_TOOL.search(r)] for rows in (default, other))
    named = {t: re.compile(rf"(?<![\w-]){re.escape(t)}(?![\w-])") for t in tools}
    if all(any(named[t].search(row) and as_much(line, row, t) for row in default) for t in tools):
        return Effect.ADVISES
    return Effect.ASKS if all(any(named[t].search(row) for row in (*default, *other)) for t in tools) else None


def _hooks(doc: Any) -> tuple[list[str], list[str]]:
    """(what runs over all files, what runs by hand, for some files or not on a server), each with its arguments."""
    every: list[str] = []
    other: list[str] = []
    repos, ci = (doc.get("repos"), doc.get("ci")) if isinstance(doc, dict) else (None, None)
    skipped = set(map(str, ci["skip"])) if isinstance(ci, dict) and isinstance(ci.get("skip"), list) else set()
    for repo in repos if isinstance(repos, list) else ():
        hooks = repo.get("hooks") if isinstance(repo, dict) else None
        for hook in hooks if isinstance(hooks, list) else ():
            if isinstance(hook, dict):
                args = hook.get("args")
                row = " ".join(
                    [str(hook.get("entry") or hook.get("id")), *map(str, args if isinstance(args, list) else ())]
                )
                less = {"stages", "files", "exclude", "types", "types_or"} & set(hook) or hook.get("id") in skipped
                (other if less else every).append(row)
    return every, other


def started(evidence: Evidence, tool: str) -> bool:
    """CI, a task runner or a hook of the change runs this tool; that something installs it or speaks of it is not enough."""
    rows: list[str] = []
    for path in evidence.merged.entries:
        if is_ci(path):
            rows += command_lines(workflow_yaml.load(text(evidence.merged, path)))
    hooks = workflow_yaml.walk(workflow_yaml.load(text(evidence.merged, ".pre-commit-config.yaml")))
    rows += [str(v) for at, v in hooks if at and at[-1] in ("id", "entry")]
    rows += [row for part in _tox(text(evidence.merged, "tox.ini") or "", [["tox"]]) for row in part]
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


def _tox(content: str, runs: list[list[str]]) -> tuple[list[str], list[str]]:
    """(commands that run by default or because CI names their environment, commands of the other environments)."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(content[:200_000])
    except configparser.Error:
        return [], []
    listed = " ".join(parser.get("tox", key, fallback="") or "" for key in ("env_list", "envlist"))
    named = {w for row in runs for at, word in enumerate(row) if row[at - 1] in ("-e", "-m") for w in word.split(",")}
    bare = any("-e" not in row and "-m" not in row for row in runs)
    default: list[str] = []
    other: list[str] = []
    for section in parser.sections():
        name = section.removeprefix("testenv").lstrip(":")
        if section.startswith("testenv"):
            rows = [
                r
                for r in (parser.get(section, "commands", fallback="") or "").splitlines()
                if not r.strip().startswith(("#", "-"))
            ]
            by_default = bare and (not name or re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", listed))
            lost = parser.get(section, "ignore_outcome", fallback="") or ""
            runs_it = lost.strip().lower() in ("", "false") and (by_default or name in named or (not name and named))
            for row in rows:
                factors, _, rest = row.partition(": ")
                only = _FACTORS.fullmatch(factors.strip()) is not None and bool(rest.strip())
                listed_so = only and re.search(rf"(?<![\w-]){re.escape(factors.strip())}(?![\w-])", listed)
                (default if runs_it and (not only or listed_so) else other).append(rest if only else row)
    return default, other
