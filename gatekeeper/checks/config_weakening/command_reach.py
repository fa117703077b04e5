"""How much a command looks at and whether its result counts: by itself, and beside one in whose place it stands."""

from __future__ import annotations

import re

LOST = re.compile(r"\|\|\s*(?:true|:|exit\s+0|echo\b|/bin/true|printf\b)|;\s*(?:true|:|exit\s+0)\s*$|^\s*set\s+\+e|--exit-zero|--no-fail\b|--exit-code[= ]0|\|\s*tee\b|\|\s*cat\b|&\s*$|--suppress-tests|--maxfail=0|--passWithNoTests", re.MULTILINE)  # fmt: skip
"""A command whose failure is lost."""
ASKS = re.compile(r"\s(?:--version|--help|-V|-h|--co|--collect-only)(?:\s|$)")
"""A command that only tells something of a tool, or what it would do."""
_NARROW = re.compile(
    r"(?:^|\s)(?:-k|-m|--deselect|--ignore(?:-glob)?|--collect-only|--co|-p\s+no:|--lf|--sw|--no-cov|--cov-fail-under"
    r"|--version|-V|--help|-h|--setup-plan|--setup-only|--fixtures|--markers)(?:[ =]|$)"
)
_POSARGS = r"\{posargs(?::([^{}]*))?\}"
_FOLDERS = r"\{(?:toxinidir|tox_root)\}/?"
_PARTS = r"&&|\|\||[;|]"
_LAX = (
    r"--?(?:(?:extend-)?(?:ignore|exclude|select|per-file-ignores|disable|skip|allow|omit|config|rcfile|severity|confidence)\S*|(?:max|min|fail)-\S+"
    r"|exit-zero|no-\S+|from-first|diff|changed\S*|baseline\S*|isolated|c|k|m|s|x|e)(?:=\S*)?"
)
"""Options that may choose less, or another measure; what they mean to a tool is not known here."""
_LOOSE = re.compile(
    r"-o\S*|--override-ini\S*|--rootdir\S*|--confcutdir\S*|-p\S*|--fix-only|--show-(?:files|settings)|--follow-imports\S*|--filename\S*"
    r"|-l{2,}|-E|--collect\S*|--setup-\S*|--(?:stepwise|last-failed|lf|sw|ff)\S*|--listenvs|--list|--notest|-h|--dry-run|--just-print"
)
"""Options that some checking tool takes for other files, another measure or no work at all."""
_STRICT = re.compile(
    r"--(?:check\S*|strict\S*|(?:cov-)?fail-under\S*|error\S*|exit-non-zero\S*|exitfirst|max-warnings\S*|warn-\S+|disallow-\S+)|-W\S*"
)
"""Options without which a tool finds less, or fails at less."""
_WORK = frozenset(
    {
        "check",
        "format",
        "clean",
        "rule",
        "config",
        "linter",
        "version",
        "server",
        "analyze",
        "list",
        "devenv",
        "depends",
    }
)
"""What a tool is told to do where it does several things."""
_SELECT_TESTS = frozenset({"pytest", "py.test", "unittest", "coverage", "nose2", "trial"})


def narrowing(line: str) -> int:
    """How many options of a command choose less to be checked (`python -m` is none of them)."""
    return len(_NARROW.findall(re.sub(r"\bpython[0-9.]*\s+-m\b", "", f" {line}")))


def as_much(line: str, row: str, tool: str) -> bool:
    """True where `tool` in `row` has no option to find less that `line` had not, misses none that finds more, and looks at the same paths or at more."""
    if LOST.search(row) or narrowing(row) > narrowing(line):
        return False
    before, after = (_told(x, tool) for x in (line, row))
    if after is None or before is None:
        return False
    if any(re.fullmatch(_LAX, w) for w in after if w not in before):
        return False
    if any(_LOOSE.fullmatch(w) for w in after if w not in before):
        return False
    if any(_STRICT.fullmatch(w) for w in before if w not in after):
        return False
    works = [next((w for w in words if w in _WORK), "check") for words in (before, after)]
    if works[0] != works[1]:
        return False
    looked, looks = (_paths(words) for words in (before, after))
    if not looks:
        return True
    if tool in _SELECT_TESTS:
        return not any(re.search(r"::|\.py$", p) and p not in looked for p in looks)
    return bool(looked or "." in looks) and all(
        "." in looks or any(f"{p}/".startswith(f"{q}/") for q in looks) for p in looked
    )


def _told(command: str, tool: str) -> list[str] | None:
    """The words after the tool; None where it is not there."""
    plain = re.sub(_FOLDERS, "", re.sub(_POSARGS, lambda m: m.group(1) or "", command))
    for part in re.split(_PARTS, plain):
        words = part.split()
        names = [w.rsplit("/", 1)[-1] for w in words]
        if tool in names:
            return words[names.index(tool) + 1 :]
    return None


def _paths(words: list[str]) -> list[str]:
    """Words that are no options; the values of options stand among them and make it stricter."""
    return [
        w.removeprefix("./").rstrip("/") or "." for w in words if not w.startswith("-") and w not in ("check", "run")
    ]
