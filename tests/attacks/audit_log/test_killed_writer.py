"""A writer that is killed anywhere leaves a store that opens, whose chain verifies and whose transactions are whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import record_builder as make

from gatekeeper.adapters.sql_store import SqlRecords
from gatekeeper.domain.records import Page

WRITER = """
import sys
from dataclasses import replace
import record_builder as make
from gatekeeper.adapters.sql_store import SqlRecords
from pathlib import Path
records = SqlRecords.file(Path(sys.argv[1]))
print("ready", flush=True)
while True:
    with records.transaction() as tx:
        found = tx.change(make.CHANGE)
        stored = tx.save_change(replace(found, attempts_used=found.attempts_used + 1))
        tx.event(make.event(f"e{stored.attempts_used}"))
        tx.audit("x.y", "s", None, time=1.0, details={"number": stored.attempts_used})
    print(stored.attempts_used, flush=True)
"""


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_writer_loses_nothing_that_it_had_told(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "service" / "gatekeeper.sqlite3"
    records = SqlRecords.file(path)
    with records.transaction() as tx:
        tx.add_repository(make.repository())
        tx.add_change(make.change())
    records.close()
    chance = random.Random(seed)
    told = 0
    for _ in range(3):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={"PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "PATH": os.environ["PATH"]},
        )  # fmt: skip
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            for _ in range(chance.randrange(1, 12)):
                told = int(child.stdout.readline())
            for _ in range(chance.randrange(2000)):  # somewhere inside the next transaction
                pass
            child.send_signal(signal.SIGKILL)
            rest = child.stdout.read().split()
            told = int(rest[-1]) if rest else told
        finally:
            child.kill()
            child.wait(30)
            child.stdout.close()
        records = SqlRecords.file(path)
        entries, _ = records.verify_audit()
        with records.reading() as tx:
            found = tx.change(make.CHANGE)
            assert found is not None
            assert found.attempts_used >= told
            assert found.attempts_used == entries == records.latest_event() == len(tx.events(None, Page(10_000)))
            assert found.version == entries + 1
        records.close()
