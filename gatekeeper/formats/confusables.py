"""Letters that look like a Latin one in most fonts, and what a reader sees of a word or a path.

Full-width, mathematical and circled letters, ligatures and the like are left to Unicode's own compatibility mapping
(NFKC); here stand the letters of other scripts, for which it has none. Not the whole table of UTS #39: letters that only
a careless reader would take for a Latin one are left out, because they are common in formulas.
"""

from __future__ import annotations

import unicodedata
from functools import cache

_LETTERS = {
    # Cyrillic
    "a": "\u0430", "b": "\u0432\u044c", "c": "\u0441", "d": "\u0501", "e": "\u0435\u04bd", "h": "\u04bb", "i": "\u0456", "j": "\u0458",
    "k": "\u043a", "l": "\u04cf", "m": "\u043c", "o": "\u043e", "p": "\u0440", "q": "\u051b", "s": "\u0455", "t": "\u0442", "v": "\u0475",
    "w": "\u0461\u051d", "x": "\u0445", "y": "\u0443\u04af", "A": "\u0410", "B": "\u0412", "C": "\u0421", "E": "\u0415", "G": "\u050c",
    "H": "\u041d", "I": "\u0406\u04c0", "J": "\u0408", "K": "\u041a", "M": "\u041c", "O": "\u041e", "P": "\u0420", "S": "\u0405",
    "T": "\u0422", "V": "\u0474", "W": "\u051c", "X": "\u0425", "Y": "\u0423\u04ae",
}  # fmt: skip
_GREEK = {
    "a": "\u03b1", "c": "\u03f2", "i": "\u03b9", "j": "\u03f3", "k": "\u03ba", "o": "\u03bf", "p": "\u03c1", "t": "\u03c4", "u": "\u03c5",
    "v": "\u03bd", "x": "\u03c7", "A": "\u0391", "B": "\u0392", "C": "\u03f9", "E": "\u0395", "H": "\u0397", "I": "\u0399", "J": "\u037f",
    "K": "\u039a", "M": "\u039c", "N": "\u039d", "O": "\u039f", "P": "\u03a1", "T": "\u03a4", "X": "\u03a7", "Y": "\u03a5", "Z": "\u0396",
}  # fmt: skip
_ARMENIAN = {
    "g": "\u0581", "h": "\u0570\u056b", "j": "\u0575", "l": "\u056c", "n": "\u0578\u057c", "o": "\u0585", "q": "\u0566", "u": "\u057d",
    "w": "\u0561", "L": "\u053c", "O": "\u0555", "S": "\u054f", "U": "\u054d",
}  # fmt: skip
_CHEROKEE = {
    "A": "\u13aa", "B": "\u13f4", "C": "\u13df", "D": "\u13a0", "E": "\u13ac", "G": "\u13c0", "H": "\u13bb", "J": "\u13ab", "K": "\u13e6",
    "L": "\u13de", "M": "\u13b7", "P": "\u13e2", "R": "\u13a1\u13d2", "S": "\u13da", "T": "\u13a2", "V": "\u13d9", "W": "\u13b3",
    "Z": "\u13c3", "i": "\u13a5",
}  # fmt: skip
_LISU = {
    "A": "\ua4ee", "B": "\ua4d0", "C": "\ua4da", "D": "\ua4d3", "E": "\ua4f0", "F": "\ua4dd", "G": "\ua4d6", "H": "\ua4e7", "I": "\ua4f2",
    "J": "\ua4d9", "K": "\ua4d7", "L": "\ua4e1", "M": "\ua4df", "N": "\ua4e0", "O": "\ua4f3", "P": "\ua4d1", "R": "\ua4e3", "S": "\ua4e2",
    "T": "\ua4d4", "U": "\ua4f4", "V": "\ua4e6", "W": "\ua4ea", "X": "\ua4eb", "Y": "\ua4ec", "Z": "\ua4dc",
}  # fmt: skip
_LATIN = {
    "a": "\u0251", "c": "\u1d04", "g": "\u0261", "i": "\u0131\u0269\u026a", "j": "\u0237", "o": "\u1d0f", "s": "\ua731", "u": "\u028b\u1d1c",
    "v": "\u1d20", "w": "\u1d21", "y": "\u028f", "z": "\u1d22",
}  # fmt: skip
_SIGNS = {"-": "\u2010\u2012\u2013\u2212\u2043", "/": "\u2044\u2215\u29f8", "_": "\u2017", ".": "\ua4f8"}


@cache
def _table(signs: bool) -> dict[int, str]:
    groups = (_LETTERS, _GREEK, _ARMENIAN, _CHEROKEE, _LISU, _LATIN, *((_SIGNS,) if signs else ()))
    return {ord(c): plain for group in groups for plain, twins in group.items() for c in twins}


def skeleton(word: str) -> str:
    """`word` with letters of other scripts replaced by the Latin letters they look like."""
    if word.isascii():
        return word
    return unicodedata.normalize("NFKC", word).translate(_table(False))


def path_skeleton(path: str) -> str:
    """Equal for two paths that a reader, or a file system that ignores case or normalises, takes for the same."""
    if path.isascii():
        return path.casefold()
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())
    seen = "".join(c for c in plain if unicodedata.category(c) not in ("Cf", "Mn"))
    return seen.translate(_table(True)).casefold()
