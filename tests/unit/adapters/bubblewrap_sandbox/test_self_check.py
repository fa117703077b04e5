"""The proof before the first run: each thing that does not hold is named, and a proof is asked for once."""

from __future__ import annotations

from pathlib import Path

import pytest

from gatekeeper.adapters.bubblewrap_sandbox.self_check import faults, prove, request
from gatekeeper.domain.ports import RunRequest
from gatekeeper.domain.testrun import Engine, RunRole, SuiteRun, Termination
from gatekeeper.errors import CouldNotCheck

GOOD = """Name:\tsh
Uid:\t1000\t1000\t1000\t1000
Gid:\t1000\t1000\t1000\t1000
CapPrm:\t0000000000000000
CapEff:\t0000000000000000
CapBnd:\t0000000000000000
NoNewPrivs:\t1
Seccomp:\t2
net Inter-|   Receive                      |  Transmit
net face |bytes    packets errs drop fifo frame compressed multicast|bytes
net lo:       0       0    0
root closed
gate closed
all said
"""


def seen(log: str = GOOD, code: int | None = 0, end: Termination = Termination.EXITED) -> SuiteRun:
    return SuiteRun(
        "p", RunRole.MERGED, "s", "", "", code, end, (), (), Engine("bubblewrap", "0.11", ()), log, 0.1,
    )  # fmt: skip


def told(run: SuiteRun, user: bool = True, filtered: bool = True) -> list[str]:
    return faults(run, dedicated_user=user, filtered=filtered)


def test_a_sandbox_that_holds() -> None:
    assert told(seen()) == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Uid:\t1000", "Uid:\t0", "user"),
        ("Gid:\t1000", "Gid:\t0", "user"),
        ("Uid:\t1000\t1000\t1000\t1000\n", "", "user"),
        ("gate closed", "gate readable", "gate's own user"),
        ("net lo:", "net  eth0:  1 1\nnet lo:", "eth0, lo"),
        ("net lo:       0       0    0\n", "", "network"),
        ("root closed", "root writable", "read-only"),
        ("CapEff:\t0000000000000000", "CapEff:\t0000000000000400", "capabilities"),
        ("CapBnd:\t0000000000000000\n", "", "capabilities"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "privileges"),
        ("Seccomp:\t2", "Seccomp:\t0", "system calls"),
        ("Seccomp:\t2\n", "", "system calls"),
        ("all said\n", "", "ended early"),
        ("all said\n", "not all said\n", "ended early"),
    ],
)
def test_each_thing_that_does_not_hold_is_named(old: str, new: str, words: str) -> None:
    (only,) = told(seen(GOOD.replace(old, new, 1)))
    assert words in only


@pytest.mark.parametrize("run", [seen(code=1), seen(code=None), seen(end=Termination.TIMED_OUT), seen(log="")])
def test_a_start_that_did_not_end_well_proves_nothing(run: SuiteRun) -> None:
    assert "ended early" in told(run)[0]


def test_what_this_machine_never_promised_is_not_demanded() -> None:
    assert told(seen(GOOD.replace("gate closed", "gate readable")), user=False) == []
    assert told(seen(GOOD.replace("Seccomp:\t2", "Seccomp:\t0")), filtered=False) == []


class Starts:
    def __init__(self, log: str = GOOD) -> None:
        self.log, self.asked = log, 0

    def __call__(self, asked: RunRequest) -> SuiteRun:
        self.asked += 1
        return seen(self.log)


def ask(folder: Path, starts: Starts, content: bytes = b"bwrap", options: tuple[str, ...] = ("--x",)) -> None:
    (folder / "bwrap").write_bytes(content)
    prove(
        starts, program=folder / "bwrap", options=options, tree=folder, marks=folder, dedicated_user=True, filtered=True
    )


def test_one_proof_for_one_program_and_one_set_of_options(tmp_path: Path) -> None:
    starts = Starts()
    for _ in range(3):
        ask(tmp_path, starts)
    assert starts.asked == 1
    ask(tmp_path, starts, content=b"another")
    ask(tmp_path, starts, options=("--y",))
    assert starts.asked == 3
    assert (tmp_path / "gate-only").stat().st_mode & 0o777 == 0o600


def test_a_failed_proof_is_told_and_asked_for_again(tmp_path: Path) -> None:
    starts = Starts(GOOD.replace("Seccomp:\t2", "Seccomp:\t0"))
    for _ in range(2):
        with pytest.raises(CouldNotCheck) as caught:
            ask(tmp_path, starts)
        assert (caught.value.code, caught.value.blame) == ("SANDBOX_UNPROVEN", "gate")
        assert "system calls" in caught.value.message
    assert starts.asked == 2


def test_a_mark_that_cannot_be_kept_costs_a_start_and_no_more(tmp_path: Path) -> None:
    starts = Starts()
    missing = tmp_path / "none"
    for _ in range(2):
        prove(starts, program=missing, options=(), tree=tmp_path, marks=tmp_path, dedicated_user=True, filtered=True)
    assert starts.asked == 2


def test_the_request_shows_the_file_of_the_gate_inside(tmp_path: Path) -> None:
    asked = request(tmp_path, tmp_path / "x")
    assert asked.environment.mounts == ((str(tmp_path / "x"), "/run/gate-only"),)
    assert not asked.environment.has_recorder
