"""What a module does, beside what does nothing."""

from __future__ import annotations

import ast

import pytest

from gatekeeper.formats.python_behaviour import behaviour, likeness

BASE = "import os\n\nLIMIT = 3\n\n\ndef f(a):\n    return min(a, LIMIT)\n"


@pytest.mark.parametrize(
    "after",
    [
        "# more\n" + BASE,
        BASE.replace("    return", '    "doc"\n    return'),
        BASE.replace("    return", "    pass\n    return"),
        BASE.replace("    return", "    if 0:\n        return 1\n    return"),
        BASE + "UNREAD = 5\n",
        "import json\n" + BASE,
        BASE.replace("import os\n", ""),
    ],
)
def test_alike(after):
    assert behaviour(ast.parse(BASE)) == behaviour(ast.parse(after))


@pytest.mark.parametrize(
    "after",
    [
        BASE.replace("3", "4"),
        BASE.replace("min", "max"),
        BASE + "__all__ = ['f']\n",
        "import plugins\n" + BASE,
        "from __future__ import annotations\n" + BASE,
        BASE + "f(1)\n",
        BASE + "f.limit = 3\n",
        BASE.replace("    return", "    if a:\n        return 1\n    return"),
        BASE.replace("    return", "    if False:\n        pass\n    else:\n        return 1\n    return"),
    ],
)
def test_not_alike(after):
    assert behaviour(ast.parse(BASE)) != behaviour(ast.parse(after))


def test_a_name_that_others_read_is_not_idle():
    after = ast.parse(BASE + "OTHER = 5\n")
    assert behaviour(ast.parse(BASE)) == behaviour(after)
    assert behaviour(ast.parse(BASE), frozenset({"OTHER"})) != behaviour(after, frozenset({"OTHER"}))


def test_trees_are_left_as_they_were():
    tree = ast.parse(BASE + "UNREAD = 5\n")
    before = ast.dump(tree)
    behaviour(tree)
    assert ast.dump(tree) == before


def test_likeness():
    one, near, far = (
        ast.parse(s).body[0]
        for s in ("def f(a):\n    return a.b + 1", "def g(a):\n    return a.b + 2", "def h():\n    raise KeyError('x')")
    )
    assert likeness(one, one) == 1  # type: ignore[arg-type]
    assert 0.5 <= likeness(one, near) < 1  # type: ignore[arg-type]
    assert likeness(one, far) < 0.3  # type: ignore[arg-type]
