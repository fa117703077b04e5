"""Credentials and the audit log on the command line."""

from __future__ import annotations

import json
import sqlite3
import stat
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.cli import token as cli
from gatekeeper.cli.main import main
from gatekeeper.domain.principal import Role
from gatekeeper.errors import UsageError
from gatekeeper.formats.credentials import is_token


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.setenv("GATEKEEPER_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("GATEKEEPER_CONFIG_DIR", str(tmp_path / "config"))

    def gatekeeper(*arguments: str, status: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["gatekeeper", *arguments])
        assert main() == status, capsys.readouterr()
        shown = capsys.readouterr()
        gatekeeper.told = shown.err  # type: ignore[attr-defined]
        return shown.out

    return gatekeeper


ANN = ("--subject", "ann", "--kind", "human", "--role", "reviewer", "--email", "Ann@Acme.example")


def listed(run: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("token", "list", "--format", "json"))["credentials"]
    return found


def audited(run: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("audit", "list", "--format", "json").splitlines()]


def test_a_secret_is_shown_once_and_stored_nowhere(run: Any, tmp_path: Path) -> None:
    secret = run("token", "create", *ANN, "--comment", "laptop").strip()
    assert is_token(secret)
    stored = b"".join(p.read_bytes() for p in (tmp_path / "state").rglob("*") if p.is_file())
    assert secret.encode() not in stored
    assert sha256(secret.encode()).hexdigest().encode() in stored
    assert secret not in run("token", "list") + run("token", "list", "--format", "json") + run("audit", "list")
    (row,) = listed(run)
    assert row["principal"] == {"issuer": "gatekeeper", "subject": "ann", "kind": "human"}
    assert (row["roles"], row["emails"], row["state"], row["acts_for"]) == (
        ["reviewer"], ["ann@acme.example"], "valid", None
    )  # fmt: skip
    assert "laptop" in run("token", "list")


def test_a_secret_goes_into_a_private_new_file(run: Any, tmp_path: Path) -> None:
    place = tmp_path / "token"
    agent = (
        "token",
        "create",
        "--subject",
        "bot",
        "--kind",
        "agent",
        "--role",
        "agent",
        "--for",
        "ann",
        "--for",
        "bob",
    )
    assert run(*agent, "--output", str(place)) == ""
    assert "only now" not in run.told
    assert str(place) in run.told
    assert is_token(place.read_text().strip())
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    before = place.read_text()
    run(*agent, "--output", str(place), status=2)
    assert place.read_text() == before
    (row,) = listed(run)
    assert row["acts_for"] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("words", "warned"),
    [
        (("--subject", "rita", "--kind", "human", "--role", "reviewer"), True),
        (("--subject", "rita", "--kind", "human", "--role", "reviewer", "--email", "r@x.example"), False),
        (("--subject", "rita@x.example", "--kind", "human", "--role", "reviewer"), False),
        (("--subject", "bot", "--kind", "agent", "--role", "agent"), False),
    ],
)
def test_a_reviewer_without_an_address_is_made_with_a_warning(run: Any, words: tuple[str, ...], warned: bool) -> None:
    assert is_token(run("token", "create", *words).strip())
    assert ("--email" in run.told) is warned


def test_no_file_is_left_of_a_token_that_was_refused(run: Any, tmp_path: Path) -> None:
    run("token", "create", *ANN)
    place = tmp_path / "token"
    run("token", "create", "--subject", "ann", "--kind", "agent", "--role", "agent", "--output", str(place), status=2)
    assert "one name is one principal" in " ".join(run.told.split())
    assert not place.exists()
    assert len(listed(run)) == len(audited(run)) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--subject", "bot", "--kind", "agent", "--role", "reviewer"),
        ("--subject", "ci", "--kind", "service", "--role", "enforcer", "--role", "reviewer"),
        ("--subject", "ann", "--kind", "human", "--role", "king"),
        ("--subject", "ann", "--kind", "cat", "--role", "agent"),
        ("--subject", "ann", "--kind", "human"),
        ("--subject", "", "--kind", "human", "--role", "agent"),
        ("--subject", "a#b", "--kind", "human", "--role", "agent"),
        ("--subject", "a\nb", "--kind", "human", "--role", "agent"),
        ("--subject", " ann", "--kind", "human", "--role", "agent"),
        (*ANN, "--email", "nobody"),
        (*ANN, "--expires", "0d"),
        (*ANN, "--expires", "tomorrow"),
        (*ANN, "--expires", "99999d"),
        (*ANN, "--for", "x\ty"),
        (*ANN, "--comment", "a\x1b[31m"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_stored(run: Any, arguments: tuple[str, ...]) -> None:
    run("token", "create", *arguments, status=2)
    assert listed(run) == []
    assert audited(run) == []


@pytest.mark.parametrize(("text", "expected"), [("30d", 2_592_000), ("12h", 43_200), ("5m", 300), ("never", None)])
def test_how_long_a_credential_lives(text: str, expected: int | None) -> None:
    assert cli.seconds(text) == expected
    record = cli.new_record(
        "a" * 64, subject="s", kind="agent", roles=[Role.AGENT], emails=[], delegators=None, expires=text, comment="",
        issuer="i",
    )  # fmt: skip
    assert (record.expire_time or 0) - (record.create_time if expected else 0) == pytest.approx(expected or 0)


def test_an_end_is_demanded_in_known_words() -> None:
    with pytest.raises(UsageError):
        cli.seconds("1w")


def test_a_revocation_is_kept_and_on_record(run: Any) -> None:
    run("token", "create", *ANN)
    (row,) = listed(run)
    run("token", "revoke", row["id"])
    (row,) = listed(run)
    assert row["state"] == "revoked"
    run("token", "revoke", row["id"])
    assert "before" in run.told
    run("token", "revoke", "unknown", status=2)
    assert "CREDENTIAL_UNKNOWN" in run.told
    entries = audited(run)
    assert [e["action"] for e in entries] == ["token.create", "credential.revoke"]
    assert {e["actor"]["issuer"] for e in entries} == {"os"}
    assert json.loads(entries[0]["details"])["roles"] == ["reviewer"]


def test_a_certificate_is_let_in_once(run: Any, tmp_path: Path) -> None:
    import datetime as dt

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ci")])
    start = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(7)
        .not_valid_before(start).not_valid_after(start + dt.timedelta(days=9)).sign(key, hashes.SHA256())
    )  # fmt: skip
    place = tmp_path / "client.pem"
    place.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    ci = (
        "token",
        "add-certificate",
        "--certificate",
        str(place),
        "--subject",
        "ci",
        "--kind",
        "service",
        "--role",
        "enforcer",
    )
    run(*ci)
    run(*ci, status=2)
    (entry,) = audited(run)
    der = made.public_bytes(serialization.Encoding.DER)
    assert json.loads(entry["details"])["digest"] == sha256(der).hexdigest()
    place.write_text("no certificate")
    run(*ci, status=2)
    assert "CREDENTIAL_MALFORMED" in run.told
    run(*[a if a != str(place) else str(tmp_path / "none") for a in ci], status=2)


def test_the_log_is_verified(run: Any, tmp_path: Path) -> None:
    assert run("audit", "verify").startswith("intact: 0 entries")
    run("token", "create", *ANN)
    found = json.loads(run("audit", "verify", "--format", "json"))
    assert (found["intact"], found["entries"]) == (True, 1)
    run("token", "create", *ANN)
    run("audit", "verify", "--expect", found["digest"])
    run("audit", "verify", "--expect", "a" * 64, status=1)
    assert "AUDIT_BROKEN" in run.told
    run("audit", "verify", "--expect", "A" * 64, status=2)
    with closing(sqlite3.connect(tmp_path / "state/service/gatekeeper.sqlite3")) as raw:
        raw.execute("DROP TRIGGER tr_audit_entries_delete")
        raw.execute("DELETE FROM audit_entries WHERE sequence = 2")
        raw.commit()
    run("audit", "verify", status=1)
    answer = json.loads(run("audit", "verify", "--format", "json", status=1))
    assert (answer["intact"], answer["code"], answer["sequence"]) == (False, "AUDIT_BROKEN", 2)
    run("audit", "anchor")
    assert json.loads(run("audit", "verify", "--format", "json"))["entries"] == 2
    assert [e["action"] for e in audited(run)] == ["token.create", "audit.anchor"]


def test_the_log_is_read_in_parts(run: Any) -> None:
    for _ in range(3):
        run("token", "create", *ANN)
    assert [e["sequence"] for e in audited(run)] == [1, 2, 3]
    assert run("audit", "list", "--after", "1", "--limit", "1").split()[0] == "2"
