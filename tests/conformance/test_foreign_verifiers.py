"""Tools that are not ours judge what we sign."""

from __future__ import annotations

import base64
import copy
import json
import shutil
import subprocess
from pathlib import Path

import attested
import pytest

from gatekeeper.adapters.local_key_signer import LocalKeySigner, load_key, public_pem
from gatekeeper.formats.dsse import pae
from gatekeeper.formats.sigstore_bundle import parse_bundle


def signed(folder: Path) -> tuple[Path, dict[str, object], bytes]:
    signer = LocalKeySigner(folder / "k" / "key.pem")
    c = attested.change()
    data = attested.bundles(attested.verdict(c, attested.outcome(c), signer), signer)[-1]
    return folder / "k" / "key.pem", json.loads(data), data


def test_securesystemslib(tmp_path: Path) -> None:
    from securesystemslib.dsse import Envelope
    from securesystemslib.signer import SSlibKey

    path, document, data = signed(tmp_path)
    key = SSlibKey.from_crypto(load_key(path).public_key(), keyid=parse_bundle(data).keyid)
    envelope = Envelope.from_dict(copy.deepcopy(document["dsseEnvelope"]))
    assert list(envelope.verify([key], 1)) == [key.keyid]


def test_sigstore_models(tmp_path: Path) -> None:
    from sigstore_models.bundle.v1 import Bundle

    _, document, data = signed(tmp_path)
    bundle = Bundle.from_json(data)
    assert bundle.media_type == document["mediaType"]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_openssl_and_ssh_keygen_fingerprint(tmp_path: Path) -> None:
    path, document, data = signed(tmp_path)
    envelope = parse_bundle(data)
    (tmp_path / "pub").write_text(public_pem(path))
    (tmp_path / "sig").write_bytes(envelope.signature)
    (tmp_path / "pae").write_bytes(pae(envelope.payload))
    command = ["openssl", "dgst", "-sha256", "-verify", "pub", "-signature", "sig", "pae"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    assert base64.b64decode(document["dsseEnvelope"]["payload"]) == envelope.payload  # type: ignore[index]
