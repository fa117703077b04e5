"""CI definitions compared by meaning: triggers, jobs, commands, what happens on failure, permissions."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from gatekeeper.checks.config_weakening.ci_actions import actions, fewer_cases, other_systems
from gatekeeper.checks.config_weakening.ci_bodies import around_checks, only_shown, surroundings, worse_heir
from gatekeeper.checks.config_weakening.ci_commands import CHECKING, Row, command_lines, is_ci
from gatekeeper.checks.config_weakening.ci_elsewhere import all_elsewhere, beside, runs_elsewhere, stands_for
from gatekeeper.checks.config_weakening.ci_same_work import cut_apart, idle, same_work, succeeded
from gatekeeper.checks.config_weakening.ci_successors import always, arrived, as_often, takes_over
from gatekeeper.checks.config_weakening.ci_switches import switches
from gatekeeper.checks.config_weakening.ci_triggers import checks_nothing, narrowed_triggers
from gatekeeper.checks.config_weakening.command_reach import LOST, narrowing
from gatekeeper.checks.config_weakening.limits import permitted
from gatekeeper.checks.config_weakening.matrix_rows import rows_left_out
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml

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
                p.new and changed.old and p.new.oid == changed.old.oid and stands_for(p.path, path)
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
            known = old if isinstance(old, dict) else None
            elsewhere = partial(runs_elsewhere, evidence, path, known)
            rows = _compare(known, new, target, elsewhere, bool(wheels))
            if known is not None and isinstance(new, dict):
                rows += actions(known, new, partial(beside, evidence, path, known)) + other_systems(path, known, new)
                rows += [] if any(c != "CI_CHANGED" for c, _, _ in rows) else fewer_cases(known, new)
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
    rows += switches(old, new)
    rows += rows_left_out(old, new)
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


def _gone(evidence: Evidence, path: str, old: Any) -> list[Row]:
    """A definition that is gone: nothing where new ones run each of its checks as often, a question where only in some cases."""
    target = evidence.change.target_ref.removeprefix("refs/heads/")
    sure: list[str] = []
    some: list[str] = []
    for changed in evidence.change.paths:
        if not is_ci(changed.path) or changed.old is not None or not stands_for(changed.path, path):
            continue
        doc = workflow_yaml.load(text(evidence.merged, changed.path))
        if isinstance(doc, dict) and isinstance(old, dict) and as_often(old, doc, target):
            leaves = switches({}, doc)
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


def _commands(old: dict[str, Any], new: dict[str, Any], elsewhere: Callable[[str], Effect | None]) -> list[Row]:
    was, now = command_lines(old), command_lines(new)
    rows: list[Row] = []
    fresh = [c for c in now if c not in was]
    for line in fresh:
        if LOST.search(line) and CHECKING.search(line) and not idle(line) and only_shown(line, new) is None:
            rows.append(("CI_FAILURE_IGNORED", f"`{line[:200]}` succeeds whatever it finds.", None))
        elif line.strip() == "set +e":
            rows.append(("CI_FAILURE_IGNORED", "`set +e` lets failures pass.", None))
    ignored = bool(rows)
    plain = [only_shown(c, new) or c for c in fresh]
    for line in [c for c in was if c not in now]:
        if not CHECKING.search(line) or re.match(
            r"(?:pip|python -m pip|npm (?:ci|install)|uv (?:sync|pip))\b|(?:cd|cp|mv|rm|mkdir|ls) [^;&|]*$", line
        ):
            continue
        if cut_apart(line, now, was) or any(same_work(line, c) for c in plain) or succeeded(line, plain):
            continue
        heir = max(fresh, key=lambda c: len(set(c.split()) & set(line.split())), default="")
        alike = len(set(heir.split()) & set(line.split())) * 2 >= len(set(line.split())) if heir else False
        went = None if alike else elsewhere(line)
        if went is Effect.ASKS:
            rows.append(("CI_CHANGED", f"`{line[:200]}` is now left to a task runner.", Effect.ASKS))
        elif not alike and went is None:
            rows.append(("CI_CHECK_REMOVED", f"`{line[:200]}` no longer runs.", None))
        elif not alike:
            continue  # another definition, or a task runner that CI starts, runs it
        elif narrowing(heir) > narrowing(line):
            rows.append(("CI_CHECK_REMOVED", f"`{line[:100]}` became `{heir[:100]}`, which checks less.", None))
        elif re.match(r"(?:echo|printf|true|:|#)(?:\s|$)", heir):
            rows.append(("CI_CHECK_REMOVED", f"`{line[:100]}` became `{heir[:100]}`, which checks nothing.", None))
        elif (worse := worse_heir(line, heir, new)) is not None:
            rows.append(worse)
        elif not ignored and not set(line.split()) <= set(heir.split()):
            rows.append(("CI_CHANGED", f"`{line[:100]}` became `{heir[:100]}`.", Effect.ASKS))
    jobs = [set(d["jobs"]) if isinstance(d.get("jobs"), dict) else set() for d in (old, new)]
    if jobs[0] - jobs[1] and len(jobs[1]) < len(jobs[0]) and not rows and not all_elsewhere(old, now, elsewhere):
        rows.append(("CI_CHECK_REMOVED", f"job {', '.join(sorted(jobs[0] - jobs[1]))} is gone.", None))
    return rows
