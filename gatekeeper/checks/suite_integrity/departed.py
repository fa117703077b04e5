"""Tests that went with what they test: the name they use is gone from the code, or using it is now warned against."""

from __future__ import annotations

import ast
import re

from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.domain.testrun import Outcome
from gatekeeper.formats import python_code

PRIVATE = "private"
"""What the test used is gone and was nobody's business outside the package."""
_MISSING = re.compile(
    r"cannot import name '(?P<a>\w+)' from '(?P<m>[\w.]+)'|No module named '(?P<b>[\w.]+)'|module '[\w.]+' has no attribute '(?P<c>\w+)'"
    r"|type object '\w+' has no attribute '(?P<d>\w+)'|'\w+' object has no attribute '(?P<e>\w+)'|name '(?P<f>\w+)' is not defined"
)
_WARNED = re.compile(r"^(?:E\s+)?(?:\w+\.)*(?:Pending)?(?:Deprecation|Future)Warning\b", re.MULTILINE)


def run_in_their_own_module(situation: Situation, path: str, name: str, ids: list[str]) -> bool:
    """A class of tests that the module only took over from another one, which still runs every one of these ids itself."""
    owner, _, rest = name.partition("::")
    tree = python_code.parse(situation.source(path, base=True))
    merged = situation.merged
    if not rest or tree is None or merged is None or any(getattr(n, "name", "") == owner for n in tree.body):
        return False
    module, _, taken = python_code.imports(tree).get(owner, "").rpartition(".")
    home = f"{module.strip('.').replace('.', '/')}.py"
    if taken != owner or not module.strip("."):
        return False
    homes = {p for p, n in merged.functions if n == name and p != path and (p == home or p.endswith(f"/{home}"))}
    return len(homes) == 1 and all(
        set(merged.outcomes(i.replace(path, p, 1))) == {Outcome.PASSED} for p in homes for i in ids
    )


def departed(situation: Situation, path: str, name: str, ids: list[str]) -> str:
    """`PRIVATE`, words for a person, or "" where the target's own version fails for any other reason or passes."""
    restored = situation.restored
    cases = [restored.first(i) for i in ids] if restored is not None else []
    if not cases or any(c is None or c.outcome not in BAD for c in cases):
        return ""
    details = [c.detail[-4000:] for c in cases if c is not None]
    change = situation.code_change
    if all(_WARNED.search(d) for d in details) and any(w in change.added for w in ("deprecated", "Deprecated")):
        return "the code now warns against what it uses"
    missing = {
        m.group(0): next(g for g in m.group("a", "b", "c", "d", "e", "f") if g)
        for d in details
        for m in _MISSING.finditer(d)
    }
    names = {n.rsplit(".", 1)[-1] for n in missing.values()}
    if not names or not all(_MISSING.search(d) for d in details):
        return ""
    files = {
        p.rsplit("/", 1)[-1].removesuffix(".py")
        for p, c in situation.changed.items()
        if c.new is None and p.endswith(".py")
    }
    if not names <= change.gone | files or not _uses(situation, path, name, names):
        return ""
    return PRIVATE if _private(situation, path, missing) else f"the code no longer has {', '.join(sorted(names))}"


def _uses(situation: Situation, path: str, name: str, names: set[str]) -> bool:
    """The test, or the class around it, speaks of a name that is gone: its neighbours in the module do not go with it."""
    tree = python_code.parse(situation.source(path, base=True))
    top = next((n for n in tree.body if getattr(n, "name", "") == name.split("::", 1)[0]), None) if tree else None
    if tree is None or top is None:
        return False
    bound = {
        (a.asname or a.name).split(".")[0]
        for n in ast.walk(tree)
        if isinstance(n, ast.Import | ast.ImportFrom)
        for a in n.names
        if names & {*a.name.split("."), *((getattr(n, "module", None) or "").split("."))}
    }
    used = {
        x
        for n in ast.walk(top)
        for x in (getattr(n, "id", None), getattr(n, "attr", None), getattr(n, "arg", None))
        if x
    }
    return bool(used & (names | bound))


def _private(situation: Situation, path: str, missing: dict[str, str]) -> bool:
    """Every missing name was taken from a module, or is itself, of the kind that begins with an underscore."""
    tree = python_code.parse(situation.source(path, base=True))
    origins = python_code.imports(tree) if tree is not None else {}

    def hidden(dotted: str) -> bool:
        return any(p.startswith("_") and not p.startswith("__") for p in dotted.split("."))

    return all(
        hidden(name) or hidden(origins.get(name.rsplit(".", 1)[-1], "")) or hidden(said.split(" from ")[-1].strip("'"))
        for said, name in missing.items()
    )
