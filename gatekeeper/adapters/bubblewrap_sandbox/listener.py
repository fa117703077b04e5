"""The gate's sockets of one run: records of pytest processes, and report files that an opaque command wrote.

Whoever connects is hostile: connections, bytes and files are all counted, for the run as a whole.
"""

from __future__ import annotations

import os
import selectors
import socket
from pathlib import Path

from gatekeeper.adapters.bubblewrap_sandbox.command import MAX_REPORTS
from gatekeeper.adapters.bubblewrap_sandbox.records import MAX_PACKET, Connection
from gatekeeper.domain.testrun import Session

_MAX_CONNECTIONS = 512
_MAX_RECORDS_BYTES = 128 * 1024 * 1024
_MAX_REPORTS_BYTES = 64 * 1024 * 1024


class Listener:
    """The sockets of one run: records of pytest processes, and report files."""

    def __init__(self, directory: Path, root: str, wanted: str = "") -> None:
        """`wanted` is what the recorder of an outermost pytest process is told to collect, as JSON; empty: everything."""
        self._root = root
        self._wanted = wanted
        self._peers: list[tuple[int, Connection]] = []
        self._nested: set[int] = set()
        self._reports: list[bytearray] = []
        self._total = 0
        self._recorded = 0
        self.records = directory / "records"
        self.reports = directory / "reports"
        descriptor = os.open(directory, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._records = _listening(descriptor, self.records.name, socket.SOCK_SEQPACKET)
            self._files = _listening(descriptor, self.reports.name, socket.SOCK_STREAM)
        finally:
            os.close(descriptor)

    def register(self, selector: selectors.BaseSelector) -> None:
        """Serve both sockets from `selector`; each key's data is what to call when it is ready."""
        selector.register(self._records, selectors.EVENT_READ, lambda: self._accept_records(selector))
        selector.register(self._files, selectors.EVENT_READ, lambda: self._accept_files(selector))

    def _accept_records(self, selector: selectors.BaseSelector) -> None:
        try:
            peer, _ = self._records.accept()
        except OSError:
            return
        if len(self._peers) >= _MAX_CONNECTIONS:
            peer.close()
            return
        peer.setblocking(False)
        pid = int.from_bytes(peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], "little")
        connection = Connection(os.urandom(16).hex(), self._root, second=any(p == pid for p, _ in self._peers))
        nested = self._inside_another(pid)
        if nested:
            self._nested.add(len(self._peers))
        self._peers.append((pid, connection))
        # A nested process is pytest under test, or a worker, which its own controller tells what to collect.
        greeting = f"{connection.nonce}\n{self._wanted}" if self._wanted and not nested else connection.nonce
        try:
            peer.send(greeting.encode("ascii"))
        except OSError:
            peer.close()
            return
        selector.register(peer, selectors.EVENT_READ, lambda: self._read_records(selector, peer, connection))

    def _inside_another(self, pid: int) -> bool:
        """True where an ancestor is a pytest process in the midst of its session: a worker, or pytest under test."""
        running = {p for p, c in self._peers if not c.ended and p != pid}
        for _ in range(64):
            pid = parent_of(pid)
            if pid <= 1:
                return False
            if pid in running:
                return True
        return False

    def _read_records(self, selector: selectors.BaseSelector, peer: socket.socket, connection: Connection) -> None:
        for _ in range(64):
            try:
                packet = peer.recv(MAX_PACKET + 1)
            except BlockingIOError:
                return
            except OSError:
                packet = b""
            self._recorded += len(packet)
            if self._recorded > _MAX_RECORDS_BYTES:
                connection.refuse("too many bytes of records in this run")
            elif packet:
                connection.feed(packet)
            if not packet or connection.closed:
                selector.unregister(peer)
                peer.close()
                return

    def _accept_files(self, selector: selectors.BaseSelector) -> None:
        try:
            peer, _ = self._files.accept()
        except OSError:
            return
        if len(self._reports) >= 4:
            peer.close()
            return
        peer.setblocking(False)
        buffer = bytearray()
        self._reports.append(buffer)
        selector.register(peer, selectors.EVENT_READ, lambda: self._read_files(selector, peer, buffer))

    def _read_files(self, selector: selectors.BaseSelector, peer: socket.socket, buffer: bytearray) -> None:
        try:
            data = peer.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._total += len(data)
        if data and self._total <= _MAX_REPORTS_BYTES:
            buffer += data
            return
        selector.unregister(peer)
        peer.close()

    def sessions(self) -> list[Session]:
        """Sessions of top-level pytest processes, in the order in which they began."""
        return [
            c.session()
            for index, (_, c) in enumerate(self._peers)
            if index not in self._nested and not c.worker and c.started
        ]

    def files(self) -> list[bytes]:
        """Report files that were handed over; one cut short is left as it is and will not parse."""
        found: list[bytes] = []
        for buffer in self._reports:
            found += split_files(buffer)
        return found

    def close(self) -> None:
        """Stop listening."""
        self._records.close()
        self._files.close()


def split_files(stream: bytes | bytearray) -> list[bytes]:
    """The files in `<length>`, newline, `<content>`, and so on, at most one more than `MAX_REPORTS`; a broken rest is one empty file.

    A file that is cut short, and an empty one, do not parse as a report, so nothing is lost in silence.
    """
    found: list[bytes] = []
    at = 0
    while at < len(stream) and len(found) <= MAX_REPORTS:
        newline = stream.find(b"\n", at, at + 10)
        digits = bytes(stream[at:newline]) if newline > at else b""
        if not digits.isdigit():
            found.append(b"")
            break
        at = newline + 1 + int(digits)
        found.append(bytes(stream[newline + 1 : at]))
    return found


def _listening(directory: int, name: str, kind: int) -> socket.socket:
    made = socket.socket(socket.AF_UNIX, kind)
    # Through the descriptor: the path of a socket may have 107 bytes only, whatever the state directory is called.
    path = f"/proc/self/fd/{directory}/{name}"
    made.bind(path)
    os.chmod(path, 0o666)  # noqa: S103 - the sandbox user connects; the directory has no list
    made.listen(64)
    made.setblocking(False)
    return made


def parent_of(pid: int) -> int:
    """The parent of a process, 0 where there is none to be seen."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
        return int(text.rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0
