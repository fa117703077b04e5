"""The standard health service: no credential is needed, so its streams are counted and end when the gate stops."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
from grpc_health.v1 import health_pb2
from grpc_health.v1.health import aio

_Response = health_pb2.HealthCheckResponse


class Health(aio.HealthServicer):
    """States by service name. `Watch` is made anew: the library's keeps a shutdown waiting and counts no streams."""

    def __init__(self, streams: int) -> None:
        super().__init__()
        self._room = asyncio.Semaphore(streams)
        self._states: dict[str, int] = {}
        self._changed = asyncio.Event()
        self._ended = False

    async def set(self, service: str, status: Any) -> None:
        """Set the state of one service and tell those who watch it."""
        self._states[service] = status
        await super().set(service, status)
        self._wake()

    def end(self) -> None:
        """End all streams."""
        self._ended = True
        self._wake()

    async def Watch(self, request: Any, context: Any) -> None:  # noqa: N802  # named as its rpc
        """Stream the state at once and after every change."""
        if self._room.locked():
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "Too many watch the health already.")
        async with self._room:
            last = None
            while not self._ended:
                changed = self._changed
                state = self._states.get(request.service, _Response.SERVICE_UNKNOWN)
                if state != last:
                    last = state
                    await context.write(_Response(status=state))
                else:
                    await changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
