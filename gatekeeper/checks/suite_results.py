"""What the gate's own runs on the merge result showed: failures, limits, missing runs, missing records.

What a lint, type or build suite complains of is told by check_suites.
"""

from __future__ import annotations

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, Seen, finding, saw
from gatekeeper.domain.followup import Flaky
from gatekeeper.domain.testrun import Outcome, RunRole, SuiteRun, Termination
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.domain.verdict import Blame

MAX_FAILURES = 20
"""Failing tests told one by one; the rest is one summary."""
_BAD = (Outcome.FAILED, Outcome.ERRORED)
_LIMITS = {
    Termination.TIMED_OUT: ("RUN_TIMED_OUT", "did not end in time"),
    Termination.OUT_OF_MEMORY: ("RUN_OUT_OF_MEMORY", "used more memory than allowed"),
    Termination.OUTPUT_FLOOD: ("RUN_OUTPUT_FLOOD", "wrote more output than allowed"),
    Termination.TOO_MANY_PROCESSES: ("RUN_KILLED", "started more processes than allowed"),
    Termination.SIGNALLED: ("RUN_KILLED", "was killed by a signal"),
}
_NO_TESTS = 5
"""pytest's exit status where nothing was collected."""


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings about the MERGED run of every suite; a suite without one is undecided, never passed."""
    found: list[Finding] = []
    for suite in evidence.suites:
        run = evidence.run(RunRole.MERGED, suite.name)
        if run is None:
            message = f"Suite {suite.name} was not run on the merge result."
            found.append(finding("RUN_MISSING", message, key=suite.name))
            continue
        control = evidence.run(RunRole.BASE, suite.name)
        if run.termination is not Termination.EXITED or run.exit_code is None:
            found.append(_limit(run, control))
            continue
        found += _results(suite, run, control, evidence.flaky or Flaky())
        if suite.kind is SuiteKind.TEST:
            found += _records(run, control)
            found += _reports(suite, run, control)
            found += _comparable(evidence, run, control)
    if not evidence.suites:
        found.append(finding("RUN_MISSING", "No suite was run, so nothing is proven.", key="no suite"))
    return tuple(found)


def _limit(run: SuiteRun, control: SuiteRun | None) -> Finding:
    code, what = _LIMITS.get(run.termination, ("RUN_KILLED", "ended without an exit status"))
    message = f"Suite {run.suite} {what} on the merge result"
    seen = _ends(run, control)
    if control is None:
        message += "; no run of the target branch tells whether the change is to blame."
        return finding(code, message, evidence=run.log[-2000:], key=run.suite, blame=Blame.GATE, seen=seen)
    if control.termination is not Termination.EXITED:
        message += f", and ended as {control.termination.value} on the target branch as well."
        return finding("CONTROL_FAILED", message, evidence=run.log[-2000:], key=run.suite, seen=seen)
    message += "; on the target branch it ends normally."
    return finding(code, message, evidence=run.log[-2000:], key=run.suite, blame=Blame.CHANGE, seen=seen)


def _ends(*runs: SuiteRun | None) -> list[Seen]:
    """How each run ended."""
    return [
        saw(r, f"exit status {r.exit_code}" if r.exit_code is not None else r.termination.value.replace("_", " "))
        for r in runs
        if r is not None
    ]


def _results(suite: Suite, run: SuiteRun, control: SuiteRun | None, again: Flaky) -> list[Finding]:
    """Tests that fail and pass are left out: another check speaks of them."""
    told = again.told_elsewhere(suite.name)
    test = suite.kind is SuiteKind.TEST
    bad = {c.id: c for c in run.cases if c.outcome in _BAD} if test else {}
    failed = {i: c for i, c in bad.items() if i not in told}
    before = {c.id for c in control.cases if c.outcome in _BAD} if control else set()
    found = []
    for case in list(failed.values())[:MAX_FAILURES]:
        also = " It failed on the target branch too." if case.id in before else ""
        message = (
            f"{case.id} {case.outcome.value} on the merge result.{also} {again.note(suite.name, case.id)}".rstrip()
        )
        found.append(
            finding("TESTS_FAILED", message, path=case.file, line=case.line, evidence=case.detail, key=case.id)
        )
    if len(failed) > MAX_FAILURES:
        message = f"{len(failed) - MAX_FAILURES} more tests of suite {suite.name} failed on the merge result."
        seen = [saw(run, f"{len(failed)} failed")]
        found.append(finding("TESTS_FAILED", message, key=f"{suite.name} rest", seen=seen))
    if test and not bad and _empty(run):
        message = f"Suite {suite.name} ran no test on the merge result (exit status {run.exit_code})."
        seen = _ends(run, control)
        if control is not None and not control.partial and _empty(control):
            # What the target never had the change cannot have taken away.
            message += " It runs none on the target branch either, so what the target says of its suites is at fault."
            return [
                finding(
                    "NO_TESTS_RAN",
                    message,
                    evidence=run.log[-2000:],
                    key=suite.name,
                    seen=seen,
                    blame=Blame.ENVIRONMENT,
                )
            ]
        return [finding("NO_TESTS_RAN", message, evidence=run.log[-2000:], key=suite.name, seen=seen)]
    if test and run.exit_code and not bad:
        also = " It fails on the target branch too." if control and control.exit_code else ""
        message = f"Suite {suite.name} ended with exit status {run.exit_code} on the merge result.{also}"
        seen = _ends(run, control)
        found.append(finding("SUITE_FAILED", message, evidence=run.log[-3000:], key=suite.name, seen=seen))
    return found


def _empty(run: SuiteRun) -> bool:
    """No test ran, where tests could have been seen. A suite that never shows any is opaque: its status decides."""
    if run.cases:
        return False
    if run.sessions:
        return run.exit_code in (0, _NO_TESTS)
    return bool(run.reports)


def _records(run: SuiteRun, control: SuiteRun | None) -> list[Finding]:
    """What the recorder should have seen and did not: something in the run keeps results from the gate."""
    if not run.sessions:
        recorded = control is not None and bool(control.sessions)
        if recorded or (run.expects_records and control is None):
            also = " while the target branch's run was recorded" if recorded else ""
            message = f"The recorder saw no test session of suite {run.suite}{also}."
            seen = [saw(r, f"{len(r.sessions)} recorded sessions") for r in (run, control) if r is not None]
            return [finding("RECORDS_MISSING", message, evidence=run.log[-2000:], key=run.suite, seen=seen)]
        return []
    # What the target branch's run shows as well is how this suite is, not what the change did.
    problems = [p for p in _problems(run) if control is None or p not in _problems(control)]
    if not problems:
        return []
    message = f"The records of suite {run.suite} do not agree: {'; '.join(problems)}."
    seen = [saw(run, "records that do not agree")]
    seen += [saw(control, "records that agree")] if control is not None and not _problems(control) else []
    return [finding("RECORDS_INCONSISTENT", message, evidence=run.log[-2000:], key=run.suite, seen=seen)]


def _reports(suite: Suite, run: SuiteRun, control: SuiteRun | None) -> list[Finding]:
    """Results that did not come, or cannot be read. A command of the project's may honestly leave none, as on the target."""
    if not run.report_faults:
        return []
    words = " ".join(message for _, message in run.report_faults[:3])
    alike = control is not None and bool(control.report_faults)
    if alike and suite.runner == "command":
        return []
    if alike:
        message = f"Suite {suite.name}: {words} It is the same on the target branch."
        return [finding("CONTROL_FAILED", message, evidence=run.log[-2000:], key=suite.name)]
    code = "REPORT_MISSING" if any(c == "REPORT_MISSING" for c, _ in run.report_faults) else "REPORT_UNREADABLE"
    return [finding(code, f"Suite {suite.name}: {words}", evidence=run.log[-2000:], key=suite.name)]


def _comparable(evidence: Evidence, run: SuiteRun, control: SuiteRun | None) -> list[Finding]:
    """Where instruments changed, a run of the target's own tests must be whole: what it lost could be what the change took.

    A suite that is recorded nowhere is compared by other means.
    """
    restored = evidence.run(RunRole.BASE_INSTRUMENTS, run.suite)
    if restored is None or control is None or not run.sessions:
        return []
    if control.accounted_for or (restored.accounted_for and restored.cases):
        return []
    message = (
        f"Neither the run of suite {run.suite} on the target branch nor that of its tests on this code is whole, so nobody"
        " can say whether a test vanished or fell silent."
    )
    return [
        finding(
            "RUN_INCONCLUSIVE",
            message,
            key=f"{run.suite} control",
            blame=Blame.ENVIRONMENT,
            seen=_ends(control, restored),
        )
    ]


def _problems(run: SuiteRun) -> list[str]:
    found = [p for s in run.sessions for p in s.problems]
    found += ["a session is incomplete" for s in run.sessions if not s.complete]
    codes = [s.exit_code for s in run.sessions]
    if None in codes:
        found.append("a session has no end record")
    # A command may run more than pytest, so a status worse than pytest's is honest; a better one hides something.
    if run.exit_code == 0 and any(codes):
        found.append("pytest ended with a failure and the command with 0")
    if any(c.outcome in _BAD for c in run.cases) and not any(code != 0 for code in codes):
        found.append("tests failed and every session ended with 0")
    return list(dict.fromkeys(found))
