"""Expectations that a ticket describes to the letter, and those that hide behind such words."""

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


@pytest.mark.parametrize("goal", [STRIP, "Strip the trailing blanks of asciidoc rows.", "Avoid trailing spaces in the asciidoc format"])  # fmt: skip
def test_blanks_at_the_ends_of_lines_go_as_the_ticket_says(judge, goal):
    assert told(judge, ROW, STRIPPED, goal) == set()


@pytest.mark.parametrize(
    ("new", "goal"),
    [
        (STRIPPED, "Make asciidoc faster"),
        (STRIPPED, "Do not remove trailing whitespace from asciidoc output"),
        (STRIPPED, "Remove trailing whitespace from html output"),
        (STRIPPED, "Remove trailing whitespace"),
        (STRIPPED, "Remove leading whitespace from asciidoc output"),
        (STRIPPED.replace("'| b'", "'| c'"), STRIP),
        (STRIPPED.replace("'| b'", "'|b'"), STRIP),
        (STRIPPED.replace("'| b', ", ""), STRIP),
        (STRIPPED.replace("== want", "in want"), STRIP),
        (STRIPPED.replace("['a', 'b']", "['a']"), STRIP),
        (STRIPPED.replace("    assert", "    want = row(['a', 'b'])\n    assert"), STRIP),
        (STRIPPED.replace("from m import row", "from m import row\n\nrow = dict(a=1).get"), STRIP),
    ],
)
def test_more_than_blanks_goes_to_a_person(judge, new, goal):
    assert told(judge, ROW, new, goal) == {"EXPECTATION_FOLLOWS_CODE"}


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
def test_what_the_ticket_says_was_empty_may_be_expected_to_be_filled(judge, goal):
    assert told(judge, STATS, FILLED, goal) == set()


@pytest.mark.parametrize(
    ("old", "new", "goal"),
    [
        (STATS, FILLED, "Make retry faster"),
        (STATS, FILLED, "func.stats was always empty"),
        (STATS, FILLED, "func.retry.stats was never empty"),
        (STATS, FILLED.replace("retry.stats == expected", "retry.stats == {'tries': 1}"), EMPTY),
        (STATS, FILLED.replace("retry.stats == expected", "retry.stats == f.retry.stats"), EMPTY),
        (STATS, FILLED.replace("    assert f.stats == expected\n", ""), EMPTY),
        (STATS, FILLED.replace("{'tries': 2}", "{'tries': 1}"), EMPTY),
        (STATS.replace("{}", "{'tries': 0}"), FILLED, EMPTY),
        (STATS.replace("f.stats == expected", "f.other == expected"), FILLED.replace("f.stats == expected", "f.other == expected"), EMPTY),
        (STATS.replace("f.stats == {}", "f.stats == None"), FILLED.replace("== expected\n    assert f", "is not None\n    assert f"), EMPTY),
    ],
)  # fmt: skip
def test_anything_else_that_is_expected_goes_to_a_person(judge, old, new, goal):
    assert told(judge, old, new, goal) == {"EXPECTATION_FOLLOWS_CODE"}


USER = "from test_b import want\n" + ROW.replace("    want =", "    assert want() == 1\n    want =").replace("want = ", "text = ").replace("== want\n", "== text\n")  # fmt: skip
STRIPPED_USER = USER.replace("'| a '", "'| a'").replace("'| b   '", "'| b'")
HOME = "import pytest\n\n\ndef want():\n    return 1\n\n\nclass TestB:\n    n = 1\n\n    def test_one(self):\n        assert want() == 1\n"


def given(judge, home):
    other = {f"{HELPERS}::TestB::test_one": "passed"}
    ids = {k: v | other for k, v in RUNS.items()}
    return told(judge, USER, STRIPPED_USER, STRIP, ids=ids, code={**CODE, HELPERS: HOME}, now={**NOW, HELPERS: home})


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
