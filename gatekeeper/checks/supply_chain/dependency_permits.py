"""What a ticket's permits say about dependencies: each covers what it names, nothing beside it."""

from __future__ import annotations

from gatekeeper.domain.globs import matches
from gatekeeper.domain.ticket import PermitKind, Ticket
from gatekeeper.formats.python_requirements import Dependency, canonical


def permitted(ticket: Ticket, name: str, path: str) -> bool:
    """True where a permit names the package, with a version or extras behind it or not."""
    for permit in ticket.permits_of(PermitKind.ADD_DEPENDENCY):
        names = {canonical(n.split("[")[0].split("=")[0].strip("<>~! ")) for n in permit.names} | set(permit.names)
        names |= {n[:1] + n[1:].partition("@")[0] for n in permit.names} | {
            ":".join(n.split(":")[:2]) for n in permit.names
        }
        if name in names and (not permit.paths or any(matches(g, path) for g in permit.paths)):
            return True
    return False


def permitted_source(ticket: Ticket, one: Dependency) -> bool:
    """A source outside the index must itself be written in the permit; the name alone stands for the index."""
    return any(
        one.source == n or one.source in n for p in ticket.permits_of(PermitKind.ADD_DEPENDENCY) for n in p.names
    )


def permitted_option(ticket: Ticket, path: str, option: str) -> bool:
    """An option must be written in a permit, or the permit names the file and nothing in it; a package's is none for it."""
    for permit in ticket.permits_of(PermitKind.ADD_DEPENDENCY):
        if any(n and (n == option or n in option.split() or f"={n}" in option) and "://" in n for n in permit.names):
            return True
        if not permit.names and any(matches(g, path) for g in permit.paths):
            return True
    return False


def permits_path(ticket: Ticket, path: str, *kinds: PermitKind) -> bool:
    """True where a permit of one of these kinds covers the file."""
    return any(matches(g, path) for kind in kinds for p in ticket.permits_of(kind) for g in p.paths)
