"""What `make` would run for a goal, read from the text of a Makefile without running it.

Enough of the language to compare two versions: rules (the last recipe of a target counts), variables, conditionals as
possibilities, `include` of files of the tree. What it cannot know it leaves as it is written.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable

from gatekeeper.records import dataclass, field

NAMES = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which make looks for them."""
MAX_CHARACTERS = 300_000
_MAX_COMMANDS = 2000
_MAX_EXPANDED = 2000
_MAX_REFERENCES = 40
_DEPTH = 8
_ASSIGNED = re.compile(
    r"^(?:(?:export|override|private|unexport)\s+)*(?P<name>[\w.\-/]+)\s*(?P<how>:::=|::=|:=|\?=|\+=|!=|=)\s*(?P<value>.*)$"
)
_RULE = re.compile(r"^(?P<targets>[^:=#\t]+)(?P<colons>::?)(?!=)(?P<rest>.*)$")
_INCLUDE = re.compile(r"^\s*(?:-include|sinclude|include)\s+(.*)$")
_REFERENCE = re.compile(r"\$\(([\w.\-]+)\)|\$\{([\w.\-]+)\}")
_CONDITION = re.compile(r"^\s*(ifeq|ifneq|ifdef|ifndef|else|endif)\b")
_PREFIX = re.compile(r"^[@+\-\s]*")
_AGAIN = re.compile(r"(?:^|[;&|]\s*)(?:make|gmake)\b((?:\s+[\w./=:-]+)*)")


@dataclass(frozen=True, slots=True)
class Command:
    """One line of a recipe as the shell would get it."""

    text: str
    ignored: bool
    """True where make goes on when it fails."""
    conditional: bool
    """True where it stands in one branch of a conditional alone."""


@dataclass(slots=True)
class _Target:
    needs: list[str] = field(default_factory=list)
    recipe: list[tuple[str, bool]] = field(default_factory=list)


@dataclass(slots=True)
class Makefile:
    """The rules and variables of one Makefile."""

    targets: dict[str, _Target] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    own: dict[tuple[str, str], str] = field(default_factory=dict)
    """(target, variable) -> value for that target alone."""
    first: str = ""
    included: list[str] = field(default_factory=list)
    """Files of the tree that it includes, directly or not."""

    def phony(self) -> set[str]:
        """Targets that run although a file of their name is there."""
        return set(self.targets[".PHONY"].needs) if ".PHONY" in self.targets else set()

    def goals(self, named: Iterable[str]) -> list[str]:
        """The named ones; where none is named, what a bare `make` makes."""
        return list(named) or [n for n in (self.variables.get(".DEFAULT_GOAL", self.first),) if n]

    def reached(self, goals: Iterable[str]) -> list[str]:
        """The goals and all targets that they need, or that their recipes make in turn."""
        found: dict[str, None] = {}
        waiting = list(goals)
        while waiting and len(found) < _MAX_COMMANDS:
            name = waiting.pop(0)
            if name in found:
                continue
            found[name] = None
            target = self.targets.get(name)
            if target is None:
                continue
            waiting += [w for n in target.needs for w in self._expanded(n, name).split() if w != "|"]
            for line, _ in target.recipe:
                for match in _AGAIN.finditer(self._plain(line, name)):
                    waiting += [w for w in match[1].split() if not w.startswith("-") and "=" not in w]
        return list(found)

    def commands(self, goals: Iterable[str]) -> list[Command]:
        """All lines that making the goals runs, variables put in."""
        out: list[Command] = []
        every = self._ignores_all()
        ignoring = set(self.targets[".IGNORE"].needs) if ".IGNORE" in self.targets else set()
        for name in self.reached(goals):
            target = self.targets.get(name)
            for line, conditional in target.recipe if target else ():
                text = self._expanded(line, name)
                prefix = _PREFIX.match(text)
                marks = prefix[0] if prefix else ""
                command = " ".join(text[len(marks) :].split())
                if command and len(out) < _MAX_COMMANDS:
                    out.append(Command(command, "-" in marks or every or name in ignoring, conditional))
        return out

    def switches(self) -> list[str]:
        """What changes how recipes run, in words."""
        out = []
        flags = " ".join(self.variables.get(n, "") for n in ("MAKEFLAGS", "GNUMAKEFLAGS"))
        words = _dashed(flags)
        for letter, long, what in (
            ("k", "--keep-going", "make goes on after a failure"),
            ("n", "--just-print", "make only prints"),
            ("n", "--dry-run", "make only prints"),
            ("t", "--touch", "make only touches"),
            ("q", "--question", "make only asks"),
        ):
            if any(w == long or re.fullmatch(rf"-[a-zA-Z]*{letter}[a-zA-Z]*", w) for w in words):
                out.append(what)
        shell = self.variables.get("SHELL", "")
        if shell and not re.search(r"(?:^|[/\s)])(?:ba|da|z|k|a)?sh(?:\.exe)?\s*$", shell):
            out.append(f"another program stands for the shell ({shell[:80]})")
        options = self.variables.get(".SHELLFLAGS", "-c")
        if "c" not in "".join(w for w in options.split() if re.fullmatch(r"-[a-z]+", w)):
            out.append("the shell gets no command (.SHELLFLAGS)")
        if ".ONESHELL" in self.targets and not re.search(r"(?:^|\s)-[a-z]*e", options):
            out.append("of a recipe only the last line's status counts (.ONESHELL)")
        if self._ignores_all():
            out.append("make ignores every failure")
        return list(dict.fromkeys(out))

    def _ignores_all(self) -> bool:
        ignore = self.targets.get(".IGNORE")
        if ignore is not None and not ignore.needs:
            return True
        words = _dashed(" ".join(self.variables.get(n, "") for n in ("MAKEFLAGS", "GNUMAKEFLAGS")))
        return any(w == "--ignore-errors" or re.fullmatch(r"-[a-zA-Z]*i[a-zA-Z]*", w) for w in words)

    def _plain(self, line: str, target: str) -> str:
        return _PREFIX.sub("", self._expanded(line.replace("$(MAKE)", "make").replace("${MAKE}", "make"), target))

    def _expanded(self, text: str, target: str) -> str:
        """`text` with the variables that are known; at most `_MAX_EXPANDED` characters, at most `_DEPTH` deep."""
        text = text[:_MAX_EXPANDED]
        for _ in range(_DEPTH):
            changed = _REFERENCE.sub(lambda m: self._value(m[1] or m[2], target, m[0]), text, count=_MAX_REFERENCES)
            changed = changed[:_MAX_EXPANDED]
            if changed == text:
                break
            text = changed
        return text

    def _value(self, name: str, target: str, written: str) -> str:
        if (target, name) in self.own:
            return self.own[target, name]
        return self.variables.get(name, written)


def read_makefile(path: str, read: Callable[[str], str | None]) -> Makefile | None:
    """The Makefile at `path`; `read` gives the text of a file of the tree. None where it is missing."""
    source = read(path)
    if source is None:
        return None
    made = Makefile()
    _read(made, source, posixpath.dirname(path), read, 0)
    return made


def _read(made: Makefile, source: str, folder: str, read: Callable[[str], str | None], depth: int) -> None:
    current: list[str] = []
    branches: list[bool] = []  # of open conditionals: whether the other branch has been seen
    kept: dict[str, bool] = {}
    define = ""
    for line in _lines(source):
        if define:
            if line.strip() == "endef":
                define = ""
            else:
                made.variables[define] = f"{made.variables.get(define, '')}\n{line}".strip()[:_MAX_EXPANDED]
            continue
        if match := re.match(r"^\s*(?:override\s+|export\s+)*define\s+([\w.\-]+)", line):
            define = match[1]
            made.variables[define] = ""
            continue
        if match := _CONDITION.match(line):
            if match[1] == "endif":
                branches[-1:] = []
            elif match[1] == "else":
                branches[-1:] = [True]
            else:
                branches.append(False)
            continue
        if line.startswith("\t"):
            for name in current:
                target = made.targets[name]
                if not kept[name]:
                    target.recipe, kept[name] = [], True
                target.recipe.append((line[1:], bool(branches) and not all(branches)))
            continue
        line = re.sub(r"(?:^|\s)#.*$", "", line).rstrip()  # noqa: PLW2901
        if not line.strip():
            continue
        if match := _INCLUDE.match(line):
            for word in made._expanded(match[1], "").split():
                inner = posixpath.normpath(posixpath.join(folder, word))
                text = read(inner) if depth < _DEPTH and len(made.included) < _DEPTH * _DEPTH else None
                if text is not None:
                    made.included.append(inner)
                    _read(made, text, folder, read, depth + 1)
            continue
        if match := _ASSIGNED.match(line.strip()):
            _assign(made, match, "")
            continue
        if match := _RULE.match(line):
            current = _rule(made, match)
            kept = dict.fromkeys(current, match["colons"] == "::")
            _, semicolon, inline = match["rest"].partition(";")
            if semicolon:
                for name in current:
                    made.targets[name].recipe = [(inline.strip(), bool(branches))]
                    kept[name] = True


def _dashed(flags: str) -> list[str]:
    """Words of MAKEFLAGS; letters at its beginning count as options without their dash."""
    words = flags.split()
    return [f"-{w}" if i == 0 and re.fullmatch(r"[a-zA-Z]{1,6}", w) else w for i, w in enumerate(words)]


def _lines(source: str) -> list[str]:
    return re.sub(r"\\\r?\n[ \t]*", " ", source[:MAX_CHARACTERS]).splitlines()


def _rule(made: Makefile, match: re.Match[str]) -> list[str]:
    names = made._expanded(match["targets"], "").split()
    rest = match["rest"].partition(";")[0]
    if own := _ASSIGNED.match(rest.strip()):
        for name in names:
            _assign(made, own, name)
        return []
    for name in names:
        target = made.targets.setdefault(name, _Target())
        target.needs += made._expanded(rest, name).split()
        if not made.first and not name.startswith(".") and "%" not in name:
            made.first = name
    return names


def _assign(made: Makefile, match: re.Match[str], target: str) -> None:
    name, how, value = match["name"], match["how"], match["value"].strip()
    if how == "!=":
        value = f"$(shell {value})"
    before = made.own.get((target, name)) if target else None
    before = made.variables.get(name) if before is None else before
    if how == "?=" and before is not None:
        return
    if how == "+=" and before:
        value = f"{before} {value}"
    # A variable that is put into itself would never end.
    value = value.replace(f"$({name})", before or "").replace(f"${{{name}}}", before or "")[:_MAX_EXPANDED]
    if target:
        made.own[target, name] = value
    else:
        made.variables[name] = value
