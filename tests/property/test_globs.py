"""Globs and git listings over arbitrary input."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gatekeeper.adapters.git_mirror.paths import hostile, listing
from gatekeeper.domain.globs import matches
from gatekeeper.errors import InputError


@given(st.binary(max_size=300))
def test_listings_raise_typed_errors_only(data: bytes) -> None:
    try:
        entries = listing(data)
    except InputError:
        return
    assert all(hostile(path) is None for path in entries)


@given(st.text(alphabet="ab*?[]!-/.", max_size=30), st.text(alphabet="ab/.]-", max_size=30))
def test_globs_answer_for_everything(glob: str, path: str) -> None:
    assert matches(glob, path) in (True, False)


def test_vectors() -> None:
    assert matches("**/x", "x")
    assert not matches("dir/**", "dir")
    assert not matches("a*", "a/b")
    assert not matches("[!]a]", "]")
    assert matches("[!]a]", "b")
