"""In-memory fakes of the ports, for tests of the pipeline. Each can be told to fail."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from gatekeeper.domain.change import Change, ChangedPath, Commit, HistoryBlob, Person
from gatekeeper.domain.decision import BundleId, Plan, PolicyDecision
from gatekeeper.domain.evidence import ScanReport
from gatekeeper.domain.ports import Mirror, RunRequest, SignedAttestation, TestEnvironment
from gatekeeper.domain.selection import SELECTION_FILE
from gatekeeper.domain.testrun import CaseResult, Engine, Outcome, RunRole, Session, SuiteRun, Termination
from gatekeeper.domain.ticket import Risk
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.domain.verdict import Mode, Verdict
from gatekeeper.errors import CouldNotCheck
from gatekeeper.workflow.tools import Tools

BASE_FILES = {
    "src/app.py": "def add(a, b):\n    return a - b\n",
    "tests/test_app.py": "from app import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n",
}
HEAD_FILES = {**BASE_FILES, "src/app.py": "def add(a, b):\n    return a + b\n"}
BUNDLE = BundleId("fake", "1", "0" * 64)
ENGINE = Engine("fake", "1", ("network_none",))
TEST_ID = "tests/test_app.py::test_add"


def junit(outcome: str = "passed") -> str:
    """A JUnit report of the one test."""
    inner = {"passed": "", "failed": '<failure message="x">x</failure>', "skipped": '<skipped message="x"/>'}[outcome]
    return (
        f'<testsuites><testsuite name="pytest" errors="0" failures="{int(outcome == "failed")}" '
        f'skipped="{int(outcome == "skipped")}" tests="1"><testcase classname="tests.test_app" name="test_add" '
        f'time="0.01">{inner}</testcase></testsuite></testsuites>'
    )


def ticket(**over: Any) -> bytes:
    """A ticket for the fake change."""
    base = {
        "id": "T-1", "title": "add is wrong", "goal": "add(2, 2) is 4", "allowed": ["src/**", "tests/**"],
        "forbidden": [".github/**"], "verify": "python -m pytest -q", "risk": "low", "permits": [],
    }  # fmt: skip
    return json.dumps({k: v for k, v in {**base, **over}.items() if v is not None}).encode()


def claim(**over: Any) -> bytes:
    """A truthful claim for the fake change."""
    base = {
        "head_sha": "b" * 40, "base_sha": "a" * 40, "commands": [{"cmd": "python -m pytest -q", "exit_code": 0}],
        "junit_xml": junit(), "summary": "fixed",
    }  # fmt: skip
    return json.dumps({k: v for k, v in {**base, **over}.items() if v is not None}).encode()


class FakeGit:
    """Two trees in memory; composed trees get fresh names."""

    def __init__(self, base: Mapping[str, str], head: Mapping[str, str]) -> None:
        self.trees = {"t-base": MemoryTree.of(base), "t-head": MemoryTree.of(head)}
        self.counter = itertools.count()
        self.composed: list[Mapping[str, Any]] = []

    def fetch(self, source: str, target_ref: str, head: str, bundle: str | None = None) -> Mirror:
        return Mirror(Path("/nowhere"), source, f"refs/heads/{target_ref}", "a" * 40, "b" * 40)

    def describe(self, mirror: Mirror) -> Change:
        base, head = self.trees["t-base"], self.trees["t-head"]
        paths = sorted(set(base.entries) | set(head.entries))
        rows = tuple(
            ChangedPath(p, base.entries.get(p), head.entries.get(p))
            for p in paths
            if base.entries.get(p) != head.entries.get(p)
        )
        who = Person("Agent", "agent@agents.example")
        commit = Commit(mirror.head, "t-head", (mirror.base,), who, who, "Fix add")
        history = tuple(HistoryBlob(r.new.oid, r.path, mirror.head, r.new.mode, r.new.size or 0) for r in rows if r.new)
        return Change(
            "repo",
            mirror.target_ref,
            mirror.base,
            "t-base",
            mirror.base,
            mirror.head,
            "t-head",
            "t-head",
            rows,
            (commit,),
            history,
        )

    def tree(self, mirror: Mirror, tree: str) -> MemoryTree:
        return self.trees[tree]

    def blobs(self, mirror: Mirror, oids: Sequence[str]) -> dict[str, bytes]:
        known = {e.oid: t.read(e.path) for t in self.trees.values() for e in t.entries.values()}
        return {o: known[o] for o in oids if o in known}

    def compose(self, mirror: Mirror, tree: str, replace: Mapping[str, tuple[str, str] | None]) -> str:
        self.composed.append(replace)
        known = {e.oid: t.read(e.path) for t in self.trees.values() for e in t.entries.values()}
        files = {p: self.trees[tree].read(p) for p in self.trees[tree].entries}
        for path, entry in replace.items():
            if entry is None:
                files.pop(path, None)
            else:
                files[path] = known[entry[1]]
        name = f"t-composed-{next(self.counter)}"
        self.trees[name] = MemoryTree.of(files)
        return name

    def export(self, mirror: Mirror, tree: str) -> Path:
        return Path("/nowhere") / tree


class FakeEnvironments:
    """An environment that is nothing."""

    def prepare(self, base: Any, settings: Any, choice: str) -> TestEnvironment:
        return TestEnvironment((), "/bin/python", (), "d", "fake", has_recorder=True)


def make_run(role: RunRole, outcome: Outcome = Outcome.PASSED, **over: Any) -> SuiteRun:
    """A run of the one test."""
    code = {Outcome.PASSED: 0, Outcome.SKIPPED: 0}.get(outcome, 1)
    case = CaseResult(TEST_ID, outcome, file="tests/test_app.py", line=4)
    session = Session((case,), 1, code, complete=True, collected_ids=(TEST_ID,))
    values: dict[str, Any] = {
        "id": f"run-{role.value}", "role": role, "suite": "verify", "command": "python -m pytest -q", "tree": "t",
        "exit_code": code, "termination": Termination.EXITED, "sessions": (session,), "reports": (), "engine": ENGINE,
        "log": "", "wall_s": 0.1, "guarantee": "recorded",
    }  # fmt: skip
    return SuiteRun(**{**values, **over})


class FakeSandbox:
    """Gives the outcome set for a role; the base fails, as it has the bug."""

    def __init__(self) -> None:
        self.by_role: dict[RunRole, Any] = {RunRole.BASE: Outcome.FAILED}
        self.seen: list[RunRole] = []
        self.stopped: list[str] = []

    def stop(self, prefix: str) -> None:
        self.stopped.append(prefix)

    def run(self, request: RunRequest) -> SuiteRun:
        self.seen.append(request.role)
        if any(request.id.startswith(prefix) for prefix in self.stopped):
            raise CouldNotCheck("SANDBOX_STOPPED", "stopped")
        first = {RunRole.AGAIN: RunRole.MERGED, RunRole.AGAIN_ON_BASE: RunRole.BASE}.get(request.role, request.role)
        answer = self.by_role.get(request.role, self.by_role.get(first, Outcome.PASSED))
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, SuiteRun):
            return answer
        return listed(make_run(request.role, answer), request)


def listed(run: SuiteRun, request: RunRequest) -> SuiteRun:
    """The run as the recorder tells it where a part of the suite was asked for."""
    if b'"known"' not in request.files.get(SELECTION_FILE, b""):
        return run
    sessions = tuple(replace(s, listed_ids=tuple(c.id for c in s.cases)) for s in run.sessions)
    return replace(run, sessions=sessions)


class FakeScanner:
    """Scans everything and finds nothing."""

    def __init__(self, tool: str) -> None:
        self.tool = tool

    def scan(self, targets: Sequence[Any]) -> ScanReport:
        names = tuple(t.name for t in targets)
        return ScanReport(self.tool, "1", names, names, ())

    def redact(self, texts: Sequence[str]) -> tuple[str, ...]:
        return tuple(texts)


class FakePolicy:
    """Low tier; accepts whatever has no blocking finding."""

    def __init__(self) -> None:
        self.tier = Risk.LOW
        self.verdict: Verdict | None = None

    def bundle(self) -> BundleId:
        return BUNDLE

    def plan(self, document: Mapping[str, Any]) -> Plan:
        return Plan(self.tier, (), (), 0, 3600, BUNDLE, 1, 1)

    def decide(self, document: Mapping[str, Any]) -> PolicyDecision:
        return PolicyDecision(self.verdict or Verdict.ACCEPTED, (), (), (), (), 1, 1, BUNDLE)


class FakeSigner:
    """Signs nothing; keeps what it was given."""

    verifier_id = "urn:fake"

    def __init__(self) -> None:
        self.statements: list[Mapping[str, Any]] = []

    def sign(self, statement: Mapping[str, Any]) -> SignedAttestation:
        self.statements.append(statement)
        return SignedAttestation("{}", f"{len(self.statements):064d}", "SHA256:fake")


class FakeStore:
    """Keeps bundles by commit."""

    def __init__(self) -> None:
        self.kept: dict[str, list[str]] = {}

    def put(self, repository: str, commit: str, bundles: Sequence[str]) -> str:
        self.kept.setdefault(commit, []).extend(bundles)
        return "memory"

    def get(self, repository: str, commit: str) -> tuple[str, ...]:
        return tuple(self.kept.get(commit, ()))


class FixedClock:
    """Time that stands still."""

    def now(self) -> float:
        return 1_800_000_000.0

    def monotonic(self) -> float:
        return 0.0


@dataclass
class World:
    """All fakes of one test."""

    base: Mapping[str, str] = field(default_factory=lambda: BASE_FILES)
    head: Mapping[str, str] = field(default_factory=lambda: HEAD_FILES)

    def __post_init__(self) -> None:
        self.git = FakeGit(self.base, self.head)
        self.environments = FakeEnvironments()
        self.sandbox = FakeSandbox()
        self.secrets, self.code = FakeScanner("secrets"), FakeScanner("code")
        self.policy, self.signer, self.store = FakePolicy(), FakeSigner(), FakeStore()

    def tools(self, **over: Any) -> Tools:
        ids = itertools.count()
        values: dict[str, Any] = {
            "git": self.git, "environments": self.environments, "sandbox": self.sandbox, "secrets": self.secrets,
            "code": self.code, "policy": self.policy, "signer": self.signer, "store": self.store, "clock": FixedClock(),
            "new_id": lambda: f"id-{next(ids)}", "approvals": lambda bundles, **binding: ((), ()), "mode": Mode.LOCAL,
            "gate_version": "test",
        }  # fmt: skip
        return Tools(**{**values, **over})
