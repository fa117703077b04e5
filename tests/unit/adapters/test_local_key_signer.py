"""Key files: how they are made, and which are refused."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from gatekeeper.adapters.local_key_signer import LocalKeySigner, load_key, new_key
from gatekeeper.errors import ConfigurationError, CouldNotCheck


def test_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "keys" / "k.pem"
    first = LocalKeySigner(path).public
    assert LocalKeySigner(path).public == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with pytest.raises(FileExistsError):
        new_key(path)
    assert [p.name for p in path.parent.iterdir()] == ["k.pem"]


def test_refused_files(tmp_path: Path) -> None:
    good = tmp_path / "k.pem"
    new_key(good)
    (tmp_path / "link").symlink_to(good)
    other = tmp_path / "ed"
    other.write_bytes(Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    other.chmod(0o600)
    for path in (tmp_path / "link", other, tmp_path / "none", tmp_path):
        with pytest.raises(ConfigurationError) as caught:
            load_key(path)
        assert caught.value.code == "KEY_UNUSABLE"
    load_key(good)
    good.chmod(0o640)
    with pytest.raises(ConfigurationError):
        load_key(good)
    with pytest.raises(CouldNotCheck) as failed:
        LocalKeySigner(good).sign({})
    assert failed.value.code == "SIGNING_FAILED"
