"""What `make` runs for the suites, before and after: a line whose failure counts no more, or that is not run any more."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.formats.makefile import NAMES, Command, Makefile, read_makefile

_CALL = re.compile(r"(?:^|[\s;&|(])(?:[\w./-]*/)?g?make\b((?:[ \t]+[^\s;&|()]+)*)")
_IDLE = re.compile(r"(?:true|:|echo|printf|/bin/(?:true|echo)|exit 0|test -n|sleep|cat /dev/null)(?:\s|$)")
_CHORE = re.compile(
    r"(?:sudo\s+)?(?:rm|mkdir|cp|mv|ln|find|git|docker|podman|chmod|touch|pip|uv|npm (?:ci|install)|cd \S+$)(?:\s|$)"
)
_CONTROL = re.compile(r"\|\||(?<![|])\|(?![|])|;|(?<![&>])&(?![&>])|^\s*(?:if|!|while|until|for|case)\b")
_INTERPRETERS = re.compile(r"(?:python|py|node|sh|bash|dash|go|npm|npx|pytest|tox|nox|uv|cargo|ruby|perl)[\d.]*")
_MAX_GOALS = 50


def make_targets(situation: Situation) -> list[Finding]:
    """One finding for each Makefile whose goals, as the suites name them, can fail less."""
    out = []
    for folder, goals in _goals(situation).items():
        found = _judge(situation, folder, goals)
        if found is not None:
            out.append(found)
    return out


def _goals(situation: Situation) -> dict[str, list[str]]:
    """Folder -> goals, for every call of make in the suites' commands and the scripts that they run on the target branch."""
    table: dict[str, list[str]] = {}
    texts = [(s.command, s.workdir) for s in situation.evidence.suites]
    called = [p for p in situation.instruments.scripts if p.endswith((".sh", ".bash"))]
    texts += [(situation.source(p, base=True) or "", ".") for p in called]
    for text, workdir in texts:
        for folder, goals in _calls(text, workdir):
            named = table.setdefault(folder, [])
            named += [g for g in goals if g not in named][:_MAX_GOALS]
    return table


def _calls(text: str, workdir: str) -> Iterator[tuple[str, list[str]]]:
    for match in _CALL.finditer(text[:200_000]):
        words = match[1].split()
        folder, goals, skip = workdir, [], False
        for at, word in enumerate(words):
            if skip:
                skip = False
            elif word in ("-C", "--directory") and at + 1 < len(words):
                folder, skip = posixpath.join(workdir, words[at + 1]), True
            elif word in ("-f", "-j", "-o", "-W", "--file"):
                skip = at + 1 < len(words) and not (word == "-j" and not words[at + 1].isdigit())
            elif not word.startswith("-") and "=" not in word:
                goals.append(word)
        yield posixpath.normpath(folder), goals


def _judge(situation: Situation, folder: str, named: list[str]) -> Finding | None:
    sides = []
    for base in (True, False):
        read = partial(situation.source, base=base)
        places = [posixpath.normpath(posixpath.join(folder, n)) for n in NAMES]
        path = next((p for p in places if read(p) is not None), None)
        made = read_makefile(path, read) if path else None
        if path is None or made is None:
            return None  # gone, or never there: the suite itself says so
        sides.append((path, made))
    (old_path, old), (path, new) = sides
    touched = [p for p in (path, old_path, *new.included, *old.included) if p in situation.changed]
    if not touched or situation.permits((PermitKind.CHANGE_INSTRUMENTS,), path=touched[0]):
        return None
    entries = situation.evidence.merged.entries
    lost = lost_of(old, new, named, entries)
    if not lost:
        return None
    message = f"{touched[0]}: {'; '.join(lost[:4])}."
    return finding("VERIFY_SCRIPT_WEAKENED", message, path=touched[0], evidence="\n".join(lost), key="; ".join(sorted(lost)))  # fmt: skip


def lost_of(old: Makefile, new: Makefile, named: Iterable[str], entries: Iterable[str] = ()) -> list[str]:
    """What making the goals no longer shows, in words. `entries`: files of the new tree."""
    goals = list(named)
    before, after = old.commands(old.goals(goals)), new.commands(new.goals(goals))
    out = [s for s in new.switches() if s not in old.switches()]
    bare = old.phony() - new.phony()
    out += [
        f"{n} is a file of the tree, so that make finds nothing to do"
        for n in new.reached(new.goals(goals))
        if n in bare and _there(n, entries)
    ]
    counts = [c for c in before if not c.ignored and not c.conditional and _tries(c.text)]
    strict = Counter(c.text for c in after if not c.ignored and not c.conditional)
    missing: list[Command] = []
    for command in counts:
        if strict[command.text]:
            strict[command.text] -= 1
        else:
            missing.append(command)
    gained = [c for c in after if c.text not in {b.text for b in before} and _tries(c.text)]
    spare = 0
    for c in gained:
        spare += not c.ignored and not _CONTROL.search(c.text)
    for command in missing:
        twin = next((c for c in after if c.text == command.text), None)
        kept = next((c for c in gained if _contains(c.text, command.text)), None)
        if twin is not None:
            what = "make ignores the failure of" if twin.ignored else "only under a condition make runs"
            out.append(f"{what} `{command.text[:120]}`")
        elif kept is not None and not kept.ignored and _whole(kept.text, command.text):
            spare -= 1
        elif kept is not None:
            out.append(f"`{command.text[:120]}` became `{kept.text[:120]}`")
        elif spare > 0:
            spare -= 1
            out += _other_program(command, gained, set(entries))
        else:
            weak = next((c for c in gained if c.ignored), None)
            out.append(
                f"make ignores the failure of `{weak.text[:120]}`"
                if weak
                else f"`{command.text[:120]}` is no longer run"
            )
    return list(dict.fromkeys(out))


def _there(name: str, entries: Iterable[str]) -> bool:
    return any(e == name or e.startswith(f"{name}/") for e in entries)


def _tries(text: str) -> bool:
    """A line that can show a fault: no message, no cleaning up, nothing that always succeeds."""
    return not _IDLE.match(text) and not _CHORE.match(text)


def _contains(line: str, command: str) -> bool:
    at = line.find(command)
    end = at + len(command)
    return (
        at >= 0
        and (at == 0 or not re.match(r"[\w./-]", line[at - 1]))
        and (end == len(line) or not line[end].isalnum())
    )


def _whole(line: str, command: str) -> bool:
    """The line runs the command, with words more or after other steps, and ends as it ends."""
    head, _, tail = line.partition(command)
    if _CONTROL.search(line) and not _CONTROL.search(command):
        return re.fullmatch(r"\s*set -e\w*(?: -?o pipefail|\s-u)?\s*;\s*", head) is not None and not _CONTROL.search(
            tail
        )
    steps = [s.strip() for s in head.split("&&")]
    return not _IDLE.match(steps[-1] or "x") and re.fullmatch(r"(?:(?:\w+=\S*|env|time|nice|exec)(?:\s+|$))*", steps[-1]) is not None  # fmt: skip


def _other_program(command: Command, gained: list[Command], entries: set[str]) -> list[str]:
    """A file of the tree in the place of the interpreter or the runner."""
    program = command.text.split()[0]
    if not _INTERPRETERS.fullmatch(posixpath.basename(program)):
        return []
    rest = command.text[len(program) :]
    for one in gained:
        first = one.text.split()[0]
        if one.text[len(first) :] == rest and posixpath.normpath(first) in entries:
            return [f"{first} stands for {program}"]
    return []
