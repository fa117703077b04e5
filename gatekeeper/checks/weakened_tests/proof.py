"""What the runs say about an edited test: whether its older version still holds, and whether the code moved under it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from gatekeeper.checks.weakened_tests.written_out import WrittenOut
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.instruments import Instruments
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole, completed
from gatekeeper.domain.tree import text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats import python_code
from gatekeeper.formats.python_deprecations import demands_a_warning, warning_balance
from gatekeeper.formats.python_following import CodeChange, code_change, follows

Table = dict[tuple[str, str], set[Outcome]]
_BAD = {Outcome.FAILED, Outcome.ERRORED}


class Proof:
    """Outcomes by test function in the three runs that compare. Without them nothing is proven."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.written_out = WrittenOut(evidence)

    def still_holds(self, path: str, name: str) -> bool:
        """The target's own version passes on the change's code, and so does the edited one: nothing was bent to the code."""
        key = (path, name.replace(".", "::"))
        return all(table.get(key) == {Outcome.PASSED} for table in (self._restored, self._merged))

    def never_ran(self, path: str, name: str) -> bool:
        """Skipped in every run that compares, on the target's code and on the change's."""
        key = (path, name.replace(".", "::"))
        return all(t.get(key) == {Outcome.SKIPPED} for t in (self._before, self._restored, self._merged))

    def moved(self, path: str, name: str) -> bool:
        """The target's own version passed on the target's code and fails on the change's, where the edited one passes."""
        key = (path, name.replace(".", "::"))
        return (
            self._before.get(key) == {Outcome.PASSED}
            and bool(self._restored.get(key, set()) & _BAD)
            and self._merged.get(key) == {Outcome.PASSED}
        )

    def follows(self, path: str, name: str) -> bool:
        """As `moved`, and the edit says only what the changed code's own source says anew."""
        if not self.moved(path, name):
            return False
        old, new = (self._function(path, name, base=base) for base in (True, False))
        return old is not None and new is not None and follows(old, new, self.change)

    def warns_less(self, path: str, name: str) -> bool:
        """As `moved`, where the test demands a warning of deprecation and the change took or altered such warnings of the code."""
        test = self._function(path, name, base=True)
        if test is None or not self.moved(path, name) or not demands_a_warning(test):
            return False
        balance = warning_balance((self._source(p, base=True), self._source(p, base=False)) for p in self._code)
        return balance is not None and balance <= 0

    @cached_property
    def change(self) -> CodeChange:
        """Words that went out of and came into the code, instruments left out."""
        return code_change((self._source(p, base=True), self._source(p, base=False)) for p in self._code)

    @cached_property
    def _code(self) -> list[str]:
        evidence = self._evidence
        instruments = Instruments(evidence.settings, evidence.suites, evidence.base)
        return [p.path for p in evidence.change.paths if p.path.endswith(".py") and instruments.kind(p.path) is None]

    def _source(self, path: str, *, base: bool) -> str | None:
        try:
            return text(self._evidence.base if base else self._evidence.merged, path)
        except CouldNotCheck:
            return None

    def _function(self, path: str, name: str, *, base: bool) -> python_code.Definition | None:
        tree = python_code.parse(self._source(path, base=base))
        return dict(python_code.definitions(tree)).get(name) if tree is not None else None

    @cached_property
    def _merged(self) -> Table:
        return _by_function(c for r in self._evidence.runs if r.role is RunRole.MERGED for c in r.cases)

    @cached_property
    def _restored(self) -> Table:
        return _by_function(c for r in self._evidence.runs if r.role is RunRole.BASE_INSTRUMENTS for c in r.cases)

    @cached_property
    def _before(self) -> Table:
        cases: list[CaseResult] = []
        for run in (r for r in self._evidence.runs if r.role is RunRole.BASE):
            cases += completed(run, self._evidence.run(RunRole.BASE_INSTRUMENTS, run.suite))
        return _by_function(cases)


def _by_function(cases: Iterable[CaseResult]) -> Table:
    table: Table = {}
    broken: set[str] = set()
    for case in cases:
        path, _, name = case.id.split("[", 1)[0].partition("::")
        if name:
            table.setdefault((path, name), set()).add(case.outcome)
        elif case.outcome in _BAD:
            broken.add(path)
    # A module that did not load: none of its tests ran.
    return {key: ({Outcome.ERRORED} if key[0] in broken else seen) for key, seen in table.items()}
