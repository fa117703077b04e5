"""What task runners start: recipes of make and just, scripts of npm, poe, hatch and pdm, and scripts of the shell."""

from __future__ import annotations

import posixpath
import re
import tomllib
from typing import Any

from gatekeeper.domain.tree import Tree, text

Told = list[tuple[str, str]]
"""(file, command) of what is started, in its order."""
_MAX = 200_000
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_IDLE_MAKE = re.compile(r"-\w*[nitq]\w*|--(?:dry-run|just-print|recon|ignore-errors|touch|question)")


def make(tree: Tree, words: list[str]) -> Told:
    """Recipes of the targets that `words` name (the first where none is named), and of those on which they depend."""
    folder, name, goals = "", "", []
    rest = iter(words)
    for word in rest:
        if word in ("-C", "--directory"):
            folder = next(rest, "")
        elif word in ("-f", "--file", "--makefile"):
            name = next(rest, "")
        elif _IDLE_MAKE.fullmatch(word):
            return []
        elif not word.startswith("-") and "=" not in word:
            goals.append(word)
    names = [name] if name else list(_MAKEFILES)
    path = next((p for n in names if (p := posixpath.normpath(posixpath.join(folder, n))) in tree.entries), None)
    if path is None:
        return []
    content = (text(tree, path) or "")[:_MAX]
    for other in re.findall(r"^-?include[ \t]+(\S+)", content, re.MULTILINE):
        content += "\n" + (text(tree, posixpath.join(folder, other)) or "")[:_MAX]
    recipes, needs, variables = _recipes(content)
    if variables.get("SHELL", "sh").rsplit("/", 1)[-1] in ("true", "echo", "cat") or ".IGNORE" in recipes:
        return []
    if re.search(r"(?:^|\s)-?[nitq](?:\s|$)", variables.get("MAKEFLAGS", "")):
        return []
    goals = goals or [variables.get(".DEFAULT_GOAL") or next((t for t in recipes if not t.startswith(".")), "")]
    rows = _ordered(goals, recipes, needs)
    return [(path, _expanded(row, variables)) for row in rows if not re.match(r"[@+]*-", row)]


def _recipes(content: str) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, str]]:
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    variables: dict[str, str] = {"MAKE": "make"}
    at: list[str] = []
    for row in content.replace("\\\n", " ").splitlines():
        if row.startswith("\t"):
            for target in at:
                recipes[target].append(row.strip())
            continue
        plain = row.partition("#")[0].strip()
        assigned = re.match(r"(?:export\s+|override\s+)*([\w.-]+)\s*(\+|[:?!]{0,3})=\s*(.*)$", plain)
        if assigned:
            name, how, value = assigned.groups()
            if how == "+":
                value = f"{variables.get(name, '')} {value}"
            if not (how == "?" and name in variables):
                variables[name] = value
        elif ":" in plain:
            left, _, right = plain.partition(":")
            right, _, first = right.lstrip(":").partition(";")
            at = left.split()
            for target in at:
                needs.setdefault(target, []).extend(w for w in right.split() if w != "|")
                following = [first.strip()] if first.strip() else []
                recipes[target] = following  # the last recipe is the one that counts
        elif plain:
            at = []
    return recipes, needs, variables


def _expanded(row: str, variables: dict[str, str]) -> str:
    row = row.lstrip("@+ ")
    for _ in range(4):
        if len(row) > 5000:
            break
        row = re.sub(r"\$[({]([\w.-]+)[)}]", lambda m: variables.get(m.group(1), "")[:500], row)
    return row


def _ordered(goals: list[str], recipes: dict[str, list[str]], needs: dict[str, list[str]]) -> list[str]:
    """Rows of all that is reached from `goals`, each target once."""
    out: list[str] = []
    seen: set[str] = set()
    waiting = list(goals)
    while waiting and len(seen) < 500:
        goal = waiting.pop(0)
        if goal in seen:
            continue
        seen.add(goal)
        waiting += needs.get(goal, [])
        out += recipes.get(goal, [])
    return out


def just(tree: Tree, words: list[str]) -> Told:
    """Recipes of a justfile."""
    path = next((n for n in ("justfile", "Justfile", ".justfile") if n in tree.entries), None)
    if path is None:
        return []
    recipes: dict[str, list[str]] = {}
    needs: dict[str, list[str]] = {}
    at = ""
    for row in (text(tree, path) or "")[:_MAX].replace("\\\n", " ").splitlines():
        head = re.match(r"@?([A-Za-z_][\w-]*)(?:\s[^:]*)?:(?!=)(.*)$", row)
        if row[:1].isspace() and at:
            recipes[at].append(row.strip())
        elif head:
            at = head.group(1)
            recipes[at], needs[at] = [], re.findall(r"[A-Za-z_][\w-]*", head.group(2).partition("#")[0])
        elif row.strip() and not row.startswith(("#", "[")):
            at = ""
    goals = [w for w in words if w in recipes] or list(recipes)[:1]
    return [(path, r.lstrip("@")) for r in _ordered(goals, recipes, needs) if not r.lstrip("@").startswith("-")]


def scripts(tree: Tree, runner: str, words: list[str]) -> Told:
    """Named scripts of npm, yarn, pnpm, poe, hatch and pdm; nothing where the word names none."""
    named = [w for w in words if not w.startswith("-")]
    if runner in ("npm", "yarn", "pnpm", "bun"):
        table = _json(text(tree, "package.json")).get("scripts")
        if named[:1] in (["run"], ["run-script"]):
            named = named[1:]
        elif runner == "npm":
            named = ["test"] if named[:1] in (["t"], ["tst"]) else [w for w in named[:1] if w in ("test", "start")]
        found = [w for n in named[:1] for w in (f"pre{n}", n, f"post{n}")]
        return [("package.json", str(table[n])) for n in found if n in table] if isinstance(table, dict) else []
    if runner in ("hatch", "pdm") and named[:1] != ["run"]:
        return []
    name = (named[1:] if runner in ("hatch", "pdm") else named)[:1]
    if not name:
        return []
    tool = _toml(text(tree, "pyproject.toml")).get("tool")
    table = tool.get(runner) if isinstance(tool, dict) else None
    path = "pyproject.toml"
    if runner == "hatch" and "hatch.toml" in tree.entries:
        table, path = _toml(text(tree, "hatch.toml")), "hatch.toml"
    if not isinstance(table, dict):
        return []
    if runner == "hatch":
        env, _, script = name[0].rpartition(":")
        envs = table.get("envs")
        given = [e.get("scripts") for n, e in envs.items() if isinstance(e, dict) and (not env or "default" in (n, env) or n == env or "$" in env or "+" in env)] if isinstance(envs, dict) else []  # fmt: skip
        tables = [g for g in given if isinstance(g, dict)]
    else:
        script = name[0]
        tables = [t for t in [table.get("tasks" if runner == "poe" else "scripts")] if isinstance(t, dict)]
    return [(path, row) for t in tables for row in _task(t, script, 0)]


def _task(table: dict[str, Any], name: str, depth: int) -> list[str]:
    """Commands of one task; a row that begins with the name of another stands for that one."""
    return _rows(table, table.get(name), depth) if depth < 8 else []


def _rows(table: dict[str, Any], value: Any, depth: int) -> list[str]:
    if isinstance(value, dict):
        if str(value.get("ignore_fail", "False")) not in ("False", "false"):
            return []
        told = [value[k] for k in ("cmd", "shell", "script", "sequence", "composite", "call", "ref") if k in value]
        waits = value.get("deps")
        return [r for v in [*(waits if isinstance(waits, list) else []), *told] for r in _rows(table, v, depth + 1)]
    if isinstance(value, list):
        if value and depth < 8 and all(isinstance(v, str) and " " not in v and v not in table for v in value):
            return [" ".join(value)]
        return [r for v in value for r in _rows(table, v, depth + 1)] if depth < 8 else []
    if not isinstance(value, str):
        return []
    first = value.split()[:1]
    if first and first[0] in table and table[first[0]] is not value:
        return _task(table, first[0], depth + 1)
    return [" ".join(r.split()) for r in value.replace("\\\n", " ").splitlines() if r.strip()]


def _json(content: str | None) -> dict[str, Any]:
    import json

    try:
        table = json.loads((content or "{}")[:_MAX])
    except (ValueError, RecursionError):
        return {}
    return table if isinstance(table, dict) else {}


def _toml(content: str | None) -> dict[str, Any]:
    try:
        return tomllib.loads((content or "")[: 5 * _MAX])
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def shell(content: str) -> list[str]:
    """Lines of a script of the shell that can be reached and whose failure can count."""
    out: list[str] = []
    until: str | None = None
    for row in content[:_MAX].replace("\\\n", " ").splitlines():
        plain = " ".join(row.split())
        if until is not None:
            if plain == until or (until == "fi" and plain in ("else", "fi;")):
                until = None
            continue
        if not plain or plain.startswith("#"):
            continue
        if not row[0].isspace() and re.match(r"(?:exit|return)(?: 0)?\s*;?$", plain):
            break
        if re.match(r"if (?:false|! (?:true|:)|\[\[? 0 -(?:eq 1|ne 0) \]\]?|\(\( ?0 ?\)\))", plain):
            until = "fi"
            continue
        document = re.search(r"<<-?\s*['\"]?(\w+)['\"]?", plain)
        if document:
            until = document.group(1)
        out.append(plain)
    return out


def stops(content: str) -> bool:
    """Whether a script of the shell stops at the first command that fails."""
    return bool(
        re.search(r"^\s*set\s+-\w*e|^\s*set\s+-o\s+errexit|^#!.*\s-\w*e", content, re.MULTILINE)
    ) and not re.search(r"^\s*set\s+\+\w*e|^\s*set\s+\+o\s+errexit", content, re.MULTILINE)
