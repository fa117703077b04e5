"""The claim against the gate's own run. Only a difference that makes the evidence look better than it is counts."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.submission import Claim
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole, SuiteRun
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.formats.javascript_titles import Titles
from gatekeeper.formats.junit_xml import junit_key, surplus

MAX_NAMES = 8
Key = tuple[str, str]
_JAVASCRIPT = ("node", "jest", "vitest")
"""Runners whose reports name tests otherwise than the gate does."""
_BAD = frozenset({Outcome.FAILED, Outcome.ERRORED})
_PASSED = frozenset({Outcome.PASSED, Outcome.XPASSED})
_SKIPPED = frozenset({Outcome.SKIPPED, Outcome.XFAILED})
_PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
_ENV = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
# Options that change what a runner prints or writes, never which tests run.
_QUIET = re.compile(
    r"-[vq]+|--verbose|--quiet|-r\w*|-s|-l|--showlocals|--no-header|--no-summary|--full-trace|-rA|--durations-min=.*"
    r"|--(?:junit-?xml|junit-prefix|tb|color|capture|durations|report-log|show-capture|verbosity)=.*"
)
_QUIET_WITH_VALUE = frozenset({"--junitxml", "--junit-xml", "--tb", "--color", "--capture", "--durations"})


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings about the claim: missing, broken, of another commit or command, or better than what was seen."""
    claim = evidence.claim
    if claim.unreadable:
        return ()  # its own finding blocks; to say that none was sent would be false
    if not claim.present:
        return (finding("CLAIM_MISSING", "No claim was sent."),)
    found = [finding(code, message) for code, message in claim.report_faults]
    if claim.head_sha is None:
        # Leaving the commit out must not fare better than naming another one.
        found.append(finding("CLAIM_UNBOUND", "The claim does not say which commit it is about (head_sha)."))
    elif not evidence.change.head.lower().startswith(claim.head_sha.lower()):
        message = f"The claim is about {claim.head_sha[:40]}; the head commit is {evidence.change.head}."
        found.append(finding("CLAIM_OTHER_COMMIT", message))
    tests = [s for s in evidence.suites if s.kind is SuiteKind.TEST]
    runs = [r for s in tests if (r := evidence.run(RunRole.MERGED, s.name)) is not None]
    unsteady = frozenset(i for s in tests if evidence.flaky for i in evidence.flaky.told_elsewhere(s.name))
    if not claim.commands or any(c.exit_code is None or not c.cmd.strip() for c in claim.commands):
        words = "names no command" if not claim.commands else "leaves out a command or its exit status"
        found.append(finding("CLAIM_COMMAND_MISSING", f"The claim {words}."))
    found += _commands(claim, evidence.suites)
    found += _status(claim, runs, unsteady)
    if not claim.reports:
        if not claim.report_faults and any(r.cases for r in runs):
            found.append(finding("CLAIM_REPORT_MISSING", "The claim holds no test report."))
        return tuple(found)
    if not any(r.cases for r in runs):
        # Nothing to compare case by case: then a header that counts more than the cases show is all there is to see.
        for report in claim.reports:
            if surplus(report):
                message = f"The claimed report's header counts {surplus(report)} more tests than it has cases."
                found.append(finding("CLAIM_REPORT_CONTRADICTS_ITSELF", message))
    return (*found, *_cases(evidence, claim, runs, unsteady))


def _commands(claim: Claim, suites: Iterable[Suite]) -> list[Finding]:
    """Every suite with a command of its own must be among the claimed commands, give or take harmless options."""
    wanted = [s for s in suites if s.runner == "command" and s.kind is SuiteKind.TEST and s.command]
    said = [line for c in claim.commands for line in c.cmd.splitlines() if line.strip()]
    if not said or not wanted:
        return []
    ran = {_plain(line) for line in said} | {_plain(c.cmd) for c in claim.commands}
    found = []
    for suite in wanted:
        lines = [line for line in suite.command.splitlines() if line.strip()]
        if all(_plain(line) in ran for line in lines):
            continue
        message = f"The claim ran {said[0][:300]!r}; suite {suite.name} is {suite.command[:300]!r}."
        found.append(finding("CLAIM_OTHER_COMMAND", message, key=suite.name))
    return found


def _plain(command: str) -> tuple[str, ...]:
    """A command as words without what changes only the output; `python3 -m pytest` and `pytest` are the same."""
    try:
        words = shlex.split(command)
    except ValueError:
        return (" ".join(command.split()),)
    kept: list[str] = []
    skip = leading = False
    for given in words:
        word = given
        if skip:
            skip = False
            continue
        if not kept and _ENV.fullmatch(word):
            name, _, value = word.partition("=")
            if (name == "PYTEST_ADDOPTS" and _harmless(value)) or (name.startswith("PYTHON") and name != "PYTHONPATH"):
                continue
        if _PYTHON.fullmatch(word) and not leading:
            word, leading = "python", True
        if word in _QUIET_WITH_VALUE:
            skip = True
        elif not (kept and _QUIET.fullmatch(word)):
            kept.append(word)
    return tuple(kept[2:] if kept[:3] == ["python", "-m", "pytest"] else kept)


def _harmless(options: str) -> bool:
    try:
        words = shlex.split(options)
    except ValueError:
        return False
    values = {i + 1 for i, w in enumerate(words) if w in _QUIET_WITH_VALUE}
    return all(i in values or w in _QUIET_WITH_VALUE or _QUIET.fullmatch(w) for i, w in enumerate(words))


def _status(claim: Claim, runs: list[SuiteRun], unsteady: frozenset[str]) -> list[Finding]:
    """`unsteady` are tests that fail and pass on this code: the author may well have seen the suite pass."""
    failing = [r for r in runs if r.exit_code not in (0, None) and not _only(r, unsteady)]
    codes = [c.exit_code for c in claim.commands if c.exit_code is not None]
    if not failing or not codes or any(codes):
        return []
    message = f"The claim says exit status 0; suite {failing[0].suite} ended with {failing[0].exit_code}."
    return [finding("CLAIM_EXIT_CODE", message)]


def _only(run: SuiteRun, unsteady: frozenset[str]) -> bool:
    """Nothing else failed in the run."""
    bad = [c.id for c in run.cases if c.outcome in _BAD]
    return bool(bad) and unsteady.issuperset(bad)


def _table(cases: Iterable[CaseResult], key: Callable[[str], Key]) -> dict[Key, Counter[Outcome]]:
    table: dict[Key, Counter[Outcome]] = {}
    for case in cases:
        table.setdefault(key(case.id), Counter())[case.outcome] += 1
    return table


def _count(outcomes: Counter[Outcome] | None, kinds: frozenset[Outcome]) -> int:
    return sum(n for o, n in outcomes.items() if o in kinds) if outcomes else 0


def _moved(evidence: Evidence) -> Callable[[Key], bool]:
    """Whether a test may have come or gone with the target's own new commits, which the author had not seen.

    The claim is about head, the gate runs the merge. Where the target moved, a test in a file that the change itself
    did not touch is the target's.
    """
    if evidence.change.merge_base == evidence.change.base:
        return lambda _: False
    touched = {p.path for p in evidence.change.paths}

    def theirs(key: Key) -> bool:
        parts = key[0].split(".")
        return not any("/".join(parts[:n]) + ".py" in touched for n in range(1, len(parts) + 1))

    return theirs


def _cases(evidence: Evidence, claim: Claim, runs: list[SuiteRun], unsteady: frozenset[str]) -> list[Finding]:
    """Outcomes as multisets by (class name, name), the side on which both notations meet without doubt."""
    theirs = _moved(evidence)
    scripts = {s.name for s in evidence.suites if s.runner in _JAVASCRIPT}
    titled = {c.id for r in runs if r.suite in scripts for c in r.cases}
    titles = Titles(titled, (c.id for r in claim.reports for c in r.cases) if titled else ())

    def own(test_id: str) -> Key:
        return titles.seen(test_id) if test_id in titled else junit_key(test_id)

    def elsewhere(key: Key) -> bool:
        return theirs(key) and not titles.paths(key) & {p.path for p in evidence.change.paths}

    fickle = {own(i) for i in unsteady}
    seen = _table((c for r in runs for c in r.cases), own)
    if not seen:
        return []
    said = _table((c for r in claim.reports for c in r.cases), lambda i: titles.claimed(i) or junit_key(i))
    failed: list[Key] = []
    skipped: list[Key] = []
    absent: list[Key] = []
    for key, outcomes in said.items():
        if not _count(outcomes, _PASSED):
            continue
        here = seen.get(key)
        if here is None:
            if not theirs(key):
                absent.append(key)
        elif _count(here, _BAD) > _count(outcomes, _BAD):
            if key not in fickle:
                failed.append(key)
        elif not _count(here, _PASSED) and _count(here, _SKIPPED) > _count(outcomes, _SKIPPED):
            skipped.append(key)
    left_out = [
        k for k, o in seen.items() if k not in said and not elsewhere(k) and (_count(o, _PASSED) or _count(o, _BAD))
    ]
    rows = (
        ("CLAIM_PASSED_SEEN_FAILED", failed, "claimed as passed and failing in the gate's run"),
        ("CLAIM_PASSED_SEEN_SKIPPED", skipped, "claimed as passed and skipped in the gate's run"),
        ("CLAIM_PASSED_NOT_SEEN", absent, "claimed as passed and not there in the gate's run"),
        ("CLAIM_INCOMPLETE", left_out, "left out of the claim and run by the gate"),
    )
    return [_tell(code, keys, words) for code, keys, words in rows if keys]


def _tell(code: str, keys: list[Key], words: str) -> Finding:
    names = ["::".join(k).strip(":") for k in sorted(keys)]
    rest = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    message = f"{len(names)} {'test' if len(names) == 1 else 'tests'} {words}: {', '.join(names[:MAX_NAMES])}{rest}."
    return finding(code, message, evidence="\n".join(names[:100]))
