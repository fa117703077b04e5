"""Who acts: people, agents and services, and what each may do."""

from __future__ import annotations

from enum import StrEnum

from gatekeeper.records import dataclass


class Role(StrEnum):
    """What a credential is for. A credential has one or more; the permission table of the API names them."""

    AGENT = "agent"
    """Submits."""
    REVIEWER = "reviewer"
    """Decides on plans and diffs. Counts for people alone."""
    OPERATOR = "operator"
    """Registers repositories, reads the record."""
    ENFORCER = "enforcer"
    """Reads verdicts: CI, hooks, forges."""


@dataclass(frozen=True, slots=True)
class Principal:
    """An identity as its issuer names it."""

    issuer: str
    subject: str
    kind: str
    """human, agent or service."""
    on_behalf_of: str | None = None

    @property
    def id(self) -> str:
        """`issuer#subject`: what two principals are compared by."""
        return f"{self.issuer}#{self.subject}"


@dataclass(frozen=True, slots=True)
class Caller:
    """A principal that proved its identity, with what its credential allows."""

    principal: Principal
    roles: frozenset[Role]
    delegators: frozenset[str] | None = None
    """Subjects that it may act for; None where the credential does not restrict them."""
    credential: str = ""
    """Id of the credential, for the record; never the secret."""
    emails: frozenset[str] = frozenset()
    """Addresses under which the principal commits, lower case: whoever wrote a change cannot decide on it."""
