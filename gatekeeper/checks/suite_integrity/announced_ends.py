"""Changes that only announce the end of something that the ticket names, or only carry out an end that was announced."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping

from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.checks.suite_integrity.users import ITSELF, PLAIN, bound_in, set_up, uses
from gatekeeper.domain.ticket import Ticket
from gatekeeper.formats import python_code
from gatekeeper.formats.python_deprecations import (
    demands_a_warning,
    named_for_deprecation,
    says_that_this_goes,
    wholly_announced,
)

_MOST_MODULES = 400
"""Modules of the code that are searched for namesakes; in a larger project nothing is taken for named."""
_WARNED = r"^(?:E\s+)?(?:\w+\.)*(?:Pending)?(?:Deprecation|Future)Warning: (?P<said>.*)"
_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_OF_PYTEST = frozenset({"monkeypatch", "tmp_path", "capsys", "caplog", "recwarn", "request"})
_UNKNOWN = "?"
_FILLERS = frozenset({"the", "whole", "entire", "module", "package", "support"})
_GOES_ON = r"\b(?:keep\w*|kept|still|continu\w*|unchanged|as before|remain\w*|stays?|works?|working|until|tests?)\b"
Announced = Mapping[str, frozenset[str]]


def announced_as_asked(situation: Situation) -> Announced:
    """Names that warn of their end now, with what they say, where the change of the code does nothing else.

    Empty where it does, or where the ticket does not ask to deprecate each of them by name.
    """
    wanted = named_for_deprecation(_plan(situation.evidence.ticket))
    found: dict[str, frozenset[str]] = {}
    for path, told in ((situation.newly_warned or {}) if wanted else {}).items():
        stem, new = path.rsplit("/", 1)[-1].removesuffix(".py"), python_code.parse(situation.source(path))
        whole = wanted - _FILLERS == {stem} and new is not None and wholly_announced(new)
        if not whole and not all(_named(situation, n, wanted) for n in told):
            return {}
        for name, messages in told.items():
            found[name] = found.get(name, frozenset()) | messages
    return found


def _named(situation: Situation, name: str, wanted: frozenset[str]) -> bool:
    """The plan names it; of a method the class as well, unless nothing else in the code is called like it."""
    owner, _, last = name.rpartition(".")
    if last not in wanted:
        return False
    if owner and owner.rpartition(".")[2] in wanted:
        return True
    base = situation.evidence.base
    paths = [p for p in base.entries if p.endswith(".py") and situation.kind(p) is None]
    if len(paths) > _MOST_MODULES:
        return False
    trees = (python_code.parse(situation.source(p, base=True)) for p in paths)
    same = [n for t in trees if t is not None for n, _ in python_code.definitions(t) if n.rpartition(".")[2] == last]
    return len(same) <= 1


def went_with_the_announcement(situation: Situation, path: str, name: str, ids: Iterable[str]) -> bool:
    """A test of what the ticket asked to deprecate, and of nothing else of the project, that fails for that warning alone.

    Where the ticket says that it is to go on working, its tests are to go on as well.
    """
    if any(re.search(_GOES_ON, row, re.IGNORECASE) for row in _plan(situation.evidence.ticket)):
        return False
    found = announced_as_asked(situation)
    tree = python_code.parse(situation.source(path, base=True))
    test = situation.definition(path, name, base=True)
    if not found or tree is None or test is None or not fails_for_it(situation, found, ids):
        return False
    names = {n.rpartition(".")[2] for n in found}
    if uses(tree, name, names) != ITSELF:
        return False
    return _of_the_project(situation, tree, name, test) <= names


def _of_the_project(situation: Situation, tree: ast.Module, name: str, test: ast.AST) -> set[str]:
    """Last parts of the project's names that a test says, with what it calls and is given; `_UNKNOWN` for what is out of sight."""
    origins = python_code.imports(tree)
    own: dict[str, ast.AST] = {n.name: n for n in tree.body if isinstance(n, _DEFINITION)}
    stack: list[ast.AST] = [test, *(n for n in tree.body if set_up(n))]
    owner = own.get(name.partition("::")[0]) if "::" in name else None
    members: dict[str, ast.AST] = {}
    if isinstance(owner, ast.ClassDef):
        stack += [n for n in owner.body if set_up(n)]
        members = {n: m for m in owner.body if not isinstance(m, _DEFINITION) or not m.name.startswith("test") for n in bound_in(m)}  # fmt: skip
        if any(b not in PLAIN for b in (getattr(b, "attr", getattr(b, "id", "")) for b in owner.bases)):
            return {_UNKNOWN}
    given = {r for d in getattr(test, "decorator_list", ()) for c in ast.walk(d) if isinstance(c, ast.Constant) and isinstance(c.value, str) for r in re.findall(r"\w+", c.value)}  # fmt: skip
    fixtures = {a.arg for a in ast.walk(getattr(test, "args", test)) if isinstance(a, ast.arg)} - given - {"self"}
    found = {_UNKNOWN} if fixtures - own.keys() - members.keys() - _OF_PYTEST else set[str]()
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        inner = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute)}
        for one in ast.walk(node):
            said = getattr(one, "id", None) or getattr(one, "attr", None) or getattr(one, "arg", None)
            stack += [table[said] for table in (own, members) if said in table]
            if isinstance(one, ast.Name | ast.Attribute) and id(one) not in inner:
                dotted = python_code.dotted(one, origins)
                if dotted.startswith("."):
                    found.add(_UNKNOWN)
                elif dotted and situation.own(dotted.split(".")[0]) and dotted.split(".")[0] not in own:
                    found.add(dotted.rpartition(".")[2])
    return found


def fails_for_it(situation: Situation, found: Announced, ids: Iterable[str]) -> bool:
    """The target's own version of each of these tests fails on the change's code for one of the new warnings."""
    restored = situation.restored
    said = {" ".join(m.split()) for messages in found.values() for m in messages}
    cases = [restored.first(i) for i in ids] if restored is not None else []
    for case in cases:
        if case is None or case.outcome not in BAD:
            return False
        rows = re.findall(_WARNED, case.detail[-4000:], re.MULTILINE)
        if not rows or not all(any(_begins(" ".join(r.split()), m) for m in said) for r in rows):
            return False
    return bool(cases)


def _begins(row: str, message: str) -> bool:
    """A message may have been cut or broken into lines on its way."""
    return bool(row) and (row.startswith(message) or message.startswith(row.removesuffix("...")))


def way_ended_as_asked(situation: Situation, path: str, name: str) -> bool:
    """A test that demands a warning, where the change only takes out branches that warned and whose end the ticket asks for."""
    test = situation.definition(path, name, base=True)
    if test is None or not demands_a_warning(test):
        return False
    said, plan = situation.ended_ways, _plan(situation.evidence.ticket)
    return bool(said) and all(says_that_this_goes(plan, m) for m in said)


def _plan(ticket: Ticket) -> tuple[str, ...]:
    return (ticket.title, ticket.goal, *ticket.acceptance)
