"""Environments of tox and sessions of nox: the commands of those that a command line starts."""

from __future__ import annotations

import ast
import configparser
import re
from itertools import product
from typing import Any

from gatekeeper.checks.config_weakening.runner_files import Told, _toml
from gatekeeper.domain.tree import Tree, text
from gatekeeper.formats import python_code

_TOX_FILES = ("tox.ini", "setup.cfg", "pyproject.toml", "tox.toml")
_COMMANDS = ("commands_pre", "commands", "commands_post")
_IDLE = {
    "--notest",
    "-l",
    "-a",
    "--listenvs",
    "--listenvs-all",
    "--showconfig",
    "--help",
    "-h",
    "--version",
    "list",
    "l",
    "config",
    "c",
}


def chosen(words: list[str], options: tuple[str, ...]) -> list[str]:
    """Values of an option, in any of its spellings."""
    out: list[str] = []
    for at, word in enumerate(words):
        name, same, value = word.partition("=")
        if word in options:
            for following in words[at + 1 :]:
                if following.startswith("-"):
                    break
                out += following.split(",")
        elif same and name in options:
            out += value.split(",")
    return [w for w in out if w]


def tox(tree: Tree, words: list[str], fresh: frozenset[str], everything: bool) -> Told:
    """Commands of the environments that `words` choose: by name, else those that run by default.

    A name that only CI knows (`$`), and `everything`, stand for every environment. A settings file that is new comes
    before one that was there, whichever of them tox would take.
    """
    own = words[: words.index("--")] if "--" in words else words
    if _IDLE & set(own):
        return []
    for path in sorted(_TOX_FILES, key=lambda p: p not in fresh):
        sections = _sections(path, text(tree, path))
        if sections is None:
            continue
        listed, envs, general = sections
        names = [n for v in chosen(own, ("-e", "--env", "-m")) for n in _braces(v)]
        if everything or any("$" in n or "{" in n or n == "ALL" for n in names) or "-f" in own:
            names = [*listed, *envs]
        rows = [r for n in dict.fromkeys(names or listed or ["py"]) for r in _environment(n, envs, general)]
        if own != words:  # what stands behind `--` comes in place of what the settings would say
            told = " ".join(words[len(own) + 1 :]).replace("\\", "")
            rows = [re.sub(r"\{posargs(?::[^{}]*)?\}", told, r) for r in rows]
        return [(path, " ".join(r.split())) for r in rows]
    return []


_Sections = tuple[list[str], dict[str, dict[str, Any]], dict[str, Any]]


def _sections(path: str, content: str | None) -> _Sections | None:
    if content is None or len(content) > 500_000:
        return None
    if path.endswith(".toml"):
        table: Any = _toml(content)
        if path == "pyproject.toml":
            table = table.get("tool")
            table = table.get("tox") if isinstance(table, dict) else None
            if isinstance(table, dict) and isinstance(table.get("legacy_tox_ini"), str):
                return _ini(table["legacy_tox_ini"], "")
        return _native(table) if isinstance(table, dict) and table else None
    return _ini(content, "tox:" if path == "setup.cfg" else "")


def _native(table: dict[str, Any]) -> _Sections:
    def rows(value: Any) -> list[str]:
        return [" ".join(map(str, r)) for r in value if isinstance(r, list)] if isinstance(value, list) else []

    def told(env: Any) -> dict[str, Any]:
        return {k: rows(v) if k in _COMMANDS else v for k, v in env.items()} if isinstance(env, dict) else {}

    listed, envs = table.get("env_list"), table.get("env")
    return (
        [n for v in listed for n in _braces(str(v))] if isinstance(listed, list) else [],
        {k: told(v) for k, v in envs.items()} if isinstance(envs, dict) else {},
        told(table.get("env_run_base")),
    )


def _ini(content: str, prefix: str) -> _Sections | None:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(content)
    except (configparser.Error, ValueError):
        return None
    head = f"{prefix}tox"
    if not any(s == head or s.startswith(f"{prefix}testenv") for s in parser.sections()):
        return None

    def filled(value: str, depth: int = 0) -> str:
        """References to other sections in place."""
        if depth > 4 or len(value) > 20_000:
            return value
        return re.sub(
            r"\{\[([^\]{}]+)\]([\w-]+)\}",
            lambda m: filled(parser.get(m.group(1), m.group(2), fallback="") or "", depth + 1),
            value,
        )

    def told(section: str) -> dict[str, Any]:
        rows = {k: filled(v or "") for k, v in parser.items(section)}
        return {k: v.replace("\\\n", " ").splitlines() if k in _COMMANDS else v for k, v in rows.items()}

    listed = " ".join(filled(parser.get(head, k, fallback="") or "") for k in ("env_list", "envlist"))
    names = [n for w in re.split(r"[\s,]+(?![^{]*\})", listed) if w for n in _braces(w)]
    for section in parser.sections():
        if section in ("gh-actions", "gh", "gh-actions:env") or section.startswith("travis"):
            names += [
                n for _, v in parser.items(section) for w in re.findall(r"[\w{},.-]+", v or "") for n in _braces(w)
            ]
    envs = {
        n: told(s)
        for s in parser.sections()
        if s.startswith(f"{prefix}testenv:")
        for n in _braces(s.removeprefix(f"{prefix}testenv:"))
    }
    general = told(f"{prefix}testenv") if parser.has_section(f"{prefix}testenv") else {}
    return names, envs, general


def _braces(word: str) -> list[str]:
    """`py{38,39}-{a,b}` as the four names that it stands for."""
    if "$" in word:
        return [word]
    parts = [p[1:-1].split(",") if p.startswith("{") else [p] for p in re.findall(r"\{[^{}]*\}|[^{}]+", word)]
    size = 1
    for part in parts:
        size *= len(part)
    return ["".join(w.strip() for w in ws) for ws in product(*parts)] if 0 < size <= 300 else [word]


def _environment(name: str, envs: dict[str, dict[str, Any]], general: dict[str, Any]) -> list[str]:
    table = {**general, **envs.get(name, {})}
    if str(table.get("ignore_outcome", "false")).strip().lower() not in ("", "false") or _passed_over(table):
        return []
    factors = set(name.split("-")) | {name}
    out = []
    for key in _COMMANDS:
        rows = table.get(key)
        for row in rows if isinstance(rows, list) else ():
            only = re.match(r"\s*([!\w.{},-]+?):\s+(.*)$", row)
            if only:
                wanted = [w for v in only.group(1).split(",") for w in _braces(v)] if "{" not in only.group(1) else _braces(only.group(1))  # fmt: skip
                if not any(all((f[1:] not in factors) if f.startswith("!") else f in factors for f in w.split("-")) for w in wanted):  # fmt: skip
                    continue
            plain = (only.group(2) if only else row).strip()
            if plain and not plain.startswith(("#", "-")):
                out.append(plain)
    return out


def _passed_over(table: dict[str, Any]) -> bool:
    """An environment of another platform, or of a Python that nobody has: tox leaves it out and succeeds."""
    platform = str(table.get("platform") or "linux")
    if "linux" not in platform and "." not in platform:
        return True
    asked = " ".join(str(table.get(k) or "") for k in ("basepython", "base_python"))
    numbers = [(int(a), int(b or 0)) for a, b in re.findall(r"(?<!\d)(\d)\.?(\d{1,2})?(?!\d)", asked)]
    return bool(numbers) and all(n < (2, 7) or n > _NEWEST for n in numbers)


_NEWEST = (3, 19)
"""Behind the newest Python that can be installed while this is used."""


def nox(tree: Tree, words: list[str]) -> Told:
    """What the sessions run that `words` choose: by name, else those of `nox.options.sessions`, else all."""
    own = words[: words.index("--")] if "--" in words else words
    source = python_code.parse(text(tree, "noxfile.py"))
    if source is None or {"-l", "--list", "--install-only", "--help", "-h", "--version"} & set(own):
        return []
    functions = {n.name: n for n in source.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    sessions: dict[str, str] = {}
    for name, node in functions.items():
        for mark in node.decorator_list:
            called = mark.func if isinstance(mark, ast.Call) else mark
            if "session" in ast.unparse(called):
                given = [k.value.value for k in mark.keywords if k.arg == "name" and isinstance(k.value, ast.Constant)] if isinstance(mark, ast.Call) else []  # fmt: skip
                sessions[str(given[0]) if given else name] = name
    names = [n.partition("-3")[0].partition("(")[0] for n in chosen(own, ("-s", "--session", "--sessions", "-e"))]
    default = [
        [str(v.value) for v in s.value.elts if isinstance(v, ast.Constant)]
        for s in source.body
        if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "nox.options.sessions" and isinstance(s.value, ast.List | ast.Tuple)
    ]  # fmt: skip
    if any("$" in n for n in names) or {"-t", "--tags", "-k", "--keywords"} & set(own):
        names = list(sessions)
    waiting = [sessions[n] for n in names or (default[-1] if default else sessions) if n in sessions]
    out: list[str] = []
    seen: set[str] = set()
    while waiting:
        name = waiting.pop(0)
        if name in seen:
            continue
        seen.add(name)
        for stop in functions[name].body:
            if isinstance(stop, ast.Return):
                break
            for call in ast.walk(stop):
                if not isinstance(call, ast.Call):
                    continue
                told = ast.unparse(call.func) if isinstance(call.func, ast.Name | ast.Attribute) else ""
                texts = [str(a.value) for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
                if told.endswith((".run", ".run_always")) and texts:
                    codes = [k for k in call.keywords if k.arg == "success_codes"]
                    out += [" ".join(texts)] if not codes else []
                elif told.endswith(".notify") and texts and texts[0] in sessions:
                    waiting.append(sessions[texts[0]])
                elif told in functions:
                    waiting.append(told)
    return [("noxfile.py", row) for row in out]
