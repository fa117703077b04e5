"""What a plan orders to remove in so many words: `Remove parse_list and integrate it into Reader.parse`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_MOST = 15_000


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Compiled where something is gone."""
    name = r"[`'\"]?[A-Za-z_][\w.]*(?:\(\))?[`'\"]?"
    return {
        "order": re.compile(
            r"\W*(?:please\s+)?(?:remove|delete|drop)\s+(?:the\s+)?(?:(?:old|unused|obsolete|legacy|private|internal)\s+)?"
            rf"(?:(?:functions?|methods?|class(?:es)?|helpers?)\s+)?(?P<names>{name}(?:(?:\s*,\s*and\s+|\s*,\s*|\s+and\s+){name})*)"
            r"(?P<rest>\W*|\s*[,;:]\s.*|\s+(?:and|since|because|in favou?r of|altogether|entirely|completely)\b.*)",
            re.IGNORECASE,
        ),
        "name": re.compile(r"[A-Za-z_][\w.]*(?:\(\))?"),
        "limits": re.compile(r"\b(?:not?|never|only|but|except|unless|until|when|if|keep|calls?|uses?|docs?|documentation|mentions?|comments?|warnings?)\b|n't\b", re.IGNORECASE),
        "stays": re.compile(r"\b(?:not|never|keep\w*|kept|stays?|remains?|still|must|restore\w*|repair\w*|fix\w*|mend\w*|support\w*)\b|n't\b", re.IGNORECASE),
    }  # fmt: skip


def ordered_to_go(rows: Iterable[str]) -> frozenset[str]:
    """Last parts of the names that a whole sentence orders to remove, and of which no other sentence speaks otherwise.

    Only what can be nothing but a name counts: with an underscore, a dot, brackets or a capital within.
    """
    patterns = _patterns()
    sentences = [s for row in rows for s in re.split(r"(?<=[.;!?])\s|\n", row[:_MOST]) if len(s) < 400]
    found: set[str] = set()
    for sentence in sentences:
        said = patterns["order"].fullmatch(sentence)
        if said is not None and not patterns["limits"].search(said["rest"]):
            names = patterns["name"].findall(said["names"])
            found |= {n.removesuffix("()").rpartition(".")[2] for n in names if _unmistakable(n)}
    return frozenset(n for n in found if not any(_stays(n, s) for s in sentences))


def _unmistakable(name: str) -> bool:
    return re.search(r"\w_\w|\w\.\w|\(\)$|[a-z][A-Z]", name) is not None


def _stays(name: str, sentence: str) -> bool:
    patterns = _patterns()
    if patterns["order"].fullmatch(sentence):
        return False
    return (
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sentence) is not None
        and patterns["stays"].search(sentence) is not None
    )
