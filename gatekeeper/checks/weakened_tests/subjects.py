"""Tests that no longer run the code they were written for: shadowed imports and replaced functions of the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from gatekeeper.domain.evidence import Evidence
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.globs import test_id_matches
from gatekeeper.domain.ticket import PermitKind
from gatekeeper.domain.tree import Tree, text
from gatekeeper.errors import CouldNotCheck
from gatekeeper.formats.python_assertions import Double, ModuleAssertions
from gatekeeper.formats.python_code import definitions, imports, parse

_OUTSIDE = frozenset(
    [
        "sleep",
        "clock",
        "now",
        "today",
        "time",
        "timer",
        "utcnow",
        "random",
        "seed",
        "rng",
        "uuid",
        "request",
        "requests",
        "http",
        "https",
        "socket",
        "fetch",
        "connect",
        "connection",
        "download",
        "upload",
        "environ",
        "env",
        "getenv",
        "cwd",
        "home",
        "tmp",
        "tempdir",
        "file",
        "files",
        "disk",
        "stdin",
        "stdout",
        "input",
        "browser",
        "smtp",
        "mail",
        "dns",
    ]
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _packages(tree: Tree) -> set[str]:
    """Top-level packages and modules of the project, those of its tests left out."""
    found = set()
    for path in tree.entries:
        parts = path.removeprefix("src/").split("/")
        if path.endswith(".py") and parts[0] not in ("tests", "test", "testing", "conftest.py", "setup.py"):
            found.add(parts[0].removesuffix(".py"))
    return found


def shadowed(evidence: Evidence, path: str, old: ModuleAssertions, new: ModuleAssertions) -> Iterator[Finding]:
    """Names that tests took from the project and now take from the test module itself or from elsewhere."""
    packages = _packages(evidence.base)
    for name, origin in old.imports.items():
        if origin.split(".")[0] not in packages or name in old.bound:
            continue
        users = [b.name for b in new.bodies.values() if b.test and name in b.names and b.name in old.bodies]
        if not users:
            continue
        source = new.imports.get(name, "")
        if name in new.bound:
            now, line = f"defined in {path} itself", new.bound[name]
        elif source and source.split(".")[0] not in packages:
            now, line = f"imported from {source}", new.bodies[users[0]].line
        else:
            continue
        yield finding(
            "SUBJECT_SHADOWED", f"{path}: tests used {name} of {origin}; now it is {now}.", path=path, line=line, key=name,
            evidence=f"used by {', '.join(users[:5])}",
        )  # fmt: skip


def doubled(
    evidence: Evidence, before: Mapping[str, ModuleAssertions], after: Mapping[str, ModuleAssertions]
) -> Iterator[Finding]:
    """Functions of the project that tests of the base now replace, by themselves or through a fixture around them."""
    packages = _packages(evidence.merged)
    for path, module in after.items():
        old = before.get(path)
        known = {(d.target, d.function) for d in old.doubles} if old else set()
        for double in module.doubles:
            existing = old is not None and double.function in old.bodies
            if (double.target, double.function) in known or not (double.autouse or existing):
                continue
            target = double.target.lstrip(".")
            target = target.removeprefix("src.")
            if target.split(".")[0] not in packages:
                continue
            asserted = _asserted(old, double.function, target)
            if _outside(target) and not asserted:
                continue
            if (
                _defined(evidence.merged, target) or (asserted and _taken_over(evidence.merged, target))
            ) and not _permitted(evidence, path, double):
                who = double.function or "the module"
                yield finding(
                    "SUBJECT_MOCKED", f"{path}: {who} now replaces {target}, which the project defines.", path=path,
                    line=double.line, key=f"{double.function}:{target}",
                )  # fmt: skip


def _outside(target: str) -> bool:
    """True where the name says clock, network, files or chance: what a test may well replace."""
    return any(part.lower() in _OUTSIDE for part in _PART.findall(target.rsplit(".", 1)[-1]))


def _asserted(old: ModuleAssertions | None, function: str, target: str) -> bool:
    """The tests assert on what `target` itself gives: then it is what they test, whatever its name says."""
    if old is None:
        return False
    bodies = [old.bodies[function]] if function in old.bodies else [b for b in old.bodies.values() if b.test]
    name = re.compile(rf"(?<!\w){re.escape(target.rsplit('.', 1)[-1])}\(")
    return any(name.search(a.subject) for b in bodies for a in b.live)


def _taken_over(tree: Tree, target: str) -> bool:
    """True where a module of the project holds the name because it imports it: replaced there, it is replaced for the test."""
    stem, _, name = target.rpartition(".")
    place = stem.replace(".", "/")
    for path in (f"{place}.py", f"src/{place}.py", f"{place}/__init__.py", f"src/{place}/__init__.py"):
        try:
            module = parse(text(tree, path))
        except CouldNotCheck:
            return False
        if module is not None:
            return name in imports(module)
    return False


def _permitted(evidence: Evidence, path: str, double: Double) -> bool:
    test_id = f"{path}::{double.function.replace('.', '::')}"
    permits = evidence.ticket.permits_of(PermitKind.CHANGE_EXPECTATIONS)
    return any(test_id_matches(g, test_id) for p in permits for g in p.tests)


def _offers(module: ast.Module, package: str, name: str) -> bool:
    """A package hands on `name` from one of its own modules."""
    return any(
        isinstance(node, ast.ImportFrom)
        and (node.level > 0 or (node.module or "").split(".")[0] == package)
        and any((a.asname or a.name) == name for a in node.names)
        for node in module.body
    )


def _defined(tree: Tree, target: str) -> bool:
    """True where the project itself defines the function, method or class that `target` names."""
    parts = target.split(".")
    whole = "/".join(parts)
    if any(
        p in tree.entries
        for p in (f"{whole}.py", f"src/{whole}.py", f"{whole}/__init__.py", f"src/{whole}/__init__.py")
    ):
        return True  # the whole module, in sys.modules
    for cut in range(len(parts) - 1, 0, -1):
        stem, rest = "/".join(parts[:cut]), ".".join(parts[cut:])
        for path in (f"{stem}.py", f"{stem}/__init__.py", f"src/{stem}.py", f"src/{stem}/__init__.py"):
            try:
                source = text(tree, path)
            except CouldNotCheck:
                return False
            if source is None:
                continue
            module = parse(source)
            if module is not None and any(name == rest for name, _ in definitions(module)):
                return True
            # Taken over from a submodule of the same package: `pkg.name` with `from .mod import name`.
            return path.endswith("__init__.py") and module is not None and _offers(module, parts[0], rest)
    return False
