"""What CI checks without a line of its own: actions of others and what they are told, and jobs of systems that name them otherwise."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from gatekeeper.checks.config_weakening.ci_commands import Row, command_lines
from gatekeeper.checks.config_weakening.ci_same_work import checks_of, kept
from gatekeeper.checks.config_weakening.ci_successors import always, always_uses
from gatekeeper.checks.config_weakening.command_reach import LOST, as_much
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml

_CHECKS = re.compile(
    r"(?:^|[/_.-])(gitleaks|trufflehog|codeql|pre-commit|prek|ruff|flake8|mypy|pyright|black|isort|bandit|semgrep|snyk|trivy|grype|scorecard|sonar\w*|golangci|eslint|zizmor|actionlint"
    r"|dependency-review|super-linter|mega-?linter|shellcheck|hadolint|yamllint|codespell|typos|osv-scanner|pip-audit|safety|lint\w*|scan\w*|audit|secrets?|security|tests?|check\w*|verif\w+|lychee)(?:$|[/_.-])",
    re.IGNORECASE,
)
_NO_CHECK = re.compile(r"(?:checkout|publish|release|upload|download|label|setup|install|report|comment|badge|cache|deploy|codecov|coveralls|slsa|provenance|attest)", re.IGNORECASE)  # fmt: skip
_TOLD = frozenset({"args", "extra_args", "extra-args", "arguments", "options", "hook", "flags", "src", "path", "paths", "fail", "fail-on-severity", "fail_on_error", "exit-code", "fail-on-error", "severity", "config", "queries", "validate_all_codebase", "level"})  # fmt: skip
_LAX = re.compile(r"(?:false|0|none|never|off|critical)", re.IGNORECASE)


def actions(old: dict[str, Any], new: dict[str, Any], others: Callable[[], list[dict[str, Any]]]) -> list[Row]:
    """Actions that checked and are gone, run in some cases only or are told to find less; `others` run beside `new`, as often."""
    rows: list[Row] = []
    elsewhere = others() if set(always_uses(old)) - set(always_uses(new)) else []
    there = {name for doc in (new, *elsewhere) for name in always_uses(doc)}
    lines = [row for doc in (new, *elsewhere) for row in always(doc)]
    some = {str(v).split("@")[0] for at, v in workflow_yaml.walk(new) if at and at[-1] == "uses"}
    for name in always_uses(old):
        if name in there or not _CHECKS.search(name) or _NO_CHECK.search(name) or _followed(name, lines, there):
            continue
        if name in some:
            rows.append(("CI_CHECK_REMOVED", f"{name} runs in fewer cases.", Effect.ASKS))
        else:
            rows.append(("CI_CHECK_REMOVED", f"{name} no longer runs.", None))
    gone = {u for u in always_uses(old) if u.endswith((".yml", ".yaml")) and u not in there and not _NO_CHECK.search(u)}
    rows += [
        ("CI_CHECK_REMOVED", f"the workflow {u} is no longer called.", Effect.ASKS)
        for u in sorted(gone)
        if not _CHECKS.search(u)
    ]
    if "self-hosted" in _machines(new) and "self-hosted" not in _machines(old):
        rows.append(("CI_CHANGED", "a job runs on a machine of one's own.", Effect.ASKS))
    before, after = _told(old), _told(new)
    for at, value in after.items():
        was = before.get(at, "")
        if value == was or (at not in before and not (LOST.search(f" {value}") or re.search(r"--(?:version|help|exit-zero)\b", value) or _LAX.fullmatch(value))):  # fmt: skip
            continue
        if not as_much(f"tool {was}", f"tool {value}", "tool") or _LAX.fullmatch(value):
            rows.append(("CI_CHANGED", f"{at[0]} is told {at[1]}: {value[:100]}.", Effect.ASKS))
    return rows


def _machines(doc: dict[str, Any]) -> str:
    return " ".join(str(v) for at, v in workflow_yaml.walk(doc) if "runs-on" in at)


def _followed(name: str, lines: list[str], uses: set[str]) -> bool:
    """A line, or an action of another owner, runs the same tool."""
    found = _CHECKS.search(name)
    tool = found.group(1).lower() if found else ""
    if tool in _GENERAL:
        return False
    names = "pre-commit|prek" if tool in ("pre-commit", "prek") else re.escape(tool)
    wanted = re.compile(rf"(?<![\w-])(?:{names})(?!\w)")
    return any(wanted.search(r) and not LOST.search(r) for r in checks_of(lines)) or any(
        re.search(rf"(?<![a-z])(?:{names})(?![a-z])", u.lower()) for u in uses
    )


_GENERAL = frozenset({"", "lint", "linter", "scan", "scanner", "audit", "secret", "secrets", "security", "test", "tests", "check", "checks", "checker"})  # fmt: skip
"""Words that name a purpose and no tool."""


def _told(doc: dict[str, Any]) -> dict[tuple[str, str], str]:
    """What each checking action is told, by its name."""
    jobs = doc.get("jobs")
    out: dict[tuple[str, str], str] = {}
    for job in jobs.values() if isinstance(jobs, dict) else ():
        steps = job.get("steps") if isinstance(job, dict) else None
        for step in steps if isinstance(steps, list) else ():
            name = str(step.get("uses", "")).split("@")[0] if isinstance(step, dict) else ""
            told = step.get("with") if isinstance(step, dict) else None
            if name and _CHECKS.search(name) and not _NO_CHECK.search(name) and isinstance(told, dict):
                out |= {(name, str(k)): str(v) for k, v in told.items() if str(k) in _TOLD}
    return out


def fewer_cases(old: dict[str, Any], new: dict[str, Any]) -> list[Row]:
    """Lines that checked in every case and now wait for a job with a condition, or stand in a matrix without rows."""
    if "jobs" not in old or "jobs" not in new:
        return []
    now, free = set(command_lines(new)), always(new)
    lost = [r for r in dict.fromkeys(checks_of(always(old))) if r in now and not kept([r], free)]
    return [("CI_CHECK_REMOVED", f"`{r[:120]}` runs in fewer cases.", Effect.ASKS) for r in lost[:5]]


_RARE = frozenset({"schedules", "triggers", "web", "api", "pipelines", "tags", "external", "chat"})


def other_systems(path: str, old: dict[str, Any], new: dict[str, Any]) -> list[Row]:
    """Jobs of GitLab that are hidden, bounded or may fail, and rows of Travis that may."""
    name = path.rsplit("/", 1)[-1]
    if name == ".gitlab-ci.yml" or path.startswith(".gitlab/"):
        return _gitlab(old, new)
    if name != ".travis.yml":
        return []
    had, has = ([str(e) for key in ("jobs", "matrix") for e in _failures(doc.get(key))] for doc in (old, new))
    lists = {str(v) for at, v in workflow_yaml.walk(old) if at and "allow_failures" not in at}
    return [
        ("CI_FAILURE_IGNORED", f"allow_failures has {row[:100]}: what ran before may fail now.", None)
        for key in ("jobs", "matrix")
        for entry in _failures(new.get(key))
        for row in [str(entry)]
        if row not in had and row in has and isinstance(entry, dict) and all(str(v) in lists for v in entry.values())
    ]


def _failures(held: Any) -> list[Any]:
    rows = held.get("allow_failures") if isinstance(held, dict) else None
    return rows if isinstance(rows, list) else []


def _gitlab(old: dict[str, Any], new: dict[str, Any]) -> list[Row]:
    rows: list[Row] = []
    for name, job in old.items():
        if not isinstance(job, dict) or str(name).startswith(".") or not checks_of(command_lines(job)):
            continue
        now = new.get(name)
        if now is None and f".{name}" in new and not any(f".{name}" in str(v) for at, v in workflow_yaml.walk(new) if at and "extends" in at):  # fmt: skip
            rows.append(("CI_CHECK_REMOVED", f"job {name} is hidden: it never runs.", None))
        if not isinstance(now, dict):
            continue
        failing = now.get("allow_failure")
        if isinstance(failing, dict) and failing != job.get("allow_failure"):
            rows.append(("CI_FAILURE_IGNORED", f"job {name} may fail with {str(failing)[:80]}.", None))
        for key in ("only", "except"):
            if key in now and now[key] != job.get(key):
                refs = now[key] if isinstance(now[key], list) else [now[key]]
                rare = key == "only" and all(str(r) in _RARE for r in refs)
                rows.append(("CI_CHECK_REMOVED", f"job {name} has {key}: {str(now[key])[:80]}: it runs in fewer cases.", None if rare else Effect.ASKS))  # fmt: skip
    was, given = ([row for d in (doc, doc.get("default")) if isinstance(d, dict) for row in command_lines({"before_script": d.get("before_script")})] for doc in (old, new))  # fmt: skip
    rows += [
        ("CI_CHECK_REMOVED", f"`{row[:80]}` ends every job before it checks.", None)
        for row in given
        if row not in was and re.fullmatch(r"(?:exit|return)(?: 0)?;?|exec true", row)
    ]
    return rows
