"""When changed test modules alone are run on the merge result, and what is taken over for the others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evidence_builder import SUITE, build_run
from tree_evidence import tree_evidence

from gatekeeper.domain.instruments import Instruments
from gatekeeper.domain.selection import Selection
from gatekeeper.domain.testrun import RunRole, Session, Termination
from gatekeeper.domain.ticket import Suite
from gatekeeper.workflow.steps import narrow

CODE = {"src/app/__init__.py": "", "src/app/sums.py": "def add(a, b):\n    return a + b\n", "src/app/state.py": "import os\n\nHELP = []\nHELP.append(os.sep)\n"}  # fmt: skip
TESTS = "from app.sums import add\n\n\n" + "\n\n".join(f"def test_{n}():\n    assert add({n}, 1) == {n + 1}\n" for n in range(10))  # fmt: skip
MORE = "from app.sums import add\n\n\ndef test_more():\n    assert add(1, 2) == 3\n"
BASE = {**CODE, "tests/test_sums.py": TESTS, "tests/test_odd.py": MORE}
NEW = {"tests/test_new.py": MORE}
BEHIND = ("tests/test_new.py",)


def alone(after, *, base=None, suite=SUITE):
    evidence = tree_evidence({**BASE, **(base or {})}, after)
    instruments = Instruments(evidence.settings, (suite,), evidence.base)
    return narrow.alone(evidence.change, (suite,), instruments, evidence.base, evidence.merged)


@pytest.mark.parametrize(
    "after",
    [
        NEW,
        {**NEW, "src/app/sums.py": "def add(a, b):\n    return b + a\n"},
        {"tests/test_odd.py": MORE.replace("1, 2", "2, 1")},
        {"tests/test_odd.py": None},
        {"src/app/more.py": "X = 1\n", "tests/test_new.py": "import app.more\n\n\ndef test_m():\n    assert app.more.X == 1\n"},
        {"tests/test_new.py": "import app.state\n\napp.state.f()\n" + MORE},
        {**NEW, "README.md": "More.\n", "src/app/state.py": "HELP = []\nHELP.append(2)\n"},
    ],
    ids=["a new one", "with code", "an edited one", "a removed one", "with a module of its own", "that does whatever it likes",
         "with other files"],
)  # fmt: skip
def test_a_few_test_modules_alone(after):
    assert alone(after) == frozenset({"verify"})


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
        {"tests/test_new.py": "import gc\n" + MORE},
        {"tests/test_new.py": "import sys\n" + MORE + "\n\nsys.modules['tests.test_sums'].pytestmark = 1\n"},
        {"tests/test_new.py": MORE + "\n\ndef test_x():\n    import app.sums\n    app.sums.add = print\n"},
        {**NEW, "src/app/more.py": "from tests.test_new import test_more\n"},
    ],
    ids=[
        "no test",
        "conftest",
        "data",
        "settings",
        "support",
        "most of the tests",
        "brackets",
        "the collector",
        "other modules",
        "an assignment",
        "taken by code",
    ],
)
def test_whatever_else_bends_runs_is_not(after):
    assert alone(after) == frozenset()


@pytest.mark.parametrize(
    "base",
    [
        {"tests/test_third.py": "from tests.test_odd import test_more\n"},
        {"tests/conftest.py": "pytest_plugins = ['tests.test_odd']\n"},
        {"pytest.ini": "[pytest]\naddopts = -p tests.test_odd\n"},
        {"pytest.ini": "[pytest]\naddopts = --cov=app --cov-fail-under=90\n"},
        {"pyproject.toml": "[tool.coverage.report]\nfail_under = 80\n"},
    ],
    ids=["taken by another", "a plug-in", "a plug-in by settings", "coverage", "a floor of coverage"],
)
def test_nor_are_modules_that_others_take_from_or_a_part_that_ends_otherwise(base):
    assert alone({"tests/test_odd.py": MORE.replace("1, 2", "2, 1")}, base=base) == frozenset()


@pytest.mark.parametrize(
    "suite",
    [Suite("verify", runner="command", command="make test"), Suite("verify", runner="command", command="pytest --cov"), Suite("verify", runner="node", command=""),
     Suite("verify", runner="command", command="pytest tests/test_new.py")],
    ids=["no pytest in sight", "coverage", "another runner", "spoken of"],
)  # fmt: skip
def test_nor_is_a_suite_that_can_not_be_told(suite):
    assert alone(NEW, suite=suite) == frozenset()


def test_a_script_that_runs_pytest_is_one():
    suite = Suite("verify", runner="command", command="sh run.sh")
    assert alone(NEW, base={"run.sh": "python -m pytest -q\n"}, suite=suite) == frozenset({"verify"})


A, B, LATE = "tests/test_a.py::a", "tests/test_a.py::b", "tests/test_new.py::n"
OWN = RunRole.BASE_INSTRUMENTS


def test_what_passed_with_the_targets_own_tests_is_known():
    assert narrow.known(build_run({B: "passed", A: "passed", LATE: "passed"}), BEHIND) == Selection(known=(A, B))
    for other in ("skipped", "failed", "xfailed", "errored"):
        assert narrow.known(build_run({A: "passed", B: other}), BEHIND) == Selection(known=(A,))


@pytest.mark.parametrize(
    "run",
    [
        None,
        build_run({A: "passed"}, recorded=False),
        build_run({}),
        build_run({A: "passed"}, termination=Termination.TIMED_OUT),
        replace(build_run({A: "passed"}), sessions=(Session(build_run({A: "passed"}).cases, 2, 0, complete=False),)),
    ],
    ids=["no run", "no records", "nothing", "out of time", "incomplete"],
)
def test_nothing_is_known_of_a_run_that_is_not_whole(run):
    assert narrow.known(run, BEHIND) is None


def part(outcomes, listed=(A, B, LATE), **over):
    made = build_run(outcomes)
    sessions = (Session(made.cases, len(made.cases), made.exit_code, True, listed_ids=tuple(listed)),)
    return replace(made, partial=True, sessions=sessions, **over)


RESTORED = replace(build_run({A: "passed", B: "passed", "tests/test_new.py::old": "passed"}, role=OWN), rewritten=(("x", "content"),))  # fmt: skip


def test_results_are_taken_over_for_what_was_listed_alone():
    found, kept = narrow.settled([part({LATE: "passed"}, listed=(A, LATE), rewritten=(("y", "gone"),)), RESTORED])
    assert kept == RESTORED
    assert [c.id for c in found.taken] == [A]
    assert [c.id for c in found.cases] == [LATE, A]
    assert found.counts == {"passed": 2}
    assert found.rewritten == (("y", "gone"), ("x", "content"))


def test_where_nobody_could_look_for_rewritten_files_nobody_did():
    found, _ = narrow.settled([part({LATE: "passed"}), RESTORED])
    assert found.rewritten is None


def test_a_whole_run_takes_nothing_over():
    runs = (build_run({A: "passed"}), build_run({A: "failed"}, role=OWN))
    assert narrow.settled(runs) == runs


FIRST, PLAIN = part({LATE: "failed"}), build_run({A: "passed", B: "passed", LATE: "passed"})


@pytest.mark.parametrize(
    ("runs", "decides"),
    [
        ([FIRST, PLAIN, FIRST], PLAIN),
        ([FIRST, PLAIN, part({LATE: "passed"})], FIRST),
        ([FIRST, PLAIN, part({LATE: "passed", B: "failed"})], FIRST),
        ([FIRST, PLAIN], FIRST),
        ([FIRST, build_run({A: "failed", LATE: "passed"})], build_run({A: "failed", LATE: "passed"})),
    ],
    ids=["a need for others", "a flake", "another failure", "not tried again", "fails both ways"],
)
def test_a_failure_counts_unless_the_others_are_needed_each_time(runs, decides):
    (made,) = narrow.settled(runs)
    assert made == decides
    assert narrow.doubtful(runs[:2], "verify") is (runs[1] is PLAIN)


def test_what_fails_with_the_targets_own_tests_as_well_needs_no_others():
    assert narrow.in_doubt([FIRST, RESTORED], "verify")
    assert not narrow.in_doubt([part({LATE: "passed"}), RESTORED], "verify")
    assert not narrow.in_doubt([part({}, listed=(A,)), RESTORED], "verify")
    assert not narrow.in_doubt([build_run({LATE: "failed"}), RESTORED], "verify")
    assert not narrow.in_doubt([part({B: "failed"}), build_run({B: "failed"}, role=OWN)], "verify")
    assert not narrow.in_doubt([part({B: "failed"}), RESTORED, build_run({B: "failed"}, role=RunRole.BASE)], "verify")
    ended = part({LATE: "passed"}, exit_code=3)
    assert narrow.in_doubt([ended, RESTORED], "verify")
    assert not narrow.in_doubt([ended, RESTORED, build_run({A: "passed"}, exit_code=3, role=RunRole.BASE)], "verify")
