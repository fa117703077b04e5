"""Words that a pattern requires are in everything that it matches, and no text of a pattern breaks the reading of it."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from gatekeeper.adapters.kingfisher_scanner.patterns import required, size

PIECES = ("a", "B", "ab-", "tok_", "[aA]", "[abc]", "[^a]", r"\w", r"\.", ".", "(?:ab|cd)", "(?:ab|c?)", "(x)?", "(yz)+",
          "q{2,3}", "q{0,2}", r"\b", "(?i:kEy)", "(?:tok_|tok-)[a-z]{3}", "(?:(?:ab|ac)d|e)")  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=6), st.data())
@settings(max_examples=300, deadline=None)
def test_every_match_holds_a_word_of_each_clause(pieces, data):
    pattern = "".join(pieces)
    match = data.draw(st.from_regex(re.compile(pattern), fullmatch=True))
    for clause in required(pattern):
        assert any(word in match.casefold() for word in clause), (pattern, match)


@given(st.text(alphabet=r"abA-\[]^(){}|?*+.,:<>dwbBzZxi01\"'#& " + "\u212a\u017f\n", max_size=40))
@settings(max_examples=500, deadline=None)
def test_any_text_is_read_or_left_without_words(pattern):
    assert all(
        clause and all(word == word.lower() and word.isascii() for word in clause) for clause in required(pattern)
    )
    assert size(pattern) >= 0


def test_what_the_other_engine_reads_differently_requires_nothing():
    for pattern in (
        r"[a[b]]cdef",
        r"\<word\>",
        r"\b{start}word",
        r"(?<name>word)",
        r"\x{41}word",
        r"[a&&b]word",
        "(",
        "a**",
    ):
        assert required(pattern) == (), pattern


def test_flags_in_the_middle_and_other_ends_are_read():
    assert required(r"\b(p8e-(?i)[a-z0-9]{32})(?:x|\z)") == (frozenset({"p8e-"}),)
    assert required(r"(?i)FACEBOOK.{0,20}key") == (frozenset({"facebook"}), frozenset({"key"}))
