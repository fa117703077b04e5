"""Special cases that the code had elsewhere, or that ask for a quotient; beside it answers that only look like that."""

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.implementation_gaming import check

MAIN = "def main(args):\n    head = None\n    for opt in args:\n        if opt in ('--header', '-1'):\n            head = 'firstrow'\n    return head\n"
TESTS = "from lib import main\n\n\ndef test_main():\n    assert main(['--header']) == main(['-1']) == 'firstrow'\n"
REPO = {"lib/__init__.py": f"x = 1\n\n\n{MAIN}", "tests/test_lib.py": TESTS}


def codes(repo, after):
    return {f.code for f in check(tree_evidence(repo, after))}


@pytest.mark.parametrize("moved", [MAIN, "import sys\n\n\n" + MAIN.replace("return head", "print(head, file=sys.stderr)\n    return head")])  # fmt: skip
def test_a_function_that_moved_brings_no_answers_along(moved):
    assert codes(REPO, {"lib/__init__.py": "from lib.cli import main\n\nx = 1\n", "lib/cli.py": moved}) == set()


@pytest.mark.parametrize(
    "after",
    [
        {"lib/__init__.py": "from lib.cli import main\n\nx = 1\n", "lib/cli.py": MAIN.replace("    return", "    if args in ('--header', '-1', '--head'):\n        head = 'firstrow'\n    return")},
        {"lib/cli.py": MAIN.replace("firstrow", "secondrow").replace("def main", "def other")},
    ],
)  # fmt: skip
def test_what_is_new_in_a_moved_function_is_told(after):
    tests = TESTS + "\n\ndef test_other():\n    assert other('--head') == 'secondrow'\n"
    assert "ANSWERS_HARDCODED" in codes({**REPO, "tests/test_lib.py": tests}, after)


TIME = "def told(delta):\n    minutes = delta.seconds // 60\n    return '%d minutes' % minutes\n"
ROUND = TIME.replace("delta.seconds // 60", "round(delta.seconds / 60)").replace("    return", "    if minutes == 60:\n        return 'an hour'\n    return")  # fmt: skip
SECONDS = "from lib import told\n\n\ndef test_told():\n    assert told(span(minutes=60)) == 'an hour'\n"


REST = ROUND.replace(
    "minutes = round(delta.seconds / 60)", "rest = delta.seconds % 7200\n    minutes = round(rest / 60.5)"
)


@pytest.mark.parametrize("source", [ROUND, ROUND.replace("round(delta.seconds / 60)", "delta.seconds // 60"), REST])
def test_a_quotient_is_no_input(source):
    assert codes({"lib.py": TIME, "tests/test_lib.py": SECONDS}, {"lib.py": source}) == set()


@pytest.mark.parametrize(
    "source",
    [
        ROUND.replace("round(delta.seconds / 60)", "delta.seconds"),
        ROUND.replace("round(delta.seconds / 60)", "round(delta.seconds / 1)"),
        ROUND.replace("round(delta.seconds / 60)", "delta.seconds // 1"),
        ROUND.replace("round(delta.seconds / 60)", "delta.seconds * 60 // 60"),
        ROUND.replace("minutes == 60", "delta.seconds == 60"),
        REST.replace("60.5", "1.5"),
        REST.replace("% 7200", "+ 0"),
        REST.replace("    if", "    rest = delta\n    if"),
        ROUND.replace("    if", "    minutes = delta.seconds\n    if"),
        ROUND.replace("    if", "    for minutes in (delta.seconds,):\n        pass\n    if"),
        ROUND.replace("told(delta)", "told(delta, minutes=0)"),
        ROUND.replace("minutes == 60", "minutes in (60, 61)"),
        ROUND.replace("round(delta.seconds / 60)", "round(delta / 60)"),
    ],
)
def test_what_may_be_the_input_itself_is_told(source):
    tests = SECONDS.replace("'an hour'", "'an hour' != told(61)")
    assert codes({"lib.py": TIME, "tests/test_lib.py": tests}, {"lib.py": source}) == {"ANSWERS_HARDCODED"}
