"""Tests of the base that the merge result no longer collects, and parameter sets that went with them."""

from __future__ import annotations

import re
from collections import Counter

from gatekeeper.checks.suite_integrity.departed import PRIVATE, departed, run_in_their_own_module
from gatekeeper.checks.suite_integrity.in_code import went_with_its_code
from gatekeeper.checks.suite_integrity.parameters import lost_parameters, words_of
from gatekeeper.checks.suite_integrity.prose import examples_kept, lost_texts
from gatekeeper.checks.suite_integrity.renamed_classes import renamed_class
from gatekeeper.checks.suite_integrity.self_contained import tries_only_itself
from gatekeeper.checks.suite_integrity.shown import fails, never_ran, passed, runs, seen_in_runs, silent, some
from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.checks.suite_integrity.superseded import superseded
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.languages import SCRIPT_EXTENSIONS
from gatekeeper.domain.testrun import Outcome
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.python_source import TestFunction

_SHARE = 0.75
"""Share of what a vanished test says that its successor must say, where their bodies are not the same."""
_FOLLOWING = 0.5
"""The same share where the interface itself changed, so that names differ."""
_REMOVES = (PermitKind.REMOVE_TESTS, PermitKind.REMOVE_FEATURE)
_INTERFACE = ("ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError", "fixture '")


def vanished(situation: Situation) -> list[Finding]:
    """One finding for each function of the base that lost results without an explanation."""
    before, merged = situation.before, situation.merged
    if before is None or merged is None:
        return _by_source(situation)
    out = []
    for (path, name), ids in before.functions.items():
        if path.endswith((".go", *SCRIPT_EXTENSIONS)):
            continue  # go_tests and javascript_tests compare them, with their sources
        gone = list(
            Counter({i: len(before.by_id[i]) for i in ids}) - Counter({i: len(merged.by_id.get(i, ())) for i in ids})
        )
        # A module that is reported as a whole speaks for its tests where it is skipped or does not load, not where it passed.
        gone = [i for i in gone if i not in merged.by_id and set(merged.outcomes(i)) <= {Outcome.PASSED}]
        gone = [
            i
            for i in gone
            if not situation.permits(_REMOVES, test_id=i, path=path, words=words_of(situation, path, name))
        ]
        if gone:
            found = _explain(situation, path, name, gone)
            if found is not None:
                out.append(found)
    return out


def _explain(situation: Situation, path: str, name: str, gone: list[str]) -> Finding | None:
    merged = situation.merged
    assert merged is not None
    test = situation.defined(path, name, base=True)
    if test is None:
        if path.endswith(".py") and (
            run_in_their_own_module(situation, path, name, gone) or renamed_class(situation, path, name, gone)
        ):
            return None
        if examples_kept(situation, path, name, gone):
            return None
        told, found = went_with_its_code(situation, path, name, gone)
        if told:
            return found
        # Made at run time or in another language: only the numbers can be compared.
        return _removed(situation, path, name, gone, None)
    now = situation.function(path, name)
    still = merged.functions.get((path, name), [])
    if now is not None and still:
        return lost_parameters(situation, path, test, now, gone)
    failing = [i for i in gone if fails(situation, i)]
    followers = [f for f in _followers(situation, test) if (f[0], f[1].name) != (path, name)]
    speaking = [f for f in followers if runs(situation, f) and not silent(situation, f)]
    if speaking and not failing:
        return None
    twin = next((f for f in speaking if f[1].body == test.body), None)
    if twin is not None and not _interface(situation, failing):
        message = (
            f"{path}::{name} fails on this code; moved to {twin[0]}::{twin[1].name} it passes, with another set-up."
        )
        return finding("EXPECTATION_BENT", message, path=twin[0], line=twin[1].line, evidence=seen_in_runs(situation, gone), key=f"{path}::{name}")  # fmt: skip
    if followers and any(silent(situation, f) for f in followers) and not speaking:
        place_, follower = next(f for f in followers if silent(situation, f))
        # Skipped here for where it runs, before and after, and all that it says is still said: no run can tell.
        silent_here = all(never_ran(situation, i) for i in gone) and _goes_on_in(test, follower)
        message = f"{path}::{name} became {place_}::{follower.name}, which is skipped or expected to fail."
        return finding("TEST_SILENCED", message, path=place_, line=follower.line, evidence=seen_in_runs(situation, gone), key=f"{path}::{name}", effect=Effect.ASKS if silent_here else None)  # fmt: skip
    module = situation.module(path)
    left = module is not None and (name in module.functions or test.body in module.functions.values())
    if left:
        return _hidden(situation, path, name, gone, test)
    return _removed(situation, path, name, gone, test)


def _followers(situation: Situation, test: TestFunction) -> list[tuple[str, TestFunction]]:
    """Tests of the change that do what this one did; the same body also counts where it stood there before."""
    same = [(p, t) for p, t in situation.new_functions if t.body and t.body == test.body]
    alike = [
        (p, t) for p, t in situation.new_functions if (p, t) not in same and test.material.within(t.material, _SHARE)
    ]
    merged = situation.merged
    running = {p for p, _ in merged.functions} if merged else set()
    twins = [
        (p, t)
        for p in sorted({p for p, c in situation.changed.items() if c.new is not None} | running)
        if (module := situation.module(p)) is not None
        for t in module.tests.values()
        if t.body and t.body == test.body and t.rows == test.rows
    ]
    # A method that became a function, or the other way round: long texts in it stand further to the left or right.
    plain = _dedented(test.body)
    shifted = [
        (p, t) for p, t in situation.new_functions if plain and _dedented(t.body) == plain and t.rows == test.rows
    ]
    return [*same, *twins, *shifted, *alike]


def _goes_on_in(test: TestFunction, follower: TestFunction) -> bool:
    """The same test under another name, skipped by nothing new, with every parameter set that it had."""
    return (
        test.body == follower.body
        and bool(test.body)
        and [kind for kind, _ in test.silencers] == [kind for kind, _ in follower.silencers]
        and test.rows is not None
        and follower.rows is not None
        and not Counter(test.rows) - Counter(follower.rows)
    )


def _dedented(body: str) -> str:
    """A body with several lines of text, without the blanks at their beginnings; empty for a body without such text."""
    return re.sub(r"\\n(?: |\\t)+", r"\\n", body) if body.count("\\n") > 1 else ""


def _hidden(situation: Situation, path: str, name: str, gone: list[str], test: TestFunction) -> Finding:
    module = situation.module(path)
    owner = name.rsplit("::", 1)[0] + "::" if "::" in name else ""
    notes = [
        h
        for h in (module.hiders if module else ())
        if h[0].startswith((owner, "__test__", f"del {name}", name)) or name in h[0]
    ]
    why = f" ({notes[0][0]}, line {notes[0][1]})" if notes else ""
    message = f"{path}::{name} is still in the source and no longer collected{why}."
    line = notes[0][1] if notes else test.line
    return finding(
        "TEST_HIDDEN", message, path=path, line=line, evidence=seen_in_runs(situation, gone), key=f"{path}::{name}"
    )


def _removed(situation: Situation, path: str, name: str, gone: list[str], test: TestFunction | None) -> Finding | None:
    message = f"{path}::{name} runs on the target branch and is gone"
    why = ""
    ran = [i for i in gone if not never_ran(situation, i)] or gone
    if (
        path.endswith(".py")
        and passed(situation, ran)
        and any(p != path and p.endswith(".py") for p in situation.changed)
    ):
        why = departed(situation, path, name, ran)
        if why == PRIVATE:
            return None
    if test is not None and not any(fails(situation, i) for i in gone) and tries_only_itself(situation, path, name):
        return None
    if test is not None and passed(situation, ran) and _interface(situation, ran):
        new = [
            f for f in situation.new_functions if f[1].name != name and runs(situation, f) and not silent(situation, f)
        ]
        if any(test.material.within(t.material, _FOLLOWING) for _, t in new) and any(
            p != path for p in situation.changed
        ):
            case = situation.restored.first(ran[0]) if situation.restored else None
            words = f"{case.detail if case else ''} {' '.join(test.material.names)}"
            if all(situation.permits((PermitKind.RENAME_API,), test_id=i, path=path, words=words) for i in gone):
                return None
            message += (
                "; it can not run any more because the interface it uses changed, and another test took its place."
            )
            return finding("TEST_FOLLOWS_INTERFACE", message, path=path, evidence=seen_in_runs(situation, gone), key=f"{path}::{name}")  # fmt: skip
    if why:
        return finding("TEST_FOLLOWS_INTERFACE", f"{message}; {why}.", path=path, evidence=seen_in_runs(situation, gone), key=f"{path}::{name}")  # fmt: skip
    effect = None
    if test is None and not any(fails(situation, i) for i in gone) and _no_fewer(situation):
        # Another language, or tests made at run time: a new name can not be told from a loss.
        effect = Effect.ASKS
    if test is not None and superseded(situation, path, name, ran):
        effect = Effect.ASKS
        message += "; it fails on this code, and new tests of the same function say otherwise"
    line = test.line if test else None
    which = "" if gone == [f"{path}::{name}"] else f": {some(gone)}"
    return finding("TEST_REMOVED", f"{message}{which}.", path=path, line=line, evidence=seen_in_runs(situation, gone), key=f"{path}::{name}", effect=effect)  # fmt: skip


def _interface(situation: Situation, ids: list[str]) -> bool:
    """The base's own tests fail on this code because a name or a signature they use is not there any more."""
    cases = [situation.restored.first(i) for i in ids] if situation.restored else []
    return bool(cases) and all(
        c is not None and c.outcome in BAD and any(w in c.detail for w in _INTERFACE) for c in cases
    )


def _no_fewer(situation: Situation) -> bool:
    before, merged = situation.before, situation.merged
    return before is not None and merged is not None and len(merged.by_id) >= len(before.by_id)


def _by_source(situation: Situation) -> list[Finding]:
    """Where no run shows single tests: the sources alone. Weaker, so a person is asked."""
    out = []
    if situation.before is not None:
        return []  # the merge result shows none: the suite's results say so themselves
    for path in lost_texts(situation):
        if not situation.permits(_REMOVES, test_id=f"{path}::{path.rsplit('/', 1)[-1]}", path=path):
            message = f"{path} is gone, and the suite does not run its examples elsewhere as they were, with nothing new before them."
            out.append(finding("TEST_REMOVED", message, path=path, key=path, effect=Effect.ASKS))
    for path, changed in situation.changed.items():
        module = situation.module(path, base=True) if changed.old is not None and _is_test(path) else None
        for name, test in (module.tests if module else {}).items():
            if situation.function(path, name) is not None or _followers(situation, test):
                continue
            if not situation.permits(
                _REMOVES, test_id=f"{path}::{name}", path=path, words=words_of(situation, path, name)
            ):
                message = f"{path}::{name} is gone; no run shows single tests, so the sources alone were compared."
                out.append(finding("TEST_REMOVED", message, path=path, line=test.line, key=f"{path}::{name}", effect=Effect.BLOCKS))  # fmt: skip
    return out


def _is_test(path: str) -> bool:
    name = path.rsplit("/", 1)[-1]
    return name.startswith("test_") or name.endswith("_test.py") or name == "tests.py"
