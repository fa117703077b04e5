"""A loopback HTTP server that stands between a client and a unix-socket server, and misbehaves on demand."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Answer = tuple[int, dict[str, str], bytes]


class _Unix(HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=30)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(str(self._path))


class Between:
    """Forwards every request to the unix socket; `bend(path, answer, handler)` may change or spoil the answer.

    `bend` gives the answer to send, or None where it wrote (or not) to the connection itself.
    """

    def __init__(self, upstream: Path) -> None:
        self.bend: Callable[[str, Answer, BaseHTTPRequestHandler], Answer | None] = lambda _p, a, _h: a
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.released = threading.Event()
        between = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                between.seen.append((self.path, dict(self.headers)))
                connection = _Unix(upstream)
                connection.request(self.command, self.path, body, {"Content-Type": "application/json"})
                reply = connection.getresponse()
                answer: Answer | None = (reply.status, {"Content-Type": "application/json"}, reply.read())
                connection.close()
                answer = between.bend(self.path, answer, self)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, data = answer
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = _serve

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *args: object) -> None:
                pass  # a client that hangs up is what these tests are about

        self._server = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
