"""Changes to what later agent sessions will obey: instruction files, agents' settings, tool servers, hooks."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any

from gatekeeper.domain.change import ChangedPath
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.instruction_files import steers_agents
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import SYMLINK, Tree, text
from gatekeeper.formats.added_lines import added_lines

_INCLUDE = re.compile(r"(?:^|\s)@([A-Za-z0-9_./-]+\.[A-Za-z0-9]+)\b")
_MAX_FACTS = 12


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding a changed file. Nothing but a permit that names the path allows it, and then a person still looks."""
    permitted = [g for p in evidence.ticket.permits_of(PermitKind.CHANGE_INSTRUCTIONS) for g in p.paths]
    steering = _reached(evidence.base) | _reached(evidence.merged)
    found = []
    for changed in evidence.change.paths:
        if not steers_agents(changed.path) and changed.path not in steering:
            continue
        allowed = matches_any(permitted, changed.path)
        what = _difference(evidence, changed)
        found.append(
            finding(
                "INSTRUCTIONS_CHANGED_AS_PERMITTED" if allowed else "INSTRUCTIONS_CHANGED",
                f"{changed.path!r} steers coding agents and was {_verb(changed)}.",
                path=changed.path,
                evidence=what,
                key="instructions",
            )
        )
    return tuple(found)


def _verb(changed: ChangedPath) -> str:
    return {"A": "added", "D": "removed", "T": "replaced by another kind of entry"}.get(changed.status, "changed")


def _reached(tree: Tree) -> set[str]:
    """Paths that an instruction file names: the target of a link, or a file it includes with `@path`."""
    reached: set[str] = set()
    for path, entry in tree.entries.items():
        if not steers_agents(path):
            continue
        folder = posixpath.dirname(path)
        if entry.mode == SYMLINK:
            names = [tree.read(path).decode("utf-8", "replace")]
        elif path.lower().endswith((".md", ".mdc")) and (entry.size or 0) <= 200_000:
            names = _INCLUDE.findall(text(tree, path) or "")
        else:
            continue
        reached |= {posixpath.normpath(posixpath.join(folder, n)) for n in names[:100]}
    return reached


def _difference(evidence: Evidence, changed: ChangedPath) -> str:
    before, after = text(evidence.base, changed.path), text(evidence.merged, changed.path)
    if changed.path.lower().endswith(".json"):
        facts = list(_facts(before, after))
        if facts:
            return "\n".join(facts[:_MAX_FACTS])
    gone = [f"- {line}" for _, line in added_lines(after, before or "")]
    come = [f"+ {line}" for _, line in added_lines(before, after or "")]
    return "\n".join([*gone[:_MAX_FACTS], *come[:_MAX_FACTS]])


def _facts(before: str | None, after: str | None) -> Iterator[str]:
    """What a settings file now allows, starts or no longer denies."""
    try:
        old = dict(_leaves(json.loads(before))) if before else {}
        new = dict(_leaves(json.loads(after))) if after else {}
    except (ValueError, RecursionError):
        return
    yield from (f"new: {k} = {v}" for k, v in new.items() if k not in old)
    yield from (f"gone: {k} = {v}" for k, v in old.items() if k not in new)
    yield from (f"changed: {k} = {v} (was {old[k]})" for k, v in new.items() if k in old and old[k] != v)


def _leaves(value: Any, where: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if depth > 20:
        raise RecursionError
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{where}.{key}" if where else str(key), depth + 1)
    elif isinstance(value, list) and value:
        for inner in value:
            # Order says nothing in lists of permissions; the entry itself is its name.
            mark = json.dumps(inner, sort_keys=True)[:200]
            yield f"{where}[{mark}]", mark
    else:
        yield where, json.dumps(value)[:200]
