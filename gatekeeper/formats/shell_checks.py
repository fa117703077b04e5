"""What a shell script checks, line by line, and what a new version of it no longer checks. Read, never run.

A script that only grew is as strict as before when what came can only fail more: lines between those of before, with no
way to end early, to hide a failure or to give another meaning to a word that the old lines use.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import islice

MAX_CHARACTERS = 200_000
_MAX_LINES = 1500
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_]\w*)\1")
_FAILS = re.compile(
    r"(?:^|[\s;&|{(])(?:(?:exit|return)\s+(?:[1-9]|\"?\$)|false(?:[\s;})]|$)|(?:\[\[?|test|diff|cmp|grep|comm)\s)|\b(?:die|fail|bail)\w*\b"
)
_EXACT = re.compile(
    r"\[\[?\s.*\s(?:==?|!=|-eq|-ne)\s|(?:^|[\s!(&|;])test\s.*\s(?:==?|!=|-eq|-ne)\s|\b(?:diff|cmp)\b|grep\s+(?:-\w*\s+)*-\w*[xF]"
)
_ENDS = re.compile(r"(?:^|[\s;&|{(])(?:(?:exit|return)\s+(?:[1-9]|\"?\$)|false(?:[\s;})]|$))|\b(?:die|fail|bail)\w*\b")
_ASKS = re.compile(r"(?:if|elif|while|until)\b")
_VALUE = re.compile(r"\"((?:[^\"\\$`]|\\.)*)\"|'([^']*)'|(?<![\w$])(-?\d[\w.]*)")
_MESSAGE = re.compile(r"\b(?:echo|printf)\b[^;|&}]*")
_FUNCTION = re.compile(r"^(?:function\s+([\w.:-]+)\s*(?:\(\s*\))?|([\w.:\[-]+)\s*\(\s*\))\s*(.*)$")
_ASSIGNED = re.compile(r"^(?:(?:export|readonly|local|declare)\s+)?([A-Za-z_]\w*)=(.*)$")
_OPENS = re.compile(
    r"(?:^|[;&|{(]\s*|\b(?:then|do|else)\s+)(if|case|for|while|until|select)\b|(?:^|\s)(\{|\()(?=\s|$)|\)\s*(\{)\s*$"
)
_CLOSES = re.compile(r"(?:^|[;\s])(fi|esac|done)\b|(?:^|[;\s])([})])(?=\s|[;&|)>]|$)")
_SHELLS = (".sh", ".bash", ".bats", ".ksh", ".zsh")


def is_shell(path: str, source: str) -> bool:
    """A script of a shell, by its name or its first line."""
    name = path.rsplit("/", 1)[-1]
    return name.endswith(_SHELLS) or re.match(r"#!.*\b(?:ba|da|z|k|a)?sh\b", source) is not None


def code_lines(source: str) -> list[str]:
    """Lines of code: comments, blank lines and the texts of here-documents left out, white space as one blank."""
    joined = re.sub(r"\\\n[ \t]*", " ", source[:MAX_CHARACTERS])
    out: list[str] = []
    waiting: list[str] = []
    for line in joined.splitlines()[:_MAX_LINES]:
        if waiting:
            if line.strip() == waiting[0]:
                waiting.pop(0)
            continue
        text = " ".join(re.sub(r"(?:^|\s)#.*$", "", line).split())
        if text:
            out.append(text)
            waiting = [m[2] for m in _HEREDOC.finditer(text)]
    return out


def lost_checks(before: str, after: str) -> list[str]:
    """What the new version no longer checks, in words; empty where it is as strict."""
    old, new = code_lines(before), code_lines(after)
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    pairs = [(b.a + i, b.b + i) for b in blocks for i in range(b.size)]
    kept_old, kept_new = {a for a, _ in pairs}, {b for _, b in pairs}
    gone = list((Counter(old) - Counter(new)).elements())
    come = list((Counter(new) - Counter(old)).elements())
    out = [
        *_redefined(old, [new[i] for i in range(len(new)) if i not in kept_new]),
        *_asked_no_more(gone, come),
        *_fewer(gone, come),
        *_enclosed(old, new, pairs),
    ]
    if not out and len(kept_old) == len(old):
        out += _overwritten(old, new, kept_new)
    return list(dict.fromkeys(out))


def _redefined(old: list[str], added: list[str]) -> list[str]:
    known = {m[1] or m[2] for x in old if (m := _FUNCTION.match(x))}
    used = {w for x in old for w in re.findall(r"[\w.\[-]+", x)}
    names = [m[1] or m[2] for x in added if (m := _FUNCTION.match(x))]
    names += [m[1] for x in added for m in re.finditer(r"\balias\s+(?:-\w+\s+)?['\"]?([\w.\[-]+)=", x)]
    out = [f"{n} is defined anew, which older lines call" for n in names if n in used or n in known]
    if any(re.match(r"set -\w*n|set -o noexec", x) for x in added):
        out.append("its lines are only read (set -n)")
    return out


def _asked_no_more(gone: list[str], come: list[str]) -> list[str]:
    """A result of the program that is a fixed text now."""
    asked = {m[1] for x in gone if (m := _ASSIGNED.match(x)) and re.search(r"\$\(|`", m[2])}
    again = {m[1] for x in come if (m := _ASSIGNED.match(x)) and re.search(r"\$\(|`", m[2])}
    fixed = {m[1] for x in come if (m := _ASSIGNED.match(x))}
    return [f"{n} no longer holds what a program said" for n in sorted((asked & fixed) - again)]


def _fewer(gone: list[str], come: list[str]) -> list[str]:
    """Checks that went without one as strict in their place."""
    out = []
    functions = {m[1] or m[2] for x in come if (m := _FUNCTION.match(x))}
    calls = [x for x in come if x.split(" ", 1)[0] in functions]
    came = [c for x in come if _FAILS.search(c := _MESSAGE.sub("", x)) and not _constant(c)]
    hard = sum(bool(_ENDS.search(x)) for x in came)
    came = [x for x in came if not _ASKS.match(x) or hard > 0]  # a question alone fails nothing
    values = {v for x in come for v in _values(_MESSAGE.sub("", x))}
    equal = sum(_says_equal(x) for x in came) + len(calls)
    exact = sum(bool(_EXACT.search(x)) for x in came) + len(calls)
    every = len(came) + len(calls)
    for line in gone:
        check = _MESSAGE.sub("", line)
        if not _FAILS.search(check):
            continue
        strict, same = bool(_EXACT.search(check)), _says_equal(check)
        if (same and equal > 0 < exact) or (strict and not same and exact > 0) or (not strict and every > 0):
            equal, exact, every = equal - same, exact - strict, every - 1
        elif not _values(check) or not _values(check) <= values or strict:
            out.append(f"`{line[:120]}` no longer fails it")
    return out[:20]


def _says_equal(check: str) -> bool:
    """It fails where the two sides differ: `[ a = b ] || exit 1`, `if [ a != b ]; then exit 1`."""
    if not _EXACT.search(check):
        return False
    differs = re.search(r"\s(?:!=|-ne)\s", check) is not None
    turned = bool(_ASKS.match(check)) or ("&&" in check and "||" not in check)
    return differs == turned


def _constant(check: str) -> bool:
    """A comparison of two texts that are written down."""
    match = re.search(r"\[\[?\s(.*?)\s\]", check)
    return (
        match is not None
        and re.search(r"[$`]", match[1]) is None
        and re.search(r"\s(?:==?|!=)\s", match[1]) is not None
    )


def _values(text: str) -> set[str]:
    found = {m[1] or m[2] or m[3] or "" for m in _VALUE.finditer(text)}
    return {v for v in found if v.strip() and v not in ("0", "1", "2")}


def _enclosed(old: list[str], new: list[str], pairs: list[tuple[int, int]]) -> list[str]:
    """Lines that stood by themselves and now stand in a block that need not run, or whose failure counts for nothing."""
    before, after = _depths(old), _depths(new)
    kept = {b for _, b in pairs}
    called = {x.split(" ", 1)[0] for x in new}
    for a, b in pairs:
        if not _counts(old[a]) or len(after[b]) <= len(before[a]):
            continue
        for opener in after[b]:
            line = new[opener]
            if opener in kept:
                continue
            if (m := _FUNCTION.match(line)) and (m[1] or m[2]) in called:
                continue
            if re.match(r"for \w+ in \S", line) or re.fullmatch(r"[({]", line):
                continue
            return [f"`{old[a][:100]}` runs only within `{line[:100]}`"]
    return []


def _counts(line: str) -> bool:
    return not _CLOSES.fullmatch(line) and line not in ("then", "else", "do", "{", "(", "fi", "done", "esac", "}", ")")


def _depths(lines: list[str]) -> list[tuple[int, ...]]:
    """For each line the indexes of the lines that open the blocks around it."""
    out: list[tuple[int, ...]] = []
    stack: list[int] = []
    for index, line in enumerate(lines):
        bare = re.sub(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'|\$\([^()]*\)|\$\{[^}]*\}", "x", line)
        opened = len(_OPENS.findall(bare)) + (
            1 if _FUNCTION.match(bare) and bare.endswith("{") and not _OPENS.search(bare) else 0
        )
        closed = len(_CLOSES.findall(bare))
        if opened <= closed:
            for _ in range(closed - opened):
                stack[-1:] = []
            out.append(tuple(stack))
        else:
            out.append(tuple(stack))
            stack += [index] * (opened - closed)
    return out


def _overwritten(old: list[str], new: list[str], kept: set[int]) -> list[str]:
    """An added line gives a variable of an older line another value before that line looks at it."""
    names = {m[1] for x in old if (m := _ASSIGNED.match(x))}
    loops = [(i, m[1]) for i, x in enumerate(new) if i not in kept and (m := re.match(r"for (\w+) in ", x))]
    added = [(i, m[1]) for i, x in enumerate(new) if i not in kept and (m := _ASSIGNED.match(x))]
    for index, name in islice((*added, *loops), _MAX_LINES):
        if name not in names:
            continue
        for later in range(index + 1, len(new)):
            assigned = _ASSIGNED.match(new[later])
            if later in kept and re.search(rf"\$\{{?{name}\b", new[later]):
                return [f"`{new[index][:100]}` stands before `{new[later][:100]}`"]
            if assigned and assigned[1] == name:
                break
    return []
