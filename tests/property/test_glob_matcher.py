"""The one matcher of globs against a plain reference, and its cost counted in steps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.domain.globs import matches, test_id_matches, wild


def reference(pattern: str, text: str) -> bool:
    """Star and question mark, by trying everything (exponential, so for short texts only)."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(reference(pattern[1:], text[i:]) for i in range(len(text) + 1))
    return bool(text) and pattern[0] in ("?", text[0]) and reference(pattern[1:], text[1:])


def segments(glob: list[str], path: list[str]) -> bool:
    """Whole segments, the same way; `**` at the end needs one."""
    if not glob:
        return not path
    if glob == ["**"]:
        return bool(path)
    if glob[0] == "**":
        return any(segments(glob[1:], path[i:]) for i in range(len(path) + 1))
    return bool(path) and reference(glob[0], path[0]) and segments(glob[1:], path[1:])


@given(st.text("ab*?", max_size=9), st.text("ab", max_size=9))
def test_characters_as_the_reference(pattern, text):
    assert wild(pattern, text, "*", lambda p, c: p in ("?", c)) == reference(pattern, text)


@given(st.text("ab*?:/", max_size=9), st.text("ab:/", max_size=9))
def test_ids_as_the_reference(glob, test_id):
    assert test_id_matches(glob, test_id) == reference(glob, test_id)


PARTS = st.sampled_from(["a", "b", "*", "a*", "?b", "**", "ab"])


@given(
    st.lists(PARTS, min_size=1, max_size=5), st.lists(st.sampled_from(["a", "b", "ab", "bb"]), min_size=1, max_size=5)
)
def test_paths_as_the_reference(glob, path):
    assert matches("/".join(glob), "/".join(path)) == segments(glob, path)


@given(st.text("ab", max_size=6), st.text("ab1,-", max_size=6))
def test_a_glob_without_brackets_covers_every_row_and_one_with_brackets_its_own(name, row):
    assert test_id_matches(f"t.py::{name}", f"t.py::{name}[{row}]")
    assert test_id_matches(f"t.py::{name}[{row}]", f"t.py::{name}[{row}]")
    assert not test_id_matches(f"t.py::{name}[{row}]", f"t.py::{name}")
    assert not test_id_matches(f"t.py::{name}[{row}]", f"t.py::{name}[{row}x]")


def steps(pattern: str, text: str) -> int:
    count = 0

    def hit(part: str, char: str) -> bool:
        nonlocal count
        count += 1
        return part in ("?", char)

    wild(pattern, text, "*", hit)
    return count


@given(st.text("ab*?", max_size=40), st.text("ab", max_size=200))
def test_the_cost_is_bounded_by_the_product_of_the_lengths(pattern, text):
    assert steps(pattern, text) <= len(pattern) * len(text)


@pytest.mark.parametrize("pattern", ["*a" * 30 + "*b", "*" * 200 + "b", "*a?" * 20 + "b", "a*" * 30 + "b"])
def test_patterns_that_blow_up_elsewhere_do_not_here(pattern):
    once, twice = (steps(pattern, "a" * n) for n in (1000, 2000))
    assert once <= len(pattern) * 1000
    assert twice <= 2.1 * once + len(pattern) ** 2
