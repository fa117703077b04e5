"""Who acts: people, agents and services."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Principal:
    """An identity as its issuer names it."""

    issuer: str
    subject: str
    kind: str
    """human, agent or service."""
    on_behalf_of: str | None = None
