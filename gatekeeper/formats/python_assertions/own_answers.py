"""Tests that compare a call with itself: whatever it gives, it gives the same."""

from __future__ import annotations

import ast
import re

from gatekeeper.formats.python_assertions.expression import Assertion, Kind, last_name
from gatekeeper.formats.python_assertions.reading import Body

SAMENESS = re.compile(
    r"determin|stable|stabil|repeat|same|idempot|twice|consisten|cach|pure|reproduc|memo|seed|hash|equal|_eq\b|eq_|single"
    r"|random|again|reus|round.?trip|copy|copies|once",
    re.IGNORECASE,
)
"""Words of a test or a ticket for which the same answer twice is what is asked."""


def answers_itself(body: Body) -> bool:
    """True where all that the test asks is that a call equals the same call, or what type its result has."""
    if not body.live or body.rows or SAMENESS.search(body.name):
        return False
    own = [a for a in body.live if _own(a)]
    if own and _acts(body.meaning):
        return False
    return bool(own) and all(a.kind is Kind.TYPE or _own(a) for a in body.live)


def _acts(meaning: str) -> bool:
    """Something is done between the calls, after which the same answer is news."""
    try:
        tree = ast.parse(meaning)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    done = [s.value for s in ast.walk(tree) if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call | ast.Await)]
    return any(isinstance(s, ast.With | ast.AsyncWith | ast.Delete) for s in ast.walk(tree)) or any(
        not last_name(c).startswith("assert") for c in done
    )


def _own(a: Assertion) -> bool:
    """`f(x) == f(x)` of a function; objects made twice ask whether they compare."""
    if a.kind is not Kind.EQUAL or a.subject != a.expected or " is " in a.text or "assertIs" in a.text:
        return False
    try:
        node = ast.parse(a.subject, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return isinstance(node, ast.Call) and last_name(node)[:1].islower()
