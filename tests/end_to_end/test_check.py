"""`gatekeeper check` as a user runs it: real git, real sandbox, real scanners, real policy, real signature."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GATE = [sys.executable, "-m", "gatekeeper"]
BUGGY = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a * 2\n"
FIXED = BUGGY.replace("a - b", "a + b")
TESTS = "from app import add, double\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\ndef test_double():\n    assert double(4) == 8\n"
PROJECT = {
    "src/app.py": BUGGY,
    "tests/test_app.py": TESTS,
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n',
    "README.md": "An adder.\n",
}
JUNIT = (
    '<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="2">'
    '<testcase classname="tests.test_app" name="test_add" time="0.01"/>'
    '<testcase classname="tests.test_app" name="test_double" time="0.01"/></testsuite></testsuites>'
)


@pytest.fixture
def case(make_repo, tmp_path, gate_env):
    """A project with a bug on main, and a function that judges a commit on a branch of it."""
    repo = make_repo()
    repo.commit(PROJECT, "Import")

    def judge(files, *, ticket=None, claim=None, env=None, args=(), fmt="json"):
        repo.branch("agent")
        head = repo.commit(files, "Fix add")
        (tmp_path / "ticket.json").write_text(
            json.dumps(
                {
                    "id": "T-1", "title": "add is wrong", "goal": "add(2, 2) is 4", "allowed": ["src/**", "tests/**"],
                    "forbidden": [".github/**"], "verify": "python -m pytest -q", "risk": "low", "permits": [], **(ticket or {}),
                }
            )
        )  # fmt: skip
        sent = {
            "head_sha": head, "commands": [{"cmd": "python -m pytest -q", "exit_code": 0}], "junit_xml": JUNIT,
            "summary": "Fixed.", **(claim or {}),
        }  # fmt: skip
        (tmp_path / "claim.json").write_text(json.dumps(sent))
        done = subprocess.run(
            [*GATE, "check", "--repo", str(repo.path), "--target", "main", "--head", head, "--ticket",
             str(tmp_path / "ticket.json"), "--claim", str(tmp_path / "claim.json"), "--environment", "host",
             "--format", fmt, *args],
            capture_output=True, text=True, timeout=400, env={**os.environ, **(env or {})},
        )  # fmt: skip
        if fmt == "json":
            lines = done.stdout.splitlines()
            assert len(lines) == 1, (done.stdout, done.stderr)
            return done.returncode, json.loads(lines[0])
        return done.returncode, done.stdout + done.stderr

    judge.repo = repo
    return judge


def test_an_honest_fix_is_accepted(case):
    code, answer = case({"src/app.py": FIXED})
    assert (code, answer["verdict"], answer["reasons"]) == (0, "accepted", [])
    assert answer["mode"] == "local"
    assert [r["role"] for r in answer["runs"]] == ["merged"]
    assert answer["runs"][0]["counts"] == {"passed": 2}
    assert answer["attestation"]["payload_sha256"]
    assert set(answer) >= {
        "schema", "mode", "verdict", "waived", "run_id", "base", "head", "merge_tree", "ticket", "reasons", "findings",
        "runs", "needs", "timings_ms", "policy", "attestation", "environment", "brief",
    }  # fmt: skip
    assert answer["brief"] == ""


def test_the_text_report_says_what_happened_and_what_to_do_next(case):
    code, text = case({"src/app.py": BUGGY + "\n"}, fmt="text")
    assert code == 1
    assert text.index("REJECTED") < text.index("evidence_mismatch")
    assert "->" in text
    assert "test_add" in text


def test_a_moved_target_is_what_is_tested(case):
    repo = case.repo
    code, answer = case({"src/app.py": FIXED})
    assert code == 0
    repo.git("checkout", "-q", "main")
    repo.commit(
        {"tests/test_more.py": "from app import double\n\n\ndef test_more():\n    assert double(1) == 3\n"}, "Moved"
    )
    head = answer["head"]
    repo.git("checkout", "-q", "--detach", head)
    ticket = Path(repo.path).parent / "ticket.json"
    claim = Path(repo.path).parent / "claim.json"
    done = subprocess.run(
        [*GATE, "check", "--repo", str(repo.path), "--head", head, "--ticket", str(ticket), "--claim", str(claim),
         "--environment", "host", "--format", "json"],
        capture_output=True, text=True, timeout=180,
    )  # fmt: skip
    assert done.returncode == 1, "the merge fails a test that head alone does not have"


def test_a_conflict_is_not_mergeable(case):
    repo = case.repo
    repo.git("checkout", "-q", "-b", "other")
    repo.git("checkout", "-q", "main")
    base = repo.git("rev-parse", "main")
    repo.commit({"src/app.py": BUGGY.replace("a - b", "b - a")}, "Elsewhere")
    repo.branch("agent", base)
    head = repo.commit({"src/app.py": FIXED}, "Fix")
    tmp = Path(repo.path).parent
    (tmp / "t.json").write_text(
        json.dumps({"id": "T", "title": "t", "allowed": ["**"], "forbidden": [], "risk": "low", "verify": "true"})
    )
    done = subprocess.run(
        [*GATE, "check", "--repo", str(repo.path), "--head", head, "--ticket", str(tmp / "t.json"), "--format", "json"],
        capture_output=True,
        text=True,
        timeout=180,
    )
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["reasons"][0]["category"]) == (1, "not_mergeable")


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("import time\nwhile True:\n    time.sleep(0.1)\n", {"RUN_TIMED_OUT"}),
        ("hog = []\nwhile True:\n    hog.append(bytearray(64 << 20))\n", {"RUN_OUT_OF_MEMORY", "RUN_KILLED", "CLAIM_PASSED_SEEN_FAILED", "TESTS_FAILED", "SUITE_FAILED"}),
        ("import os\nwhile True:\n    os.write(1, b'x' * 65536)\n", {"RUN_OUTPUT_FLOOD"}),
        ("import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos.kill(os.getpid(), signal.SIGKILL)\n", {"RUN_KILLED", "SUITE_FAILED"}),
    ],
    ids=["hangs", "exhausts-memory", "floods-output", "kills-the-runner"],
)  # fmt: skip
def test_a_change_that_attacks_the_runner_is_rejected_with_blame_change(case, body, codes):
    code, answer = case(
        {
            "src/app.py": FIXED + "\n" + body,
        },
        # What is to be ended by another limit has all the time that a busy machine may take for it.
        args=("--timeout", "8" if codes == {"RUN_TIMED_OUT"} else "150"),
    )
    assert (code, answer["verdict"]) == (1, "rejected"), answer["reasons"]
    assert codes & {r["code"] for r in answer["reasons"]}, answer["reasons"]


def broken_semgrep(tmp: Path) -> dict[str, str]:
    (tmp / "empty").mkdir()
    return {"GATEKEEPER_LIBEXEC_DIR": str(tmp / "empty")}


def damaged_policy(tmp: Path) -> dict[str, str]:
    source = Path(__file__).resolve().parents[2] / "policies"
    shutil.copytree(source, tmp / "policies")
    rule = next((tmp / "policies").rglob("plan.rego"))
    rule.write_text(rule.read_text() + "\n}{ damaged\n")
    return {"GATEKEEPER_POLICY_DIR": str(tmp / "policies")}


def missing_policy(tmp: Path) -> dict[str, str]:
    return {"GATEKEEPER_POLICY_DIR": str(tmp / "nowhere")}


def unwritable_state(tmp: Path) -> dict[str, str]:
    (tmp / "file").write_text("in the way")
    return {"GATEKEEPER_STATE_DIR": str(tmp / "file" / "state")}


@pytest.mark.parametrize("breakage", [broken_semgrep, damaged_policy, missing_policy, unwritable_state])
def test_a_broken_tool_is_undecided_with_blame_gate_and_one_json_object(case, tmp_path, breakage):
    code, answer = case({"src/app.py": FIXED}, env=breakage(tmp_path))
    assert (code, answer["verdict"]) == (3, "undecided")
    primary = next(r for r in answer["reasons"] if r["primary"])
    assert (primary["category"], primary["blame"]) == ("could_not_check", "gate")
    assert answer["attestation"] is None


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("gatekeeper.adapters.kingfisher_scanner.scanner", "KingfisherScanner"),
        ("gatekeeper.adapters.bubblewrap_sandbox", "BubblewrapSandbox"),
        ("gatekeeper.adapters.rego_policy.engine", "RegoPolicy"),
        ("gatekeeper.adapters.git_mirror", "GitMirror"),
    ],
)
def test_an_adapter_that_raises_is_undecided(case, tmp_path, module, name):
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook" / "sitecustomize.py").write_text(
        f"import {module} as m\n\n\ndef broken(*a, **k):\n    raise RuntimeError('broken on purpose')\n\n\nm.{name}.__init__ = broken\n"
    )
    code, answer = case({"src/app.py": FIXED}, env={"PYTHONPATH": str(tmp_path / "hook")})
    assert (code, answer["verdict"]) == (3, "undecided")
    assert answer["reasons"][0]["blame"] == "gate"


def test_a_full_disk_is_undecided(case, tmp_path, gate_env):
    """A file system of its own with no room left: as root a tmpfs, else a visible skip."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    full = Path("/var/tmp") / f"gatekeeper-full-{os.getpid()}"
    full.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=755", "tmpfs", str(full)], check=True)
        code, answer = case({"src/app.py": FIXED}, env={"GATEKEEPER_STATE_DIR": str(full)})
    finally:
        subprocess.run(["umount", "-l", str(full)], check=False)
        full.rmdir()
    assert (code, answer["verdict"]) == (3, "undecided")


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--head", "0" * 40], "HEAD_NOT_FOUND"),
        (["--target", "nowhere"], "TARGET_NOT_FOUND"),
        (["--target=--upload-pack=touch /tmp/x"], "TARGET_NOT_FOUND"),
        (["--repo", "/nonexistent"], "REPOSITORY_UNREADABLE"),
        (["--ticket", "/nonexistent"], "USAGE"),
        (["--environment", "hots"], "USAGE"),
    ],
)
def test_usage_faults_are_status_2_with_a_code(case, args, code):
    status, answer = case({"src/app.py": FIXED}, args=args)
    assert (status, answer["error"]["code"]) == (2, code)


def test_secret_that_a_test_prints_is_told_nowhere(case):
    token = "ghp_" + "mx6T55Bn27kvsEsB2jSW" + "5R3UfG8TuQSEqSal"
    body = (
        '\n\ndef test_shown():\n    import app\n\n    print("got", app.TOKEN)\n    assert app.TOKEN == "", app.TOKEN\n'
    )
    code, answer = case({"src/app.py": f'{FIXED}\n\nTOKEN = "{token}"\n', "tests/test_app.py": TESTS + body})
    assert code == 1
    assert "SECRET_IN_FILE" in {r["code"] for r in answer["reasons"]}
    assert token not in json.dumps(answer)
    assert "test_shown" in json.dumps(answer["runs"]), "the log itself is still told"


def test_removing_parts_of_a_case_never_lifts_its_verdict(case):
    """A few whole-case removals through the real thing; the full property runs over the pure checks."""
    _, rejected = case({"src/app.py": BUGGY + "\n"})
    assert rejected["verdict"] == "rejected"
    for gone in ("junit_xml", "commands", "head_sha", "summary"):
        _code, answer = case({"src/app.py": BUGGY + "\n# again\n"}, claim={gone: None})
        assert answer["verdict"] == "rejected", gone
