"""Path globs of tickets and settings, and globs over test ids, over one matcher that never tries the same place twice.

Rules: anchored at the root; `*`, `?` and `[...]` never cross `/`; `**` stands for any number of whole segments; dot files
match like others; case counts. `dir/**` is everything below `dir`, not `dir` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")

MAX_GLOB = 1024
"""Characters of one glob; longer ones are refused by `problem`."""
_STAR = ("star", "")


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


def wild(pattern: Sequence[T], items: Sequence[U], star: T, hit: Callable[[T, U], bool]) -> bool:
    """True where `pattern` covers all `items`: `star` stands for any number of them, another part for one that it hits.

    Of several stars only the last one ever gives way: an earlier one that took more could leave no more to match. So
    `hit` is called at most `len(items) * len(pattern)` times, whatever the pattern.
    """
    at = place = 0
    back, mark = -1, 0
    while place < len(items):
        if at < len(pattern) and pattern[at] == star:
            back, mark = at, place
            at += 1
        elif at < len(pattern) and hit(pattern[at], items[place]):
            at += 1
            place += 1
        elif back >= 0:
            mark += 1
            at, place = back + 1, mark
        else:
            return False
    return all(part == star for part in pattern[at:])


def _segments(glob: tuple[str, ...], path: tuple[str, ...]) -> bool:
    # `**` at the end needs something below it: `dir/**` does not match `dir` itself.
    return wild((*glob[:-1], "*", "**") if glob[-1] == "**" else glob, path, "**", _one)


@lru_cache(maxsize=4096)
def _tokens(pattern: str) -> tuple[tuple[str, str], ...]:
    """(kind, value): lit c, any, star, set chars, nset chars."""
    out: list[tuple[str, str]] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c == "*":
            if not out or out[-1] != _STAR:
                out.append(_STAR)
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


def _one(pattern: str, segment: str) -> bool:
    return wild(_tokens(pattern), segment, _STAR, _hit)


@lru_cache(maxsize=1024)
def _id_tokens(glob: str) -> tuple[tuple[str, str], ...]:
    return tuple(_STAR if c == "*" else ("any", "") if c == "?" else ("lit", c) for c in glob)


def test_id_matches(glob: str, test_id: str) -> bool:
    """Glob over a test id: `*` crosses everything, `?` is one character, brackets are literal (they hold parameters).

    A glob without parameters also covers every parameter set of that test: `a.py::test_b` matches `a.py::test_b[1]`.
    """
    tokens = _id_tokens(glob)
    if wild(tokens, test_id, _STAR, _hit):
        return True
    bare, bracket, _ = test_id.partition("[")
    return bool(bracket) and "[" not in glob and wild(tokens, bare, _STAR, _hit)


test_id_matches.__test__ = False  # type: ignore[attr-defined]  # its name, not its nature: pytest would collect it
