"""What stands around a checking line of CI: a line that is still there may never run, or count for nothing."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from gatekeeper.checks.config_weakening.ci_commands import CHECKING, COMMANDS, Row, program
from gatekeeper.checks.config_weakening.command_reach import LOST, as_much
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import workflow_yaml
from gatekeeper.records import dataclass

_MOST = 2_000
"""Blocks of one definition that are looked at."""


@dataclass(frozen=True)
class Block:
    """One script: the lines that one shell runs in turn, and the step or job in which they stand."""

    lines: tuple[str, ...]
    around: dict[str, Any]


def blocks(doc: Any) -> list[Block]:
    """Every script of a definition, lines folded, comments left out; lists of a job are one script after another."""
    found: list[Block] = []
    waiting, seen = [doc], 0
    while waiting and seen < 20_000 and len(found) < _MOST:
        node = waiting.pop()
        seen += 1
        if isinstance(node, dict):
            texts = [
                entry
                for key in ("before_script", "run", "script", "command", *sorted(COMMANDS))
                if key in COMMANDS and key in node and key != "after_script"
                for entry in (node[key] if isinstance(node[key], list) else [node[key]])
                if isinstance(entry, str)
            ]
            lines = tuple(row for entry in dict.fromkeys(texts) for row in _lines(entry))
            if lines:
                found.append(Block(lines, node))
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
    return found


def _lines(entry: str) -> list[str]:
    rows = (" ".join(r.split()) for r in entry.replace("\\\n", " ").splitlines())
    return [r for r in rows if r and not r.startswith("#")]


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Compiled when CI changes, which is seldom."""
    sources = {
        "leaves": r"(?:exit|return|logout)(?:\s+(?:0|\$\?))?;?|exec\s+(?:true|:|date|sleep)\b.*",
        "opens": r"(?:if|while|until|case|for|select)\b|.*\b(?:then|do)\s*$|[^#]*\{\s*$|.*\($",
        "closes": r"(?:(?:fi|done|esac)\b|[})]).*",
        "dead": r"(?:if|while)\s+(?:false|\[\s*(?:1\s*=+\s*0|0\s*=+\s*1|-n\s*(?:''|\"\"))\s*\]|!\s*(?:true|:))(?:\s*;.*|\s*)",
        "trap": r"trap\b.*\b(?:EXIT|ERR|0)\s*$",
        "lax": r"set\s+(?:-\w+\s+)*\+\w*e\w*\b.*|set\s+(?:.*\s)?\+o\s+(?:errexit|pipefail)\b.*",
        "heredoc": r".*<<-?\s*(['\"]?)(\w+)\1.*",
        "makes": r"(?:function\s+)?([\w.-]+)\s*\(\)\s*\{?.*|function\s+([\w.-]+)\b.*|alias\s+([\w.-]+)=.*",
        "path": r"(?:export\s+)?PATH=.*|hash\s+-p\b.*|(?:export\s+)?(?:BASH_ENV|PYTHONPATH|PYTEST_ADDOPTS|SHELLOPTS)=.*",
        "passes_on": r".*>>?\s*\"?'?(?:\$\{?GITHUB_(?:ENV|PATH)|\$env:GITHUB_(?:ENV|PATH)|\$BASH_ENV).*",
        "folder": r"(?:cd|pushd|popd)\b.*",
        "elsewhere": r"(?:source|\.|eval|exec)\s.*",
        "fails": r"(?:exit|return)\s+(?:[1-9]\d*|\$\??\w*)|\bfalse\b|\bkill\b|::error",
        "quoted": r"'[^']*'|\"[^\"]*\"",
    }
    return {name: re.compile(source, re.IGNORECASE if name == "dead" else 0) for name, source in sources.items()}


def swallowed(line: str, *, piped: bool) -> Effect | None:
    """BLOCKS where the failure of this line is lost for certain, ASKS where it may be; `piped`: a pipe fails with its parts."""
    p = _patterns()
    bare = p["quoted"].sub("Q", re.sub(r"\$\{\{.*?\}\}", "Q", line))
    if re.match(r"!\s", bare):
        return Effect.BLOCKS
    first, _, rest = bare.partition("||")
    if rest and not p["fails"].search(rest):
        return Effect.BLOCKS if CHECKING.search(first) else Effect.ASKS
    if rest and not CHECKING.search(first):
        return Effect.ASKS
    if not piped and re.search(r"(?<![|>])\|(?!\|)", bare):
        return Effect.BLOCKS if CHECKING.search(re.split(r"(?<!\|)\|(?!\|)", bare)[0]) else Effect.ASKS
    if re.match(r"(?:if|while|until)\b", bare) or re.match(r"(?:test|\[\[?)\s[^&;]*&&", bare):
        return Effect.ASKS
    code, _, comment = bare.partition(" #")
    return Effect.BLOCKS if comment and not CHECKING.search(code) and CHECKING.search(comment) else None


def around_checks(old: dict[str, Any], new: dict[str, Any]) -> list[Row]:
    """What joined a script that checks, or the step that holds it, and can keep a line from running or from counting."""
    had, rows = blocks(old), list[Row]()
    known = {line for block in had for line in block.lines}
    for block in blocks(new):
        checks = [line for line in block.lines if CHECKING.search(line)]
        kept = [line for line in checks if line in known]
        before = max(had, key=lambda b: len(set(b.lines) & set(block.lines)), default=None)
        if not kept or before is None or before.lines == block.lines:
            continue
        rows += _joined(before, block, set(kept))
    rows += _passed_on(known, new)
    return list(dict.fromkeys(rows))


def _joined(before: Block, block: Block, kept: set[str]) -> list[Row]:
    """New lines of a script that stand before a line that it had, judged one by one."""
    p, rows, depth = _patterns(), list[Row](), 0
    last = max(i for i, line in enumerate(block.lines) if line in kept)
    closing: str | None = None
    told = {word for line in kept for word in re.split(r"[\s/]+", line)}
    for at, line in enumerate(block.lines):
        fresh = line not in before.lines
        if closing is not None:
            if line in kept and line in before.lines:
                rows.append(
                    ("CI_CHECK_REMOVED", f"`{line[:100]}` is text for another command now: it never runs.", None)
                )
            closing = None if line == closing else closing
            continue
        heredoc = p["heredoc"].fullmatch(line) if fresh else None
        closing = heredoc.group(2) if heredoc else None
        if p["closes"].fullmatch(line):
            depth = max(0, depth - 1)
        if fresh and at < last:
            rows += _one(line, depth, told)
        if p["opens"].match(line) and not re.search(r"\b(?:fi|done|esac)\s*$|\}\s*$", line):
            depth += 1
    return rows


def _one(line: str, depth: int, told: set[str]) -> list[Row]:
    """One new line in front of a check."""
    p = _patterns()
    if p["leaves"].fullmatch(line):
        effect = Effect.ASKS if depth else None
        return [("CI_CHECK_REMOVED", f"`{line[:100]}` ends the script before its check.", effect)]
    if p["dead"].fullmatch(line):
        return [("CI_CHECK_REMOVED", f"`{line[:100]}` keeps the check behind it from running.", None)]
    if p["trap"].fullmatch(line):
        return [("CI_FAILURE_IGNORED", f"`{line[:100]}` decides how the script of the check ends.", None if re.search(r"\bexit 0|\btrue\b", line) else Effect.ASKS)]  # fmt: skip
    if p["lax"].fullmatch(line):
        return [("CI_FAILURE_IGNORED", f"`{line[:100]}` lets failures pass.", None)]
    made = p["makes"].fullmatch(line)
    name = next((g for g in made.groups() if g), "") if made else ""
    if made:
        return [("CI_CHECK_REMOVED", f"`{line[:100]}` gives a name of the check another meaning.", None)] if name in told else []  # fmt: skip
    if re.match(r"(?:if|case|while|until)\b", line):
        return [("CI_CHANGED", f"`{line[:100]}` stands before a check: it may run in fewer cases.", Effect.ASKS)]
    if re.search(r"(?:^|[;&|]\s*)(?:exit|return)\s*(?:0\b|;|$)", line):
        return [("CI_CHANGED", f"`{line[:100]}` may end the script before its check.", Effect.ASKS)]
    if any(p[k].fullmatch(line) for k in ("path", "folder", "elsewhere")):
        return [("CI_CHANGED", f"`{line[:100]}` decides what the check after it runs, or where.", Effect.ASKS)]
    return []


def _passed_on(known: set[str], new: dict[str, Any]) -> list[Row]:
    """Lines anywhere that give later steps another environment."""
    p = _patterns()
    return [
        ("CI_CHANGED", f"`{line[:120]}` gives later steps another environment.", Effect.ASKS)
        for block in blocks(new)
        for line in block.lines
        if line not in known and p["passes_on"].fullmatch(line) and not _plain(line)
    ]


def _plain(line: str) -> bool:
    """One variable that no tool reads its orders from, or a folder of the machine itself."""
    named = re.match(r"echo [\"']?(\w+)=[^<>]*>>? ?[\"']?\$\{?GITHUB_ENV\}?[\"']?$", line)
    if named is not None:
        return not (_ENVIRONMENT.fullmatch(named.group(1)) or re.match(r"PYTEST|SKIP|HUSKY|NO_VERIFY", named.group(1)))
    return (
        re.match(r"echo [\"']?(?:\$HOME|\$\{HOME\}|~)/\.(?:local|cargo)/bin[\"']? ?>> ?[\"']?\$\{?GITHUB_PATH", line)
        is not None
    )


_BY_ANOTHER = re.compile(
    r"(?:(?:uv|poetry|pdm|hatch|pipenv) run|uvx|pipx run|xvfb-run|travis_retry|time|coverage run -m"
    r"|(?:coverage run(?: --?(?:source|parallel-mode|branch|append|p|a)\S*)*))"
    r"(?: --(?:with|extra|group|python|only-group) [\w.\[\]=<>-]+| --(?!from|index|directory|project|config|dry-run|help|version)[\w-]+)*\s"
)
"""Starters of other programs with options that leave them what they are."""
_UNTESTED = re.compile(r"--omit=(?:(?:\S*/)?(?:__version__|_?version|setup|conftest)\.py|,|tests?(?:/\*)?)+")
"""Files without behaviour: whether coverage looks at them changes nothing."""


def worse_heir(line: str, heir: str, doc: dict[str, Any]) -> Row | None:
    """What a line that came in place of another, with all its words, does less; None for nothing known."""
    whole, kept = heir, set(line.split()) <= set(heir.split())
    line, heir = _chosen(line), _chosen(heir)
    lost = swallowed(heir, piped=_piped(whole, doc))
    before = swallowed(line, piped=False)
    if lost is not None and before is None:
        said = f"`{line[:100]}` became `{heir[:100]}`, whose failure {'is lost' if lost is Effect.BLOCKS else 'may be lost'}."
        return ("CI_FAILURE_IGNORED", said, None if lost is Effect.BLOCKS else Effect.ASKS)
    if line == heir or not (kept or set(line.split()) <= set(heir.split())):
        return None
    started = _BY_ANOTHER.match(heir)
    if started and heir[started.end() :] in (line, re.sub(r"^python3? -m ", "", line)):
        return None
    tools = [w.rsplit("/", 1)[-1] for w in line.split() if CHECKING.fullmatch(w.rsplit("/", 1)[-1])][:1]
    added = [w for w in heir.split() if w not in line.split()]
    if tools == ["coverage"]:
        same = {w.replace("--source=", "--include=") for w in heir.split()}
        if all(_UNTESTED.fullmatch(w) or (w.startswith("--include=") and w in same) for w in added):
            return None
    less = any(not as_much(line, heir, tool) for tool in tools)
    less |= tools[:1] == ["make"] and any(re.fullmatch(r"-[nqtik]+|-[fC]\S*|\w+=.*", w) for w in added)
    if less or program(line) != program(heir):
        return ("CI_CHANGED", f"`{line[:100]}` became `{heir[:100]}`: it may check less.", Effect.ASKS)
    return None


def _chosen(line: str) -> str:
    """An expression of the matrix without what stands in for it where it is empty."""
    other = r"(?:\s*\|\|\s*(?:matrix\.[\w-]+|format\('\w[^()]*\)|'\w[\w.-]*'))*"
    return re.sub(r"\$\{\{\s*(matrix\.[\w-]+)" + other + r"\s*\}\}", r"${{\1}}", line)


def _piped(line: str, doc: dict[str, Any]) -> bool:
    """Wherever the line stands, its shell makes a pipe fail with each of its parts."""
    holders = [block for block in blocks(doc) if line in block.lines]
    return bool(holders) and all(
        str(block.around.get("shell")) == "bash"
        or any(
            re.match(r"set\s.*\bpipefail\b", row) and "+" not in row for row in block.lines[: block.lines.index(line)]
        )
        for block in holders
    )


def only_shown(line: str, doc: dict[str, Any]) -> str | None:
    """A line without the `tee` or `cat` that copies what it says, where the shell makes such a pipe fail with the check."""
    shown = re.sub(r"\s*\|\s*(?:tee|cat)\b[^|;&<>`]*$", "", line)
    return shown if shown != line and LOST.search(shown) is None and _piped(line, doc) else None


_ENVIRONMENT = re.compile(
    r"BASH_ENV|ENV|PATH|SHELLOPTS|BASHOPTS|LD_\w+|PYTHON(?:PATH|HOME|STARTUP|USERBASE|OPTIMIZE)|PYTEST_(?:PLUGINS|DISABLE\w*)|COVERAGE_(?:RCFILE|PROCESS\w*)"
    r"|\w*RCFILE|(?:RUFF|MYPY|PYLINT|FLAKE8|TOX|NOX|PRE_COMMIT)\w*(?:CONFIG\w*|SKIP\w*|PATH|HOME)|TOX_(?:OVERRIDE|SKIP)\w*|(?:PIP|UV)_(?:EXTRA_|DEFAULT_)?INDEX\w*"
    r"|PIP_(?:CONFIG_FILE|FIND_LINKS|TRUSTED_HOST)|NODE_OPTIONS|GIT_CONFIG\w*|NPM_CONFIG_\w+|GOFLAGS|MAKEFLAGS|MAKEFILES",
    re.IGNORECASE,
)
"""Variables that decide what a tool runs, reads or leaves out."""


def surroundings(old: dict[str, Any], new: dict[str, Any]) -> list[Row]:
    """Shells, folders and variables that a definition sets anew where something is checked."""
    had = {(at[-1], str(v)) for at, v in workflow_yaml.walk(old) if at}
    rows: list[Row] = []
    for at, value in workflow_yaml.walk(new):
        if not at or (at[-1], str(value)) in had:
            continue
        key, said = at[-1], str(value)[:120]
        if key == "shell" and "{0}" in said and not re.match(r"(?:/(?:usr/)?bin/)?(?:ba|z)?sh\s(?:.*\s)?-\w*e", said):
            rows.append(
                ("CI_FAILURE_IGNORED", f"{'/'.join(at)} is {said}: the shell does not stop at a failure.", None)
            )
        elif key == "shell" and not re.match(r"(?:bash|sh|pwsh|powershell|cmd)\b", said) and "${{" not in said:
            rows.append(("CI_CHANGED", f"{'/'.join(at)} is {said}: something else runs the lines.", Effect.ASKS))
        elif key == "working-directory" and _checks_at(new, at):
            rows.append(("CI_CHANGED", f"{'/'.join(at)} is {said}: checks run in another folder.", Effect.ASKS))
        elif len(at) > 1 and at[-2] in ("env", "variables") and _ENVIRONMENT.fullmatch(key):
            rows.append(("CI_CHANGED", f"{'/'.join(at)} is {said}: it decides what checks run or read.", Effect.ASKS))
    return rows


def _runs(node: dict[str, Any]) -> bool:
    return bool({"steps", "jobs"} & set(node)) or any(isinstance(node.get(key), str | list) for key in COMMANDS)


def _checks_at(doc: Any, at: tuple[str, ...]) -> bool:
    """The step, the job or the definition around this key runs something that checks."""
    node, holders = doc, [doc]
    for part in at[:-1]:
        node = node[int(part)] if isinstance(node, list) else node[part]
        holders.append(node)
    around = next((n for n in reversed(holders) if isinstance(n, dict) and _runs(n)), doc)
    return any(CHECKING.search(line) for block in blocks(around) for line in block.lines)
