"""Exact versions and digests of dependencies: what was fixed stays fixed, and a version stays the same file."""

from __future__ import annotations

import re

from gatekeeper.checks.supply_chain.dependency_permits import permits_path
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind, Ticket
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.package_lists import LOOSE
from gatekeeper.formats.python_requirements import Dependency, Manifest

_SHOWN = 8


def dropped_or_swapped(ticket: Ticket, path: str, before: Manifest, after: Manifest) -> Finding | None:
    """The finding about pins or hashes that are gone, or else about hashes that changed without a version."""
    strict = path.rsplit("/", 1)[-1].lower() not in LOOSE
    old: dict[str, list[Dependency]] = {}
    for one in before.dependencies:
        old.setdefault(one.name, []).append(one)
    same = [d for d in after.dependencies if d.name in old and not d.source]
    unhashed = [d for d in same if not d.hashes and all(o.hashes for o in old[d.name])]
    if not unhashed and any(d.hashes for d in before.dependencies):
        # Pip demands all hashes or none: one entry without switches nothing off, but a new one must have them too.
        unhashed = [
            d
            for d in after.dependencies
            if d.name not in old and not d.hashes and not d.source and strict and d.section != "lock"
        ]
    unpinned = [d for d in same if not d.version and strict and all(o.version for o in old[d.name])]
    if unhashed or unpinned or (before.require_hashes and not after.require_hashes and after.dependencies):
        rows = unhashed or unpinned
        what = "hashes" if unhashed or not rows else "pins"
        return finding(
            "DEPENDENCY_PINS_DROPPED",
            f"{path} drops {what}" + (f" of {_names(rows)}" if rows else " (--require-hashes is gone)") + ", so another file may be installed unnoticed.",
            path=path, line=rows[0].line if rows else 1, evidence=_evidence([o for d in rows for o in old.get(d.name, ())]),
        )  # fmt: skip
    swapped = []
    for d in same:
        had = frozenset[str]().union(*(o.hashes for o in old[d.name] if d.version and o.version == d.version))
        known = any(o.version == d.version for o in old[d.name]) and bool(d.version)
        if known and d.hashes - had:
            swapped.append((had, d))
    if not swapped:
        return None
    keeps = all(had <= d.hashes for had, d in swapped)
    # Another kind of digest says neither that the file is the same nor that it is another one.
    respelt = all(had and not _kinds(had) & _kinds(d.hashes) for had, d in swapped)
    allowed = permits_path(ticket, path, PermitKind.ADD_DEPENDENCY, PermitKind.CHANGE_INSTRUMENTS)
    if keeps and allowed:
        return None
    return finding(
        "DEPENDENCY_HASH_CHANGED",
        f"{path} changes the hash of {_names([n for _, n in swapped])} although the version stays the same.",
        path=path, line=swapped[0][1].line, evidence=_evidence([n for _, n in swapped]),
        effect=Effect.ASKS if keeps or allowed or respelt else None,
    )  # fmt: skip


def _kinds(hashes: frozenset[str]) -> set[str]:
    return {re.split(r"[:/-]", h)[0] if re.search(r"[:/-]", h) else "" for h in hashes}


def _names(rows: list[Dependency]) -> str:
    shown = sorted({d.name for d in rows})
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")


def _evidence(rows: list[Dependency]) -> str:
    return "\n".join(
        f"{d.name}{'==' + d.version if d.version else ''} {' '.join(sorted(d.hashes)[:2])}".strip()
        for d in rows[:_SHOWN]
    )
