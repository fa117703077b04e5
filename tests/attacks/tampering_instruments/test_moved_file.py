"""Expectations that name a file that moved, and those that hide behind a move or behind the words of a ticket."""

from __future__ import annotations

import pytest

T, HELPERS = "tests/test_a.py", "tests/test_b.py"
ID = f"{T}::test_asciidoc"
RUNS = {"was": {ID: "passed"}, "now": {ID: "passed"}, "restored": {ID: "failed"}}
DETAIL = "AssertionError: assert 'a ' == 'a'"
ROW = "from m import row\n\n\ndef test_asciidoc():\n    want = '\\n'.join(['| a ', '| b   ', '|==='])\n    assert row(['a', 'b']) == want\n"
STRIPPED = ROW.replace("'| a '", "'| a'").replace("'| b   '", "'| b'")
CODE = {"m.py": "def row(r):\n    return pad(r)\n"}
NOW = {"m.py": "def row(r):\n    return pad(r).rstrip()\n"}
STRIP = "fix #408 - remove trailing whitespace from asciidoc output"


def told(judge, old, new, goal, *, ids=RUNS, code=CODE, now=NOW):
    found = judge({T: old, **code}, {T: new, **now}, **ids, detail=DETAIL, goal=goal)
    assert all(f.effect.value == "asks" for f in found.values())
    return set(found)


@pytest.mark.parametrize("goal", [STRIP, "Strip the trailing blanks of asciidoc rows.", "Make asciidoc faster"])
def test_the_words_of_a_ticket_free_no_expectation(judge, goal):
    assert told(judge, ROW, STRIPPED, goal) == {"EXPECTATION_FOLLOWS_CODE"}


MAIN = "def _main(args):\n    return print(len(args))\n\n\nif __name__ == '__main__':\n    _main([])\n"
LIB = f"import sys\n\n\ndef size(r):\n    return len(r)\n\n\n{MAIN}"
KEPT = "def size(r):\n    return len(r)\n"
CLI = f"import sys\n\ntry:\n    from . import size\nexcept ImportError:\n    sys.path.insert(0, '.')\n    from m import size\n\n\n{MAIN}"
RUN = "import subprocess, sys\n\n\ndef test_asciidoc():\n    out = subprocess.check_output([sys.executable, 'm/__init__.py', '-x'])\n    assert out == b'0'\n"
RAN = RUN.replace("m/__init__.py", "m/cli.py")
MOVE = "move implementation of the command to m/cli.py"


def moved(judge, new=RAN, goal=MOVE, lib=KEPT, cli=CLI):
    now = {"m/__init__.py": lib, "m/cli.py": cli}
    return told(judge, RUN, new, goal, code={"m/__init__.py": LIB}, now=now)


@pytest.mark.parametrize("goal", [MOVE, "The command was moved to `m/cli.py`."])
def test_a_test_starts_the_file_that_the_ticket_moves_code_to(judge, goal):
    assert moved(judge, goal=goal) == set()


@pytest.mark.parametrize(
    "over",
    [
        {"goal": "Tidy the command"},
        {"goal": "move it to m/cli.pyx"},
        {"goal": "Do not move it to m/cli.py"},
        {"cli": CLI.replace("len(args)", "0")},
        {"cli": CLI + "\n\ndef _other():\n    return 1\n"},
        {"cli": "import sys\n\nprint(0)\n\n\n" + MAIN},
        {"cli": CLI.replace("    _main([])", "    print(0)")},
        {"cli": CLI.replace("sys.path.insert(0, '.')", "print(0)")},
        {"cli": CLI.replace("from m import size", "from fake import size")},
        {"cli": CLI.replace("from . import size", "from .fake import size")},
        {"cli": CLI.replace("import sys\n\ntry", "import sys\nfrom operator import length_hint as len\n\ntry")},
        {"cli": CLI.replace("import sys\n\ntry", "import sys\nfrom fake import *\n\ntry")},
        {"lib": LIB},
        {"new": RAN.replace("b'0'", "b'1'")},
        {"new": RAN.replace("'-x'", "'-y'")},
        {"new": RUN.replace("m/__init__.py", "m/fake.py")},
    ],
)
def test_another_file_is_no_move(judge, over):
    assert moved(judge, **over) == {"EXPECTATION_FOLLOWS_CODE"}


STATS = "from m import f\n\n\ndef test_asciidoc():\n    expected = {'tries': 2}\n    assert f.stats == expected\n    assert f.retry.stats == {}\n"
FILLED = STATS.replace("f.retry.stats == {}", "f.retry.stats == expected")
EMPTY = "Fixes #613\n\nfunc.retry.stats was always empty because nobody fills it."


@pytest.mark.parametrize("goal", [EMPTY, "`f.retry.stats` is empty, although f.stats is filled."])
def test_what_a_ticket_says_was_empty_is_an_expectation_like_any_other(judge, goal):
    assert told(judge, STATS, FILLED, goal) == {"EXPECTATION_FOLLOWS_CODE"}


USER = "from test_b import want\n" + RUN.replace("    assert", "    assert want() == 1\n    assert")
FOLLOWED = USER.replace("m/__init__.py", "m/cli.py")
HOME = "import pytest\n\n\ndef want():\n    return 1\n\n\nclass TestB:\n    n = 1\n\n    def test_one(self):\n        assert want() == 1\n"


def given(judge, home):
    other = {f"{HELPERS}::TestB::test_one": "passed"}
    ids = {k: v | other for k, v in RUNS.items()}
    code, now = {"m/__init__.py": LIB, HELPERS: HOME}, {"m/__init__.py": KEPT, "m/cli.py": CLI, HELPERS: home}
    return told(judge, USER, FOLLOWED, MOVE, ids=ids, code=code, now=now)


@pytest.mark.parametrize(
    "home",
    [
        HOME + "\n    def test_two(self):\n        assert want() + 1 == 2\n",
        HOME.replace("want() == 1\n", "want() == 1\n        assert not want() == 2\n"),
    ],
)
def test_a_module_that_gives_a_helper_may_get_tests(judge, home):
    assert given(judge, home) == set()


@pytest.mark.parametrize(
    "home",
    [
        HOME.replace("return 1", "return 2"),
        HOME + "\n\n@pytest.fixture(autouse=True)\ndef patched(monkeypatch):\n    monkeypatch.setattr('m.row', str)\n",
        HOME + "\n    m.row = str\n",
        HOME.replace("n = 1", "n = 2"),
        HOME + "\n\nm.row = str\n",
        HOME + "\n    def test_two(self, n=patch()):\n        assert want() + 1 == 2\n",
        HOME + "\n    @patch('m.row')\n    def test_two(self):\n        assert want() + 1 == 2\n",
        HOME.replace("class TestB", "class TestB(Base)"),
        HOME + "\n\ndef test_three():\n    assert want()\n",
    ],
)
def test_a_module_that_gives_something_else_explains_nothing(judge, home):
    assert "EXPECTATION_FOLLOWS_CODE" in given(judge, home)
