"""Scripts that a suite runs, and build files that start the runner: what in them loses results."""

from __future__ import annotations

import posixpath
import re
from collections import Counter

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.formats import pytest_settings
from gatekeeper.formats.shell_checks import is_shell, lost_checks

_BUILD = {"Makefile", "makefile", "GNUmakefile", "tox.ini", "noxfile.py", "package.json", "justfile", "Taskfile.yml"}
_RUNNER = re.compile(
    r"\b(?:pytest|py\.test|unittest|tox|nox|nose2?|jest|vitest|mocha|go test|cargo test|ctest|npm (?:run )?test|make \w+)\b"
)
_SIGNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a failure is turned into success", re.compile(r"\|\|\s*(?:true|:|exit\s+0|echo|/bin/true|return\s+0|\()|;\s*(?:true|:)\s*(?:$|[;)}])")),
    ("the script ends with success whatever happened", re.compile(r"(?:^|[;&{\s])exit\s+0\b|(?:^|[;&]\s*)return 0\b|sys\.exit\(0?\)|os\._exit\(")),
    ("errors no longer stop the script", re.compile(r"\bset\s+\+[a-z]*e|\bset\s+\+o\s+(?:errexit|pipefail)")),
    ("a trap replaces the exit status", re.compile(r"\btrap\b.*\b(?:exit|return)\b\s*(?:0|['\"])")),
    ("assertions are switched off", re.compile(r"python[\d.]*\s+(?:-\w+\s+)*-\w*O|PYTHONOPTIMIZE|--assert[= ]plain|-o\s+python_files")),
    ("the runner's options come from the environment", re.compile(r"\bPYTEST_ADDOPTS=|\bPYTEST_PLUGINS=")),
    ("another program may stand for the runner", re.compile(
            r"\bPATH=(?![\"']?[\w$./{}-]*(?:venv|env|node_modules/\.)[\w./-]*:)|\balias\s+\w+="
            r"|\bPYTHONPATH=(?![\"']?(?:\./|\$PWD/|\$\(pwd\)/)?(?:src|lib|\.)[\"']?(?:[:\s]|$))|\b(?:pytest|python[\d.]*)\s*\(\)"
        )),
    ("the runner goes to the background", re.compile(r"(?<![&>|])&\s*$")),
    ("a failing line is ignored by make or tox", re.compile(r"^\s*-\s*(?:@?\s*)(?:python|pytest|\$\()|ignore_(?:errors|outcome)\s*=\s*[Tt]rue")),
)  # fmt: skip
_OF_RUNNER = ("a failure is turned into success", "the runner goes to the background")
_CHORE = re.compile(
    r"[@-]*\s*(?:sudo\s+)?(?:rm|mkdir|cp|mv|ln|docker|podman|kill|pkill|git|find|command|which|cd|echo|printf|chmod|touch|unset"
    r"|redis-server|postgres|nginx|\w+=\$\(|python[\d.]*\s+-m\s+http\.server)\b"
)
_PIPE = re.compile(r"(?:pytest|unittest)[^|\n]*\|(?!\|)")


def scripts(situation: Situation) -> list[Finding]:
    """One finding for each script that got weaker. A comment or a step more is none."""
    out = []
    for path, changed in situation.changed.items():
        script = situation.kind(path) is InstrumentKind.SCRIPT and not path.endswith(".py")
        if changed.old is None or not (script or posixpath.basename(path) in _BUILD):
            continue
        if situation.permits((PermitKind.CHANGE_INSTRUMENTS,), path=path):
            continue
        before, after = situation.source(path, base=True), situation.source(path)
        if before is None:
            continue
        if after is None:
            if script:
                out.append(finding("VERIFY_SCRIPT_WEAKENED", f"{path}, which the suite runs, is gone.", path=path))
            continue
        lost = weaker(before, after)
        if script and not lost and is_shell(path, before):
            said = situation.permits((PermitKind.CHANGE_EXPECTATIONS, PermitKind.REMOVE_TESTS), path=path)
            lost += [] if said else lost_checks(before, after)
        if script and changed.new is not None and changed.old.mode == "100755" and changed.new.mode == "100644":
            lost.append("it can no longer be executed")
        if lost:
            line = _line(before, after)
            out.append(finding("VERIFY_SCRIPT_WEAKENED", f"{path}: {'; '.join(lost[:4])}.", path=path, line=line, evidence="\n".join(lost), key="; ".join(sorted(lost))))  # fmt: skip
    return out


def weaker(before: str, after: str) -> list[str]:
    """What the new text takes away, in words."""
    old, new = _code_lines(before), _code_lines(after)
    added = list((Counter(new) - Counter(old)).elements())
    out = []
    for what, pattern in _SIGNS:
        more = sum(len(pattern.findall(x)) for x in new) > sum(len(pattern.findall(x)) for x in old)
        if more and any(pattern.search(x) for x in added):
            if what.startswith("another program") and _same_paths(old, new):
                continue
            if what in _OF_RUNNER and not any(pattern.search(x) and not _chore(x) for x in added):
                continue
            out.append(what)
    old_runs, new_runs = [x for x in old if _runs(x)], [x for x in new if _runs(x)]
    if len(new_runs) < len(old_runs) and len({_shape(x) for x in new_runs}) < len({_shape(x) for x in old_runs}):
        out.append("it no longer starts the test runner as before")
    if _strict(old) and not _strict(new):
        out.append("errors no longer stop the script (set -e is gone)")
    if any(_PIPE.search(x) for x in added) and not any("pipefail" in x for x in new):
        out.append("the runner's exit status is lost in a pipe")
    out += _options(old_runs, new_runs)
    out += _order(new) if not _order(old) else []
    return list(dict.fromkeys(out))


def _chore(line: str) -> bool:
    """A step that is no check: cleaning up, starting a helper program, asking what is installed."""
    return not _runs(line) and bool(_CHORE.match(line))


def _code_lines(text: str) -> list[str]:
    joined = re.sub(r"\\\n\s*", " ", text[:500_000])
    lines = [re.sub(r"(?:^|\s)#.*$", "", x).strip() for x in joined.splitlines()]
    return [re.sub(r"\s+", " ", x) for x in lines if x]


def _runs(line: str) -> bool:
    return bool(_RUNNER.search(line)) and not re.match(r"@?(?:echo|printf|:)\b", line)


def _shape(line: str) -> str:
    return line.removeprefix("exec ").strip()


def _same_paths(old: list[str], new: list[str]) -> bool:
    find = re.compile(r"\b(?:PYTHON)?PATH=\S+")
    return {m for x in new for m in find.findall(x)} <= {m for x in old for m in find.findall(x)}


def _strict(lines: list[str]) -> bool:
    return any(re.match(r"set -\w*e|set -o errexit", x) or (x.startswith("#!") and " -e" in x) for x in lines)


def _order(lines: list[str]) -> list[str]:
    """An `exit` or `exec` of something else before the runner starts."""
    for line in lines:
        if _runs(line):
            return []
        if re.match(r"(?:exit\b(?!\s+[1-9])|exec\s)", line):
            return ["it ends before the test runner starts"]
    return []


def _options(old: list[str], new: list[str]) -> list[str]:
    def pairs(lines: list[str]) -> list[tuple[str, str]]:
        out = []
        for line in lines:
            tail = re.split(r"\b(?:pytest|py\.test)\b", line, maxsplit=1)
            words = pytest_settings.split_words(tail[1]) if len(tail) > 1 else []
            out += pytest_settings.option_pairs([w for w in words if w not in ("||", "&&", "true", ":", ";")])
        return out

    before, after = pairs(old), pairs(new)
    if not after:
        return []
    out = [
        f"option {n} {v}".strip() + " was added to the runner"
        for n, v in after
        if (n, v) not in before and n and pytest_settings.weak_option(n, v)
    ]
    paths = [
        {v.rstrip("/") for n, v in side if not n and not v.startswith(("$", ">", "2>", '"$'))}
        for side in (before, after)
    ]
    if (
        paths[1]
        and (not paths[0] or not any(a.startswith(b) for a in paths[0] for b in paths[1]))
        and paths[0] != paths[1]
    ):
        if not paths[0] or any("::" in p or p.endswith(".py") for p in paths[1]) or paths[1] < paths[0]:
            out.append(f"the runner is given only {', '.join(sorted(paths[1])[:3])}")
    elif paths[1] < paths[0]:
        out.append(f"the runner is no longer given {', '.join(sorted(paths[0] - paths[1])[:3])}")
    return out


def _line(before: str, after: str) -> int | None:
    old = Counter(before.splitlines())
    for number, line in enumerate(after.splitlines(), 1):
        if not old[line]:
            return number
    return None
