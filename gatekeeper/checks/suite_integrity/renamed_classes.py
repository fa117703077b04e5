"""Classes of tests that got another name: tests that they inherit are told by nothing but their ids."""

from __future__ import annotations

import ast
from collections import Counter

from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.domain.testrun import Outcome
from gatekeeper.formats import python_code


def renamed_class(situation: Situation, path: str, name: str, ids: list[str]) -> bool:
    """Another class of the module has what this one had and no more, on the same bases, and its tests of these ids pass.

    The target's own tests of these ids must not fail on the change's code: what is merely called otherwise can not.
    """
    owner, _, rest = name.partition("::")
    merged, restored = situation.merged, situation.restored
    if not rest or merged is None or restored is None:
        return False
    if any(not (seen := restored.outcomes(i)) or any(seen[o] for o in BAD) for i in ids):
        return False
    before, after = _classes(situation, path, base=True), _classes(situation, path, base=False)
    old = before.get(owner)
    if old is None or owner in after:
        return False
    heirs = [n for n, new in after.items() if n not in before and _holds(new, old)]
    return len(heirs) == 1 and all(
        set(merged.outcomes(i.replace(f"{path}::{owner}::", f"{path}::{heirs[0]}::", 1))) == {Outcome.PASSED}
        for i in ids
    )


def _classes(situation: Situation, path: str, *, base: bool) -> dict[str, ast.ClassDef]:
    tree = python_code.parse(situation.source(path, base=base))
    return {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)} if tree is not None else {}


def _holds(new: ast.ClassDef, old: ast.ClassDef) -> bool:
    """The same bases, keywords and decorators, and the members of the old class as they were, none added."""
    frames = [[ast.dump(n) for n in (*c.bases, *c.keywords, *c.decorator_list)] for c in (old, new)]
    if frames[0] != frames[1]:
        return False
    members = [Counter(python_code.meaning(s) for s in c.body) for c in (old, new)]
    return members[0] == members[1]
