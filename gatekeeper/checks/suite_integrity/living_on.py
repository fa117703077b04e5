"""Whether what is gone from the code is only called otherwise now: then its tests have to follow it."""

from __future__ import annotations

import ast
from collections import Counter

from gatekeeper.checks.suite_integrity.situation import Situation
from gatekeeper.formats import python_code

_ALIKE = 0.6
"""Share of equal parts above which a definition of an added module is taken for one of a removed module."""
_FEW = 400
Definitions = dict[str, python_code.Definition]


def lives_on(situation: Situation, names: set[str]) -> bool:
    """A removed module of one of the names has definitions that came elsewhere, or a removed definition has its body elsewhere."""
    code = {p: c for p, c in situation.changed.items() if p.endswith(".py") and situation.kind(p) is None}
    old, new = ({p: _defined(situation, p, base=base) for p in code} for base in (True, False))
    came = [(p, n, d) for p in code for n, d in new[p].items() if n not in old[p]]
    called = {n for _, n, _ in came}
    bodies = {b for _, _, d in came if (b := _body(d))}
    added = [_parts(d) for p, _, d in came if code[p].old is None][:_FEW]
    for path, changed in code.items():
        module = changed.new is None and path.rsplit("/", 1)[-1].removesuffix(".py") in names
        for name, node in old[path].items():
            if module and (name in called or any(_alike(_parts(node), a) for a in added)):
                return True
            left = module or (name not in new[path] and name.rsplit(".", 1)[-1] in names)
            if left and _body(node) in bodies:
                return True
    return False


def _defined(situation: Situation, path: str, *, base: bool) -> Definitions:
    tree = python_code.parse(situation.source(path, base=base))
    found = list(python_code.definitions(tree))[:_FEW] if tree is not None else []
    return {n: d for n, d in found if not n.rsplit(".", 1)[-1].startswith("__")}


def _body(node: python_code.Definition) -> str:
    """What it does, whatever it is called; empty where that is nothing."""
    return ";".join(m for s in node.body if (m := python_code.meaning(s)) and not isinstance(s, ast.Pass))


def _parts(node: python_code.Definition) -> Counter[str]:
    return Counter(
        [type(n).__name__ for n in python_code.walk(node)]
        + [x for n in python_code.walk(node) for x in (getattr(n, "id", ""), getattr(n, "attr", ""), getattr(n, "arg", "")) if x]
    )  # fmt: skip


def _alike(one: Counter[str], other: Counter[str]) -> bool:
    return 2 * (one & other).total() >= _ALIKE * (one.total() + other.total()) > 0
