"""Sources by address: honest ones over https, and servers that are slow, endless, elsewhere or not git."""

from __future__ import annotations

import base64
import os
import shlex
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from git_http import GitServer, certificate

from gatekeeper.adapters.git_mirror import GitMirror, sources
from gatekeeper.adapters.git_mirror.sources import Remotes
from gatekeeper.config import Paths
from gatekeeper.errors import CouldNotCheck, GatekeeperError, UsageError

QUICK = Remotes(loopback_http=True, list_s=20, fetch_s=20, slow_s=5)


@pytest.fixture
def where(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "state", tmp_path / "config")


@pytest.fixture
def pair(make_repo):
    """A repository with a base on main and a head on work, and both commits."""
    repo = make_repo("served")
    base = repo.commit({"a.txt": "one\n", "b.txt": "one\n"}, "base")
    repo.branch("work")
    return repo, base, repo.commit({"a.txt": "two\n"}, "change")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GitServer]:
    with GitServer(tmp_path) as made:
        yield made


def unreachable(gate: GitMirror, url: str, words: str = "", code: str = "SOURCE_UNREACHABLE") -> CouldNotCheck:
    with pytest.raises(CouldNotCheck) as error:
        gate.fetch(url, "main", "work")
    assert (error.value.code, error.value.blame) == (code, "environment"), error.value
    assert words in error.value.message
    return error.value


# --- honest ones ---


def test_https_with_the_operators_certificates(pair, tmp_path: Path, where: Paths) -> None:
    _, base, head = pair
    pem = certificate(tmp_path)
    with GitServer(tmp_path, pem) as server:
        gate = GitMirror(where, replace(QUICK, certificates=pem))
        got = gate.fetch(f"{server.url}/served/.git", "main", head)
        assert (got.base, got.head, got.repository) == (base, head, f"{server.url}/served/.git")
        change = gate.describe(got)
        assert [p.path for p in change.paths] == ["a.txt"]
        unreachable(GitMirror(where, QUICK), f"{server.url}/served/.git", "certificate")


def test_a_bundle_on_a_source_by_address(pair, server: GitServer, make_repo, where: Paths, tmp_path: Path) -> None:
    repo, base, _ = pair
    agent = make_repo("agent")
    agent.git("fetch", "-q", str(repo.path), "main:refs/heads/upstream")
    agent.branch("more", "upstream")
    head = agent.commit({"c.txt": "c\n"}, "more")
    agent.git("bundle", "create", "-q", str(tmp_path / "x.bundle"), "upstream..more")
    gate = GitMirror(where, QUICK)
    with pytest.raises(UsageError) as absent:
        gate.fetch(f"{server.url}/served/.git", "main", head)
    assert absent.value.code == "HEAD_NOT_FOUND"
    got = gate.fetch(f"{server.url}/served/.git", "main", head, str(tmp_path / "x.bundle"))
    assert (got.base, got.head) == (base, head)


def test_a_file_address_is_the_directory(pair, where: Paths) -> None:
    repo, base, head = pair
    gate = GitMirror(where)
    got = gate.fetch(f"file://{repo.path}", "main", head)
    assert (got.base, got.head) == (base, head)
    assert got.path == gate.fetch(str(repo.path), "main", head).path


def test_only_the_operators_credential_helper_is_asked(
    pair, tmp_path: Path, where: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, base, head = pair
    secret = base64.b64encode(b"gate:let-me-in").decode()
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[credential]\n\thelper = !touch asked\n")
    (home / ".netrc").write_text("machine 127.0.0.1 login gate password let-me-in\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_ASKPASS", "/bin/echo")
    with GitServer(tmp_path, user=secret) as server:
        unreachable(GitMirror(where, QUICK), f"{server.url}/served/.git")
        helper = tmp_path / "helper.sh"
        helper.write_text("#!/bin/sh\necho username=gate\necho password=let-me-in\n")
        helper.chmod(0o755)
        gate = GitMirror(where, replace(QUICK, credential_helper=str(helper)))
        assert gate.fetch(f"{server.url}/served/.git", "main", head).base == base
    assert not (home / "asked").exists()


# --- addresses ---


@pytest.mark.parametrize(
    "source",
    [
        "ext::sh -c touch% x", "ext://x", "git://127.0.0.1/x", "ftp://127.0.0.1/x", "http://example.org/x", "https://",
        "https:///x", "https://a:b@127.0.0.1/x", "https://a@127.0.0.1/x", "https://-oProxyCommand=x/x", "ssh://h/x",
        "ssh://-oProxyCommand=x/x", "https://127.0.0.1/x?y=z", "https://127.0.0.1/x#y", "https://127.0.0.1:99999/x",
        "https://127.0.0.1/a b", "https://127.0.0.1/a\nb", "file://example.org/x", "file://x", "http://127.0.0.1.example.org/x",
        "HTTP://example.org/x", "fd::17/x", "transport::https://127.0.0.1/x",
    ],
)  # fmt: skip
def test_addresses_that_are_no_source(source: str, where: Paths) -> None:
    with pytest.raises(UsageError) as refused:
        GitMirror(where, QUICK).fetch(source, "main", "1" * 40)
    assert refused.value.code == "REPOSITORY_UNREADABLE"
    assert "a:b" not in refused.value.message


def test_without_the_operators_settings_no_address_is_fetched_from(pair, server: GitServer, where: Paths) -> None:
    for remotes in (None, Remotes()):
        with pytest.raises(UsageError):
            GitMirror(where, remotes).fetch(f"{server.url}/served/.git", "main", "work")
    assert server.seen == []


def test_ssh_is_told_everything(where: Paths, tmp_path: Path) -> None:
    keyed = replace(QUICK, ssh_key=tmp_path / "key", ssh_known_hosts=tmp_path / "known hosts")
    source = sources.find("ssh://git@127.0.0.1:1/x.git", keyed)
    words = shlex.split(source.environment["GIT_SSH_COMMAND"])
    assert words[:5] == ["ssh", "-F", "/dev/null", "-i", str(tmp_path / "key")]
    assert {"BatchMode=yes", "StrictHostKeyChecking=yes", "IdentityAgent=none"} <= set(words)
    assert source.environment["GIT_ALLOW_PROTOCOL"] == "ssh"
    (tmp_path / "known hosts").touch()
    (tmp_path / "key").touch(mode=0o600)
    unreachable(GitMirror(where, keyed), "ssh://git@127.0.0.1:1/x.git")


# --- servers ---


def test_nobody_answers(where: Paths) -> None:
    unreachable(GitMirror(where, QUICK), "http://127.0.0.1:1/x.git", "onnect")


def test_what_is_not_there_and_what_is_not_git(pair, server: GitServer, where: Paths) -> None:
    gate = GitMirror(where, QUICK)
    unreachable(gate, f"{server.url}/nothing.git")

    def hello(handler) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.end_headers()
        handler.wfile.write(b"<html>hello</html>")
        return True

    server.bend = hello
    unreachable(gate, f"{server.url}/served/.git")


def test_redirects_are_not_followed(pair, tmp_path: Path, server: GitServer, where: Paths) -> None:
    with GitServer(tmp_path) as other:

        def away(handler) -> bool:
            handler.send_response(302)
            handler.send_header("Location", f"{other.url}{handler.path}")
            handler.end_headers()
            return True

        server.bend = away
        unreachable(GitMirror(where, QUICK), f"{server.url}/served/.git")
        assert other.seen == []
        # Nor in the midst of a fetch, nor to another protocol.
        for target in (f"{other.url}/served/.git/git-upload-pack", "file:///etc/passwd"):

            def late(handler, target: str = target) -> bool:
                if handler.command != "POST":
                    return False
                handler.send_response(302)
                handler.send_header("Location", target)
                handler.end_headers()
                return True

            server.bend = late
            unreachable(GitMirror(where, QUICK), f"{server.url}/served/.git")
        assert other.seen == []


def test_a_server_that_only_serves_files_is_not_walked(pair, server: GitServer, where: Paths) -> None:
    repo = pair[0]
    repo.git("update-server-info")
    files = repo.path / ".git"

    def serve_file(handler) -> bool:
        path = files / handler.path.partition("?")[0].removeprefix("/served/.git/")
        found = path.is_file()
        handler.send_response(200 if found else 404)
        handler.end_headers()
        if found:
            handler.wfile.write(path.read_bytes())
        return True

    server.bend = serve_file
    unreachable(GitMirror(where, QUICK), f"{server.url}/served/.git")
    assert not any("/objects/" in path for path, _ in server.seen)


def test_a_cut_history_is_refused_until_it_is_whole(pair, make_repo, tmp_path: Path, server, where: Paths) -> None:
    repo, base, head = pair
    cut = make_repo("cut")
    cut.git("fetch", "-q", "--depth=1", f"file://{repo.path}", "main:refs/heads/main2", "work:refs/heads/work")
    cut.git("update-ref", "refs/heads/main", "main2")
    gate = GitMirror(where, QUICK)
    url = f"{server.url}/cut/.git"
    for _ in range(2):
        unreachable(gate, url, "shallow")
    cut.git("fetch", "-q", "--unshallow", f"file://{repo.path}", "work")
    got = gate.fetch(url, "main", head)
    assert gate.describe(got).merge_base == base


@pytest.mark.parametrize("when", ["list", "fetch"])
def test_a_server_that_never_ends_its_answer(pair, server: GitServer, where: Paths, when: str) -> None:
    def wait(handler) -> bool:
        if when == "fetch" and handler.command != "POST":
            return False
        handler.send_response(200)
        kind = "x-git-upload-pack-result" if handler.command == "POST" else "x-git-upload-pack-advertisement"
        handler.send_header("Content-Type", f"application/{kind}")
        handler.end_headers()
        handler.wfile.write(b"001e# service=git-upload-pack\n" if handler.command != "POST" else b"")
        handler.wfile.flush()
        server.released.wait(60)
        return True

    server.bend = wait
    started = time.monotonic()
    unreachable(GitMirror(where, replace(QUICK, list_s=2, fetch_s=2)), f"{server.url}/served/.git")
    assert time.monotonic() - started < 20


def test_a_trickle_is_given_up_long_before_the_time_is_over(pair, server: GitServer, where: Paths) -> None:
    def trickle(handler) -> bool:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
        handler.end_headers()
        handler.wfile.write(b"001e# service=git-upload-pack\n")
        while not server.released.wait(0.2):
            handler.wfile.write(b"0")
            handler.wfile.flush()
        return True

    server.bend = trickle
    started = time.monotonic()
    unreachable(GitMirror(where, replace(QUICK, list_s=100, slow_s=2)), f"{server.url}/served/.git")
    assert time.monotonic() - started < 60


@pytest.mark.parametrize("when", ["list", "fetch"])
def test_a_server_without_end_fills_neither_memory_nor_disk(
    pair, server: GitServer, where: Paths, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends as fast as it can; what it sends is, for the fetch, the beginning of a pack."""
    monkeypatch.setattr(sources, "_LIST_MEMORY", 256 * 1024**2)
    limited = replace(QUICK, max_bytes=4 * 1024**2, list_s=60, fetch_s=60)
    block = os.urandom(65515)

    def flood(handler) -> bool:
        command = handler.command
        if when == "fetch" and (command != "POST" or not fetching()):
            return False
        handler.send_response(200)
        kind = "x-git-upload-pack-result" if command == "POST" else "x-git-upload-pack-advertisement"
        handler.send_header("Content-Type", f"application/{kind}")
        handler.end_headers()
        if command == "POST":
            handler.wfile.write(b"000dpackfile\n" + b"0011\x01PACK\0\0\0\x02\0\0\0\x01")
            # A blob of a gigabyte, deflated without compression: blocks of 65535 bytes.
            handler.wfile.write(b"000e\x01\xb0\x80\x80\x80\x20\x78\x01")
        while not server.released.is_set():
            handler.wfile.write(b"fff5\x01\x00\xeb\xff\x14\x00" + block[:65515] if command == "POST" else block)
        return True

    def fetching() -> bool:
        # The first POST lists refs; every later one fetches.
        return len([1 for path, _ in server.seen if path.endswith("git-upload-pack")]) > 1

    server.bend = flood
    gate = GitMirror(where, limited)
    with pytest.raises(GatekeeperError) as error:
        gate.fetch(f"{server.url}/served/.git", "main", "work")
    assert error.value.code in ("SOURCE_UNREACHABLE", "FETCH_TOO_LARGE")
    written = sum(f.stat().st_size for f in where.mirrors.rglob("*") if f.is_file())
    assert written < 16 * 1024**2


def test_a_head_that_is_too_large_is_the_changes_and_a_base_the_sources(
    pair, server: GitServer, where: Paths, tmp_path: Path
) -> None:
    repo = pair[0]
    small = replace(QUICK, max_bytes=1024**2)
    large = repo.commit({"big.bin": os.urandom(3 * 1024**2)}, "large")
    gate = GitMirror(where, small)
    with pytest.raises(CouldNotCheck) as head:
        gate.fetch(f"{server.url}/served/.git", "main", large)
    assert (head.value.code, head.value.blame) == ("FETCH_TOO_LARGE", "change"), head.value
    repo.git("branch", "-f", "main", "work")
    with pytest.raises(CouldNotCheck) as target:
        GitMirror(where, small).fetch(f"{server.url}/served/.git", "main", "work")
    assert (target.value.code, target.value.blame) == ("FETCH_TOO_LARGE", "environment")
    assert GitMirror(where, QUICK).fetch(f"{server.url}/served/.git", "main", "work").head == large
