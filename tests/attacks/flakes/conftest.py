"""A world whose tests pass and fail by a script, never by chance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from fake_ports import TEST_ID, FakeSandbox, World, claim, junit, listed, make_run, ticket

from gatekeeper.adapters.file_flakes import FileFlakes
from gatekeeper.adapters.memory_durable import MemoryDurable
from gatekeeper.domain.decision import Outcome as Verdicts
from gatekeeper.domain.flake import EXPIRY_S, FlakeRecord
from gatekeeper.domain.ports import RunRequest
from gatekeeper.domain.selection import SELECTION_FILE
from gatekeeper.domain.submission import Submission
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole, Session, SuiteRun
from gatekeeper.domain.verdict import Mode
from gatekeeper.workflow.pipeline import step_table, verify

NOW = 1_800_000_000.0
OTHER = "tests/test_app.py::test_other"
OUTCOMES = {"P": Outcome.PASSED, "F": Outcome.FAILED}


class ScriptedSandbox(FakeSandbox):
    """Outcomes of the one test by role, one letter a run (P or F), the last one for ever."""

    def __init__(self, **script: str) -> None:
        super().__init__()
        self.script = {RunRole(role): list(letters) for role, letters in script.items()}
        self.requests: list[RunRequest] = []
        self.reached: dict[str, list[int]] | None = None
        self.others: Sequence[CaseResult] = ()

    def run(self, request: RunRequest) -> SuiteRun:
        self.seen.append(request.role)
        self.requests.append(request)
        letters = self.script.get(request.role, ["P"])
        run = make_run(request.role, OUTCOMES[letters.pop(0) if len(letters) > 1 else letters[0]], id=request.id)
        run = replace(run, tree=request.tree_oid)
        if SELECTION_FILE not in request.files and self.others:
            cases = (*run.sessions[0].cases, *self.others)
            bad = int(any(c.outcome is Outcome.FAILED for c in cases))
            run = replace(run, exit_code=bad, sessions=(Session(cases, len(cases), bad, True),))
        if self.reached is not None and "lines" in json.loads(request.files.get(SELECTION_FILE, b"{}")):
            rows = tuple((test, tuple(places)) for test, places in self.reached.items())
            run = replace(run, sessions=tuple(replace(s, reached=rows) for s in run.sessions))
        return listed(run, request)


class Gate:
    """One gate over the fakes, with its register."""

    def __init__(self, register: FileFlakes) -> None:
        self.register = register
        self.world = World()
        self.sandbox = ScriptedSandbox()

    def judge(self, claimed: str = "passed", **script: str) -> Verdicts:
        """The verdict on the fake change. `claimed` is the outcome that the claim tells."""
        reached, others = self.sandbox.reached, self.sandbox.others
        self.sandbox = ScriptedSandbox(**script)
        self.sandbox.reached, self.sandbox.others = reached, others
        self.world.sandbox = self.sandbox
        status = int(claimed == "failed")
        sent = claim(commands=[{"cmd": "python -m pytest -q", "exit_code": status}], junit_xml=junit(claimed))
        submission = Submission("repo", "main", "b" * 40, ticket(), sent, run_id="r1")
        steps = step_table(self.world.tools(flakes=self.register))
        return verify(MemoryDurable(steps), submission, mode=Mode.LOCAL, started=NOW)

    def record(self, **over: object) -> FlakeRecord:
        """The register's record of the one test, put into it."""
        values = {
            "repository": "repo", "suite": "verify", "test": TEST_ID, "failed": 2, "runs": 9, "bases": ("c" * 40,),
            "first_seen": NOW - 86_400, "last_seen": NOW - 3600, "expires_at": NOW + EXPIRY_S - 3600,
        }  # fmt: skip
        made = FlakeRecord(**{**values, **over})  # type: ignore[arg-type]
        self.register.seen([made])
        return made


@pytest.fixture
def gate(tmp_path) -> Gate:
    return Gate(FileFlakes(tmp_path / "flakes" / "register.jsonl"))
