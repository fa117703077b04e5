"""CI definitions compared by meaning: triggers, jobs, commands, what happens on failure, permissions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from gatekeeper.checks.config_weakening.ci_bodies import around_checks, surroundings, worse_heir
from gatekeeper.checks.config_weakening.ci_commands import (
    CARRIES,
    CHECKING,
    COMMANDS,
    Row,
    command_lines,
    is_ci,
    runs_elsewhere,
)
from gatekeeper.checks.config_weakening.ci_successors import always, arrived, as_often, read_by_itself, takes_over
from gatekeeper.checks.config_weakening.ci_triggers import checks_nothing, narrowed_triggers
from gatekeeper.checks.config_weakening.command_reach import LOST, narrowing
from gatekeeper.checks.config_weakening.limits import permitted
from gatekeeper.checks.config_weakening.matrix import in_every_row
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml

_LENIENT = {"continue-on-error", "allow_failure", "continueOnError", "ignore_failure", "soft_fail"}
_FALSE = re.compile(
    r"^\s*(?:\$\{\{\s*)?(?:false|0|''|\"\"|!\s*true|github\.event_name\s*==\s*'workflow_dispatch'|never|manual)(?:\s*\}\})?\s*$",
    re.IGNORECASE,
)
_OF_THE_MATRIX = re.compile(r"^\$\{\{\s*matrix\.[\w.-]+(?:\s*\|\|\s*false|\s*==\s*(?:true|false|'[^']*'))?\s*\}\}$")
_OF_THEIR_OWN = ("CI_PERMISSIONS_WIDENED", "CI_TRIGGER_PRIVILEGED", "CI_TRIGGER_NARROWED")
_SMALL_RIGHTS = frozenset(
    {"issues", "pull-requests", "discussions", "id-token", "attestations", "pages", "statuses", "checks"}
)
_RANK = {"none": 0, "read": 1, "write": 2, "read-all": 1, "write-all": 3}


def weakened_ci(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding a file for its rights, its triggers and what it checks: the worst that was found, with all evidence."""
    out = []
    for changed in evidence.change.paths:
        path = changed.path
        if not is_ci(path):
            continue
        before, after = text(evidence.base, path), text(evidence.merged, path)
        allowed = permitted(evidence, path, PermitKind.CHANGE_CI)
        old, new = workflow_yaml.load(before), workflow_yaml.load(after)
        if before is not None and after is None:
            rows: list[Row] = []
            same = any(
                p.new and changed.old and p.new.oid == changed.old.oid and _stands_for(p.path, path)
                for p in evidence.change.paths
            )
            if not same:
                rows = _gone(evidence, path, old)
        elif new is None:
            rows = [("CI_CHECK_REMOVED", f"{path} can no longer be read as YAML.", None)]
        else:
            target = evidence.change.target_ref.removeprefix("refs/heads/")
            wheels = re.search(
                r"\btest-(?:command|groups|extras|requires)\b", text(evidence.base, "pyproject.toml") or ""
            )
            rows = _compare(
                old if isinstance(old, dict) else None, new, target, partial(runs_elsewhere, evidence), bool(wheels)
            )
        if not rows:
            continue
        if allowed:
            rows = [(c, m, Effect.ASKS) for c, m, e in rows if e is None and c != "CI_CHANGED"]
        for group in _by_fault(rows):
            code, message, effect = group[0]
            seen = "\n".join(m for _, m, _ in group[:20])
            out.append(finding(code, f"{path}: {message}", path=path, evidence=seen, key=message, effect=effect))
    return tuple(out)


def _by_fault(rows: list[Row]) -> list[list[Row]]:
    """Rows that are one fault together, the worst first: what CI may do and when it runs are faults of their own."""
    groups: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda r: r[2] is not None):
        groups.setdefault(row[0] if row[0] in _OF_THEIR_OWN else "checks", []).append(row)
    return list(groups.values())


def _compare(
    old: dict[str, Any] | None,
    new: Any,
    target: str,
    elsewhere: Callable[[str], Effect | None],
    tested_wheels: bool = False,
) -> list[Row]:
    if not isinstance(new, dict):
        return [("CI_CHECK_REMOVED", "the file defines nothing.", None)]
    rows: list[Row] = []
    narrowed = narrowed_triggers(old or {}, new, target, fresh=old is None)
    if old is not None and narrowed and not tested_wheels and checks_nothing(old):
        narrowed = [(c, m, Effect.ADVISES if c == "CI_TRIGGER_NARROWED" else e) for c, m, e in narrowed]
    rows += narrowed
    rows += _permissions(old or {}, new, fresh=old is None)
    if old is None:
        return rows
    rows += _leaves(old, new)
    rows += _commands(old, new, elsewhere)
    rows += around_checks(old, new)
    rows += surroundings(old, new)
    return rows


def _permissions(old: dict[str, Any], new: dict[str, Any], *, fresh: bool) -> list[Row]:
    rows: list[Row] = []

    def scopes(value: Any) -> dict[str, int]:
        if isinstance(value, str):
            return {"*": _RANK.get(value, 0)}
        return {k: _RANK.get(str(v), 0) for k, v in value.items()} if isinstance(value, dict) else {}

    places = [("the workflow", old.get("permissions"), new.get("permissions"))]
    was, now = old.get("jobs") or {}, new.get("jobs") or {}
    if isinstance(was, dict) and isinstance(now, dict):
        for name, job in now.items():
            if isinstance(job, dict) and "permissions" in job:
                earlier = was.get(name) if isinstance(was.get(name), dict) else {}
                places.append(
                    (f"job {name}", (earlier or {}).get("permissions", old.get("permissions")), job["permissions"])
                )
    for where, a, b in places:
        if a is not None and b is None:
            rows.append(("CI_PERMISSIONS_WIDENED", f"{where} no longer limits its permissions.", None))
            continue
        before, after = scopes(a), scopes(b)
        wider = [k for k, v in after.items() if v >= 2 and v > before.get(k, before.get("*", 0))]
        if wider and set(wider) <= _SMALL_RIGHTS:
            # Talk, identity and pages of the project: no code, package or job is in their reach.
            rows.append(("CI_PERMISSIONS_WIDENED", f"{where} may now write {', '.join(wider)}.", Effect.ASKS))
            continue
        if wider and not (fresh and a is None and "*" not in wider):
            rows.append(("CI_PERMISSIONS_WIDENED", f"{where} may now write {', '.join(wider)}.", None))
        elif wider:
            rows.append(("CI_PERMISSIONS_WIDENED", f"{where} may write {', '.join(wider)}.", Effect.ASKS))
    return rows


def _leaves(old: dict[str, Any], new: dict[str, Any]) -> list[Row]:
    """Switches that make failures harmless or jobs idle. Position in lists does not count; the value and key do."""

    def gathered(doc: Any) -> list[tuple[str, str, str, bool]]:
        return [
            (
                "/".join(p for p in at if not p.isdigit()),
                at[-1] if not at[-1].isdigit() else "",
                str(v),
                _guards(doc, at),
            )
            for at, v in workflow_yaml.walk(doc)
            if at
        ]

    had = gathered(old)
    whole = {where.removesuffix("continue-on-error") for where, key, value, _ in had if key == "continue-on-error" and value.lower() == "true" and re.fullmatch(r"jobs/[^/]+/[^/]+", where)}  # fmt: skip
    counted = _steps(old, lenient=False) - _steps(old, lenient=True)
    rows: list[Row] = [
        ("CI_FAILURE_IGNORED", f"a failure of `{what[:120]}` in job {job} no longer counts.", None)
        for job, what in sorted(counted & _steps(new, lenient=True) - _steps(new, lenient=False))
    ]
    for row in gathered(new):
        where, key, value, guards = row
        here, there = (_job(doc, where) for doc in (new, old))
        if row in had:
            had.remove(row)
            if key in _LENIENT and in_every_row(here, value) and not in_every_row(there, value):
                rows.append(("CI_FAILURE_IGNORED", f"{where} is {value}, which holds in every row now: a failure no longer counts.", None))  # fmt: skip
            continue
        if key in _LENIENT and _on(value):
            # Of some rows of the matrix, or of a step where the whole job counted for nothing: what people chose before.
            some = _OF_THE_MATRIX.match(value) and not in_every_row(here, value)
            chosen = some or any(where.startswith(job) for job in whole)
            rows.append(("CI_FAILURE_IGNORED", f"{where} is {value}: a failure no longer counts.", Effect.ASKS if chosen else None))  # fmt: skip
        elif key in ("if", "when", "condition", "enabled", "rules"):
            dead = bool(_FALSE.match(value))
            if guards or dead:
                rows.append(("CI_CHECK_REMOVED", f"{where} is {value[:120]}: {'it never runs' if dead else 'it runs in fewer cases'}.", None if dead else Effect.ASKS))  # fmt: skip
        elif key == "shell" and re.search(r"\{0\}", value) and "-e" not in value:
            rows.append(("CI_FAILURE_IGNORED", f"{where} is {value}: the shell no longer stops at a failure.", None))
        elif key in ("PYTEST_ADDOPTS", "SKIP", "NO_VERIFY", "HUSKY", "PRE_COMMIT_ALLOW_NO_CONFIG"):
            rows.append(("CI_CHECK_REMOVED", f"{where} is {value[:120]}: it switches checks off.", None))
    return rows


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


def _guards(doc: Any, at: tuple[str, ...]) -> bool:
    """False for what stands in a step that fetches or keeps something: nothing is checked there (of coverage it may be)."""
    step = doc
    for part in at[:-1]:
        step = step[int(part)] if isinstance(step, list) else step[part]
    if not isinstance(step, dict) or not isinstance(step.get("uses"), str) or any(k in step for k in COMMANDS):
        return True
    return CARRIES.match(step["uses"]) is None or step["uses"].startswith(("codecov/", "coverallsapp/"))


def _gone(evidence: Evidence, path: str, old: Any) -> list[Row]:
    """A definition that is gone: nothing where new ones run each of its checks as often, a question where only in some cases."""
    target = evidence.change.target_ref.removeprefix("refs/heads/")
    sure: list[str] = []
    some: list[str] = []
    for changed in evidence.change.paths:
        if not is_ci(changed.path) or changed.old is not None or not _stands_for(changed.path, path):
            continue
        doc = workflow_yaml.load(text(evidence.merged, changed.path))
        if isinstance(doc, dict) and isinstance(old, dict) and as_often(old, doc, target):
            leaves = _leaves({}, doc)
            leaves += around_checks(old, doc) + surroundings(old, doc)
            if any(effect is None for _, _, effect in leaves) or any(map(LOST.search, command_lines(doc))):
                continue
            some += command_lines(doc)
            if arrived(changed.path, evidence.base.entries) or around_checks(old, doc):
                continue
            sure += always(doc) if "jobs" in doc else [] if leaves else command_lines(doc)
    if takes_over(old, sure):
        return []
    if takes_over(old, some):
        return [("CI_CHECK_REMOVED", f"{path} is gone, and what is new runs its checks in fewer cases.", Effect.ASKS)]
    return [("CI_CHECK_REMOVED", f"{path} is gone.", None)]


def _stands_for(path: str, gone: str) -> bool:
    """A system reads the new file as it read the old one: by itself, or in the same folder for those that others name."""
    return read_by_itself(path) or (not read_by_itself(gone) and path.rpartition("/")[0] == gone.rpartition("/")[0])


def _commands(old: dict[str, Any], new: dict[str, Any], elsewhere: Callable[[str], Effect | None]) -> list[Row]:
    was, now = command_lines(old), command_lines(new)
    rows: list[Row] = []
    fresh = [c for c in now if c not in was]
    for line in fresh:
        if LOST.search(line) and CHECKING.search(line):
            rows.append(("CI_FAILURE_IGNORED", f"`{line[:200]}` succeeds whatever it finds.", None))
        elif line.strip() == "set +e":
            rows.append(("CI_FAILURE_IGNORED", "`set +e` lets failures pass.", None))
    ignored = bool(rows)
    for line in [c for c in was if c not in now]:
        if not CHECKING.search(line) or re.match(
            r"(?:pip|python -m pip|npm (?:ci|install)|uv (?:sync|pip))\b|(?:cd|cp|mv|rm|mkdir|ls) [^;&|]*$", line
        ):
            continue
        heir = max(fresh, key=lambda c: len(set(c.split()) & set(line.split())), default="")
        alike = len(set(heir.split()) & set(line.split())) * 2 >= len(set(line.split())) if heir else False
        went = None if alike else elsewhere(line)
        if went is Effect.ASKS:
            rows.append(("CI_CHANGED", f"`{line[:200]}` is now left to a task runner.", Effect.ASKS))
        elif not alike and went is None:
            rows.append(("CI_CHECK_REMOVED", f"`{line[:200]}` no longer runs.", None))
        elif not alike:
            continue  # a task runner that CI starts runs it
        elif narrowing(heir) > narrowing(line):
            rows.append(("CI_CHECK_REMOVED", f"`{line[:100]}` became `{heir[:100]}`, which checks less.", None))
        elif re.match(r"(?:echo|printf|true|:|#)(?:\s|$)", heir):
            rows.append(("CI_CHECK_REMOVED", f"`{line[:100]}` became `{heir[:100]}`, which checks nothing.", None))
        elif (worse := worse_heir(line, heir, new)) is not None:
            rows.append(worse)
        elif not ignored and not set(line.split()) <= set(heir.split()):
            rows.append(("CI_CHANGED", f"`{line[:100]}` became `{heir[:100]}`.", Effect.ASKS))
    jobs = [set(d["jobs"]) if isinstance(d.get("jobs"), dict) else set() for d in (old, new)]
    if jobs[0] - jobs[1] and len(jobs[1]) < len(jobs[0]) and not rows:
        rows.append(("CI_CHECK_REMOVED", f"job {', '.join(sorted(jobs[0] - jobs[1]))} is gone.", None))
    return rows
