"""From "a person must decide" to a proof: check, review with the findings shown, check again, verify with pinned reviewers."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from gatekeeper.adapters.local_key_signer import LocalKeySigner, public_pem

JUNIT = (
    '<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="1">'
    '<testcase classname="tests.test_app" name="test_add" time="0.01"/></testsuite></testsuites>'
)
PROJECT = {
    "src/app.py": "def add(a, b):\n    return a - b\n",
    "tests/test_app.py": "from app import add\n\n\ndef test_add():\n    assert add(0, 0) == 0\n",
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n',
}


def gate(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gatekeeper", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=180,
        env=os.environ,
    )


def test_a_reviewer_sees_the_findings_and_the_enforcer_sees_the_reviewer(make_repo, tmp_path, gate_env):
    repo = make_repo()
    repo.commit(PROJECT, "Import")
    repo.branch("agent")
    head = repo.commit({"src/app.py": "def add(a, b):\n    return a + b\n"}, "Fix add")
    ticket, claim, trust = tmp_path / "ticket.json", tmp_path / "claim.json", tmp_path / "trust.toml"
    ticket.write_text(json.dumps({
        "id": "T-1", "title": "add is wrong", "goal": "add adds", "allowed": ["src/**"], "forbidden": [],
        "verify": "python -m pytest -q", "risk": "high", "permits": [],
    }))  # fmt: skip
    claim.write_text(json.dumps({
        "head_sha": head, "commands": [{"cmd": "python -m pytest -q", "exit_code": 0}], "junit_xml": JUNIT,
        "summary": "Fixed.", "reason": "It was wrong.", "risks": "None known.", "rollback": "Revert the commit.",
    }))  # fmt: skip
    signer = LocalKeySigner(gate_env.keys / "local.pem")
    alice, approval = tmp_path / "alice.pem", tmp_path / "approval.json"
    assert gate("key", "new", "--out", alice, "--name", "alice@example.org").returncode == 0
    common = ["--repo", repo.path, "--head", head, "--ticket", ticket]
    check = ["check", "-q", *common, "--claim", claim, "--environment", "host", "--format", "json"]

    first = gate(*check)
    asked = json.loads(first.stdout)
    assert (first.returncode, asked["verdict"]) == (4, "needs_human")
    policy = asked["policy"]
    trust.write_text(
        f"repositories = [{json.dumps(str(repo.path))}]\n[[signer]]\nverifier_id = {json.dumps(signer.verifier_id)}\n"
        f'modes = ["local"]\npublic_key = {json.dumps(public_pem(gate_env.keys / "local.pem"))}\n[[policy]]\n'
        f"name = {json.dumps(policy['bundle'])}\ndigests = [{json.dumps(policy['digest'])}]\n[[reviewer]]\n"
        f'principal = "alice@example.org"\npublic_key = {json.dumps(public_pem(alice))}\n'
    )

    reviewed = gate("review", *common, "--key", alice, "--approve", "--out", approval)
    assert reviewed.returncode == 0
    assert "THE GATE FOUND: a person must decide" in reviewed.stderr
    assert "1 x reviewer: REVIEW_REQUIRED" in reviewed.stderr

    # Laid out by hand: what is stored is one line all the same.
    approval.write_text(json.dumps(json.loads(approval.read_text()), indent=2))
    bundles = tmp_path / "bundles"
    trusted = [*check, "--trust", trust, "--approval", approval]
    second = gate(*trusted, "--publish", "--attestation", bundles, "--submitter", "carol@example.org")
    assert second.returncode == 0, second.stdout
    verify = ["verify", "--repo", repo.path, "--commit", head, "--ref", "refs/heads/main", "--trust", trust]
    proven = gate(*verify, "--format", "json")
    assert proven.returncode == 0, proven.stdout
    assert json.loads(proven.stdout)["approvals"] == ["alice@example.org"]

    lines = bundles.read_text().splitlines()
    bundles.write_text("\n".join(lines[1:]) + "\n")
    refused = gate(*verify, "--format", "json", "--bundle", bundles)
    assert (refused.returncode, json.loads(refused.stdout)["code"]) == (1, "ATTESTATION_APPROVAL_MISSING")

    own = gate(*trusted, "--submitter", "Alice@example.org")
    assert own.returncode == 4
    assert "APPROVAL_SELF" in {f["code"] for f in json.loads(own.stdout)["findings"]}
