"""How much an added dependency weighs: a tool that everybody knows in a list for developers is no code for users."""

from __future__ import annotations

import re

from gatekeeper.checks.supply_chain.dependency_permits import permits_path, permitted
from gatekeeper.checks.supply_chain.popular import COMPANIONS, DEVELOPMENT, POPULAR, TOOLS
from gatekeeper.domain.ticket import PermitKind, Ticket
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.python_requirements import Dependency, Manifest


def weight(ticket: Ticket, added: list[Dependency], path: str, compiled: bool, transitive: bool) -> Effect | None:
    """Advice for well-known tools in a list for developers, a question where such a tool builds the package or came along.

    A question as well where the ticket speaks of the very packages. In a compiled list tools may bring what they need. Where the ticket names what may be added, that is all.
    """
    if ticket.permits_of(PermitKind.ADD_DEPENDENCY) or any(d.source for d in added):
        return Effect.ASKS if transitive else None
    plan = " ".join([ticket.title, ticket.goal, *ticket.acceptance]).lower()
    spoken = all(re.search(rf"(?<![\w.-]){re.escape(d.name.lower())}(?![\w-])", plan.replace("_", "-")) for d in added)
    names = {d.name for d in added}
    places = [_place(d, path) for d in added]
    # An environment of tests or of a hook is nobody's but the developers', and may need what everybody uses.
    apart = all(d.section.startswith(("tox ", "nox session", "pre-commit hook")) for d in added)
    brought = COMPANIONS | POPULAR if apart or (compiled and path.endswith((".txt", ".lock"))) else frozenset()
    if names <= _OF_BUILDS and all(d.section == "build.setup_requires" for d in added):
        return Effect.ADVISES
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


_OF_BUILDS = frozenset({"setuptools", "setuptools-scm", "wheel", "pytest-runner", "pbr"})
"""What setup.py was told to fetch for itself before projects could say so elsewhere."""
_FOR_DEVELOPERS = re.compile(
    r"(?<![a-z])(?:dev(?:el(?:op(?:ment|er)?)?)?|tests?|testing|docs?|lint(?:ing|ers?)?|typing|types|style|check(?:s|ers)?|ci|coverage"
    r"|pre-commit|format(?:ting)?|mypy|qa|tox|nox)(?![a-z])"
)
_NOT_FOR_USERS = re.compile(
    r"dev|test|docs?\b|lint|typing|style|build|tool|ci\b|release|coverage|lock|optional|group|types|check"
)


def transitive(ticket: Ticket, path: str, after: Manifest, added: list[Dependency], known: set[str]) -> bool:
    """True where a lock gained a permitted dependency or was to be refreshed, so that others may have come along."""
    locked = all(d.version and (d.hashes or d.section == "lock") for d in after.dependencies)
    if not locked and not all(d.section == "indirect" for d in added):
        return False
    arrived = any(d.name not in known and permitted(ticket, d.name, path) for d in after.dependencies)
    return arrived or permits_path(ticket, path, PermitKind.ADD_DEPENDENCY, PermitKind.CHANGE_INSTRUMENTS)
