"""Texts with examples that run as tests: a text may be moved, split or merged where every example still runs somewhere."""

from __future__ import annotations

import doctest
import posixpath
from collections import Counter

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.testrun import Outcome

TEXTS = (".rst", ".txt", ".md")
_MAX_TEXT = 1_000_000


def examples_kept(situation: Situation, path: str, name: str) -> bool:
    """Every example of this text, with what it must print, stands in a text that the merge result runs with success."""
    merged = situation.merged
    if merged is None or not path.endswith(TEXTS) or name != posixpath.basename(path):
        return False
    wanted = _examples(situation.source(path, base=True))
    if not wanted:
        return False
    there: Counter[tuple[str, str]] = Counter()
    for test_id in merged.by_id:
        home, _, of = test_id.partition("::")
        if (
            home.endswith(TEXTS)
            and of == posixpath.basename(home)
            and set(merged.outcomes(test_id)) == {Outcome.PASSED}
        ):
            there += _examples(situation.source(home))
    return not wanted - there


def _examples(source: str | None) -> Counter[tuple[str, str]]:
    """(what is run, what it must print) of each example; one that is skipped or compared loosely says so itself."""
    if source is None or len(source) > _MAX_TEXT:
        return Counter()
    try:
        found = doctest.DocTestParser().get_examples(source)
    except ValueError:
        return Counter()
    return Counter((e.source.strip(), e.want.strip()) for e in found)
