"""Real pushes against a real pre-receive hook."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import attested
import pytest

from gatekeeper.adapters.git_mirror.enforcer import EnforcerRepository
from gatekeeper.adapters.local_key_signer import LocalKeySigner
from gatekeeper.cli.hook import install_hook, script
from gatekeeper.errors import UsageError

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    **{
        f"GIT_{who}_{what}": f"a@{who.lower()}.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    },
}
NOTES = "refs/notes/attestations"


class Server:
    """A bare repository with the hook, a clone, and a gate's key."""

    def __init__(self, folder: Path) -> None:
        self.bare, self.work = folder / "bare.git", folder / "work"
        self.key = folder / "keys" / "gate.pem"
        self.signer = LocalKeySigner(self.key)
        self.verifier = self.signer.verifier_id
        self.trust = folder / "trust.toml"
        self.trust.write_text(attested.trust_text(self.signer, self.key, str(self.bare)))
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(self.bare)], check=True, env=ENV)
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.work)], check=True, env=ENV)
        self.base = self.commit("one")
        assert self.push("HEAD:refs/heads/main") == ""
        git_dir = EnforcerRepository(self.bare).git_dir
        install_hook(git_dir, script(git_dir, self.trust, []), force=False)

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", "-C", str(self.work), *args], check=True, env=ENV, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, text: str) -> str:
        (self.work / "file").write_text(text)
        self.git("add", "file")
        self.git("commit", "-q", "-m", text)
        return self.git("rev-parse", "HEAD")

    def attest(self, base: str, head: str, tree: str) -> None:
        c = attested.change(base, head, tree, str(self.bare))
        now = time.time()
        signed = attested.bundles(attested.verdict(c, attested.outcome(c), self.signer, now), self.signer)
        note = self.work / "note"
        note.write_bytes(b"\n".join(signed))
        self.git("notes", "--ref", NOTES, "add", "-f", "-F", str(note), head)

    def push(self, *refs: str) -> str:
        """The remote's words where the push was refused, else nothing."""
        done = subprocess.run(
            ["git", "-C", str(self.work), "push", "-q", str(self.bare), *refs], env=ENV, capture_output=True, text=True
        )
        return "" if done.returncode == 0 else done.stderr or "?"


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


def test_pushes(server: Server) -> None:
    head = server.commit("two")
    assert "ATTESTATION_MISSING" in server.push("HEAD:refs/heads/main")
    assert server.push("HEAD:refs/heads/topic") == ""
    server.attest(server.base, head, server.git("rev-parse", f"{head}^{{tree}}"))
    later = server.commit("three")
    assert "ATTESTATION_MISSING" in server.push(f"{later}:refs/heads/main", NOTES)
    # The verdict comes with the push itself: it is read inside git's quarantine.
    assert server.push(f"{head}:refs/heads/main", NOTES) == ""
    assert "PUSH_DELETES" in server.push(":refs/heads/main")
    assert "PUSH_REWRITES" in server.push(f"+{server.base}:refs/heads/main")


def test_tested_merge_lands_and_edited_merge_does_not(server: Server) -> None:
    server.git("checkout", "-q", "-b", "topic")
    head = server.commit("two")
    server.git("checkout", "-q", "main")
    server.git("merge", "-q", "--no-ff", "-m", "land", "topic")
    merge, tree = server.git("rev-parse", "HEAD"), server.git("rev-parse", "HEAD^{tree}")
    server.attest(server.base, head, tree)
    (server.work / "file").write_text("edited at the merge")
    server.git("commit", "-q", "-a", "--amend", "-m", "land")
    assert "ATTESTATION_TREE" in server.push("HEAD:refs/heads/main", NOTES)
    assert server.push(f"{merge}:refs/heads/main", NOTES) == ""


def test_moved_base_is_refused(server: Server) -> None:
    other, head = server.commit("two"), server.commit("three")
    server.attest(other, head, server.git("rev-parse", "HEAD^{tree}"))
    assert "ATTESTATION_BASE_MOVED" in server.push("HEAD:refs/heads/main", NOTES)


def test_a_broken_trust_file_refuses(server: Server) -> None:
    head = server.commit("two")
    server.attest(server.base, head, server.git("rev-parse", "HEAD^{tree}"))
    text = server.trust.read_text()
    server.trust.write_text("typo = 1\n" + text)
    assert "TRUST_MALFORMED" in server.push("HEAD:refs/heads/main", NOTES)
    server.trust.write_text(text)
    assert server.push("HEAD:refs/heads/main", NOTES) == ""


def test_verify_command_opens_no_socket(server: Server) -> None:
    head = server.commit("two")
    server.attest(server.base, head, server.git("rev-parse", "HEAD^{tree}"))
    server.push(NOTES, "HEAD:refs/heads/topic")
    program = (
        "import socket, sys\n"
        "def no(*a, **k): raise SystemExit(99)\n"
        "socket.socket.connect = no; socket.getaddrinfo = no\n"
        "from gatekeeper.cli.main import main\n"
        "sys.exit(main())\n"
    )
    command = [sys.executable, "-c", program, "verify", "--repo", str(server.bare), "--trust", str(server.trust)]
    good = subprocess.run([*command, "--commit", head, "--ref", "refs/heads/main"], capture_output=True, text=True)
    assert good.returncode == 0, good.stdout + good.stderr
    bad = subprocess.run(
        [*command, "--commit", head, "--ref", "refs/heads/other", "--old", server.base], capture_output=True, text=True
    )
    assert bad.returncode == 1
    assert "ATTESTATION_OTHER_BRANCH" in bad.stdout


def test_a_foreign_hook_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "pre-receive").write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(UsageError):
        install_hook(tmp_path, "x", force=True)
    assert (tmp_path / "hooks" / "pre-receive").read_text() == "#!/bin/sh\nexit 0\n"
