"""Runs of bases from one check to the next: reused where everything is the same, made again for every doubt."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest
from evidence_builder import SUITE, build_run

from gatekeeper.adapters.file_kept_runs import MAX_AGE_S, FileKeptRuns
from gatekeeper.domain.base_run import BaseRun
from gatekeeper.domain.ports import Limits
from gatekeeper.domain.selection import Selection
from gatekeeper.domain.testrun import Engine, RunRole, SuiteReport, Termination

KEY = BaseRun("/m", "a" * 40, "env", "/bin/python", SUITE, Limits(), None, "1.0")
RUN = replace(
    build_run({"tests/test_a.py::test_a[\u00e9]": "passed", "tests/test_a.py::test_b": "failed"}, role=RunRole.BASE),
    reports=(SuiteReport("s", (), {"tests": 2}),), report_faults=(("CODE", "words"),), log="x\n", cpu_s=0.5, partial=True,
)  # fmt: skip


class Clock:
    time = 1_800_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return 0.0


class Kept:
    """The adapter, and how often a run was made."""

    def __init__(self, place) -> None:
        self.place, self.clock, self.engine, self.made = place / "kept", Clock(), Engine("fake", "1", ()), 0
        self.runs = self.again()

    def again(self, **more: int) -> FileKeptRuns:
        return FileKeptRuns(self.place, self.clock, lambda: self.engine, **more)

    def get(self, key: BaseRun = KEY, run=RUN):
        def make():
            self.made += 1
            return run

        return self.again().get(key, make)

    @property
    def file(self):
        (found,) = self.place.iterdir()
        return found


@pytest.fixture
def kept(tmp_path) -> Kept:
    return Kept(tmp_path)


def test_the_same_content_is_run_once_and_comes_back_as_it_was(kept):
    assert kept.get() == RUN
    assert kept.get() == RUN
    assert kept.made == 1


def test_the_file_is_the_gates_alone(kept):
    kept.get()
    assert kept.file.stat().st_mode & 0o777 == 0o600
    assert kept.place.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, tree="b" * 40), replace(KEY, repository="/n"), replace(KEY, environment="else"),
        replace(KEY, suite=replace(SUITE, command="true")), replace(KEY, limits=Limits(wall_s=1)),
        replace(KEY, part=Selection(known=())), replace(KEY, gate="1.1"), replace(KEY, python="/b"),
    ],
)  # fmt: skip
def test_other_content_is_another_run(kept, other):
    kept.get()
    kept.get(other)
    assert kept.made == 2


def test_another_sandbox_is_another_run(kept):
    kept.get()
    kept.engine = Engine("fake", "1", ("seccomp",))
    kept.get()
    assert kept.made == 2


@pytest.mark.parametrize("ended", [t for t in Termination if t is not Termination.EXITED])
def test_a_run_that_was_ended_is_not_kept(kept, ended):
    kept.get(run=replace(RUN, termination=ended, exit_code=None))
    kept.get()
    assert kept.made == 2


def test_files_that_a_run_brought_are_not_kept(kept):
    kept.get(run=replace(RUN, outputs=(b"x",)))
    assert not kept.place.exists()


@pytest.mark.parametrize("seconds", [MAX_AGE_S + 1, -1])
def test_an_old_run_and_one_from_the_future_are_made_again(kept, seconds):
    kept.get()
    kept.clock.time += seconds
    kept.get()
    assert kept.made == 2


def damaged(change):
    def apply(data: bytes) -> bytes:
        row = json.loads(data)
        change(row)
        return json.dumps(row).encode()

    return apply


DAMAGE = {
    "cut": lambda data: data[:-9],
    "empty": lambda _: b"",
    "no JSON": lambda _: b"\x80\x04K\x01.",
    "flood": lambda data: data + b" " * 5_000_000,
    "another key": damaged(lambda row: row.update(key="0" * 64)),
    "another schema": damaged(lambda row: row.update(schema="x")),
    "a field less": damaged(lambda row: row["run"].pop("log")),
    "a field more": damaged(lambda row: row["run"].update(more=1)),
    "an outcome that is none": damaged(lambda row: row["run"]["sessions"][0]["cases"][0].update(outcome="fine")),
    "a number as text": damaged(lambda row: row["run"].update(exit_code="0")),
    "a truth value as number": damaged(lambda row: row["run"].update(exit_code=True)),
    "a run that was ended": damaged(lambda row: row["run"].update(termination="timed_out")),
    "no exit status": damaged(lambda row: row["run"].update(exit_code=None)),
    "outputs": damaged(lambda row: row["run"].update(outputs=["x"])),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_broken_file_is_removed_and_the_run_made_again(kept, name):
    kept.get()
    kept.file.write_bytes(DAMAGE[name](kept.file.read_bytes()))
    assert kept.get() == RUN
    assert kept.made == 2
    assert kept.get() == RUN
    assert kept.made == 2


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o606])
def test_a_file_that_others_can_touch_is_none(kept, mode):
    kept.get()
    kept.file.chmod(mode)
    kept.get()
    assert kept.made == 2


def test_a_link_is_none(kept, tmp_path):
    kept.get()
    (tmp_path / "elsewhere").write_bytes(kept.file.read_bytes())
    (tmp_path / "elsewhere").chmod(0o600)
    name = kept.file
    name.unlink()
    name.symlink_to(tmp_path / "elsewhere")
    kept.get()
    assert kept.made == 2
    assert not kept.file.is_symlink()


def test_only_so_many_are_kept_the_newest(kept):
    for number in range(5):
        kept.again(keep=2).get(replace(KEY, gate=str(number)), lambda: RUN)
        newest = max(kept.place.iterdir(), key=lambda p: p.stat().st_mtime_ns)
        os.utime(newest, ns=(number * 10**9, number * 10**9))
    assert len(list(kept.place.iterdir())) == 2


def test_a_disk_that_fails_costs_only_the_reuse(kept, tmp_path):
    (tmp_path / "kept").write_text("a file where the directory should be")
    assert kept.get() == RUN
    assert kept.get() == RUN
    assert kept.made == 2
