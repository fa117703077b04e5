"""Switches of CI that make failures harmless or jobs idle, and whether they stand on what was checked before or on what only joined it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from gatekeeper.checks.config_weakening.ci_commands import CARRIES, COMMANDS, Row, command_lines
from gatekeeper.checks.config_weakening.ci_same_work import checks_of, kept, same_work
from gatekeeper.checks.config_weakening.ci_successors import always, always_uses
from gatekeeper.checks.config_weakening.matrix import in_every_row
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml

_LENIENT = {"continue-on-error", "allow_failure", "continueOnError", "ignore_failure", "soft_fail"}
_FALSE = re.compile(
    r"^\s*(?:\$\{\{\s*)?(?:false|0|''|\"\"|!\s*true|github\.event_name\s*==\s*'workflow_dispatch'|never|manual)(?:\s*\}\})?\s*$",
    re.IGNORECASE,
)
_NO_CHANGE = re.compile(
    r"^\s*(?:\$\{\{\s*)?github\.event_name\s*==\s*'(?:schedule|workflow_dispatch|repository_dispatch|release|workflow_run)'(?:\s*\}\})?\s*$"
)
_NO_REQUEST = re.compile(
    r"^\s*(?:\$\{\{\s*)?(?:github\.ref(?:_name)?\s*==\s*'(?!refs/pull)[^']{1,200}'|github\.event_name\s*(?:==\s*'push'|!=\s*'pull_request'))(?:\s*\}\})?\s*$"
)
"""Conditions that no pull request meets."""
_OF_THE_MATRIX = re.compile(r"^\$\{\{\s*matrix\.[\w.-]+(?:\s*\|\|\s*false|\s*==\s*(?:true|false|'[^']*'))?\s*\}\}$")
_REPORTS = ("codecov/", "coverallsapp/", "codacy/", "actions/upload-artifact", "actions/cache", "codspeedhq/")
"""Actions that send or keep what was measured; whether that worked says nothing of the code."""
_DRAFTS = re.compile(
    r"\s*(?:\$\{\{\s*)?(?:!\s*github\.event\.pull_request\.draft|github\.event\.pull_request\.draft\s*(?:==\s*false|!=\s*true))(?:\s*\}\})?\s*"
)
_NEEDLESS = ("SKIP", "no-commit-to-branch")
"""A hook that fails on every server's copy of the branch."""
_Path = tuple[str, ...]


def switches(old: dict[str, Any], new: dict[str, Any]) -> list[Row]:
    """What is switched off or made harmless. Position in lists does not count; the value and key do."""
    had = [(_place(at), at[-1], str(v)) for at, v in workflow_yaml.walk(old) if at]
    whole = {where.removesuffix("continue-on-error") for where, key, value in had if key == "continue-on-error" and value.lower() == "true" and re.fullmatch(r"jobs/[^/]+/[^/]+", where)}  # fmt: skip
    counted = _steps(old, lenient=False) - _steps(old, lenient=True)
    rows: list[Row] = [
        ("CI_FAILURE_IGNORED", f"a failure of `{what[:120]}` in job {job} no longer counts.", None)
        for job, what in sorted(counted & _steps(new, lenient=True) - _steps(new, lenient=False))
    ]
    joined: bool | None = None
    for at, v in workflow_yaml.walk(new):
        if not at:
            continue
        where, key, value = row = (_place(at), at[-1], str(v))
        here, there = (_job(doc, where) for doc in (new, old))
        if row in had:
            had.remove(row)
            if key in _LENIENT and in_every_row(here, value) and not in_every_row(there, value):
                rows.append(("CI_FAILURE_IGNORED", f"{where} is {value}, which holds in every row now: a failure no longer counts.", None))  # fmt: skip
            continue
        said: Row | None = None
        if key in _LENIENT and _on(value):
            # Of some rows of the matrix, or of a step where the whole job counted for nothing: what people chose before.
            some = _OF_THE_MATRIX.match(value) and not in_every_row(here, value)
            chosen = some or any(where.startswith(job) for job in whole)
            said = ("CI_FAILURE_IGNORED", f"{where} is {value}: a failure no longer counts.", Effect.ASKS if chosen else None)  # fmt: skip
        elif key in ("if", "when", "condition", "enabled", "rules"):
            dead = bool(_FALSE.match(value))
            if (dead or _guards(new, at)) and not (_DRAFTS.fullmatch(value) and _ready(new)):
                rare = not dead and key == "if" and _never_before_merge(value, new) and _checks(new, at)
                said = ("CI_CHECK_REMOVED", f"{where} is {value[:120]}: {'it never runs' if dead else 'it never runs before a merge' if rare else 'it runs in fewer cases'}.", None if dead or rare else Effect.ASKS)  # fmt: skip
        elif key == "shell" and re.search(r"\{0\}", value) and "-e" not in value:
            said = ("CI_FAILURE_IGNORED", f"{where} is {value}: the shell no longer stops at a failure.", None)
        elif (
            key in ("PYTEST_ADDOPTS", "SKIP", "NO_VERIFY", "HUSKY", "PRE_COMMIT_ALLOW_NO_CONFIG")
            and row[1:] != _NEEDLESS
        ):
            said = ("CI_CHECK_REMOVED", f"{where} is {value[:120]}: it switches checks off.", None)
        if said is None:
            continue
        if key in (*_LENIENT, "if"):
            joined = only_joined(old, new) if joined is None else joined
            if (_sends(new, at) and key in _LENIENT) or (joined and _is_new(old, new, at)):
                continue
        rows.append(said)
    return rows


def _never_before_merge(value: str, doc: dict[str, Any]) -> bool:
    """The condition holds for no request, though the definition starts for requests, or for no push and no request."""
    on = doc.get("on")
    asked = "pull_request" in (on if isinstance(on, dict | list) else [on])
    return bool(_NO_CHANGE.match(value) or (asked and _NO_REQUEST.match(value)))


def _checks(doc: Any, at: _Path) -> bool:
    """The job or step on which the condition stands checks something."""
    for part in at[:-1]:
        doc = doc[int(part)] if isinstance(doc, list) else doc[part]
    return isinstance(doc, dict) and bool(checks_of(command_lines(doc)))


def only_joined(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """All that was checked in every case still is, as often; `old` is no definition of GitHub's: unknown."""
    if "jobs" not in old or "jobs" not in new:
        return False
    jobs, now = old["jobs"], new["jobs"]
    if not isinstance(jobs, dict) or not isinstance(now, dict):
        return False
    bound = {name for name, job in jobs.items() if not always(old, str(name))}
    if any(name not in now and checks_of(command_lines(jobs[name])) for name in bound):
        return False  # what ran in some cases only, and where it went
    return kept(checks_of(always(old)), always(new)) and not always_uses(old) - always_uses(new)


def _is_new(old: dict[str, Any], new: dict[str, Any], at: _Path) -> bool:
    """What this switch stands on, a job or a step, was not there before under any name."""
    node: Any = new
    for part in at[:-1]:
        node = node[int(part)] if isinstance(node, list) else node[part]
    if len(at) == 3 and at[0] == "jobs":
        jobs = old.get("jobs")
        return isinstance(jobs, dict) and at[1] not in jobs
    if len(at) != 5 or at[0] != "jobs" or at[2] != "steps" or not isinstance(node, dict):
        return False
    if at[1] not in (old.get("jobs") or {}):
        return True
    lines = command_lines({k: v for k, v in node.items() if k in COMMANDS})
    had = Counter(command_lines(old)) - Counter(always(old))  # the others are there as before
    uses = str(node.get("uses", "")).split("@")[0]
    used = {str(v).split("@")[0] for place, v in workflow_yaml.walk(old) if place and place[-1] == "uses"}
    held = any(line in had or any(same_work(h, line) for h in had) for line in checks_of(lines))
    return not held and not (uses and uses in used)


def _sends(new: dict[str, Any], at: _Path) -> bool:
    """The step only sends or keeps what was measured."""
    node: Any = new
    for part in at[:-1]:
        node = node[int(part)] if isinstance(node, list) else node[part]
    return isinstance(node, dict) and "run" not in node and str(node.get("uses", "")).lower().startswith(_REPORTS)


def _ready(doc: dict[str, Any]) -> bool:
    """Requests are looked at when they are drafts no longer."""
    on = doc.get("on")
    asked = on.get("pull_request") if isinstance(on, dict) else None
    kinds = asked.get("types") if isinstance(asked, dict) else None
    return isinstance(kinds, list) and {"opened", "synchronize", "ready_for_review"} <= set(map(str, kinds))


def _place(at: _Path) -> str:
    return "/".join(p for p in at if not p.isdigit())


def _job(doc: dict[str, Any], where: str) -> Any:
    """The job in which `where` stands."""
    jobs, parts = doc.get("jobs"), where.split("/")
    return jobs.get(parts[1]) if isinstance(jobs, dict) and len(parts) > 1 else None


def _steps(doc: dict[str, Any], *, lenient: bool) -> set[tuple[str, str]]:
    """(job, command) of each step that may fail without harm whatever the matrix says, or of each that may not."""
    jobs = doc.get("jobs")
    found: set[tuple[str, str]] = set()
    for name, job in jobs.items() if isinstance(jobs, dict) else ():
        steps = job.get("steps") if isinstance(job, dict) else None
        for step in steps if isinstance(steps, list) else ():
            what = step.get("run") if isinstance(step, dict) else None
            if isinstance(what, str):
                value = str(step.get("continue-on-error", False))
                if (_on(value) and not _OF_THE_MATRIX.match(value)) is lenient:
                    found.add((str(name), what.strip()))
    return found


def _on(value: str) -> bool:
    return value.lower() not in ("false", "no", "")


def _guards(doc: Any, at: _Path) -> bool:
    """False for what stands in a step that fetches or keeps something: nothing is checked there (of coverage it may be)."""
    step = doc
    for part in at[:-1]:
        step = step[int(part)] if isinstance(step, list) else step[part]
    if not isinstance(step, dict) or not isinstance(step.get("uses"), str) or any(k in step for k in COMMANDS):
        return True
    return CARRIES.match(step["uses"]) is None or step["uses"].startswith(("codecov/", "coverallsapp/"))
