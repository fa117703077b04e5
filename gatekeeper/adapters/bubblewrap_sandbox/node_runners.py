"""node:test, jest and vitest: started by absolute path, with the gate's own reporter from outside the tree.

All three run every test file in a child process; the reporter lives in the parent, which loads nothing of the tree but
the runner's settings and what these import. `RunRequest.tests` selects whole files: a test id stands for its file.
"""

from __future__ import annotations

import functools
import posixpath
import re
import shlex
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from gatekeeper.domain.ports import GATE_FILES, RunRequest
from gatekeeper.domain.testrun import SuiteReport
from gatekeeper.formats.node_events import parse_node_events

_SHARED = "node_events.mjs"
_MODULES = "node_modules"
_MAX_MANIFEST = 1024 * 1024
_SOURCE = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx")

TREE = "/repo"
"""Where the tree is inside, as in `command`."""

# What takes the tests into the runner's own process, or its reporter away.
_REFUSED = {
    "node": ("--test-isolation", "--experimental-test-isolation", "--test-reporter", "--watch", "--test-update-snapshots"),
    "jest": ("--reporters", "--runInBand", "-i", "--watch", "--watchAll", "-u", "--updateSnapshot", "--detectOpenHandles", "--passWithNoTests"),
    "vitest": ("--reporter", "--pool", "--no-file-parallelism", "--watch", "-w", "-u", "--update", "--passWithNoTests"),
}  # fmt: skip


@functools.cache
def _reporter(name: str) -> bytes:
    return (Path(__file__).parent / "node_reporters" / name).read_bytes()


class _NodeProgram(ABC):
    """What the three have in common."""

    name: str
    reporter: str

    @abstractmethod
    def argv(self, request: RunRequest) -> list[str]:
        """See `StructuredRunner.argv`."""

    def files(self) -> Mapping[str, bytes]:
        """The reporter, and what the reporters share."""
        return {name: _reporter(name) for name in (self.reporter, _SHARED)}

    def variables(self) -> Mapping[str, str]:
        """No colours, no questions, no settings from the environment."""
        return {"NODE_OPTIONS": "", "NO_COLOR": "1", "CI": "true"}

    def reports(self, events: bytes, request: RunRequest) -> tuple[SuiteReport, ...]:
        """See `StructuredRunner.reports`."""
        return (parse_node_events(events, runner=self.name, workdir=request.suite.workdir),)

    def node(self, request: RunRequest) -> str:
        """Absolute path of node inside. Raises `ValueError`."""
        found = request.environment.programs.get("node")
        if found is None:
            raise ValueError("its environment has no Node.js")
        return found

    def own_arguments(self, request: RunRequest) -> list[str]:
        """The suite's further arguments, without those that would take results from the gate. Raises `ValueError`."""
        try:
            words = shlex.split(request.suite.command)
        except ValueError as error:
            raise ValueError(f"its arguments cannot be split: {error}") from error
        for word in words:
            if word.split("=", 1)[0] in _REFUSED[self.name]:
                raise ValueError(f"its argument {word.split('=', 1)[0]} is the gate's to choose")
        return [*words, *request.arguments]

    def selected(self, request: RunRequest) -> list[str]:
        """The files of `RunRequest.tests`, relative to the suite's directory."""
        files = dict.fromkeys(t.split("::", 1)[0] for t in request.tests)
        near = {f: posixpath.relpath(f, request.suite.workdir) for f in files if f.endswith(_SOURCE)}
        return [f"./{name}" for name in near.values() if not name.startswith("../")]


class NodeTest(_NodeProgram):
    """`node --test`."""

    name = "node"
    reporter = "node_test.mjs"

    def argv(self, request: RunRequest) -> list[str]:
        """See `StructuredRunner.argv`."""
        extra = self.own_arguments(request)
        files = self.selected(request)
        if files:
            extra = [w for w in extra if w.startswith("-")]
        return [
            self.node(request), "--test",
            f"--test-reporter={GATE_FILES}/{self.reporter}", "--test-reporter-destination=stderr",
            "--test-reporter=spec", "--test-reporter-destination=stdout",
            *extra, *files,
        ]  # fmt: skip


class Jest(_NodeProgram):
    """jest of the base's lock, its reporter replaced, snapshots never written, tests in processes of their own."""

    name = "jest"
    reporter = "jest.mjs"

    def argv(self, request: RunRequest) -> list[str]:
        """See `StructuredRunner.argv`."""
        program, version = _program(request, "jest", "bin/jest.js")
        files = self.selected(request)
        extra = self.own_arguments(request)
        if files:
            extra = [w for w in extra if w.startswith("-")]
        argv = [
            self.node(request), program, "--ci", "--reporters=default", f"--reporters={GATE_FILES}/{self.reporter}",
            "--testLocationInResults", "--watchman=false", "--passWithNoTests=false", "--colors=false", "--maxWorkers=2",
        ]  # fmt: skip
        if version >= 29:
            argv.append("--workerIdleMemoryLimit=64GB")  # never runs in jest's own process, a single file either
        return [*argv, *extra, *(["--runTestsByPath", *files] if files else [])]


class Vitest(_NodeProgram):
    """vitest of the base's lock, its reporter replaced, every file in a process of its own."""

    name = "vitest"
    reporter = "vitest.mjs"

    def argv(self, request: RunRequest) -> list[str]:
        """See `StructuredRunner.argv`."""
        program, _ = _program(request, "vitest", "vitest.mjs")
        files = self.selected(request)
        extra = self.own_arguments(request)
        if files:
            extra = [w for w in extra if w.startswith("-")]
        return [
            self.node(request), program, "run", "--reporter=default", f"--reporter={GATE_FILES}/{self.reporter}",
            "--pool=forks", "--includeTaskLocation", "--passWithNoTests=false", "--no-color",
            *extra, *(f.removeprefix("./") for f in files),
        ]  # fmt: skip


def _program(request: RunRequest, package: str, entry: str) -> tuple[str, int]:
    """(path inside of a runner's program, its major version): of the nearest node_modules. Raises `ValueError`."""
    mounts = {inside: Path(host) for host, inside in request.environment.mounts}
    folder = PurePosixPath(request.suite.workdir)
    for place in (folder, *folder.parents):
        inside = posixpath.normpath(posixpath.join(TREE, place, _MODULES))
        found = mounts.get(inside, request.tree / place / _MODULES) / package
        if (found / entry).is_file() and (found / "package.json").is_file():
            return f"{inside}/{package}/{entry}", _major(found / "package.json")
    raise ValueError(f"{package} is not among the packages of its package-lock.json")


def _major(manifest: Path) -> int:
    if manifest.is_symlink() or manifest.stat().st_size > _MAX_MANIFEST:
        return 0
    found = re.search(rb'"version"\s*:\s*"(\d{1,6})\.', manifest.read_bytes())
    return int(found[1]) if found else 0


RUNNERS: Mapping[str, _NodeProgram] = {runner.name: runner for runner in (NodeTest(), Jest(), Vitest())}
