"""What stands before every servicer: stopping, deadline, credential, rate, role, size and shape, in this order; and after
it: every error as a typed status. Servicers see parsed messages and a `Call`.

All rpcs are taken as streams of raw bytes, the unary ones too. So a message is not read before its sender is known, and a
client that never finishes it is held to the deadline.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar, cast

import grpc
from google.protobuf.message import DecodeError, Message

from gatekeeper.api.credentials import Credentials, digest_of_call
from gatekeeper.api.limits import ApiLimits, RateLimiter, Slots
from gatekeeper.api.permissions import RULES, Rule, require_role
from gatekeeper.api.status_mapping import status_of
from gatekeeper.api.workers import Deadline, Workers, deadline_passed
from gatekeeper.domain.principal import Caller
from gatekeeper.errors import GatekeeperError, InputError, RequestRefused
from gatekeeper.workflow.service.service import PERMISSION_CODES, Service, refused

P = ParamSpec("P")
T = TypeVar("T")
Context = grpc.aio.ServicerContext[bytes, bytes]
_LOG = logging.getLogger("gatekeeper.api")


class Gate:
    """What all calls of one server share."""

    def __init__(self, service: Service, limits: ApiLimits) -> None:
        self.service, self.limits = service, limits
        self.stopping = asyncio.Event()
        self.reads = Workers(limits.read_threads, limits.waiting, "gatekeeper-read")
        self.writes = Workers(limits.write_threads, limits.waiting, "gatekeeper-write")
        self.uploads = Workers(limits.all_uploads, limits.all_uploads, "gatekeeper-upload")
        self.upload_slots = Slots("UPLOADS_EXHAUSTED", "uploads", limits.uploads, limits.all_uploads)
        self.watch_slots = Slots("WATCHES_EXHAUSTED", "watches", limits.watches)
        self.call_slots = Slots("RATE_LIMITED", "calls", limits.calls)
        self.credentials = Credentials(service, limits.credential_cache_s)
        self.rate = RateLimiter(limits.calls_per_s, limits.burst)
        self.refusals = RateLimiter(limits.refusals_per_s, limits.refusals_burst)

    def close(self) -> None:
        """Let the threads go."""
        for pool in (self.reads, self.writes, self.uploads):
            pool.close()


@dataclass
class Call:
    """One admitted call, as servicers see it."""

    gate: Gate
    name: str
    """`Service.Method`."""
    caller: Caller
    deadline: Deadline
    digest: str
    """Of the credential."""

    async def require_valid(self) -> None:
        """For long streams: raises `RequestRefused` (CREDENTIAL_INVALID) once the credential is revoked or expired."""
        await known_caller(self.gate, self.digest, self.deadline)

    @property
    def service(self) -> Service:
        """The ports."""
        return self.gate.service

    @property
    def now(self) -> float:
        """The time of day."""
        return self.service.clock.now()

    async def read(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a use case that only reads."""
        return await self.gate.reads.run(self.deadline, function, *args, **kwargs)

    async def write(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a use case that changes state."""
        return await self.gate.writes.run(self.deadline, function, *args, **kwargs)


Unary = Callable[[Any, Call], Awaitable[Message]]
Streaming = Callable[[Any, Call], AsyncGenerator[Message, None]]
Uploading = Callable[[AsyncIterator[Any], Call], Awaitable[Message]]


class Guard:
    """Makes the handler of one rpc."""

    def __init__(self, gate: Gate, name: str, request: type[Message]) -> None:
        self._gate, self._name, self._request = gate, name, request
        self._rule: Rule = RULES[name]

    def unary(self, function: Unary) -> grpc.RpcMethodHandler[Any, Any]:
        """One message in, one out."""

        async def handle(messages: AsyncIterator[bytes], context: Context) -> bytes:
            async with self._guarded(context) as call:
                answer = await function(await self._one(messages), call)
                return answer.SerializeToString()
            raise AssertionError  # pragma: no cover  # the guard ends the call otherwise

        return grpc.stream_unary_rpc_method_handler(handle)

    def upload(self, function: Uploading) -> grpc.RpcMethodHandler[Any, Any]:
        """Many messages in, one out."""

        async def handle(messages: AsyncIterator[bytes], context: Context) -> bytes:
            async with self._guarded(context) as call:
                async with aclosing(self._many(messages)) as parsed:
                    answer = await function(parsed, call)
                return answer.SerializeToString()
            raise AssertionError  # pragma: no cover

        return grpc.stream_unary_rpc_method_handler(handle)

    def streaming(self, function: Streaming) -> grpc.RpcMethodHandler[Any, Any]:
        """One message in, many out."""

        async def handle(messages: AsyncIterator[bytes], context: Context) -> None:
            # Written here, not yielded: the deadline then also holds while a slow client takes no message.
            async with (
                self._guarded(context) as call,
                aclosing(function(await self._one(messages), call)) as answers,
            ):
                async for answer in answers:
                    await context.write(answer.SerializeToString())

        return grpc.stream_stream_rpc_method_handler(handle)

    @asynccontextmanager
    async def _guarded(self, context: Context) -> AsyncIterator[Call]:
        """Admit the call; end it with a typed status whatever goes wrong inside."""
        left = cast("float | None", context.time_remaining())  # None where the client set no deadline
        deadline = Deadline(self._rule.timeout_s if left is None else min(left, self._rule.timeout_s))
        failed: Exception | None = None
        try:
            async with asyncio.timeout(deadline.remaining):
                call = await self._admit(context, deadline)
                with self._gate.call_slots.taken(call.caller.principal.id):
                    yield call
        except TimeoutError:
            failed = deadline_passed()
        except Exception as error:
            failed = error
        finally:
            deadline.close()
        if failed is not None:
            await context.abort_with_status(status_of(failed, self._gate.service.new_id()))

    async def _admit(self, context: Context, deadline: Deadline) -> Call:
        if self._gate.stopping.is_set():
            raise stopping()
        metadata = context.invocation_metadata() or ()
        digest = digest_of_call(((str(k), v) for k, v in metadata), context.auth_context())
        caller = await known_caller(self._gate, digest, deadline)
        self._gate.rate.take(caller.principal.id)
        try:
            require_role(self._name, caller)
        except GatekeeperError as error:
            if error.code in PERMISSION_CODES and self._worth_recording(caller):
                await self._gate.writes.run(
                    deadline, refused, self._gate.service, caller, f"rpc.{self._name}", "", error.code
                )
            raise
        return Call(self._gate, self._name, caller, deadline, digest)

    def _worth_recording(self, caller: Caller) -> bool:
        """False once a client was refused so often that recording more of it would only fill the audit log."""
        try:
            self._gate.refusals.take(caller.principal.id)
        except RequestRefused:
            _LOG.warning("%s is refused again and again; not all of it is recorded", caller.credential)
            return False
        return True

    async def _one(self, messages: AsyncIterator[bytes]) -> Message:
        """The only message of a unary request."""
        found: Message | None = None
        async with aclosing(self._many(messages)) as parsed:
            async for message in parsed:
                if found is not None:
                    raise InputError("INPUT_MALFORMED", "The call takes one message and got more.", field="")
                found = message
        if found is None:
            raise InputError("INPUT_MALFORMED", "The call ended before its message.", field="")
        return found

    async def _many(self, messages: AsyncIterator[bytes]) -> AsyncGenerator[Message, None]:
        """Parsed messages, each within its size and within its time."""
        arriving = aiter(messages)
        while True:
            try:
                async with asyncio.timeout(self._gate.limits.chunk_wait_s):
                    data = await anext(arriving)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise deadline_passed() from None
            if len(data) > self._rule.max_request:
                raise InputError(
                    "INPUT_TOO_LARGE",
                    f"The message has {len(data)} bytes; {self._name} takes at most {self._rule.max_request}.",
                    limit=self._rule.max_request,
                )
            try:
                yield self._request.FromString(data)
            except DecodeError:
                raise InputError(
                    "INPUT_MALFORMED", f"The bytes are no {self._request.DESCRIPTOR.name}.", field=""
                ) from None


async def known_caller(gate: Gate, digest: str, deadline: Deadline) -> Caller:
    """The caller behind the digest of a credential. Raises `RequestRefused` (CREDENTIAL_INVALID)."""
    known = gate.credentials.cached(digest)
    if known is None:
        known = await gate.reads.run(deadline, gate.credentials.look_up, digest)
        gate.credentials.keep(digest, known)
    return known


def stopping() -> RequestRefused:
    """The error of calls that come or still run while the gate shuts down."""
    return RequestRefused("GATE_STOPPING", "The gate is shutting down; repeat the call with the same request id.")
