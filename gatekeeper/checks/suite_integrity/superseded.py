"""Tests and rows that the new behaviour contradicts, where new tests of the same function pin that behaviour down."""

from __future__ import annotations

import ast

from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.domain.testrun import Outcome
from gatekeeper.formats import python_code
from gatekeeper.formats.python_source import TestFunction

_LONG = 5


def superseded(situation: Situation, path: str, name: str, gone: list[str]) -> bool:
    """All of them passed and fail on the change's code, and a new test that calls the same function of the project proves it.

    An older test will do where it took over a case of the lost one. It proves it by failing on the target's code and passing on the change's. Whether people want the new behaviour is for
    people: this explains, and excuses nothing.
    """
    before, restored, probed, merged = situation.before, situation.restored, situation.probed, situation.merged
    if before is None or restored is None or probed is None or merged is None:
        return False
    for test_id in gone:
        fails = restored.outcomes(test_id)
        if set(before.outcomes(test_id)) != {Outcome.PASSED} or not fails or not set(fails) <= set(BAD):
            return False
    called = _called(situation, path, name, base=True)
    old = situation.function(path, name, base=True)
    for place, test in situation.new_functions if called else ():
        edited = situation.function(place, test.name, base=True)
        if old is None or (edited is not None and not _cases(old) & (_cases(test) - _cases(edited))):
            continue  # it was there before, and nothing of the lost test went into it
        ids = merged.functions.get((place, test.name), [])
        passes = bool(ids) and all(set(merged.outcomes(i)) == {Outcome.PASSED} for i in ids)
        failed = any(set(BAD) & set(probed.outcomes(i)) for i in probed.functions.get((place, test.name), []))
        if passes and failed and called & _called(situation, place, test.name, base=False):
            return True
    return False


def _cases(test: TestFunction) -> set[str]:
    """Texts of a test that are long enough to tell one case from another."""
    return {" ".join(c.split()) for c in test.material.constants if c.startswith(("'", '"')) and len(c) > _LONG}


def _called(situation: Situation, path: str, name: str, *, base: bool) -> frozenset[str]:
    """Functions of the project, by the name they were imported under, that a test calls itself."""
    tree = python_code.parse(situation.source(path, base=base))
    test = situation.definition(path, name, base=base)
    if tree is None or test is None:
        return frozenset()
    origins = python_code.imports(tree)
    dotted = (python_code.dotted(n.func, origins) for n in ast.walk(test) if isinstance(n, ast.Call))
    return frozenset(d for d in dotted if d and situation.own(d.lstrip(".").split(".")[0]))
