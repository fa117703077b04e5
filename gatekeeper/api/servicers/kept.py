"""What is kept: attestations, artifacts, events and the audit log."""

# ruff: noqa: N802  # methods are named as their rpcs

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any, TypeVar

from google.protobuf.message import Message

from gatekeeper.api import convert
from gatekeeper.api.interceptors import Call
from gatekeeper.api.paging import DEFAULT_ROWS, MAX_ROWS, page_of, token_of
from gatekeeper.api.requests import moment, text, word, words
from gatekeeper.api.v1 import artifact_pb2, attestation_pb2, verdict_pb2
from gatekeeper.api.v1 import artifacts_pb2 as ap
from gatekeeper.api.v1 import attestations_pb2 as tp
from gatekeeper.api.v1 import audit_entries_pb2 as lp
from gatekeeper.api.v1 import events_pb2 as ep
from gatekeeper.api.workers import deadline_passed
from gatekeeper.domain.paging import row_key
from gatekeeper.domain.records import AttestationRecord, AuditEntry, Event, Page
from gatekeeper.errors import InputError
from gatekeeper.formats.resource_names import Kind, commit, malformed, ref, resource_name, sha256
from gatekeeper.workflow.service import artifacts, attestations, events

MAX_TYPES = 50
MAX_TYPE = 128
MAX_ANSWER = 4 * 1024 * 1024 - 64 * 1024
"""Bytes of rows in one page of events or audit entries."""
M = TypeVar("M", bound=Message)


class AttestationServicer:
    """AttestationService."""

    async def GetAttestation(self, request: tp.GetAttestationRequest, call: Call) -> tp.GetAttestationResponse:
        """One statement with its bundle."""
        name = resource_name(Kind.ATTESTATION, request.name, "name")
        record = await call.read(attestations.get, call.service, name)
        return tp.GetAttestationResponse(attestation=convert.attestation(record))

    async def ListAttestations(self, request: tp.ListAttestationsRequest, call: Call) -> tp.ListAttestationsResponse:
        """Statements of a repository."""
        found = await call.read(
            attestations.list_page,
            call.service,
            resource_name(Kind.REPOSITORY, request.parent, "parent"),
            page_of(AttestationRecord, request),
            subject_commit=commit(request.subject_commit, "subject_commit") if request.subject_commit else "",
            target_ref=ref(request.target_ref, "target_ref") if request.target_ref else "",
            kinds=words(attestation_pb2.Attestation.Kind, request.kinds, "kinds", prefix="KIND_"),
            purpose=word(verdict_pb2.Purpose, request.purpose, "purpose", prefix="PURPOSE_", required=False),
            current_only=request.current_only,
        )
        return tp.ListAttestationsResponse(
            attestations=[convert.attestation(r, bundle=False) for r in found.rows],
            next_page_token=token_of(found.after, request),
        )


class _Pipe:
    """Chunks on their way from the event loop to the thread that writes them: two at most wait."""

    def __init__(self) -> None:
        self._queue: queue.Queue[bytes | BaseException | None] = queue.Queue()
        self._room = asyncio.Semaphore(2)
        self._loop = asyncio.get_running_loop()

    async def put(self, chunk: bytes) -> None:
        await self._room.acquire()
        self._queue.put(chunk)

    def end(self, error: BaseException | None = None) -> None:
        """Nothing follows; with `error` the reader fails, so that nothing is stored."""
        self._queue.put(error)

    def chunks(self) -> Iterator[bytes]:
        """For the thread."""
        while True:
            item = self._queue.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
            self._loop.call_soon_threadsafe(self._room.release)


class ArtifactServicer:
    """ArtifactService."""

    async def UploadArtifact(
        self, requests: AsyncIterator[ap.UploadArtifactRequest], call: Call
    ) -> ap.UploadArtifactResponse:
        """Store one artifact."""
        with call.gate.upload_slots.taken(call.caller.principal.id):
            first = await anext(aiter(requests), None)
            if first is None or first.WhichOneof("part") != "header":
                raise InputError("ARTIFACT_SEQUENCE", "An upload begins with its header.", field="header")
            header = first.header
            kind = word(artifact_pb2.Artifact.Kind, header.kind, "header.kind", prefix="KIND_")
            digest = sha256(header.sha256, "header.sha256")
            size = header.size_bytes
            if size > artifacts.MAX_SIZE[kind]:
                raise InputError(
                    "INPUT_TOO_LARGE",
                    f"A {kind} may have {artifacts.MAX_SIZE[kind]} bytes at most.",
                    field="header.size_bytes",
                    limit=artifacts.MAX_SIZE[kind],
                )
            if size < 1:
                raise malformed("header.size_bytes", "at least 1")
            pipe = _Pipe()
            stored = asyncio.ensure_future(
                call.gate.uploads.run(
                    call.deadline, artifacts.upload, call.service, call.caller, digest, size, kind, pipe.chunks()
                )
            )
            try:
                await _feed(pipe, requests, size, stored)
                record = await stored
            except BaseException as error:
                # The thread must not wait for chunks that never come, and must not store what it has.
                pipe.end(error if isinstance(error, Exception) else deadline_passed())
                await _settled(stored)
                raise
        return ap.UploadArtifactResponse(artifact=convert.artifact(record))

    async def GetArtifact(
        self, request: ap.GetArtifactRequest, call: Call
    ) -> AsyncGenerator[ap.GetArtifactResponse, None]:
        """Header, then content."""
        name = resource_name(Kind.ARTIFACT, request.name, "name")
        record, chunks = await call.read(artifacts.open_artifact, call.service, call.caller, name)
        yield ap.GetArtifactResponse(artifact=convert.artifact(record))
        while chunk := await call.read(next, chunks, b""):
            yield ap.GetArtifactResponse(chunk=chunk)


async def _feed(
    pipe: _Pipe, requests: AsyncIterator[ap.UploadArtifactRequest], size: int, stored: asyncio.Future[Any]
) -> None:
    """Hand the chunks on. Raises `InputError` (ARTIFACT_SEQUENCE, ARTIFACT_SIZE) for others than were announced."""
    got = 0
    async for message in requests:
        if message.WhichOneof("part") != "chunk" or not message.chunk:
            raise InputError(
                "ARTIFACT_SEQUENCE", "After the header only chunks of 1 byte or more follow.", field="chunk"
            )
        if len(message.chunk) > artifacts.CHUNK:
            raise InputError(
                "INPUT_TOO_LARGE", f"A chunk may have {artifacts.CHUNK} bytes at most.", limit=artifacts.CHUNK
            )
        got += len(message.chunk)
        if got > size:
            raise InputError("ARTIFACT_SIZE", f"More than the announced {size} bytes came.", announced=size)
        if stored.done():
            return
        putting = asyncio.ensure_future(pipe.put(message.chunk))
        await asyncio.wait({putting, stored}, return_when=asyncio.FIRST_COMPLETED)
        if not putting.done():
            putting.cancel()
            return
    if got != size:
        raise InputError("ARTIFACT_SIZE", f"{got} bytes came, {size} were announced.", announced=size, received=got)
    pipe.end()


async def _settled(stored: asyncio.Future[Any]) -> None:
    """Wait a moment until the thread let go; its error is told already."""
    done, _ = await asyncio.wait({stored}, timeout=5)
    for future in done:
        future.exception()


class EventServicer:
    """EventService."""

    async def ListEvents(self, request: ep.ListEventsRequest, call: Call) -> ep.ListEventsResponse:
        """Events in their order."""
        everywhere = request.parent == "owners/-/repositories/-"
        parent = None if everywhere else resource_name(Kind.REPOSITORY, request.parent, "parent")
        if len(request.types) > MAX_TYPES:
            raise malformed("types", f"at most {MAX_TYPES} types")
        page = _from_sequence(page_of(Event, request, default=DEFAULT_ROWS, cap=MAX_ROWS), request.after_sequence)
        found = await call.read(
            events.list_events,
            call.service,
            parent,
            page,
            types=[text(t, "types", MAX_TYPE, required=True) for t in request.types],
            since=moment(request, "start_time"),
            until=moment(request, "end_time"),
        )
        rows = _fitting([convert.event(r) for r in found.rows])
        after = found.after if len(rows) == len(found.rows) else row_key(found.rows[len(rows) - 1])
        return ep.ListEventsResponse(events=rows, next_page_token=token_of(after, request))


class AuditServicer:
    """AuditService."""

    async def ListAuditEntries(self, request: lp.ListAuditEntriesRequest, call: Call) -> lp.ListAuditEntriesResponse:
        """Entries in their order."""
        page = page_of(AuditEntry, request, default=DEFAULT_ROWS, cap=MAX_ROWS)
        page = _from_sequence(page, request.after_sequence)
        found = await call.read(events.list_audit_entries, call.service, page)
        rows = _fitting([convert.audit_entry(r) for r in found.rows])
        after = found.after if len(rows) == len(found.rows) else row_key(found.rows[len(rows) - 1])
        return lp.ListAuditEntriesResponse(audit_entries=rows, next_page_token=token_of(after, request))


def _from_sequence(page: Page, after_sequence: int) -> Page:
    """The first page begins after `after_sequence`; later ones where their token says."""
    if after_sequence < 0:
        raise malformed("after_sequence", "0 or more")
    return page if page.after is not None else Page(page.size, (after_sequence,))


def _fitting(rows: list[M]) -> list[M]:
    """The first rows, at least one, that one answer can hold."""
    size = 0
    for count, row in enumerate(rows):
        size += row.ByteSize() + 8
        if size > MAX_ANSWER and count:
            return rows[:count]
    return rows
