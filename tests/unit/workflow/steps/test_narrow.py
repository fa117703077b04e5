"""When changed test modules are tame, and what is taken over from a run that had them last."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import SUITE, build_run
from tree_evidence import tree_evidence

from gatekeeper.domain.instruments import Instruments
from gatekeeper.domain.testrun import RunRole, Session, Termination
from gatekeeper.domain.ticket import Suite
from gatekeeper.workflow.steps import narrow

CODE = {"src/app/__init__.py": "", "src/app/sums.py": "def add(a, b):\n    return a + b\n", "src/app/state.py": "import os\n\nHELP = []\nHELP.append(os.sep)\n"}  # fmt: skip
TESTS = "from app.sums import add\n\n\n" + "\n\n".join(f"def test_{n}():\n    assert add({n}, 1) == {n + 1}\n" for n in range(10))  # fmt: skip
MORE = "from app.sums import add\n\n\ndef test_more():\n    assert add(1, 2) == 3\n"
BASE = {**CODE, "tests/test_sums.py": TESTS, "tests/test_odd.py": MORE}
NEW = {"tests/test_new.py": MORE}
BEHIND = ("tests/test_new.py",)


def tame(after, *, base=None, suite=SUITE):
    evidence = tree_evidence({**BASE, **(base or {})}, after)
    instruments = Instruments(evidence.settings, (suite,), evidence.base)
    return narrow.tame(evidence.change, (suite,), instruments, evidence.base, evidence.merged)


@pytest.mark.parametrize(
    ("after", "paths"),
    [
        (NEW, BEHIND),
        ({**NEW, "src/app/sums.py": "def add(a, b):\n    return b + a\n"}, BEHIND),
        ({"tests/test_odd.py": MORE.replace("1, 2", "2, 1")}, ("tests/test_odd.py",)),
        ({"tests/test_odd.py": None}, ("tests/test_odd.py",)),
        ({"src/app/more.py": "import re\n\nX = re.compile('a')\n\n\ndef more():\n    return 1\n", "tests/test_new.py": "from app.more import more\n\n\ndef test_m():\n    assert more() == 1\n"}, BEHIND),
        ({"tests/test_new.py": "import gc\nimport app.state\n\napp.state.f()\n" + MORE}, BEHIND),
        ({**NEW, "README.md": "More.\n", "src/app/state.py": "HELP = []\nHELP.append(2)\n"}, BEHIND),
    ],
    ids=["a new one", "with code", "an edited one", "a removed one", "with a module of its own", "that does whatever it likes", "with other files"],
)  # fmt: skip
def test_a_few_test_modules_are_tame(after, paths):
    assert tame(after) == (paths, frozenset({"verify"}))


@pytest.mark.parametrize(
    "after",
    [
        {"src/app/sums.py": "def add(a, b):\n    return b + a\n"},
        {**NEW, "tests/conftest.py": ""},
        {**NEW, "tests/data.json": "{}"},
        {**NEW, "pyproject.toml": "[tool.pytest.ini_options]\n"},
        {**NEW, "tests/support.py": "X = 1\n"},
        {"tests/test_sums.py": TESTS + MORE.partition("\n\n\n")[2]},
        {"tests/test_new[1].py": MORE},
        {**NEW, "src/app/more.py": "from tests.test_new import test_more\n"},
    ],
    ids=["no test", "conftest", "data", "settings", "support", "most of the tests", "brackets", "taken by code"],
)
def test_whatever_else_bends_runs_is_not(after):
    assert tame(after) == ((), frozenset())


@pytest.mark.parametrize(
    "base",
    [
        {"tests/test_third.py": "from tests.test_odd import test_more\n"},
        {"tests/conftest.py": "pytest_plugins = ['tests.test_odd']\n"},
        {"pytest.ini": "[pytest]\naddopts = -p tests.test_odd\n"},
        {"pytest.ini": "[pytest]\naddopts = -n 4\n"},
        {"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p xdist"\n'},
        {"setup.cfg": "[tool:pytest]\naddopts = --random-order\n"},
    ],
    ids=["taken by another", "a plug-in", "a plug-in by settings", "xdist", "xdist by name", "random"],
)
def test_nor_are_modules_that_others_take_from_or_that_come_in_no_order(base):
    assert tame({"tests/test_odd.py": MORE.replace("1, 2", "2, 1")}, base=base) == ((), frozenset())


@pytest.mark.parametrize(
    "suite",
    [Suite("verify", runner="command", command="make test"), Suite("verify", runner="command", command="pytest -n auto"), Suite("verify", runner="node", command="")],
    ids=["no pytest in sight", "xdist", "another runner"],
)  # fmt: skip
def test_nor_is_a_suite_that_can_not_be_told(suite):
    assert tame(NEW, suite=suite) == ((), frozenset())


def test_a_script_that_runs_pytest_is_one():
    suite = Suite("verify", runner="command", command="sh run.sh")
    assert tame(NEW, base={"run.sh": "python -m pytest -q\n"}, suite=suite) == (BEHIND, frozenset({"verify"}))


A, B, LATE = "tests/test_a.py::a", "tests/test_a.py::b", "tests/test_new.py::n"


def test_what_passed_before_the_first_changed_test_is_known():
    assert narrow.known(build_run({B: "passed", A: "passed", LATE: "passed"}), BEHIND) == (A, B)
    assert narrow.known(build_run({A: "passed", B: "skipped", LATE: "passed"}), BEHIND) == (A,)


@pytest.mark.parametrize(
    "run",
    [
        build_run({LATE: "passed", A: "passed"}),
        build_run({A: "passed", LATE: "passed", B: "passed"}),
        build_run({A: "passed", LATE: "failed"}),
        build_run({A: "passed"}, exit_code=1),
        build_run({A: "passed"}, recorded=False),
        build_run({}),
        build_run({A: "passed"}, termination=Termination.TIMED_OUT),
        replace(build_run({A: "passed"}), sessions=(Session(build_run({A: "passed"}).cases, 2, 0, complete=False),)),
    ],
    ids=["first", "between", "failed", "status", "no records", "nothing", "out of time", "incomplete"],
)
def test_nothing_is_known_of_a_run_that_is_not_in_order(run):
    assert narrow.known(run, BEHIND) is None


def test_results_are_taken_over_for_what_was_listed_alone():
    merged = build_run({A: "passed", B: "passed", LATE: "passed"})
    own = replace(
        build_run({}, role=RunRole.BASE_INSTRUMENTS, exit_code=0),
        partial=True,
        sessions=(Session((), 0, 0, True, listed_ids=(A,)),),
    )
    kept, found = narrow.settled([merged, own])
    assert kept == merged
    assert [c.id for c in found.taken] == [A] == [c.id for c in found.cases]
    assert found.counts == {"passed": 1}


def test_a_whole_run_takes_nothing_over():
    runs = (build_run({A: "passed"}), build_run({A: "failed"}, role=RunRole.BASE_INSTRUMENTS))
    assert narrow.settled(runs) == runs


FIRST = build_run({A: "passed", B: "failed"})
PLAIN = build_run({A: "passed", B: "passed"})


@pytest.mark.parametrize(
    ("runs", "decides"),
    [
        ([FIRST, PLAIN, FIRST], PLAIN),
        ([FIRST, PLAIN, PLAIN], FIRST),
        ([FIRST, PLAIN, build_run({A: "failed", B: "failed"})], FIRST),
        ([FIRST, PLAIN], FIRST),
        ([FIRST, build_run({A: "failed", B: "passed"})], build_run({A: "failed", B: "passed"})),
    ],
    ids=["a need for order", "a flake", "another failure", "not tried again", "fails both ways"],
)
def test_a_failure_counts_unless_it_comes_from_the_order_each_time(runs, decides):
    assert narrow.settled(runs) == (decides,)
    assert narrow.doubtful(runs[:2], "verify") is (runs[1] is PLAIN)


def test_what_also_fails_without_the_changed_tests_is_no_matter_of_order():
    own = build_run({B: "failed"}, role=RunRole.BASE_INSTRUMENTS)
    assert not narrow.order_in_doubt(FIRST, [own])
    assert narrow.order_in_doubt(FIRST, [build_run({B: "passed"}, role=RunRole.BASE_INSTRUMENTS)])
    assert narrow.order_in_doubt(FIRST, [])
    assert not narrow.order_in_doubt(PLAIN, [])
    ended = build_run({A: "passed"}, exit_code=3)
    assert narrow.order_in_doubt(ended, [build_run({A: "passed"})])
    assert not narrow.order_in_doubt(ended, [build_run({A: "passed"}, exit_code=3, role=RunRole.BASE)])
