"""Semantic diff of requirement files, manifests and locks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from gatekeeper.checks.supply_chain.popular import COMPANIONS, DEVELOPMENT, POPULAR, TOOLS, lookalike
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches, matches_any
from gatekeeper.domain.ticket import PermitKind, Ticket
from gatekeeper.domain.tree import Tree, text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.python_requirements import Dependency, Manifest, canonical, is_manifest, read

_SHOWN = 8
_NAMING = {
    "setup.py", "setup.cfg", "tox.ini", "noxfile.py", ".pre-commit-config.yaml", "Makefile", "Pipfile", ".travis.yml", "tox.toml",
}  # fmt: skip
"""Files that name tools the project uses without being lists of dependencies."""


def changed_dependencies(evidence: Evidence) -> tuple[Finding, ...]:
    """At most one finding for each kind of fault in each file."""
    paths = [p.path for p in evidence.change.paths if is_manifest(p.path) and p.new is not None]
    paths = [p for p in paths if not matches_any(evidence.settings.vendored, p)]
    if not paths:
        return ()
    known = _known_names(evidence.base)
    # The name that the target gave itself; a name that the change gives may be that of any package.
    manifest = read("pyproject.toml", text(evidence.base, "pyproject.toml") or "")
    own = {manifest.own_name} - {""} if manifest is not None else set()
    out: list[Finding] = []
    reported: set[str] = set()
    for path in paths:
        new_text = text(evidence.merged, path)
        after = read(path, new_text) if new_text is not None else None
        old_text = text(evidence.base, path)
        before = (read(path, old_text) if old_text is not None else None) or Manifest()
        if after is None:
            out.append(
                finding(
                    "DEPENDENCIES_UNREADABLE", f"{path} can no longer be read as a list of dependencies.", path=path
                )
            )
            continue
        if own:
            # The project itself in its own lock: what it is built from lies beside it, so there is nothing to pin.
            before, after = (
                replace(m, dependencies=tuple(d for d in m.dependencies if d.name not in own or not _itself(d)))
                for m in (before, after)
            )
        for found, names in _file(evidence.ticket, path, before, after, known, old_text is None):
            fresh = names - reported if found.code == "DEPENDENCY_ADDED" else {path}
            if fresh:
                out.append(found)
            reported |= names
    return tuple(out)


def _itself(one: Dependency) -> bool:
    """The project by its plain name or from its own folder; with a version, only in the lock that its tool writes."""
    return one.source in ("", ".", "./", "path: .") and (not one.version or one.section == "lock")


def _known_names(tree: Tree) -> set[str]:
    names: set[str] = set()
    for path in tree.entries:
        if is_manifest(path) and (content := text(tree, path)) is not None:
            manifest = read(path, content)
            if manifest:
                names |= {d.name for d in manifest.dependencies} | {manifest.own_name}
        elif path.rsplit("/", 1)[-1] in _NAMING or path.startswith(".github/workflows/"):
            words = re.findall(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]", (text(tree, path) or "")[:200_000])
            names |= {canonical(w) for w in words if canonical(w) in DEVELOPMENT}
    if "pyproject.toml" not in tree.entries or "build-system" not in (text(tree, "pyproject.toml") or ""):
        names |= {"setuptools", "wheel"}  # what builds a project that says nothing else
    return names


def _file(
    ticket: Ticket, path: str, before: Manifest, after: Manifest, known: set[str], new_file: bool
) -> Iterable[tuple[Finding, set[str]]]:
    faults = [f for f in after.faults if f[0] not in {b[0] for b in before.faults}]
    if faults:
        yield finding(
            "DEPENDENCIES_UNREADABLE", f"{path} has lines that are no requirement.", path=path, line=faults[0][1],
            evidence="\n".join(f[0] for f in faults[:_SHOWN]),
        ), set()  # fmt: skip
    options = [o for o in after.options if o[0] not in {b[0] for b in before.options}]
    options = [o for o in options if o[0].split()[0] not in ("--no-index", "--prefer-binary")]
    options = [o for o in options if not _permitted_option(ticket, path, o[0])]
    if options:
        yield finding(
            "DEPENDENCY_INDEX_ADDED", f"{path} makes installers fetch from another place: {options[0][0]}",
            path=path, line=options[0][1], evidence="\n".join(o[0] for o in options[:_SHOWN]),
        ), set()  # fmt: skip
    old = {(d.name, d.section): d for d in before.dependencies}
    old_names = {d.name: d for d in before.dependencies}
    sources = {d.source for d in before.dependencies}
    direct = [
        d for d in after.dependencies if d.source and d.source not in sources and not _permitted_source(ticket, d)
    ]
    if direct:
        yield finding(
            "DEPENDENCY_DIRECT_SOURCE",
            f"{path} takes {_names(direct)} from a URL, repository or folder instead of the index.",
            path=path, line=direct[0].line, evidence=_evidence(direct), key=_names(direct),
        ), {d.name for d in direct}  # fmt: skip
    named = {d.name for d in direct}
    added = [
        d for d in after.dependencies
        if d.name not in known and d.name not in old_names and d.name not in named and d.name != after.own_name
        and not _permitted(ticket, d.name, path)
    ]  # fmt: skip
    if added:
        likeness = [f"{d.name} looks like {near}" for d in added if (near := lookalike(d.name, known))]
        transitive = _transitive(ticket, path, after, known)
        compiled = all(d.version for d in after.dependencies)
        yield finding(
            "DEPENDENCY_ADDED",
            f"{path} adds {_names(added)}, which no permit of the ticket names." + (f" {likeness[0]}." if likeness else ""),
            path=path, line=added[0].line, evidence=_evidence(added), key=_names(added),
            effect=None if likeness else _weight(ticket, added, path, compiled, transitive),
        ), {d.name for d in added}  # fmt: skip
    yield from _pins(ticket, path, before, after, {k[0]: v for k, v in old.items()}, new_file)


def _weight(ticket: Ticket, added: list[Dependency], path: str, compiled: bool, transitive: bool) -> Effect | None:
    """Advice for well-known tools in a list for developers, a question where such a tool builds the package or came along.

    A question as well where the ticket speaks of the very packages. In a compiled list tools may bring what they need. Where the ticket names what may be added, that is all.
    """
    if ticket.permits_of(PermitKind.ADD_DEPENDENCY) or any(d.source for d in added):
        return Effect.ASKS if transitive else None
    plan = " ".join([ticket.title, ticket.goal, *ticket.acceptance]).lower()
    spoken = all(re.search(rf"(?<![\w.-]){re.escape(d.name.lower())}(?![\w-])", plan.replace("_", "-")) for d in added)
    names = {d.name for d in added}
    places = [_place(d, path) for d in added]
    brought = COMPANIONS | POPULAR if compiled and path.endswith((".txt", ".lock")) else frozenset()
    if names <= DEVELOPMENT | brought and all(_FOR_DEVELOPERS.search(p) and not p.startswith("build") for p in places):
        return Effect.ADVISES
    mixed = compiled and names & DEVELOPMENT and (all(d.section == "lock" for d in added) or _locked(path))
    tools = names <= DEVELOPMENT | (COMPANIONS if mixed else frozenset()) and all(map(_NOT_FOR_USERS.search, places))
    # A person has always been asked about these, whatever part of the path speaks of development.
    tools = tools or (names <= TOOLS and all(_NOT_FOR_USERS.search(f"{d.section} {path}".lower()) for d in added))
    return Effect.ASKS if transitive or spoken or tools else None


def _place(one: Dependency, path: str) -> str:
    """Where a list stands, in words that say whose it is: a folder deeper down may be a service of that name."""
    folder, _, name = path.rpartition("/")
    return f"{one.section} {folder if _in_lists(path) else ''} {name}".strip().lower()


def _in_lists(path: str) -> bool:
    return path.startswith(("docs/", "requirements/"))


def _locked(path: str) -> bool:
    """One of the lists of a project that has several of them in a folder of their own."""
    return _in_lists(path) and path.endswith(".lock")


_FOR_DEVELOPERS = re.compile(
    r"(?<![a-z])(?:dev(?:el(?:op(?:ment|er)?)?)?|tests?|testing|docs?|lint(?:ing|ers?)?|typing|types|style|check(?:s|ers)?|ci|coverage"
    r"|pre-commit|format(?:ting)?|mypy|qa|tox|nox)(?![a-z])"
)
_NOT_FOR_USERS = re.compile(
    r"dev|test|docs?\b|lint|typing|style|build|tool|ci\b|release|coverage|lock|optional|group|types|check"
)


def _pins(
    ticket: Ticket, path: str, before: Manifest, after: Manifest, old: dict[str, Dependency], new_file: bool
) -> Iterable[tuple[Finding, set[str]]]:
    if new_file:
        return
    strict = path.rsplit("/", 1)[-1].lower() not in ("pyproject.toml", "package.json")
    pairs = [(old[d.name], d) for d in after.dependencies if d.name in old and not d.source]
    unhashed = [n for o, n in pairs if o.hashes and not n.hashes]
    if not unhashed and any(d.hashes for d in before.dependencies):
        # Pip demands all hashes or none: one entry without switches nothing off, but a new one must have them too.
        unhashed = [
            d
            for d in after.dependencies
            if d.name not in old and not d.hashes and not d.source and strict and d.section != "lock"
        ]
    unpinned = [n for o, n in pairs if o.version and not n.version and strict]
    if unhashed or unpinned or (before.require_hashes and not after.require_hashes and after.dependencies):
        rows = unhashed or unpinned
        what = "hashes" if unhashed or not rows else "pins"
        yield finding(
            "DEPENDENCY_PINS_DROPPED",
            f"{path} drops {what}" + (f" of {_names(rows)}" if rows else " (--require-hashes is gone)") + ", so another file may be installed unnoticed.",
            path=path, line=rows[0].line if rows else 1, evidence=_evidence([old[d.name] for d in rows if d.name in old]),
        ), set()  # fmt: skip
        return
    swapped = [(o, n) for o, n in pairs if o.version and o.version == n.version and n.hashes - o.hashes]
    if swapped:
        keeps = all(o.hashes <= n.hashes for o, n in swapped)
        allowed = _permits_path(ticket, path, PermitKind.ADD_DEPENDENCY, PermitKind.CHANGE_INSTRUMENTS)
        if keeps and allowed:
            return
        yield finding(
            "DEPENDENCY_HASH_CHANGED",
            f"{path} changes the hash of {_names([n for _, n in swapped])} although the version stays the same.",
            path=path, line=swapped[0][1].line, evidence=_evidence([n for _, n in swapped]),
            effect=Effect.ASKS if keeps or allowed else None,
        ), set()  # fmt: skip


def _permitted(ticket: Ticket, name: str, path: str) -> bool:
    for permit in ticket.permits_of(PermitKind.ADD_DEPENDENCY):
        names = {canonical(n.split("[")[0].split("=")[0].strip("<>~! ")) for n in permit.names} | set(permit.names)
        if name in names and (not permit.paths or any(matches(g, path) for g in permit.paths)):
            return True
    return False


def _permitted_source(ticket: Ticket, one: Dependency) -> bool:
    """A source outside the index must itself be written in the permit; the name alone stands for the index."""
    return any(
        one.source == n or one.source in n for p in ticket.permits_of(PermitKind.ADD_DEPENDENCY) for n in p.names
    )


def _permitted_option(ticket: Ticket, path: str, option: str) -> bool:
    """An option must be written in a permit, or the permit names the file and nothing in it; a package's is none for it."""
    for permit in ticket.permits_of(PermitKind.ADD_DEPENDENCY):
        if any(n and (n == option or n in option.split() or f"={n}" in option) and "://" in n for n in permit.names):
            return True
        if not permit.names and any(matches(g, path) for g in permit.paths):
            return True
    return False


def _permits_path(ticket: Ticket, path: str, *kinds: PermitKind) -> bool:
    return any(matches(g, path) for kind in kinds for p in ticket.permits_of(kind) for g in p.paths)


def _transitive(ticket: Ticket, path: str, after: Manifest, known: set[str]) -> bool:
    """True where a lock gained a permitted dependency or was to be refreshed, so that others may have come along."""
    locked = [d for d in after.dependencies if d.version and (d.hashes or d.section == "lock")]
    if len(locked) != len(after.dependencies):
        return False
    arrived = any(d.name not in known and _permitted(ticket, d.name, path) for d in after.dependencies)
    return arrived or _permits_path(ticket, path, PermitKind.ADD_DEPENDENCY, PermitKind.CHANGE_INSTRUMENTS)


def _names(rows: list[Dependency]) -> str:
    shown = sorted({d.name for d in rows})
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "")


def _evidence(rows: list[Dependency]) -> str:
    return "\n".join(
        f"{d.name}{'==' + d.version if d.version else ''} {d.source} {' '.join(sorted(d.hashes)[:2])}".strip()
        for d in rows[:_SHOWN]
    )
