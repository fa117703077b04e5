"""What the second witness says: a bent runner, tests that pass under one name or in one company only, tests that the run
does not show, files of the tree that the run rewrote, modules in the place of installed ones.

Whatever the target branch shows as well is how the suite is, and no fault of the change.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.followup import Sight, Sighting, Uncollected
from gatekeeper.domain.globs import matches_any
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.testrun import Outcome, RunRole, outcomes_by_id
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats import python_code
from gatekeeper.formats.renamed_tests import looks_at_names
from gatekeeper.formats.runner_reach import reaches
from gatekeeper.formats.witness_reading import faults, indifferent, lost, passes, passes_turned, rewrites, unseen

_ROOTS = ("src", "lib", "python")
_MOST_IMPORTS = 400
_TESTS = (InstrumentKind.TEST, InstrumentKind.TEST_SUPPORT)


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """Findings of the second witness, and of the files that the deciding run itself wrote."""
    instruments = Instruments(evidence.settings, evidence.suites, evidence.base)
    witnessed = evidence.witnessed
    found: list[Finding] = []
    if witnessed is not None:
        bent = [f for s in witnessed.sightings for f in _bent(evidence, instruments, s)]
        # The machinery is one: the first file that shows it speaks for all.
        found += bent[:1]
        if not bent:
            found += [f for s in witnessed.sightings for f in _differing(evidence, instruments, s)]
            found += [f for s in witnessed.sightings for f in _indifferent(s)]
        found += [f for u in witnessed.uncollected for f in _uncollected(evidence, u)]
        out = [*witnessed.left_out, *(s.first.file for s in witnessed.sightings if faults(s.first) and _blind(s))]
        if out and (witnessed.sightings or witnessed.reasons):
            message = f"The second witness left out {len(out)}: {_some(out)}."
            found.append(finding("WITNESS_LEFT_OUT", message, key="left out"))
    found += _rewritten(evidence, instruments)
    found += _installed(evidence, instruments)
    return tuple(found)


def _bent(evidence: Evidence, instruments: Instruments, sighting: Sighting) -> Iterator[Finding]:
    """The gate's own tests came to something else than is written in them, each time, and not on the target branch."""
    first = faults(sighting.first)
    if not first or any(not faults(s) for s in sighting.again):
        return  # as written, or at least once: a limit was hit, a process was killed
    if _blind(sighting):
        return
    path, why = _suspect(evidence, instruments)
    tests = path is not None and instruments.kind(path) is not None
    message = f"Tests of the gate beside {sighting.first.file} do not come to what is written in them: {first[0]}."
    evidence_text = "\n".join([*first[:12], *([f"{path}: {why}"] if path else []), sighting.first.run.log[-1500:]])
    yield finding(
        "RUNNER_BENT_BY_TESTS" if tests else "RUNNER_BENT_BY_CODE",
        message,
        path=path,
        evidence=evidence_text,
        key="bent",
    )


def _blind(sighting: Sighting) -> bool:
    """In this suite nothing can be witnessed: the target branch bends the gate's tests in the same way."""
    return sighting.control is not None and bool(faults(sighting.control))


def _suspect(evidence: Evidence, instruments: Instruments) -> tuple[str | None, str]:
    """The changed module that is likeliest to have done it: code first, which runs whatever the instruments are."""
    rows = []
    for changed in evidence.change.paths:
        if changed.new is None or not changed.path.endswith(".py"):
            continue
        kind = instruments.kind(changed.path)
        reach = reaches(_text(evidence, changed.path, True), _text(evidence, changed.path), test=kind in _TESTS)
        if reach:
            rows.append((kind is not None, changed.path, "; ".join(reach[:4])))
    return (min(rows)[1], min(rows)[2]) if rows else (None, "")


def _differing(evidence: Evidence, instruments: Instruments, sighting: Sighting) -> Iterator[Finding]:
    """Tests that passed in the deciding run and not when they were alone, or not under another name."""
    decided = evidence.run(RunRole.MERGED, sighting.suite)
    first = lost(sighting.first, decided)
    if not first or _blind(sighting):
        return
    renamed = [s for s in sighting.again if s.alias]
    plain = [s for s in sighting.again if not s.alias]
    steady = [name for name in first if not any(passes(s, name) for s in renamed)]
    alone = [n for n in steady if not any(passes(s, n) for s in plain)]
    alone = [n for n in alone if not _of_the_base(evidence, sighting, n)]
    named = [n for n in steady if any(passes(s, n) for s in plain)]
    file = sighting.first.file
    if alone:
        message = (
            f"{len(alone)} test(s) of {file} pass in the whole run and not in a process of their own: {_some(alone)}."
        )
        yield finding("PASSES_IN_COMPANY", message, path=file, evidence=_seen(sighting, alone), key=file)
    # Where the target branch's own test passes under another name, looking at the name is new. Where it fails there
    # anyway (it is what the change mends), only its text can say whether the test itself looks at its name.
    plainly = [n for n in named if sighting.control is not None and passes(sighting.control, n)]
    unclear = [n for n in named if n not in plainly and not _looks_at_names(evidence, file)]
    unclear = [n for n in unclear if sighting.control is None or n in sighting.control.own()]
    for names, sure in ((plainly, True), (unclear if not plainly else [], False)):
        if names:
            quiet = sure and not any(instruments.kind(p.path) is not None for p in evidence.change.paths)
            message = (
                f"{len(names)} test(s) of {file} pass under their own names and fail under others: {_some(names)}."
            )
            yield finding(
                "PASSES_BY_NAME", message, path=file, evidence=_seen(sighting, names), key=file,
                effect=Effect.BLOCKS if quiet else Effect.ASKS,
            )  # fmt: skip


def _looks_at_names(evidence: Evidence, file: str) -> bool:
    folders = file.split("/")[:-1]
    above = ["/".join([*folders[:i], "conftest.py"]) for i in range(len(folders) + 1)]
    return any(looks_at_names(_text(evidence, p, True) or "") for p in [file, *above])


def _indifferent(sighting: Sighting) -> Iterator[Finding]:
    """Tests that pass whatever they assert, each time, and not on the target branch."""
    names = list(indifferent(sighting.first))
    for sight in sighting.again:
        names = [n for n in names if n in indifferent(sight)] if sight.twins else names
    control = sighting.control
    names = [n for n in names if control is None or not passes_turned(control, n)]
    if names:
        file = sighting.first.file
        message = f"{len(names)} test(s) of {file} pass also with an assertion turned round: {_some(names)}."
        known = control is not None and all(n in control.own() for n in names)
        yield finding(
            "PASSES_WHATEVER", message, path=file, evidence=sighting.first.run.log[-1500:], key=file,
            effect=Effect.BLOCKS if known or control is None else Effect.ASKS,
        )  # fmt: skip


def _of_the_base(evidence: Evidence, sighting: Sighting, name: str) -> bool:
    """The target branch shows the same: there the test passes in the whole run and fails alone.

    One that fails there in both explains nothing: it may be what the change mends.
    """
    control, witnessed = sighting.control, evidence.witnessed
    if control is None or name not in control.own() or passes(control, name):
        return False
    wholes = [r for r in evidence.runs if r.role is RunRole.BASE and not r.partial]
    wholes += witnessed.controls if witnessed is not None else ()
    seen = [outcomes_by_id(r.cases).get(name) for r in wholes if r.suite == sighting.suite]
    return any(came is not None and set(came) == {Outcome.PASSED} for came in seen)


def _uncollected(evidence: Evidence, row: Uncollected) -> Iterator[Finding]:
    run = evidence.run(RunRole.MERGED, row.suite)
    source = _text(evidence, row.file)
    if run is None or source is None:
        return
    there = {name.split("[", 1)[0] for name in row.control.own()}
    gone = [f"{row.file}::{n}" for n in unseen(run, row.file, source) if f"{row.file}::{n}" in there]
    if gone:
        message = f"{len(gone)} test(s) of {row.file} stand in the source, run on the target branch, and not here: {_some(gone)}."
        yield finding("TEST_NOT_COLLECTED", message, path=row.file, key=row.file)


def _rewritten(evidence: Evidence, instruments: Instruments) -> Iterator[Finding]:
    """Files of the tree that the run on the merge result changed, and that of the target branch does not."""
    witnessed = evidence.witnessed
    controls = [r for r in evidence.runs if r.role is RunRole.BASE]
    controls += witnessed.controls if witnessed is not None else ()
    for run in evidence.runs:
        if run.role is not RunRole.MERGED:
            continue
        ordinary = {p for c in controls if c.suite == run.suite for p, _ in c.rewritten or ()}
        rows = {p: how for p, how in rewrites(run, instruments).items() if p not in ordinary}
        rows = {p: how for p, how in rows.items() if not _allowed(evidence, p)}
        decisive = [p for p, how in rows.items() if how != "touched" and instruments.kind(p) is not None]
        decisive = [p for p in decisive if p in evidence.base.entries]
        if decisive:
            message = f"The run of suite {run.suite} rewrites files that decide over it: {_some(decisive)}."
            yield finding("TREE_REWRITTEN", message, path=decisive[0], evidence=_how(rows), key=run.suite)
        elif rows:
            message = f"The run of suite {run.suite} writes into files of the tree: {_some(list(rows))}."
            yield finding("TREE_REWRITTEN", message, path=next(iter(rows)), evidence=_how(rows), key=run.suite, effect=Effect.ASKS)  # fmt: skip


def _allowed(evidence: Evidence, path: str) -> bool:
    kinds = (PermitKind.UPDATE_SNAPSHOTS, PermitKind.CHANGE_INSTRUMENTS)
    return any(matches_any(p.paths, path) for k in kinds for p in evidence.ticket.permits_of(k))


def _how(rows: dict[str, str]) -> str:
    words = {"content": "other content", "gone": "removed", "touched": "written, with the same content at the end"}
    return "\n".join(f"{path}: {words.get(how, how)}" for path, how in list(rows.items())[:20])


def _installed(evidence: Evidence, instruments: Instruments) -> Iterator[Finding]:
    """New modules at a top level under the name of something that the target branch imports and does not hold itself."""
    new: dict[str, str] = {}
    held = {_top(p) for p in evidence.base.entries}
    for changed in evidence.change.paths:
        name = _top(changed.path) if changed.new is not None and changed.old is None else None
        if name and name not in held and instruments.kind(changed.path) is not InstrumentKind.SHADOW:
            new.setdefault(name, changed.path)
    new = {n: p for n, p in new.items() if n not in sys.stdlib_module_names}
    if not new:
        return
    wanted = _imported_by_base(evidence)
    for name, path in new.items():
        if name in wanted and not _allowed(evidence, path):
            message = f"{path} would be loaded in place of the installed {name}, which {wanted[name]} imports."
            yield finding("INSTALLED_SHADOWED", message, path=path, key=name)


def _top(path: str) -> str | None:
    """Name under which a path can be imported from a root of the code."""
    parts = path.split("/")
    if parts[0] in _ROOTS and len(parts) > 1:
        parts = parts[1:]
    if len(parts) == 1:
        return parts[0].split(".")[0] if parts[0].endswith((".py", ".so", ".pyd")) else None
    return parts[0] if path.endswith((".py", ".so", ".pyd")) and parts[1].startswith("__init__.") else None


def _imported_by_base(evidence: Evidence) -> dict[str, str]:
    """Top-level names that modules of the target branch import absolutely -> one of those modules."""
    found: dict[str, str] = {}
    for path in [p for p in evidence.base.entries if p.endswith(".py")][:_MOST_IMPORTS]:
        tree = python_code.parse(_text(evidence, path, True))
        for name in python_code.imports(tree).values() if tree is not None else ():
            if not name.startswith("."):
                found.setdefault(name.split(".", 1)[0], path)
    return found


def _text(evidence: Evidence, path: str, base: bool = False) -> str | None:
    try:
        return text(evidence.base if base else evidence.merged, path)
    except CouldNotCheck:
        return None


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _seen(sighting: Sighting, names: list[str]) -> str:
    """What each run of the witness showed of these tests, and why they failed in the last one."""
    rows: list[tuple[str, Sight | None]] = [("alone, under another name", sighting.first)]
    rows += [("again, under another name" if s.alias else "again, under its own name", s) for s in sighting.again]
    rows.append(("on the target branch", sighting.control))
    out = []
    for name in names[:8]:
        parts = []
        for where, sight in rows:
            if sight is not None:
                came = {c.outcome for c in sight.own().get(name, ())}
                parts.append(f"{'/'.join(sorted(o.value for o in came)) or 'no result'} {where}")
        out.append(f"{name}: {', '.join(parts)}")
    detail = next((c.detail for s in (*sighting.again, sighting.first) for c in s.own().get(names[0], ()) if c.outcome is not Outcome.PASSED and c.detail), "")  # fmt: skip
    return "\n".join([*out, detail[-1500:]])
