"""Commands that CI reaches, itself or through task runners, environments and scripts of the repository."""

from __future__ import annotations

import ast
import posixpath
import re

from gatekeeper.checks.config_weakening.ci_commands import command_lines, is_ci
from gatekeeper.checks.config_weakening.command_reach import LOST
from gatekeeper.checks.config_weakening.environment_files import nox, tox
from gatekeeper.checks.config_weakening.runner_files import Told, just, make, scripts, shell
from gatekeeper.domain.tree import Tree, text
from gatekeeper.formats import python_code, workflow_yaml
from gatekeeper.records import dataclass, replace

RUNNER_FILES = frozenset({
    "GNUmakefile", "makefile", "Makefile", "justfile", "Justfile", ".justfile", "tox.ini", "setup.cfg", "pyproject.toml", "tox.toml",
    "noxfile.py", "package.json", "hatch.toml",
})  # fmt: skip
"""Files that say what task runners start."""
_DEPTH, _MANY = 8, 3000
_PARTS = re.compile(r"&&|\|\||[;|()`]|\bthen\b|\bdo\b|\belse\b")
_STARTERS = frozenset({
    "sudo", "time", "exec", "env", "nice", "command", "!", "if", "uv", "uvx", "pipx", "poetry", "pipenv", "rye", "xvfb-run", "travis_retry",
    "travis_wait", "python", "python3", "-m", "run", "npx", "bunx", "@", "then", "do", "dbus-run-session", "-I", "-W", "-u", "-bb", "-b", "error",
    "$(PYTHON)", "${PYTHON}", "$PYTHON", "{envpython}", "{env_python}", "sys.executable",
})  # fmt: skip
"""Words before a program that only say where or how it runs."""
_PYTHON = re.compile(r"(?:.*/)?(?:python[\d.]*(?:\.exe)?|py)|\$[({]?\{?PYTHON\w*[)}]?|\{env_?python\}", re.IGNORECASE)
_SHELLS = ("sh", "bash", "dash", "zsh", "source", ".", "ksh")
_CALLS = (
    "subprocess.run",
    "subprocess.call",
    "subprocess.check_call",
    "subprocess.check_output",
    "subprocess.Popen",
    "os.system",
)


@dataclass(frozen=True, slots=True)
class Reached:
    """One command, the file that holds it (None for CI itself), the line of CI that leads there, and whether it leads on."""

    line: str
    path: str | None
    start: str
    leads: bool = False


def reached(tree: Tree, fresh: frozenset[str] = frozenset(), starts: list[str] | None = None) -> tuple[Reached, ...]:
    """All commands that CI of a tree reaches, or that `starts` lead to; of files that came anew (`fresh`), where several could be read, the new one."""
    rows: list[Reached] = []
    waiting: list[tuple[Reached, int]] = []
    everything = False
    waiting += [(Reached(line, None, line), 0) for line in dict.fromkeys(starts or ())]
    for path in sorted(tree.entries):
        if is_ci(path) and (starts is None or not everything):
            content = text(tree, path) or ""
            everything = everything or bool(re.search(r"TOXENV|TOX_ENV|tox-gh|tox-travis", content))
            if starts is not None:
                continue
            doc = workflow_yaml.load(content)
            waiting += [(Reached(line, None, line), 0) for line in command_lines(doc)]
            for at, value in workflow_yaml.walk(doc):
                if at and at[-1] == "uses" and str(value).startswith("pre-commit/action"):
                    waiting.append((Reached("pre-commit run --all-files", None, str(value)), 0))
    seen: set[tuple[str, str | None]] = set()
    while waiting and len(rows) < _MANY:
        row, depth = waiting.pop(0)
        if (row.line, row.path) in seen:
            continue
        seen.add((row.line, row.path))
        further = _follow(tree, row, fresh, everything) if depth < _DEPTH and not LOST.search(row.line) else []
        rows.append(replace(row, leads=bool(further)))
        waiting += [(Reached(line, path, row.start), depth + 1) for path, line in further]
    return tuple(rows)


def parts(line: str) -> list[list[str]]:
    """The commands of one line as words, without the variables and programs before what they start."""
    out = []
    for part in _PARTS.split(line[:5000]):
        words = [w.strip("'\"") for w in part.split()]
        while words and (words[0] in _STARTERS or _PYTHON.fullmatch(words[0]) or re.fullmatch(r"[A-Za-z_]\w*=.*|-X\w*|--(?:with|from|python|all-extras|frozen|locked|no-sync|isolated|group|extra)(?:=.*)?", words[0])):  # fmt: skip
            if words.pop(0) in ("--with", "--from", "--group", "--extra", "--python", "-p"):
                words = words[1:]
        if words:
            out.append(words)
    return out


def _follow(tree: Tree, row: Reached, fresh: frozenset[str], everything: bool) -> Told:
    out: Told = []
    for words in parts(row.line):
        name = words[0].rsplit("/", 1)[-1]
        rest = words[1:]
        if name in ("make", "gmake"):
            out += make(tree, rest)
        elif name == "just":
            out += just(tree, rest)
        elif name == "tox":
            out += tox(tree, rest, fresh, everything)
        elif name == "nox":
            out += nox(tree, rest)
        elif name in ("npm", "yarn", "pnpm", "bun", "poe", "hatch", "pdm"):
            out += scripts(tree, name, rest)
        for word in [rest[0] if name in _SHELLS and rest else words[0]]:
            path = _file(tree, word, row.path)
            if path is not None:
                out += [(path, line) for line in _script(tree, path)]
    if row.line.startswith("pre-commit run") or re.search(r"\b(?:pre-commit|prek) run\b", row.line):
        out += _hooks(tree)
    return out


def _file(tree: Tree, word: str, holder: str | None) -> str | None:
    """The file of the tree that a word names, from the root or from the folder of the script it stands in."""
    plain = re.sub(r"^(?:\$\{?[\w:.-]+\}?|\$\(.*\)|\{toxinidir\}|\{tox_root\})/", "", word)
    for folder in ("", posixpath.dirname(holder or "")):
        path = posixpath.normpath(posixpath.join(folder, plain))
        if path in tree.entries:
            return path
    return None


def _script(tree: Tree, path: str) -> list[str]:
    content = text(tree, path) or ""
    if path.endswith(".py") or re.match(r"#!.*python", content):
        return _calls(content)
    if path.endswith((".sh", ".bash")) or re.match(r"#!.*\b(?:ba|da|z)?sh\b", content):
        return shell(content)
    return []


def _calls(content: str) -> list[str]:
    """What a program in Python starts with words that stand there."""
    source = python_code.parse(content)
    if source is None:
        return []
    names = python_code.imports(source)
    out = []
    for node in python_code.walk(source):
        if isinstance(node, ast.Call) and node.args and python_code.dotted(node.func, names) in _CALLS:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                out.append(" ".join(first.value.split()))
            elif isinstance(first, ast.List | ast.Tuple):
                out.append(
                    " ".join(str(e.value) if isinstance(e, ast.Constant) else ast.unparse(e) for e in first.elts)
                )
    return out


def _hooks(tree: Tree) -> Told:
    """Hooks of pre-commit as commands; what their settings leave out is not weighed here."""
    path = ".pre-commit-config.yaml"
    doc = workflow_yaml.load(text(tree, path))
    repos = doc.get("repos") if isinstance(doc, dict) else None
    out: Told = []
    for repo in repos if isinstance(repos, list) else ():
        hooks = repo.get("hooks") if isinstance(repo, dict) else None
        for hook in hooks if isinstance(hooks, list) else ():
            if isinstance(hook, dict):
                args = hook.get("args")
                told = [str(hook.get("entry") or hook.get("id")), *map(str, args if isinstance(args, list) else ())]
                out.append((path, " ".join(told)))
    return out
