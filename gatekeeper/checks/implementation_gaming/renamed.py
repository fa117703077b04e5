"""A public name that has another one now, with everything in the repository following: only callers elsewhere notice."""

from __future__ import annotations

import re

from gatekeeper.domain.evidence import Evidence

_SAYS_SO = re.compile(
    r"\b(?:renam|refactor|restructur|reorgani[sz]|clean|simplif|rework|rewrit|overhaul|deprecat|breaking|api\b|interface|"
    r"nam(?:e|es|ing)\b|typo|spelling|consisten|pep.?8|remov|drop|replac|mov(?:e|es|ing)\b|privat|public|revert|major\b|release)",
    re.IGNORECASE,
)
"""Words of a ticket that make a new name part of the task."""
_INSIDE = frozenset({"tests", "test", "internal", "internals", "vendor", "vendored", "scripts", "tools", "examples", "docs", "benchmarks", "bench"})  # fmt: skip


def unannounced(evidence: Evidence, path: str, old: str, new: str) -> bool:
    """True where nothing in the ticket speaks of the rename: neither name, nor that anything is named anew."""
    plan = " ".join([evidence.ticket.title, evidence.ticket.goal, *evidence.ticket.acceptance])
    if _INSIDE & set(path.split("/")[:-1]) or _SAYS_SO.search(plan):
        return False
    words = {w.lower() for w in re.findall(r"\w+", plan)}
    return not any(n.split(".")[-1].lower() in words for n in (old, new))
