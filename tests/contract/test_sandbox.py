"""What `domain.ports.Sandbox` promises, shown on the real bubblewrap."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sandbox_runs import LIMITS, Runs, usable_runs

from gatekeeper.adapters.bubblewrap_sandbox import BubblewrapSandbox, cgroups
from gatekeeper.config import Paths
from gatekeeper.domain.testrun import Outcome, Termination
from gatekeeper.domain.ticket import Suite
from gatekeeper.errors import CouldNotCheck

ALL_OUTCOMES = """
    import pytest

    @pytest.fixture
    def broken():
        raise ValueError("set-up")

    @pytest.fixture
    def breaks_late():
        yield
        raise ValueError("clean-up")

    def test_passed(): pass
    def test_failed(): assert 0
    @pytest.mark.skip(reason="not today")
    def test_skipped(): pass
    @pytest.mark.xfail
    def test_xfailed(): assert 0
    @pytest.mark.xfail
    def test_xpassed(): pass
    def test_errored(broken): pass
    def test_errored_late(breaks_late): pass
    @pytest.mark.parametrize("word", ["a b"])
    def test_parameter(word): pass
    class TestGroup:
        def test_inner(self): pass
"""
PASSES = "def test_a(): pass\n"


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    return usable_runs(gate_paths)


def test_pytest_outcomes(runs: Runs) -> None:
    run = runs.pytest({"tests/test_x.py": ALL_OUTCOMES, "pytest.ini": "[pytest]\n"})
    (session,) = run.sessions
    assert {c.id.removeprefix("tests/test_x.py::"): c.outcome.value for c in session.cases} == {
        "test_passed": "passed",
        "test_failed": "failed",
        "test_skipped": "skipped",
        "test_xfailed": "xfailed",
        "test_xpassed": "xpassed",
        "test_errored": "errored",
        "test_errored_late": "errored",
        "test_parameter[a b]": "passed",
        "TestGroup::test_inner": "passed",
    }
    assert (run.termination, run.exit_code, session.exit_code) == (Termination.EXITED, 1, 1)
    assert (session.complete, session.collected, session.config_files) == (True, 9, ("pytest.ini",))
    assert (run.guarantee, run.expects_records, run.tree) == ("recorded", True, "a" * 40)


def test_details_tell_why(runs: Runs) -> None:
    cases = {c.id: c for c in runs.pytest({"test_x.py": ALL_OUTCOMES}).cases}
    assert "assert 0" in cases["test_x.py::test_failed"].detail
    assert "not today" in cases["test_x.py::test_skipped"].detail


def test_a_module_that_cannot_be_imported_is_an_error(runs: Runs) -> None:
    run = runs.pytest({"test_x.py": "import no_such_module\n", "test_y.py": PASSES})
    assert run.exit_code == 2
    assert Outcome.ERRORED in {c.outcome for c in run.cases if c.id.startswith("test_x.py")}


def test_nothing_collected_is_exit_code_five(runs: Runs) -> None:
    run = runs.pytest({"readme.txt": ""})
    assert (run.exit_code, run.cases, run.sessions[0].complete) == (5, (), True)


def test_deselected_tests_are_counted(runs: Runs) -> None:
    run = runs.pytest({"test_x.py": ALL_OUTCOMES}, "-k 'test_passed or test_inner'")
    assert (run.sessions[0].collected, run.sessions[0].deselected, run.exit_code) == (2, 7, 0)


def test_only_the_tests_asked_for(runs: Runs) -> None:
    suite = Suite("tests", runner="pytest")
    tree = runs.tree({"test_x.py": ALL_OUTCOMES, "test_y.py": PASSES})
    run = runs.sandbox.run(runs.request(tree, suite, tests=("test_y.py::test_a",)))
    assert [c.id for c in run.cases] == ["test_y.py::test_a"]


def test_ids_are_relative_to_the_tree_whatever_the_workdir(runs: Runs) -> None:
    run = runs.pytest({"part/test_x.py": PASSES, "part/pytest.ini": "[pytest]\n"}, workdir="part")
    assert [c.id for c in run.cases] == ["part/test_x.py::test_a"]
    assert run.sessions[0].config_files == ("part/pytest.ini",)


def test_sessions_inside_a_test_are_not_the_suites(runs: Runs) -> None:
    nested = """
        pytest_plugins = "pytester"

        def test_a(pytester):
            pytester.makepyfile("def test_q(): assert 0")
            assert pytester.runpytest_inprocess().ret == 1
            assert pytester.runpytest_subprocess().ret == 1
    """
    run = runs.pytest({"test_x.py": nested})
    assert [(c.id, c.outcome) for c in run.cases] == [("test_x.py::test_a", Outcome.PASSED)]
    assert run.sessions[0].complete


def test_two_sessions_by_a_script(runs: Runs) -> None:
    run = runs.command({"test_x.py": PASSES}, "pytest -q\nenv -i $(command -v python) -I -m pytest -q")
    assert [[c.id for c in s.cases] for s in run.sessions] == [["test_x.py::test_a"]] * 2
    assert all(s.complete for s in run.sessions)


def test_a_list_of_lines_stops_at_the_first_failure(runs: Runs) -> None:
    run = runs.command({}, "echo one\nfalse\necho two")
    assert (run.exit_code, "one" in run.log, "two" in run.log) == (1, True, False)


@pytest.mark.parametrize(("line", "code"), [("true", 0), ("exit 7", 7), ("no-such-program", 127), ("kill -9 $$", 137)])
def test_exit_codes(runs: Runs, line: str, code: int) -> None:
    run = runs.command({}, line)
    assert (run.termination, run.exit_code, run.guarantee) == (Termination.EXITED, code, "exit_status")


def test_reports_are_read_and_stale_ones_are_not(runs: Runs) -> None:
    stale = '<testsuite tests="1"><testcase classname="a" name="stale"/></testsuite>'
    fresh = "pytest -q -p no:gatekeeper_pytest_recorder --junit-xml=out/new.xml"
    files = {"test_x.py": PASSES, "out/old.xml": stale}
    run = runs.command(files, fresh, reports=("out/*.xml",))
    assert [c.id for c in run.cases] == ["test_x::test_a"]
    assert run.guarantee == "reported"
    silent = runs.command(files, "true", reports=("out/*.xml",))
    assert (silent.reports, silent.cases) == ((), ())


def test_a_broken_report_is_a_fault_not_an_absence(runs: Runs) -> None:
    run = runs.command({}, "echo '<testsuite' > r.xml", reports=("r.xml",))
    assert run.reports == ()
    assert len(run.report_faults) == 1


def test_reports_keep_the_exit_code(runs: Runs) -> None:
    assert runs.command({}, "exit 7", reports=("*.xml",)).exit_code == 7


@pytest.mark.parametrize("workdir", ["missing", "..", "/etc", "a/../..", "link", "file"])
@pytest.mark.parametrize(("source", "blame"), [("settings", "environment"), ("ticket", "change")])
def test_a_workdir_that_is_none(runs: Runs, workdir: str, source: str, blame: str) -> None:
    tree = runs.tree({"file": ""}, {"link": "/etc"})
    with pytest.raises(CouldNotCheck) as caught:
        runs.sandbox.run(runs.request(tree, Suite("tests", command="true", workdir=workdir, source=source)))
    assert (caught.value.code, caught.value.blame) == ("SANDBOX_FAILED", blame)
    assert "workdir" in caught.value.message


@pytest.mark.parametrize(
    "suite",
    [
        Suite("s", command=" "),
        Suite("s", command="echo \0"),
        Suite("s", runner="make", command="all"),
        Suite("s", runner="pytest", command="-k 'open"),
        Suite("s", command="true", reports=("/etc/*.xml",)),
        Suite("s", command="true", reports=("../*.xml",)),
    ],
)
def test_a_suite_that_cannot_be_run(runs: Runs, suite: Suite) -> None:
    with pytest.raises(CouldNotCheck) as caught:
        runs.sandbox.run(runs.request(runs.tree({}), suite))
    assert caught.value.code == "SANDBOX_FAILED"


def test_several_threads(runs: Runs) -> None:
    def one(number: int) -> list[str]:
        return [c.id for c in runs.pytest({f"test_{number}.py": PASSES}).cases]

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(one, range(6)))
    assert found == [[f"test_{n}.py::test_a"] for n in range(6)]
    assert list(runs.paths.runs.iterdir()) == []


def test_output_is_shown_harmless(runs: Runs) -> None:
    run = runs.command({}, r"printf 'seen \033]0;title\007 \302\233 done\n'; echo err >&2")
    assert "seen" in run.log
    assert "err" in run.log
    assert not {"\x1b", "\x07", "\x9b"} & set(run.log)


@pytest.mark.skipif(os.geteuid() == 0, reason="as root the sandbox has a user of its own")
def test_an_ordinary_user_has_no_dedicated_user(runs: Runs) -> None:
    assert "dedicated_user" in runs.sandbox.engine().missing


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_root_gives_every_run_a_dedicated_user(runs: Runs) -> None:
    engine = runs.sandbox.engine()
    assert {"dedicated_user", "network_none", "overlay", "environment_cleared"} <= set(engine.isolation)
    assert not set(engine.isolation) & set(engine.missing)


def failing(place: Path, words: str, version: str = "0.11.0") -> Path:
    """A bubblewrap that says its version and fails at everything else."""
    place.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap {version} && exit\necho "{words}" >&2\nexit 1\n'
    )
    place.chmod(0o755)
    return place


@pytest.mark.parametrize(
    ("words", "code", "advice"),
    [
        (
            "bwrap: setting up uid map: Permission denied",
            "SANDBOX_UNAVAILABLE",
            "apparmor_restrict_unprivileged_userns",
        ),
        ("bwrap: No permissions to create new namespace", "SANDBOX_UNAVAILABLE", "apparmor_restrict"),
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "SANDBOX_UNAVAILABLE", "AppArmor"),
        (
            (
                "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC): "
                "No space left on device (max_user_namespaces)"
            ),
            "SANDBOX_UNAVAILABLE",
            "max_user_namespaces",
        ),
        ("see kernel.unprivileged_userns_clone sysctl", "SANDBOX_UNAVAILABLE", "unprivileged_userns_clone=1"),
        ("bwrap: Can't make overlay mount on /newroot/repo: Invalid argument", "SANDBOX_UNAVAILABLE", "Linux 5.11"),
        ("bwrap: Can't find source path: Permission denied", "SANDBOX_FAILED", "reach the tree"),
        ("", "SANDBOX_FAILED", ""),
    ],
)
def test_a_start_that_fails_says_what_to_do(runs: Runs, words: str, code: str, advice: str) -> None:
    program = failing(runs.paths.state / "bwrap-fails", words)
    broken = BubblewrapSandbox(runs.paths, program=program)
    with pytest.raises(CouldNotCheck) as caught:
        broken.run(runs.request(runs.tree({}), Suite("s", command="true")))
    assert (caught.value.code, caught.value.blame) == (code, "gate")
    assert advice in caught.value.next_action
    assert words in caught.value.message


def test_no_bubblewrap_at_all_and_one_that_is_too_old(runs: Runs) -> None:
    for program in (runs.paths.state / "none", failing(runs.paths.state / "bwrap-old", "", "0.8.0")):
        with pytest.raises(CouldNotCheck) as caught:
            BubblewrapSandbox(runs.paths, program=program).run(
                runs.request(runs.tree({}), Suite("s", command="true"), LIMITS)
            )
        assert caught.value.code == "SANDBOX_UNAVAILABLE"
        assert "0.11" in caught.value.message


WRAPPER = """#!/bin/bash
if [ "$1" = --version ]; then echo 'bubblewrap 0.11.0'; exit 0; fi
while [ "$1" != -- ]; do
  if [ "$1" = --json-status-fd ]; then status=$2; fi
  shift
done
shift
echo '{ "child-pid": 1 }' >&"$status"
"$@"
code=$?
echo "{ \\"exit-code\\": $code }" >&"$status"
exit $code
"""


def test_a_program_that_runs_tests_without_isolation_is_found_out_before_any_test(runs: Runs) -> None:
    wrapper = runs.paths.state / "bwrap-wrapper"
    wrapper.write_text(WRAPPER)
    wrapper.chmod(0o755)
    with pytest.raises(CouldNotCheck) as caught:
        BubblewrapSandbox(runs.paths, program=wrapper).run(
            runs.request(runs.tree({}), Suite("s", command="touch /tmp/gatekeeper-test-ran"), LIMITS)
        )
    assert (caught.value.code, caught.value.blame) == ("SANDBOX_UNPROVEN", "gate")
    for words in ("the sandbox's user", "network interfaces", "not in force"):
        assert words in caught.value.message
    assert not Path("/tmp/gatekeeper-test-ran").exists()


def test_a_proven_sandbox_is_not_proven_again(runs: Runs) -> None:
    marks = sorted(runs.paths.runtime.glob("proven-*"))
    assert len(marks) == 1
    BubblewrapSandbox(runs.paths).engine()
    assert sorted(runs.paths.runtime.glob("proven-*")) == marks


def test_what_prepares_a_run_leaves_no_group_and_no_process(runs: Runs) -> None:
    box = BubblewrapSandbox(runs.paths)
    hierarchy = cgroups.find()
    before = children()
    box.prepare()
    assert children() == before
    for place in hierarchy.places if hierarchy is not None else ():
        assert list(place.glob(f"gatekeeper-{os.getpid()}-*")) == []


def test_machine_without_groups_and_machine_without_bubblewrap(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CouldNotCheck) as caught:
        BubblewrapSandbox(runs.paths, program=runs.paths.state / "none").prepare()
    assert caught.value.code == "SANDBOX_UNAVAILABLE"
    monkeypatch.setattr(cgroups, "find", lambda: None)
    BubblewrapSandbox(runs.paths).prepare()


def test_whoever_waits_for_the_start_of_a_run_hears_it_before_its_end_and_not_of_a_proof(runs: Runs) -> None:
    heard: list[bool] = []
    box = BubblewrapSandbox(runs.paths, started=lambda: heard.append(len(children()) > 0))
    box.engine()
    assert heard == []
    box.run(runs.request(runs.tree({"go.sh": "exit 0\n"}), Suite("s", command="sh go.sh")))
    assert heard == [True]


def children() -> list[str]:
    """Process ids of this process's children."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
