"""Definitions of CI that come in place of another: whether they run its checks, as often and in every case."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from gatekeeper.checks.config_weakening.ci_commands import CARRIES, CHECKING, COMMANDS, command_lines, program
from gatekeeper.checks.config_weakening.ci_triggers import NO_CODE, events, narrowed_triggers
from gatekeeper.checks.config_weakening.command_reach import as_much, narrowing
from gatekeeper.checks.config_weakening.matrix import rows_of

_INSTALL = re.compile(r"(?:pip|python -m pip|npm (?:ci|install)|uv (?:sync|pip)|after_success|coveralls|codecov)\b")
_AT_THE_ROOT = frozenset({
    ".gitlab-ci.yml", "azure-pipelines.yml", ".travis.yml", "bitbucket-pipelines.yml", ".drone.yml", "appveyor.yml", ".appveyor.yml", ".cirrus.yml",
})  # fmt: skip
_ALWAYS = r"\s*(?:\$\{\{\s*)?(?:true|always\(\)|success\(\)|!\s*cancelled\(\)|!\s*github\.event\.pull_request\.draft|github\.event\.pull_request\.draft\s*(?:==\s*false|!=\s*true))(?:\s*\}\})?\s*"
"""Conditions that hold, or that wait for a draft to be none; whether they do is asked where they come."""


def as_often(old: dict[str, Any], new: dict[str, Any], target: str) -> bool:
    """The new definition starts whenever the old one did; where that is of another system, for each push or request of the target."""
    if "jobs" not in new:
        return True
    now = events(new)
    if "jobs" in old and events(old):
        return not any(effect is None for _, _, effect in narrowed_triggers(old, new, target, fresh=False))
    return any(event in now and _unbounded(now[event], event, target) for event in ("push", "pull_request"))


def _unbounded(given: Any, event: str, target: str) -> bool:
    if not isinstance(given, dict):
        return True
    named = {k: {str(v) for v in value} if isinstance(value, list) else {str(value)} for k, value in given.items()}
    if "paths" in named or (event == "push" and "tags" in named and "branches" not in named):
        return False
    if "branches" in named and not {target, "**"} & named["branches"]:
        return False
    if "types" in named and not {"opened", "synchronize"} <= named["types"]:
        return False
    return "branches-ignore" not in named and all(re.fullmatch(NO_CODE, p) for p in named.get("paths-ignore", ()))


def always(doc: dict[str, Any], only: str | None = None) -> list[str]:
    """Lines of the jobs (or of one) and steps on which no condition stands."""
    return [
        row
        for step in _free_steps(doc, only)
        for row in command_lines({k: v for k, v in step.items() if k in COMMANDS})
    ]


def always_uses(doc: dict[str, Any]) -> Counter[str]:
    """Actions and workflows of others that run in every case and may check something, without their versions."""
    found = Counter(str(step["uses"]).split("@")[0] for step in _free_steps(doc) if isinstance(step.get("uses"), str))
    jobs = _jobs(doc)
    for job in jobs.values():
        if isinstance(job, dict) and isinstance(job.get("uses"), str) and _free(job, jobs):
            found[job["uses"].split("@")[0]] += 1
    return Counter({name: n for name, n in found.items() if CARRIES.match(name) is None})


def _jobs(doc: dict[str, Any]) -> dict[str, Any]:
    jobs = doc.get("jobs")
    return jobs if isinstance(jobs, dict) else {}


def _free_steps(doc: dict[str, Any], only: str | None = None) -> list[dict[str, Any]]:
    jobs = _jobs(doc)
    held = [job.get("steps") for name, job in jobs.items() if only in (None, name) and _free(job, jobs)]
    return [
        step
        for steps in held
        for step in (steps if isinstance(steps, list) else ())
        if isinstance(step, dict)
        and re.fullmatch(_ALWAYS, str(step.get("if", "true")))
        and not _on(step.get("continue-on-error"))
    ]


def _on(value: Any) -> bool:
    return str(value).lower() not in ("none", "false", "no", "")


def _free(job: Any, jobs: dict[str, Any], depth: int = 0) -> bool:
    """Neither the job nor one that it waits for has a condition, its failures count, and its matrix has rows."""
    if not isinstance(job, dict) or depth > 10 or not re.fullmatch(_ALWAYS, str(job.get("if", "true"))):
        return False
    needs = job.get("needs") or []
    return (
        not _on(job.get("continue-on-error"))
        and rows_of(job) != []
        and all(_free(jobs.get(str(n)), jobs, depth + 1) for n in (needs if isinstance(needs, list) else [needs]))
    )


def takes_over(old: Any, fresh: list[str]) -> bool:
    """Each check of the old definition is among these lines, and chooses no less there."""
    checks = [
        row
        for row in command_lines(old)
        if (CHECKING.search(row) or program(row) == "coverage") and not _INSTALL.match(row)
    ]
    return bool(checks) and all(
        any(program(row) == program(new) and narrowing(new) <= narrowing(row) and _no_less(row, new) for new in fresh)
        for row in checks
    )


def _no_less(row: str, new: str) -> bool:
    """Environments of a runner have names of their own in each system; anything else is compared by what it looks at."""
    name = program(row)
    if name in ("tox", "nox"):
        return not re.search(r"\s(?:list|--notest|--listenvs|-l|config|devenv)(?:\s|$)", new)
    return row == new or as_much(row, new, name)


def read_by_itself(path: str) -> bool:
    """A system reads this very file without being told to by another."""
    return bool(re.fullmatch(r"\.github/workflows/[^/]+\.ya?ml|\.circleci/config\.yml", path)) or path in _AT_THE_ROOT


def system(path: str) -> str:
    """The folder or the name of the file by which a system is known."""
    return path.split("/", maxsplit=1)[0].removesuffix(".yaml").removesuffix(".yml")


def arrived(path: str, base: Iterable[str]) -> bool:
    """No file of this system was there, so that nobody knows whether it is switched on; one is where it hosts the code."""
    known = system(path)
    return known != ".github" and not any(system(p) == known for p in base)
