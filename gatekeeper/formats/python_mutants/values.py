"""Faults in a value as it passes: another one of the same type, one element less, an empty one.

A fault that breaks whatever runs the line is noticed by a test that asserts nothing. These do not break it: a number is
one more, a text ends otherwise, a list lacks an element. What a value is, only the run shows, so the change is made there,
by functions that the program which runs the mutants brings. Where it does not (a process that a test starts by itself),
the value stays as it is. That program also says whether any value did change: where none did, the fault was none.
"""

from __future__ import annotations

import ast

from gatekeeper.formats.python_mutants.fault import Fault, is_named_message
from gatekeeper.formats.python_mutants.source import SourceText

OTHER = "__gatekeeper_other__"
"""`builtins` has it where mutants are run: a value in, another value of that type out."""
FEWER = "__gatekeeper_fewer__"
"""Likewise: an iterable without its first element."""
EMPTIED = "__gatekeeper_emptied__"
"""Likewise: the empty value of that type, None for a type that has none."""
_AS_IT_IS = "lambda v: v"
_EMPTIED_HERE = (
    "lambda v: type(v)() if v and type(v) in (bool, int, float, str, bytes, list, tuple, dict, set) else None"
)
_WORDS = {OTHER: "another value", FEWER: "one element less", EMPTIED: "leaving the value empty"}
_KINDS = {OTHER: "value changed", FEWER: "element left out", EMPTIED: "value emptied"}
_NO_VALUE = (ast.Starred, ast.Yield, ast.YieldFrom, ast.Await, ast.Constant, ast.GeneratorExp, ast.NamedExpr)


def passed(value: ast.expr, text: SourceText, how: str, rank: int, words: str = "", kind: str = "") -> list[Fault]:
    """The value goes through a function that changes it; no fault where its type is known not to allow it, or it is a message.

    `words` say what the value is part of, for people; `kind` takes the place of the usual name.
    """
    if isinstance(value, _NO_VALUE) or (how == EMPTIED and isinstance(value, ast.Tuple)) or is_named_message(value):
        return []
    start, end = text.span(value)
    own = text.of(start, end)
    fallback = _EMPTIED_HERE if how == EMPTIED else _AS_IT_IS
    inner = f"({own})" if isinstance(value, ast.Tuple) else own
    call = f'__import__("builtins").__dict__.get("{how}", {fallback})({inner})'
    return [Fault(start, end, call, kind or _KINDS[how], words or own, _WORDS[how], rank, by_value=True)]
