"""The job of a measurement: what the program in the sandbox is told, and how its answers become results."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any

from gatekeeper.domain.followup import Measured, MeasuredLine, MeasuredMutant, MutantResult
from gatekeeper.domain.testrun import SuiteRun
from gatekeeper.domain.ticket import Suite
from gatekeeper.formats.measurement_lines import Measurement
from gatekeeper.formats.python_mutants import ChangedCode, Mutant
from gatekeeper.records import dataclass, replace

RESULTS = "/tmp/gatekeeper-measurement"  # noqa: S108 - a private tmpfs inside
SCRATCH = "/tmp/gatekeeper-measuring"  # noqa: S108
PROGRAM = "gatekeeper_measure.py"
_PACKAGE = "gatekeeper_measuring"
JOB = "gatekeeper_measure.json"
MAX_MUTANTS = 400
"""Of one change; even a large budget tries no more."""
_PYTHONPATH = re.compile(r"(?:^|[\s;&])PYTHONPATH=([^\s;&]+)")
_RESULTS = {
    "killed": MutantResult.KILLED, "survived": MutantResult.SURVIVED, "timeout": MutantResult.TIMED_OUT,
}  # fmt: skip


def program() -> dict[str, bytes]:
    """The program: its files by their names among the gate's own."""
    inside = resources.files(__package__).joinpath("inside")
    texts = {p.name: p.read_bytes() for p in inside.iterdir() if p.name.endswith(".py")}
    return {PROGRAM: texts.pop("begin.py"), **{f"{_PACKAGE}/{name}": text for name, text in sorted(texts.items())}}


@dataclass(frozen=True)
class Job:
    """One measurement of one suite."""

    suite: Suite
    files: tuple[str, ...]
    """Test files, relative to the root of the tree."""
    near: tuple[str, ...]
    """Those that import a changed module."""
    own: tuple[str, ...]
    """Tests of the change: `path::name`."""
    code: tuple[ChangedCode, ...]
    mutants: tuple[Mutant, ...]
    complete: bool
    """All test files of the suite are in `files`."""

    @property
    def probes(self) -> tuple[tuple[int, int], ...]:
        """(module, line) of every probe, by its number."""
        return tuple((n, line) for n, module in enumerate(self.code) for line in _probe_lines(module))

    def document(self, run: SuiteRun, budget_s: float, memory_mib: int) -> bytes:
        """The job file."""
        numbers = {place: number for number, place in enumerate(self.probes)}
        index = {module.path: n for n, module in enumerate(self.code)}
        imported = {
            numbers[n, s.probe] for n, module in enumerate(self.code) for s in module.statements if not s.function
        }
        arguments, where = _arguments(self.suite, run)
        return json.dumps(
            {
                "up": len([p for p in self.suite.workdir.split("/") if p not in ("", ".")]),
                "arguments": arguments,
                "cwd_on_path": where,
                "pythonpath": [p for w in _PYTHONPATH.findall(self.suite.command) for p in w.strip("\"'").split(":") if p and "$" not in p],
                "files": list(self.files),
                "near": list(self.near),
                "first": list(self.own),
                "sources": [
                    {
                        "path": module.path,
                        "probes": list(_probe_lines(module)),
                        "raising": [
                            [numbers[n, s.probe], module.text.span(s.node)[0]]
                            for s in module.statements
                            if s.simple and s.function
                        ],
                    }
                    for n, module in enumerate(self.code)
                ],
                "imported": sorted(imported),
                "mutants": [
                    [number, index[m.path], m.start, m.end, m.replacement, numbers[index[m.path], m.statement.probe], m.by_value]
                    for number, m in enumerate(self.mutants)
                ],
                "budget_s": budget_s,
                "memory": memory_mib * 1024 * 1024 * 3 // 4,
                "out": RESULTS,
                "scratch": SCRATCH,
            }
        ).encode("ascii")  # fmt: skip

    def measured(self, found: Measurement, runs: tuple[SuiteRun, ...], budget_s: float) -> Measured:
        """What the answers say."""
        numbers = {place: number for number, place in enumerate(self.probes)}
        ran = found.cover == "ran"
        lines = []
        for n, module in enumerate(self.code):
            for line in module.lines:
                statement = module.statement_at(line)
                if statement is None:
                    continue
                number = numbers[n, statement.probe]
                probe = found.probes.get(number)
                reached = probe is not None and (probe.tests > 0 or probe.at_import)
                unknown = not ran or (not reached and (number in found.elsewhere or not self.complete))
                lines.append(
                    MeasuredLine(
                        module.path, line, None if unknown else reached, probe.tests if probe else 0,
                        sum(self.is_own(t) for t in probe.named) if probe else 0,
                        not statement.function,
                        probe.named if probe else (),
                    )
                )  # fmt: skip
        tried = []
        for number, mutant in enumerate(self.mutants):
            trial = found.trials.get(number)
            result = _RESULTS.get(trial.result, MutantResult.NOT_TRIED) if trial else MutantResult.NOT_TRIED
            test = trial.test if trial else ""
            tried.append(
                MeasuredMutant(
                    mutant.path, mutant.line, mutant.kind, mutant.before, mutant.after, result, test,
                    bool(test) and self.is_own(test), trial is not None and trial.by_assertion,
                    trial.value if trial and mutant.by_value else "",
                )
            )  # fmt: skip
        return Measured(
            runs=runs,
            budget_s=budget_s,
            lines=tuple(lines),
            mutants=tuple(tried),
            complete=ran and self.complete,
            own_tests=self.own,
            notes=tuple(_notes(found, tried)),
            limit=_limit(found, tried, budget_s),
        )

    def is_own(self, test: str) -> bool:
        """True for a test of the change; ids of the runner may begin below the root of the tree."""
        bare = test.split("[", 1)[0]
        return any(bare == w or w.endswith("/" + bare) or bare.endswith("/" + w) for w in self.own)


def _probe_lines(module: ChangedCode) -> tuple[int, ...]:
    return tuple(sorted({s.probe for s in module.statements}))


def _arguments(suite: Suite, run: SuiteRun) -> tuple[list[str], str]:
    """(pytest's own arguments, where the working directory stands on the path) as the suite had them."""
    if suite.runner == "pytest":
        return shlex.split(suite.command), "last"
    argv = run.sessions[0].argv if run.sessions else ()
    started_as_module = bool(argv) and argv[0].endswith("__main__.py")
    return list(argv[1:]), "first" if started_as_module else "none"


def _notes(found: Measurement, tried: Sequence[MeasuredMutant]) -> list[str]:
    notes = []
    if found.error:
        notes.append(f"the measurement ended early ({found.error})")
    if found.cover in ("timeout", "crash"):
        why = "did not end within the budget" if found.cover == "timeout" else "ended before they had all run"
        notes.append(f"the tests {why} when they were run for coverage")
    elif found.cover == "ran" and not found.tests:
        notes.append("no test was collected when the gate started the tests by itself")
    elif found.cover == "ran" and not found.passed:
        notes.append("no test passed when the gate started the tests by itself")
    if found.control == "none":
        notes.append("no test reaches a changed line")
    elif found.control in ("timeout", "crash"):
        notes.append("the tests did not pass a second time on the same code")
    if found.excluded:
        notes.append(f"{found.excluded} tests were left out because they did not pass every time")
    late = sum(t.result == "budget" for t in found.trials.values())
    idle = sum(t.result == "no_effect" for t in found.trials.values())
    if _any_tried(tried):
        if late:
            notes.append(f"the budget was spent before {late} of {len(tried)} mutants could be tried")
        if idle:
            notes.append(f"{idle} mutants changed no value that any test brings, and say nothing")
    elif not notes:
        why = "no mutant was tried within the budget" if late or not idle else "no mutant changed a value in any test"
        notes.append(why if tried else "the changed lines offer no mutant")
    return notes


def _any_tried(mutants: Iterable[MeasuredMutant]) -> bool:
    return any(m.result is not MutantResult.NOT_TRIED for m in mutants)


def _limit(found: Measurement, tried: Sequence[MeasuredMutant], budget_s: float) -> str:
    """The limit that ended it all before the first mutant."""
    if _any_tried(tried):
        return ""
    if found.cover == "timeout":
        return f"the tests did not end within the {budget_s:g} s of the budget when they were run for coverage"
    if found.control == "timeout":
        return f"the tests did not end within the {budget_s:g} s of the budget when they were run a second time"
    if any(t.result == "budget" for t in found.trials.values()):
        return f"the {budget_s:g} s of the budget were spent before a mutant could be tried"
    return ""


def merged(first: Measured, second: Measured) -> Measured:
    """Two suites together: a line is executed if either does it, a mutant is noticed if either notices it."""
    rank = [MutantResult.KILLED, MutantResult.TIMED_OUT, MutantResult.SURVIVED, MutantResult.NOT_TRIED]
    lines: dict[tuple[str, int], MeasuredLine] = {(one.path, one.line): one for one in first.lines}
    for line in second.lines:
        key = (line.path, line.line)
        old = lines.get(key)
        lines[key] = line if old is None else _either(old, line)
    mutants: dict[tuple[Any, ...], MeasuredMutant] = {}
    for mutant in (*first.mutants, *second.mutants):
        place = (mutant.path, mutant.line, mutant.kind, mutant.before, mutant.after)
        known = mutants.get(place)
        if known is None or rank.index(mutant.result) < rank.index(known.result):
            mutants[place] = mutant
    return replace(
        first,
        runs=(*first.runs, *second.runs),
        budget_s=max(first.budget_s, second.budget_s),
        lines=tuple(lines.values()),
        mutants=tuple(mutants.values()),
        complete=first.complete and second.complete,
        notes=tuple(dict.fromkeys((*first.notes, *second.notes))),
        limit=first.limit or second.limit,
        disturbed=first.disturbed or second.disturbed,
    )


def _either(one: MeasuredLine, two: MeasuredLine) -> MeasuredLine:
    executed = True if True in (one.executed, two.executed) else None if None in (one.executed, two.executed) else False
    return MeasuredLine(
        one.path,
        one.line,
        executed,
        one.tests + two.tests,
        one.own_tests + two.own_tests,
        one.at_import,
        (*one.named, *two.named),
    )


def durations(run: SuiteRun) -> Mapping[str, float]:
    """Seconds by test file, as the recorder saw them."""
    table: dict[str, float] = {}
    for case in run.cases:
        path = case.id.split("::", 1)[0]
        table[path] = table.get(path, 0.0) + max(0.0, case.duration_s or 0.0)
    return table
