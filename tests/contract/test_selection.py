"""A part of a suite, as the gate asks for it, under every kind of command that runs pytest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sandbox_runs import LIMITS, Runs, usable_runs

from gatekeeper.config import Paths
from gatekeeper.domain.selection import Selection
from gatekeeper.domain.testrun import Outcome, SuiteRun
from gatekeeper.domain.ticket import Suite

FILES = {
    "pkg/code.py": """
        def twice(x):
            '''
            >>> twice(2)
            4
            '''
            return 2 * x
    """,
    "tests/conftest.py": "import pytest\n@pytest.fixture\ndef three(): return 3\n",
    "tests/test_one.py": """
        import pytest
        def test_a(three): assert three == 3
        @pytest.mark.parametrize("word", ["x", "\\udcff", "a b"])
        def test_b(word): pass
        class TestC:
            def test_d(self): assert 0
    """,
    "tests/deep/__init__.py": "",
    "tests/deep/test_two.py": "import os\nassert not os.path.exists('/tmp/loaded')\ndef test_e(): pass\n",
    "tests/test_nested.py": """
        pytest_plugins = "pytester"
        def test_inner(pytester):
            pytester.makepyfile("def test_q(): pass")
            pytester.runpytest_subprocess("-p", "no:cacheprovider").assert_outcomes(passed=1)
    """,
    "tools/run.sh": "python -m pytest -q tests/test_one.py && python -m pytest -q tests/deep\n",
}
ALL = {
    "tests/test_one.py::test_a", "tests/test_one.py::test_b[x]", "tests/test_one.py::test_b[a b]",
    "tests/test_one.py::test_b[\\udcff]", "tests/test_one.py::TestC::test_d", "tests/deep/test_two.py::test_e",
    "tests/test_nested.py::test_inner",
}  # fmt: skip


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    return usable_runs(gate_paths)


def part(runs: Runs, suite: Suite, selection: Selection, files: dict[str, str] | None = None) -> SuiteRun:
    request = runs.request(runs.tree(files or FILES), suite, replace(LIMITS, wall_s=60))
    return runs.sandbox.run(replace(request, files=selection.as_file()))


def ids(run: SuiteRun) -> set[str]:
    return {c.id for c in run.cases}


SUITES = [
    Suite("tests", runner="pytest", command="tests"),
    Suite("tests", command="python -m pytest -q"),
    Suite("tests", command="cd tests && python -m pytest -q . --rootdir ."),
    Suite("tests", command="env PYTHONPATH=pkg python -P -m pytest tests/test_one.py tests -q"),
]


@pytest.mark.parametrize("suite", SUITES, ids=lambda s: s.command)
def test_single_tests_alone_are_run(runs: Runs, suite: Suite) -> None:
    wanted = ("tests/test_one.py::test_b[a b]", "tests/test_one.py::test_b[\\udcff]", "tests/deep/test_two.py::test_e")
    seen = part(runs, suite, Selection(ids=wanted))
    assert ids(seen) == set(wanted), seen.log
    assert seen.exit_code == 0
    assert all(s.complete for s in seen.sessions)


@pytest.mark.parametrize("suite", SUITES, ids=lambda s: s.command)
def test_single_files_alone_are_loaded(runs: Runs, suite: Suite) -> None:
    files = {**FILES, "tests/test_broken.py": "raise SystemExit(3)"}
    seen = part(runs, suite, Selection(files=("tests/deep/test_two.py",)), files)
    assert ids(seen) == {"tests/deep/test_two.py::test_e"}, seen.log
    assert seen.exit_code == 0


@pytest.mark.parametrize("suite", SUITES, ids=lambda s: s.command)
def test_functions_are_run_with_all_their_parameters_and_beside_whole_files(runs: Runs, suite: Suite) -> None:
    functions = ("tests/test_one.py::test_b", "tests/test_one.py::TestC::test_d")
    seen = part(runs, suite, Selection(files=("tests/deep/test_two.py",), functions=functions))
    rows = {i for i in ALL if i.startswith("tests/test_one.py::test_b[")}
    assert ids(seen) == {*rows, functions[1], "tests/deep/test_two.py::test_e"}, seen.log
    assert len(rows) == 3


@pytest.mark.parametrize("suite", SUITES, ids=lambda s: s.command)
def test_what_is_known_is_listed_and_not_run(runs: Runs, suite: Suite) -> None:
    known = ALL - {"tests/test_one.py::TestC::test_d"}
    seen = part(runs, suite, Selection(known=tuple(known)))
    assert {(c.id, c.outcome) for c in seen.cases} == {("tests/test_one.py::TestC::test_d", Outcome.FAILED)}, seen.log
    assert set(seen.sessions[0].listed_ids) == ALL
    assert seen.sessions[0].complete


def test_everything_known_is_no_failure(runs: Runs) -> None:
    seen = part(runs, SUITES[0], Selection(known=tuple(ALL)))
    assert (seen.exit_code, seen.cases) == (0, ())
    assert set(seen.sessions[0].listed_ids) == ALL


def test_a_command_of_several_steps_goes_on(runs: Runs) -> None:
    seen = part(runs, Suite("tests", command="sh -e tools/run.sh"), Selection(ids=("tests/deep/test_two.py::test_e",)))
    assert ids(seen) == {"tests/deep/test_two.py::test_e"}, seen.log
    assert len(seen.sessions) == 2


def test_sessions_that_a_test_starts_elsewhere_are_whole(runs: Runs) -> None:
    seen = part(runs, SUITES[1], Selection(ids=("tests/test_nested.py::test_inner",)))
    assert [c.outcome for c in seen.cases if c.id.startswith("tests/")] == [Outcome.PASSED], seen.log


def test_without_a_selection_nothing_is_listed(runs: Runs) -> None:
    seen = runs.sandbox.run(runs.request(runs.tree(FILES), SUITES[0], replace(LIMITS, wall_s=60)))
    assert ids(seen) == ALL
    assert seen.sessions[0].listed_ids == ()


REACH = {
    "src/code.py": """
        import os
        import threading

        def one():
            x = 1
            return x

        def two(flag):
            if flag:
                return 2
            return 3

        def three():
            worker = threading.Thread(target=one)
            worker.start()
            worker.join()

        def four():
            return os.system("true")
    """,
    "tests/test_code.py": """
        import sys
        sys.path.insert(0, "src")
        import code as _stdlib_or_ours
        import importlib.util
        spec = importlib.util.spec_from_file_location("subject", "src/code.py")
        subject = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(subject)

        def test_one(): assert subject.one() == 1
        def test_two(): assert subject.two(False) == 3
        def test_nothing(): pass
        def test_thread(): subject.three()
        def test_process(): assert subject.four() == 0
        def test_traced():
            sys.settrace(None)
            subject.one()
    """,
}


def test_lines_that_each_test_runs_are_told_and_nothing_of_tests_that_cannot_be_followed(runs: Runs) -> None:
    lines = (("src/code.py", (6, 11, 12)),)
    seen = part(runs, Suite("tests", command="python -m pytest -q tests"), Selection(known=(), lines=lines), REACH)
    assert seen.exit_code == 0, seen.log
    reached = {test.rpartition("::")[2]: places for test, places in seen.sessions[0].reached}
    assert reached == {"test_one": (0,), "test_two": (2,), "test_nothing": (), "test_thread": (0,)}
