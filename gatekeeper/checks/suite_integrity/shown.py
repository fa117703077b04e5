"""What the runs showed of tests: which failed, ran or were silent, and how to say it."""

from __future__ import annotations

from collections.abc import Iterable

from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.domain.testrun import Outcome
from gatekeeper.formats.python_source import TestFunction

_SILENT = {Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED}


def fails(situation: Situation, test_id: str) -> bool:
    """The base's own test fails on the change's code."""
    restored = situation.restored
    return restored is not None and any(restored.outcomes(test_id)[o] for o in BAD)


def runs(situation: Situation, follower: tuple[str, TestFunction]) -> bool:
    """The merge result has results of it."""
    merged = situation.merged
    return merged is not None and (follower[0], follower[1].name) in merged.functions


def silent(situation: Situation, follower: tuple[str, TestFunction]) -> bool:
    """All its results in the merge result are skips or expected failures."""
    merged = situation.merged
    ids = merged.functions.get((follower[0], follower[1].name), []) if merged else []
    return bool(ids) and merged is not None and all(set(merged.outcomes(i)) <= _SILENT for i in ids)


def never_ran(situation: Situation, test_id: str) -> bool:
    """Skipped on the target branch and on the change's code alike: with it nothing is lost."""
    before, restored = situation.before, situation.restored
    return all(r is not None and set(r.outcomes(test_id)) == {Outcome.SKIPPED} for r in (before, restored))


def passed(situation: Situation, ids: Iterable[str]) -> bool:
    """All of them passed on the target branch."""
    return situation.before is not None and all(Outcome.PASSED in situation.before.outcomes(i) for i in ids)


def some(ids: list[str]) -> str:
    """The first few, and how many more."""
    return ", ".join(ids[:5]) + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")


def seen_in_runs(situation: Situation, ids: list[str]) -> str:
    """What each run showed of these tests."""
    return "\n".join(f"{test_id}: {describe(situation, test_id)}" for test_id in ids[:10])


def describe(situation: Situation, test_id: str) -> str:
    """`passed on the target branch, failed with the target's tests on this code, not collected on the merge result`."""
    parts = []
    for results, where in (
        (situation.before, "on the target branch"),
        (situation.restored, "on the change's code with the target's own tests"),
        (situation.merged, "on the merge result"),
    ):
        if results is not None:
            seen = "/".join(o.value for o in results.outcomes(test_id)) or "not collected"
            parts.append(f"{seen} {where}")
    return ", ".join(parts)
