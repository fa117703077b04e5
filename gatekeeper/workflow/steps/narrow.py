"""Narrow: where a few test modules alone changed, of the merge result only what is not known is run.

The whole suite then runs with the target's own tests on the change's code, in a tree in which nothing of the changed
modules is. Of the merge result all tests are listed, and those of the changed modules run: what the others show is
known, and nothing in the change's tests could have had a part in it. Whatever does not fit is run whole, both ways.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from gatekeeper.domain.change import Change
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.selection import Selection
from gatekeeper.domain.testrun import Outcome, RunRole, SuiteRun, Termination, completed, outcomes_by_id
from gatekeeper.domain.ticket import Suite, SuiteKind
from gatekeeper.domain.tree import Tree, text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.records import replace

_MOST_CHANGED = 0.3
"""Part of the suite's tests that may stand in changed modules: for more of them two whole runs cost less."""
_MOST_MODULES = 4000
_MOST_SOURCE = 1_000_000
_WHOLE = re.compile(r"--cov\b|fail[-_]under|coverage run")
"""Words of commands and settings under which a part of a suite ends otherwise than the whole."""


def alone(
    change: Change, suites: Sequence[Suite], instruments: Instruments, base: Tree, merged: Tree
) -> frozenset[str]:
    """Names of the suites of which the changed test modules alone need be run on the merge result.

    Nothing but test modules may have changed of all that bends runs, few of them; nothing else may speak of them, and they
    may newly reach for nothing that leads to the runner or into other modules.
    """
    from gatekeeper.formats.runner_reach import reaches

    kinds = {p.path: instruments.kind(p.path) for p in change.paths}
    bent = [p for p in change.paths if (kind := kinds[p.path]) is not None and kind.bends_runs]
    if not bent or any(kinds[p.path] is not InstrumentKind.TEST or not _module(p.path) for p in bent):
        return frozenset()
    told = frozenset(s.name for s in suites if s.kind is SuiteKind.TEST and _told(s, instruments, base))
    paths = tuple(p.path for p in bent)
    words = [s.command or "" for s in suites]
    if not told or not _few(paths, instruments, base, merged) or _taken_from(paths, words, instruments, base, merged):
        return frozenset()
    if any(reaches(_read(base, p), _read(merged, p), test=True) for p in paths):
        return frozenset()  # what they do to the others shows where these run beside them
    return told


def _module(path: str) -> bool:
    # A bracket in a path looks like parameters in the name of a test.
    return path.endswith(".py") and posixpath.basename(path) not in ("conftest.py", "__init__.py") and "[" not in path


def _told(suite: Suite, instruments: Instruments, base: Tree) -> bool:
    """Pytest runs in the suite, as far as its words and scripts say so, and a part of it ends as it does itself."""
    from gatekeeper.formats.pytest_settings import ORDER

    scripts = [_read(base, p) or "" for p in instruments.scripts] if suite.runner == "command" else []
    words = [suite.command or "", *scripts]
    if suite.runner not in ("pytest", "command"):
        return False
    if suite.runner == "command" and not any("pytest" in w or "py.test" in w for w in words):
        return False
    settings = [_read(base, posixpath.join(folder, name)) or "" for folder in {"", suite.workdir} for name in ORDER]
    return not any(_WHOLE.search(w) for w in (*words, *settings))


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


def known(restored: SuiteRun | None, changed: Sequence[str]) -> Selection | None:
    """Tests outside the changed files that passed with the target's own tests on the change's code.

    None where single tests are not known.
    """
    if restored is None or not restored.accounted_for or not restored.cases:
        return None
    files = frozenset(changed)
    passed = (i for i, seen in outcomes_by_id(restored.cases).items() if set(seen) == {Outcome.PASSED})
    return Selection(known=tuple(sorted(i for i in passed if i.partition("::")[0] not in files)))


def in_doubt(runs: Sequence[SuiteRun], suite: str) -> bool:
    """A part of the merge result did not pass, and what failed failed neither with the target's tests nor on its tip."""
    own = {r.role: r for r in runs if r.suite == suite}
    merged = own.get(RunRole.MERGED)
    if merged is None or not merged.partial or simply_passed(merged):
        return False
    others = [own[role] for role in (RunRole.BASE_INSTRUMENTS, RunRole.BASE) if role in own and not own[role].partial]
    bad = _bad(merged)
    if not bad:
        return all((r.termination, r.exit_code) != (merged.termination, merged.exit_code) for r in others)
    return bool(bad.difference(*map(_bad, others)))


def simply_passed(run: SuiteRun) -> bool:
    """It ended by itself with 0 and showed tests, if any were wanted."""
    return run.termination is Termination.EXITED and run.exit_code == 0 and (bool(run.cases) or run.partial)


def doubtful(runs: Sequence[SuiteRun], suite: str) -> bool:
    """The merge result passed as a whole and not in part: a flake, or tests that need others."""
    twice = [r for r in runs if r.suite == suite and r.role is RunRole.MERGED]
    return len(twice) == 2 and not simply_passed(twice[0]) and simply_passed(twice[1])


def settled(runs: Sequence[SuiteRun]) -> tuple[SuiteRun, ...]:
    """One run for each role of a suite, with the results that a part of the merge result left out.

    Of several runs on the merge result the first is of a part, the second whole, the third as the first. The second
    decides, but where it alone passed: then a failure that does not come again needs no other tests, and the first stays.
    """
    out: list[SuiteRun] = []
    for suite in dict.fromkeys(r.suite for r in runs):
        of = [r for r in runs if r.suite == suite]
        merged = [r for r in of if r.role is RunRole.MERGED]
        if len(merged) > 1:
            first, second, *third = merged
            flaky = simply_passed(second) and not simply_passed(first) and not (third and _alike(first, third[0]))
            of = [r for r in of if r.role is not RunRole.MERGED or r is (first if flaky else second)]
        restored = next((r for r in of if r.role is RunRole.BASE_INSTRUMENTS), None)
        out += [_taken(r, restored) if r.role is RunRole.MERGED and r.partial and restored else r for r in of]
    return tuple(out)


def _taken(merged: SuiteRun, restored: SuiteRun) -> SuiteRun:
    """What the tests that were left out show, and which files of the tree they rewrite, is known from the other run."""
    rows = None
    if merged.rewritten is not None and restored.rewritten is not None:
        rows = tuple(dict.fromkeys((*merged.rewritten, *restored.rewritten)))
    own = len(merged.cases)
    return replace(merged, taken=completed(merged, restored)[own:], rewritten=rows)


def _alike(first: SuiteRun, third: SuiteRun) -> bool:
    """The same tests failed again, and the run ended in the same way."""
    same = (first.termination, first.exit_code) == (third.termination, third.exit_code)
    return same and _bad(first) == _bad(third)


def _bad(run: SuiteRun) -> set[str]:
    return {i for i, seen in outcomes_by_id(run.cases).items() if seen[Outcome.FAILED] or seen[Outcome.ERRORED]}
