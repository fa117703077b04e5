"""The gate's sockets against clients that do not keep to the rules."""

from __future__ import annotations

import json
import os
import selectors
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatekeeper.adapters.bubblewrap_sandbox import listener as module
from gatekeeper.adapters.bubblewrap_sandbox.listener import Listener, parent_of


class Desk:
    """A listener served by hand: `turn` handles what is ready, and nothing waits."""

    def __init__(self, folder: Path, wanted: str = "") -> None:
        self.listener = Listener(folder, "/repo", wanted)
        self.selector = selectors.DefaultSelector()
        self.listener.register(self.selector)
        self.clients: list[socket.socket] = []

    def turn(self) -> None:
        while ready := self.selector.select(0):
            for key, _ in ready:
                key.data()

    def client(self, path: Path, kind: int) -> socket.socket:
        made = socket.socket(socket.AF_UNIX, kind)
        made.settimeout(5)
        made.connect(str(path))
        self.clients.append(made)
        self.turn()
        return made

    def recorder(self) -> tuple[socket.socket, str]:
        made = self.client(self.listener.records, socket.SOCK_SEQPACKET)
        return made, made.recv(256).decode()

    def close(self) -> None:
        for key in list(self.selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self.selector.close()
        for client in self.clients:
            client.close()
        self.listener.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.close()


def start(nonce: str) -> bytes:
    return json.dumps({"k": "start", "n": 0, "nonce": nonce, "argv": []}).encode()


CONFIG = json.dumps({"k": "config", "n": 1, "rootdir": "/repo", "inifile": None}).encode()


def test_a_session_is_seen_as_far_as_it_came(desk: Desk) -> None:
    client, nonce = desk.recorder()
    client.send(start(nonce))
    client.send(CONFIG)
    client.close()
    desk.turn()
    (session,) = desk.listener.sessions()
    assert not session.complete
    assert "no end record" in session.problems


def test_a_second_connection_of_one_process_is_told(desk: Desk) -> None:
    for _ in range(2):
        client, nonce = desk.recorder()
        client.send(start(nonce))
        client.send(CONFIG)
    desk.turn()
    assert [any("second connection" in p for p in s.problems) for s in desk.listener.sessions()] == [False, True]


def test_nonces_differ_and_a_foreign_one_spoils_the_session(desk: Desk) -> None:
    (one, first), (_, second) = desk.recorder(), desk.recorder()
    assert first != second
    one.send(start(second))
    desk.turn()
    assert any("nonce" in p for p in desk.listener.sessions()[0].problems)


def test_connections_are_counted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_CONNECTIONS", 1)
    desk.recorder()
    late = desk.client(desk.listener.records, socket.SOCK_SEQPACKET)
    assert late.recv(256) == b""


def test_bytes_of_the_whole_run_are_counted(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_RECORDS_BYTES", 100)
    client, nonce = desk.recorder()
    client.send(start(nonce))
    client.send(b"x" * 200)
    desk.turn()
    (session,) = desk.listener.sessions()
    assert any("too many bytes" in p for p in session.problems)


def test_a_client_that_vanishes_before_its_nonce_harms_nobody(desk: Desk) -> None:
    for _ in range(3):
        made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        made.connect(str(desk.listener.records))
        made.close()
    desk.turn()
    assert not any(s.complete for s in desk.listener.sessions())
    assert desk.recorder()[1]


def test_report_files_are_taken_in_pieces_and_capped(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    client = desk.client(desk.listener.reports, socket.SOCK_STREAM)
    for piece in (b"3", b"\nab", b"c2\nde"):
        client.sendall(piece)
        desk.turn()
    assert desk.listener.files() == [b"abc", b"de"]
    monkeypatch.setattr(module, "_MAX_REPORTS_BYTES", 10)
    client.sendall(b"5\nxxxxx")
    desk.turn()
    assert desk.listener.files() == [b"abc", b"de"]
    for _ in range(6):
        desk.client(desk.listener.reports, socket.SOCK_STREAM)
    assert len(desk.listener.files()) == 2


def test_parents() -> None:
    assert parent_of(os.getpid()) == os.getppid()
    assert parent_of(2**31 - 1) == 0
    assert parent_of(1) == 0


def test_only_an_outermost_process_is_told_what_to_collect(tmp_path: Path) -> None:
    desk = Desk(tmp_path, '{"only": ["/repo/test_a.py"], "last": []}')
    try:
        first, greeting = desk.recorder()
        nonce, _, wanted = greeting.partition("\n")
        assert json.loads(wanted) == {"only": ["/repo/test_a.py"], "last": []}
        first.send(json.dumps({"k": "start", "n": 0, "nonce": nonce, "argv": []}).encode())
        desk.turn()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            inner = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            inner.connect(str(desk.listener.records))
            os.write(write, inner.recv(4096))
            os._exit(0)
        os.close(write)
        with selectors.DefaultSelector() as told:
            told.register(read, selectors.EVENT_READ)
            while not told.select(0.01):
                desk.turn()
        said = os.read(read, 4096)
        os.close(read)
        os.waitpid(child, 0)
        assert said
        assert b"\n" not in said
    finally:
        desk.close()
