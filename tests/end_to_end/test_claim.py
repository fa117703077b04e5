"""A claim made by `gatekeeper claim`, judged by `gatekeeper check`: the author's tool and the gate read the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

GATE = [sys.executable, "-m", "gatekeeper"]
BUGGY = "def add(a, b):\n    return a - b\n"
FIXED = BUGGY.replace("a - b", "a + b")
TESTS = "from app import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n"
PROJECT = {
    "src/app.py": BUGGY,
    "tests/test_app.py": TESTS,
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n',
}
TICKET = {
    "id": "T-1", "title": "add is wrong", "goal": "add(2, 2) is 4", "allowed": ["src/**", "tests/**"], "forbidden": [],
    "verify": "python -m pytest -q", "risk": "low", "permits": [],
}  # fmt: skip


@pytest.fixture
def work(make_repo, gate_env):
    """A repository with a bug on main, and a branch for the work."""
    repo = make_repo()
    repo.commit(PROJECT, "Import")
    repo.branch("agent")
    return repo


def lay_papers(repo):
    """What `gatekeeper init` leaves in a work tree, and no commit has."""
    (repo.path / "ticket.json").write_text(json.dumps(TICKET))
    (repo.path / "claim.json").write_text("{}")


def gate(repo, *words):
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [*GATE, *words], cwd=repo.path, capture_output=True, text=True, timeout=400, env={**os.environ, "PATH": path}
    )


def judged(repo):
    done = gate(
        repo, "check", "-q", "--repo", ".", "--head", repo.git("rev-parse", "HEAD"), "--ticket", "ticket.json",
        "--claim", "claim.json", "--environment", "host", "--format", "json",
    )  # fmt: skip
    answer = json.loads(done.stdout)
    return answer["verdict"], {r["code"] for r in answer["reasons"]}


@pytest.mark.parametrize(
    "words",
    [
        ["--", "python", "-m", "pytest", "-q"],
        ["--ticket", "ticket.json"],
        ["--junit", "out.xml", "PYTHONDONTWRITEBYTECODE=1 python -m pytest --junitxml=out.xml"],
    ],
)
def test_an_honest_claim_made_by_the_command_is_accepted(work, words):
    work.commit({"src/app.py": FIXED}, "Fix add")
    lay_papers(work)
    done = gate(work, "claim", "--summary", "add() subtracted; it adds now.", *words)
    assert done.returncode == 0, done.stderr
    assert judged(work) == ("accepted", set())


def test_a_red_run_is_claimed_as_red_and_is_no_lie(work):
    work.commit({"src/app.py": BUGGY + "\n"}, "Tidy")
    lay_papers(work)
    done = gate(work, "claim", "--summary", "Not done.", "--", "python", "-m", "pytest", "-q")
    assert done.returncode == 0, "the claim was written"
    assert json.loads((work.path / "claim.json").read_text())["commands"][0]["exit_code"] == 1
    verdict, codes = judged(work)
    assert verdict == "rejected"
    assert not {c for c in codes if c.startswith("CLAIM_")}, "the tests fail; nobody said otherwise"


def test_work_that_is_not_committed_is_not_claimed(work):
    lay_papers(work)
    (work.path / "src" / "app.py").write_text(FIXED)
    done = gate(work, "claim", "--", "python", "-m", "pytest", "-q")
    assert done.returncode == 2
    assert "M src/app.py" in done.stderr
    assert "CLAIM_TREE_DIRTY" in done.stderr
    assert (work.path / "claim.json").read_text() == "{}"
