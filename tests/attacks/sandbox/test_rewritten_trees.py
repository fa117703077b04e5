"""Programs that rewrite the tree they are tested in, and try to keep it from being seen."""

from __future__ import annotations

import pytest
from sandbox_runs import Runs, usable_runs

from gatekeeper.config import Paths
from gatekeeper.domain.testrun import Termination

TREE = {"a.py": "x = 1\n", "tests/golden.txt": "1\n", "deep/er/b.py": ""}


@pytest.fixture(scope="module")
def runs(gate_paths: Paths) -> Runs:
    return usable_runs(gate_paths)


SEEN = {
    "plainly": ("echo 2 > tests/golden.txt", ("tests/golden.txt", "content")),
    "put back with its dates": (
        "touch -r a.py d; cp a.py c; echo y > a.py; cat c > a.py; touch -r d a.py",
        ("a.py", "touched"),
    ),
    "removed": ("rm deep/er/b.py", ("deep/er/b.py", "gone")),
    "another thing in its place": ("rm a.py; mkfifo a.py", ("a.py", "content")),
    "said to have ended before": ("echo > /run/ended; sleep 0.3; echo 2 > tests/golden.txt", ("tests/golden.txt", "content")),
    "said to have been looked at": ("echo x > /run/looked; echo 2 > tests/golden.txt", ("tests/golden.txt", "content")),
    "while something goes on": ("(sleep 30 &); echo 2 > tests/golden.txt", ("tests/golden.txt", "content")),
    "with the pipes drained": ("(cat /run/looked > /dev/null &); echo 2 > tests/golden.txt", ("tests/golden.txt", "content")),
}  # fmt: skip


@pytest.mark.parametrize("name", SEEN)
def test_what_a_run_rewrites_is_seen(runs: Runs, name: str) -> None:
    line, row = SEEN[name]
    run = runs.command(TREE, line)
    assert run.rewritten is not None
    assert row in run.rewritten


def test_a_run_that_kills_its_watcher_does_not_pass(runs: Runs) -> None:
    run = runs.command(TREE, "kill -9 $PPID; sleep 5; echo 2 > tests/golden.txt")
    assert run.rewritten is None
    assert run.exit_code != 0 or run.termination is not Termination.EXITED


def test_what_is_no_file_of_the_tree_is_no_difference(runs: Runs) -> None:
    run = runs.command(
        TREE, "mkdir build; echo x > build/a; python -c 'import a' ; cat a.py > /tmp/x; chmod 644 a.py || true"
    )
    assert dict(run.rewritten or ()).get("tests/golden.txt") is None
    assert "content" not in dict(run.rewritten or ()).values()


@pytest.mark.parametrize(("line", "code"), [("true", 0), ("exit 7", 7), ("kill -9 $$", 137), ("exit 255", 255)])
def test_the_status_stays_what_it_was(runs: Runs, line: str, code: int) -> None:
    assert runs.command(TREE, line).exit_code == code
