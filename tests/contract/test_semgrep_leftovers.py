"""What is left of a code scan when the gate dies in the midst of it: no process, and no copies of what was scanned."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from living import marked, until

from gatekeeper.adapters.semgrep_scanner import SemgrepScanner
from gatekeeper.adapters.semgrep_scanner import scanner as module
from gatekeeper.domain.ports import ScanTarget

CHILD = """
import sys
from pathlib import Path
from gatekeeper.adapters.semgrep_scanner import SemgrepScanner
from gatekeeper.domain.ports import ScanTarget
SemgrepScanner(Path(sys.argv[1])).scan([ScanTarget("a.py", "a.py", b"x = 1\\n")])
"""


def engine(folder: Path, script: str) -> Path:
    """A libexec with a program in the engine's place."""
    program = folder / "semgrep" / "semgrep" / "bin" / "semgrep-core"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return folder


def test_the_engine_does_not_outlive_a_gate_that_is_killed(tmp_path: Path) -> None:
    code = "import time; time.sleep(600)"
    libexec = engine(tmp_path / "libexec", f"exec {sys.executable} -c '{code}' marker-engine-91c2")
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(libexec)], env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as gate:
        try:
            until(lambda: marked("marker-engine-91c2"))
        finally:
            gate.kill()
    until(lambda: marked("marker-engine-91c2") == [])


def test_old_copies_are_removed_and_those_of_a_running_scan_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    old, running, others = tmp_path / "gatekeeper-scan-old", tmp_path / "gatekeeper-scan-now", tmp_path / "mine"
    for place in (old, running, others):
        place.mkdir()
        (place / "secret").touch()
    for place in (old, others):
        os.utime(place, (1, 1))
    report = SemgrepScanner(engine(tmp_path / "libexec", "exit 3")).scan([ScanTarget("a.py", "a.py", b"x = 1\n")])
    assert report.errors == ("engine: exit status 3",)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["gatekeeper-scan-now", "libexec", "mine"]
