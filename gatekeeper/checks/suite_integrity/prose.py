"""Texts with examples that run as tests: a text may be moved, split or merged where every example still runs somewhere."""

from __future__ import annotations

import doctest
import posixpath
from collections import Counter

from gatekeeper.checks.suite_integrity.shown import fails
from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.testrun import Outcome

TEXTS = (".rst", ".txt", ".md")
_MAX_TEXT = 1_000_000
_MAX_EXAMPLES = 2_000
Example = tuple[str, str]
"""(what is run, what it must print); one that is skipped or compared loosely says so itself."""


def examples_kept(situation: Situation, path: str, name: str, ids: list[str]) -> bool:
    """Every example of this text stands in a text that the merge result runs with success, after nothing new.

    The examples of a text share their names: what is put in front of one may define anew what it calls.
    """
    merged = situation.merged
    if merged is None or not _is_text(path, name) or any(fails(situation, i) for i in ids):
        return False
    wanted = _examples(situation.source(path, base=True))
    if not wanted:
        return False
    before = situation.before
    gone = {p for p, n in (before.functions if before is not None else ()) if _is_text(p, n)}
    gone |= {p for p, c in situation.changed.items() if p.endswith(TEXTS) and c.old is not None and c.new is None}
    gone -= {p for p, _ in merged.functions}
    there: Counter[Example] = Counter()
    for home, of in merged.functions:
        if not _is_text(home, of) or any(
            set(merged.outcomes(i)) != {Outcome.PASSED} for i in merged.functions[home, of]
        ):
            continue
        others = [_examples(situation.source(p, base=True)) for p in sorted({*gone, home} - {path})]
        there.update(_taken_over(wanted, [o for o in others if o], _examples(situation.source(home))))
    return not Counter(wanted) - there


def lost_texts(situation: Situation) -> list[str]:
    """Where the target was not run: removed texts whose examples are kept nowhere, of a kind that the merge result runs."""
    merged = situation.merged
    if merged is None:
        return []
    kinds = tuple({posixpath.splitext(p)[1] for p, n in merged.functions if _is_text(p, n)})
    return [
        path
        for path, changed in situation.changed.items()
        if kinds and path.endswith(kinds) and changed.old is not None and changed.new is None
        if _examples(situation.source(path, base=True))
        and not examples_kept(situation, path, posixpath.basename(path), [])
    ]


def _is_text(path: str, name: str) -> bool:
    return path.endswith(TEXTS) and name == posixpath.basename(path)


def _taken_over(old: list[Example], others: list[list[Example]], new: list[Example]) -> list[Example]:
    """Examples of `old` in `new`, up to the first that is not from `old` in its order, its imports, or a whole other text."""
    found: list[Example] = []
    at = reached = 0
    imports = {e for e in old if e[0].startswith(("import ", "from ")) and not e[1]}
    while at < len(new):
        start, length = max(((j, _run(old, j, new, at)) for j in range(reached, len(old))), key=_length, default=(0, 0))
        whole = max((len(o) for o in others if new[at : at + len(o)] == o), default=0)
        if length and length >= whole:
            found += old[start : start + length]
            reached = start + length
            at += length
        elif whole:
            at += whole
        elif new[at] in imports:
            at += 1
        else:
            break
    return found


def _length(run: tuple[int, int]) -> int:
    return run[1]


def _run(old: list[Example], start: int, new: list[Example], at: int) -> int:
    """How many examples are equal from there on."""
    length = 0
    while start + length < len(old) and at + length < len(new) and old[start + length] == new[at + length]:
        length += 1
    return length


def _examples(source: str | None) -> list[Example]:
    """The examples in their order; none for a text that is no such text or far too long."""
    if source is None or len(source) > _MAX_TEXT:
        return []
    try:
        found = doctest.DocTestParser().get_examples(source)
    except ValueError:
        return []
    return [(e.source.strip(), e.want.strip()) for e in found] if len(found) <= _MAX_EXAMPLES else []
