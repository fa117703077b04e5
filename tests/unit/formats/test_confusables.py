"""What a reader sees of a word or a path."""

from __future__ import annotations

import pytest

from gatekeeper.formats.confusables import path_skeleton, skeleton


@pytest.mark.parametrize(
    "twin",
    [
        "s\u0441ope",
        "\u0455cope",
        "\uff53\uff43\uff4f\uff50\uff45",
        "\U0001d42c\U0001d41c\U0001d428\U0001d429\U0001d41e",
        "sc\u0585pe",
        "sc\u03bfpe",
        "\ua731cope",
        "sc\u1d0fpe",
    ],
)
def test_twins_of_other_scripts_become_the_word(twin):
    assert skeleton(twin) == "scope"
    assert path_skeleton(twin) == "scope"


@pytest.mark.parametrize(
    "word",
    ["scope", "\u65e5\u672c\u8a9e", "caf\u00e9", "\u043f\u043b\u0430\u043d\u0438\u0440\u0443\u0439", "\u03c3\u03b3"],
)
def test_honest_words_become_no_ascii_word_of_another_meaning(word):
    assert word.isascii() or not skeleton(word).isascii()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Src/A.py", "src/a.py"),
        ("caf\u00e9", "cafe\u0301"),
        ("a\u2010b", "a-b"),
        ("a\u2215b", "a/b"),
        ("a\u200bb", "ab"),
        ("STRASSE", "stra\u00dfe"),
    ],
)
def test_paths_that_look_alike(one, other):
    assert path_skeleton(one) == path_skeleton(other)


@pytest.mark.parametrize(
    ("one", "other"), [("a.py", "b.py"), ("a/b", "ab"), ("caf\u00e9", "cafe"), ("\u65e5", "\u672c"), ("a_b", "a-b")]
)
def test_paths_that_do_not(one, other):
    assert path_skeleton(one) != path_skeleton(other)
