"""Classes that a class of tests is built on, in its own module or in another module of tests of the target branch."""

from __future__ import annotations

import ast

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.formats import python_code

_MOST = 30


def ancestors(situation: Situation, path: str, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """Nearest first; one that cannot be found, or is no test's, is left out with what it is built on."""
    found: list[tuple[str, ast.ClassDef]] = []
    left = [(path, owner)]
    while left and len(found) < _MOST:
        place, node = left.pop(0)
        for base in node.bases:
            row = _class(situation, place, base.id) if isinstance(base, ast.Name) else None
            if row is not None and row not in found and row[1] is not owner:
                found.append(row)
                left.append(row)
    return [node for _, node in found]


def _class(situation: Situation, path: str, name: str) -> tuple[str, ast.ClassDef] | None:
    tree = python_code.parse(situation.source(path, base=True))
    if tree is None:
        return None
    own = next((n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == name), None)
    if own is not None:
        return path, own
    module, _, taken = python_code.imports(tree).get(name, "").rpartition(".")
    stem = module.strip(".").replace(".", "/")
    homes = [
        p
        for p in situation.evidence.base.entries
        if stem and (f"/{p}".endswith((f"/{stem}.py", f"/{stem}/__init__.py"))) and situation.kind(p) is not None
    ]
    home = python_code.parse(situation.source(homes[0], base=True)) if len(homes) == 1 else None
    there = next((n for n in home.body if isinstance(n, ast.ClassDef) and n.name == taken), None) if home else None
    return (homes[0], there) if there is not None else None
