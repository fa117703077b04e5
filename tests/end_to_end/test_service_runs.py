"""The service's runtime with everything real but the network: durable runs, killed at every step and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BUGGY = "def add(a, b):\n    return a - b\n"
FIXED = "def add(a, b):\n    return a + b\n"
PROJECT = {
    "src/one.py": BUGGY,
    "src/two.py": BUGGY,
    "tests/test_one.py": "from one import add\n\n\ndef test_zero():\n    assert add(2, 0) == 2\n",
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n',
}
JUNIT = (
    '<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="1">'
    '<testcase classname="tests.test_one" name="test_zero" time="0.01"/></testsuite></testsuites>'
)
SERVER = Path(__file__).parents[1] / "support" / "service_process.py"
STEPS = (
    "begin",
    "fetch",
    "checkout",
    "plan",
    "environment",
    "rerun",
    "secrets",
    "code",
    "decide",
    "attest",
    "conclude",
)


@pytest.fixture
def service(make_repo, tmp_path, gate_env):
    """Runs a server process on its own state until all that was submitted is final; tells what it found."""
    repo = make_repo()
    repo.commit(PROJECT, "Import")
    heads = {}
    for name in ("one", "two"):
        repo.branch(name)
        heads[name] = repo.commit({f"src/{name}.py": FIXED}, f"Fix {name}")
    claims = {
        name: json.dumps({
            "head_sha": head, "commands": [{"cmd": "python -m pytest -q", "exit_code": 0}], "junit_xml": JUNIT,
            "summary": "Fixed.",
        })
        for name, head in heads.items()
    }  # fmt: skip
    plan = {"repo": str(repo.path), "heads": heads, "claims": claims}

    def run(*, die_at: str = "", after: bool = False, submit: tuple[str, ...] = ("one", "two"), target: str = ""):
        asked = {**plan, "die_at": die_at, "die_after": after, "submit": submit, "target": target}
        state = {
            "GATEKEEPER_STATE_DIR": os.environ.get("GATEKEEPER_STATE_DIR", ""),
            "GATEKEEPER_SERVICE_DIR": str(tmp_path / "service"),
        }
        done = subprocess.run(
            [sys.executable, str(SERVER)], input=json.dumps(asked), capture_output=True, text=True, timeout=180,
            env={**os.environ, **{k: v for k, v in state.items() if v}},
        )  # fmt: skip
        if die_at:
            assert done.returncode == -signal.SIGKILL, (done.stdout, done.stderr)
            return None
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    run.heads = heads
    return run


def verdicts(answer):
    return {name: (row["state"], row["verdict"], row["current"]) for name, row in answer["verifications"].items()}


def test_submissions_are_decided_signed_and_audited(service):
    answer = service()
    assert verdicts(answer) == dict.fromkeys(("one", "two"), ("DECIDED", "accepted", True)), answer
    assert set(answer["changes"].values()) == {"MERGEABLE"}
    for row in answer["verifications"].values():
        assert row["attestation"]
        assert row["kinds"] == ["TEST_RESULT", "VERDICT"]
    assert answer["audit_entries"] >= 4


@pytest.mark.parametrize(
    "step, after", [*((s, False) for s in STEPS), ("rerun", True), ("attest", True), ("conclude", True)]
)
def test_server_killed_at_a_step_goes_on_and_decides_once(service, step, after):
    service(die_at=step, after=after)
    answer = service(submit=())
    assert verdicts(answer) == dict.fromkeys(answer["verifications"], ("DECIDED", "accepted", True)), answer
    assert answer["verifications"]
    for row in answer["verifications"].values():
        assert row["kinds"] == ["TEST_RESULT", "VERDICT"]
        assert row["decided_events"] == 1


def test_landed_change_is_merged_and_the_other_is_verified_on_the_new_target(service):
    answer = service(target="one")
    assert answer["changes"] == {"one": "MERGED", "two": "MERGEABLE"}
    two = answer["verifications"]["two"]
    assert (two["verdict"], two["current"], two["base"]) == ("accepted", True, service.heads["one"])


def test_verification_that_kills_the_server_every_time_is_given_up_undecided(service):
    for _ in range(5):
        try:
            service(die_at="fetch", submit=("one",) if _ == 0 else ())
        except AssertionError:
            break
    answer = service(submit=())
    assert verdicts(answer) == {"one": ("DECIDED", "undecided", True)}
    assert answer["changes"] == {"one": "HUMAN_DECISION_NEEDED"}
    assert answer["verifications"]["one"]["codes"] == ["GATE_CRASHED"]
