"""Who stands too close to a piece of work to decide on it (DESIGN rule 8). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gatekeeper.domain.principal import Caller, Principal, Role
from gatekeeper.domain.records import ChangeRecord, CredentialRecord, VerificationRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.errors import RequestRefused


def author_of(caller: Caller) -> Principal:
    """The principal as it is recorded: who can act for one subject only acts for that one, said or not."""
    principal = caller.principal
    if principal.on_behalf_of is None and caller.delegators is not None and len(caller.delegators) == 1:
        return replace(principal, on_behalf_of=next(iter(caller.delegators)))
    return principal


def require_own(caller: Caller, submitter: Principal, what: str) -> None:
    """Agents touch only what they submitted; reviewers and operators all. Raises `RequestRefused` (CHANGE_FOREIGN)."""
    others = {Role.OPERATOR} | ({Role.REVIEWER} if caller.principal.kind == "human" else set())
    if submitter.id != caller.principal.id and not caller.roles & others:
        raise RequestRefused("CHANGE_FOREIGN", f"{what} was submitted by somebody else.", name=what)


def require_human(caller: Caller) -> None:
    """Raises `RequestRefused` (HUMAN_REQUIRED) for programs."""
    if caller.principal.kind != "human":
        raise RequestRefused(
            "HUMAN_REQUIRED", f"Only a person decides here, and {caller.principal.subject} is no person.", role="human"
        )


def names_of(caller: Caller) -> frozenset[str]:
    """Everything the caller is known by: subject, whom it acts for, addresses. Folded for comparing."""
    known = {caller.principal.subject, caller.principal.on_behalf_of or "", *caller.emails}
    return frozenset(_folded(known))


def as_one_person(tx: Transaction, caller: Caller) -> Caller:
    """The caller with the names that other credentials of the same person say: whoever has two is still one.

    Credentials are the same person's where they share a subject or an address; revoked and expired ones tell, too.
    """
    own = set(names_of(caller))
    left: list[CredentialRecord] = tx.credentials()
    while True:
        same = [c for c in left if own & set(_folded({c.principal.subject, *c.emails}))]
        if not same:
            return replace(caller, emails=caller.emails | own - set(_folded([caller.principal.subject])))
        left = [c for c in left if c not in same]
        own.update(_folded(name for c in same for name in (c.principal.subject, *c.emails)))


def stands_too_close(caller: Caller, principals: Iterable[Principal], others: Iterable[str] = ()) -> bool:
    """True where the caller is one of `principals`, one for whom they act, or known by one of the names `others`."""
    rows = list(principals)
    theirs = set(_folded([*others, *(p.subject for p in rows), *(p.on_behalf_of or "" for p in rows)]))
    return bool(names_of(caller) & theirs) or caller.principal.id in {p.id for p in rows}


def require_uninvolved(
    caller: Caller,
    change: ChangeRecord,
    verifications: Iterable[VerificationRecord],
    *,
    approves: bool,
    approves_plan: bool = False,
) -> None:
    """Raises `RequestRefused`: APPROVAL_SELF for whoever took part in the change, and for what `approves` it or its plan
    REVIEW_NOT_POSSIBLE where nobody can tell who took part.
    """
    rows = list(verifications)
    people: list[str] = [*change.on_behalf_of]
    for row in rows:
        if not row.people and approves:
            raise RequestRefused(
                "REVIEW_NOT_POSSIBLE", "The verification does not name who wrote the commits, so anybody might have."
            )
        people += row.people
    if stands_too_close(caller, [change.submitter, *(r.submitter for r in rows)], people):
        raise RequestRefused(
            "APPROVAL_SELF",
            f"{caller.principal.subject} wrote, submitted or delegated this change and cannot decide on it.",
            change=change.name,
        )
    if (approves or approves_plan) and not _addresses(caller):
        raise RequestRefused(
            "REVIEW_NOT_POSSIBLE",
            "The credential names no address under which you commit, so nobody can tell whether you wrote the change.",
            next_action="Have the operator make a token with your addresses: "
            "`gatekeeper token create ... --role reviewer --email ADDRESS`.",
        )


def _addresses(caller: Caller) -> bool:
    return any("@" in name for name in (*caller.emails, caller.principal.subject))


def _folded(names: Iterable[str]) -> list[str]:
    return [n.strip().casefold() for n in names if n.strip()]
