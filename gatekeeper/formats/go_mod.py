"""go.mod, go.work and go.sum: just what the gate must know of them. Pure; hostile text, so capped and never trusted.

What Go itself makes of a file decides in the run; here a file that cannot be read is an error, never an empty list.
Grammar: https://go.dev/ref/mod#go-mod-file-grammar
"""

from __future__ import annotations

import posixpath
import re

from gatekeeper.errors import InputError
from gatekeeper.records import dataclass, field

MAX_BYTES = 1024 * 1024
MAX_LINES = 20_000
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|`[^`]*`|=>|[()]|[^\s()"`]+')


@dataclass(frozen=True)
class GoMod:
    """The directives of a go.mod or go.work that matter here."""

    module: str = ""
    """Module path; empty in a go.work."""
    requires: tuple[tuple[str, str], ...] = ()
    """(module path, version)."""
    replaced: tuple[tuple[str, str, str], ...] = ()
    """(module path, target, version of the target; empty for a directory)."""
    uses: tuple[str, ...] = ()
    """Directories of a go.work, relative."""
    go: str = ""
    toolchain: str = ""
    tools: tuple[str, ...] = field(default=())


def parse_go_mod(data: bytes, name: str = "go.mod") -> GoMod:
    """Parse. Raises `InputError` (GO_MODULE_UNREADABLE) that names the line."""

    def refuse(why: str) -> InputError:
        return InputError("GO_MODULE_UNREADABLE", f"{name} cannot be read: {why}.")

    if len(data) > MAX_BYTES:
        raise refuse(f"it has {len(data)} bytes, at most {MAX_BYTES} are read")
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise refuse("it is not UTF-8") from None
    if len(lines) > MAX_LINES:
        raise refuse(f"it has more than {MAX_LINES} lines")
    rows: list[tuple[str, list[str]]] = []
    block = ""
    for number, line in enumerate(lines, 1):
        words = _words(line)
        if not words:
            continue
        if block:
            if words == [")"]:
                block = ""
            elif "(" in words or ")" in words:
                raise refuse(f"line {number} has a bracket out of place")
            else:
                rows.append((block, words))
        elif len(words) == 2 and words[1] == "(":
            block = words[0]
        elif len(words) == 3 and words[1:] == ["(", ")"]:
            continue
        elif "(" in words or ")" in words:
            raise refuse(f"line {number} has a bracket out of place")
        else:
            rows.append((words[0], words[1:]))
    if block:
        raise refuse(f"the block {block[:40]!r} is never closed")
    return _mod(rows)


def _mod(rows: list[tuple[str, list[str]]]) -> GoMod:
    def first(kind: str) -> str:
        return next((w[0] for k, w in rows if k == kind and w), "")

    replaced = []
    for kind, words in rows:
        if kind == "replace" and "=>" in words:
            at = words.index("=>")
            target = words[at + 1 :]
            if words[:at] and target:
                replaced.append((words[0], target[0], target[1] if len(target) > 1 else ""))
    return GoMod(
        module=first("module"),
        requires=tuple((w[0], w[1]) for k, w in rows if k == "require" and len(w) == 2),
        replaced=tuple(replaced),
        uses=tuple(w[0] for k, w in rows if k == "use" and w),
        go=first("go"),
        toolchain=first("toolchain"),
        tools=tuple(w[0] for k, w in rows if k == "tool" and w),
    )


def _words(line: str) -> list[str]:
    """Tokens of a line without its comment; quotes are taken off."""
    out = []
    for match in _TOKEN.finditer(line):
        word = match[0]
        if word.startswith("//"):
            break
        if word.startswith('"') and len(word) >= 2:
            word = re.sub(r"\\(.)", r"\1", word[1:-1])
        elif word.startswith("`"):
            word = word[1:-1]
        out.append(word)
    return out


def leaves_tree(directory: str, target: str) -> bool:
    """Whether a directory named in the go.mod of `directory` (relative to the root of the tree) lies outside the tree."""
    if posixpath.isabs(target) or "\\" in target or re.match(r"[A-Za-z]:", target):
        return True
    place = posixpath.normpath(posixpath.join(directory, target))
    return place == ".." or place.startswith("../")


def is_directory(target: str) -> bool:
    """Whether the target of a `replace` is a directory: Go takes what begins with ./, ../ or / for one."""
    return target in (".", "..") or target.startswith(("./", "../", "/", ".\\", "..\\")) or "\\" in target[:3]
