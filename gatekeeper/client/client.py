"""The client that an orchestrator embeds: submit a change, watch it, read the verdict."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import grpc

from gatekeeper.api.v1 import artifacts_pb2 as artifacts
from gatekeeper.api.v1 import verifications_pb2 as verifications
from gatekeeper.api.v1.artifact_pb2 import Artifact
from gatekeeper.api.v1.artifacts_pb2_grpc import ArtifactServiceStub
from gatekeeper.api.v1.verification_pb2 import Verification
from gatekeeper.api.v1.verifications_pb2_grpc import VerificationServiceStub
from gatekeeper.client.channel import target_of
from gatekeeper.client.content import CAPS, Content, Source, content
from gatekeeper.client.failure import ApiError, malformed
from gatekeeper.client.names import change_name, repository_name, verification_name
from gatekeeper.client.patience import Patience
from gatekeeper.client.records import Records
from gatekeeper.client.submission import new_request_id, submission
from gatekeeper.client.watching import Watched


class Client(Records):
    """A connection to one gate. Thread-safe; connects at the first call; use it in a `with` or `close()` it.

    `target` is `host:port` or `unix:/path`. `token` is what `gatekeeper token create` printed (None: none); `certificate` a pair of
    PEM files (certificate, key) for mTLS. Any address but loopback speaks TLS, with `ca` or the well-known roots.
    `timeout` is the seconds of one attempt of an ordinary call, `retry_for` how long attempts are repeated.
    Raises `UsageError` for arguments that cannot work; every method raises `ApiError` for a call that did not succeed.
    Both are `GatekeeperError`.
    """

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
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(
            target_of(target, token=token, ca=ca, certificate=certificate),
            patience or Patience(timeout_s=timeout, retry_s=retry_for),
            clock=clock,
            sleep=sleep,
            chance=chance,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def submit(
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
        """Submit one head of a change; answers as soon as it is stored, normally QUEUED.

        `repository` is `owner/repository`, `change` your key of the work (a pull request's number), `head` the full
        commit, `ticket` the id of an approved plan. `claim` is what the agent says it did (docs/claim.md): JSON values,
        bytes or a path; a large one is uploaded. `bundle` is a git bundle (bytes or a path) for a head that the gate
        cannot fetch. Without `request_id` one is made; give the same one to repeat a submission of an earlier process.
        """
        ready = submission(
            repository=repository, change=change, head=head, ticket=ticket, target=target, claim=claim, bundle=bundle,
            ticket_digest=ticket_digest, merge_group=merge_group, on_behalf_of=on_behalf_of, request_id=request_id,
        )  # fmt: skip
        for upload in ready.uploads:
            self._upload(upload)
        stub = VerificationServiceStub(self.channel)
        return self.unary(stub.Submit, ready.request).verification

    def get_verification(self, name: str) -> Verification:
        """One verification in full, as it is now."""
        request = verifications.GetVerificationRequest(name=verification_name(name))
        stub = VerificationServiceStub(self.channel)
        return self.unary(stub.GetVerification, request).verification

    def list_verifications(
        self,
        parent: str,
        *,
        states: tuple[Verification.State.ValueType, ...] = (),
        head_commit: str = "",
        current_only: bool = False,
        page_size: int = 0,
    ) -> Iterator[Verification]:
        """Verifications of a change (`owner/repository#key`) or of a whole repository (`owner/repository`), newest first.

        Without findings, runs and repair brief.
        """
        whole = (
            change_name(parent) if "#" in parent or "/changes/" in parent else f"{repository_name(parent)}/changes/-"
        )
        stub = VerificationServiceStub(self.channel)
        request = verifications.ListVerificationsRequest(
            parent=whole, states=states, head_commit=head_commit, current_only=current_only, page_size=page_size
        )

        def ask(token: str) -> verifications.ListVerificationsResponse:
            request.page_token = token
            return self.unary(stub.ListVerifications, request)

        return self.pages(ask, lambda page: page.verifications)

    def watch(self, name: str, *, after_revision: int = 0, timeout: float | None = None) -> Iterator[Verification]:
        """Snapshots of a verification, in order, until the final one. A broken stream is attached again by itself.

        Raises `ApiError` when the server refuses, when it was silent and out of reach for `retry_for` seconds, and with
        DEADLINE_PASSED when `timeout` seconds (None: no end) are over first.
        """
        watched, attempts = Watched(verification_name(name), after_revision), self.attempts(timeout)
        attempts.met = self._met
        stub = VerificationServiceStub(self.channel)
        while True:
            seconds = attempts.timeout(self.patience.stream_s)
            request = verifications.WatchVerificationRequest(name=watched.name, after_revision=watched.after)
            broken: ApiError | None = None
            begun = self._clock()
            try:
                for message in self.stream(stub.WatchVerification, request, seconds):
                    snapshot = message.verification
                    attempts.timeout(0)  # a stream of news without end ends with the caller's time as well
                    if watched.takes(snapshot):
                        attempts.heard()
                        yield snapshot
                    if watched.final:
                        return
            except ApiError as error:
                if not error.retryable:
                    raise
                broken = error
            if broken is not None and broken.status == "DEADLINE_EXCEEDED" and self._clock() - begun >= seconds:
                attempts.timeout(0)  # our own end of a quiet stream, no fault: attach again at once
                attempts.heard()
                continue
            if self._clock() - begun >= self.patience.retry_s:
                attempts.heard()  # it held for long before it broke: the server was there
            if not self.rest(attempts):
                attempts.timeout(0)
                raise broken or malformed("The server ends the stream again and again before the final snapshot.")

    def wait(self, name: str, timeout: float | None = None) -> Verification:
        """The final snapshot, in full. Raises as `watch` does."""
        last: Verification | None = None
        for last in self.watch(name, timeout=timeout):  # noqa: B007 (the last one is what is wanted)
            pass
        if last is None:
            raise malformed("The watch ended without a snapshot.")
        return last

    def cancel(self, name: str, comment: str = "") -> Verification:
        """Cancel a verification that is not final."""
        request = verifications.CancelVerificationRequest(
            name=verification_name(name), comment=comment, request_id=new_request_id()
        )
        stub = VerificationServiceStub(self.channel)
        return self.unary(stub.CancelVerification, request).verification

    def upload(self, source: bytes | str | Path, kind: Artifact.Kind.ValueType) -> Artifact:
        """Store a claim or a git bundle (bytes or a path) under its digest. `submit` does this by itself."""
        return self._upload(content(source, kind))

    def _upload(self, made: Content) -> Artifact:
        stub = ArtifactServiceStub(self.channel)

        def once(seconds: float) -> artifacts.UploadArtifactResponse:
            return stub.UploadArtifact(made.messages(), timeout=seconds, metadata=self.target.metadata())

        answer = self.repeated(once, self.patience.upload_s)
        if answer.artifact.name != made.name:
            raise malformed("The server stored the upload under another digest than its own.")
        return answer.artifact

    def download(self, name: str) -> bytes:
        """Content of an artifact, compared with the digest in its name."""
        stub = ArtifactServiceStub(self.channel)
        digest, parts, size = hashlib.sha256(), [], 0
        request = artifacts.GetArtifactRequest(name=name)
        for message in self.stream(stub.GetArtifact, request, self.patience.upload_s):
            chunk = message.chunk
            size += len(chunk)
            if size > max(CAPS.values()):
                raise malformed("The server sends more than any artifact can hold.")
            digest.update(chunk)
            parts.append(chunk)
        if name != f"artifacts/{digest.hexdigest()}":
            raise malformed("What the server sent does not have the digest in the artifact's name.")
        return b"".join(parts)

    def healthy(self) -> bool:
        """True where the server says that it serves. Raises `ApiError` where it cannot be reached."""
        from grpc_health.v1 import health_pb2

        check = self.channel.unary_unary(
            "/grpc.health.v1.Health/Check",
            request_serializer=health_pb2.HealthCheckRequest.SerializeToString,
            response_deserializer=health_pb2.HealthCheckResponse.FromString,
        )
        answer = self.unary(check, health_pb2.HealthCheckRequest())
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    def ready(self, timeout: float) -> bool:
        """True as soon as a connection stands, False when `timeout` seconds pass without one."""
        try:
            grpc.channel_ready_future(self.channel).result(timeout=timeout)
        except grpc.FutureTimeoutError:
            return False
        return True
