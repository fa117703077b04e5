"""node:test, jest and vitest: started by absolute path, with the gate's own reporter from outside the tree.

All three run every test file in a child process; the reporter lives in the parent, which loads nothing of the tree but
the runner's settings and what these import. `RunRequest.tests` selects whole files: a test id stands for its file.
"""

from __future__ import annotations

import functools
import posixpath
import shlex
from collections.abc import Mapping
from importlib import resources

from gatekeeper.domain.ports import GATE_FILES, RunRequest
from gatekeeper.domain.testrun import SuiteReport
from gatekeeper.formats.node_events import parse_node_events

_SHARED = "node_events.mjs"
_MODULES = "node_modules"
# What takes the tests into the runner's own process, or its reporter away.
_REFUSED = {
    "node": ("--test-isolation", "--experimental-test-isolation", "--test-reporter", "--watch", "--test-update-snapshots"),
    "jest": ("--reporters", "--runInBand", "-i", "--watch", "--watchAll", "-u", "--updateSnapshot", "--detectOpenHandles", "--passWithNoTests"),
    "vitest": ("--reporter", "--pool", "--no-file-parallelism", "--watch", "-w", "-u", "--update", "--passWithNoTests"),
}  # fmt: skip


@functools.cache
def _reporter(name: str) -> bytes:
    return resources.files(__package__).joinpath("node_reporters", name).read_bytes()


class _NodeProgram:
    """What the three have in common."""

    name = ""
    reporter = ""

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
        return [f"./{posixpath.relpath(f, request.suite.workdir)}" for f in files]


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


RUNNERS = {runner.name: runner for runner in (NodeTest(),)}
