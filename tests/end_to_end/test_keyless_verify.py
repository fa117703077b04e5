"""A keyless verdict through `gatekeeper verify` and through the hook's path, in processes of their own and offline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import attested
import pytest
from local_sigstore import LocalSigstore

from gatekeeper.adapters.sigstore_signer import KeylessSettings, SigstoreSigner

GATE = "https://ci.example/gate"
BLOCKED = """
import socket, sys
def refuse(*args, **kwargs):
    raise AssertionError("verify opened a connection")
socket.socket.connect = refuse
socket.create_connection = refuse
sys.argv = ["gatekeeper", *sys.argv[1:]]
from gatekeeper.cli.main import main
sys.exit(main())
"""


@pytest.fixture
def judged(make_repo, tmp_path: Path):
    """A repository with a change, its keyless verdict in a file, and the parts of the trust file."""
    repo = make_repo()
    base = repo.commit({"file": "one"})
    head = repo.commit({"file": "two"})
    tree = repo.git("rev-parse", f"{head}^{{tree}}")
    instance = LocalSigstore()
    config, root = instance.write(tmp_path)
    (tmp_path / "token").write_text(instance.token(GATE))
    signer = SigstoreSigner(KeylessSettings(config, GATE, instance.issuer, "urn:gate", token_file=tmp_path / "token"))
    c = attested.change(base, head, tree, str(repo.path))
    made = attested.bundles(attested.verdict(c, attested.outcome(c), signer, time.time()), signer)
    (tmp_path / "bundles").write_bytes(b"\n".join(made))
    instance.close()
    return repo, base, head, instance, root


def verify(tmp_path: Path, repo, base: str, head: str, pins: dict[str, str]) -> tuple[int, dict]:
    rows = "".join(f"{name} = {json.dumps(value)}\n" for name, value in pins.items())
    (tmp_path / "trust.toml").write_text(
        f'repositories = ["{repo.path}"]\n[[signer]]\nverifier_id = "urn:gate"\n{rows}'
        f'[[policy]]\nname = "base"\ndigests = ["{attested.DIGEST}"]\n'
    )
    options = ["--repo", str(repo.path), "--commit", head, "--old", base, "--ref", "refs/heads/main"]
    options += ["--trust", str(tmp_path / "trust.toml"), "--bundle", str(tmp_path / "bundles"), "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, "verify", *options],
        capture_output=True, text=True, timeout=120, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout or "{}") | {"stderr": done.stderr}


def test_pinned_identity_proves_offline_and_every_other_pin_refuses(judged, tmp_path):
    repo, base, head, instance, root = judged
    pins = {"issuer": instance.issuer, "subject": GATE, "trusted_root": str(root)}
    status, told = verify(tmp_path, repo, base, head, pins)
    assert (status, told.get("proven")) == (0, True), told
    assert told["keyid"] == f"{GATE} ({instance.issuer})"
    for change, code in (
        ({"issuer": "https://id.example"}, "ATTESTATION_IDENTITY"),
        ({"subject": GATE + "/other"}, "ATTESTATION_IDENTITY"),
    ):
        status, told = verify(tmp_path, repo, base, head, pins | change)
        assert (status, told.get("code")) == (1, code), told
    other = LocalSigstore()
    other.close()
    (tmp_path / "other").mkdir()
    status, told = verify(tmp_path, repo, base, head, pins | {"trusted_root": str(other.write(tmp_path / "other")[1])})
    assert (status, told.get("code")) == (1, "ATTESTATION_CERTIFICATE"), told
    status, told = verify(tmp_path, repo, base, head, pins | {"trusted_root": str(tmp_path / "none")})
    assert status == 2
    assert "KEYLESS_UNUSABLE" in told["stderr"]
