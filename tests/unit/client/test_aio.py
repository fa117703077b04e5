"""The client for asyncio keeps the promises of the other one: one request id, watches that go on, typed errors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import grpc
import pytest
from fake_api import HEAD, REPOSITORY, FakeGate, Fault, life, serving, snapshot

from gatekeeper.api.v1.verification_pb2 import Verification as Message
from gatekeeper.client import ApiError, AsyncClient, VerificationState, accepted, state_of

NAME = f"{REPOSITORY}/changes/42/verifications/v1"
T = TypeVar("T")


def run(gate: FakeGate, work: Callable[[AsyncClient], Awaitable[T]], **options: object) -> tuple[T, list[float]]:
    """`work` with a client whose pauses take no time."""
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    async def whole(address: str) -> T:
        settings = {"sleep": sleep, "clock": lambda: sum(pauses), "chance": lambda: 1.0, **options}
        async with AsyncClient(address, token="gk_t", **settings) as client:  # type: ignore[arg-type]
            return await work(client)

    with serving(gate) as address:
        return asyncio.run(whole(address)), pauses


def test_a_submission_is_uploaded_sent_and_repeated_with_one_id() -> None:
    gate = FakeGate()
    gate.faults["Submit"] = [Fault(grpc.StatusCode.UNAVAILABLE)]
    gate.faults["UploadArtifact"] = [Fault(grpc.StatusCode.UNAVAILABLE)]

    async def work(client: AsyncClient) -> Message:
        made = await client.submit(
            repository="acme/shop", change="42", head=HEAD, ticket="T-1", claim=b"x" * (1024 * 1024 + 1)
        )
        assert (await client.get_change("acme/shop#42")).latest_verification == made.name
        assert state_of(await client.get_verification(made.name)) is VerificationState.DECIDED
        return await client.wait(made.name)

    done, pauses = run(gate, work)
    assert accepted(done)
    assert len({r.request_id for r in gate.requests_of("Submit")}) == 1
    assert len(gate.requests_of("Submit")) == len(pauses) == 2
    assert len(gate.artifacts[gate.requests_of("Submit")[0].claim_artifact]) == 1024 * 1024 + 1
    assert gate.calls[0][2]["authorization"] == "Bearer gk_t"


def test_a_broken_watch_goes_on_after_the_last_revision() -> None:
    gate = FakeGate()
    gate.lives[NAME] = life(NAME)
    gate.breaks = [1, 0, 1]

    async def work(client: AsyncClient) -> list[int]:
        return [s.revision async for s in client.watch(NAME)]

    assert run(gate, work)[0] == [1, 2, 5]
    assert [r.after_revision for r in gate.requests_of("WatchVerification")] == [0, 1, 1, 2]


def test_a_refusal_and_a_server_that_never_ends_are_typed_errors() -> None:
    gate = FakeGate()

    async def unknown(client: AsyncClient) -> str:
        with pytest.raises(ApiError) as told:
            await client.cancel(NAME)
        return told.value.reason

    assert run(gate, unknown)[0] == "VERIFICATION_UNKNOWN"
    gate = FakeGate()
    gate.watcher = lambda request, context: [snapshot(request.name, 1, Message.STATE_RUNNING)]

    async def endless(client: AsyncClient) -> str:
        with pytest.raises(ApiError) as told:
            await client.wait(NAME)
        await client.close()
        with pytest.raises(ApiError, match="closed"):
            await client.get_verification(NAME)
        return told.value.reason

    reason, pauses = run(gate, endless)
    assert reason == "SERVER_ANSWER"
    assert sum(pauses) <= 31


def test_several_are_watched_in_one_loop() -> None:
    gate = FakeGate()
    names = [f"{REPOSITORY}/changes/{n}/verifications/v" for n in range(8)]
    gate.lives = {name: life(name) for name in names}

    async def work(client: AsyncClient) -> list[Message]:
        return await asyncio.gather(*(client.wait(name) for name in names))

    assert [accepted(made) for made in run(gate, work)[0]] == [True] * 8
