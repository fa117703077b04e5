"""Assertions that are the same in other words, and things of the tests' own in the place of the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from gatekeeper.checks.weakened_tests.compare import Loss, same_bound
from gatekeeper.formats.python_assertions import Assertion, Body, Kind
from gatekeeper.formats.python_assertions.helpers import OWN
from gatekeeper.formats.python_assertions.support import Place
from gatekeeper.formats.python_code import walk

_ROUNDED = re.compile(r"round\((.+), (-?\d+)(?:\.0)?\)")
_NAME = re.compile(r"[A-Za-z_]\w*")


def as_strong(a: Assertion, b: Assertion) -> bool:
    """`b` reads as `a` and allows no more, or asks for the rounded value of `a` within half of its last place."""
    if a.canonical == b.canonical:
        return same_bound(a, b)
    if a.kind is not Kind.EQUAL or b.kind is not Kind.NEAR or b.tolerance is None or a.expected != b.expected:
        return False
    rounded = _ROUNDED.fullmatch(a.subject)
    return rounded is not None and rounded[1] == b.subject and b.tolerance <= 0.5001 * 10.0 ** -min(int(rounded[2]), 50)


def faked(old: Body, new: Body, imported: dict[str, str], places: Iterable[Place]) -> list[Loss]:
    """Assertions that were made on something imported, and are made on a class that the tests define in its place."""
    own = {n.name: n for p in places for n in walk(p.tree) if isinstance(n, ast.ClassDef)}
    out: list[Loss] = []
    for a in old.live[:200]:
        words = _NAME.findall(a.subject)
        for b in new.live[:200]:
            others = _NAME.findall(b.subject)
            if b.kind is not a.kind or b.expected != a.expected or len(others) != len(words):
                continue
            apart = {(x, y) for x, y in zip(words, others, strict=True) if x != y}
            if len(apart) != 1:
                continue
            was, now = apart.pop()
            if was in imported and now == was + OWN:
                out.append(Loss("SUBJECT_MOCKED", b.line, a.text, f"the same of a {was} that the tests define"))
            elif was in imported and now in own and was[:1].isupper() and not _mentions(own[now], was):
                out.append(Loss("SUBJECT_MOCKED", b.line, a.text, f"{b.text} of {now}, which the tests define"))
    return out


def _mentions(node: ast.ClassDef, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
