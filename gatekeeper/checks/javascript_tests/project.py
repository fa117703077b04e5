"""What the parts of the check look at: scripts of both sides read once, results by test id, permits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.globs import matches_any, test_id_matches
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.testrun import CaseResult, Outcome, RunRole
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.javascript_tests import SEPARATOR, ScriptModule, ScriptTest, read_tests
from gatekeeper.formats.javascript_tokens import EXTENSIONS

BAD = (Outcome.FAILED, Outcome.ERRORED)
SILENT = frozenset({Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED})
INTERFACE = re.compile(
    r"is not a function|is not a constructor|is not defined|Cannot find module|does not provide an export named"
    r"|Cannot read propert(?:y|ies) of undefined|Failed to (?:load|resolve)|ERR_MODULE_NOT_FOUND|has no exported member"
)
"""What a runner says where a test uses an interface that is not there any more."""
MAX_COMPARED = 2000
"""Tests of the change that a vanished test is compared with."""

Table = dict[str, list[CaseResult]]


def is_script(path: str) -> bool:
    """A file that these runners could load."""
    return path.endswith(EXTENSIONS) and not path.endswith(".d.ts")


class Project:
    """One change, with every file read at most once."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.instruments = Instruments(evidence.settings, evidence.suites, evidence.base)
        self.changed = {p.path: p for p in evidence.change.paths}

    def source(self, path: str, *, base: bool = False) -> str | None:
        """Text at `path`; None where there is none or it is too large."""
        tree = self.evidence.base if base else self.evidence.merged
        try:
            return text(tree, path)
        except CouldNotCheck:
            return None

    def module(self, path: str, *, base: bool = False) -> ScriptModule | None:
        """One module, read."""
        source = self.source(path, base=base) if is_script(path) else None
        return read_tests(source) if source is not None else None

    def tests(self, path: str, *, base: bool = False) -> tuple[ScriptTest, ...]:
        """Its tests, suites left out."""
        module = self.module(path, base=base)
        return tuple(t for t in module.tests if not t.suite) if module else ()

    def find(self, path: str, title: str, *, base: bool = False) -> ScriptTest | None:
        """The call that makes the test of that title: one of that very name, else one whose name can become it."""
        tests = self.tests(path, base=base)
        exact = [t for t in tests if not t.dynamic and t.title == title]
        if exact:
            return exact[0]
        return next((t for t in tests if t.dynamic and t.pattern.fullmatch(title)), None)

    def kind(self, path: str) -> InstrumentKind | None:
        """What kind of instrument a path is."""
        return self.instruments.kind(path)

    @cached_property
    def changed_scripts(self) -> list[tuple[str, bool, bool]]:
        """(path, there on the target branch, there after the change) of each changed script."""
        return [(p, c.old is not None, c.new is not None) for p, c in self.changed.items() if is_script(p)]

    @cached_property
    def fresh(self) -> list[tuple[str, ScriptTest]]:
        """Tests that the change brings or changes."""
        found = []
        for path, before, after in self.changed_scripts:
            old = {(t.title, t.body, t.rows) for t in self.tests(path, base=True)} if before else set()
            found += [(path, t) for t in self.tests(path) if after and (t.title, t.body, t.rows) not in old]
        return found[:MAX_COMPARED]

    @cached_property
    def standing(self) -> list[tuple[str, ScriptTest]]:
        """All tests of changed scripts, and of those in which tests ran."""
        paths = dict.fromkeys([*(p for p, _, after in self.changed_scripts if after), *self.files(self.merged)])
        return [(p, t) for p in paths for t in self.tests(p)]

    def results(self, role: RunRole) -> Table:
        """Results of scripts by id, over all suites of a role."""
        table: Table = {}
        for run in self.evidence.runs:
            if run.role is role:
                for case in run.cases:
                    if is_script(case.id.partition("::")[0]):
                        table.setdefault(case.id, []).append(case)
        return table

    @cached_property
    def before(self) -> Table:
        """The target tip; empty where no run shows its tests one by one."""
        return self.results(RunRole.BASE)

    @cached_property
    def merged(self) -> Table:
        """The merge result."""
        return self.results(RunRole.MERGED)

    @cached_property
    def restored(self) -> Table:
        """The base's tests and settings on the change's code."""
        return self.results(RunRole.BASE_INSTRUMENTS)

    @cached_property
    def probed(self) -> Table:
        """The change's tests on the base's code."""
        return self.results(RunRole.NEW_TESTS_ON_BASE)

    @staticmethod
    def files(table: Table) -> list[str]:
        """Files of which a run shows anything."""
        return list(dict.fromkeys(i.partition("::")[0] for i in table))

    @staticmethod
    def outcomes(table: Table, test_id: str) -> Counter[Outcome]:
        """How a test went; where it is not there, that of its file as a whole, if that did not load."""
        rows = table.get(test_id)
        if rows is None:
            rows = [c for c in table.get(test_id.partition("::")[0], ()) if c.outcome in BAD]
        return Counter(c.outcome for c in rows)

    def ids_of(self, table: Table, path: str, test: ScriptTest) -> list[str]:
        """Ids of the results that one call made."""
        prefix = f"{path}::"
        if not test.dynamic:
            return [prefix + test.title] if prefix + test.title in table else []
        return [i for i in table if i.startswith(prefix) and test.pattern.fullmatch(i.removeprefix(prefix))]

    def runs(self, path: str, test: ScriptTest) -> bool:
        """It ran on the merge result, and was not silent; by its source alone where there are no results."""
        if not self.merged:
            return not test.silencers
        seen = [o for i in self.ids_of(self.merged, path, test) for o in self.outcomes(self.merged, i)]
        return bool(seen) and not set(seen) <= SILENT

    def silent_suite(self, test_id: str) -> CaseResult | None:
        """A suite around the test that is skipped as a whole in the merge result."""
        path, _, title = test_id.partition("::")
        names = title.split(SEPARATOR)
        for end in range(len(names) - 1, 0, -1):
            for case in self.merged.get(f"{path}::{SEPARATOR.join(names[:end])}", ()):
                if case.outcome in SILENT:
                    return case
        return None

    def loads_no_more(self, path: str) -> bool:
        """The base's file does not load on the change's code, and the change's own does."""
        broken = any(c.outcome in BAD for c in self.restored.get(path, ()))
        return broken and any(
            i.startswith(f"{path}::") and Outcome.PASSED in self.outcomes(self.merged, i) for i in self.merged
        )

    def seen(self, ids: Iterable[str]) -> str:
        """What each run showed of these tests."""
        lines = []
        for test_id in list(ids)[:10]:
            parts = [
                f"{'/'.join(o.value for o in self.outcomes(table, test_id)) or 'not there'} {where}"
                for table, where in (
                    (self.before, "on the target branch"),
                    (self.restored, "on the change's code with the target's own tests"),
                    (self.merged, "on the merge result"),
                )
                if table
            ]
            lines.append(f"{test_id}: {', '.join(parts)}")
        return "\n".join(lines)

    def detail(self, test_id: str) -> str:
        """What was told where the base's own test failed on the change's code."""
        rows = self.restored.get(test_id) or self.restored.get(test_id.partition("::")[0]) or []
        return "\n".join(c.detail for c in rows if c.outcome in BAD)

    def permits(
        self, kinds: Iterable[PermitKind], *, path: str, ids: Iterable[str] = (), words: Iterable[str] = ()
    ) -> bool:
        """Whether a permit of one of the kinds names every test, its file, or something it speaks of."""
        wanted = list(ids)
        spoken = set(words)
        permits = [p for kind in kinds for p in self.evidence.ticket.permits_of(kind)]
        if wanted and all(any(test_id_matches(g, i) for p in permits for g in p.tests) for i in wanted):
            return True
        if any(matches_any(p.paths, path) for p in permits if not (p.tests and wanted)):
            return True
        return any(re.split(r"[.:/#]", n)[-1].strip("()` ") in spoken for p in permits for n in p.names)
