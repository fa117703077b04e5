"""Lint, type and build suites: what they complain of on the merge result, and whose fault that is.

A suite of this kind counts no tests; its status decides. The target tip's run is the control: a complaint that is there
already is not the change's, and a tool that is not there says nothing about anybody's work. Where the change touches what
the tools read as settings, the target's settings judge the change's code as well.
"""

from __future__ import annotations

import re

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, Seen, finding, saw
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.testrun import RunRole, SuiteRun, Termination
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.formats.tool_output import Complaint, complaints, fresh, missing_tool

MAX_TOLD = 20
"""Complaints told one by one; the rest is one summary."""
_LOG_FULL = 60_000
"""A log of so many characters may have lost its beginning, so two of them cannot be compared."""
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings about the suites that are no tests. Those that hit a limit or were not run are told elsewhere."""
    found: list[Finding] = []
    for suite in evidence.suites:
        if suite.kind is SuiteKind.TEST:
            continue
        merged = evidence.run(RunRole.MERGED, suite.name)
        if merged is None or merged.termination is not Termination.EXITED or merged.exit_code is None:
            continue
        control = evidence.run(RunRole.BASE, suite.name)
        if merged.exit_code != 0:
            found += _failed(evidence, suite, merged, control)
            continue
        found += _bent(evidence, suite, merged, control)
    return tuple(found)


def _failed(evidence: Evidence, suite: Suite, run: SuiteRun, control: SuiteRun | None) -> list[Finding]:
    fails_before = control is not None and control.termination is Termination.EXITED and control.exit_code != 0
    tool = _absent(run)
    if tool and (control is None or _absent(control)):
        message = (
            f"Suite {suite.name} could not do its work: {tool} is not in the environment, on the target branch neither."
        )
        return [_said("CHECK_TOOL_MISSING", suite, message, run, control)]
    if control is not None and control.termination is not Termination.EXITED:
        message = f"Suite {suite.name} fails on the merge result and did not end on the target branch, so it cannot be compared."
        return [_said("CONTROL_FAILED", suite, message, run, control)]
    if not fails_before or control is None:
        return _complaints(evidence, suite, run, control, complaints(run.log, workdir=suite.workdir))
    now, before = (complaints(r.log, workdir=suite.workdir) for r in (run, control))
    comparable = max(len(run.log), len(control.log)) < _LOG_FULL
    if comparable and now and before and run.exit_code == control.exit_code:
        new = fresh(now, before)
        if new:
            return _complaints(evidence, suite, run, control, new)
        message = f"Suite {suite.name} fails, and complains of nothing that the target branch does not show as well."
        return [_said("CONTROL_FAILED", suite, message, run, control)]
    if comparable and run.exit_code == control.exit_code and _plain(run.log) == _plain(control.log):
        message = f"Suite {suite.name} fails in the same way on the target branch, so it says nothing about the change."
        return [_said("CONTROL_FAILED", suite, message, run, control)]
    return _complaints(evidence, suite, run, control, fresh(now, before))


def _complaints(
    evidence: Evidence, suite: Suite, run: SuiteRun, control: SuiteRun | None, new: tuple[Complaint, ...]
) -> list[Finding]:
    """One finding a complaint, or one for the suite where none could be read."""
    also = " It fails on the target branch too, with other output." if control is not None and control.exit_code else ""
    seen = _ends(run, control)
    found = []
    for one in new[:MAX_TOLD]:
        known = one.path in evidence.merged.entries
        where = "" if known else f"{one.path}:{one.line}: "
        message = f"Suite {suite.name}: {where}{one.message}"
        key = f"{suite.name}\0{one.path}\0{one.key[1]}"
        path, line = (one.path, one.line) if known else (None, None)
        found.append(finding("CHECKS_FAILED", message, path=path, line=line, key=key, seen=seen))
    rest = len(new) - len(found)
    if rest > 0:
        message = f"Suite {suite.name} has {rest} more complaints on the merge result."
        found.append(finding("CHECKS_FAILED", message, key=f"{suite.name} rest", seen=seen))
    if not found:
        message = f"Suite {suite.name} ended with exit status {run.exit_code} on the merge result.{also}"
        found.append(finding("CHECKS_FAILED", message, evidence=run.log[-3000:], key=suite.name, seen=seen))
    return found


def _bent(evidence: Evidence, suite: Suite, merged: SuiteRun, control: SuiteRun | None) -> list[Finding]:
    """It passes with the change's settings. Does it with the target's?"""
    restored = evidence.run(RunRole.BASE_INSTRUMENTS, suite.name)
    if restored is None or restored.exit_code == 0:
        return []
    if restored.termination is not Termination.EXITED or _absent(restored):
        message = f"Suite {suite.name} did not end with the target branch's settings on the change's code."
        return [_said("CONTROL_FAILED", suite, message, restored, control)]
    told = complaints(restored.log, workdir=suite.workdir)
    if control is not None and control.exit_code != 0:
        told = fresh(told, complaints(control.log, workdir=suite.workdir))
        if not told:
            return []  # what the target's settings complain of is there already, and the change's settle it
    instruments = Instruments(evidence.settings, evidence.suites, evidence.base)
    kinds = (InstrumentKind.RUNNER_SETTINGS, InstrumentKind.SCRIPT, InstrumentKind.DECLARED)
    changed = [p.path for p in evidence.change.paths if instruments.kind(p.path) in kinds]
    files = ", ".join(changed[:4]) or "what the tools read"
    first = f": {told[0].path}:{told[0].line}: {told[0].message}" if told else ""
    message = f"Suite {suite.name} passes only with the changed {files}; with the target branch's it fails{first}."
    path = changed[0] if changed else None
    seen = _ends(merged, restored)
    return [finding("CHECKS_BENT", message, path=path, evidence=restored.log[-3000:], key=suite.name, seen=seen)]


def _absent(run: SuiteRun) -> str:
    """The tool that is not there; empty where one was started."""
    if run.termination is not Termination.EXITED:
        return ""
    tool = missing_tool(run.log)
    if run.exit_code in (_NOT_FOUND, _NOT_EXECUTABLE):
        return tool or "a program of its command"
    words = f" {run.command} "
    return tool if run.exit_code and tool and f" {tool.rsplit('/', 1)[-1]} " in words else ""


def _plain(log: str) -> str:
    """Output without what differs from run to run."""
    return re.sub(r"\d+(?:\.\d+)?", "#", log).strip()


def _ends(*runs: SuiteRun | None) -> list[Seen]:
    return [
        saw(r, f"exit status {r.exit_code}" if r.exit_code is not None else r.termination.value.replace("_", " "))
        for r in runs
        if r is not None
    ]


def _said(code: str, suite: Suite, message: str, run: SuiteRun, control: SuiteRun | None) -> Finding:
    return finding(code, message, evidence=run.log[-3000:], key=suite.name, seen=_ends(run, control))
