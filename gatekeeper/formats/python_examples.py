"""Tests that stand in the code itself: examples of docstrings, and what became of them in another version of the file."""

from __future__ import annotations

import ast
import doctest
from collections import Counter
from collections.abc import Iterator, Mapping

from gatekeeper.formats import python_code
from gatekeeper.records import dataclass

_MAX_TEXT = 1_000_000
_MAX_EXAMPLES = 5_000
Example = tuple[str, str]
"""(what is run, what it must print); an option of one example stands in what is run."""


@dataclass(frozen=True, slots=True)
class LostExample:
    """One example that is not there any more as it was."""

    place: str
    """Dotted name of the definition; empty for the module, or for a text."""
    was: Example
    now: Example | None
    """What stands in its place: the same call with another result, or another call; None where nothing does."""


def examples(text: str | None) -> list[Example]:
    """The examples of one text in their order; none for a text that has none, can not be read or is far too long."""
    if text is None or ">>>" not in text or len(text) > _MAX_TEXT:
        return []
    try:
        found = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return []
    return [(e.source.strip(), e.want.strip()) for e in found] if len(found) <= _MAX_EXAMPLES else []


def examples_of(source: str | None) -> dict[str, list[Example]]:
    """Dotted name of each definition whose docstring has examples ("" for the module) -> these."""
    if source is None or ">>>" not in source:
        return {}
    tree = python_code.parse(source)
    if tree is None:
        return {}
    return {name: found for name, text in _docstrings(tree) if (found := examples(text))}


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for name, node in (("", tree), *python_code.definitions(tree)):
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            yield name, first.value.value


def lost_examples(
    old: Mapping[str, list[Example]], new: Mapping[str, list[Example]], elsewhere: Counter[Example]
) -> list[LostExample]:
    """Examples of `old` that `new` does not have in their place, nor `elsewhere` spare, and those that run after something new.

    What is put in front of an example may bind anew a name that it uses, so that it tries something else.
    """
    spare = elsewhere.copy()
    found: list[LostExample] = []
    for place, was in old.items():
        now = new.get(place, [])
        gone = list((Counter(was) - Counter(now)).elements())
        come = list((Counter(now) - Counter(was)).elements())
        for example in gone:
            if spare[example]:
                spare[example] -= 1
                continue
            heir = next((n for n in come if n[0] == example[0]), None) or next(
                (n for n in come if n[1] == example[1] and n[1]), None
            )
            found.append(LostExample(place, example, heir))
        found += [LostExample(place, example, changed) for example, changed in _prepared(was, now)]
    return found


def _prepared(was: list[Example], now: list[Example]) -> Iterator[tuple[Example, Example]]:
    """(kept example, new one in front of it that binds or changes a name that it uses)."""
    known: Counter[Example] = Counter(was)
    before: list[Example] = []
    for example in now:
        if known[example]:
            known[example] -= 1
            used = _names(example[0])[1]
            changed = next((b for b in before if used & _names(b[0])[0]), None)
            if changed is not None:
                yield example, changed
        else:
            before.append(example)


def _names(source: str) -> tuple[set[str], set[str]]:
    """(names that the statements bind or store into, names that they read)."""
    tree = python_code.parse(source)
    if tree is None:
        return set(), set()
    bound: set[str] = set(python_code.imports(tree))
    read: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            bound.add(node.name)
        elif isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            bound |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return bound, read


def differ_in_tests(before: str | None, after: str | None) -> bool:
    """What would be tests in this file of code are not all there as they were: examples, or functions named like tests."""
    from gatekeeper.formats.python_source import read_module

    if before is None or (">>>" not in before and "test" not in before):
        return False
    if lost_examples(examples_of(before), examples_of(after), Counter()):
        return True
    if "def test" not in before:
        return False
    old, new = read_module(before), read_module(after)
    there = new.tests if new is not None else {}
    return old is not None and any(
        n not in there or (there[n].body, there[n].decorators) != (t.body, t.decorators) for n, t in old.tests.items()
    )
