"""One process with real pipes and no sandbox: caps, limits, faults, and nothing left behind."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.adapters.bubblewrap_sandbox import process
from gatekeeper.adapters.bubblewrap_sandbox.listener import Listener
from gatekeeper.errors import CouldNotCheck


def run(folder: Path, code: str, *, wall_s: float = 20, output_bytes: int = 1 << 20, **over: Any) -> process.Seen:
    """Run Python code as bubblewrap would be run; `STATUS` is the descriptor of its status."""
    status = os.pipe()
    text = f"import os, sys\nSTATUS = {status[1]}\n{code}"
    values: dict[str, Any] = {"limits": [], "join": lambda _pid: None, "kill_all": lambda: None, **over}
    listener = Listener(folder, "/repo")
    try:
        return process.run(
            [sys.executable, "-I", "-S", "-c", text],
            pass_fds=[status[1]],
            status=status,
            wall_s=wall_s,
            output_bytes=output_bytes,
            listener=listener,
            **values,
        )
    finally:
        listener.close()


ENDED = "os.write(STATUS, b'{\"exit-code\": 0}\\n')\n"


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


def test_an_ordinary_end(tmp_path: Path) -> None:
    before = descriptors()
    seen = run(tmp_path, ENDED + "print('out'); print('err', file=sys.stderr, flush=True); sys.exit(3)")
    assert (seen.returncode, seen.started, seen.timed_out, seen.flooded) == (3, True, False, False)
    assert set(seen.tail.split()) == {b"out", b"err"}
    assert descriptors() == before


def test_without_the_exit_status_the_command_was_never_reached(tmp_path: Path) -> None:
    for words in ("", "os.write(STATUS, b'{\"child-pid\": 12}\\n')\n", "os.write(STATUS, b'\\xff' * 9000)\n"):
        (tmp_path / str(len(words))).mkdir()
        assert not run(tmp_path / str(len(words)), words).started


def test_the_wall_limit_ends_even_what_ignores_signals(tmp_path: Path) -> None:
    code = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.pause()"
    before = descriptors()
    seen = run(tmp_path, code, wall_s=0.3)
    assert (seen.timed_out, seen.started, seen.returncode) == (True, True, -9)
    assert descriptors() == before


def test_a_flood_is_cut_and_its_tail_kept_small(tmp_path: Path) -> None:
    seen = run(tmp_path, "while True: os.write(1, b'x' * 65536)", output_bytes=1 << 19)
    assert seen.flooded
    assert 0 < len(seen.tail) <= process.LOG_BYTES


def test_limits_are_set_before_the_program_starts(tmp_path: Path) -> None:
    code = (
        ENDED
        + "import resource\nprint(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CORE))"
    )
    seen = run(tmp_path, code, limits=[(resource.RLIMIT_NOFILE, 99), (resource.RLIMIT_CORE, 0)])
    assert seen.tail.decode().strip() == "(99, 99) (0, 0)"


@pytest.mark.parametrize(
    "error", [CouldNotCheck("SANDBOX_FAILED", "no group"), OSError(12, "no memory"), KeyboardInterrupt()]
)
def test_what_cannot_join_its_group_never_starts(tmp_path: Path, error: BaseException) -> None:
    pids: list[int] = []

    def join(pid: int) -> None:
        pids.append(pid)
        raise error

    before = descriptors()
    with pytest.raises(type(error)):
        run(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')", join=join)
    assert not (tmp_path / "ran").exists()
    assert not Path(f"/proc/{pids[0]}").exists()
    assert descriptors() == before


def test_a_failing_limit_never_starts(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError)):
        run(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')", limits=[(999, 1)])
    assert not (tmp_path / "ran").exists()


def test_kill_all_is_called_at_every_end(tmp_path: Path) -> None:
    calls: list[str] = []
    kill: Callable[[], None] = lambda: calls.append("x")
    for number, code in enumerate((ENDED, "sys.exit(1)", "os.kill(os.getpid(), 9)")):
        (tmp_path / str(number)).mkdir()
        run(tmp_path / str(number), code, kill_all=kill)
    assert len(calls) == 3


def test_a_program_that_cannot_be_started_is_not_started(tmp_path: Path) -> None:
    status = os.pipe()
    seen = process.run(
        ["/nonexistent/bwrap"], pass_fds=[status[1]], status=status, wall_s=20, output_bytes=1000, limits=[],
        join=lambda _pid: None, kill_all=lambda: None, listener=Listener(tmp_path, "/repo"),
    )  # fmt: skip
    assert (seen.started, seen.returncode) == (False, 127)


@pytest.mark.parametrize(
    ("text", "pid"),
    [
        (b'{"child-pid": 77}\n{"exit-code": 0}', 77),
        (b"", None), (b"{", None), (b"[]", None), (b'{"child-pid": "7"}', None), (b'{"child-pid": 1}', None),
        (b'{"child-pid": -1}', None), (b'{"child-pid": null}', None), (b"\xff\xfe", None),
    ],
)  # fmt: skip
def test_a_bent_status_line_names_nobody_to_kill(text: bytes, pid: int | None) -> None:
    assert process._child(text) == pid
