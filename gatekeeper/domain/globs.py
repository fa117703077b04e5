"""Path globs of tickets and settings, and globs over test ids. Linear in the length of the path for each segment.

Rules: anchored at the root; `*`, `?` and `[...]` never cross `/`; `**` stands for any number of whole segments; dot files
match like others; case counts. `dir/**` is everything below `dir`, not `dir` itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

MAX_GLOB = 1024
"""Characters of one glob; longer ones are refused by `problem`."""


def problem(glob: str) -> str | None:
    """Why `glob` cannot be used, or None."""
    if not glob:
        return "it is empty"
    if len(glob) > MAX_GLOB:
        return f"it is longer than {MAX_GLOB} characters"
    if glob.startswith("/"):
        return "it is absolute; globs start at the root of the repository"
    if "\\" in glob:
        return "it has a backslash; separate with /"
    if any(ord(c) < 32 or ord(c) == 127 for c in glob):
        return "it has a control character"
    for segment in glob.split("/"):
        if segment in ("", ".", ".."):
            return f"it has the segment {segment!r}"
        if "**" in segment and segment != "**":
            return "`**` must be a whole segment"
    return None


def matches(glob: str, path: str) -> bool:
    """True where `path` matches. An unusable glob matches nothing."""
    if problem(glob) is not None:
        return False
    return _segments(tuple(glob.split("/")), tuple(path.split("/")))


def matches_any(globs: Iterable[str], path: str) -> bool:
    """True where at least one glob matches."""
    return any(matches(g, path) for g in globs)


def _segments(glob: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Segment lists against each other with one backtracking point: so this stays quadratic at worst."""
    g = p = 0
    star, mark = -1, 0
    while p < len(path):
        if g < len(glob) and glob[g] == "**":
            star, mark = g, p
            g += 1
        elif g < len(glob) and _one(glob[g], path[p]):
            g += 1
            p += 1
        elif star >= 0:
            mark += 1
            g, p = star + 1, mark
        else:
            return False
    # A `**` left over at the end needs something below it: `dir/**` does not match `dir` itself.
    return g == len(glob)


@lru_cache(maxsize=4096)
def _tokens(pattern: str) -> tuple[tuple[str, str], ...]:
    """(kind, value): lit c, any, star, set chars, nset chars."""
    out: list[tuple[str, str]] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c == "*":
            if not out or out[-1][0] != "star":
                out.append(("star", ""))
        elif c == "?":
            out.append(("any", ""))
        elif c == "[" and (end := pattern.find("]", i + (3 if pattern[i + 1 : i + 2] in ("!", "^") else 2))) > 0:
            body = pattern[i + 1 : end]
            kind = "nset" if body[0] in "!^" else "set"
            out.append((kind, body[1:] if kind == "nset" else body))
            i = end
        else:
            out.append(("lit", c))
        i += 1
    return tuple(out)


def _hit(token: tuple[str, str], char: str) -> bool:
    kind, value = token
    if kind == "any":
        return True
    if kind == "lit":
        return value == char
    inside = False
    i = 0
    while i < len(value):
        if i + 2 < len(value) and value[i + 1] == "-":
            inside = inside or value[i] <= char <= value[i + 2]
            i += 3
        else:
            inside = inside or value[i] == char
            i += 1
    return inside == (kind == "set")


def _wild(tokens: tuple[tuple[str, str], ...], text: str) -> bool:
    t = s = 0
    star, mark = -1, 0
    while s < len(text):
        if t < len(tokens) and tokens[t][0] == "star":
            star, mark = t, s
            t += 1
        elif t < len(tokens) and _hit(tokens[t], text[s]):
            t += 1
            s += 1
        elif star >= 0:
            mark += 1
            t, s = star + 1, mark
        else:
            return False
    return all(k == "star" for k, _ in tokens[t:])


def _one(pattern: str, segment: str) -> bool:
    return _wild(_tokens(pattern), segment)


def test_id_matches(glob: str, test_id: str) -> bool:
    """Glob over a test id: `*` crosses everything, `?` is one character, brackets are literal (they hold parameters).

    A glob without parameters also covers every parameter set of that test: `a.py::test_b` matches `a.py::test_b[1]`.
    """
    tokens = tuple(("star", "") if c == "*" else ("any", "") if c == "?" else ("lit", c) for c in glob)
    if _wild(tokens, test_id):
        return True
    return "[" not in glob and "[" in test_id and _wild(tokens, test_id.split("[", 1)[0])


test_id_matches.__test__ = False  # type: ignore[attr-defined]  # its name, not its nature: pytest would collect it
