"""Shell lines compared by what they run: options that change only the output, and harmless prefixes, are left out."""

from __future__ import annotations

import re
import shlex

_PYTHON = re.compile(r"(?:.*/)?python(?:3(?:\.\d+)?)?")
_ENV = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
# Options that change what a runner prints or writes, never which tests run.
_QUIET = re.compile(
    r"-[vq]+|--verbose|--quiet|-r\w*|-s|-l|--showlocals|--no-header|--no-summary|--full-trace|-rA|--durations-min=.*"
    r"|--(?:junit-?xml|junit-prefix|tb|color|capture|durations|report-log|show-capture|verbosity)=.*"
    r"|--cov(?:-report|-config|-branch|-append)?(?:=.*)?|--no-cov|--numprocesses=\w+|-n(?:auto|logical|\d+)|--dist=\w+"
    r"|-pno:cacheprovider"
)
_QUIET_WITH_VALUE = frozenset(
    {"--junitxml", "--junit-xml", "--tb", "--color", "--capture", "--durations", "-n", "--numprocesses", "--dist"}
)
_PREFIXES = (
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("time",),
    ("nice",),
)
"""Programs that run the rest of the line as it is."""


def essence(command: str) -> tuple[str, ...]:
    """A command as words without what changes only the output; `python3 -m pytest` and `pytest` are the same.

    A line that no shell would read is its own essence.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return (" ".join(command.split()),)
    kept: list[str] = []
    skip = leading = False
    for word in _bare(words):
        if skip:
            skip = False
            continue
        if not kept and _ENV.fullmatch(word):
            name, _, value = word.partition("=")
            if (name == "PYTEST_ADDOPTS" and _harmless(value)) or (name.startswith("PYTHON") and name != "PYTHONPATH"):
                continue
        if _PYTHON.fullmatch(word) and not leading:
            kept.append("python")
            leading = True
        elif kept and word in _QUIET_WITH_VALUE:
            skip = True
        elif not (kept and _QUIET.fullmatch(word)):
            kept.append(word)
    return tuple(kept[2:] if kept[:3] == ["python", "-m", "pytest"] else kept)


def _bare(words: list[str]) -> list[str]:
    """Without prefixes that run the rest; `-p no:cacheprovider` as one word."""
    start = next((i for i, w in enumerate(words) if not _ENV.fullmatch(w)), 0)
    rest = words[start:]
    for _ in range(3):
        found = next((p for p in _PREFIXES if tuple(rest[: len(p)]) == p and len(rest) > len(p)), None)
        if found is None or rest[len(found)].startswith("-"):
            break
        rest = rest[len(found) :]
    joined: list[str] = []
    for word in rest:
        if joined and joined[-1] == "-p" and word == "no:cacheprovider":
            joined[-1] = "-pno:cacheprovider"
        else:
            joined.append(word)
    return [*words[:start], *joined]


def _harmless(options: str) -> bool:
    try:
        words = shlex.split(options)
    except ValueError:
        return False
    values = {i + 1 for i, w in enumerate(words) if w in _QUIET_WITH_VALUE}
    return all(i in values or w in _QUIET_WITH_VALUE or _QUIET.fullmatch(w) for i, w in enumerate(words))
