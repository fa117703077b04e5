"""Changes that only announce the end of something that the ticket names, or only carry out an end that was announced."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from gatekeeper.checks.suite_integrity.situation import BAD, Situation
from gatekeeper.checks.suite_integrity.sole_change import made_as_before, nothing_else_changed
from gatekeeper.checks.suite_integrity.users import ITSELF, PLAIN, bound_in, set_up, spoken, uses
from gatekeeper.domain.ticket import Ticket
from gatekeeper.formats import python_code
from gatekeeper.formats.python_announcing import NAME, ended_ways
from gatekeeper.formats.python_deprecations import (
    demanded_texts,
    demands_a_warning,
    named_for_deprecation,
    says_that_this_goes,
    warning_places,
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
_FOR_ALL = re.compile(r"\W*(?:the work|works?|(?:(?:make|ensure|so) (?:that )?)?(?:(?:all|the|every|of|whole|full|unit|test) ){0,3}(?:tests?|suite) (?:(?:must|should|shall|will|is|are) ){0,2}(?:pass|passes|green|run|runs))\W*", re.IGNORECASE)  # fmt: skip
"""Sentences that stand under any task and say nothing of this one."""
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
    return found if found and nothing_else_changed(situation) and made_as_before(situation) else {}


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
    if any(_says_that_it_goes_on(row) for row in _plan(situation.evidence.ticket)):
        return False
    found = announced_as_asked(situation)
    tree = python_code.parse(situation.source(path, base=True))
    test = situation.definition(path, name, base=True)
    if not found or tree is None or test is None or not fails_for_it(situation, found, ids):
        return False
    names = {n.rpartition(".")[2] for n in found}
    if uses(tree, name, names) != ITSELF:
        return False
    return of_the_project(situation, tree, name, test) <= names


def _says_that_it_goes_on(row: str) -> bool:
    sentences = re.split(r"(?<=[.;!])\s|\n", row)
    return any(re.search(_GOES_ON, s, re.IGNORECASE) and not _FOR_ALL.fullmatch(s[:2000]) for s in sentences)


def of_the_project(
    situation: Situation, tree: ast.Module, name: str, test: ast.AST, besides: Collection[str] = ()
) -> set[str]:
    """Last parts of the project's names that a test says, with what it calls and is given; `_UNKNOWN` for what is out of sight.

    Names with a part in `besides` (a module, or a class) are left out.
    """
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
                elif set(dotted.split(".")) & {*besides}:
                    continue
                elif dotted and situation.own(dotted.split(".")[0]) and dotted.split(".")[0] not in own:
                    found.add(dotted.rpartition(".")[2])
    return found


def leads_to(situation: Situation, tree: ast.Module, name: str, test: ast.AST, wanted: set[str]) -> bool:
    """The test says one of the names, or one of something in the target's code that says it, and so on."""
    own: dict[str, ast.AST] = {n.name: n for n in tree.body if isinstance(n, _DEFINITION)}
    owner = own.get(name.partition("::")[0]) if "::" in name else None
    reached = spoken(test, *(n for n in tree.body if set_up(n)), *([owner] if owner is not None else ()))
    paths = [p for p in situation.evidence.base.entries if p.endswith(".py") and situation.kind(p) is None]
    if len(paths) > _MOST_MODULES:
        return False
    table: dict[str, set[str]] = {n: spoken(d) | _imported(d) for n, d in own.items() if d is not owner}
    for module in (python_code.parse(situation.source(p, base=True)) for p in paths):
        for called, node in python_code.definitions(module) if module is not None else ():
            last = called.rpartition(".")[2]
            table[last] = table.get(last, set()) | spoken(node) | _imported(node)
    seen: set[str] = set()
    while more := reached - seen:
        if more & wanted:
            return True
        seen |= more
        reached = set().union(*(table.get(n, set()) for n in more))
    return False


def _imported(node: ast.AST) -> set[str]:
    return {
        a.name.rpartition(".")[2] for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names
    }


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
    """A message may have been cut or broken into lines on its way; a name in it is known to the run alone."""
    if NAME in message:
        return re.match(r"[\w.]{1,200}".join(map(re.escape, message.split(NAME))), row) is not None
    return bool(row) and (row.startswith(message) or message.startswith(row.removesuffix("...")))


def way_ended_as_asked(situation: Situation, path: str, name: str) -> bool:
    """A test that demands a warning of a way, where the change only takes out such ways and the ticket asks for their end.

    What the test names must lead to the function whose branch went, and a text that it wants to read must be that warning's.
    """
    test = situation.definition(path, name, base=True)
    tree = python_code.parse(situation.source(path, base=True))
    if test is None or tree is None or not demands_a_warning(test):
        return False
    said, plan = situation.ended_ways, _plan(situation.evidence.ticket)
    if not said or not all(says_that_this_goes(plan, m) for m in said):
        return False
    if not all(any(_matches(wanted, m) for m in said) for wanted in demanded_texts(test)):
        return False
    return leads_to(situation, tree, name, test, _ended_in(situation)) and nothing_else_changed(situation)


def warned_end_as_asked(situation: Situation, path: str, name: str) -> bool:
    """A test that demands a warning which went out of the code as the ticket asks, and that reaches none which is still there.

    The code may have changed in other ways as well: what still warns is to go on doing so, and keeps its tests.
    """
    test = situation.definition(path, name, base=True)
    tree = python_code.parse(situation.source(path, base=True))
    if test is None or tree is None:
        return False
    before, after = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for changed in situation.changed:
        if changed.endswith(".py") and situation.kind(changed) is None:
            for table, base in ((before, True), (after, False)):
                module = python_code.parse(situation.source(changed, base=base))
                table.update(warning_places(module) if module is not None else ())
    went, plan = before - after, _plan(situation.evidence.ticket)
    if not went or not all(m and says_that_this_goes(plan, m) for _, m in went):
        return False
    if not all(any(_matches(wanted, m) for _, m in went) for wanted in demanded_texts(test)):
        return False
    ended, kept = ({n.rpartition(".")[2] for n, _ in rows if n} for rows in (went, after))
    return leads_to(situation, tree, name, test, ended) and not leads_to(situation, tree, name, test, kept)


def _ended_in(situation: Situation) -> set[str]:
    rows = [ended_ways(old, new) for _, old, new in situation.code_pairs or ()]
    return {part for ways in rows for w in ways or () for part in w.where.split(".")[-1:]}


def _matches(pattern: str, message: str) -> bool:
    """The words of a pattern stand in the message; a pattern is not run, which a hostile one would make long."""
    return set(re.findall(r"\w{2,}", pattern.replace("\\", " "))) <= set(re.findall(r"\w{2,}", message))


def _plan(ticket: Ticket) -> tuple[str, ...]:
    return (ticket.title, ticket.goal, *ticket.acceptance)
