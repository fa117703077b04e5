"""Where the server is and how to speak to it: TLS everywhere but on loopback, a token never in clear over a network."""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import TYPE_CHECKING

from gatekeeper.errors import UsageError
from gatekeeper.records import dataclass, field

if TYPE_CHECKING:
    import grpc

MAX_MESSAGE = 4 * 1024 * 1024
"""Bytes of one answer, the API's own cap; a server that sends more is refused instead of filling the memory."""
MAX_PEM = 1024 * 1024
MAX_TOKEN = 4096
_TARGET = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<port>[0-9]{1,5})")

OPTIONS: tuple[tuple[str, str | int], ...] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE),
    ("grpc.max_send_message_length", MAX_MESSAGE),
    # The library waits up to two minutes before it connects again; a gate that restarts is back in seconds.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2000),
    # Nobody but the operator says how calls are made: no service configuration from DNS.
    ("grpc.service_config_disable_resolution", 1),
)


@dataclass(frozen=True, slots=True)
class Target:
    """One server and how to prove who calls."""

    address: str
    """`host:port`, `[v6]:port` or `unix:/path`."""
    token: str = field(default="", repr=False)
    """Secret of `gatekeeper token create`; empty where a client certificate speaks or the server asks for none."""
    ca: bytes | None = field(default=None, repr=False)
    """PEM of the CA that signed the server's certificate; None for the well-known ones."""
    certificate: tuple[bytes, bytes] | None = field(default=None, repr=False)
    """PEM of a client certificate and of its key (mTLS)."""

    @property
    def local(self) -> bool:
        """True where nothing leaves this machine."""
        if self.address.startswith("unix:"):
            return True
        host = self.address.rpartition(":")[0].strip("[]")
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def secure(self) -> bool:
        """True where TLS is spoken: always, but on loopback only where a CA or a certificate is given."""
        return not self.local or self.ca is not None or self.certificate is not None

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes with every call."""
        return (("authorization", f"Bearer {self.token}"),) if self.token else ()


def target_of(
    address: str,
    *,
    token: str | None = "",
    ca: Path | bytes | None = None,
    certificate: tuple[Path | bytes, Path | bytes] | None = None,
) -> Target:
    """A target from what people write; None or "" for no token. Raises `UsageError` that says what is wrong and what is expected."""
    if not address.startswith("unix:"):
        found = _TARGET.fullmatch(address)
        if not found or not 0 < int(found["port"]) < 65536:
            raise UsageError(
                "SERVER_MISSING", f"{address[:200]!r} is no address of a server; expected host:port or unix:/path."
            )
    if not isinstance(token, str | None):
        raise UsageError("CREDENTIAL_MALFORMED", f"The token must be text or None, not {type(token).__name__}.")
    token = (token or "").strip()  # a file ends with a line end
    if len(token) > MAX_TOKEN or not all(0x21 <= ord(c) <= 0x7E for c in token):
        raise UsageError("CREDENTIAL_MALFORMED", "The token holds blanks or characters that no token has.")
    return Target(
        address,
        token,
        _pem(ca, "CA"),
        (_required(certificate[0], "certificate"), _required(certificate[1], "key")) if certificate else None,
    )


def _required(source: Path | bytes, what: str) -> bytes:
    return _pem(source, what) or b""


def _pem(source: Path | bytes | None, what: str) -> bytes | None:
    if source is None or isinstance(source, bytes):
        data = source
    else:
        try:
            with Path(source).open("rb") as handle:
                data = handle.read(MAX_PEM + 1)
        except OSError as error:
            raise UsageError(
                "CREDENTIAL_MALFORMED", f"The {what} {str(source)!r} cannot be read: {error.strerror}."
            ) from error
    if data is not None and (b"-----BEGIN " not in data or len(data) > MAX_PEM):
        raise UsageError("CREDENTIAL_MALFORMED", f"The {what} is not PEM (-----BEGIN ...).")
    return data


def _credentials(target: Target) -> grpc.ChannelCredentials:
    import grpc

    chain, key = target.certificate or (None, None)
    return grpc.ssl_channel_credentials(root_certificates=target.ca, private_key=key, certificate_chain=chain)


def _options(target: Target) -> list[tuple[str, str | int]]:
    # A proxy from the environment would see the token of a local call in clear.
    return [*OPTIONS, *([("grpc.enable_http_proxy", 0)] if target.local else [])]


def open_channel(target: Target) -> grpc.Channel:
    """A channel; it connects at the first call."""
    import grpc

    if target.secure:
        return grpc.secure_channel(target.address, _credentials(target), options=_options(target))
    return grpc.insecure_channel(target.address, options=_options(target))


def open_async_channel(target: Target) -> grpc.aio.Channel:
    """The same for asyncio."""
    import grpc.aio

    if target.secure:
        return grpc.aio.secure_channel(target.address, _credentials(target), options=_options(target))
    return grpc.aio.insecure_channel(target.address, options=_options(target))
