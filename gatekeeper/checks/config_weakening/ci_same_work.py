"""Lines of CI that say the same in other words: another starter or version, more or less shown, one line cut in two."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from gatekeeper.checks.config_weakening.ci_commands import CHECKING, program
from gatekeeper.checks.config_weakening.command_reach import ASKS, LOST, as_much, narrowing

_OPTIONS = r"(?: --(?:with|extra|group|python|only-group) [\w.\[\]=<>-]+| --(?!from|index|directory|project|config|dry-run|help|version)[\w-]+)*"


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Compiled when lines of CI changed."""
    sources = {
        "starter": rf"(?:(?:uv|poetry|pdm|hatch|pipenv|rye) run|uvx|npx|bunx|pnpm exec|pipx run|xvfb-run|travis_retry|time){_OPTIONS}\s+|(?:python[0-9.]*|py) -m\s+",
        "version": r"(?<![\w.])(py|pypy|python)3?\.?\d{1,2}t?(?![\w.])",
        "shown": r"(?:-[qvs]+|--(?:verbose|quiet|no-header|no-summary|show-diff-on-failure|show-error-codes|pretty|no-progress|diff)"
        r"|-r[A-Za-z]+|--(?:tb|durations|color|colour|junit-?xml|junitxml|cov-report|numprocesses|output-format|format|report)=\S+)",
        "valued": r"(?<!\S)(?:-n|--numprocesses|--durations|--color|--tb|--output-format)[ =](?:auto|logical|always|yes|no|short|long|line|native|github|concise|full|\d+)(?!\S)",
        "moves": r"(?:cd|pushd|popd|export|set|source|\.|unset|alias|exec|eval|exit|return|trap|shopt|if|then|else|fi|for|while|do|done|[A-Za-z_]\w*=\S*)(?:\s|$)",
    }
    return {name: re.compile(source) for name, source in sources.items()}


def plain(line: str) -> str:
    """The line without what starts its program, and without the number of a version."""
    p = _patterns()
    line = p["version"].sub(r"\1", line)
    for _ in range(3):
        started = p["starter"].match(line)
        if started is None:
            break
        line = line[started.end() :]
    return line


def same_work(line: str, other: str) -> bool:
    """The same program is told nothing that makes it find less, and misses only words about what is shown."""
    p = _patterns()
    if line == other:
        return True
    if (
        LOST.search(other)
        or ASKS.search(other)
        or re.search(r"[|;&<>`#]|\$\(", other)
        or re.search(r"[|;&<>`#]|\$\(", line)
    ):
        return False
    was, now = (p["valued"].sub(" ", plain(row)).split() for row in (line, other))
    if was == now:
        return True
    if not was or not now or was[0] != now[0] or CHECKING.fullmatch(was[0].rsplit("/", 1)[-1]) is None:
        return False
    gone = list((Counter(was) - Counter(now)).elements())
    come = list((Counter(now) - Counter(was)).elements())
    if not all(map(p["shown"].fullmatch, gone)) or was[0] in ("make", "tox", "nox", "npm", "yarn", "pnpm", "just"):
        return False
    return all(map(p["shown"].fullmatch, come)) or as_much(" ".join(was), " ".join(now), was[0])


_HEIRS = {
    **dict.fromkeys(("flake8", "pycodestyle", "pyflakes", "pydocstyle", "autoflake", "pyupgrade", "pylint"), ("ruff check", "ruff")),
    "isort": ("ruff check", "ruff", "ruff format"), "black": ("ruff format",), "yapf": ("ruff format", "black"), "autopep8": ("ruff format", "black"),
    "mypy": ("pyright", "basedpyright", "ty"), "pyright": ("mypy", "basedpyright", "ty"), "basedpyright": ("pyright", "mypy", "ty"),
    "eslint": ("biome", "oxlint"), "prettier": ("biome",), "safety": ("pip-audit", "uv-secure"), "unittest": ("pytest",), "nosetests": ("pytest",), "nose2": ("pytest",),
    "py.test": ("pytest",), "pre-commit": ("prek",), "jest": ("vitest",), "mocha": ("vitest", "jest"), "tslint": ("eslint",), "detect-secrets": ("gitleaks", "trufflehog"),
}  # fmt: skip
"""Tools and those that do the same work in their place."""


def succeeded(line: str, rows: list[str]) -> bool:
    """One of these rows runs a successor of the tool of a line on the same paths, with no option to find less."""
    was = plain(line).split()
    if not was or re.search(r"[|;&<>`#]|\$\(", line):
        return False
    tool = was[0].rsplit("/", 1)[-1]
    paths = [w for w in was[1:] if not w.startswith("-") and w not in ("check", "run", "lint", "discover")]
    strict = any(re.match(r"--(?:fail-under|cov-fail-under|strict|max-warnings)", w) for w in was)
    if strict or tool not in _HEIRS:
        return False
    for row in rows:
        if LOST.search(row) or ASKS.search(row) or re.search(r"[|;&<>`#]|\$\(", row):
            continue
        now = plain(row).split()
        for heir in _HEIRS[tool]:
            name, _, work = heir.partition(" ")
            if now[:1] != [name] or (name == "ruff" and not work and "format" in now) or (work and now[1:2] != [work]):
                continue
            if (
                name in ("ruff", "black")
                and work != "check"
                and heir != "ruff"
                and not {"--check", "--diff"} & set(now)
            ):
                continue  # it would only change the files
            wanted = [name, *([work] if work == "format" else []), *(["--check"] if "--check" in now else []), *paths]
            if narrowing(row) <= narrowing(line) and as_much(" ".join(wanted), " ".join(now), name):
                return True
    return False


def cut_apart(line: str, now: list[str], was: list[str]) -> bool:
    """The parts of a line, joined by `&&`, stand in lines of their own, or the line stands in one that joins old lines."""
    p = _patterns()
    if re.search(r"['\"`;#]|\|\||\$\(|(?<!\|)\|(?!\|)|(?<!&)&(?!&)", line):
        return False
    mine = [part.strip() for part in line.split("&&")]
    if any(map(p["moves"].match, mine)):
        return False
    joined = {row: [part.strip() for part in row.split("&&")] for row in now if not LOST.search(row) and "||" not in row and "|" not in row and ";" not in row}  # fmt: skip
    known = {part for row in was for part in row.split("&&") for part in [part.strip()]}
    alone = {parts[0] for parts in joined.values() if len(parts) == 1}
    for parts in joined.values():
        if len(parts) > 1 and all(part in known and not p["moves"].match(part) for part in parts):
            alone |= set(parts)
    return (len(mine) > 1 or mine[0] not in now) and all(part in alone for part in mine)


def kept(checks: list[str], rows: list[str]) -> bool:
    """Each line that checks is among these rows as often, or one that does the same work."""
    left = Counter(rows)
    missing = []
    for line in checks:
        if left[line]:
            left[line] -= 1
        else:
            missing.append(line)
    for line in missing:
        heir = next((row for row in left if left[row] and (same_work(line, row) or succeeded(line, [row]))), None)
        if heir is None and not cut_apart(line, rows, checks):
            return False
        if heir is not None:
            left[heir] -= 1
    return True


def checks_of(rows: list[str]) -> list[str]:
    """Lines that check something; what installs, moves files or shows them does not, whatever it is called."""
    return [r for r in rows if CHECKING.search(r) and not idle(r)]


_IDLE = re.compile(
    r"(?:sudo )?(?:(?:python[0-9.]* -m )?pip3?(?: --\S+)* (?:install|download|list|freeze|cache|--version)|uv (?:sync|pip|venv|python|tool install|lock)|pipx install|npm (?:ci|install|i)"
    r"|(?:apt|apt-get|brew|choco) |(?:conda|mamba) (?:install|update|create|info|list|env) |docker (?:stop|rm|kill|logs|pull|compose (?:down|logs|stop|pull)|network|volume|image)|docker-compose (?:down|logs|stop)"
    r"|(?:cat|cp|mv|rm|mkdir|ls|cd|tar|unzip|touch|chmod|kill|sleep|date|which|echo|printf|df|free|uname|head|tail|git (?:config|fetch|clone|checkout|status|log|tag)|gh|codecov|coveralls|twine upload)\b)[^;&|`]*"
    r"(?:\|\|\s*(?:true|:|echo\b[^;&|`]*))?"
)
"""Commands that install, keep, show or send something; what stands behind them with another operator is none of theirs."""


def idle(line: str) -> bool:
    """Nothing is checked by this line, so nothing is lost with it or with its failure."""
    return _IDLE.fullmatch(line) is not None and "$(" not in line and program(line) not in ("tox", "nox", "make")
