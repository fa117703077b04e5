"""A real server of the API on a free loopback port, over the SQL store in a folder of the test."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from gatekeeper.adapters.blob_store import BlobStore
from gatekeeper.adapters.sql_store import SqlRecords
from gatekeeper.api.limits import ApiLimits
from gatekeeper.api.server import MODULES, ApiServer, ServerSettings
from gatekeeper.api.v1 import repositories_pb2, tickets_pb2
from gatekeeper.domain.lifecycle import ChangeState, VerificationState
from gatekeeper.domain.principal import Principal
from gatekeeper.domain.records import CredentialRecord, VerificationRecord
from gatekeeper.domain.verdict import Verdict
from gatekeeper.workflow.service.moves import move_change, move_verification
from gatekeeper.workflow.service.service import Service

OWNER = "owners/acme"
REPOSITORY = f"{OWNER}/repositories/shop"
TICKET = f"{REPOSITORY}/tickets/T-1"
HEAD = "a" * 40
DIFF = "d" * 64
PEOPLE = ("writer@example.org",)
LIMITS = ApiLimits(calls_per_s=100_000.0, burst=100_000, credential_cache_s=0.0, poll_s=0.02)


class HandClock:
    """A clock that the test moves."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.time = now

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


class IdleQueue:
    """Takes verifications and never works on them."""

    def __init__(self) -> None:
        self.enqueued: list[str] = []
        self.stopped: list[str] = []

    def enqueue(self, verification: str) -> None:
        self.enqueued.append(verification)

    def stop(self, verification: str) -> None:
        self.stopped.append(verification)


def ids() -> Any:
    counter = itertools.count(1)
    return lambda: f"id{next(counter):08d}"


def make_service(folder: Path, **more: Any) -> Service:
    """Use cases over a real store."""
    folder.mkdir(parents=True, exist_ok=True)
    return Service(
        records=SqlRecords.file(folder / "gatekeeper.sqlite3"),
        blobs=BlobStore(folder / "blobs"),
        queue=IdleQueue(),
        clock=HandClock(),
        new_id=ids(),
        **more,
    )


def add_token(
    service: Service, token: str, subject: str, kind: str, *roles: str, emails: tuple[str, ...] = (), **more: Any
) -> None:
    """A credential of the gate's own."""
    record = CredentialRecord(
        id=f"cred-{subject}-{len(token)}",
        digest=hashlib.sha256(token.encode()).hexdigest(),
        principal=Principal("gatekeeper", subject, kind),
        roles=frozenset(roles),
        create_time=service.clock.now(),
        emails=frozenset(emails),
    )
    with service.records.transaction() as tx:
        tx.add_credential(replace(record, **more))


def add_people(service: Service) -> None:
    """One caller of each kind; their tokens are their names."""
    add_token(service, "agent", "agent-1", "agent", "agent")
    add_token(service, "other", "agent-2", "agent", "agent")
    add_token(service, "operator", "olga", "human", "operator")
    add_token(service, "reviewer", "rita", "human", "reviewer", emails=("rita@example.org",))
    add_token(service, "second", "sven", "human", "reviewer", emails=("sven@example.org",))
    add_token(service, "writer", "walt", "human", "reviewer", emails=("writer@example.org",))
    add_token(service, "robot", "robot", "service", "reviewer")
    add_token(service, "enforcer", "ci", "service", "enforcer")


def document(ticket_id: str = "T-1", **more: Any) -> bytes:
    table = {"schema": "gatekeeper.ticket/1", "id": ticket_id, "title": "Add", "allowed": ["src/**"], "forbidden": []}
    return json.dumps({**table, "verify": "pytest", "risk": "low", **more}).encode()


class Running:
    """A server that runs in a thread of its own, and a channel to it."""

    def __init__(self, service: Service, server: ApiServer, loop: asyncio.AbstractEventLoop, channel: grpc.Channel):
        self.service, self.server, self.loop, self.channel = service, server, loop, channel

    def raw(self, name: str, messages: list[bytes], token: str | None = "agent", timeout: float = 20, **more: Any):
        """Send bytes to `Service.Method`; the list of answers as bytes. Raises `grpc.RpcError`."""
        metadata = [("authorization", f"Bearer {token}")] if token is not None else []
        service, method = name.split(".")
        call = self.channel.stream_stream(f"/gatekeeper.api.v1.{service}/{method}")
        return list(call(iter(messages), metadata=more.pop("metadata", metadata), timeout=timeout, **more))

    def call(self, name: str, request: Any, token: str | None = "agent", **more: Any) -> Any:
        """A unary call with messages."""
        answers = self.raw(name, [request.SerializeToString()], token, **more)
        assert len(answers) == 1
        return answer_class(name).FromString(answers[0])

    def stream(self, name: str, request: Any, token: str = "agent", timeout: float = 20) -> Iterator[Any]:
        """A streaming answer, message by message."""
        service, method = name.split(".")
        call = self.channel.unary_stream(
            f"/gatekeeper.api.v1.{service}/{method}", response_deserializer=answer_class(name).FromString
        )
        return call(request.SerializeToString(), metadata=[("authorization", f"Bearer {token}")], timeout=timeout)

    def run(self, coroutine: Any, timeout: float = 20) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout)


def methods() -> dict[str, Any]:
    """Descriptors of all rpcs by `Service.Method`."""
    found = {}
    for module in MODULES:
        for service in module.DESCRIPTOR.services_by_name.values():
            for method in service.methods:
                found[f"{service.name}.{method.name}"] = method
    return found


def request_class(name: str) -> Any:
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(methods()[name].input_type)


def answer_class(name: str) -> Any:
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(methods()[name].output_type)


@contextmanager
def running(service: Service, settings: ServerSettings | None = None, **more: Any) -> Iterator[Running]:
    """The server until the block ends."""
    settings = settings or ServerSettings(address="127.0.0.1:0", limits=LIMITS, grace_s=2.0)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def make() -> ApiServer:
        server = ApiServer(service, settings, **more)
        await server.start()
        return server

    server = asyncio.run_coroutine_threadsafe(make(), loop).result(20)
    channel = grpc.insecure_channel(server.address, options=[("grpc.max_receive_message_length", 8 * 1024 * 1024)])
    try:
        yield Running(service, server, loop, channel)
    finally:
        channel.close()
        asyncio.run_coroutine_threadsafe(server.stop(0.5), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()
        service.records.close()


def reason_of(error: grpc.RpcError) -> tuple[str, str]:
    """(status, reason) of a refused call; the reason is "" where the error carries no ErrorInfo."""
    status = rpc_status.from_call(error)
    if status is None:
        return error.code().name, ""
    assert len(status.details) == 1
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert info.domain == "gatekeeper"
    return error.code().name, info.reason


def refused(function: Any, *args: Any, **more: Any) -> tuple[str, str]:
    """(status, reason) of a call that must be refused."""
    try:
        function(*args, **more)
    except grpc.RpcError as error:
        return reason_of(error)
    raise AssertionError("the call was carried out")


def uuid4() -> str:
    return str(uuid.uuid4())


def register(server: Running, **more: Any) -> None:
    wanted = {"source_uri": "https://git.example/shop.git", "target_refs": ["refs/heads/main"], "mode": "MODE_ENFORCED"}
    server.call(
        "RepositoryService.RegisterRepository",
        repositories_pb2.RegisterRepositoryRequest(
            parent=OWNER, repository_id="shop", repository={**wanted, **more}, request_id=uuid4()
        ),
        "operator",
    )


def approved_ticket(server: Running, ticket_id: str = "T-1") -> str:
    """A ticket proposed by an agent and approved by a person; its digest."""
    created = server.call(
        "TicketService.CreateTicket",
        tickets_pb2.CreateTicketRequest(parent=REPOSITORY, document=document(ticket_id), request_id=uuid4()),
    ).ticket
    server.call(
        "TicketService.ApproveTicket",
        tickets_pb2.ApproveTicketRequest(name=created.name, digest=created.digest, request_id=uuid4()),
        "reviewer",
    )
    return created.digest


def decide(
    service: Service, name: str, verdict: Verdict, *, needs: tuple[dict[str, Any], ...] = (), **more: Any
) -> VerificationRecord:
    """What the durable run does at its end, in short."""
    state = {
        Verdict.ACCEPTED: ChangeState.MERGEABLE,
        Verdict.REJECTED: ChangeState.VERIFICATION_FAILED,
    }.get(verdict, ChangeState.HUMAN_DECISION_NEEDED)
    report = {
        "findings": [
            {"fingerprint": "f" * 64, "category": "tests_failed", "code": "TEST_FAILED", "effect": "blocks",
             "primary": True, "blame": "none", "message": "red", "path": None, "line": None, "evidence": "",
             "next_action": "Mend it."},
            {"fingerprint": "e" * 64, "category": "not_mergeable", "code": "MERGE_CONFLICT", "effect": "blocks",
             "primary": False, "blame": "none", "message": "no", "path": "a", "line": 3, "evidence": "",
             "next_action": "Rebase."},
        ],
        "runs": [],
        "needs": list(needs),
        "timings_ms": {"total": 3.5},
    }  # fmt: skip
    fields = {"report": report, "diff_digest": DIFF, "people": PEOPLE, **more}
    with service.records.transaction() as tx:
        record = tx.verification(name)
        assert record is not None
        tx.retire_verdicts(record)
        stored = move_verification(
            tx, service, record, VerificationState.DECIDED, None, verdict=verdict, current=True, **fields
        )
        change = tx.change(record.change)
        assert change is not None
        if not change.state.final:
            move_change(tx, service, change, state, None, verdict=verdict, needs=tuple(needs))
    return stored
