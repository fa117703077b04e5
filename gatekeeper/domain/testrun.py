"""Results of test runs: outcomes, per-test results, sessions, whole runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

from gatekeeper.records import dataclass, field


class Outcome(StrEnum):
    """How one test went. `failure` (assertion) and `error` (set-up, collection) stay apart as in JUnit."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    """Expected to fail and failed: proves nothing."""
    XPASSED = "xpassed"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One test of one run.

    `id` is `path::name`, `path::Class::name`, parameters in brackets, path relative to the root of the tree, for
    pytest; `classname::name` for a test known only from JUnit.
    """

    id: str
    outcome: Outcome
    detail: str = ""
    """Failure text or skip reason, bounded."""
    duration_s: float | None = None
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True)
class SuiteReport:
    """A JUnit document as parsed: cases plus the totals its header states (None: not stated)."""

    name: str
    cases: tuple[CaseResult, ...]
    stated: Mapping[str, int] = field(default_factory=dict)
    """tests, failures, errors, skipped as the header states them, summed over the suites."""
    timestamp: str | None = None


class Termination(StrEnum):
    """How the process of a run ended."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_FLOOD = "output_flood"
    TOO_MANY_PROCESSES = "too_many_processes"


class RunRole(StrEnum):
    """Which tree a run was made on, and why."""

    MERGED = "merged"
    """The merge result as it is, with the change's own instruments and tests."""
    BASE_INSTRUMENTS = "base_instruments"
    """The merge result with every test and instrument of the target tip put back: the deciding run when they differ."""
    BASE = "base"
    """The target tip: the control that tells a fault of the change from one of the environment."""
    NEW_TESTS_ON_BASE = "new_tests_on_base"
    """The target tip's code with the change's new and changed tests: a new test must fail here."""
    WITNESS = "witness"
    """Test files of the merge result again, each in a process of its own, beside tests of the gate that must fail."""
    AGAIN = "again"
    """Tests that differed, run again in a fresh sandbox, to tell a flake from a failure."""
    AGAIN_ON_BASE = "again_on_base"
    """The same tests on the target tip."""
    MEASURE = "measure"
    """Coverage and mutants of the changed lines."""


@dataclass(frozen=True, slots=True)
class Session:
    """One pytest process as the gate's recorder saw it through its own connection.

    What a tested process writes about itself is a claim (DESIGN rule 4): `complete` says only that the records agree
    with each other.
    """

    cases: tuple[CaseResult, ...]
    collected: int
    exit_code: int | None
    """From the end-of-session record; None where it never came."""
    complete: bool
    """Start and end record seen, nonce right, every collected test reported, nothing after the end."""
    problems: tuple[str, ...] = ()
    argv: tuple[str, ...] = ()
    config_files: tuple[str, ...] = ()
    """Settings file that pytest said it used (relative), for comparing runs."""
    collected_ids: tuple[str, ...] = ()
    deselected: int = 0
    listed_ids: tuple[str, ...] = ()
    """All tests that there are, where the gate asked for a part of them by naming those it knows already."""
    reached: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """(test, places in `Selection.lines` that it ran), where the gate asked for it and the test could be followed."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The sandbox that ran it and what it could not give here."""

    name: str
    version: str
    isolation: tuple[str, ...]
    """Guarantees had: network_none, dedicated_user, seccomp, memory_limit, process_limit, overlay, ..."""
    missing: tuple[str, ...] = ()
    """Guarantees that this machine could not give, same words."""


@dataclass(frozen=True)
class SuiteRun:
    """One run of one suite on one tree."""

    id: str
    role: RunRole
    suite: str
    command: str
    tree: str
    exit_code: int | None
    """Status of the command; None unless it EXITED. 128+n where a shell reports a signal."""
    termination: Termination
    sessions: tuple[Session, ...]
    reports: tuple[SuiteReport, ...]
    """JUnit files that the command wrote (opaque commands with `reports`)."""
    engine: Engine
    log: str
    """Tail of the combined output, bounded, control characters made harmless."""
    wall_s: float
    cpu_s: float | None = None
    guarantee: str = ""
    """One word for docs and attestation: witnessed (a run beside tests of the gate that failed as written), recorded (own
    plugin), structured (own reporter of another runner), reported (JUnit) or exit_status."""
    report_faults: tuple[tuple[str, str], ...] = ()
    outputs: tuple[bytes, ...] = field(default=(), repr=False)
    """Contents of the files that `RunRequest.collect` named, as far as they came: written by tested code."""
    rewritten: tuple[tuple[str, str], ...] | None = None
    """(path, how) of files of the tree that the run itself changed: `content`, `gone`, or `touched` (the same content,
    written or replaced none the less); seen from outside when the command had ended. None: nobody could look."""
    expects_records: bool = False
    """True where a pytest suite was expected to report through the recorder: none then is a finding."""
    partial: bool = False
    """True where the gate ran a part of the suite: its status is of that part."""
    taken: tuple[CaseResult, ...] = ()
    """Beside that part: tests that this run only listed, with the result of the same test of the same file in the whole run
    with the target's own tests."""

    @property
    def cases(self) -> tuple[CaseResult, ...]:
        """Results of all sessions, or of the JUnit reports where no session was recorded."""
        if self.sessions:
            return tuple(c for s in self.sessions for c in s.cases) + self.taken
        return tuple(c for r in self.reports for c in r.cases)

    @property
    def accounted_for(self) -> bool:
        """True where it ended by itself and every test that its sessions collected has a result."""
        return (
            self.termination is Termination.EXITED
            and self.exit_code is not None
            and bool(self.sessions)
            and all(s.complete for s in self.sessions)
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many results of each outcome."""
        return dict(Counter(c.outcome.value for c in self.cases))


def outcomes_by_id(cases: Iterable[CaseResult]) -> dict[str, Counter[Outcome]]:
    """Outcomes as multisets by id: the same id may honestly run more than once (sessions, duplicate parameters)."""
    table: dict[str, Counter[Outcome]] = {}
    for case in cases:
        table.setdefault(case.id, Counter())[case.outcome] += 1
    return table


def completed(base: SuiteRun, known: SuiteRun | None) -> tuple[CaseResult, ...]:
    """What the target tip's run shows of all its tests.

    Where a part of it was run, the rest are tests that it lists and that `known` (the same tests on the change's code)
    showed to pass: for them only that they are there is taken from it, and that they can pass.
    """
    if not base.partial or known is None:
        return base.cases
    seen = {c.id for c in base.cases}
    table: dict[str, list[CaseResult]] = {}
    for case in known.cases:
        table.setdefault(case.id, []).append(case)
    listed = dict.fromkeys(i for s in base.sessions for i in s.listed_ids)
    return base.cases + tuple(c for i in listed if i not in seen for c in table.get(i, ()))
