"""Clients made by others from the .proto files alone work against the real server: a Go client, and grpcurl."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from served_gate import Served, claim, prepared, served_gate

from gatekeeper.config import libexec

ROOT = Path(__file__).parents[3]
REPOSITORY = "owners/acme/repositories/shop"


def program(name: str) -> Path:
    """A built client; where it is missing, a visible skip that CI does not accept."""
    found = libexec() / "api-clients" / name
    if not found.is_file():
        words = f"{name} is missing; `make api-clients` builds it"
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    return found


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory, state_dir: Path) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("foreign")
    with served_gate(folder, state_dir / "foreign", "--environment", "host", "--reflection") as made:
        yield made


@pytest.fixture(scope="module")
def head(gate: Served, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A commit to submit; repository and approved ticket are on the server."""
    return prepared(gate, tmp_path_factory.mktemp("source")).head


def go_client(gate: Served, *words: str, as_: str = "agent") -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "GATEKEEPER_TOKEN": gate.tokens.get(as_, as_)}
    return subprocess.run(
        [str(program("gate-client")), "-server", gate.address, "-repository", REPOSITORY, *words],
        capture_output=True, text=True, timeout=180, env=env, check=False,
    )  # fmt: skip


def grpcurl(
    gate: Served, *words: str, proto: bool, as_: str = "agent", data: object = None
) -> subprocess.CompletedProcess[str]:
    source = ["-import-path", str(ROOT / "proto"), "-proto", "gatekeeper/api/v1/verifications.proto"] if proto else []
    token = ["-H", f"authorization: Bearer {gate.tokens[as_]}"] if as_ else []
    sent = ["-d", json.dumps(data)] if data is not None else []
    return subprocess.run(
        [str(program("grpcurl")), "-plaintext", *source, *token, *sent, gate.address, *words],
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


def test_a_go_client_submits_and_watches_to_the_verdict(gate: Served, head: str, tmp_path: Path) -> None:
    document = tmp_path / "claim.json"
    document.write_text(json.dumps(claim(head)))
    done = go_client(
        gate, "-change", "go-1", "-head", head, "-ticket", f"{REPOSITORY}/tickets/T-1", "-claim", str(document)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0][0] == "submitted"
    revisions = [int(row[0]) for row in rows[1:]]
    assert revisions == sorted(set(revisions))
    assert rows[-1][1:] == ["STATE_DECIDED", "VERDICT_ACCEPTED"], done.stdout
    assert gate.cli("show", rows[0][1], as_="enforcer").returncode == 0


@pytest.mark.parametrize(
    ("words", "as_", "expected"),
    [
        (("-ticket", f"{REPOSITORY}/tickets/T-9"), "agent", "error NotFound TICKET_UNKNOWN"),
        (("-ticket", f"{REPOSITORY}/tickets/T-1"), "gk_nobody", "error Unauthenticated CREDENTIAL_INVALID"),
        (("-ticket", f"{REPOSITORY}/tickets/T-1"), "enforcer", "error PermissionDenied ROLE_REQUIRED"),
    ],
)
def test_a_go_client_reads_the_reason_of_a_refusal(gate: Served, head: str, words, as_: str, expected: str) -> None:
    done = go_client(gate, "-change", "go-2", "-head", head, *words, as_=as_)
    assert (done.returncode, done.stdout.strip()) == (1, expected)


@pytest.mark.parametrize("proto", [True, False], ids=["from the .proto files", "by reflection"])
def test_grpcurl_submits_and_watches(gate: Served, head: str, proto: bool) -> None:
    service = "gatekeeper.api.v1.VerificationService"
    request = {
        "parent": REPOSITORY, "change_key": f"curl-{int(proto)}", "target_ref": "refs/heads/main", "head_commit": head,
        "ticket": f"{REPOSITORY}/tickets/T-1", "request_id": str(uuid.uuid4()),
        "claim_document": base64.b64encode(json.dumps(claim(head)).encode()).decode(),
    }  # fmt: skip
    done = grpcurl(gate, f"{service}/Submit", proto=proto, data=request)
    assert done.returncode == 0, done.stderr
    name = json.loads(done.stdout)["verification"]["name"]
    done = grpcurl(gate, f"{service}/WatchVerification", proto=proto, data={"name": name})
    assert done.returncode == 0, done.stderr
    assert '"state": "STATE_DECIDED"' in done.stdout
    assert '"verdict": "VERDICT_ACCEPTED"' in done.stdout
    done = grpcurl(gate, f"{service}/GetVerification", proto=proto, data={"name": name + "0"})
    assert done.returncode != 0
    assert "Code: NotFound" in done.stderr
    assert "type.googleapis.com/google.rpc.ErrorInfo" in done.stderr
    if proto:
        # The gate's .proto files import nothing but well-known types, so grpcurl shows the bytes of the ErrorInfo.
        encoded = re.search(r'"@value":\s*"([^"]+)"', done.stderr)
        assert encoded is not None, done.stderr
        assert b"VERIFICATION_UNKNOWN" in base64.b64decode(encoded[1])
    else:
        assert '"reason": "VERIFICATION_UNKNOWN"' in done.stderr


def test_grpcurl_lists_every_service_by_reflection(gate: Served) -> None:
    done = grpcurl(gate, "list", proto=False)
    assert done.returncode == 0, done.stderr
    services = {line.removeprefix("gatekeeper.api.v1.") for line in done.stdout.split()}
    assert {
        "ArtifactService", "AttestationService", "AuditService", "ChangeService", "EventService", "RepositoryService",
        "ReviewService", "TicketService", "UsageService", "VerificationService", "grpc.health.v1.Health",
    } <= services  # fmt: skip
