"""One call of the API, made patiently: deadline, retries with growing pauses, pages, errors as `ApiError`."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

import grpc

from gatekeeper.client.channel import Target, open_channel
from gatekeeper.client.failure import ApiError, from_rpc, malformed
from gatekeeper.client.patience import Attempts, Patience

if TYPE_CHECKING:
    from google.protobuf.message import Message

Request = TypeVar("Request", bound="Message")
Response = TypeVar("Response", bound="Message")
Row = TypeVar("Row")
Asked_contra = TypeVar("Asked_contra", contravariant=True)
Answer_co = TypeVar("Answer_co", covariant=True)


class _Rpc(Protocol[Asked_contra, Answer_co]):
    """A callable of a generated stub."""

    def __call__(
        self, request: Asked_contra, timeout: float | None = None, metadata: tuple[tuple[str, str], ...] | None = None
    ) -> Answer_co: ...


class Calls:
    """A connection with its limits. Safe to share between threads."""

    def __init__(
        self,
        target: Target,
        patience: Patience,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
        channel: grpc.Channel | None = None,
    ) -> None:
        self.target = target
        self.patience = patience
        self._channel: grpc.Channel | None = channel if channel is not None else open_channel(target)
        self._clock, self._sleep, self._chance = clock, sleep, chance
        self._metadata = target.metadata()
        self._met = False

    @property
    def channel(self) -> grpc.Channel:
        """The open channel. Raises `ApiError` after `close`: the library itself crashes the process there."""
        if self._channel is None:
            raise ApiError("SERVER_UNREACHABLE", "The client was closed.", status="CANCELLED")
        return self._channel

    def close(self) -> None:
        """End the connection. Calls after it fail."""
        if self._channel is not None:
            self._channel.close()
        self._channel = None

    def attempts(self, timeout: float | None = None) -> Attempts:
        """Bookkeeping that ends `timeout` seconds from now; None: only the patience ends it."""
        end = None if timeout is None else self._clock() + timeout
        return Attempts(self.patience, self._clock, self._chance, end=end)

    def rest(self, attempts: Attempts) -> bool:
        """Wait before the next attempt; False where patience is at its end."""
        wait = attempts.pause()
        if wait is None:
            return False
        self._sleep(wait)
        return True

    def unary(self, rpc: _Rpc[Request, Response], request: Request) -> Response:
        """The answer to one request. The same request is sent again while the error is one that can pass.

        Raises `ApiError`.
        """
        return self.repeated(
            lambda seconds: rpc(request, timeout=seconds, metadata=self._metadata), self.patience.timeout_s
        )

    def repeated(self, once: Callable[[float], Response], usual: float) -> Response:
        """`once(seconds)` until it answers or patience ends. Raises the last `ApiError`."""
        attempts = self.attempts()
        while True:
            try:
                answer = once(attempts.timeout(usual))
            except grpc.RpcError as error:
                told = from_rpc(error, self.target.address)
                if not told.retryable or not self.rest(attempts):
                    raise told from None
            except ValueError as error:  # the channel was closed, or the request has no valid encoding
                raise malformed(f"The call could not be made: {error}") from error
            else:
                self._met = True
                return answer

    def stream(self, rpc: _Rpc[Request, Iterable[Response]], request: Request, seconds: float) -> Iterator[Response]:
        """Messages of one stream. Raises `ApiError`; the stream is cancelled when the reader stops."""
        try:
            call = rpc(request, timeout=seconds, metadata=self._metadata)
        except ValueError as error:
            raise malformed(f"The call could not be made: {error}") from error
        try:
            yield from call
        except grpc.RpcError as error:
            raise from_rpc(error, self.target.address) from None
        finally:
            cancel = getattr(call, "cancel", None)
            if callable(cancel):
                cancel()

    @staticmethod
    def pages(ask: Callable[[str], Response], rows: Callable[[Response], Iterable[Row]]) -> Iterator[Row]:
        """All rows of a list, page by page, each asked for only when the one before was used up."""
        token = ""
        while True:
            page = ask(token)
            yield from rows(page)
            following = getattr(page, "next_page_token", "")
            if not following:
                return
            if following == token:
                raise malformed("The server names the same page again and again.")
            token = following
