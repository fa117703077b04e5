"""Rules of linters that the ticket itself tells to pass over, in a sentence that says nothing else."""

from __future__ import annotations

import re
from functools import cache

from gatekeeper.domain.ticket import Ticket

_MOST = 15_000


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Compiled where a command of a linter changed."""
    rule = r"[A-Z]{1,4}\d{2,4}"
    rules = rf"{rule}(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+){rule})*"
    kinds = r"(?:(?:the|rules?|codes?|warnings?|errors?|checks?)\s+)*"
    return {
        "asked": re.compile(
            rf"\W*(?:please\s+)?(?:ignore|disable|silence|suppress)\s+{kinds}(?P<rules>{rules})(?:\s+(?:warnings?|errors?|rules?|checks?))?"
            r"(?:\s+(?:from|of|in)\s+(?:pycodestyle|flake8|ruff|pylint))?\W*",
            re.IGNORECASE,
        ),
        "rule": re.compile(rule),
        "option": re.compile(r"(?<!\S)--(?:extend-)?ignore=(?P<rules>[A-Z0-9,]+)(?!\S)"),
    }


def rules_asked_for(ticket: Ticket) -> frozenset[str]:
    """Rules that a whole sentence of the ticket asks to ignore; one that limits, denies or reports it asks for none."""
    found: set[str] = set()
    for row in (ticket.title, ticket.goal, *ticket.acceptance):
        for sentence in re.split(r"(?<=[.;!?])\s|\n", row[:_MOST]):
            said = _patterns()["asked"].fullmatch(sentence) if len(sentence) < 200 and "?" not in sentence else None
            if said is not None:
                found.update(_patterns()["rule"].findall(said["rules"]))
    return frozenset(found)


def with_rules(line: str, rules: frozenset[str]) -> list[str]:
    """The command with each choice of these rules in its one option to ignore some; empty where it has none, or several."""
    options = list(_patterns()["option"].finditer(line))
    if len(options) != 1 or not rules or len(rules) > 3:
        return []
    had = options[0]["rules"].split(",")
    start, end = options[0].span("rules")
    return [f"{line[:start]}{','.join([*had, rule])}{line[end:]}" for rule in sorted(rules - set(had))]
