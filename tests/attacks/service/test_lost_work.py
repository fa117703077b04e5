"""Work that broke off while the server lived, for instance because the disk was full for a moment."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from gatekeeper.adapters.dbos_durable.engine import MAX_LOST, DbosEngine, workflow_id


class Engine(DbosEngine):
    """Begins nothing, and tells what it would have begun."""

    def __init__(self, folder: Path, running: list[str]) -> None:
        self.given_up: list[str] = []
        self.begun: list[tuple[str, str]] = []
        self.broken = False
        nothing: Any = lambda *_: None
        super().__init__(
            folder, steps={}, body=nothing, waiting=list, running=lambda: running,
            give_up=lambda name, _why: self.given_up.append(name), listener=nothing, stop_processes=nothing,
        )  # fmt: skip

    def _begin(self, name: str, workflow: str, owner: str | None = None) -> None:
        if self.broken:
            raise OSError("disk full")
        self.begun.append((name, workflow))


def test_what_runs_for_nobody_is_begun_anew_under_a_name_of_its_own(tmp_path):
    engine = Engine(tmp_path, ["lost", "busy"])
    engine._active["busy"] = workflow_id("busy")
    engine._adopt_lost()
    ((name, workflow),) = engine.begun
    assert name == "lost"
    assert workflow.startswith(workflow_id("lost") + "-"), "the old name would be answered with the old end"


def test_what_breaks_off_again_and_again_is_given_up(tmp_path):
    engine = Engine(tmp_path, ["lost"])
    for _ in range(MAX_LOST + 1):
        engine._adopt_lost()
    assert len(engine.begun) == MAX_LOST
    assert engine.given_up == ["lost"]


def test_a_disk_that_stays_full_uses_up_no_try(tmp_path):
    engine = Engine(tmp_path, ["lost"])
    engine.broken = True
    for _ in range(MAX_LOST * 3):
        with pytest.raises(OSError, match="disk full"):
            engine._adopt_lost()
    engine.broken = False
    engine._adopt_lost()
    assert len(engine.begun) == 1
    assert engine.given_up == []


def test_a_store_that_fails_makes_no_hot_loop_and_one_traceback(tmp_path, monkeypatch, caplog):
    engine = Engine(tmp_path, ["lost"])
    pauses: list[bool] = []

    class Wake(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(self.is_set())
            engine._closing = len(pauses) == 3
            return True

    def begin(*_: object) -> None:
        engine._done("lost")
        raise OSError("disk full")

    monkeypatch.setattr(engine, "_wake", Wake())
    monkeypatch.setattr(engine, "_begin", begin)
    engine._dispatch()
    assert pauses == [False] * 3, "what fails wakes nobody"
    assert [bool(r.exc_info) for r in caplog.records if r.levelname == "ERROR"] == [True, False, False]
