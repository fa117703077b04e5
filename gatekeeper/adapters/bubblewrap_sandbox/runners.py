"""Structured runners other than pytest: how each is started, and how what it reported becomes results.

A runner is started by the gate with the gate's own reporter; the events go to `EVENTS`, which is handed over after the
run. The reporter runs as the tested user: what it writes is a claim (`docs/security-model.md` says what that means).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from gatekeeper.domain.ports import RunRequest
from gatekeeper.domain.testrun import SuiteReport

EVENTS = "/tmp/gatekeeper-events"  # noqa: S108 - a private tmpfs inside
"""File in which a runner leaves its events."""


class StructuredRunner(Protocol):
    """One runner."""

    def argv(self, request: RunRequest) -> list[str]:
        """The argument vector inside; `request.tests` and `request.arguments` are obeyed. Raises `ValueError`."""

    def files(self) -> Mapping[str, bytes]:
        """Files of the gate's own that it needs, by plain name, found inside in `GATE_FILES`."""

    def variables(self) -> Mapping[str, str]:
        """Environment variables that it needs."""

    def reports(self, events: bytes, request: RunRequest) -> tuple[SuiteReport, ...]:
        """Results from what was left in `EVENTS`. Hostile bytes: raises `InputError` alone."""


def structured(name: str) -> StructuredRunner | None:
    """The runner of that name, None for pytest (which has its recorder) and for opaque commands.

    Imported when it is asked for: most runs are of pytest, and a check starts with its imports.
    """
    if name == "go":
        from gatekeeper.adapters.bubblewrap_sandbox.go_runner import GoRunner

        return GoRunner()
    if name in ("node", "jest", "vitest"):
        from gatekeeper.adapters.bubblewrap_sandbox.node_runners import RUNNERS

        return RUNNERS[name]
    return None


def replaced(words: Sequence[str], python: str) -> list[str]:
    """The gate's own argument vector with the interpreter put in."""
    return [python if w == "{python}" else w for w in words]
