"""Command lines of the sandbox: default closed, nothing of the gate inside, nothing outside the tree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gatekeeper.adapters.bubblewrap_sandbox.command import (
    bubblewrap_arguments,
    environment_variables,
    inner_command,
    joined,
    working_directory,
)
from gatekeeper.domain.ports import Limits, RunRequest, TestEnvironment
from gatekeeper.domain.testrun import RunRole
from gatekeeper.domain.ticket import Suite
from gatekeeper.errors import CouldNotCheck


def request(suite: Suite, tree: Path = Path("/t"), recorder: bool = True, **env: str) -> RunRequest:
    environment = TestEnvironment((("/host/env", "/env"),), "/env/bin/python", ("/env/bin",), "", "", recorder, env)
    return RunRequest(
        "r", RunRole.MERGED, suite, "", tree, environment, Limits(tmp_mib=3), ("tests/test_a.py::test_a",)
    )


def test_pytest_gets_its_arguments_and_tests_without_a_shell() -> None:
    argv = inner_command(request(Suite("s", runner="pytest", command="-q -k 'a b; rm -rf /'")))
    assert argv[:3] == ["/env/bin/python", "-B", "-c"]
    assert argv[4:] == ["-q", "-k", "a b; rm -rf /", "tests/test_a.py::test_a"]


def test_a_script_stops_at_its_first_failing_line() -> None:
    assert inner_command(request(Suite("s", command="make test")))[:2] == ["/bin/sh", "-c"]
    assert inner_command(request(Suite("s", command="make\nmake test\n")))[:3] == ["/bin/sh", "-e", "-c"]


@pytest.mark.parametrize(
    "over",
    [
        {"command": ""},
        {"command": " \n "},
        {"command": "a\0b"},
        {"runner": "pytest", "command": "'open"},
        {"runner": "pytest", "command": "a\0"},
        {"runner": "jest", "command": "x"},
        {"command": "x", "reports": ("/etc/*",)},
        {"command": "x", "reports": ("a/../../b",)},
    ],
)
@pytest.mark.parametrize(("source", "blame"), [("settings", "environment"), ("ticket", "change")])
def test_a_suite_that_cannot_run_is_its_authors_fault(over: dict[str, Any], source: str, blame: str) -> None:
    with pytest.raises(CouldNotCheck) as caught:
        inner_command(request(Suite("s", source=source, **over)))
    assert (caught.value.code, caught.value.blame) == ("SANDBOX_FAILED", blame)


def test_the_working_directory_stays_in_the_tree(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/link").symlink_to("/etc")
    (tmp_path / "a/file").write_text("")
    assert working_directory(Suite("s", workdir="a/b"), tmp_path) == "/repo/a/b"
    assert working_directory(Suite("s"), tmp_path) == "/repo"
    for bad in ("..", "a/../..", "/", "/etc", "a/link", "a/file", "none"):
        with pytest.raises(CouldNotCheck):
            working_directory(Suite("s", workdir=bad), tmp_path)


def test_nothing_of_the_gates_environment_is_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_SECRET_ACCESS_KEY", "PYTHONPATH", "LD_PRELOAD", "SSH_AUTH_SOCK", "PYTEST_ADDOPTS"):
        monkeypatch.setenv(name, "gate")
    variables = environment_variables(request(Suite("s"), PYTEST_ADDOPTS="-x", MINE="1"))
    assert "gate" not in variables.values()
    assert variables["PATH"] == "/env/bin:/usr/bin:/bin"
    assert variables["PYTEST_ADDOPTS"] == "-x -p gatekeeper_pytest_recorder"
    assert variables["MINE"] == "1"
    assert "PYTEST_ADDOPTS" not in environment_variables(request(Suite("s"), recorder=False))


def test_the_inside_is_closed_by_default() -> None:
    options = bubblewrap_arguments(request(Suite("s")), etc=Path("/e"), sockets={"/run/x": Path("/s")}, working="/repo")
    for word in ("--unshare-all", "--unshare-user", "--clearenv", "--die-with-parent", "--new-session",
                 "--disable-userns", "--cap-drop"):  # fmt: skip
        assert word in options
    text = " ".join(options)
    for word in ("--share-net", "--bind ", "--dev-bind", "--cap-add", "--ro-bind / ", "/root", "/home"):
        assert word not in text
    assert "--ro-bind /host/env /env" in text
    assert "--overlay-src /t --tmp-overlay /repo" in text
    assert text.count("--size 3145728") == 2
    # The root is closed after everything is mounted.
    assert options.index("--overlay-src") < options.index("--remount-ro") < options.index("--chdir")


def test_arguments_are_joined_byte_for_byte() -> None:
    assert joined(["a", "b c", "\udcff"]) == b"a\0b c\0\xff\0"
