"""Other readings of the same bytes, so that a token cannot hide behind invisible characters, split literals or names."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from gatekeeper.records import dataclass

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]+"
)
_SPLIT = re.compile(
    r"""(?<=[\w+/=.-])(["'])[ \t]{0,8}(?:[+.\\][ \t]{0,8})?(?:\r?\n[ \t]{0,80})?(?:[+.][ \t]{0,8})?[bfruBFRU]{0,2}\1(?=[\w+/=.-])"""
)
_HEX = re.compile(r"(?<![0-9a-fA-F])(?:[2-7][0-9a-fA-F]){16,}(?![0-9a-fA-F])")
"""Letters and signs written as pairs of hexadecimal digits; a digest of any length hardly ever reads as text."""


@dataclass(frozen=True, slots=True)
class View:
    """One reading. `removed` are ascending (offset in `text`, newlines removed up to there)."""

    text: str
    removed: tuple[tuple[int, int], ...] = ()
    joined: bool = False
    """Literals were joined: only a token's own shape counts there, because joined prose has any length."""

    def line(self, seen: int, offset: int) -> int:
        """The original 1-based line for a match that begins on line `seen` of this reading, at character `offset`."""
        at = bisect_right(self.removed, (offset, 1 << 60)) - 1
        return seen + (self.removed[at][1] if at >= 0 else 0)


def views(data: bytes) -> Iterator[View]:
    """Readings beyond the raw bytes; none for plain text. Cost is linear in the size."""
    text = _decode(data)
    if text is None:
        return
    if b"\x00" in data:
        yield View(text)
    stripped = _without(_INVISIBLE, text) if not text.isascii() else None
    if stripped is not None:
        yield stripped
    # Joining works on the stripped reading, so that both tricks together do not help either.
    joined = _without(_SPLIT, stripped.text if stripped is not None and not stripped.removed else text)
    if joined is not None:
        yield View(joined.text, joined.removed, joined=True)
    last = joined or View(text)
    written_out = _HEX.sub(_read_hex, last.text)
    if written_out != last.text:
        yield View(written_out, last.removed, joined=True)
    folded = _folded(last.text if not last.removed else text)
    if folded is not None:
        yield folded


def _decode(data: bytes) -> str | None:
    if b"\x00" in data[:4096]:
        even, odd = data[0:4096:2].count(0), data[1:4096:2].count(0)
        half = max(1, len(data[:4096]) // 2)
        if odd > 0.4 * half:
            return data.decode("utf-16-le", "replace")
        if even > 0.4 * half:
            return data.decode("utf-16-be", "replace")
        return None
    return data.decode("utf-8", "replace")


def _read_hex(found: re.Match[str]) -> str:
    """The text that the digits stand for, as long as they are, or the digits where it is none that can be printed."""
    read = bytes.fromhex(found.group()).decode("latin-1")
    return f" {read}".ljust(len(found.group())) if read.isascii() and read.isprintable() else found.group()


def _folded(text: str) -> View | None:
    """What expressions of constants make, each on its own line behind what stands in front of it there."""
    from gatekeeper.adapters.kingfisher_scanner.folding import folded_texts

    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    lines = [""] * len(starts)
    for offset, value in folded_texts(text):
        number = bisect_right(starts, offset) - 1
        before = text[max(starts[number], offset - 80) : offset]
        lines[number] += f"{before}'{' '.join(value.splitlines())}' "
    return View("\n".join(lines), joined=True) if any(lines) else None


def _without(pattern: re.Pattern[str], text: str) -> View | None:
    parts: list[str] = []
    removed: list[tuple[int, int]] = []
    position = length = newlines = 0
    for found in pattern.finditer(text):
        parts.append(text[position : found.start()])
        length += found.start() - position
        position = found.end()
        if lost := found.group().count("\n"):
            newlines += lost
            removed.append((length, newlines))
    if not parts:
        return None
    parts.append(text[position:])
    return View("".join(parts), tuple(removed))
