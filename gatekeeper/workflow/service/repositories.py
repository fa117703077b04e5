"""Repositories: operators register them, everybody reads them."""

from __future__ import annotations

from gatekeeper.domain.principal import Caller
from gatekeeper.domain.records import Page, RepositoryRecord
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.domain.verdict import Mode
from gatekeeper.errors import RequestRefused, UsageError
from gatekeeper.records import dataclass
from gatekeeper.workflow.service.idempotency import Request, answered, remember
from gatekeeper.workflow.service.pages import Part, part
from gatekeeper.workflow.service.people import author_of
from gatekeeper.workflow.service.service import Service, acting, audited, note


@dataclass(frozen=True)
class RegisterCommand:
    """A repository to register; every field checked for shape."""

    name: str
    source_uri: str
    repository_uri: str
    forge_id: str
    target_refs: tuple[str, ...]
    mode: Mode
    accept_bundles: bool
    request: Request


def known_repository(tx: Transaction, name: str) -> RepositoryRecord:
    """The repository. Raises `RequestRefused` (REPOSITORY_UNKNOWN)."""
    found = tx.repository(name)
    if found is None:
        raise RequestRefused("REPOSITORY_UNKNOWN", f"There is no repository {name}.", name=name)
    return found


def register(service: Service, caller: Caller, command: RegisterCommand) -> RepositoryRecord:
    """Register. Raises `RequestRefused` (REPOSITORY_EXISTS, REQUEST_ID_REUSED; INPUT_MALFORMED for a source that this gate
    can never fetch from).
    """
    if service.require_source is not None:
        try:
            service.require_source(command.source_uri)
        except UsageError as error:
            raise RequestRefused("INPUT_MALFORMED", error.message, field="source_uri") from error
    with acting(service, caller, "repository.register", command.name) as tx:
        before = answered(tx, service, caller, command.request)
        if before is not None:
            return known_repository(tx, before)
        if tx.repository(command.name) is not None:
            raise RequestRefused(
                "REPOSITORY_EXISTS", f"{command.name} is registered already.", name=command.name, field="repository_id"
            )
        record = RepositoryRecord(
            name=command.name,
            source_uri=command.source_uri,
            repository_uri=command.repository_uri or command.source_uri,
            forge_id=command.forge_id,
            target_refs=command.target_refs,
            mode=command.mode,
            accept_bundles=command.accept_bundles,
            registrant=author_of(caller),
            create_time=service.clock.now(),
        )
        tx.add_repository(record)
        data = {"source_uri": record.source_uri, "target_refs": list(record.target_refs), "mode": record.mode.value}
        audited(tx, service, caller.principal, "repository.register", record.name, **data)
        note(tx, service, "repository.registered", record.name, caller.principal, data)
        remember(tx, service, caller, command.request, record.name)
        return record


def get(service: Service, name: str) -> RepositoryRecord:
    """One repository. Raises `RequestRefused` (REPOSITORY_UNKNOWN)."""
    with service.records.reading() as tx:
        return known_repository(tx, name)


def list_page(service: Service, owner: str | None, page: Page) -> Part[RepositoryRecord]:
    """Repositories of `owner` (its last segment; None: of all), by name."""
    with service.records.reading() as tx:
        return part(tx.repositories(owner, page), page)
