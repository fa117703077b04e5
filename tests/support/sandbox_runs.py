"""Runs of small trees in the real sandbox, for tests of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from gatekeeper.adapters.bubblewrap_sandbox import BubblewrapSandbox
from gatekeeper.config import SANDBOX_ID, Paths
from gatekeeper.domain.ports import Limits, RunRequest, TestEnvironment
from gatekeeper.domain.testrun import RunRole, SuiteRun
from gatekeeper.domain.ticket import Suite
from gatekeeper.errors import CouldNotCheck
from gatekeeper.wiring import machine

TREE_OID = "a" * 40
LIMITS = Limits(wall_s=30, memory_mib=512, processes=128, file_size_mib=16, output_mib=1, tmp_mib=16)


class Runs:
    """Makes trees and runs suites on them."""

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.sandbox = BubblewrapSandbox(paths)
        environment = machine.host_environment(paths)
        assert isinstance(environment, TestEnvironment)
        self.environment = environment

    def tree(self, files: Mapping[str, str], links: Mapping[str, str] | None = None) -> Path:
        """A tree as the gate exports one: the sandbox user's where the gate is root."""
        self.paths.trees.mkdir(parents=True, exist_ok=True)
        top = Path(tempfile.mkdtemp(dir=self.paths.trees))
        for place in (self.paths.state, self.paths.trees, top):
            place.chmod(0o755)
        for name, text in files.items():
            file = top / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text), encoding="utf-8")
        for name, target in (links or {}).items():
            (top / name).symlink_to(target)
        if os.geteuid() == 0:
            for place in [top, *top.rglob("*")]:
                os.chown(place, SANDBOX_ID, SANDBOX_ID, follow_symlinks=False)
        return top

    def request(self, tree: Path, suite: Suite, limits: Limits = LIMITS, tests: tuple[str, ...] = ()) -> RunRequest:
        """A request on that tree."""
        return RunRequest("run", RunRole.MERGED, suite, TREE_OID, tree, self.environment, limits, tests)

    def pytest(self, files: Mapping[str, str], arguments: str = "", limits: Limits = LIMITS, **suite: str) -> SuiteRun:
        """Run pytest on a tree of these files."""
        made = Suite("tests", runner="pytest", command=arguments, **suite)  # type: ignore[arg-type]
        return self.sandbox.run(self.request(self.tree(files), made, limits))

    def command(
        self, files: Mapping[str, str], line: str, limits: Limits = LIMITS, reports: tuple[str, ...] = ()
    ) -> SuiteRun:
        """Run a shell line on a tree of these files."""
        return self.sandbox.run(self.request(self.tree(files), Suite("tests", command=line, reports=reports), limits))

    def python(self, code: str, limits: Limits = LIMITS) -> SuiteRun:
        """Run a Python program inside."""
        return self.command({"program.py": code}, "python program.py", limits)


def usable_runs(paths: Paths) -> Runs:
    """`Runs` where this machine has a sandbox; else a visible skip, or a failure in CI."""
    try:
        runs = Runs(paths)
        runs.sandbox.engine()
    except CouldNotCheck as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no sandbox on this machine: {error}")
    return runs
