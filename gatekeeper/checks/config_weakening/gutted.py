"""Checks that CI reached through a task runner or a script, where CI still says the same and they are reached no longer."""

from __future__ import annotations

import re

from gatekeeper.checks.config_weakening.ci_commands import CHECKING, is_ci
from gatekeeper.checks.config_weakening.command_reach import ASKS, LOST, as_much, narrowing
from gatekeeper.checks.config_weakening.keys import plain_tool
from gatekeeper.checks.config_weakening.limits import permitted
from gatekeeper.checks.config_weakening.reached import RUNNER_FILES, Reached, parts, reached
from gatekeeper.checks.config_weakening.runner_files import stops
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats.tool_settings import is_settings, read
from gatekeeper.records import replace

_TOOLS = frozenset({
    "pytest", "py.test", "unittest", "doctest", "nose2", "nosetests", "trial", "stestr", "coverage", "mypy", "pyright", "basedpyright", "ty",
    "pyre", "pytype", "ruff", "flake8", "pylint", "pycodestyle", "pydocstyle", "pyflakes", "black", "isort", "bandit", "semgrep", "vulture",
    "pip-audit", "safety", "jest", "vitest", "mocha", "ava", "eslint", "oxlint", "tsc", "biome", "golangci-lint", "staticcheck", "gosec",
    "govulncheck", "shellcheck", "hadolint", "yamllint", "actionlint", "zizmor", "gitleaks", "detect-secrets", "trufflehog", "trivy",
    "lint-imports", "pre-commit", "prek", "ctest", "phpunit", "rspec", "rubocop", "clippy", "codeql",
})  # fmt: skip
_HALVES = {"go": ("test", "vet"), "cargo": ("test", "clippy", "check", "audit", "deny", "nextest"), "mvn": ("test", "verify"), "gradle": ("test", "check")}  # fmt: skip
"""Programs of which only some commands check."""
_LINTERS, _TYPES, _TESTS = frozenset({"ruff", "flake8"}), frozenset({"mypy", "pyright", "basedpyright", "ty"}), frozenset({"pytest", "unittest", "py.test"})  # fmt: skip
_HEIRS = {
    **dict.fromkeys(("flake8", "pycodestyle", "pyflakes", "pydocstyle", "pylint", "isort", "bandit"), _LINTERS),
    **dict.fromkeys(_TYPES, _TYPES), "black": frozenset({"ruff format", "ruff"}), "ruff format": frozenset({"black"}),
    **dict.fromkeys(("unittest", "py.test", "nose2", "nosetests", "trial", "pytest"), frozenset({"pytest", "py.test", "trial"})),
    "eslint": frozenset({"biome", "oxlint"}), "safety": frozenset({"pip-audit"}), "pre-commit": frozenset({"prek"}),
    **dict.fromkeys(("jest", "mocha", "ava"), frozenset({"vitest", "jest"})), "golangci-lint": frozenset(), "staticcheck": frozenset({"golangci-lint"}),
}  # fmt: skip
"""Tools in whose place others do the same work."""
_NOTHING = frozenset({
    "echo", "printf", "true", ":", "which", "type", "pip", "pip3", "test", "[", "[[", "cd", "mkdir", "rm", "cp", "mv", "export", "set", "exit",
    "install", "add", "sync", "uninstall", "cat", "ls", "date", "sleep", "false", "pass", "fi", "done",
})  # fmt: skip
"""Programs that check nothing, whatever words follow."""
_INSTALLED = re.compile(r"\{env_?site_?packages_?dir\}/")
"""Where an environment of tox has what it checks, in both spellings."""
_OWN = re.compile(r"(?:check|lint|test|verif|valid|audit|cov|guard)", re.IGNORECASE)


def gutted_runs(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding for each file through which CI reached checks that it does not reach any more.

    They block where the way from CI to them leads to nothing at all now; else a person is asked.
    """
    if not _concerned(evidence):
        return ()
    fresh = frozenset(c.path for c in evidence.change.paths if c.old is None)
    before = reached(evidence.base)
    if not any(row.path for row in before):
        return ()
    after = reached(evidence.merged, fresh)
    touched = {c.path for c in evidence.change.paths}
    set_up = _set_up(evidence)
    starts = {r.line for r in after if r.path is None}
    lost: dict[str, list[tuple[str, Effect | None]]] = {}
    for row in before:
        if row.path is None or row.path == ".pre-commit-config.yaml" or LOST.search(row.line):
            continue
        if row.path not in evidence.merged.entries and row.start not in starts:
            continue  # CI no longer goes that way, which is judged as a change of CI
        if row.path not in evidence.merged.entries and row.path.rsplit("/", 1)[-1] not in RUNNER_FILES and not LOST.search(row.start):  # fmt: skip
            continue  # CI fails at a script that is not there, and everybody sees it
        for tool in _tools(row, evidence.base.entries):
            if not any(_stands_for(row.line, tool, new, evidence.merged.entries, set_up) for new in after):
                now = [r for r in after if r.start == row.start and r.path is not None]
                idle = any(r.line == row.start and r.path is None for r in after) and not any(map(_does, now))
                lost.setdefault(row.path, []).append((row.line, None if idle else Effect.ASKS))
    out = []
    for path in sorted(lost):
        at = path if path in touched else next((p for p in sorted(touched) if p.rsplit("/", 1)[-1] in RUNNER_FILES or is_ci(p)), path)  # fmt: skip
        if permitted(evidence, at, PermitKind.CHANGE_CI) or permitted(evidence, path):
            continue
        rows = list(dict.fromkeys(line for line, _ in lost[path]))
        effect = None if any(e is None for _, e in lost[path]) else Effect.ASKS
        said = (
            f"CI reached {'; '.join(f'`{r[:120]}`' for r in rows[:3])} through {path}, and nothing runs that any more."
        )
        out.append(finding("CI_CHECK_REMOVED", said, path=at, evidence="\n".join(r[:300] for r in rows[:20]), key=";".join(rows), effect=effect))  # fmt: skip
    told = {f.path for f in out}
    out += [f for f in _unstopped(evidence, before, after) if f.path not in told]
    return tuple(out)


def _concerned(evidence: Evidence) -> bool:
    """Whether a file of the change can be one that CI reaches."""
    names = {c.path.rsplit("/", 1)[-1] for c in evidence.change.paths}
    if names & RUNNER_FILES or any(n.endswith((".sh", ".bash", ".mk")) or "." not in n for n in names):
        return True
    scripts = {n for n in names if n.endswith(".py")}
    if not scripts:
        return False
    said = " ".join(text(evidence.base, p) or "" for p in evidence.base.entries if is_ci(p) or p in RUNNER_FILES)
    return any(re.search(rf"(?<![\w.]){re.escape(n)}(?!\w)", said) for n in scripts)


def _tools(row: Reached, entries: object) -> list[str]:
    """What checks in one command: tools, and scripts of the repository whose name says so."""
    if ASKS.search(row.line):
        return []
    out: list[str] = []
    for words in parts(row.line):
        out += _named(words)
        path = words[0].removeprefix("./")
        if path.endswith(".py") and isinstance(entries, dict) and path in entries and _OWN.search(path.rsplit("/", 1)[-1]):  # fmt: skip
            out.append(path)
    return out


def tools_of(line: str) -> list[str]:
    """Tools that one command line starts, by their names."""
    return [] if ASKS.search(line) else [name for words in parts(line) for name in _named(words)]


def _named(words: list[str]) -> list[str]:
    """Tools that a command starts, by their names; `ruff format` is one of its own."""
    first = words[0].rsplit("/", 1)[-1]
    if first in _NOTHING:
        return []
    if first in _HALVES:
        return [f"{first} {w}" for w in words[1:2] if w in _HALVES[first]]
    found = [first] if first in _TOOLS else []
    names = [w.rsplit("/", 1)[-1] for w in words]
    if first == "coverage" and "-m" in names:
        found += [n for n in names[names.index("-m") + 1 :][:1] if n in _TOOLS]
    elif not found and first not in ("git", "curl", "docker", "tox", "nox", "make", "npm"):
        found = [n for n in names[1:] if n in _TOOLS][:1]
    found = ["ruff format" if f == "ruff" and "format" in words else f for f in found]
    if found == ["pre-commit"] and "run" not in words:
        return []
    return found


def _set_up(evidence: Evidence) -> frozenset[str]:
    """Tools whose settings the change touches: an option may have gone there, and what is set there is compared as such."""
    paths = [c.path for c in evidence.change.paths if c.new is not None and is_settings(c.path)]
    return frozenset(plain_tool(k) for p in paths for k in read(p, text(evidence.merged, p) or "") or {})


def _stands_for(line: str, tool: str, new: Reached, entries: object, set_up: frozenset[str]) -> bool:
    """Whether a command of the merge does what `tool` did in a command of the base."""
    if LOST.search(new.line):
        return False
    line, told = (_INSTALLED.sub("", r) for r in (line, new.line))
    new = replace(new, line=told)
    has = _tools(new, entries)
    if new.path == ".pre-commit-config.yaml":
        has = [re.sub(r"^ruff-(check|format)$", lambda m: "ruff" if m.group(1) == "check" else "ruff format", h) for h in [new.line.split()[0], *has]]  # fmt: skip
        return tool in has or bool(_HEIRS.get(tool, frozenset()) & set(has))
    if tool == "coverage":
        return tool in has or "--cov" in new.line
    if tool in has:
        if new.line == line or "/" in tool or tool.endswith(".py"):
            return True
        if tool in ("pytest", "py.test", "unittest"):
            return _tests_as_much(line, new.line, tool)
        name, _, half = tool.partition(" ")  # a command of the tool is no path that it looks at
        was, now = (re.sub(rf"\b{half}\b", " ", r, count=1) if half else r for r in (line, new.line))
        if name in set_up:
            was, now = (re.sub(r"\{posargs:?([^{}]*)\}", r"\1", r) for r in (was, now))
            was = " ".join(w for w in was.split() if not w.startswith("--") or w in now)
        return as_much(was, now, name)
    return bool(_HEIRS.get(tool, frozenset()) & set(has)) and narrowing(new.line) <= narrowing(line)


def _tests_as_much(line: str, row: str, tool: str) -> bool:
    """Of tests only those options count that choose among them; another way to stop, to show or to spread them is none."""
    harmless = re.compile(
        r"(?<!\S)(?:-[xsvqe]+|-m(?=\s+(?:pytest|unittest|coverage)\b)|--no-(?:header|summary|cov-on-fail)|--max-?\S*)(?!\S)"
    )
    return as_much(harmless.sub(" ", line), harmless.sub(" ", row), tool)


def _does(row: Reached) -> bool:
    """Whether a command can find a fault at all."""
    if LOST.search(row.line) or ASKS.search(row.line):
        return False
    if row.leads:
        return any(map(_named, parts(row.line)))
    return any(
        words[0].rsplit("/", 1)[-1] not in _NOTHING and not re.search(r"(?:^|\s)-c\s*['\"]?(?:pass|print\(.*|)['\"]?$", " ".join(words))
        for words in parts(row.line)
    )  # fmt: skip


def _unstopped(evidence: Evidence, before: tuple[Reached, ...], after: tuple[Reached, ...]) -> list[Finding]:
    """Scripts of the shell that CI reaches, which stopped at a failed command and no longer do."""
    out = []
    held = {r.path for r in before if r.path} & {r.path for r in after if r.path}
    for changed in evidence.change.paths:
        path = changed.path
        if path not in held or permitted(evidence, path, PermitKind.CHANGE_CI) or path.endswith(".py"):
            continue
        rows = [r.line for r in after if r.path == path]
        old, new = text(evidence.base, path) or "", text(evidence.merged, path) or ""
        if path.rsplit("/", 1)[-1] in RUNNER_FILES or not stops(old) or stops(new):
            continue
        if any(map(CHECKING.search, rows)):
            out.append(finding("CI_FAILURE_IGNORED", f"{path} no longer stops at a command that fails.", path=path, effect=Effect.ASKS))  # fmt: skip
    return out
