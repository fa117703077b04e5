"""Waiting for, and looking at, processes of this machine."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path


def until(holds: Callable[[], object], seconds: float = 30.0) -> None:
    """Return once `holds()` is true; fail after a time that no working program needs."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not holds():
        assert time.monotonic() < deadline, "it never became true"
        pause.wait(0.01)


def marked(word: str) -> list[int]:
    """Living processes of this machine that have `word` in their command line, without this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                state = (entry / "stat").read_bytes().rpartition(b")")[2].split()[0]
                if word.encode() in (entry / "cmdline").read_bytes() and state not in (b"Z", b"X"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
