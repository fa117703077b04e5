"""Proof that a leaked credential is nowhere but in the commit that leaks it."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from served import Gate
from story import expect, say, title, told

if TYPE_CHECKING:
    from gatekeeper.client import Verification

CODE = ("trees", "mirrors", "cache", "environments", "runtime")
"""Folders of the state directory that hold the repositories' own content, and no record."""
BLOCK = 1 << 20


def forms(secret: str) -> list[bytes]:
    """The secret as it could stand in a file: plain, and in base64 at each of the three alignments."""
    found = [secret.encode()]
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + secret.encode()).rstrip(b"=")
        found.append(encoded[4 if shift else 0 : -2])  # what depends on the neighbours is left out
    return found


def holding(files: Iterable[Path], wanted: Sequence[bytes]) -> list[Path]:
    """The files that hold one of the byte strings."""
    longest = max(map(len, wanted))
    found = []
    for path in files:
        tail = b""
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                if any(w in tail + block for w in wanted):
                    found.append(path)
                    break
                tail = block[-longest:]
    return found


def records(gate: Gate) -> Iterator[Path]:
    """Every file that the gate wrote, but for the repositories' own content."""
    for start in (gate.state, gate.folder / "config", gate.log):
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            inner = path.relative_to(gate.state).parts[:1] if path.is_relative_to(gate.state) else ()
            if path.is_file() and not path.is_symlink() and not set(inner) & set(CODE):
                yield path


def control(gate: Gate, secret: str) -> None:
    """The search does find what is there: in the tree of the commit that leaks, and in each encoded form."""
    there = holding((p for p in (gate.state / "trees").rglob("release.py") if p.is_file()), [secret.encode()])
    expect(bool(there), "the search finds the credential in the tree of the commit that leaks it")
    for shift in range(3):
        encoded = base64.b64encode(b"x" * shift + secret.encode() + b"y" * 5)
        expect(any(w in encoded for w in forms(secret)), "the search finds the credential in base64")


def prove(gate: Gate, answers: Sequence[Verification], secret: str, *, running: bool) -> None:
    """Search what the gate answered, stored, logged and what was printed. Raises `DemoError` where it is there."""
    title(f"The credential is redacted everywhere ({'the server still running' if running else 'after the end'})")
    control(gate, secret)
    wanted = forms(secret)
    expect(not any(w in a.SerializeToString() for a in answers for w in wanted), "no answer of the API holds it")
    expect(not any(secret in line for line in told), "nothing that was printed holds it")
    files = list(records(gate))
    bad = [str(p.relative_to(gate.folder)) for p in holding(files, wanted)]
    expect(not bad, f"no file of the gate holds it, not {', '.join(bad)}")
    size = sum(p.stat().st_size for p in files)
    say(
        f"   searched: {len(answers)} answers, {len(told)} lines of output, {len(files)} files of the gate ({size >> 10} KiB)"
    )
