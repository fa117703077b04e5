"""What a run of the second witness says, read beside what was expected of it and what the deciding run showed."""

from __future__ import annotations

import ast
import re

from gatekeeper.domain.followup import Sight
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.testrun import Outcome, SuiteRun, Termination, outcomes_by_id
from gatekeeper.formats import python_code
from gatekeeper.formats.python_source import read_module

_BAD = (Outcome.FAILED, Outcome.ERRORED)
_NARROWING = ("-k", "-m", "--deselect", "--ignore", "--lf", "--last-failed", "--ff", "--sw", "-x", "--exitfirst", "--maxfail", "--co", "--nf", "--picked", "--testmon")  # fmt: skip
_DEFINED = re.compile(r"^(?: {4}|\t)?(?:async[ \t]+)?def[ \t]+(test\w*)", re.MULTILINE)
_WRITTEN = (
    InstrumentKind.TEST,
    InstrumentKind.TEST_SUPPORT,
    InstrumentKind.RUNNER_SETTINGS,
    InstrumentKind.SCRIPT,
    InstrumentKind.SHADOW,
    InstrumentKind.DECLARED,
)


def faults(sight: Sight) -> tuple[str, ...]:
    """How the gate's own tests came to something else than is written in them, in words; empty: they are as written."""
    run = sight.run
    if run.termination is not Termination.EXITED:
        return (f"the process ended as {run.termination.value}",)
    if not run.sessions:
        return ("no test session was recorded",)
    found = list(dict.fromkeys(p for s in run.sessions for p in s.problems))
    found += [] if all(s.complete for s in run.sessions) else ["the records are incomplete"]
    seen = outcomes_by_id(run.cases)
    for name, outcome in sight.canaries:
        came = seen.get(name)
        if came is None:
            found.append(f"a test that must come to {outcome.value} left no result")
        elif set(came) != {outcome}:
            found.append(f"a test that must come to {outcome.value} came to {'/'.join(sorted(o.value for o in came))}")
    if any(o in _BAD for _, o in sight.canaries):
        if run.exit_code == 0:
            found.append("the command ended with 0 although tests that must fail were run")
        if any(s.exit_code == 0 for s in run.sessions):
            found.append("pytest ended with 0 although tests that must fail were run")
    return tuple(dict.fromkeys(found))


def lost(sight: Sight, decided: SuiteRun | None) -> tuple[str, ...]:
    """Ids of the file's tests that passed in the deciding run and not here."""
    if decided is None or not decided.sessions or not sight.file:
        return ()
    own = sight.own()
    return tuple(
        name
        for name, came in outcomes_by_id(decided.cases).items()
        if name.partition("::")[0] == sight.file and "::" in name and set(came) == {Outcome.PASSED}
        if {c.outcome for c in own.get(name, ())} != {Outcome.PASSED}
    )


def indifferent(sight: Sight) -> tuple[str, ...]:
    """Ids of tests that pass in this run, as does their copy with one assertion turned round."""
    own = sight.own()
    return tuple(
        name
        for name, came in sight.turned().items()
        if {c.outcome for c in came} == {Outcome.PASSED} and {c.outcome for c in own.get(name, ())} == {Outcome.PASSED}
    )


def passes(sight: Sight, name: str) -> bool:
    """The test is in this run and passed whenever it was run."""
    return {c.outcome for c in sight.own().get(name, ())} == {Outcome.PASSED}


def passes_turned(sight: Sight, name: str) -> bool:
    """The copy of the test with one assertion turned round passed in this run, whatever the test itself did."""
    return any(c.outcome is Outcome.PASSED for c in sight.turned().get(name, ()))


def rewrites(run: SuiteRun, instruments: Instruments) -> dict[str, str]:
    """Path to how, of files that the run itself changed and that decide or are tested: code, tests, what they read.

    Code that was written with the same content says nothing: formatters and generators do it.
    """
    return {
        path: how
        for path, how in run.rewritten or ()
        if instruments.kind(path) in _WRITTEN or (path.endswith(".py") and how != "touched")
    }


def unseen(run: SuiteRun, file: str, source: str) -> tuple[str, ...]:
    """Qualified names of tests that stand in the source of a file, of which the run shows others, and not in the run.

    Only such as pytest takes for tests by its own rules whatever surrounds them: plain definitions under no condition,
    with no decorator but a mark. A run that was told to leave tests out explains it itself.
    """
    shown = {name.split("[", 1)[0].partition("::")[2] for name in outcomes_by_id(run.cases) if _below(name, file)}
    if not shown or not _whole(run):
        return ()
    last = {name.rsplit("::", 1)[-1] for name in shown}
    if all(name in last for name in _DEFINED.findall(source)):
        return ()  # the ordinary case, found without parsing
    module = read_module(source)
    tree = python_code.parse(source)
    if module is None or tree is None or module.hiders:
        return ()
    return tuple(name for name in _plain(tree) if name in module.tests and name not in shown)


def _below(name: str, file: str) -> bool:
    return name.startswith(f"{file}::")


def _whole(run: SuiteRun) -> bool:
    return bool(run.sessions) and all(
        s.complete
        and not s.deselected
        and not any(w.split("=", 1)[0] in _NARROWING or w.startswith(("-k", "-m")) or "::" in w for w in s.argv[1:])
        for s in run.sessions
    )


def _plain(tree: ast.Module) -> list[str]:
    names = python_code.imports(tree)
    found = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _marked(node, names):
            found.append(node.name)
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test") and not node.bases and not node.keywords:
            inner = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            if _marked(node, names) and not inner & {"__init__", "__new__"}:
                found += [f"{node.name}::{n.name}" for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and _marked(n, names)]  # fmt: skip
    return found


def _marked(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, names: dict[str, str]) -> bool:
    """No decorator but marks of pytest."""
    return all(
        python_code.dotted(d.func if isinstance(d, ast.Call) else d, names).startswith("pytest.mark.")
        for d in node.decorator_list
    )
