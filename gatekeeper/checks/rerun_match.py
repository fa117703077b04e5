"""The claim against the gate's own run. Only a difference that makes the evidence look better than it is counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, Seen, finding, saw
from gatekeeper.domain.submission import Claim
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole, SuiteRun
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.domain.tree import Tree, text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats import python_code
from gatekeeper.formats.command_lines import essence
from gatekeeper.formats.go_names import GoNames
from gatekeeper.formats.javascript_titles import Titles
from gatekeeper.formats.junit_xml import junit_key, surplus
from gatekeeper.formats.platform_marks import bound_to_platform

MAX_NAMES = 8
Key = tuple[str, str]
_JAVASCRIPT = ("node", "jest", "vitest")
"""Runners whose reports name tests otherwise than the gate does."""
_BAD = frozenset({Outcome.FAILED, Outcome.ERRORED})
_PASSED = frozenset({Outcome.PASSED, Outcome.XPASSED})
_SKIPPED = frozenset({Outcome.SKIPPED, Outcome.XFAILED})


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
        words = _unsaid(claim) or "names no command"
        found.append(finding("CLAIM_COMMAND_MISSING", f"The claim {words}.", key="commands"))
    found += _commands(claim, tests)
    found += _status(claim, tests, runs, unsteady | _newcomers(evidence, runs))
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


def _unsaid(claim: Claim) -> str:
    """Which of the claimed commands lacks its text or status."""
    for number, command in enumerate(claim.commands, 1):
        if not command.cmd.strip():
            return f"leaves the text of its command {number} empty"
        if command.exit_code is None:
            return f"does not say how its command {number} ended ({command.cmd.strip()[:200]!r})"
    return ""


def _commands(claim: Claim, tests: Iterable[Suite]) -> list[Finding]:
    """Every suite with a command of its own must be among the claimed commands, give or take harmless options."""
    wanted = [s for s in tests if s.runner == "command" and s.command]
    said = [(n, line) for n, c in enumerate(claim.commands, 1) for line in c.cmd.splitlines() if line.strip()]
    if not said or not wanted:
        return []
    ran = {essence(line) for _, line in said} | {essence(c.cmd) for c in claim.commands}
    found = []
    for suite in wanted:
        lines = [line for line in suite.command.splitlines() if line.strip()]
        if all(essence(line) in ran for line in lines):
            continue
        told = "; ".join(f"command {n} {line.strip()[:200]!r}" for n, line in said[:4])
        message = f"Suite {suite.name} is {suite.command[:300]!r}; the claim ran {told}."
        found.append(finding("CLAIM_OTHER_COMMAND", message, key=suite.name))
    return found


def _status(claim: Claim, tests: Iterable[Suite], runs: list[SuiteRun], unsteady: frozenset[str]) -> list[Finding]:
    """Status 0 for a suite that failed. A status is that of the claimed commands which are the suite's, else of all.

    `unsteady` are tests that fail and pass on this code, or that the author did not have: the suite may well have passed.
    """
    commands = {s.name: {essence(line) for line in s.command.splitlines() if line.strip()} for s in tests}
    numbered = [(n, c) for n, c in enumerate(claim.commands, 1) if c.exit_code is not None]
    found = []
    for run in runs:
        if run.exit_code in (0, None) or _only(run, unsteady):
            continue
        own = [
            (n, c)
            for n, c in numbered
            if c.suite == run.suite or (c.cmd.strip() and essence(c.cmd) in commands.get(run.suite, ()))
        ]
        meant = own or numbered
        if not meant or any(c.exit_code for _, c in meant):
            continue
        which = f"command {meant[0][0]}" if own else "every command"
        message = f"The claim says exit status 0 of {which}; suite {run.suite} ended with {run.exit_code}."
        seen = [saw(run, f"exit status {run.exit_code}")]
        found.append(finding("CLAIM_EXIT_CODE", message, key=run.suite, seen=seen))
    return found


def _newcomers(evidence: Evidence, runs: list[SuiteRun]) -> frozenset[str]:
    """Tests that failed and that the author's own commit does not hold: the target has got them since."""
    head, change = evidence.head, evidence.change
    if head is None or change.merge_base == change.base:
        return frozenset()
    found = set()
    for case in (c for r in runs for c in r.cases if c.outcome in _BAD):
        path, _, rest = case.id.partition("::")
        name = rest.rsplit("::", 1)[-1].partition("[")[0]
        if path in evidence.merged.entries and name:
            new_file = path not in head.entries
            names = set[str]() if new_file else _defined(head, path)
            if new_file or (names and name not in names):
                found.add(case.id)
    return frozenset(found)


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

    return lambda key: _touched(key, touched) is None


def _brought(evidence: Evidence) -> Callable[[Key], bool]:
    """Whether a test that ran may have come with the target's own new commits: as `_moved`, or the author's own version
    of a touched file does not define it.
    """
    if evidence.change.merge_base == evidence.change.base:
        return lambda _: False
    touched = {p.path for p in evidence.change.paths}
    defined: dict[str, set[str]] = {}

    def brought(key: Key) -> bool:
        path = _touched(key, touched)
        if path is None:
            return True
        if path not in defined:
            defined[path] = _defined(evidence.head, path)
        return bool(defined[path]) and key[1].partition("[")[0] not in defined[path]

    return brought


def _touched(key: Key, touched: Container[str]) -> str | None:
    parts = key[0].split(".")
    files = ("/".join(parts[:n]) + ".py" for n in range(1, len(parts) + 1))
    return next((f for f in files if f in touched), None)


def _defined(tree: Tree | None, path: str) -> set[str]:
    """Last names of all functions and classes of a file; empty where that cannot be said."""
    parsed = python_code.parse(text(tree, path)) if tree is not None else None
    return {name.rsplit(".", 1)[-1] for name, _ in python_code.definitions(parsed)} if parsed is not None else set()


def _cases(evidence: Evidence, claim: Claim, runs: list[SuiteRun], unsteady: frozenset[str]) -> list[Finding]:
    """Outcomes as multisets by (class name, name), the side on which both notations meet without doubt."""
    theirs, brought = _moved(evidence), _brought(evidence)
    scripts = {s.name for s in evidence.suites if s.runner in _JAVASCRIPT}
    titled = {c.id for r in runs if r.suite in scripts for c in r.cases}
    titles = Titles(titled, (c.id for r in claim.reports for c in r.cases) if titled else ())

    gopher = {s.name for s in evidence.suites if s.runner == "go"}
    golang = GoNames(report for r in runs if r.suite in gopher for report in r.reports)

    def own(test_id: str) -> Key:
        return titles.seen(test_id) if test_id in titled else golang.seen(test_id) or junit_key(test_id)

    def elsewhere(key: Key) -> bool:
        return brought(key) and not (titles.paths(key) | golang.paths(key)) & {p.path for p in evidence.change.paths}

    fickle = {own(i) for i in unsteady}
    seen = _table((c for r in runs for c in r.cases), own)
    if not seen:
        return []

    def of_claim(case_id: str) -> Key:
        key = titles.claimed(case_id) or golang.claimed(case_id) or junit_key(case_id)
        if key in seen or not titled:
            return key
        owner, _, name = case_id.partition("::")
        return owner, name  # as it is written: nothing is compared with it

    said = _table((c for r in claim.reports for c in r.cases), of_claim)
    failed: list[Key] = []
    skipped: list[Key] = []
    absent: list[Key] = []
    for key, outcomes in said.items():
        if not _count(outcomes, _PASSED):
            continue
        here = seen.get(key) or _whole_module(seen, key)
        if here is None:
            if not theirs(key):
                absent.append(key)
        elif _count(here, _BAD) > _count(outcomes, _BAD):
            if key not in fickle:
                failed.append(key)
        elif not _count(here, _PASSED) and _count(here, _SKIPPED) > _count(outcomes, _SKIPPED):
            skipped.append(key)
    left_out = [
        k
        for k, o in seen.items()
        if k not in said and not elsewhere(k) and (_count(o, _PASSED) or _count(o, _BAD)) and not _whole_module(said, k)
    ]
    absent, left_out = _renamed_rows(absent, left_out, said, seen)
    places = _Places(evidence, runs, own)
    elsewhere_run = [k for k in skipped if places.bound(k)]
    rows = (
        ("CLAIM_PASSED_SEEN_FAILED", failed, "claimed as passed and failing in the gate's run"),
        ("CLAIM_PASSED_SEEN_SKIPPED", [k for k in skipped if k not in elsewhere_run], "claimed as passed and skipped in the gate's run"),
        ("CLAIM_PASSED_NOT_SEEN", absent, "claimed as passed and not there in the gate's run"),
        ("CLAIM_INCOMPLETE", left_out, "left out of the claim and run by the gate"),
        ("CLAIM_OTHER_PLATFORM", elsewhere_run, "claimed as passed and skipped here for where the gate runs"),
    )  # fmt: skip
    return [_tell(code, keys, words, places) for code, keys, words in rows if keys]


def _whole_module(table: dict[Key, Counter[Outcome]], key: Key) -> Counter[Outcome] | None:
    """Results of the module that holds the test, where it was skipped as a whole: it stands there without class name."""
    parts = key[0].split(".")
    for n in range(len(parts), 0, -1):
        found = table.get(("", ".".join(parts[:n])))
        if found is not None and not set(found) - _SKIPPED:
            return found
    return None


def _renamed_rows(
    absent: list[Key],
    left_out: list[Key],
    said: dict[Key, Counter[Outcome]],
    seen: dict[Key, Counter[Outcome]],
) -> tuple[list[Key], list[Key]]:
    """Without parameter sets that only have other ids there and here (a path, an address, the order of a set).

    The same test, as many sets on both sides, all of them passed on both: nothing is gained by the difference.
    """

    def rows(keys: list[Key]) -> dict[Key, list[Key]]:
        table: dict[Key, list[Key]] = {}
        for owner, name in keys:
            stem, bracket, _ = name.partition("[")
            if bracket:
                table.setdefault((owner, stem), []).append((owner, name))
        return table

    there, here = rows(absent), rows(left_out)
    same: set[Key] = set()
    for test, names in there.items():
        others = here.get(test, [])
        passed = [said[k] for k in names] + [seen[k] for k in others]
        if len(names) == len(others) and not any(set(o) - _PASSED for o in passed):
            same |= {*names, *others}
    return [k for k in absent if k not in same], [k for k in left_out if k not in same]


class _Places:
    """Where the tests of the gate's runs stand, and what each run showed of them."""

    def __init__(self, evidence: Evidence, runs: list[SuiteRun], own: Callable[[str], Key]) -> None:
        self._evidence = evidence
        self._rows: dict[Key, list[tuple[SuiteRun, CaseResult]]] = {}
        for run in runs:
            for case in run.cases:
                self._rows.setdefault(own(case.id), []).append((run, case))

    def first(self, keys: list[Key]) -> CaseResult | None:
        """The first of the tests that the gate ran."""
        return next((self._rows[k][0][1] for k in sorted(keys) if k in self._rows), None)

    def seen(self, keys: list[Key]) -> list[Seen]:
        """What each run showed of the tests, counted."""
        rows = [row for k in keys for row in self._rows.get(k, ())]
        found = []
        for run in {id(r): r for r, _ in rows}.values():
            counts = Counter(c.outcome.value for r, c in rows if r is run)
            found.append(saw(run, ", ".join(f"{n} {word}" for word, n in sorted(counts.items()))))
        return found

    def bound(self, key: Key) -> bool:
        """The gate's skip of it depends on the platform by the test's own source, and the target branch skips it too."""
        rows = self._rows.get(key)
        if rows is None:
            parts = key[0].split(".")
            modules = (("", ".".join(parts[:n])) for n in range(len(parts), 0, -1))
            rows = next((self._rows[m] for m in modules if m in self._rows), [])
        return bool(rows) and all(self._bound(run, case) for run, case in rows)

    def _bound(self, run: SuiteRun, case: CaseResult) -> bool:
        control = self._evidence.run(RunRole.BASE, run.suite)
        if control is not None and any(c.id == case.id and c.outcome in _PASSED | _BAD for c in control.cases):
            return False
        path, _, name = case.id.partition("[")[0].partition("::")
        try:
            return bound_to_platform(text(self._evidence.merged, path), name)
        except CouldNotCheck:
            return False


def _tell(code: str, keys: list[Key], words: str, places: _Places) -> Finding:
    names = ["::".join(k).strip(":") for k in sorted(keys)]
    rest = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    message = f"{len(names)} {'test' if len(names) == 1 else 'tests'} {words}: {', '.join(names[:MAX_NAMES])}{rest}."
    case = places.first(keys)
    return finding(
        code,
        message,
        path=case.file if case else None,
        line=case.line if case else None,
        evidence="\n".join(names[:100]) if len(names) > MAX_NAMES else "",
        # The tests alone, not where they stand: a moved file is the same lie.
        key=message,
        seen=places.seen(keys),
    )
