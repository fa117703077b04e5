"""The recorder in the oldest and a middle pytest that it supports, as the sandbox runs it; the newest is the gate's own.

The environments come from locks through the environment builder, so they need a package index: without one these tests
are skipped visibly, and fail in CI. Both environments together take a few seconds and are made once a session.
"""

from __future__ import annotations

import os

import pytest
from sandbox_runs import Runs, usable_runs

from gatekeeper.config import Paths
from gatekeeper.domain.settings import EnvironmentSettings
from gatekeeper.domain.ticket import Suite
from gatekeeper.domain.tree import MemoryTree
from gatekeeper.errors import CouldNotCheck
from gatekeeper.wiring import engines

COMMON = """\
iniconfig==2.3.1 \\
    --hash=sha256:67f4b9c50da0dedf52af349e7749a80a9057a5031199791b906c3bb3ae878960 \\
    --hash=sha256:9121e2c1fdb355232495be3194c8dfe87ccc2d5dee45947b78e68f499790d7a7
packaging==26.4 \\
    --hash=sha256:81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2 \\
    --hash=sha256:c4b671c41ddb9bf26e543c37723610d28fb6bf7affc4da17cf048d419d2c062a
pluggy==1.7.0 \\
    --hash=sha256:7dd7b0d8832ba3cb632c306926ded123429211b83641b35dc5c41ad2d34f9bec \\
    --hash=sha256:d1eaa46ebb595891b860ab086b4d09c8588af65ebd4361b8e8f4bb8920b90ba8
"""
LOCKS = {
    "7.4.4": """\
pytest==7.4.4 \\
    --hash=sha256:2cf0005922c6ace4a3e2ec8b4080eb0d9753fdc93107415332f50ce9e7994280 \\
    --hash=sha256:b090cdf5ed60bf4c45261be03239c2c1c22df034fbffe691abe93cd80cea01d8
""",
    "8.4.2": """\
pygments==2.21.0 \\
    --hash=sha256:2363c69b61c4a97c838da3b130dcd6468f4848992b21a82f2a63ec34377137d9 \\
    --hash=sha256:610ca751c9bc2492b38eb9a38a7fbc93edbbb2d7182edaf34e66ae493dee5c8c
pytest==8.4.2 \\
    --hash=sha256:86c0d0b93306b961d58d62a4db4879f27fe25513d4b969df351abdddb3c30e01 \\
    --hash=sha256:872f880de3fc3a5bdc88a11b39c9710c3497a547cfa9320bc3c5e62fbf272e79
""",
}
ALL_OUTCOMES = """
    import pytest

    @pytest.fixture
    def broken():
        raise ValueError("set-up")

    @pytest.fixture
    def breaks_late():
        yield
        raise ValueError("clean-up")

    def test_version(): assert pytest.__version__ == "VERSION"
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
"""


@pytest.fixture(scope="module", params=sorted(LOCKS))
def old(request: pytest.FixtureRequest, gate_paths: Paths) -> tuple[str, Runs]:
    """(version, runs in an environment with that pytest)."""
    runs = usable_runs(gate_paths)
    base = MemoryTree.of({"requirements.lock": COMMON + LOCKS[request.param]})
    settings = EnvironmentSettings(locks=("requirements.lock",))
    try:
        environment = engines.environment_builder(gate_paths).prepare(base, settings, "auto")
    except CouldNotCheck as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"no environment with pytest {request.param}: {error}")
    runs.environment = environment
    return request.param, runs


def test_every_outcome_is_recorded(old: tuple[str, Runs]) -> None:
    version, runs = old
    run = runs.pytest({"tests/test_x.py": ALL_OUTCOMES.replace("VERSION", version), "pytest.ini": "[pytest]\n"})
    (session,) = run.sessions
    assert {c.id.removeprefix("tests/test_x.py::"): c.outcome.value for c in session.cases} == {
        "test_version": "passed",
        "test_failed": "failed",
        "test_skipped": "skipped",
        "test_xfailed": "xfailed",
        "test_xpassed": "xpassed",
        "test_errored": "errored",
        "test_errored_late": "errored",
        "test_parameter[a b]": "passed",
    }
    assert (session.complete, session.problems, session.exit_code, run.exit_code) == (True, (), 1, 1)
    assert (session.collected, session.config_files, run.guarantee) == (8, ("pytest.ini",), "recorded")


def test_a_selection_and_a_broken_module_are_told(old: tuple[str, Runs]) -> None:
    _, runs = old
    files = {"test_x.py": "def test_a(): pass\ndef test_b(): pass\n"}
    (session,) = runs.pytest(files, "-k test_a").sessions
    assert (session.complete, session.deselected, len(session.cases)) == (True, 1, 1)
    run = runs.pytest({"test_x.py": "import no_such_module\n"})
    (session,) = run.sessions
    assert (run.exit_code, [c.outcome.value for c in session.cases]) == (2, ["errored"])


def test_an_opaque_command_is_recorded_too(old: tuple[str, Runs]) -> None:
    _, runs = old
    request = runs.request(runs.tree({"test_x.py": "def test_a(): pass\n"}), Suite("s", command="pytest -q"))
    (session,) = runs.sandbox.run(request).sessions
    assert (session.complete, [c.id for c in session.cases]) == (True, ["test_x.py::test_a"])


def test_a_narrowed_run_collects_what_it_is_told_and_goes_on_after_failures(old: tuple[str, Runs]) -> None:
    from dataclasses import replace

    _, runs = old
    files = {
        "tests/test_x.py": "def test_a(): pass\ndef test_b(): assert 0\n",
        "tests/test_y.py": "def test_c(): pass\n",
        "conftest.py": "def pytest_collection_modifyitems(items):\n    items.reverse()\n    del items[2:]\n",
    }
    over = {"tests/test_z.py": b"def test_1(): assert 0\ndef test_2(): assert 0\ndef test_3(): pass\n"}
    request = runs.request(
        runs.tree(files), Suite("s", command="python -m pytest -q -x -k 'test_a or test_b' tests/test_y.py")
    )
    run = runs.sandbox.run(replace(request, only=("tests/test_x.py",), last=("tests/test_z.py",), over=over))
    (session,) = run.sessions
    assert [c.id.rpartition("::")[2] for c in session.cases] == ["test_1", "test_3", "test_b", "test_a", "test_2"]
    assert (session.complete, session.exit_code, run.exit_code) == (True, 1, 1)
