"""Whether what `Situation.code_pairs` compares is all of a change that can reach what the code does."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.formats import python_code
from gatekeeper.formats.python_announcing import narrowed
from gatekeeper.formats.python_warning_imports import bound_by_module

_MOST_MODULES = 400
_NOTES = re.compile(r"(?:docs?|change\w*(?:\.d)?|news\w*(?:\.d)?|releases?)/", re.IGNORECASE)
"""Folders of notes for people, at the root."""
_CODING = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_READS_DOCSTRINGS = ("__doc__", "getdoc", "docopt", "getcomments")


def nothing_else_changed(situation: Situation) -> bool:
    """No other file that code may read, no coding line, no docstring that is read, no name that others take from there."""
    return (
        not any(_may_be_read(situation, p) for p in situation.changed)
        and not any(_recoded(situation, p) for p, _, _ in situation.code_pairs or ())
        and not _said_elsewhere(situation)
    )


def made_as_before(situation: Situation) -> bool:
    """Nothing in the project makes, or is built on, a class that takes no arguments now in a way that gives it some."""
    names = {n.rpartition(".")[2] for _, old, new in situation.code_pairs or () for n in narrowed(old, new)}
    openings = {n for _, old, new in situation.code_pairs or () for n in _warned_classes(old, new)}
    if not names and not openings:
        return True
    for _, tree in _modules(situation, everything=True):
        if tree is None:
            return False
        bare = {id(n.func) for n in python_code.walk(tree) if isinstance(n, ast.Call) and not n.args and not n.keywords}
        for node in python_code.walk(tree):
            if isinstance(node, ast.Name | ast.Attribute) and _last(node) in names and id(node) not in bare:
                return False
            if isinstance(node, ast.ClassDef) and any(_last(b) in openings for b in node.bases):
                return False
    return True


def _warned_classes(old: ast.Module, new: ast.Module) -> set[str]:
    """Classes that have an `__init__` in `new` alone."""
    before, after = (
        {n for n, c in python_code.definitions(t) if n.endswith(".__init__") and not isinstance(c, ast.ClassDef)}
        for t in (old, new)
    )
    return {n.removesuffix(".__init__").rpartition(".")[2] for n in after - before}


def _may_be_read(situation: Situation, path: str) -> bool:
    """No code as its name goes, and yet where the code may read it: within a package, or in no place of notes."""
    kind = situation.kind(path)
    if kind is None:
        return not path.endswith(".py") and "/" in path and not _NOTES.match(path)
    name = posixpath.basename(path)
    test = kind is InstrumentKind.TEST and name.endswith(".py")
    return not test and name != "conftest.py" and _below_package(situation, path)


def _below_package(situation: Situation, path: str) -> bool:
    """A folder above it is a package of the code: one whose `__init__.py` is no instrument."""
    parts = path.split("/")[:-1]
    inits = ["/".join([*parts[: n + 1], "__init__.py"]) for n in range(len(parts))]
    return any(p in situation.evidence.base.entries and situation.kind(p) is None for p in inits)


def _recoded(situation: Situation, path: str) -> bool:
    """The line that says how the source is to be read is another one, or says anything but UTF-8."""
    rows = [_coding(situation.source(path, base=base) or "") for base in (True, False)]
    return rows[0] != rows[1] or any(r.lower().replace("_", "-") not in ("utf-8", "utf8") for r in rows[1])


def _coding(source: str) -> list[str]:
    return [m[1] for line in re.split(r"\r\n|\r|\n", source, maxsplit=2)[:2] if (m := _CODING.match(line))]


def _said_elsewhere(situation: Situation) -> bool:
    """Another module takes from a changed one a name that is gone there, or some module reads docstrings that changed."""
    pairs = situation.code_pairs or []
    gone = {
        posixpath.basename(p).removesuffix(".py"): names for p, old, new in pairs if (names := _top(old) - _top(new))
    }
    homes = {p.rsplit("/", 2)[-2] if p.endswith("/__init__.py") else posixpath.basename(p)[:-3] for p, _, _ in pairs}
    lost = frozenset[str]().union(*gone.values())
    documented = any(_docstrings(old) != _docstrings(new) for _, old, new in pairs)
    if not lost and not documented:
        return False
    for _, tree in _modules(situation, everything=False):
        if tree is None or (documented and _reads_docstrings(tree)) or (lost and _takes(tree, lost, homes)):
            return True
    return False


def _top(tree: ast.Module) -> frozenset[str]:
    return bound_by_module(tree) | {n.name for n in tree.body if isinstance(n, ast.FunctionDef)}


def _takes(tree: ast.Module, names: frozenset[str], homes: set[str]) -> bool:
    """It imports one of the names from such a module, or asks such a module for it."""
    for node in python_code.walk(tree):
        if isinstance(node, ast.ImportFrom):
            home = (node.module or "").rpartition(".")[2]
            if (not home or home in homes) and any(a.name in names or a.name == "*" for a in node.names):
                return True
        elif isinstance(node, ast.Attribute) and node.attr in names and _last(node.value) in homes:
            return True
    return False


def _docstrings(tree: ast.Module) -> list[str | None]:
    nodes: list[ast.AST] = [tree, *(n for n in python_code.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))]  # fmt: skip
    return sorted(ast.get_docstring(n, clean=False) or "" for n in nodes)  # type: ignore[arg-type, return-value]


def _reads_docstrings(tree: ast.Module) -> bool:
    for node in python_code.walk(tree):
        if (
            isinstance(node, ast.Name | ast.Attribute)
            and isinstance(node.ctx, ast.Load)
            and _last(node) in _READS_DOCSTRINGS
        ):
            return True
        if isinstance(node, ast.Constant) and node.value == "__doc__":
            return True
        if isinstance(node, ast.alias) and node.name in _READS_DOCSTRINGS:
            return True
    return False


def _modules(situation: Situation, *, everything: bool) -> Iterator[tuple[str, ast.Module | None]]:
    """Modules of the code after the change, with those of tests where `everything`; None for one that can not be read.

    A project of very many modules ends in None: nothing is known of it.
    """
    paths = [p for p in situation.evidence.merged.entries if p.endswith(".py")]
    chosen = [p for p in paths if everything or situation.kind(p) is None or _below_package(situation, p)]
    yield from _first(situation, chosen, base=False)
    if everything:
        yield from _first(situation, [p for p in situation.evidence.base.entries if p.endswith(".py")], base=True)


def _first(situation: Situation, paths: Iterable[str], *, base: bool) -> Iterator[tuple[str, ast.Module | None]]:
    for count, path in enumerate(paths):
        yield path, python_code.parse(situation.source(path, base=base)) if count < _MOST_MODULES else None
        if count >= _MOST_MODULES:
            return


def _last(node: ast.AST) -> str:
    plain = node.value if isinstance(node, ast.Subscript) else node
    return str(getattr(plain, "attr", getattr(plain, "id", "")))
