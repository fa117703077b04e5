"""Tests that went with what they test: the name they use is gone from the code, or using it is now warned against."""

from __future__ import annotations

import ast
import posixpath
import re

from gatekeeper.checks.suite_integrity.ancestors import ancestors
from gatekeeper.checks.suite_integrity.announced_ends import (
    of_the_project,
    warned_end_as_asked,
    way_ended_as_asked,
    went_with_the_announcement,
)
from gatekeeper.checks.suite_integrity.leftovers import only_left
from gatekeeper.checks.suite_integrity.living_on import lives_on
from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.checks.suite_integrity.users import ITSELF, uses
from gatekeeper.domain.instruments import InstrumentKind
from gatekeeper.domain.testrun import Outcome
from gatekeeper.formats import python_code
from gatekeeper.formats.python_deprecations import (
    announced,
    demands_a_warning,
    recorded_warnings,
    says_that_deprecated_things_go,
    warning_balance,
    wholly_announced,
    words_of_deprecated_things_that_go,
)

PRIVATE = "private"
"""What the test used is gone and was nobody's business outside the package, or had warned of its end, which the ticket asks for."""
_MISSING = re.compile(
    r"cannot import name '(?P<a>\w+)' from '(?P<m>[\w.]+)'|No module named '(?P<b>[\w.]+)'|module '[\w.]+' has no attribute '(?P<c>\w+)'"
    r"|type object '\w+' has no attribute '(?P<d>\w+)'|'\w+' object has no attribute '(?P<e>\w+)'|name '(?P<f>\w+)' is not defined"
)
_WARNED = re.compile(r"^(?:E\s+)?(?:\w+\.)*(?:Pending)?(?:Deprecation|Future)Warning\b", re.MULTILINE)
_UNWARNED = re.compile(
    r"^(?:E\s+)?(?:(?:[\w.]+\.)?Failed: )?DID NOT WARN|^(?:E\s+)?AssertionError: (?:Pending)?(?:Deprecation|Future)Warning not triggered"
    r"|^(?:E\s+)?TypeError: .*(?:missing \d+ .*argument|unexpected keyword argument|takes .* positional arguments?)",
    re.MULTILINE,
)
_BROKE = re.compile(r"^E\s+(?:AssertionError\b(?!: \w*Warning not triggered)|assert\b)", re.MULTILINE)
_NONE_KEPT = re.compile(
    r"^(?:E\s+)?(?:IndexError: |.*\b0 = len\(|.*\bassert \[\]|.*\b(?:False|None) = any\()", re.MULTILINE
)
_WORD = re.compile(r"\w+")


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
    if went_with_the_announcement(situation, path, name, ids) or way_ended_as_asked(situation, path, name):
        return PRIVATE
    if all(_WARNED.search(d) for d in details) and any(w in change.added for w in ("deprecated", "Deprecated")):
        return "the code now warns against what it uses"
    if (fewer := warned_way_went(situation, path, name, ids)) is not None:
        return (
            PRIVATE
            if fewer and warned_end_as_asked(situation, path, name)
            else "the code no longer gives the warning of deprecation that it demands"
        )
    missing, names = _missing(details)
    tree = python_code.parse(situation.source(path, base=True))
    if not names or not all(_MISSING.search(d) for d in details) or tree is None:
        return ""
    how = uses(tree, name, names, lambda c: ancestors(situation, path, c))
    if not how or not _went(situation, names):
        return ""
    if how == ITSELF and _may_end(situation, path, missing, names, name):
        return PRIVATE
    return f"the code no longer has {', '.join(sorted(names))}"


def warned_way_went(situation: Situation, path: str, name: str, ids: list[str]) -> bool | None:
    """For a test that fails because a warning of deprecation that the change took out does not come: whether fewer are given now.

    None for any other test, and for one that fails for any other reason: what else it asserts may be what broke.
    """
    test, restored = situation.definition(path, name, base=True), situation.restored
    if test is None or restored is None or not demands_a_warning(test):
        return None
    failed = [c.detail[-4000:] for i in ids if (c := restored.first(i)) is not None and c.outcome in BAD]
    recorded = recorded_warnings(test)
    if not failed or not all(_not_warned(d, recorded) for d in failed):
        return None
    code = [p for p in situation.changed if p.endswith(".py") and situation.kind(p) is None]
    balance = warning_balance((situation.source(p, base=True), situation.source(p)) for p in code)
    return None if balance is None or balance > 0 else balance < 0


def _not_warned(detail: str, recorded: frozenset[str]) -> bool:
    """The test's failure says that no warning came, or that the way to call that had warned is refused now."""
    if _UNWARNED.search(detail):
        # Something that it asserted within failed as well: that may be what broke.
        return _BROKE.search(detail) is None
    # Warnings that the test keeps itself: the line that failed speaks of them, and there are none.
    lines = re.findall(r"^>\s*(.*)$", detail, re.MULTILINE)
    return bool(lines) and bool(recorded & set(_WORD.findall(lines[-1]))) and _NONE_KEPT.search(detail) is not None


def lost_its_imports(situation: Situation, path: str) -> bool:
    """The target's module of tests does not load for what may go without a word; but for that it is as it was."""
    case = situation.restored.first(path) if situation.restored is not None else None
    old, new = (python_code.parse(situation.source(path, base=base)) for base in (True, False))
    if case is None or case.outcome not in BAD or old is None or new is None:
        return False
    missing, names = _missing([case.detail[-4000:]])
    if not names or not _went(situation, names):
        return False
    if not only_left(old, new, names) or changed_support(situation, path):
        return False
    return _may_end(situation, path, missing, names)


def changed_support(situation: Situation, path: str) -> list[str]:
    """Changed files that the tests of a module are set up from, and other modules of tests that it names."""
    source = situation.source(path, base=True) or ""
    found = []
    for other in situation.changed:
        kind = situation.kind(other)
        if other == path or kind is None or not kind.bends_runs or kind is InstrumentKind.RUNNER_SETTINGS:
            continue
        if kind is not InstrumentKind.TEST or posixpath.splitext(posixpath.basename(other))[0] in source:
            found.append(other)
    return found


def _may_end(situation: Situation, path: str, missing: dict[str, str], names: set[str], test: str = "") -> bool:
    """What is missing was nobody's business outside the package, or had warned of its end as asked, and did not only move.

    Of what was nobody's business a `test` (qualified name) may go that says nothing else of the project.
    """
    private = _private(situation, path, missing) and (not test or _of_these_alone(situation, path, test, names))
    return (private or _ended_as_asked(situation, names)) and not lives_on(situation, names)


def _of_these_alone(situation: Situation, path: str, name: str, names: set[str]) -> bool:
    tree, test = python_code.parse(situation.source(path, base=True)), situation.definition(path, name, base=True)
    return tree is not None and test is not None and not of_the_project(situation, tree, name, test, names)


def _missing(details: list[str]) -> tuple[dict[str, str], set[str]]:
    """(what was said -> the name that is missing, the last parts of these names)."""
    missing = {
        m.group(0): next(g for g in m.group("a", "b", "c", "d", "e", "f") if g)
        for d in details
        for m in _MISSING.finditer(d)
    }
    return missing, {n.rsplit(".", 1)[-1] for n in missing.values()}


def _went(situation: Situation, names: set[str]) -> bool:
    """The change itself took all of them out of the code."""
    files = {
        p.rsplit("/", 1)[-1].removesuffix(".py")
        for p, c in situation.changed.items()
        if c.new is None and p.endswith(".py")
    }
    return names <= situation.code_change.gone | files


def _ended_as_asked(situation: Situation, names: set[str]) -> bool:
    """Every one of the names had warned whoever used it, and the ticket says that deprecated things are to go: all, or these."""
    plan = _plan(situation)
    if not says_that_deprecated_things_go(plan):
        return False
    ended: set[str] = set()
    known: set[str] = set()
    owners: dict[str, set[str]] = {}
    for path, changed in situation.changed.items():
        tree = python_code.parse(situation.source(path, base=True)) if path.endswith(".py") else None
        if tree is not None and situation.kind(path) is None:
            stem = path.rsplit("/", 1)[-1].removesuffix(".py")
            ending = announced(tree)
            ended |= {n.rsplit(".", 1)[-1] for n in ending}
            for name, node in python_code.definitions(tree):
                owners.setdefault(name.rsplit(".", 1)[-1], set()).update({*name.split("."), stem})
                known |= {a.arg for a in ast.walk(getattr(node, "args", node)) if isinstance(a, ast.arg)}
            if changed.new is None and wholly_announced(tree):
                ended.add(stem)
            owners.setdefault(stem, set()).add(stem)
    if not names <= ended:
        return False
    return any(
        not (said := words & (owners.keys() | known)) or all(owners.get(n, {n}) & said for n in names)
        for words in words_of_deprecated_things_that_go(plan)
    )


def _plan(situation: Situation) -> tuple[str, ...]:
    ticket = situation.evidence.ticket
    return (ticket.title, ticket.goal, *ticket.acceptance)


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
