"""Files of the project that a build script runs: what held constants may not become code behind an unchanged script."""

from __future__ import annotations

import ast

from gatekeeper.checks.supply_chain.build_calls import doubtful, starters
from gatekeeper.checks.supply_chain.build_reach import modules_run
from gatekeeper.checks.supply_chain.build_scripts import BUILD_SCRIPTS
from gatekeeper.checks.supply_chain.hook_files import modules_asked
from gatekeeper.checks.supply_chain.version_files import files_run, is_fact
from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.tree import text
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code

_LOADERS = frozenset({
    "exec", "eval", "compile", "execfile", "runpy.run_path", "imp.load_source", "importlib.util.spec_from_file_location",
    "importlib.machinery.SourceFileLoader",
})  # fmt: skip
"""Calls that run a file by its path or its text."""
_COMPUTED = frozenset({"str", "int", "map", "tuple", "list", "len", "sorted", "range", "zip", "max", "min", "repr"})
_OF_TEXTS = frozenset({"join", "format", "split", "strip", "lstrip", "rstrip", "replace", "partition", "lower", "upper", "startswith", "endswith"})  # fmt: skip


def code_run_by_build(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding for each file that a build script of the target runs and that does more in the change than before."""
    found: list[Finding] = []
    for name in BUILD_SCRIPTS:
        script = python_code.parse(text(evidence.base, name))
        kept = python_code.parse(text(evidence.merged, name))
        if script is None or kept is None:
            continue
        shadowed = any(p in evidence.merged.entries for p in ("typing.py", "typing/__init__.py"))
        (run, spoken), (still, named) = _run_by(script), _run_by(kept)
        for changed in evidence.change.paths:
            path = changed.path
            sure = path in run & still
            if path in BUILD_SCRIPTS or not (sure or set(path.split("/")) <= spoken & named):
                continue
            more = _more(text(evidence.base, path), text(evidence.merged, path), shadowed)
            if more:
                said = f"{name} {'runs' if sure else 'may run'} {path} while the package is built, and it {more}."
                found.append(finding("BUILD_HOOK_ADDED", said, path=path, effect=None if sure else Effect.ASKS))
    return tuple(found)


def code_imported_by_build(evidence: Evidence) -> tuple[Finding, ...]:
    """One finding for each module of the project that a build script imports and that starts more on import than before."""
    if not any(c.path.endswith((".py", ".toml", ".cfg")) and c.new is not None for c in evidence.change.paths):
        return ()
    found: list[Finding] = []
    trees = (evidence.base, evidence.merged)
    pairs = [(name, [python_code.parse(text(t, name)) for t in trees]) for name in BUILD_SCRIPTS]
    pairs.append(("The lookup of a version", [_importing(modules_asked(t)) for t in trees]))
    for name, (old, new) in pairs:
        before = modules_run(evidence.base, old) if old is not None else {}
        for path, words in modules_run(evidence.merged, new).items() if new is not None else ():
            more = sorted(words - before.get(path, set()))
            if more:
                said = f"{name} imports {path} while the package is built, and that runs {', '.join(more)[:200]}."
                effect = None if path not in evidence.base.entries else Effect.ASKS
                found.append(finding("BUILD_HOOK_ADDED", said, path=path, effect=effect))
    return tuple(found)


def _importing(modules: tuple[str, ...]) -> ast.Module:
    return ast.Module([ast.Import([ast.alias(name)]) for name in modules], [])


def _run_by(script: ast.Module) -> tuple[set[str], set[str]]:
    """Paths that a script runs; and where that cannot be told, the names of files and folders that it speaks of."""
    names = python_code.imports(script)
    called = {python_code.dotted(n.func, names) for n in python_code.walk(script) if isinstance(n, ast.Call)}
    if not _LOADERS & called:
        return set(), set()
    plain = files_run(script)
    told = {path for path in plain if path is not None}
    if None not in plain and not (_LOADERS - {"exec"}) & called:
        return told, set()
    spoken = (word for word, _ in python_code.strings(script) if len(word) < 500)
    return told, {part for word in spoken for part in word.replace("\\", "/").split("/") if part}


def _more(before: str | None, after: str | None, shadowed: bool) -> str | None:
    """What the file does now and did not do before; None where it only says other things, or was no Python."""
    old, new = python_code.parse(before), python_code.parse(after)
    if after is None or (before is not None and old is None):
        return None
    if new is None:
        return "can no longer be read as Python"
    had, has = (_starts(tree) for tree in (old or ast.Module([], []), new))
    fresh = sorted(has - had)
    if fresh:
        return f"calls {', '.join(fresh)[:200]} now"
    tame = old is None or all(map(is_fact, old.body))
    typing = shadowed and any(isinstance(row, ast.ImportFrom) and row.module == "typing" for row in new.body)
    return "holds more than constants now" if tame and (typing or not _computes(new)) else None


def _starts(tree: ast.Module) -> set[str]:
    return {*starters(tree), *doubtful(tree)}


def _computes(module: ast.Module) -> bool:
    """Names for literals and for what is computed from them with functions that touch nothing else."""
    bound = {n.id for n in ast.walk(module) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return all(is_fact(row) or _computed(row, bound) for row in module.body)


def _computed(row: ast.stmt, bound: set[str]) -> bool:
    if not isinstance(row, ast.Assign) or not all(isinstance(t, ast.Name) for t in row.targets):
        return False
    for node in ast.walk(row.value):
        if isinstance(node, ast.Lambda | ast.Await | ast.NamedExpr | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(node, ast.Attribute) and node.attr not in _OF_TEXTS:
            return False
        if isinstance(node, ast.Call):
            function = node.func
            plain = isinstance(function, ast.Name) and function.id in _COMPUTED - bound
            if not (plain or isinstance(function, ast.Attribute)):
                return False
    return True
