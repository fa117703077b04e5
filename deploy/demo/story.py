"""What the demo prints, all of it kept, so that the end can prove that no secret was among it."""

from __future__ import annotations

import sys

from library import DemoError

BOLD, DIM, RESET = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if sys.stdout.isatty() else ("", "", "")
told: list[str] = []


def say(text: str = "") -> None:
    """A line of the story."""
    told.append(text)
    print(text, flush=True)


def title(text: str) -> None:
    """A heading of the story."""
    say(f"\n{BOLD}== {text}{RESET}")


def expect(condition: bool, words: str) -> None:
    """The demo proves what it shows: a surprise ends it."""
    if not condition:
        raise DemoError(f"Expected: {words}. That is a fault of the gate or of the demo; please report it.")
