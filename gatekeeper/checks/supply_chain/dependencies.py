"""Semantic diff of requirement files, manifests and locks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gatekeeper.checks.supply_chain.dependency_permits import permitted, permitted_option, permitted_source
from gatekeeper.checks.supply_chain.dependency_pins import dropped_or_swapped
from gatekeeper.checks.supply_chain.dependency_weights import transitive, weight
from gatekeeper.checks.supply_chain.local_sources import outside
from gatekeeper.checks.supply_chain.popular import DEVELOPMENT, lookalike
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.tree import Tree, text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.package_lists import SCRIPTS, family, is_list, read
from gatekeeper.formats.python_requirements import Dependency, Manifest, canonical

_SHOWN = 8
_NAMING = {
    "setup.py", "setup.cfg", "tox.ini", "noxfile.py", ".pre-commit-config.yaml", "Makefile", "Pipfile", ".travis.yml", "tox.toml",
}  # fmt: skip
"""Files that name tools the project uses without being lists of dependencies."""


def changed_dependencies(evidence: Evidence) -> tuple[Finding, ...]:
    """At most one finding for each kind of fault in each file."""
    paths = [p.path for p in evidence.change.paths if is_list(p.path) and p.new is not None]
    paths = [p for p in paths if not matches_any(evidence.settings.vendored, p)]
    if not paths:
        return ()
    known = {kind: _known_names(evidence.base, kind) for kind in {family(p) for p in paths}}
    # The name that the target gave itself; a name that the change gives may be that of any package.
    manifest = read("pyproject.toml", text(evidence.base, "pyproject.toml") or "")
    own = {manifest.own_name} - {""} if manifest is not None else set()
    out: list[Finding] = []
    reported: set[str] = set()
    for path in paths:
        new_text = text(evidence.merged, path)
        after = read(path, new_text) if new_text is not None else None
        old_text = text(evidence.base, path)
        before = read(path, old_text) if old_text is not None else None
        if after is None:
            # What is a program for another interpreter says as little as it did before.
            if path.rsplit("/", 1)[-1] not in SCRIPTS or (before is not None):
                out.append(
                    finding(
                        "DEPENDENCIES_UNREADABLE", f"{path} can no longer be read as a list of dependencies.", path=path
                    )
                )
            continue
        before = before or Manifest()
        if own:
            # The project itself in its own lock: what it is built from lies beside it, so there is nothing to pin.
            before, after = (
                replace(m, dependencies=tuple(d for d in m.dependencies if d.name not in own or not _itself(d)))
                for m in (before, after)
            )
        for found, names in _file(evidence, path, before, after, known[family(path)], old_text is None):
            fresh = names - reported if found.code == "DEPENDENCY_ADDED" else {path}
            if fresh:
                out.append(found)
            reported |= names
    return tuple(out)


def _itself(one: Dependency) -> bool:
    """The project by its plain name or from its own folder; with a version, only in the lock that its tool writes."""
    return one.source in ("", ".", "./", "path: .") and (not one.version or one.section == "lock")


def _known_names(tree: Tree, kind: str) -> set[str]:
    """Names that the tree's lists of one family hold; for Python, also the tools that other files speak of."""
    names: set[str] = set()
    for path in tree.entries:
        if is_list(path) and family(path) == kind and (content := text(tree, path)) is not None:
            manifest = read(path, content)
            if manifest:
                names |= {d.name for d in manifest.dependencies} | {manifest.own_name}
        if kind == "python" and (path.rsplit("/", 1)[-1] in _NAMING or path.startswith(".github/workflows/")):
            words = re.findall(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]", (text(tree, path) or "")[:200_000])
            names |= {canonical(w) for w in words if canonical(w) in DEVELOPMENT}
    if kind == "python":
        names |= {"python", "pip"}  # as Conda lists them
        if "pyproject.toml" not in tree.entries or "build-system" not in (text(tree, "pyproject.toml") or ""):
            names |= {"setuptools", "wheel"}  # what builds a project that says nothing else
    return names


def _file(
    evidence: Evidence, path: str, before: Manifest, after: Manifest, known: set[str], new_file: bool
) -> Iterable[tuple[Finding, set[str]]]:
    ticket = evidence.ticket
    faults = [f for f in after.faults if f[0] not in {b[0] for b in before.faults}]
    if faults:
        yield finding(
            "DEPENDENCIES_UNREADABLE", f"{path} has lines that are no requirement.", path=path, line=faults[0][1],
            evidence="\n".join(f[0] for f in faults[:_SHOWN]),
        ), set()  # fmt: skip
    options = [o for o in after.options if o[0] not in {b[0] for b in before.options}]
    options = [o for o in options if o[0].split()[0] not in ("--no-index", "--prefer-binary")]
    options = [o for o in options if not permitted_option(ticket, path, o[0])]
    if options:
        yield finding(
            "DEPENDENCY_INDEX_ADDED", f"{path} makes installers fetch from another place: {options[0][0]}",
            path=path, line=options[0][1], evidence="\n".join(o[0] for o in options[:_SHOWN]),
        ), set()  # fmt: skip
    old_names = {d.name for d in before.dependencies}
    direct = [d for d in outside(evidence, path, before, after) if not permitted_source(ticket, d)]
    if direct:
        yield finding(
            "DEPENDENCY_DIRECT_SOURCE",
            f"{path} takes {_names(direct)} from a URL, repository or folder instead of the index.",
            path=path, line=direct[0].line, evidence=_evidence(direct), key=_names(direct),
            # What tests alone need from a repository of the tool's makers is for a person to see.
            effect=Effect.ASKS if all(d.section.startswith(("tox ", "nox ")) for d in direct) else None,
        ), {d.name for d in direct}  # fmt: skip
    named = {d.name for d in direct}
    added = [
        d for d in after.dependencies
        if d.name not in known and d.name not in old_names and d.name not in named and d.name != after.own_name
        and d.section != "sums" and not permitted(ticket, d.name, path)
    ]  # fmt: skip
    if added:
        likeness = [f"{d.name} looks like {near}" for d in added if (near := lookalike(d.name, known))]
        along = transitive(ticket, path, after, added, known)
        compiled = all(d.version for d in after.dependencies)
        yield finding(
            "DEPENDENCY_ADDED",
            f"{path} adds {_names(added)}, which no permit of the ticket names." + (f" {likeness[0]}." if likeness else ""),
            path=path, line=added[0].line, evidence=_evidence(added), key=_names(added),
            effect=None if likeness else weight(ticket, added, path, compiled, along),
        ), {d.name for d in added}  # fmt: skip
    if not new_file:
        fault = dropped_or_swapped(ticket, path, before, after)
        if fault is not None:
            yield fault, set()


def _names(rows: list[Dependency]) -> str:
    shown = sorted({d.name for d in rows})
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")


def _evidence(rows: list[Dependency]) -> str:
    return "\n".join(
        f"{d.name}{'==' + d.version if d.version else ''} {d.source} {' '.join(sorted(d.hashes)[:2])}".strip()
        for d in rows[:_SHOWN]
    )
