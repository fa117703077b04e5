"""Request ids: the same id from the same caller with the same content is answered, not carried out again."""

from __future__ import annotations

from gatekeeper.domain.principal import Caller
from gatekeeper.domain.records import Remembered
from gatekeeper.domain.service_ports import Transaction
from gatekeeper.errors import RequestRefused
from gatekeeper.records import dataclass
from gatekeeper.workflow.service.service import Service


@dataclass(frozen=True, slots=True)
class Request:
    """What makes a call that changes something recognisable."""

    method: str
    """`Service.Method`."""
    id: str
    """The client's UUID, lower case."""
    digest: str
    """sha256 of the request without its id, hexadecimal."""


def answered(tx: Transaction, service: Service, caller: Caller, request: Request) -> str | None:
    """What `remember` kept for this very request, or None for a new one.

    Raises `RequestRefused` (REQUEST_ID_REUSED) where the id came with other content. Call it first in the writing
    transaction: only there can no second copy of the request slip in between.
    """
    kept = tx.remembered(caller.principal.id, request.method, request.id)
    del service  # ids are known for as long as the store keeps them, at least the day that is promised
    if kept is None:
        return None
    if kept.request_digest != request.digest:
        raise RequestRefused(
            "REQUEST_ID_REUSED",
            f"The request id {request.id} was used for a {request.method} with other content.",
            field="request_id",
            request_id=request.id,
        )
    return kept.answer


def remember(tx: Transaction, service: Service, caller: Caller, request: Request, answer: str) -> None:
    """Keep the answer: the name of the resource, and where a name says too little more words after a blank."""
    tx.remember(
        Remembered(
            principal=caller.principal.id,
            method=request.method,
            request_id=request.id,
            request_digest=request.digest,
            answer=answer,
            create_time=service.clock.now(),
        )
    )
