"""Compare the tests of base and merge result, and say what was weakened unless the ticket permits it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from gatekeeper.checks.weakened_tests.compare import Loss, losses, lost_rows
from gatekeeper.checks.weakened_tests.proof import Proof
from gatekeeper.checks.weakened_tests.respelled import respelled
from gatekeeper.checks.weakened_tests.subjects import doubled, shadowed
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import matches_any, test_id_matches
from gatekeeper.domain.instruments import InstrumentKind, Instruments
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import Tree, text
from gatekeeper.domain.verdict import Effect
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.python_assertions import Body, Kind, ModuleAssertions, read
from gatekeeper.formats.python_assertions.dulled import calls_of
from gatekeeper.records import replace

_MAX_FINDINGS = 50
_ORDER = (
    "SUBJECT_MOCKED", "ASSERTION_ALWAYS_TRUE", "ASSERTION_SWALLOWED", "ASSERTION_UNREACHABLE", "EXPECTED_VALUE_EDITED",
    "ASSERTION_WEAKENED", "ASSERTION_REMOVED", "PARAMETERS_SHRUNK",
)  # fmt: skip
_OF_A_MOCK = re.compile(r"^(?:\w+\.)*(?:Magic|Async)?Mock\(|\b(?:Magic|Async)?Mock\([^()]*\)(?:\.\w+)*\(")
"""What is asserted on is a mock or its answer; a mock handed to the real code is none."""
_MAX_TEXTS = 500_000
_EXCHANGED = ("EXPECTED_VALUE_EDITED", "PARAMETERS_SHRUNK")
"""Losses that may be an exchange for something as strong."""
_PERMITS = (PermitKind.CHANGE_EXPECTATIONS, PermitKind.UPDATE_SNAPSHOTS, PermitKind.REMOVE_TESTS)


def check(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding for each test that proves less than it did (the strongest), at most `_MAX_FINDINGS`."""
    instruments = Instruments(evidence.settings, evidence.suites, evidence.base)
    paths = [
        p.path for p in evidence.change.paths
        if p.path.endswith(".py") and instruments.kind(p.path) in (InstrumentKind.TEST, InstrumentKind.TEST_SUPPORT)
    ]  # fmt: skip
    before = {p: m for p in paths if (m := read(_text(evidence.base, p))) is not None}
    after = {p: m for p in paths if (m := read(_text(evidence.merged, p))) is not None}
    proof = Proof(evidence)
    out: list[Finding] = []
    for path, module in after.items():
        old = before.get(path)
        out += _module(evidence, proof, path, old, module)
        out += _replaced(evidence, proof, path)
    out += _moved(evidence, proof, before, after)
    out += doubled(evidence, before, after)
    return tuple(out[:_MAX_FINDINGS])


def _text(tree: Tree, path: str) -> str | None:
    try:
        return text(tree, path)
    except CouldNotCheck:
        return None


def _module(
    evidence: Evidence, proof: Proof, path: str, old: ModuleAssertions | None, module: ModuleAssertions
) -> Iterator[Finding]:
    everywhere = Counter(t for b in module.bodies.values() for t in (b.meaning, *b.rows))
    for name, line in module.twice.items():
        if old is None or name not in old.twice:
            yield _finding(
                "ASSERTION_UNREACHABLE",
                path,
                name,
                line,
                "one test of this name",
                "a second definition that replaces the first, which never runs",
            )
    if old is not None:
        hidden = shadowed(evidence, path, old, module)
        yield from hidden
        for name, body in old.bodies.items():
            new = module.bodies.get(name)
            if new is not None and name not in module.twice:
                yield from _pair(evidence, proof, path, name, body, new, module, everywhere)
    for name, new in module.bodies.items():
        if new.test and (old is None or name not in old.bodies) and new.assertions and not new.live:
            if any(a.kind is not Kind.CONSTANT and a.state.value == "conditional" for a in new.assertions):
                continue
            yield _finding("TEST_CANNOT_FAIL", path, name, new.line, "(a new test)", new.assertions[0].text)


def _replaced(evidence: Evidence, proof: Proof, path: str) -> Iterator[Finding]:
    for name, now in dict(proof.written_out.rebound_by(path)).items():
        if not _permitted(evidence, path, name):
            yield _finding("ASSERTION_SWALLOWED", path, name, 1, f"with {name}", now)


def _pair(
    evidence: Evidence, proof: Proof, path: str, name: str, old: Body, new: Body, module: ModuleAssertions,
    everywhere: Counter[str], *, old_path: str = "",
) -> Iterator[Finding]:  # fmt: skip
    if fresh := new.calls - old.calls:
        module = replace(module, rebound=proof.written_out.rebound(old_path or path, path, new.name, fresh))
    found = losses(old, new, module)
    gone = _unpermitted_rows(evidence, path, name, old, lost_rows(old, new, everywhere))
    otherwise: dict[str, bool] = {}
    if gone and len(new.rows) >= len(old.rows) and proof.still_holds(path, name):
        otherwise = respelled(gone, [r for r in new.rows if r not in old.rows], module.imports)
        gone = [r for r in gone if not otherwise.get(r)]
    if gone:
        now = next((r for r in new.rows if r not in old.rows), "no such row that runs")
        found.append(Loss("PARAMETERS_SHRUNK", new.line, f"row {gone[0]}", f"row {now}" if new.rows else now))
    elif new.rows and not old.rows and (case := _case_left_out(old, new, everywhere)):
        found.append(Loss("PARAMETERS_SHRUNK", new.line, case, "rows that do not hold it"))
    if not gone and (found or new.calls != old.calls or (new.rows and not old.rows)):
        stands, drawn = proof.written_out.second_look(old_path or path, path, old, new, module)
        found = [] if stands else found or drawn
    mocked = new.mocks - old.mocks
    kept = {a.canonical for a in new.live}
    lost = any(a.canonical not in kept for a in old.live)
    if mocked and lost and any(_OF_A_MOCK.search(a.subject) for a in new.live):
        found.append(Loss("SUBJECT_MOCKED", new.line, old.live[0].text, f"the same of the mock {min(mocked)}"))
    wrapped = [d for d in set(new.decorators) - set(old.decorators) if d in module.bodies and module.bodies[d].swallows]
    if wrapped:
        found.append(
            Loss(
                "ASSERTION_SWALLOWED",
                new.line,
                f"{name} without {wrapped[0]}",
                f"@{wrapped[0]}, which catches failures",
            )
        )
    if any(f.code in _EXCHANGED for f in found):
        if proof.still_holds(path, name):
            # What was expected before is true of this code as well: an example for an example, as strong.
            found = [f for f in found if f.code != "EXPECTED_VALUE_EDITED"]
        elif proof.follows(path, name):
            found = [f for f in found if f.code not in _EXCHANGED]
    if not found or _permitted(evidence, path, name):
        return
    worst = min(found, key=lambda f: _ORDER.index(f.code))
    effect = _effect(evidence, worst)
    fewer = worst.code == "PARAMETERS_SHRUNK" and len(new.rows) < len(old.rows) and not proof.warns_less(path, name)  # nothing came in exchange  # fmt: skip
    if worst.code in _EXCHANGED and not fewer and (proof.moved(path, name) or (new.rows and not old.rows)):
        effect = Effect.ASKS  # it held before, and the code moved on: whether it should have is for a person
    if worst.code == "PARAMETERS_SHRUNK" and gone and all(r in otherwise for r in gone):
        effect = Effect.ASKS  # the same data in other words, as far as the text tells
    if worst.code == "PARAMETERS_SHRUNK" and not fewer and proof.never_ran(path, name):
        effect = Effect.ASKS  # it is skipped here for where it runs, before and after: no run can tell
    if (_said_once_less(old, new, found) or _said_by_match(new, found)) and proof.still_holds(path, name):
        effect = Effect.ASKS  # it hides nothing of this code: whether once less is enough is for a person
    yield _finding(worst.code, path, name, worst.line, worst.before, worst.now, effect=effect)


def _said_once_less(old: Body, new: Body, found: list[Loss]) -> bool:
    """All that went are repetitions, word for word and of the same values, of assertions that stay."""
    kept = {a.canonical for a in new.live}
    for loss in found:
        said = {a.canonical for a in old.live if a.text == loss.before}
        if loss.code != "ASSERTION_REMOVED" or len(said) != 1 or not said <= kept:
            return False
    return True


_MESSAGE = r"assert str\((\w+)\.value\) == (.+)"


def _said_by_match(new: Body, found: list[Loss]) -> bool:
    """All that went are the texts of errors, which the frames that wait for the errors ask for now: in part, not as a whole."""
    frames = [a.text for a in new.live if a.kind is Kind.RAISES]
    for loss in found:
        said = re.fullmatch(_MESSAGE, loss.before[:1000]) if loss.code == "ASSERTION_REMOVED" else None
        frame = said and next((f for f in frames if f"match={said[2]})" in f or f"match={said[2]}," in f), None)
        if not frame:
            return False
        frames.remove(frame)
    return bool(found)


def _case_left_out(old: Body, new: Body, everywhere: Counter[str]) -> str:
    """What a test asserted on before it got rows, where what it called for that stands neither in a row nor in a test."""
    kept = {a.canonical for a in new.live}
    texts = " ".join([*new.rows, new.meaning, *everywhere])[:_MAX_TEXTS]
    for a in old.live:
        if a.canonical not in kept and any(f"{name}(" not in texts for name in calls_of(a.subject) if name):
            return a.text
    return ""


def _effect(evidence: Evidence, loss: Loss) -> Effect | None:
    """A person decides where the approved ticket speaks of the new value; None keeps the code's own effect."""
    if loss.code != "EXPECTED_VALUE_EDITED":
        return None
    value = loss.value.strip("'\"")
    value = value[:-2] if re.fullmatch(r"-?\d+\.0", value) else value
    goal = " ".join([evidence.ticket.title, evidence.ticket.goal, *evidence.ticket.acceptance])
    spoken = len(value.strip()) > 1 and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", goal)
    return Effect.ASKS if spoken else None


def _permitted(evidence: Evidence, path: str, name: str) -> bool:
    test_id = f"{path}::{name.replace('.', '::')}"
    for kind in _PERMITS:
        for permit in evidence.ticket.permits_of(kind):
            if any(test_id_matches(g, test_id) for g in permit.tests):
                return True
            if not permit.tests and matches_any(permit.paths, path):
                return True
    return False


def _unpermitted_rows(evidence: Evidence, path: str, name: str, old: Body, gone: list[str]) -> list[str]:
    """The rows of which no permit names the id. A permit for `test_a[1-2]` is one for that row, not for the test."""
    ids = dict(zip(old.rows, old.row_ids, strict=True))
    test_id = f"{path}::{name.replace('.', '::')}"
    globs = [g for kind in _PERMITS for p in evidence.ticket.permits_of(kind) for g in p.tests if "[" in g]
    return [r for r in gone if not any(test_id_matches(g, f"{test_id}[{ids.get(r, '')}]") for g in globs)]


def _moved(
    evidence: Evidence, proof: Proof, before: dict[str, ModuleAssertions], after: dict[str, ModuleAssertions]
) -> Iterator[Finding]:
    """Tests whose name is gone, against a new test of the same last name anywhere in the change."""
    fresh: dict[str, list[tuple[str, Body, ModuleAssertions]]] = {}
    for path, module in after.items():
        for name, body in module.bodies.items():
            if body.test and (path not in before or name not in before[path].bodies):
                fresh.setdefault(name.rsplit(".", 1)[-1], []).append((path, body, module))
    for path, module in before.items():
        for name, body in module.bodies.items():
            if not body.test or (path in after and name in after[path].bodies):
                continue
            rows = fresh.get(name.rsplit(".", 1)[-1], [])
            if len(rows) == 1:
                place, new, home = rows[0]
                everywhere = Counter(t for b in home.bodies.values() for t in (b.meaning, *b.rows))
                if not _permitted(evidence, path, name):
                    yield from _pair(evidence, proof, place, new.name, body, new, home, everywhere, old_path=path)


def _finding(
    code: str, path: str, name: str, line: int, before: str, now: str, *, effect: Effect | None = None
) -> Finding:
    return finding(
        code, f"{path}::{name.replace('.', '::')} asserted: {before}. Now: {now}.", path=path, line=line, key=name,
        effect=effect, evidence=f"before: {before}\nnow: {now}",
    )  # fmt: skip
