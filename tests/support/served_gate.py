"""A gate started with `gatekeeper serve` on a free loopback port, with tokens for everybody, as an operator would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

GATEKEEPER = [sys.executable, "-m", "gatekeeper"]
FIXED_DATE = "2026-01-02T03:04:05Z"
BUGGY, FIXED = "def add(a, b):\n    return a - b\n", "def add(a, b):\n    return a + b\n"
PROJECT = {
    "src/one.py": BUGGY,
    "tests/test_one.py": "from one import add\n\n\ndef test_add():\n    assert add(2, 0) == 2\n",
    "pyproject.toml": '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n',
}
JUNIT = (
    '<testsuites><testsuite name="pytest" errors="0" failures="0" skipped="0" tests="1">'
    '<testcase classname="tests.test_one" name="test_add" time="0.01"/></testsuite></testsuites>'
)
TICKET = {
    "schema": 1, "id": "T-1", "title": "Mend add", "goal": "add adds", "allowed": ["src/**", "tests/**"], "forbidden": [],
    "verify": "python -m pytest -q", "risk": "low",
}  # fmt: skip


def claim(head: str) -> dict[str, object]:
    """An honest claim about `head`."""
    commands = [{"cmd": "python -m pytest -q", "exit_code": 0}]
    return {"head_sha": head, "commands": commands, "junit_xml": JUNIT, "summary": "Mended."}


@dataclass
class Served:
    """A running gate."""

    address: str
    tokens: dict[str, str]
    environment: dict[str, str]

    def cli(self, *words: str, as_: str = "", **more: object) -> subprocess.CompletedProcess[str]:
        """The command line, as somebody; `as_` is a name of `tokens`."""
        env = dict(self.environment)
        if as_:
            env |= {"GATEKEEPER_SERVER": self.address, "GATEKEEPER_TOKEN": self.tokens[as_]}
        return subprocess.run([*GATEKEEPER, *words], capture_output=True, text=True, env=env, timeout=120, **more)  # type: ignore[call-overload,no-any-return]


PEOPLE = {
    "agent": ("agent", "agent", "agent-7"),
    "reviewer": ("human", "reviewer", "rita@example.org"),
    "operator": ("human", "operator", "olaf@example.org"),
    "enforcer": ("service", "enforcer", "ci"),
}


@contextmanager
def served_gate(folder: Path, state: Path, *options: str) -> Iterator[Served]:
    """`gatekeeper serve` in a process of its own; stopped in the end, and killed where it does not stop."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GATEKEEPER_") or "REQUIRE" in k}
    environment |= {
        "GATEKEEPER_STATE_DIR": str(state), "GATEKEEPER_CONFIG_DIR": str(folder / "config"),
        "XDG_CONFIG_HOME": str(folder / "xdg"),
    }  # fmt: skip
    gate = Served("", {}, environment)
    for name, (kind, role, subject) in PEOPLE.items():
        file = folder / f"{name}.token"
        done = gate.cli("token", "create", "--subject", subject, "--kind", kind, "--role", role, "--output", str(file))
        assert done.returncode == 0, done.stderr
        gate.tokens[name] = file.read_text().strip()
    address, log = folder / "address", folder / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*GATEKEEPER, "serve", "--listen", "127.0.0.1:0", "--address-file", str(address), *options],
            env=environment, stdout=output, stderr=output,
        )  # fmt: skip
        try:
            end = time.monotonic() + 60
            while not (address.exists() and address.read_text().strip()):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.05)
            gate.address = address.read_text().strip()
            yield gate
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@dataclass(frozen=True)
class Work:
    """A registered repository with an approved ticket, and a commit to submit."""

    repository: Path
    head: str
    claim: Path


def git(place: Path, *words: str) -> str:
    """git with fixed people and dates."""
    people = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Agent"), ("EMAIL", "agent@agents.example"), ("DATE", FIXED_DATE))
    }
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **people}
    done = subprocess.run(["git", "-C", str(place), *words], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def prepared(gate: Served, folder: Path) -> Work:
    """A small project with a mended bug, known to the gate as acme/shop, its ticket T-1 approved."""
    repository = folder / "repo"
    repository.mkdir(parents=True)
    git(repository, "init", "-q", "-b", "main")
    for name, content in PROJECT.items():
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text(content)
    git(repository, "add", "-A")
    git(repository, "commit", "-q", "-m", "Import")
    git(repository, "checkout", "-q", "-b", "fix")
    (repository / "src/one.py").write_text(FIXED)
    git(repository, "commit", "-q", "-am", "Mend add")
    head = git(repository, "rev-parse", "HEAD")
    ticket, claimed = folder / "ticket.json", folder / "claim.json"
    ticket.write_text(json.dumps(TICKET))
    claimed.write_text(json.dumps(claim(head)))
    done = gate.cli("repo", "register", "acme/shop", "--source", f"file://{repository}", as_="operator")
    assert done.returncode == 0, done.stderr
    done = gate.cli("ticket", "create", str(ticket), "-R", "acme/shop", "--format", "json", as_="agent")
    assert done.returncode == 0, done.stdout
    digest = json.loads(done.stdout)["digest"]
    done = gate.cli("ticket", "approve", "acme/shop#T-1", "--digest", digest, as_="reviewer")
    assert done.returncode == 0, done.stderr
    return Work(repository, head, claimed)
