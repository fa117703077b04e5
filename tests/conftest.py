"""Fixtures that many tests share: a state directory the sandbox user can reach, and small real git repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from gatekeeper.config import Paths

# How long an example takes on a busy machine is no property of the code.
settings.register_profile("gatekeeper", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gatekeeper")

GIT_ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Agent",
    "GIT_AUTHOR_EMAIL": "agent@agents.example",
    "GIT_COMMITTER_NAME": "Agent",
    "GIT_COMMITTER_EMAIL": "agent@agents.example",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
    "LC_ALL": "C.UTF-8",
}


@pytest.fixture(scope="session")
def state_dir() -> Iterator[Path]:
    """A state directory of this test session, outside pytest's private temporary directory."""
    base = "/var/tmp" if os.path.isdir("/var/tmp") else None
    path = Path(tempfile.mkdtemp(prefix="gatekeeper-tests-", dir=base))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def gate_paths(state_dir: Path) -> Paths:
    """Paths of a gate of its own."""
    return Paths(state=state_dir / "state", config=state_dir / "config")


@pytest.fixture
def gate_env(gate_paths: Paths, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """The process environment points to `gate_paths`."""
    monkeypatch.setenv("GATEKEEPER_STATE_DIR", str(gate_paths.state))
    monkeypatch.setenv("GATEKEEPER_CONFIG_DIR", str(gate_paths.config))
    return gate_paths


class Repo:
    """A small real repository with a work tree; commits have fixed dates and a fixed author."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *args: str, **kwargs: object) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.path), *args], env=GIT_ENV, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | bytes | None], message: str = "change", **env: str) -> str:
        """Write (or remove, for None) files and commit; returns the commit."""
        for name, content in files.items():
            target = self.path / name
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "-A", "-f")
        subprocess.run(
            ["git", "-C", str(self.path), "commit", "-q", "--allow-empty", "-m", message],
            env={**GIT_ENV, **env}, check=True, timeout=60,
        )  # fmt: skip
        return self.git("rev-parse", "HEAD")

    def branch(self, name: str, start: str = "main") -> None:
        self.git("checkout", "-q", "-B", name, start)


@pytest.fixture
def make_repo(tmp_path: Path):
    """A factory of repositories under the test's own directory."""

    def make(name: str = "repo") -> Repo:
        return Repo(tmp_path / name)

    return make
