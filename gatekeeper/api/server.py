"""The gRPC server: where it listens, what the transport caps, and how it begins and ends."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import socket
import stat
from collections.abc import Callable, Mapping

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2, health_pb2_grpc

from gatekeeper.api.health import Health
from gatekeeper.api.interceptors import Gate, Guard
from gatekeeper.api.limits import ApiLimits
from gatekeeper.api.servicers.kept import ArtifactServicer, AttestationServicer, AuditServicer, EventServicer
from gatekeeper.api.servicers.plans import RepositoryServicer, TicketServicer
from gatekeeper.api.servicers.work import ChangeServicer, ReviewServicer, UsageServicer, VerificationServicer
from gatekeeper.api.v1 import (
    artifacts_pb2,
    attestations_pb2,
    audit_entries_pb2,
    changes_pb2,
    events_pb2,
    repositories_pb2,
    reviews_pb2,
    tickets_pb2,
    usage_reports_pb2,
    verifications_pb2,
)
from gatekeeper.api.watch import News
from gatekeeper.errors import ConfigurationError
from gatekeeper.records import dataclass, field
from gatekeeper.workflow.service.service import Service

MAX_MESSAGE = 4 * 1024 * 1024
DEFAULT_ADDRESS = "127.0.0.1:7433"
MODULES = (
    repositories_pb2,
    tickets_pb2,
    changes_pb2,
    verifications_pb2,
    reviews_pb2,
    attestations_pb2,
    artifacts_pb2,
    usage_reports_pb2,
    events_pb2,
    audit_entries_pb2,
)
_HEALTH_S = 0.5
_LOG = logging.getLogger("gatekeeper.api")


@dataclass(frozen=True)
class TlsFiles:
    """PEM contents. With `client_ca` certificates of clients are asked for; with `client_required` nobody comes without."""

    certificate: bytes
    key: bytes = field(repr=False)
    client_ca: bytes | None = None
    client_required: bool = False


@dataclass(frozen=True)
class ServerSettings:
    """How the server listens."""

    address: str = DEFAULT_ADDRESS
    """HOST:PORT (port 0: any free one) or unix:PATH."""
    tls: TlsFiles | None = None
    reflection: bool = False
    grace_s: float = 10.0
    """How long running calls may go on when the server stops."""
    limits: ApiLimits = field(default_factory=ApiLimits)


class ApiServer:
    """The server of one service. Make and use it inside one event loop."""

    def __init__(self, service: Service, settings: ServerSettings, queue_up: Callable[[], bool] = lambda: True) -> None:
        """`queue_up` says, without blocking, whether the queue works; health depends on it and on the store."""
        require_safe(settings)
        self._settings, self._queue_up = settings, queue_up
        self.gate = Gate(service, settings.limits)
        self.news = News(self.gate)
        self._health = Health(settings.limits.health_watches)
        self._tasks: list[asyncio.Task[None]] = []
        self._server = grpc.aio.server(options=_options(), maximum_concurrent_rpcs=settings.limits.all_calls)
        self.address = ""
        """Where it listens, once started."""

    async def start(self) -> str:
        """Listen; returns the address. Raises `ConfigurationError` (ADDRESS_UNUSABLE, TLS_UNUSABLE)."""
        names = [health_pb2.DESCRIPTOR.services_by_name["Health"].full_name]
        servicers = self._servicers()
        for module in MODULES:
            for descriptor in module.DESCRIPTOR.services_by_name.values():
                self._server.add_generic_rpc_handlers((self._handlers(descriptor, servicers[descriptor.name]),))
                names.append(descriptor.full_name)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if self._settings.reflection:
            from grpc_reflection.v1alpha import reflection

            reflection.enable_server_reflection([*names, reflection.SERVICE_NAME], self._server)
        await self._set_health(False)
        self.address = self._listen()
        await self._server.start()
        self._tasks = [asyncio.create_task(self.news.run()), asyncio.create_task(self._watch_health())]
        return self.address

    async def stop(self, grace_s: float | None = None) -> None:
        """Take no more calls, end the streams, let the others finish within the grace period."""
        self.gate.stopping.set()
        await self._set_health(False)
        self.news.wake()
        self._health.end()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # One turn for the streams: they end with a typed status before the transport refuses.
        await asyncio.sleep(0)
        await self._server.stop(self._settings.grace_s if grace_s is None else grace_s)
        self.gate.close()
        if self.address.startswith("unix:"):
            with contextlib.suppress(OSError):
                os.unlink(self.address.removeprefix("unix:"))

    async def _watch_health(self) -> None:
        up = False
        while True:
            try:
                now = self.news.store_up and self._queue_up()
            except Exception as error:
                _LOG.error("the queue does not say whether it works: %s", type(error).__name__)
                now = False
            if now is not up:
                up = now
                await self._set_health(up)
            await asyncio.sleep(min(_HEALTH_S, self._settings.limits.poll_s))

    async def _set_health(self, up: bool) -> None:
        state = health_pb2.HealthCheckResponse.SERVING if up else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", *(d.full_name for m in MODULES for d in m.DESCRIPTOR.services_by_name.values())):
            await self._health.set(name, state)

    def _servicers(self) -> Mapping[str, object]:
        return {
            "RepositoryService": RepositoryServicer(),
            "TicketService": TicketServicer(),
            "ChangeService": ChangeServicer(),
            "VerificationService": VerificationServicer(self.news),
            "ReviewService": ReviewServicer(),
            "AttestationService": AttestationServicer(),
            "ArtifactService": ArtifactServicer(),
            "UsageService": UsageServicer(),
            "EventService": EventServicer(),
            "AuditService": AuditServicer(),
        }

    def _handlers(self, descriptor: ServiceDescriptor, servicer: object) -> grpc.GenericRpcHandler:
        """Handlers of one service. An rpc without a rule or a method is a `KeyError` or `AttributeError` at start."""
        table = {}
        for method in descriptor.methods:
            guard = Guard(
                self.gate, f"{descriptor.name}.{method.name}", message_factory.GetMessageClass(method.input_type)
            )
            function = getattr(servicer, method.name)
            if method.client_streaming:
                table[method.name] = guard.upload(function)
            elif method.server_streaming:
                table[method.name] = guard.streaming(function)
            else:
                table[method.name] = guard.unary(function)
        return grpc.method_handlers_generic_handler(descriptor.full_name, table)

    def _listen(self) -> str:
        address, tls = self._settings.address, self._settings.tls
        try:
            if tls is not None:
                credentials = _credentials(tls)
                _require_free(address)
                port = self._server.add_secure_port(address, credentials)
            else:
                _make_room(address)
                _require_free(address)
                port = self._server.add_insecure_port(address)
        except (RuntimeError, ValueError, OSError) as error:
            raise ConfigurationError(
                "ADDRESS_UNUSABLE", f"The server cannot listen at {address!r}: {str(error)[:200]}", address=address
            ) from error
        if address.startswith("unix:"):
            os.chmod(address.removeprefix("unix:"), stat.S_IRUSR | stat.S_IWUSR)
            return address
        return f"{address.rpartition(':')[0]}:{port}"


def require_safe(settings: ServerSettings) -> None:
    """Raises `ConfigurationError`: TLS_REQUIRED for an address beyond this machine without TLS, ADDRESS_UNUSABLE for one
    that is malformed.
    """
    address = settings.address
    if address.startswith("unix:"):
        if len(address) < len("unix:/x") or not address.startswith("unix:/"):
            raise ConfigurationError("ADDRESS_UNUSABLE", f"{address!r} is no unix:PATH with an absolute path.")
        return
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise ConfigurationError("ADDRESS_UNUSABLE", f"{address!r} is not HOST:PORT.", address=address)
    try:
        local = ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        # A name can lead anywhere: even `localhost` is what a file says.
        local = False
    if not local and settings.tls is None:
        raise ConfigurationError(
            "TLS_REQUIRED",
            f"{host} is no loopback address; the server does not listen there without TLS.",
            address=address,
        )


async def serve(server: ApiServer, stop: asyncio.Event, started: Callable[[str], None] = lambda _address: None) -> None:
    """Serve until `stop` is set, then stop gracefully. `started` is told the address."""
    try:
        started(await server.start())
        await stop.wait()
    finally:
        await server.stop()


def _credentials(tls: TlsFiles) -> grpc.ServerCredentials:
    if tls.client_required and tls.client_ca is None:
        raise ConfigurationError("TLS_UNUSABLE", "Client certificates are required, but no CA of clients is given.")
    if b"PRIVATE KEY-----" not in tls.key or b"-----BEGIN CERTIFICATE-----" not in tls.certificate:
        raise ConfigurationError("TLS_UNUSABLE", "The certificate or its key is no PEM.")
    _require_pair(tls)
    return grpc.ssl_server_credentials(
        [(tls.key, tls.certificate)],
        root_certificates=tls.client_ca,
        require_client_auth=tls.client_required,
    )


def _require_free(address: str) -> None:
    """Raises `OSError` for an address that nobody can listen at: the transport would first print a line of its own."""
    if address.startswith("unix:"):
        return
    host, _, port = address.rpartition(":")
    for family, kind, protocol, _, place in socket.getaddrinfo(
        host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    ):
        with socket.socket(family, kind, protocol) as probe:
            # As the transport does: an ended server's last connections do not keep the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place)


def _make_room(address: str) -> None:
    """Remove a socket that a dead server left; never anything else."""
    path = address.removeprefix("unix:")
    if address.startswith("unix:") and os.path.lexists(path) and stat.S_ISSOCK(os.lstat(path).st_mode):
        os.unlink(path)


def _options() -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", MAX_MESSAGE),
        ("grpc.max_send_message_length", MAX_MESSAGE),
        ("grpc.max_metadata_size", 16 * 1024),
        ("grpc.max_concurrent_streams", 256),
        # Two servers on one port would share its calls in silence.
        ("grpc.so_reuseport", 0),
        # Clients that vanished are noticed; clients that ping without need are cut off.
        ("grpc.keepalive_time_ms", 60_000),
        ("grpc.keepalive_timeout_ms", 20_000),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.max_ping_strikes", 3),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.max_connection_idle_ms", 15 * 60_000),
    ]


def _require_pair(tls: TlsFiles) -> None:
    """The transport would call a key of another certificate an unusable address. Raises `ConfigurationError`."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        certified = x509.load_pem_x509_certificates(tls.certificate)[0].public_key()
        own = load_pem_private_key(tls.key, None).public_key()
        if tls.client_ca is not None:
            x509.load_pem_x509_certificates(tls.client_ca)
    except (ValueError, TypeError) as error:
        raise ConfigurationError(
            "TLS_UNUSABLE", f"The certificate, its key (without a passphrase) or the client CA cannot be read: {error}."
        ) from None
    if certified != own:
        raise ConfigurationError("TLS_UNUSABLE", "The key is not the one of the certificate (the first in its file).")
