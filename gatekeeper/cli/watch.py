"""`gatekeeper watch`: verifications as they go on; one line a change of state on a pipe, redrawn on a terminal."""

from __future__ import annotations

import queue
import shutil
import sys
import threading
from typing import TYPE_CHECKING, Annotated

import typer

from gatekeeper.cli.connection import Session, command, json_of, line, table, told, write
from gatekeeper.errors import GatekeeperError, UsageError

if TYPE_CHECKING:
    from gatekeeper.client import Verification

MAX_NAMES = 90
"""The API gives a caller 100 watches at once."""


def register(app: typer.Typer) -> None:
    """Add the command."""

    @command(app)
    def watch(
        session: Session,
        names: Annotated[list[str], typer.Argument(help="Verifications, or changes as owner/repository#key.")],
        timeout: Annotated[float | None, typer.Option(min=0.1, help="Seconds to wait at most.")] = None,
        full: Annotated[bool, typer.Option("--full", help="Print the whole report of each at its end.")] = False,
    ) -> int:
        """Watch verifications until all are final; the status is that of the worst verdict.

        Exit status: 0 all accepted, 1 one rejected, 3 one without verdict, 4 a person must decide on one.
        """
        from gatekeeper.client.names import is_verification

        whole = [n if is_verification(n) else _latest(session, n) for n in dict.fromkeys(names)]
        return follow(session, whole, timeout, full=full)


def _latest(session: Session, change: str) -> str:
    found = session.client.get_change(change)
    if not found.latest_verification:
        raise UsageError("VERIFICATION_UNKNOWN", f"{change[:200]!r} was never submitted.")
    return found.latest_verification


def follow(session: Session, names: list[str], timeout: float | None, *, full: bool = False) -> int:
    """Watch all names at once and tell what happens; returns the exit status of the worst verdict."""
    if len(names) > MAX_NAMES:
        raise UsageError(
            "USAGE",
            f"{len(names)} names were given; at most {MAX_NAMES} can be watched at once.",
            next_action=f"Name {MAX_NAMES} or fewer, and watch the rest after them.",
        )
    from gatekeeper.client.names import verification_name

    client, news = session.client, queue.Queue[tuple[str, "Verification | GatekeeperError | None"]]()

    def listen(name: str) -> None:
        try:
            for made in client.watch(name, timeout=timeout):
                news.put((name, made))
            news.put((name, None))
        except GatekeeperError as error:
            news.put((name, error))

    for name in names:
        verification_name(name)
    for name in names:
        threading.Thread(target=listen, args=(name,), daemon=True).start()
    screen = _Screen(names, live=sys.stdout.isatty() and not session.as_json, as_json=session.as_json)
    last: dict[str, Verification] = {}
    statuses: dict[str, int] = {}
    while len(statuses) < len(names):
        name, word = news.get()
        if word is None:
            statuses[name] = _ended(session, last[name], screen, full=full) if name in last else 3
        elif isinstance(word, GatekeeperError):
            screen.leave()
            statuses[name] = told(word, as_json=session.as_json)
        else:
            last[name] = word
            screen.draw(word)
    return _worst(statuses.values())


def _ended(session: Session, made: Verification, screen: _Screen, *, full: bool) -> int:
    """Print the report where it is wanted; returns the exit status."""
    from gatekeeper.cli.verification_text import exit_status, outdated, report
    from gatekeeper.client.names import change_of

    change = None
    try:
        if outdated(made):
            change = session.client.get_change(change_of(made.name))
    except GatekeeperError as error:
        screen.leave()
        return told(error, as_json=session.as_json)
    if full and not session.as_json:
        screen.leave()
        write(report(made, change, color=screen.live, brief=False))
    return exit_status(made, change)


def _worst(statuses: object) -> int:
    found = set(statuses)  # type: ignore[call-overload]
    return next((s for s in (1, 2, 3, 4) if s in found), 0)


class _Screen:
    """Lines on a pipe, a table that is drawn anew on a terminal."""

    def __init__(self, names: list[str], *, live: bool, as_json: bool) -> None:
        self.live, self.as_json = live, as_json
        self._rows: dict[str, tuple[str, ...]] = {n: (_short(n), "-", "", "") for n in names}
        self._drawn = 0
        self._said: dict[str, tuple[str, ...]] = {}

    def draw(self, made: Verification) -> None:
        """One snapshot."""
        if self.as_json:
            write(json_of(made))
            sys.stdout.flush()
            return
        row = _row(made)
        self._rows[made.name] = row
        if not self.live:
            if self._said.get(made.name) != row[:3]:  # progress inside a state is news only for a live screen
                self._said[made.name] = row[:3]
                write("  ".join(c for c in row if c))
                sys.stdout.flush()
            return
        size = shutil.get_terminal_size()
        rows = list(self._rows.values())[-max(1, size.lines - 2) :]
        self._wipe()
        for shown in table(rows).splitlines():
            sys.stdout.write(shown[: size.columns - 1] + "\n")
        self._drawn = len(rows)
        sys.stdout.flush()

    def leave(self) -> None:
        """What comes now stands below the table; the next drawing begins anew."""
        self._drawn = 0

    def _wipe(self) -> None:
        if self._drawn:
            sys.stdout.write(f"\x1b[{self._drawn}A\x1b[J")


def _short(name: str) -> str:
    parts = name.split("/")
    return line(f"{parts[1]}/{parts[3]}#{parts[5]}", 200)


def _row(made: Verification) -> tuple[str, ...]:
    from gatekeeper.client import state_of, verdict_of

    state, verdict = state_of(made), verdict_of(made)
    progress = ""
    if verdict is not None:
        first = next((f.code for f in made.findings if f.primary), "")
        progress = " ".join(word for word in (line(first, 64), "" if made.current else "(no longer current)") if word)
    elif made.HasField("progress"):
        planned = f" {made.progress.runs_done}/{made.progress.runs_planned} runs" if made.progress.runs_planned else ""
        progress = line(made.progress.step, 40) + planned
    told_state = state.value if state else "UNKNOWN"
    return (_short(made.name), told_state, verdict.value if verdict else "", progress)
