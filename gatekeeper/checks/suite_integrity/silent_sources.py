"""Tests that unittest skips or leaves out now, told from the sources, where no run shows single tests.

A run of an opaque command is only a status and a log: a test that is left out can not be missed there.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.unittest_source import Skip, UnittestModule, read_unittest

_SKIPS = (PermitKind.SKIP_TESTS, PermitKind.REMOVE_TESTS, PermitKind.REMOVE_FEATURE)
_HIDES = (PermitKind.REMOVE_TESTS, PermitKind.REMOVE_FEATURE)
_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_LEFT = re.compile(r"\b(?:skipped|expected failures)=(\d+)")


def silent_sources(situation: Situation) -> list[Finding]:
    """One finding for each place at which tests of the target branch fell silent."""
    if situation.before is not None:
        return []  # the runs show it
    out: list[Finding] = []
    for path, changed in situation.changed.items():
        if not path.endswith(".py") or situation.kind(path) not in (InstrumentKind.TEST, InstrumentKind.TEST_SUPPORT):
            continue
        old, new = (read_unittest(situation.source(path, base=base)) for base in (True, False))
        if new is not None and changed.new is not None:
            out += _in_module(situation, path, old or read_unittest(""), new, fresh=old is None)
        elif changed.new is None and changed.old is not None:
            out += _package_gone(situation, path)
    out += _undiscovered(situation)
    return out or _counted(situation)


def _in_module(
    situation: Situation, path: str, old: UnittestModule | None, new: UnittestModule, *, fresh: bool
) -> list[Finding]:
    out: list[Finding] = []
    if old is None:
        return out
    alone = fresh and posixpath.basename(path) != "__init__.py"  # a new module speaks for new tests only
    if new.loads and new.loads != old.loads and not alone and not situation.permits(_HIDES, path=path):
        how = "says otherwise" if old.loads else "says by itself"
        effect = Effect.ASKS if old.loads else None
        message = f"{path} {how} which of its tests run (load_tests)."
        out.append(finding("TEST_HIDDEN", message, path=path, key=f"{path}::load_tests", effect=effect))
    if fresh:
        return out
    known = {p for p, _ in old.overrides}
    for place, line in new.overrides:
        if place not in known and not situation.permits(_SKIPS, path=path):
            message = f"{path}: {place} changes which tests run, or what counts as one that failed."
            out.append(finding("TEST_SILENCED", message, path=path, line=line, key=f"{path}::{place}"))
    out += _skipped(situation, path, old, new)
    text = _commands(situation)
    other = "pytest" in text and "unittest" not in text  # for which a class needs no base
    for name, conditional in old.tests.items():
        here = not other and _standing(situation, path, name)
        hidden = name not in new.tests and here
        if (hidden or (new.tests.get(name) and not conditional)) and not situation.permits(_HIDES, test_id=f"{path}::{name}", path=path):  # fmt: skip
            why = "its class is no TestCase any more, or its name stands for something else" if hidden else "only under a condition"  # fmt: skip
            message = f"{path}::{name} is still in the source and unittest no longer collects it: {why}."
            out.append(finding("TEST_HIDDEN", message, path=path, key=f"{path}::{name}"))
    return out


def _standing(situation: Situation, path: str, name: str) -> bool:
    """A function of that name is still in the source; one that is gone is told as such."""
    module = situation.module(path)
    return module is not None and name in module.functions


def _skipped(situation: Situation, path: str, old: UnittestModule, new: UnittestModule) -> list[Finding]:
    before = Counter((s.place, s.how) for s in old.skips)
    told: dict[str, Skip] = {}
    for skip in new.skips:
        if before[skip.place, skip.how]:
            before[skip.place, skip.how] -= 1
        elif skip.place in told:
            continue
        elif any(t == skip.place or t.startswith(f"{skip.place}::") or not skip.place for t in old.tests):
            told[skip.place] = skip
    out = []
    for place, skip in told.items():
        test_id = f"{path}::{place}" if "::" in place else ""
        if situation.permits(_SKIPS, test_id=test_id, path=path):
            continue
        where = f"{path}::{place}" if place else path
        message = f"{where} ran on the target branch and can be skipped or expected to fail now ({skip.how})."
        effect = Effect.ASKS if skip.platform else None
        out.append(finding("TEST_SILENCED", message, path=path, line=skip.line, key=where, effect=effect))
    return out


def _commands(situation: Situation) -> str:
    scripts = [situation.source(p, base=True) or "" for p in situation.instruments.scripts if not p.endswith(".py")]
    return "\n".join([*(s.command for s in situation.evidence.suites), *scripts])


def _discovers(situation: Situation) -> str:
    """What the suites run, where unittest is told to find the tests by the names of their files."""
    text = _commands(situation)
    return text if re.search(r"\bunittest(?:\s+discover|\s*$|\s+-)", text, re.MULTILINE) else ""


def _package_gone(situation: Situation, path: str) -> list[Finding]:
    """Without `__init__.py` unittest does not look into a folder that it was not told to begin with."""
    folder, name = posixpath.split(path)
    text = _discovers(situation)
    entries = situation.evidence.merged.entries
    below = [p for p in entries if p.startswith(f"{folder}/") and posixpath.basename(p).startswith("test")]
    if name != "__init__.py" or not folder or not text or not below:
        return []
    if re.search(rf"(?:-s\s*|discover\s+|--start-directory[= ]){re.escape(folder)}/?(?:\s|$)", text, re.MULTILINE):
        return []
    if situation.permits((*_HIDES, PermitKind.CHANGE_INSTRUMENTS), path=path):
        return []
    message = f"{path} is gone, so that unittest finds none of the tests below {folder}, {below[0]} among them."
    return [finding("TEST_HIDDEN", message, path=path, key=folder)]


def _undiscovered(situation: Situation) -> list[Finding]:
    """A module of tests whose new name unittest does not look for."""
    text = _discovers(situation)
    if not text or re.search(r"(?:-p|--pattern)[\s=]", text):
        return []
    gone = [
        p for p, c in situation.changed.items() if c.new is None and re.fullmatch(r"test.*\.py", posixpath.basename(p))
    ]
    come = [p for p, c in situation.changed.items() if c.old is None and p.endswith(".py")]
    out = []
    for path in gone:
        module = situation.module(path, base=True)
        for other in come:
            after = situation.module(other)
            if module is None or after is None or not module.tests or posixpath.basename(other).startswith("test"):
                continue
            if not set(module.tests).isdisjoint(after.tests) and not situation.permits(_HIDES, path=path):
                message = f"{path} became {other}, and unittest looks for test*.py alone."
                out.append(finding("TEST_HIDDEN", message, path=other, key=path))
    return out


def _counted(situation: Situation) -> list[Finding]:
    """Fewer tests ran than on the target branch, by what unittest itself says, and the sources do not show why."""
    logs = {r.role: _ran(r.log) for r in situation.evidence.runs if _RAN.search(r.log)}
    before, after = logs.get(RunRole.BASE), logs.get(RunRole.MERGED)
    if before is None or after is None or after >= before:
        return []
    fewer = 0
    for path in situation.changed:
        old, new = (
            read_unittest(situation.source(path, base=b)) if path.endswith(".py") else None for b in (True, False)
        )
        fewer += len(old.tests if old else ()) - len(new.tests if new else ())
    kinds = (*_SKIPS, PermitKind.CHANGE_INSTRUMENTS)
    if before - after <= max(fewer, 0) or any(situation.evidence.ticket.permits_of(k) for k in kinds):
        return []
    message = f"unittest ran {before} tests on the target branch and {after} here, and the sources do not show why."
    return [finding("TEST_REMOVED", message, key="unittest count", effect=Effect.ASKS)]


def _ran(log: str) -> int:
    left = sum(int(n) for n in _LEFT.findall(log[-20_000:]))
    return sum(int(n) for n in _RAN.findall(log)) - left
