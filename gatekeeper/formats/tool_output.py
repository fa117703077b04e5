"""What checking tools print: complaints with their place, as compilers, linters and type checkers write them.

The output is made by a tool that reads hostile files, in hostile processes: a complaint is words for people, and what it
names is compared with the same tool's words about another tree. It decides nothing by itself.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable

from gatekeeper.records import dataclass

MAX_OUTPUT = 256 * 1024
MAX_LINE = 2_000
MAX_COMPLAINTS = 2_000
MAX_MESSAGE = 500

_PATH = r"(?P<path>(?:[\w.@~+ -]*/)*[\w.@~+-]+\.\w{1,10})"
_FORMS = (
    # gcc, mypy, ruff (concise), flake8, pylint, go vet, eslint (unix), shellcheck (gcc)
    re.compile(rf"^(?:vet: )?(?:\./)?/?{_PATH}:(?P<line>\d+)(?::(?P<column>\d+))?(?:[-:]\d+(?::\d+)?)?:?\s+(?P<message>\S.*)$"),
    # tsc, msbuild
    re.compile(rf"^/?{_PATH}\((?P<line>\d+),(?P<column>\d+)\):\s*(?P<message>\S.*)$"),
    # maven's compiler
    re.compile(rf"^\[(?:ERROR|WARNING)\]\s+/?{_PATH}:\[(?P<line>\d+),(?P<column>\d+)\]\s*(?P<message>\S.*)$"),
)  # fmt: skip
_ARROW = re.compile(rf"^\s*-->\s+/?{_PATH}:(?P<line>\d+):(?P<column>\d+)\s*$")
"""ruff and rustc: the message stands on the line before."""
_ROW = re.compile(r"^\s+(?P<line>\d+):(?P<column>\d+)\s+(?P<level>error|warning)\s+(?P<message>\S.*)$")
"""eslint: the path stands alone on a line above."""
_ALONE = re.compile(rf"^/?{_PATH}$")
_NOTE = re.compile(r"^(?:note|help|hint|info)\b", re.IGNORECASE)
_WARNING = re.compile(r"^(?:warning\b|warn\b|W\d)", re.IGNORECASE)
_NUMBERS = re.compile(r"\d+")
_ESCAPES = re.compile(r"(?:\x1b|\ufffd)\[[0-9;]*m")

MISSING = re.compile(
    r"(?:^|[:\s])(?P<tool>[\w./@+-]+): (?:command )?not found\b|No module named '?(?P<module>[\w.-]+)'?"
    r"|Cannot find module '(?P<package>[^']{1,200})'|executable file not found in \$PATH",
)
"""How shells, Python, Node.js and make say that a program is not there."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """One complaint."""

    path: str
    """Relative to the root of the tree as far as it could be told."""
    line: int
    message: str

    @property
    def key(self) -> tuple[str, str]:
        """What stays the same when lines above it come or go."""
        return self.path, _NUMBERS.sub("#", self.message)


def complaints(output: str, *, root: str = "/repo", workdir: str = ".") -> tuple[Complaint, ...]:
    """Complaints of one run's output, without notes; warnings only where there is nothing worse."""
    found: list[Complaint] = []
    said, alone = "", ""
    for raw in output[-MAX_OUTPUT:].splitlines():
        text = _ESCAPES.sub("", raw)[:MAX_LINE].rstrip()
        if not text:
            said = ""
            continue
        if match := _ARROW.match(text):
            if said and not _NOTE.match(said):
                found.append(_complaint(match, said, root, workdir))
            said = ""
        elif match := _ROW.match(text):
            if alone:
                message = f"{match['level']}: {match['message']}"
                found.append(Complaint(_place(alone, root, workdir), int(match["line"]), message[:MAX_MESSAGE]))
        elif match := next((m for form in _FORMS if (m := form.match(text))), None):
            if not _NOTE.match(match["message"]):
                found.append(_complaint(match, match["message"], root, workdir))
        elif _ALONE.match(text):
            alone = text
        else:
            said = text
        if len(found) >= MAX_COMPLAINTS:
            break
    worse = [c for c in found if not _WARNING.match(c.message)]
    return tuple(worse or found)


def _complaint(match: re.Match[str], message: str, root: str, workdir: str) -> Complaint:
    line = int(match["line"][:9])
    start = match.string[: match.start("path")]
    path = "/" + match["path"] if start.endswith("/") and not start.endswith("./") else match["path"]
    return Complaint(_place(path, root, workdir), line, message.strip()[:MAX_MESSAGE])


def _place(path: str, root: str, workdir: str) -> str:
    if path.startswith(f"{root}/"):
        return path[len(root) + 1 :]
    if path.startswith("/"):
        return path
    return posixpath.normpath(posixpath.join(workdir, path))


def fresh(now: Iterable[Complaint], before: Iterable[Complaint]) -> tuple[Complaint, ...]:
    """Those of `now` that `before` has not, as a multiset, whatever their lines are."""
    known = Counter(c.key for c in before)
    out = []
    for one in now:
        if known[one.key]:
            known[one.key] -= 1
        else:
            out.append(one)
    return tuple(out)


def missing_tool(output: str) -> str:
    """The program or module that was not there, as the output says; empty where it says nothing of the kind."""
    match = MISSING.search(output[-MAX_OUTPUT:])
    if match is None:
        return ""
    return next((g for g in (match["tool"], match["module"], match["package"]) if g), "a program")
