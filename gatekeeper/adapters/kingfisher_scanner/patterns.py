"""What a rule's regular expression tells before it is loaded: words that a text must hold, and how large it will be.

The standard library's parser of regular expressions reads them. The rules are written for another engine, so whatever
the two might read differently tells nothing here, and such a rule is always loaded.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from re import _constants as ops  # type: ignore[attr-defined]  # the parser has no public name
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

MOST_WORDS = 64
"""Words of one clause; more are looked for in vain too often."""
MOST_CLAUSES = 4
"""Clauses of one pattern: the most telling ones."""

Clause = frozenset[str]
"""Words in lower case, ASCII; a text that matches holds one of them, once it is case-folded."""

# Start and end of a word, and counted boundaries, are plain text to the parser used here.
_FOREIGN = re.compile(r"\\[<>]|\\[bB]\{")
_FLAGS = re.compile(r"\(\?[ims]+\)")
_CASELESS = re.compile(r"\(\?i([ms]*):")
_REPEATED = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


def required(pattern: str) -> tuple[Clause, ...]:
    r"""What every match holds: a word of each clause, the most telling clause first. Empty where nothing is known.

    >>> [sorted(clause) for clause in required(r"(?i)\b(?:ghp_|xai-)[a-z0-9]{36}@(ab|cd)")]
    [['ghp_', 'xai-'], ['ab', 'cd'], ['@']]
    """
    tree = _parsed(pattern)
    return tuple(sorted(set(_clauses(tree)), key=_telling, reverse=True)[:MOST_CLAUSES])


def size(pattern: str) -> int:
    """Characters of the pattern with its counted repeats written out; 0 where it cannot be read."""
    return _size(_parsed(pattern))


def _parsed(pattern: str) -> Iterable[tuple[Any, Any]]:
    if _FOREIGN.search(pattern) or _nested_class(pattern):
        return ()
    # Case does not matter here, nor what a dot or an anchor means. A flag in the middle is an error to this parser.
    plain = _CASELESS.sub(r"(?\1:", _FLAGS.sub("", pattern)).replace(r"\z", r"\Z")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "this may mean something else one day": it does in the other engine
            return list(parser.parse(plain))
    except (re.error, Warning, OverflowError, RecursionError, ValueError):
        return ()


def _size(sequence: Iterable[tuple[Any, Any]]) -> int:
    total = 0
    for operation, argument in _flat(sequence):
        if operation is ops.BRANCH:
            total += sum(map(_size, argument[1]))
        elif operation in _REPEATED:
            least, most, inner = argument
            total += _size(inner) * max(1, least if most is ops.MAXREPEAT else most)
        else:
            total += 1
    return total


def _telling(clause: Clause) -> tuple[int, int, list[str]]:
    return min(map(len, clause)), -len(clause), sorted(clause)


def _nested_class(pattern: str) -> bool:
    """True where a bracket stands inside a class: a class of classes to the engine, a character to the parser."""
    inside, at = False, 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "[":
            if inside:
                return True
            inside = True
            # A closing bracket right at the start is a member.
            at += pattern.startswith("^", at + 1)
            at += pattern.startswith("]", at + 1)
        elif pattern[at] == "]":
            inside = False
        at += 1
    return False


def _clauses(sequence: Iterable[tuple[Any, Any]]) -> Iterator[Clause]:
    """What the parts of a sequence require, each for itself."""
    for part in _runs(sequence):
        if isinstance(part, str):
            if part.isascii():
                yield frozenset((part,))
            continue
        operation, argument = part
        if operation is ops.BRANCH:
            # Of each way the most telling clause; a way that requires nothing makes the whole require nothing.
            ways = [max(_clauses(way), key=_telling, default=None) for way in argument[1]]
            words = frozenset(word for way in ways for word in way or ())
            if all(ways) and len(words) <= MOST_WORDS:
                yield words
        elif operation in _REPEATED and argument[0] >= 1:
            yield from _clauses(argument[2])


def _runs(sequence: Iterable[tuple[Any, Any]]) -> Iterator[str | tuple[Any, Any]]:
    """Characters that follow each other as one string, everything else as it is; groups are opened."""
    run = ""
    for operation, argument in _flat(sequence):
        character = _character(operation, argument)
        if character is not None:
            run += character
        elif operation is not ops.AT:
            if run:
                yield run
            run = ""
            yield operation, argument
    if run:
        yield run


def _flat(sequence: Iterable[tuple[Any, Any]]) -> Iterator[tuple[Any, Any]]:
    for operation, argument in sequence:
        if operation is ops.SUBPATTERN:
            yield from _flat(argument[3])
        elif operation is ops.ATOMIC_GROUP:
            yield from _flat(argument)
        else:
            yield operation, argument


def _character(operation: Any, argument: Any) -> str | None:
    """The one character, in lower case, that a part stands for: `a`, `[a]` and `[aA]`."""
    if operation is ops.LITERAL:
        return chr(argument).lower()
    if operation is ops.IN and all(kind is ops.LITERAL for kind, _ in argument):
        folded = {chr(code).lower() for _, code in argument}
        if len(folded) == 1:
            return folded.pop()
    return None
