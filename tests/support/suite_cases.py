"""One project, one change, one `gatekeeper check` as a user runs it; and tools that a machine may lack."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

KEPT = Path("/var/tmp") / f"gatekeeper-tests-{os.geteuid()}"
"""What takes a minute to make and never differs is kept here between runs of the tests on one machine."""


def needed(tool: str) -> str:
    """Path of a tool; a failure in CI and a visible skip elsewhere where it is missing."""
    found = shutil.which(tool)
    if found is None:
        absent(f"{tool} is not installed")
    return str(found)


def absent(why: str) -> None:
    """End the test: a failure in CI, a visible skip elsewhere."""
    if os.environ.get("CI"):
        pytest.fail(f"{why}, and CI must have it")
    pytest.skip(why)


def kept(name: str) -> Path:
    """A directory of this user that lasts, which others can pass through and not write to."""
    KEPT.mkdir(mode=0o755, exist_ok=True)
    facts = KEPT.lstat()
    assert facts.st_uid == os.geteuid(), f"{KEPT} belongs to another user"
    KEPT.chmod(0o755)
    return KEPT / name


def link_tree(source: Path, target: Path) -> None:
    """The same files under another name, owner and times as they are."""
    target.parent.mkdir(parents=True, exist_ok=True)
    place = target.with_name(f".{target.name}.{os.getpid()}")
    subprocess.run(["cp", "-al", "--", str(source), str(place)], check=True, timeout=300)
    try:
        place.rename(target)
    except OSError:
        shutil.rmtree(place)  # another run was faster


def junit(classname: str, names: Sequence[str]) -> str:
    """A report in which all of these passed."""
    rows = "".join(f'<testcase classname="{classname}" name="{n}" time="0.01"/>' for n in names)
    return f'<testsuites><testsuite name="x" errors="0" failures="0" skipped="0" tests="{len(names)}">{rows}</testsuite></testsuites>'


class Judge:
    """Judges changes of one project."""

    def __init__(self, repo: Any, scratch: Path, settings: str = "") -> None:
        self.repo, self.scratch = repo, scratch
        self.environment = "host"
        self.config = scratch / "gate.toml"
        self.config.write_text(settings)
        self.config.chmod(0o600)

    def __call__(
        self,
        files: Mapping[str, str | None],
        *,
        claim: Mapping[str, Any] | None = None,
        ticket: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """The report about `main` with these files changed."""
        self.repo.branch("agent")
        head = self.repo.commit(files, "Change")
        plan = {"id": "T-1", "title": "Mend it", "goal": "It works.", "allowed": ["**"], "forbidden": [], "suites": [],
                "risk": "low", "permits": [], **(ticket or {})}  # fmt: skip
        sent = {
            "head_sha": head,
            "commands": [{"cmd": "make test", "exit_code": 0}],
            "summary": "Mended.",
            **(claim or {}),
        }
        for name, document in (("ticket", plan), ("claim", sent)):
            (self.scratch / f"{name}.json").write_text(json.dumps(document))
        done = subprocess.run(
            [sys.executable, "-m", "gatekeeper", "--config", str(self.config), "check", "-q", "--repo", str(self.repo.path),
             "--target", "main", "--head", head, "--ticket", str(self.scratch / "ticket.json"), "--claim",
             str(self.scratch / "claim.json"), "--environment", self.environment, "--format", "json"],
            capture_output=True, text=True, timeout=590, env={**os.environ, **(env or {})},
        )  # fmt: skip
        assert done.stdout, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report


def reasons(report: Mapping[str, Any]) -> set[str]:
    """Codes of what blocks or asks."""
    return {r["code"] for r in report["reasons"]}


def runs(report: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Runs by role; the last one where a role was run more than once."""
    return {r["role"]: r for r in report["runs"]}
