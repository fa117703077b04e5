"""Twenty verifications in one table by state: redrawn on a terminal, a plain line for each change of state elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from story import say, told

if TYPE_CHECKING:
    from gatekeeper.client import Verification

ORDER = ("RUNNING", "QUEUED", "NEEDS_HUMAN", "UNDECIDED", "REJECTED", "ACCEPTED", "CANCELLED", "SUPERSEDED")
STYLES = {"RUNNING": "bold", "QUEUED": "dim", "ACCEPTED": "green", "REJECTED": "red", "NEEDS_HUMAN": "yellow"}


@dataclass
class Row:
    """One change on the table."""

    name: str
    agent: str
    branch: str
    state: str = "SUBMITTING"
    detail: str = ""
    since: float = 0.0
    seconds: float | None = None


def word(verification: Verification) -> str:
    """State of the job, or the verdict once there is one."""
    from gatekeeper.client import state_of, verdict_of

    told = verdict_of(verification) or state_of(verification)
    return told.value.upper() if told is not None else "UNKNOWN"


def reason(verification: Verification) -> str:
    """The primary reason in a few words."""
    first = next((f for f in verification.findings if f.primary), None)
    return f"{first.category} / {first.code}" if first else ""


class Board:
    """The table; told from many threads."""

    def __init__(
        self, rows: list[Row], *, live: bool | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rows = {r.name: r for r in rows}
        self._lock = threading.Lock()
        self._clock = clock
        self._begun = clock()
        self._live = sys.stdout.isatty() if live is None else live

    def tell(self, name: str, verification: Verification) -> None:
        """A snapshot came."""
        with self._lock:
            row = self._rows[name]
            state = word(verification)
            progress = verification.progress
            row.detail = reason(verification)
            if state == "RUNNING":
                runs = f" {progress.runs_done}/{progress.runs_planned}" if progress.runs_planned else ""
                row.detail = progress.step + runs
            if state != row.state:
                row.state, row.since = state, self._clock() - self._begun
                if verification.HasField("end_time") and verification.HasField("start_time"):
                    row.seconds = (
                        verification.end_time.ToDatetime().timestamp()
                        - verification.start_time.ToDatetime().timestamp()
                    )
                if not self._live and state != "QUEUED":
                    say(
                        f"   {row.since:6.1f} s  {row.name:18}{row.agent:13}{state:13}{row.detail if state != 'RUNNING' else ''}".rstrip()
                    )

    def shown(self) -> AbstractContextManager[Any]:
        """Redraw while the block runs, where there is a terminal."""
        if not self._live:
            return nullcontext()
        from rich.live import Live

        return Live(get_renderable=self._table, refresh_per_second=5)

    def counts(self) -> str:
        """How many are in which state."""
        with self._lock:
            counted = Counter(r.state for r in self._rows.values())
        return ", ".join(f"{counted[s]} {s.lower().replace('_', ' ')}" for s in ORDER if counted[s])

    def _table(self) -> Any:
        from rich.table import Table

        table = Table(box=None, padding=(0, 2, 0, 0), title=f"{self._clock() - self._begun:.0f} s: {self.counts()}")
        for column in ("change", "agent", "branch", "state", "step or reason"):
            table.add_column(column, no_wrap=True)
        with self._lock:
            rows = sorted(self._rows.values(), key=lambda r: ORDER.index(r.state) if r.state in ORDER else 9)
            for r in rows:
                told.append(r.detail)
                table.add_row(r.name, r.agent, r.branch, r.state, r.detail, style=STYLES.get(r.state, ""))
        return table
