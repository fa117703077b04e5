"""ticket.json to a `Ticket`. Unknown fields are kept in the digest and have no effect, but for one that looks like a misspelt
guard; unknown permits are refused.
"""

from __future__ import annotations

from difflib import get_close_matches

from gatekeeper.domain.globs import problem
from gatekeeper.domain.ticket import Budget, Permit, PermitKind, Risk, Ticket
from gatekeeper.errors import InputError
from gatekeeper.formats.canonical_json import digest
from gatekeeper.formats.fields import Fields
from gatekeeper.formats.strict_json import loads

CODE = "TICKET_MALFORMED"
_GUARDS = ("allowed", "forbidden", "permits", "suites", "verify", "risk")
"""Fields that decide what is judged and how."""
_KNOWN = frozenset({*_GUARDS, "schema", "id", "title", "goal", "budget", "acceptance"})


def parse_ticket(data: bytes) -> Ticket:
    """Parse a ticket. Raises `InputError` (TICKET_MALFORMED), naming the field."""
    document = loads(data, what="ticket", code=CODE)
    ticket = Fields(document, what="ticket", code=CODE)
    _no_misspelt_guard(ticket)
    allowed = _globs(ticket, "allowed")
    if not allowed:
        raise ticket.refuse("allowed", "a list with at least one glob; without one nothing may be changed")
    if "forbidden" not in ticket.table:
        # A ticket that lost its list must not permit more than the one that still has it.
        raise ticket.refuse("forbidden", "there: a list of globs, empty where nothing is forbidden")
    verify = ticket.table.get("verify")
    lines = (verify,) if isinstance(verify, str) else ticket.texts("verify", limit=50)
    if any(not line.strip() or len(line) > 4096 or "\x00" in line for line in lines):
        raise ticket.refuse("verify", "a shell line, or a list of shell lines, none of them empty")
    budget = ticket.object("budget")
    try:
        ticket_digest = digest(document)
    except InputError as error:
        raise InputError(CODE, f"The ticket has no canonical form: {error.message}") from error
    return Ticket(
        id=_number_or_text(ticket, "id"),
        title=ticket.text("title", limit=500, required=True),
        goal=ticket.text("goal", limit=20_000),
        allowed=allowed,
        forbidden=_globs(ticket, "forbidden"),
        suites=ticket.texts("suites", limit=50, length=100),
        verify=lines,
        permits=tuple(_permit(p) for p in ticket.objects("permits")),
        risk=_risk(ticket),
        budget=Budget(
            budget.number("wall_s"), budget.integer("tokens"), budget.number("cost"), budget.integer("attempts")
        ),
        digest=ticket_digest,
        acceptance=ticket.texts("acceptance", limit=100),
    )


def _no_misspelt_guard(ticket: Fields) -> None:
    """A guard under a wrong name would be none, and nobody would hear of it."""
    for name in ticket.table:
        close = () if name in _KNOWN else get_close_matches(str(name)[:40].lower(), _GUARDS, 1, 0.8)
        if close and close[0] not in ticket.table:
            raise InputError(
                CODE, f"The ticket has the unknown field {str(name)[:80]!r}; {close[0]!r} was meant, it seems."
            )


def _number_or_text(ticket: Fields, name: str) -> str:
    value = ticket.table.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return ticket.text(name, limit=200, required=True)


def _risk(ticket: Fields) -> Risk:
    value = ticket.table.get("risk")
    try:
        return Risk(str(value))
    except ValueError:
        raise ticket.refuse("risk", "low, medium or high") from None


def _globs(fields: Fields, name: str) -> tuple[str, ...]:
    globs = fields.texts(name)
    for glob in globs:
        why = problem(glob)
        if why:
            raise InputError(CODE, f"The {fields.what}'s field {name!r} holds the glob {glob[:80]!r}: {why}.")
    return globs


def _permit(fields: Fields) -> Permit:
    fields.only("kind", "paths", "tests", "names", "reason", "granted_by", "expires")
    try:
        kind = PermitKind(str(fields.table.get("kind")))
    except ValueError:
        raise fields.refuse("kind", f"one of {', '.join(PermitKind)}") from None
    permit = Permit(
        kind=kind,
        paths=_globs(fields, "paths"),
        tests=fields.texts("tests"),
        names=fields.texts("names"),
        reason=fields.text("reason", limit=4000),
    )
    if not (permit.paths or permit.tests or permit.names):
        raise InputError(CODE, f"The {fields.what} names no paths, tests or names, so it would permit nothing.")
    return permit
