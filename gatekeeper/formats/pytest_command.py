"""What a command line says of pytest's JUnit report: whether it is pytest, where it writes one, how to make it write one."""

from __future__ import annotations

import re
import shlex

from gatekeeper.formats.command_lines import essence

_SHELL = re.compile(r"[;&|<>()$`*?\[\]{}~#!\n\\]")
"""Marks by which a shell makes something else of a line than its words."""
_OPTIONS = ("--junitxml", "--junit-xml")


def is_pytest(command: str) -> bool:
    """The whole command is one start of pytest; never true for a line that needs a shell to be understood."""
    if _SHELL.search(_unquoted(command)):
        return False
    words = essence(command)
    at = next((i for i, w in enumerate(words) if not re.match(r"[A-Za-z_]\w*=", w)), len(words))
    rest = words[at + 2 :] if words[at : at + 2] == ("python", "-m") else words[at:]
    return bool(rest) and rest[0].rpartition("/")[2] in ("pytest", "py.test")


def _unquoted(command: str) -> str:
    """Without what stands in single quotes, where nothing has a meaning to the shell."""
    return re.sub(r"'[^']*'", "", command)


def report_of(command: str) -> str | None:
    """The path to which a pytest command says its report shall go, as it is written; None where it says nothing.

    The last one counts, as it does for pytest.
    """
    words, found = shlex.split(command), None
    for number, word in enumerate(words):
        if word == "--":
            break
        name, equals, value = word.partition("=")
        if name in _OPTIONS:
            found = value if equals else next(iter(words[number + 1 : number + 2]), None)
    return found or None


def renames(command: str) -> tuple[str, ...]:
    """Options of a pytest command by which its report names tests otherwise than a run without them does."""
    words = [word.partition("=")[0] for word in shlex.split(command)]
    return tuple(dict.fromkeys(w for w in words if w in ("--rootdir", "--junit-prefix", "--junitprefix")))


def takes_report(command: str) -> bool:
    """An option added at the end of the pytest command is understood as one, and pytest can write reports."""
    words = shlex.split(command)
    return not {"--", "no:junitxml", "-pno:junitxml"}.intersection(words)
