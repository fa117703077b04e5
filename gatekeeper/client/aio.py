"""The client for asyncio: the calls of an orchestrator's loop. Same requests, patience and errors as `Client`."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import grpc
import grpc.aio

from gatekeeper.api.v1 import artifacts_pb2 as artifacts
from gatekeeper.api.v1 import changes_pb2 as changes
from gatekeeper.api.v1 import verifications_pb2 as verifications
from gatekeeper.api.v1.artifacts_pb2_grpc import ArtifactServiceStub
from gatekeeper.api.v1.change_pb2 import Change
from gatekeeper.api.v1.changes_pb2_grpc import ChangeServiceStub
from gatekeeper.api.v1.verification_pb2 import Verification
from gatekeeper.api.v1.verifications_pb2_grpc import VerificationServiceStub
from gatekeeper.client.channel import open_async_channel, target_of
from gatekeeper.client.content import Content, Source
from gatekeeper.client.failure import ApiError, from_rpc, malformed
from gatekeeper.client.names import change_name, verification_name
from gatekeeper.client.patience import Attempts, Patience
from gatekeeper.client.submission import new_request_id, submission
from gatekeeper.client.watching import Watched

Answer = TypeVar("Answer")


class AsyncClient:
    """See `Client`. Make it inside the running loop that uses it; use it in an `async with`."""

    def __init__(
        self,
        target: str,
        *,
        token: str | None = None,
        ca: Path | bytes | None = None,
        certificate: tuple[Path | bytes, Path | bytes] | None = None,
        timeout: float = 10.0,
        retry_for: float = 30.0,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.target = target_of(target, token=token, ca=ca, certificate=certificate)
        self.patience = patience or Patience(timeout_s=timeout, retry_s=retry_for)
        self._clock, self._sleep, self._chance = clock, sleep, chance
        self._metadata = self.target.metadata()
        self._met = False
        self._channel: grpc.aio.Channel | None = open_async_channel(self.target)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def channel(self) -> grpc.aio.Channel:
        """The open channel. Raises `ApiError` after `close`."""
        if self._channel is None:
            raise ApiError("SERVER_UNREACHABLE", "The client was closed.", status="CANCELLED")
        return self._channel

    async def close(self) -> None:
        """End the connection. Calls after it fail."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    async def submit(
        self,
        *,
        repository: str,
        change: str,
        head: str,
        ticket: str,
        target: str = "refs/heads/main",
        claim: Source | str | None = None,
        bundle: bytes | str | Path | None = None,
        ticket_digest: str = "",
        merge_group: str = "",
        on_behalf_of: str = "",
        request_id: str | None = None,
    ) -> Verification:
        """See `Client.submit`. Files are hashed in a thread."""
        ready = await asyncio.to_thread(
            submission, repository=repository, change=change, head=head, ticket=ticket, target=target, claim=claim,
            bundle=bundle, ticket_digest=ticket_digest, merge_group=merge_group, on_behalf_of=on_behalf_of,
            request_id=request_id,
        )  # fmt: skip
        for upload in ready.uploads:
            await self._upload(upload)
        stub = VerificationServiceStub(self.channel)
        answer = await self._repeated(
            lambda s: stub.Submit(ready.request, timeout=s, metadata=self._metadata), self.patience.timeout_s
        )
        return answer.verification

    async def get_verification(self, name: str) -> Verification:
        """One verification in full, as it is now."""
        request = verifications.GetVerificationRequest(name=verification_name(name))
        stub = VerificationServiceStub(self.channel)
        answer = await self._repeated(
            lambda s: stub.GetVerification(request, timeout=s, metadata=self._metadata), self.patience.timeout_s
        )
        return answer.verification

    async def get_change(self, change: str) -> Change:
        """Where one change stands."""
        request = changes.GetChangeRequest(name=change_name(change))
        stub = ChangeServiceStub(self.channel)
        answer = await self._repeated(
            lambda s: stub.GetChange(request, timeout=s, metadata=self._metadata), self.patience.timeout_s
        )
        return answer.change

    async def cancel(self, name: str, comment: str = "") -> Verification:
        """Cancel a verification that is not final."""
        request = verifications.CancelVerificationRequest(
            name=verification_name(name), comment=comment, request_id=new_request_id()
        )
        stub = VerificationServiceStub(self.channel)
        answer = await self._repeated(
            lambda s: stub.CancelVerification(request, timeout=s, metadata=self._metadata), self.patience.timeout_s
        )
        return answer.verification

    async def watch(
        self,
        name: str,
        *,
        after_revision: int = 0,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> AsyncIterator[Verification]:
        """See `Client.watch`."""
        watched, attempts = Watched(verification_name(name), after_revision), self._attempts(timeout)
        attempts.met = self._met
        stub = VerificationServiceStub(self.channel)
        while True:
            seconds = attempts.timeout(self.patience.stream_s)
            request = verifications.WatchVerificationRequest(name=watched.name, after_revision=watched.after)
            broken: ApiError | None = None
            begun = self._clock()
            call = stub.WatchVerification(request, timeout=seconds, metadata=self._metadata)
            try:
                async for message in call:
                    attempts.timeout(0)
                    if watched.takes(message.verification):
                        attempts.heard()
                        yield message.verification
                    if watched.final:
                        return
            except grpc.RpcError as error:
                broken = from_rpc(error, self.target.address)
                if not broken.retryable:
                    raise broken from None
            finally:
                call.cancel()
            if broken is not None and broken.status == "DEADLINE_EXCEEDED" and self._clock() - begun >= seconds:
                attempts.timeout(0)
                attempts.heard()
                continue
            if self._clock() - begun >= self.patience.retry_s:
                attempts.heard()
            wait = attempts.pause()
            if wait is None:
                attempts.timeout(0)
                raise broken or malformed("The server ends the stream again and again before the final snapshot.")
            await self._sleep(wait)

    async def wait(self, name: str, timeout: float | None = None) -> Verification:  # noqa: ASYNC109 (kept by the gRPC deadline)
        """The final snapshot, in full."""
        last: Verification | None = None
        async for snapshot in self.watch(name, timeout=timeout):
            last = snapshot
        if last is None:
            raise malformed("The watch ended without a snapshot.")
        return last

    def _attempts(self, timeout: float | None = None) -> Attempts:
        end = None if timeout is None else self._clock() + timeout
        return Attempts(self.patience, self._clock, self._chance, end=end)

    async def _repeated(self, once: Callable[[float], Awaitable[Answer]], usual: float) -> Answer:
        attempts = self._attempts()
        while True:
            try:
                answer = await once(attempts.timeout(usual))
            except grpc.RpcError as error:
                told = from_rpc(error, self.target.address)
                wait = attempts.pause() if told.retryable else None
                if wait is None:
                    raise told from None
                await self._sleep(wait)
            else:
                self._met = True
                return answer

    async def _upload(self, made: Content) -> None:
        stub = ArtifactServiceStub(self.channel)

        async def once(seconds: float) -> artifacts.UploadArtifactResponse:
            return await stub.UploadArtifact(made.messages(), timeout=seconds, metadata=self._metadata)

        answer = await self._repeated(once, self.patience.upload_s)
        if answer.artifact.name != made.name:
            raise malformed("The server stored the upload under another digest than its own.")
