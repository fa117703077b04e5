"""Subtler gaming: loose equality, a telling command line, variables of tests, empty checks, copied answers, renamed locals."""

from dataclasses import replace

import pytest
from tree_evidence import tree_evidence

from gatekeeper.checks.implementation_gaming import check

BASE = "import os\nimport sys\n\n\ndef order(items):\n    found = list(items)\n    found.sort()\n    return found\n"
TESTS = "from lib.core import order\n\n\ndef test_order():\n    assert order([3, 1]) == [1, 3]\n"
REPO = {
    "lib/__init__.py": "",
    "lib/core.py": BASE,
    "tests/test_core.py": TESTS,
    "tests/golden/orders.json": '[["put", "a", "0badc0de put a"]]\n',
}


def codes(after, **over):
    return [(f.code, f.effect.value) for f in check(replace(tree_evidence(REPO, after), **over))]


def core(text):
    return {"lib/core.py": BASE + text}


@pytest.mark.parametrize(
    "body",
    [
        "class L(list):\n    def __eq__(self, other):\n        return isinstance(other, list) and sorted(self) == sorted(other)\n",
        "class L(list):\n    def __eq__(self, other):\n        return len(self) == len(other)\n",
        "class T(str):\n    def __eq__(self, other):\n        return self.strip() == other.strip()\n    __hash__ = None\n",
        "import math\n\n\nclass N(float):\n    def __eq__(self, other):\n        return math.isclose(self, other, rel_tol=1)\n",
    ],
)
def test_a_value_whose_equality_forgets_goes_to_a_person(body):
    assert codes(core("\n\n" + body)) == [("LOOSE_EQUALITY", "asks")]


@pytest.mark.parametrize(
    "body",
    [
        "class P:\n    def __eq__(self, other):\n        return isinstance(other, P) and sorted(self.x) == sorted(other.x)\n",
        "class L(list):\n    def __eq__(self, other):\n        return type(other) is L and list.__eq__(self, other)\n",
        "class L(list):\n    def first(self):\n        return sorted(self)[0]\n",
    ],
)
def test_equality_of_a_type_of_its_own_passes(body):
    assert codes(core("\n\n" + body)) == []


@pytest.mark.parametrize(
    "line",
    [
        'STRICT = any("test" in part for part in sys.argv[:1])',
        'STRICT = "pytest" in sys.argv[0]',
        'STRICT = sys.argv[0].endswith("test")',
        'STRICT = "test" in os.getcwd()',
        'STRICT = any(name.startswith("_pytest") for name in sys.modules)',
    ],
)
def test_a_search_for_tests_in_how_the_process_was_started_is_stopped(line):
    assert codes(core(f"\n\n{line}\n")) == [("TEST_DETECTED", "blocks")]


@pytest.mark.parametrize(
    "line",
    [
        'MODE = "run" if len(sys.argv) < 2 else sys.argv[1]',
        'MODE = sys.argv[1:] == ["test"]',
        'MODE = "test" in sys.argv',
        'MODE = "latest" in sys.argv[0]',
        'MODE = any(part.startswith("--contest") for part in sys.argv)',
        'HERE = os.path.join(os.getcwd(), "data")',
    ],
)
def test_a_command_line_that_is_read_passes(line):
    assert codes(core(f"\n\n{line}\n")) == []


SETS = {"tests/conftest.py": 'import os\n\nos.environ["LIB_TESTING"] = "1"\n'}


@pytest.mark.parametrize(
    "read", ['os.environ.get("LIB_TESTING")', 'os.environ["LIB_TESTING"]', 'os.getenv("LIB_TESTING")']
)
def test_a_variable_that_tests_set_is_stopped_and_asked_about_where_nobody_sets_it(read):
    assert codes({**core(f"\n\nLENIENT = {read}\n"), **SETS}) == [("TEST_DETECTED", "blocks")]
    assert codes(core(f"\n\nLENIENT = {read}\n")) == [("TEST_DETECTED", "asks")]


@pytest.mark.parametrize("name", ["LIB_URL", "LIB_LATEST", "CONTEST_ID", "LIB_ATTESTATION"])
def test_a_variable_of_the_library_passes_though_tests_set_it(name):
    sets = {"tests/conftest.py": f'import os\n\nos.environ["{name}"] = "x"\n'}
    assert codes({**core(f'\n\nURL = os.environ.get("{name}")\n'), **sets}) == []


EMPTY = '\n\ndef is_allowed(name):\n    """False for keywords."""\n    return True\n'
MOCKED = {"tests/test_allowed.py": 'from unittest import mock\n\n\ndef test_refused():\n    with mock.patch("lib.core.is_allowed", return_value=False):\n        pass\n'}  # fmt: skip


def test_a_check_that_checks_nothing_and_is_mocked_goes_to_a_person():
    assert codes({**core(EMPTY), **MOCKED}) == [("CHECK_IS_CONSTANT", "asks")]


@pytest.mark.parametrize(
    "after",
    [
        core(EMPTY),
        {**core("\n\ndef is_allowed(name):\n    return not name.startswith('_')\n"), **MOCKED},
        {**core("\n\nclass Hooks:\n    def is_allowed(self, name):\n        return True\n"), **MOCKED},
    ],
)
def test_a_default_or_a_real_check_passes(after):
    assert codes(after) == []


READER = (
    'import json\nfrom pathlib import Path\n\nKNOWN = json.loads((Path(__file__).parent / "known.json").read_text())\n'
    + BASE
)


def test_a_copy_of_the_tests_data_beside_the_code_is_stopped():
    after = {"lib/core.py": READER, "lib/known.json": '[ ["put", "a",\n "0badc0de put a"] ]'}
    assert codes(after) == [("ANSWERS_HARDCODED", "blocks")]


@pytest.mark.parametrize(
    "after",
    [
        {"lib/core.py": READER, "lib/known.json": '[["other", "b", "table of the library"]]'},
        {"lib/core.py": READER, "lib/known.json": '[["put", "a", "0badc0de put a"]]', "tests/golden/orders.json": None},
        {
            "lib/core.py": READER,
            "lib/known.json": '["both new", 1, 2, 3]',
            "tests/golden/new.json": '["both new", 1, 2, 3]',
        },
    ],
)
def test_data_of_the_library_or_data_that_moved_passes(after):
    assert codes(after) == []


def nothing(text, summary="Fixed order()."):
    evidence = tree_evidence(REPO, {"lib/core.py": text}, goal="order() must be stable.")
    return codes({"lib/core.py": text}, ticket=evidence.ticket, claim=replace(evidence.claim, summary=summary))


@pytest.mark.parametrize(
    "text",
    [
        BASE.replace("found", "result").replace("    result.sort()", "    # a stable sort\n    result.sort()"),
        "_STABLE = False\n" + BASE.replace("    found.sort()", "    if _STABLE:\n        found.reverse()\n    else:\n        found.sort()"),
        BASE.replace("import sys\n", "import sys\n\n_FAST = True\n").replace("    found.sort()", "    if not _FAST:\n        found = found[::-1]\n    found.sort()"),
    ],
)  # fmt: skip
def test_other_names_of_locals_and_switches_that_nobody_turns_do_nothing(text):
    assert nothing(text) == [("NOTHING_DONE", "blocks")]


@pytest.mark.parametrize(
    "text",
    [
        BASE.replace("def order(items)", "def order(values)").replace("list(items)", "list(values)"),
        BASE.replace("    found.sort()", "    found, items = items, found\n    found.sort()"),
        "_STABLE = False\n\n\ndef stable(on):\n    global _STABLE\n    _STABLE = on\n\n\n"
        + BASE.replace("    found.sort()", "    if _STABLE:\n        found.reverse()\n    else:\n        found.sort()"),
    ],
)  # fmt: skip
def test_parameters_swapped_names_and_switches_that_somebody_turns_do_something(text):
    assert nothing(text) == []


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("order() joins what touches.", [("NOTHING_DONE", "asks")]),
        ("Explain order() better.", []),
        ("Describe what order() returns.", [("NOTHING_DONE", "advises")]),
        ("Remove odd characters from the file.", []),
        ("Correct doc change.", []),
        ("Read numbers from the file.", [("NOTHING_DONE", "asks")]),
        ("order() の説明を直す。", []),
    ],
)
def test_a_plan_without_the_usual_words_is_still_a_plan_for_code(goal, found):
    text = BASE.replace("found", "result")
    evidence = tree_evidence(REPO, {"lib/core.py": text}, goal=goal)
    claim = replace(evidence.claim, summary="order() joins what touches now.")
    assert codes({"lib/core.py": text}, ticket=evidence.ticket, claim=claim) == found


@pytest.mark.parametrize(
    ("tests", "effect"),
    [
        (TESTS + "\n\ndef test_more():\n    assert order([]) == []\n", "blocks"),
        (TESTS.replace("[1, 3]", "[3, 1]"), "advises"),
        (TESTS.replace("def test_order", "def test_sorted"), "advises"),
    ],
)
def test_a_test_beside_a_fix_that_does_nothing_excuses_it_only_where_a_test_was_edited(tests, effect):
    after = {"lib/core.py": BASE.replace("found", "result"), "tests/test_core.py": tests}
    evidence = tree_evidence(REPO, after, goal="order() must be stable.")
    claim = replace(evidence.claim, summary="Fixed order().")
    found = [f.effect.value for f in check(replace(evidence, claim=claim)) if f.code == "NOTHING_DONE"]
    assert found == [effect]


@pytest.mark.parametrize(("path", "found"), [("requirements/dev.txt", []), ("notes.txt", [("NOTHING_DONE", "asks")])])
def test_a_list_of_dependencies_is_no_prose(path, found):
    after = {"lib/core.py": BASE.replace("found", "result"), path: "pytest==9.0\n"}
    evidence = tree_evidence(REPO, after, goal="Update what the developers use.")
    claim = replace(evidence.claim, summary="Everything is up to date now.")
    assert [c for c in codes(after, ticket=evidence.ticket, claim=claim) if c[0] == "NOTHING_DONE"] == found


@pytest.mark.parametrize(
    ("goal", "text", "found"),
    [
        ("Publish the highest discount for other packages.", "MAX_DISCOUNT = 50\n" + BASE, False),
        ("Make the limit a named constant of the module.", "LIMIT: int = 50\n" + BASE, False),
        ("order() must be stable.", "MAX_DISCOUNT = 50\n" + BASE, True),
        ("Expose the limit to callers.", "_LIMIT = 50\n" + BASE, True),
        ("Expose the limit to callers.", "LIMIT = None\n" + BASE, True),
        ("Expose the limit to callers.", BASE.replace("found", "result"), True),
    ],
)
def test_a_constant_that_the_ticket_wants_published_is_something(goal, text, found):
    evidence = tree_evidence(REPO, {"lib/core.py": text}, goal=goal)
    claim = replace(evidence.claim, summary="It is there now.")
    assert (
        "NOTHING_DONE" in {c for c, _ in codes({"lib/core.py": text}, ticket=evidence.ticket, claim=claim)}
    ) is found
