"""Test modules under other names, and copies with an assertion turned round."""

from __future__ import annotations

import ast

import pytest

from gatekeeper.formats.renamed_tests import looks_at_names, renamed


def other(name: str) -> str:
    return "test_" + "".join(c for c in name if c.isalpha())[::-1]


def test_functions_get_other_names_and_the_rest_stays() -> None:
    source = "import x\n\n\n@x.mark('a')\ndef test_one(a):\n    assert a == 1\n\n\nclass TestB:\n    def test_c(self):\n        assert 1\n"
    made = renamed(source, other)
    assert made is not None
    assert made.names == ((other("test_one"), "test_one"),)
    assert "def test_c(self)" in made.source
    assert made.source.startswith(source.replace("test_one", other("test_one")))


def test_a_twin_asserts_the_contrary() -> None:
    made = renamed("def test_a(b):\n    x = b\n    assert x == 1, 'no'\n", other)
    assert made is not None
    assert made.twins == ((other("test_a turned"), "test_a"),)
    space: dict[str, object] = {}
    exec(made.source, space)
    space[other("test_a")](1)  # type: ignore[operator]
    with pytest.raises(AssertionError):
        space[other("test_a turned")](1)  # type: ignore[operator]


@pytest.mark.parametrize(
    "source",
    [
        "def test_a():\n    pass\n\n\nNAMES = ['test_a']\n",
        "def test_a():\n    pass\n\n\ndef test_b():\n    test_a()\n",
        "def test_a():\n    pass\n\n\nbefore = test_a\n",
    ],
)
def test_a_name_that_is_spoken_of_is_kept(source: str) -> None:
    made = renamed(source, other)
    assert made is not None
    assert "test_a" not in dict(made.names).values()


@pytest.mark.parametrize(
    "body",
    [
        "    if x:\n        return\n    assert x\n",
        "    raise OSError\n    assert x\n",
        "    pytest.skip('no')\n    assert x\n",
        "    with y:\n        assert x\n",
        "    try:\n        assert x\n    except OSError:\n        pass\n",
        "    yield\n    assert x\n",
        "    x.check()\n",
    ],
)
def test_a_test_that_may_pass_without_its_assertion_has_no_twin(body: str) -> None:
    made = renamed(f"def test_a(x):\n{body}", other)
    assert made is not None
    assert made.twins == ()


@pytest.mark.parametrize("source", ["def (", "\x00", "def test_a(): pass\n\f\ndef test_b(): pass\n", "x\r\n"])
def test_what_cannot_be_renamed_safely_is_left(source: str) -> None:
    made = renamed(source, other)
    assert made is None


def test_decorated_and_continued_definitions_stay_python() -> None:
    source = '@a(\n    1)\nasync def test_a(\n    b,\n):\n    """def test_b(): pass"""\n    assert await b\n\ndef test_b(): assert 1; assert 2\n'
    made = renamed(source, other)
    assert made is not None
    ast.parse(made.source)
    assert dict(made.names) == {other("test_a"): "test_a"}


@pytest.mark.parametrize(
    "text", ["def f(request): pass", "x = __name__", "def test_a(snapshot): pass", "import pickle"]
)
def test_looking_at_names_shows_in_the_text(text: str) -> None:
    assert looks_at_names(text)


def test_ordinary_tests_do_not_look_at_names() -> None:
    assert not looks_at_names("from app import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n")
