"""Narrow: where test modules alone changed, a few of them, those of the target are run a second time and nothing else is.

One whole run decides then, in which the changed modules are loaded and run when all other tests are over and their records
sent: nothing in them can make those pass. What the target's own versions of the changed modules show on the change's code needs no second run
of all the rest. Whatever does not fit (a failure, another order, a run that nobody recorded) is run whole, both ways.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from gatekeeper.domain.change import Change
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.testrun import Outcome, RunRole, SuiteRun, Termination, completed, outcomes_by_id
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.domain.tree import Tree, text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.records import replace

_MOST_CHANGED = 0.3
"""Part of the suite's tests that may stand in changed modules: for more of them two whole runs cost less."""
_MOST_MODULES = 4000
_MOST_SOURCE = 1_000_000
_OTHER_ORDER = re.compile(
    r"xdist|numprocesses|(?<![\w-])-n(?:\s|=|auto|\d)|random|--dist|--ff\b|--failed-first|--nf\b|--lf\b|forked|parallel"
)
"""Words of commands and settings under which tests do not come in the order in which they stand."""


def tame(
    change: Change, suites: Sequence[Suite], instruments: Instruments, base: Tree, merged: Tree
) -> tuple[tuple[str, ...], frozenset[str]]:
    """(the changed test modules, names of the suites for which they are run behind all others); both empty where not.

    Nothing but test modules may have changed of all that bends runs, few of them, and nothing else may speak of them.
    """
    kinds = {p.path: instruments.kind(p.path) for p in change.paths}
    bent = [p for p in change.paths if (kind := kinds[p.path]) is not None and kind.bends_runs]
    nothing: tuple[tuple[str, ...], frozenset[str]] = ((), frozenset())
    if not bent or any(kinds[p.path] is not InstrumentKind.TEST or not _module(p.path) for p in bent):
        return nothing
    told = frozenset(s.name for s in suites if s.kind is SuiteKind.TEST and _in_order(s, instruments, base))
    paths = tuple(p.path for p in bent)
    words = [s.command or "" for s in suites]
    if not told or not _few(paths, instruments, base, merged) or _taken_from(paths, words, instruments, base, merged):
        return nothing
    return paths, told


def _module(path: str) -> bool:
    # A bracket in a path looks like parameters in the name of a test.
    return path.endswith(".py") and posixpath.basename(path) not in ("conftest.py", "__init__.py") and "[" not in path


def _in_order(suite: Suite, instruments: Instruments, base: Tree) -> bool:
    """Pytest runs in the suite, as far as its words and scripts say so, and nothing speaks of another order."""
    from gatekeeper.formats.pytest_settings import ORDER

    scripts = [_read(base, p) or "" for p in instruments.scripts] if suite.runner == "command" else []
    words = [suite.command or "", *scripts]
    if suite.runner not in ("pytest", "command"):
        return False
    if suite.runner == "command" and not any("pytest" in w or "py.test" in w for w in words):
        return False
    settings = [_read(base, posixpath.join(folder, name)) or "" for folder in {"", suite.workdir} for name in ORDER]
    return not any(_OTHER_ORDER.search(w) for w in (*words, *settings))


def _few(paths: tuple[str, ...], instruments: Instruments, base: Tree, merged: Tree) -> bool:
    """Most tests stand in modules that are as they were."""
    tests = [p for p in merged.entries if p.endswith(".py") and instruments.kind(p) is InstrumentKind.TEST]
    if len(tests) > _MOST_MODULES:
        return False
    changed = set(paths)
    rest = sum((_read(merged, p) or "").count("def test") for p in tests if p not in changed)
    most = sum(max((_read(t, p) or "").count("def test") for t in (base, merged)) for p in paths)
    return most <= _MOST_CHANGED * (rest + most)


def _taken_from(
    paths: tuple[str, ...], commands: Sequence[str], instruments: Instruments, base: Tree, merged: Tree
) -> bool:
    """Another module, a command, a script or the settings speak of a changed module: what they then show hangs on that, too."""
    others = [p for p, e in merged.entries.items() if p.endswith(".py") and p not in paths]
    if len(others) > _MOST_MODULES or any((merged.entries[p].size or 0) > _MOST_SOURCE for p in others):
        return True
    means = {*instruments.scripts, *(p for p in base.entries if instruments.kind(p) is InstrumentKind.RUNNER_SETTINGS)}
    return _spoken_of(
        paths, (*commands, *(_read(merged, p) or "" for p in others), *(_read(base, p) or "" for p in means))
    )


def _spoken_of(paths: Iterable[str], others: Iterable[str]) -> bool:
    stems = sorted({posixpath.basename(p).removesuffix(".py") for p in paths})
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, stems))})\b")
    return any(pattern.search(source) for source in others)


def _read(tree: Tree, path: str) -> str | None:
    with suppress(CouldNotCheck):  # larger than what is read
        return text(tree, posixpath.normpath(path))
    return None


def simply_passed(run: SuiteRun) -> bool:
    """It ended by itself with 0 and showed tests."""
    return run.termination is Termination.EXITED and run.exit_code == 0 and bool(run.cases)


def known(run: SuiteRun, behind: Sequence[str]) -> tuple[str, ...] | None:
    """Tests outside the files of `behind` that passed and were over before the first of those ran.

    None where that can not be told: it did not simply pass, was not recorded, or came in another order.
    """
    if not simply_passed(run) or not run.accounted_for:
        return None
    files = frozenset(behind)
    late = [c.id.partition("::")[0] in files for s in run.sessions for c in s.cases]
    if late != sorted(late):
        return None
    passed = (i for i, seen in outcomes_by_id(run.cases).items() if set(seen) == {Outcome.PASSED})
    return tuple(sorted(i for i in passed if i.partition("::")[0] not in files))


def order_in_doubt(merged: SuiteRun, others: Sequence[SuiteRun]) -> bool:
    """The merge result did not simply pass, and what failed did not fail without the changed tests or on the target tip."""
    if simply_passed(merged):
        return False
    bad = _bad(merged)
    if not bad:
        return all((r.termination, r.exit_code) != (merged.termination, merged.exit_code) for r in others)
    return bool(bad.difference(*map(_bad, others)))


def doubtful(runs: Sequence[SuiteRun], suite: str) -> bool:
    """The merge result passed as it stands and not with the changed tests last: a flake, or tests that need an order."""
    twice = [r for r in runs if r.suite == suite and r.role is RunRole.MERGED]
    return len(twice) == 2 and not simply_passed(twice[0]) and simply_passed(twice[1])


def settled(runs: Sequence[SuiteRun]) -> tuple[SuiteRun, ...]:
    """One run for each role of a suite, and results of tests that need not be run twice taken over.

    Of several runs on the merge result the first has the changed tests last, the second the order of the project, the
    third is as the first. The second decides, but where it alone passed: then a failure that does not come again is
    no matter of order, and the first stays.
    """
    out: list[SuiteRun] = []
    for suite in dict.fromkeys(r.suite for r in runs):
        of = [r for r in runs if r.suite == suite]
        merged = [r for r in of if r.role is RunRole.MERGED]
        if len(merged) > 1:
            first, second, *third = merged
            flaky = simply_passed(second) and not simply_passed(first) and not (third and _alike(first, third[0]))
            chosen = first if flaky else second
            of = [r for r in of if r.role is not RunRole.MERGED or r is chosen]
            merged = [chosen]
        out += [_taken(r, merged[0]) if merged and _narrow(r) else r for r in of]
    return tuple(out)


def _narrow(run: SuiteRun) -> bool:
    return run.role is RunRole.BASE_INSTRUMENTS and run.partial


def _taken(run: SuiteRun, merged: SuiteRun) -> SuiteRun:
    own = len(run.cases)
    return replace(run, taken=completed(run, merged)[own:])


def _alike(first: SuiteRun, third: SuiteRun) -> bool:
    """The same tests failed again, and the run ended in the same way."""
    same = (first.termination, first.exit_code) == (third.termination, third.exit_code)
    return same and _bad(first) == _bad(third)


def _bad(run: SuiteRun) -> set[str]:
    return {i for i, seen in outcomes_by_id(run.cases).items() if seen[Outcome.FAILED] or seen[Outcome.ERRORED]}
