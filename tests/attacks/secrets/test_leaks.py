"""Ways to bring a credential in, and what only looks like one."""

from __future__ import annotations

import base64
import hashlib
import os
import stat
import string
from pathlib import Path

import pytest
from scan_evidence import evidence_of

from gatekeeper.adapters.kingfisher_scanner.pepper import load_pepper
from gatekeeper.adapters.kingfisher_scanner.scanner import KingfisherScanner
from gatekeeper.checks import leaked_secrets
from gatekeeper.config import Paths
from gatekeeper.errors import CouldNotCheck


def made(label: str, length: int) -> str:
    """Letters and digits that look drawn at random: made while the test runs, so that this file holds no token at all."""
    digits = string.ascii_letters + string.digits
    blocks = b"".join(hashlib.sha256(f"{label}{i}".encode()).digest() for i in range(length // 32 + 1))
    return "".join(digits[b % len(digits)] for b in blocks[:length])


GITHUB = "ghp_" + made("host", 36)
MODEL = "sk-proj-" + made("model", 40) + "_" + made("more", 20)
PASSWORD = made("password", 8) + "#" + made("rest", 7)
CLAIMS = [base64.urlsafe_b64encode(t).decode().rstrip("=") for t in (b'{"alg":"HS256"}', b'{"user":"admin","id":987}')]
KEY = "-----BEGIN RSA PRIVATE " + "KEY-----\n" + base64.b64encode(bytes(range(3, 250)) * 3).decode() + "\n"


@pytest.fixture(scope="module")
def scanner(gate_paths: Paths):
    made = KingfisherScanner(gate_paths.cache, gate_paths.state)
    made.start()
    yield made
    made.close()


ATTACKS = {
    "plain": f'TOKEN = "{GITHUB}"',
    "zero width inside": f'TOKEN = "{GITHUB[:12]}\u200b{GITHUB[12:]}"',
    "split literal": f'TOKEN = ("{GITHUB[:12]}"\n  "{GITHUB[12:]}")',
    "added literals": f'TOKEN = "{GITHUB[:12]}" + "{GITHUB[12:]}"',
    "utf-16": f'TOKEN = "{GITHUB}"'.encode("utf-16"),
    "utf-16 without mark": f'TOKEN = "{GITHUB}"'.encode("utf-16-le"),
    "base64": base64.b64encode(GITHUB.encode()),
    "allow comment": f'TOKEN = "{GITHUB}"  # kingfisher:ignore gitleaks:allow nosecret',
    "holds the word false": "ghp_" + "false" + made("false", 31),
    "private key": f"KEY = '''{KEY}'''",
    "private key in one line": "KEY = " + repr(KEY),
    "password": f'password = "{PASSWORD}"',
    "connection": f"postgres://app:{made('database', 14)}@db.corp.internal/x",
    "model key": MODEL,
    "jwt": ".".join([*CLAIMS, made("signature", 32)]),
}


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.parametrize("path", ["app.py", "package-lock.json", "node_modules/a/x.svg"])
def test_leak_is_found_and_redacted(scanner, name, path):
    found = leaked_secrets.check(evidence_of({}, {path: ATTACKS[name]}, secrets=scanner))
    assert [f.code for f in found] == ["SECRET_IN_FILE"], found
    assert found[0].effect.value == "blocks"
    text = repr(found)
    assert GITHUB not in text
    assert not [s for s in (MODEL, PASSWORD, made("database", 14), made("signature", 32)) if s in text]


HONEST = {
    "vendor's example": "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\nAWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "placeholder": 'password = "changeme123"\nAPI_KEY = "your-api-key-here-1"\ntoken = "xxxxxxxxxxxxxxxxxxxx"',
    "public key": "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----",
    "hashes": '"integrity": "sha512-kJ8mQ2vLp9xR4tkJ8mQ2vLp9xR4tkJ8mQ2vLp9xR4tkJ8mQ2vLp9xR4t=="\ntoken_sha256 = "d41d8cd98f00b204e9800998ecf8427e"',
    "uuid": 'secret_id = "6fa459ea-ee8a-3ca4-894e-db77e160355e"',
    "references": "token = settings.API_TOKEN2\npassword = os.environ['APP_PASSWORD_1']\nsecret: ${{ secrets.DEPLOY_KEY1 }}",
    "development database": "url = postgres://postgres:postgres@localhost:5432/test",
    "image": "logo = 'data:image/png;base64," + base64.b64encode(bytes(range(256)) * 2).decode() + "'",
    "code": "def parse_token(token): return token.split('.')[0]\nself.token = tokenizer.next_token1Value",
}


@pytest.mark.parametrize("name", HONEST)
def test_lookalike_passes(scanner, name):
    assert leaked_secrets.check(evidence_of({}, {"docs/a.md": HONEST[name]}, secrets=scanner)) == ()


def test_removed_again_is_still_in_the_branch(scanner):
    found = leaked_secrets.check(evidence_of({}, {"b.py": "1"}, middle=[{"a.py": ATTACKS["plain"]}], secrets=scanner))
    assert [f.code for f in found] == ["SECRET_IN_HISTORY"]


def test_message_is_read(scanner):
    found = leaked_secrets.check(evidence_of({}, {"b.py": "1"}, message=f"use {GITHUB}", secrets=scanner))
    assert [f.code for f in found] == ["SECRET_IN_MESSAGE"]


def test_name_of_a_file_is_read_and_not_repeated(scanner):
    found = leaked_secrets.check(evidence_of({}, {f"keys/{GITHUB}.txt": "1"}, secrets=scanner))
    assert [f.code for f in found] == ["SECRET_IN_FILE"]
    assert GITHUB not in repr(found)


def test_secret_of_the_base_is_not_the_changes(scanner):
    old = f'TOKEN = "{GITHUB}"\n'
    assert leaked_secrets.check(evidence_of({"a.py": old}, {"a.py": old + "x = 1\n"}, secrets=scanner)) == ()


def test_same_secret_in_two_files_is_one_finding(scanner):
    assert len(leaked_secrets.check(evidence_of({}, {"a.py": GITHUB, "b.py": GITHUB}, secrets=scanner))) == 1


def test_line_after_joined_literals(scanner):
    text = f'a = ("x"\n  "y")\nTOKEN = ("{GITHUB[:12]}"\n  "{GITHUB[12:]}")\n'
    (found,) = leaked_secrets.check(evidence_of({}, {"a.py": text}, secrets=scanner))
    assert found.line == 3


def test_pepper_is_private_and_stays(tmp_path: Path):
    first = load_pepper(tmp_path)
    file = tmp_path / "secret-pepper"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert load_pepper(tmp_path) == first
    assert os.listdir(tmp_path) == ["secret-pepper"]


@pytest.mark.parametrize("fault", ["open", "short", "link"])
def test_bad_pepper_is_refused(tmp_path: Path, fault):
    file = tmp_path / "secret-pepper"
    file.write_bytes(b"x" * (5 if fault == "short" else 32))
    file.chmod(0o644 if fault == "open" else 0o600)
    if fault == "link":
        file.rename(tmp_path / "other")
        file.symlink_to("other")
    with pytest.raises(CouldNotCheck) as caught:
        load_pepper(tmp_path)
    assert caught.value.code == "SECRET_SCAN_FAILED"
