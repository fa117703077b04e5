"""`gatekeeper check` with the engine and the signer that the gate's settings choose."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from local_sigstore import LocalSigstore
from opa_program import opa_program

from gatekeeper.adapters.sigstore_signer import verify_keyless
from gatekeeper.domain.trust import Identity

GATE = "https://ci.example/gate"
SUITE = "from app import one\n\n\ndef test_one():\n    assert one() == 1\n"
JUNIT = (
    '<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="1">'
    '<testcase classname="tests.test_app" name="test_one" time="0.01"/></testsuite></testsuites>'
)


@pytest.fixture
def judge(make_repo, tmp_path: Path, gate_env):
    """Judge one honest fix with these settings; (exit status, report, bundles)."""
    repo = make_repo()
    settings = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n'
    repo.commit({"src/app.py": "def one():\n    return 2\n", "tests/test_app.py": SUITE, "pyproject.toml": settings})
    repo.branch("agent")
    head = repo.commit({"src/app.py": "def one():\n    return 1\n"}, "Fix one")
    ticket = {
        "id": "T-1", "title": "one is wrong", "goal": "one() is 1", "allowed": ["src/**"], "forbidden": [],
        "verify": "python -m pytest -q", "risk": "low", "permits": [],
    }  # fmt: skip
    commands = [{"cmd": "python -m pytest -q", "exit_code": 0}]
    claim = {"head_sha": head, "commands": commands, "junit_xml": JUNIT, "summary": "Fixed."}
    (tmp_path / "ticket.json").write_text(json.dumps(ticket))
    (tmp_path / "claim.json").write_text(json.dumps(claim))

    def run(text: str):
        path = tmp_path / "gatekeeper.toml"
        path.write_text(text)
        path.chmod(0o600)
        done = subprocess.run(
            [sys.executable, "-m", "gatekeeper", "--config", str(path), "check", "--repo", str(repo.path), "--head", head,
             "--ticket", str(tmp_path / "ticket.json"), "--claim", str(tmp_path / "claim.json"), "--environment", "host",
             "--format", "json", "--attestation", str(tmp_path / "bundles")],
            capture_output=True, text=True, timeout=180, env=dict(os.environ),
        )  # fmt: skip
        bundles = tmp_path / "bundles"
        signed = bundles.read_bytes().splitlines() if bundles.exists() else []
        return done.returncode, json.loads(done.stdout), signed

    return run


def test_opa_decides_and_a_keyless_identity_signs(judge, tmp_path):
    opa_program()
    instance = LocalSigstore()
    config, root = instance.write(tmp_path)
    (tmp_path / "token").write_text(instance.token(GATE))
    status, report, signed = judge(
        '[policy]\nengine = "opa"\n[signing]\nkind = "keyless"\nverifier_id = "urn:gate"\n'
        f'trust_config = "{config}"\nidentity = "{GATE}"\nissuer = "{instance.issuer}"\ntoken_file = "{tmp_path}/token"\n'
    )
    instance.close()
    assert (status, report["verdict"]) == (0, "accepted"), report
    assert report["attestation"]["verifier_id"] == "urn:gate"
    assert len(signed) > 1
    for bundle in signed:
        assert verify_keyless(bundle, Identity(instance.issuer, GATE, str(root)))


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ('[policy]\nengine = "opa"\nurl = "http://127.0.0.1:9"\n', "POLICY_FAILED"),
        ('[policy]\nengine = "opa"\nurl = "http://opa.example"\n', "POLICY_SERVER_ADDRESS"),
        ('[policy]\nengin = "opa"\n', "GATE_SETTINGS_MALFORMED"),
        ('[signing]\nkey = "/nonexistent/key.pem"\n', "SIGNING_FAILED"),
    ],
)
def test_what_the_settings_name_and_is_not_there_is_undecided(judge, settings, code):
    status, report, signed = judge(settings)
    assert (status, report["verdict"]) == (3, "undecided"), report
    assert code in {r["code"] for r in report["reasons"]}
    assert signed == []
