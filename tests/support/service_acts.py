"""People and programs acting on the use cases of the service, in one line each."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from api_server import HEAD, PEOPLE, REPOSITORY, TICKET, decide, document

from gatekeeper.domain.principal import Caller, Principal, Role
from gatekeeper.domain.records import ChangeRecord, ReviewRecord, TicketRecord, VerificationRecord
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.errors import GatekeeperError
from gatekeeper.workflow.service import repositories, reviews, submissions, tickets
from gatekeeper.workflow.service.commands import ReviewCommand, SubmitCommand
from gatekeeper.workflow.service.idempotency import Request
from gatekeeper.workflow.service.service import Service

_COUNT = itertools.count(1)


def caller(subject: str, kind: str, *roles: Role, emails: tuple[str, ...] = (), **more: Any) -> Caller:
    behalf = more.pop("on_behalf_of", None)
    principal = Principal("gatekeeper", subject, kind, behalf)
    return Caller(principal, frozenset(roles), emails=frozenset(emails), **more)


AGENT = caller("agent-1", "agent", Role.AGENT)
OTHER = caller("agent-2", "agent", Role.AGENT)
OPERATOR = caller("olga", "human", Role.OPERATOR)
RITA = caller("rita", "human", Role.REVIEWER, emails=("rita@example.org",))
SVEN = caller("sven", "human", Role.REVIEWER, emails=("sven@example.org",))
WRITER = caller("walt", "human", Role.REVIEWER, emails=PEOPLE)
ROBOT = caller("robot", "service", Role.REVIEWER, emails=("robot@example.org",))


def request(method: str = "m", **more: Any) -> Request:
    number = next(_COUNT)
    return replace(Request(method, f"00000000-0000-4000-8000-{number:012d}", f"{number:064d}"), **more)


def set_up(service: Service) -> TicketRecord:
    """A repository with an approved ticket."""
    repositories.register(
        service,
        OPERATOR,
        repositories.RegisterCommand(
            REPOSITORY, "https://git.example/shop.git", "", "", ("refs/heads/main",), Mode.ENFORCED, True, request()
        ),
    )
    made = tickets.create(service, AGENT, REPOSITORY, document(), request())
    return tickets.approve(service, RITA, TICKET, made.digest, request())


def submit(service: Service, who: Caller = AGENT, **more: Any) -> VerificationRecord:
    command = SubmitCommand(REPOSITORY, "c1", "refs/heads/main", HEAD, TICKET, request(), claim=b"{}")
    return submissions.submit(service, who, replace(command, **more))


def judged(
    service: Service, verdict: Verdict, *, count: int = 1, who: Caller = AGENT, **more: Any
) -> VerificationRecord:
    """A submission with its verdict."""
    made = submit(service, who, **more)
    needs = ({"cause": "TIER", "role": "reviewer", "count": count},) if verdict is Verdict.NEEDS_HUMAN else ()
    return decide(service, made.name, verdict, needs=needs)


def review(
    service: Service, who: Caller, record: VerificationRecord, kind: str, **more: Any
) -> tuple[ReviewRecord, ChangeRecord]:
    command = ReviewCommand(
        record.change,
        kind,
        record.name,
        request(),
        ticket_digest=record.ticket_digest,
        diff_digest=record.diff_digest,
        comment="because",
    )
    return reviews.create(service, who, replace(command, **more))


def code(function: Any, *args: Any, **more: Any) -> str:
    """The code of the refusal."""
    try:
        function(*args, **more)
    except GatekeeperError as error:
        return error.code
    return "OK"


def change_of(service: Service, name: str = f"{REPOSITORY}/changes/c1") -> ChangeRecord:
    with service.records.reading() as tx:
        found = tx.change(name)
    assert found is not None
    return found


def verification(service: Service, name: str) -> VerificationRecord:
    with service.records.reading() as tx:
        found = tx.verification(name)
    assert found is not None
    return found


def refusals(service: Service) -> list[tuple[str, str]]:
    """(action, reason) of what the audit log says was refused."""
    from gatekeeper.domain.records import Page

    with service.records.reading() as tx:
        return [(e.action, e.reason) for e in tx.audit_entries(Page(500)) if not e.allowed]


def event_types(service: Service) -> list[str]:
    from gatekeeper.domain.records import Page

    with service.records.reading() as tx:
        return [e.type.removeprefix("gatekeeper.").removesuffix(".v1") for e in tx.events(None, Page(500))]
