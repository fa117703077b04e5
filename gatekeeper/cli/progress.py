"""Progress of a check on standard error: one live line on a terminal, plain lines when piped."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Listener = Callable[[str, Mapping[str, Any]], None]

_WORDS = {
    "INTAKE": "reading ticket and claim",
    "CHECKOUT": "merging head into the target",
    "PLAN": "asking the policy for the risk tier",
    "RUNNING": "running tests and scans",
    "CONTROL": "running the target branch for comparison",
    "DECIDE": "comparing and deciding",
    "ATTEST": "signing",
}


@contextmanager
def progress(*, enabled: bool) -> Iterator[Listener]:
    """A listener for `Durable.note`. On a terminal the line is wiped at the end, so that the report stands alone."""
    live = sys.stderr.isatty()
    begun = time.monotonic()

    def listener(state: str, detail: Mapping[str, Any]) -> None:
        if not enabled:
            return
        if state == "DONE":
            if live:
                sys.stderr.write("\r\x1b[2K")
                sys.stderr.flush()
            return
        words = _WORDS.get(state, state.lower())
        extra = ", ".join(f"{k} {v}" for k, v in detail.items())
        line = f"gatekeeper [{time.monotonic() - begun:5.1f} s] {words}{f' ({extra})' if extra else ''}"
        if live:
            sys.stderr.write(f"\r\x1b[2K{line} ...")
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    try:
        yield listener
    finally:
        if live and enabled:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
