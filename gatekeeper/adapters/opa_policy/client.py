"""Questions to an OPA server through opa-python-client, with the limits that the client itself does not keep.

The transport below takes no proxy and no password from the environment, follows no redirect, repeats no question,
reads a bounded body within a deadline, and lets nothing through that is not strict JSON. A started server is reached
over a unix socket in a directory of the gate's own, so that no other user of the machine can stand in for it.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from gatekeeper.errors import ConfigurationError, InputError
from gatekeeper.formats.strict_json import loads
from gatekeeper.records import dataclass

if TYPE_CHECKING:
    from requests import PreparedRequest, Response
    from requests.adapters import HTTPAdapter

MAX_ANSWER_BYTES = 8 * 1024 * 1024
"""Cap on one answer: a server that never stops sending fills no memory."""

MAX_ANSWER_DEPTH = 200
"""Nesting of an answer; the listing of a server's policies holds syntax trees."""

MAX_TOKEN_BYTES = 16 * 1024


class OpaError(Exception):
    """The server is unreachable, slow, or answered with something else than asked. The text says which."""


@dataclass(frozen=True, slots=True)
class NamedServer:
    """A server that the operator runs."""

    url: str
    """`http://127.0.0.1:8181`, or `https://host[:port]`; plain http is for this machine only."""
    token_file: Path | None = None
    """File with the bearer token, read at each connection."""
    ca_file: Path | None = None
    """Certificates that may sign the server's; the system's where None."""

    def __post_init__(self) -> None:
        """Refuse an address that cannot be used as soon as it is named."""
        self.parts()

    def parts(self) -> tuple[str, int, bool]:
        """(host, port, tls). Raises `ConfigurationError` (POLICY_SERVER_ADDRESS)."""

        def bad(why: str) -> ConfigurationError:
            return ConfigurationError(
                "POLICY_SERVER_ADDRESS", f"The OPA server {self.url[:200]!r} cannot be used: {why}."
            )

        try:
            url = urlsplit(self.url)
            host, port = url.hostname, url.port
        except ValueError:
            raise bad("it is no URL") from None
        if url.scheme not in ("http", "https") or not host:
            raise bad("a URL such as http://127.0.0.1:8181 is expected")
        if url.username or url.password or url.query or url.fragment or url.path not in ("", "/"):
            raise bad("only scheme, host and port belong in it; a token goes into a file")
        if url.scheme == "http" and not _loopback(host):
            raise bad("another machine is reached over https only, else anybody on the way could decide")
        return (
            (f"[{host}]" if ":" in host else host),
            port or (443 if url.scheme == "https" else 8181),
            url.scheme == "https",
        )


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Client:
    """One connection to one server. Not thread-safe: the owner holds a lock."""

    def __init__(self, server: NamedServer | Path, wall_s: float) -> None:
        """`server` is a named one, or the path of a unix socket. Raises `OpaError` and `ConfigurationError`."""
        from opa_client.opa import OpaClient

        self._wall_s = wall_s
        if isinstance(server, Path):
            self._opa = OpaClient(host="localhost", port=80, retries=0, timeout=wall_s)
        else:
            host, port, tls = server.parts()
            verify: Any = str(server.ca_file) if tls and server.ca_file else tls
            token = _token(server.token_file) if server.token_file else None
            self._opa = OpaClient(host=host, port=port, ssl=verify, token=token, retries=0, timeout=wall_s)
        session = self._opa._session
        session.trust_env = False
        session.max_redirects = 0
        transport = _transport(server if isinstance(server, Path) else None, wall_s)
        session.mount("http://", transport)
        session.mount("https://", transport)

    def close(self) -> None:
        """Let the connection go."""
        self._opa.close_connection()

    def healthy(self) -> bool:
        """True where the server answers that it is ready."""
        return bool(self._bounded(self._opa.check_health))

    def ask(self, entrypoint: str, document: object) -> dict[str, Any]:
        """The whole answer to one question: `result` and `provenance`. Raises `OpaError`."""
        # Without the first, a built-in that fails is undefined in silence, and a rule that denies would vanish with it.
        wanted = {"strict-builtin-errors": "true", "provenance": "true"}
        answer = self._bounded(lambda: self._opa.query_rule(document, entrypoint, query_params=wanted))
        if not isinstance(answer, dict):
            raise OpaError("the answer is not a JSON object")
        return answer

    def policies(self) -> list[str]:
        """Source of every module that the server holds. Raises `OpaError`."""
        # The client's own listing drops the sources, so the same endpoint is read through its session.
        answer = self._bounded(lambda: self._get("policies"))
        rows = answer.get("result") if isinstance(answer, dict) else None
        if not isinstance(rows, list) or not all(isinstance(r, dict) and isinstance(r.get("raw"), str) for r in rows):
            raise OpaError("the list of policies is not whole")
        return [row["raw"] for row in rows]

    def data(self, path: str) -> Any:
        """The document at a path of `data`. Raises `OpaError`, also where it is undefined."""
        answer = self._bounded(lambda: self._opa.get_data(path))
        if not isinstance(answer, dict) or "result" not in answer:
            raise OpaError(f"data at {path} is undefined")
        return answer["result"]

    def _get(self, path: str) -> Any:
        response = self._opa._session.get(f"{self._opa.root_url}/{path}", timeout=self._opa.timeout)
        response.raise_for_status()
        return response.json()

    def _bounded(self, call: Callable[[], Any]) -> Any:
        """Make the call in a thread of its own and wait for it no longer than the wall limit.

        The library's time-out counts from one byte to the next, also in the headers; this one counts from the start.
        """
        box: list[tuple[bool, Any]] = []

        def run() -> None:
            try:
                box.append((True, call()))
            except Exception as error:
                box.append((False, error))

        thread = threading.Thread(target=run, name="opa-call", daemon=True)
        thread.start()
        thread.join(self._wall_s)
        if not box:
            raise OpaError(f"no answer within {self._wall_s:g} s")
        good, value = box[0]
        if not good:
            if isinstance(value, OpaError):
                raise value
            raise OpaError(_words(value)) from value
        return value


def _words(error: Exception) -> str:
    """One line about a fault, without the text of the server's page."""
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered with status {response.status_code}"
    return f"{type(error).__name__}: {str(error).splitlines()[0][:300] if str(error) else 'no details'}"


def _token(path: Path) -> str:
    try:
        with path.open("rb") as file:
            token = file.read(MAX_TOKEN_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise OpaError(f"the token file {str(path)!r} cannot be read") from None
    if not token or not token.isprintable():
        raise OpaError(f"the token file {str(path)!r} holds no token")
    return token


def _body(response: Response, deadline: float) -> bytes:
    """The whole body, bounded in size and time. Raises `OpaError`."""
    body = bytearray()
    while part := response.raw.read1(65536, decode_content=True):
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise OpaError(f"the answer is larger than {MAX_ANSWER_BYTES} bytes")
        if time.monotonic() > deadline:
            raise OpaError("the answer comes too slowly")
    declared = response.headers.get("Content-Length", "")
    if declared.isdigit() and "Content-Encoding" not in response.headers and int(declared) != len(body):
        raise OpaError("the answer is cut short")
    return bytes(body)


def _transport(unix_socket: Path | None, wall_s: float) -> HTTPAdapter:
    """A transport of `requests` with the limits of this module; classes are made here so that imports stay lazy."""
    from requests import RequestException
    from requests.adapters import HTTPAdapter
    from urllib3.connection import HTTPConnection
    from urllib3.connectionpool import HTTPConnectionPool

    class UnixConnection(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.settimeout(wall_s)
            try:
                connection.connect(str(unix_socket))
            except OSError:
                connection.close()
                raise
            return connection

    class UnixPool(HTTPConnectionPool):
        ConnectionCls = UnixConnection

    class Bounded(HTTPAdapter):
        def get_connection_with_tls_context(
            self, request: Any, verify: Any, proxies: Any = None, cert: Any = None
        ) -> Any:
            if unix_socket is None:
                return super().get_connection_with_tls_context(request, verify, proxies=proxies, cert=cert)
            if pool[0] is None:
                pool[0] = UnixPool("localhost")
            return pool[0]

        def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
            deadline = time.monotonic() + wall_s
            response = super().send(request, *args, **{**kwargs, "stream": True})
            try:
                body = _body(response, deadline)
            except Exception:
                response.close()
                raise
            if response.status_code == 200 and not (request.url or "").endswith("/health"):
                try:
                    loads(
                        body, what="answer", code="INPUT_MALFORMED", max_bytes=MAX_ANSWER_BYTES,
                        max_depth=MAX_ANSWER_DEPTH,
                    )  # fmt: skip
                except InputError as error:
                    raise RequestException(error.message) from error
            response._content = body
            return response

        def close(self) -> None:
            if pool[0] is not None:
                pool[0].close()
            super().close()

    pool: list[UnixPool | None] = [None]
    return Bounded(max_retries=0)
