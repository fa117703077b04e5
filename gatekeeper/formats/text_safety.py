"""Characters that show people something else than what a machine reads, and how to show hostile text safely."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from gatekeeper.formats.confusables import skeleton
from gatekeeper.records import dataclass

_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_MARKS = frozenset("\u200e\u200f\u061c")
"""Direction marks: they reorder neighbours, never across lines, and are common in real Hebrew and Arabic prose."""
_INVISIBLE = frozenset(
    "\u200b\u2060\u2061\u2062\u2063\u2064\u00ad\u034f\u115f\u1160\u3164\uffa0\u180e\u17b4\u17b5\u200c\u200d\ufeff"
)
_JOINERS = frozenset("\u200c\u200d")
_SUSPECT = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e01ef]"
)
_JOINING_SCRIPTS = ("ARABIC", "DEVANAGARI", "BENGALI", "GURMUKHI", "GUJARATI", "ORIYA", "TAMIL", "TELUGU", "KANNADA",
                    "MALAYALAM", "SINHALA", "KHMER", "MYANMAR", "SYRIAC", "MONGOLIAN", "TIBETAN")  # fmt: skip
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")
_PLAIN_CODECS = frozenset({"utf-8", "utf8", "utf_8", "ascii", "us-ascii", "latin-1", "latin1", "iso-8859-1", "iso-latin-1",
                           "iso-8859-15", "cp1252", "utf-8-sig", "utf8-unix", "utf-8-unix"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class HiddenCharacter:
    """One suspicious character. `kind` is bidi, invisible, tag or selector; line and column are 1-based."""

    kind: str
    character: str
    line: int
    column: int

    @property
    def name(self) -> str:
        """`U+202E RIGHT-TO-LEFT OVERRIDE`."""
        return f"U+{ord(self.character):04X} {unicodedata.name(self.character, 'UNNAMED')}"


def hidden_characters(text: str, first_line: int = 1) -> Iterator[HiddenCharacter]:
    """Characters that reorder or hide text. Emoji sequences, flags, a leading BOM and joiners of scripts that need them pass."""
    if text.isascii():
        return
    for number, line in enumerate(text.split("\n"), first_line):
        if line.isascii():
            continue
        for found in _SUSPECT.finditer(line):
            kind = _kind(line, found.start(), number == 1)
            if kind:
                yield HiddenCharacter(kind, found.group(), number, found.start() + 1)


def _kind(line: str, at: int, first_line: bool) -> str | None:
    c = line[at]
    before, after = line[at - 1] if at else "", line[at + 1] if at + 1 < len(line) else ""
    if c in _BIDI:
        return "bidi"
    if c in _MARKS:
        # Beside right-to-left writing a direction mark does its honest work.
        return None if any(unicodedata.bidirectional(x) in ("R", "AL") for x in line) else "bidi"
    if "\U000e0000" <= c <= "\U000e007f":
        return None if _in_flag(line, at) else "tag"
    if "\ufe00" <= c <= "\ufe0f" or c >= "\U000e0100":
        # One selector after a visible character chooses its form; a run of them carries hidden bytes.
        return "selector" if not before or (_SUSPECT.match(before) and before not in _JOINERS) else None
    if c == "\ufeff":
        return None if first_line and at == 0 else "invisible"
    if c in _JOINERS:
        name = unicodedata.name(before, "") if before else ""
        pictured = bool(before) and (unicodedata.category(before) in ("So", "Sk", "Mn") or before == "\ufe0f")
        return None if after and (pictured or name.startswith(_JOINING_SCRIPTS)) else "invisible"
    if c in ("\u180e", "\u17b4", "\u17b5", "\u115f", "\u1160", "\u3164", "\uffa0"):
        near = unicodedata.name(before or after or " ", "")
        return None if near.startswith(("MONGOLIAN", "KHMER", "HANGUL")) else "invisible"
    return "invisible" if c in _INVISIBLE or "\u2065" <= c <= "\u206f" else None


def _in_flag(line: str, at: int) -> bool:
    """A tag sequence after the black flag, closed by the cancel tag, at most 7 long: a flag of a region."""
    start = line.rfind("\U0001f3f4", max(0, at - 8), at)
    if start < 0:
        return False
    end = line.find("\U000e007f", start, start + 9)
    return end >= at and all("\U000e0000" <= x <= "\U000e007f" for x in line[start + 1 : end + 1])


def identifiers(text: str) -> frozenset[str]:
    """All words of `text` that could be identifiers, as a compiler normalises them."""
    return frozenset(unicodedata.normalize("NFKC", w) for w in _IDENTIFIER.findall(text))


def mixed_script(word: str) -> bool:
    """True where Latin and Cyrillic or Greek letters stand in one part of a word (parts are divided by `_`)."""
    if word.isascii():
        return False
    for part in word.split("_"):
        names = [unicodedata.name(c, "").split(" ")[0] for c in part if c.isalpha()]
        scripts = set(names)
        foreign = scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "LISU"}
        # One Greek letter beside Latin ones is mathematics (a real delta before `T`), unless it looks Latin.
        if "LATIN" in scripts and foreign and (skeleton(part).isascii() or "CYRILLIC" in scripts):
            return True
    return False


def lookalike(word: str, known: frozenset[str]) -> str | None:
    """The ASCII word of `known` that `word` imitates, or None."""
    if word.isascii():
        return None
    twin = skeleton(word)
    return twin if twin.isascii() and twin != word and twin in known else None


def encoding_fault(data: bytes, python: bool) -> str | None:
    """Why this source text is read differently by different tools, or None for plain text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return "it is UTF-16 or UTF-32"
    if b"\x00" in data:
        return "it holds NUL bytes"
    if python:
        for line in data.split(b"\n", 2)[:2]:
            cookie = _COOKIE.match(line.removeprefix(b"\xef\xbb\xbf"))
            if cookie:
                name = cookie.group(1).decode("ascii").lower().replace("_", "-")
                return None if name in _PLAIN_CODECS else f"its coding line says {name}"
            if line.strip() and not line.lstrip().startswith(b"#"):
                break
    return None


def harmless(text: str, *, newlines: bool = True) -> str:
    """`text` for a terminal, a log or a report: control, format, surrogate and private characters become escapes.

    Tabs stay; newlines stay where `newlines` is true. What the reader sees is what is there.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c == "\t" or (c == "\n" and newlines) or _shown(c) else _escape(c) for c in text)


def _shown(c: str) -> bool:
    return unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _escape(c: str) -> str:
    code = ord(c)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
