"""Files of the project that the settings of a build tool name: they run at every build, as a build script does."""

from __future__ import annotations

import ast
import configparser
import tomllib
from collections.abc import Iterable
from typing import Any

from gatekeeper.checks.supply_chain.build_scripts import BUILD_SCRIPTS
from gatekeeper.checks.supply_chain.setup_script import changed_script
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import Tree, text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code
from gatekeeper.formats.python_requirements import MAX_TEXT

_SETTINGS = frozenset({"pyproject.toml", "hatch.toml", "setup.cfg"})

_ADDED_HOOKS = frozenset({"tool.hatch.build.hooks.custom", "tool.poetry.build.script"})
"""Keys whose addition is told with the other hooks of a manifest."""


def changed_hook_files(evidence: Evidence) -> tuple[Finding, ...]:
    """A file that a build runs by the settings: newly named, or doing more than before."""
    changed = {c.path for c in evidence.change.paths if c.new is not None}
    near = {p for p in changed if p in _SETTINGS or p.endswith(".py")}
    if not near:
        return ()
    named = _named(evidence.merged)
    known = _named(evidence.base) if named else {}
    out: list[Finding] = []
    for key, path in named.items():
        was = known.get(key)
        present = path in evidence.merged.entries
        if was is None and key not in _ADDED_HOOKS and (present or key == "setup.cfg cmdclass"):
            said = f"{path} runs while the package is built ({key})."
            effect = Effect.ASKS if "version" in key else None
            out.append(finding("BUILD_HOOK_ADDED", said, path=path, effect=effect))
        elif was is not None and present and (path != was or (path in changed and path not in BUILD_SCRIPTS)):
            more = list(_more(evidence, was, path))
            if path != was and not more:
                said = f"{path} runs while the package is built ({key}), where {was} did."
                more = [finding("BUILD_HOOK_ADDED", said, path=path, effect=Effect.ASKS)]
            out += more
    return tuple(out)


def _more(evidence: Evidence, was: str, path: str) -> Iterable[Finding]:
    return changed_script(evidence, path, text(evidence.base, was) or "", text(evidence.merged, path) or "")


def _named(tree: Tree) -> dict[str, str]:
    """Paths by the key that names them; a file that a backend runs by its mere name where there is one."""
    project = _toml(text(tree, "pyproject.toml"))
    tool = _table(project, "tool")
    backend = str(_table(project, "build-system").get("build-backend") or "")
    found: dict[str, str] = {}
    for where, hatch in (("tool.hatch", _table(tool, "hatch")), ("hatch.toml", _toml(text(tree, "hatch.toml")))):
        build = _table(hatch, "build")
        holders = {f"{where}.build": build, f"{where}.metadata": _table(hatch, "metadata")}
        holders |= {f"{where}.build.targets.{n}": t for n, t in _table(build, "targets").items() if isinstance(t, dict)}
        for key, holder in holders.items():
            hooks = _table(holder, "hooks")
            if "custom" in hooks:
                found[f"{key}.hooks.custom"] = str(_table(hooks, "custom").get("path") or "hatch_build.py")
        version = _table(hatch, "version")
        if version.get("source") == "code":
            found[f"{where}.version"] = str(version.get("path") or "")
    pdm = _table(_table(tool, "pdm"), "build")
    if backend.startswith("pdm") and (pdm.get("custom-hook") or "pdm_build.py" in tree.entries):
        found["tool.pdm.build.custom-hook"] = str(pdm.get("custom-hook") or "pdm_build.py")
    script = _table(_table(tool, "poetry"), "build")
    if isinstance(script.get("script"), str):
        found["tool.poetry.build.script"] = str(script["script"])
    getter = _table(_table(tool, "pdm"), "version")
    if getter.get("source") == "call" and isinstance(getter.get("getter"), str):
        found["tool.pdm.version.getter"] = _module(tree, str(getter["getter"]).partition(":")[0])
    cfg = _parsed(text(tree, "setup.cfg"))
    command = _commands(cfg)
    if command:
        found["setup.cfg cmdclass"] = _module(tree, command.rpartition(".")[0])
    # A script at the root is looked at by its name.
    return {key: path.removeprefix("./") for key, path in found.items() if path}


def _module(tree: Tree, name: str) -> str:
    """The file of a module, at the root or below `src`."""
    at = name.replace(".", "/")
    return next(
        (p for p in (f"{at}.py", f"src/{at}.py", f"{at}/__init__.py", f"src/{at}/__init__.py") if p in tree.entries),
        f"{at}.py",
    )


def modules_asked(tree: Tree) -> tuple[str, ...]:
    """Modules that setuptools imports to learn a value, because it cannot read it from their text."""
    dynamic = _table(_table(_table(_toml(text(tree, "pyproject.toml")), "tool"), "setuptools"), "dynamic")
    told = [str(_table(dynamic, key).get("attr") or "") for key in dynamic]
    said = _parsed(text(tree, "setup.cfg")).get("metadata", "version", fallback="") or ""
    told += [said.strip().removeprefix("attr:").strip()] if said.strip().startswith("attr:") else []
    parts = [attribute.rpartition(".") for attribute in told]
    return tuple(module for module, _, name in parts if module and not _literal(tree, _module(tree, module), name))


def _literal(tree: Tree, path: str, name: str) -> bool:
    """True where setuptools reads the value from the text of the module; else it imports the module."""
    module = python_code.parse(text(tree, path))
    for row in module.body if module is not None else ():
        targets = row.targets if isinstance(row, ast.Assign) else [row.target] if isinstance(row, ast.AnnAssign) else []
        if any(isinstance(t, ast.Name) and t.id == name for t in targets):
            return isinstance(row, ast.Assign | ast.AnnAssign) and row.value is not None and _is_value(row.value)
    return False


def _is_value(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _parsed(content: str | None) -> configparser.RawConfigParser:
    """setup.cfg; empty where it cannot be read."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string((content or "")[:MAX_TEXT])
    except (configparser.Error, AttributeError, TypeError):
        return configparser.RawConfigParser()
    return parser


def _commands(parser: configparser.RawConfigParser) -> str:
    """`package.module.Class` of the first command that setup.cfg replaces."""
    rows = parser.get("options", "cmdclass", fallback="").strip().splitlines()
    return rows[0].partition("=")[2].strip() if rows else ""


def _toml(content: str | None) -> dict[str, Any]:
    try:
        return tomllib.loads((content or "")[:MAX_TEXT])
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _table(holder: dict[str, Any], key: str) -> dict[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, dict) else {}
