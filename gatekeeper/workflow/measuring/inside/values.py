"""What the value mutants call: a value in, another of the same type out. Whether any value did change is noted."""

from __future__ import annotations

import builtins
import collections
import enum
import functools
import itertools
import math
import pathlib
import types
from collections.abc import Callable, Iterator
from typing import Any

OTHER, FEWER, EMPTIED = "__gatekeeper_other__", "__gatekeeper_fewer__", "__gatekeeper_emptied__"
CHANGED, HELD, CALLED = 0, 1, 2
NOTES = 3
TOLD = 660
"""Bytes for the words of what a value became."""
MAX_TOLD = 160
"""Characters of them."""
MAX_DEPTH = 4
_EMPTY = (bool, int, float, str, bytes, list, tuple, dict, set)
_COUNTED = ("timedelta", "Decimal", "Fraction")
_LAZY = (types.GeneratorType, map, filter, zip, enumerate, itertools.chain, itertools.islice, reversed)
_CALLED = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, functools.partial)
_AWAITED = 0x80 | 0x100 | 0x200
"""Flags of code whose call makes what is awaited."""
_STANDARD = ("datetime", "_pydatetime", "decimal", "_pydecimal", "fractions")
_AS_IT_IS = object()


class Values:
    """The functions in `builtins`, which a mutant asks for.

    `note` is called with CHANGED for each value that did change, with HELD for each function whose answers will, and with
    CALLED when such a function is called. `tell` is called with each value that became another one, and with that one.
    """

    def __init__(self, note: Callable[[int], None], tell: Callable[[Any, Any], None] = lambda *_: None) -> None:
        self.note = note
        self.tell = tell

    def install(self) -> None:
        """Put them where mutants look. Processes that tests start do not have them, and change nothing."""
        for name, function in ((OTHER, self.other), (FEWER, self.fewer), (EMPTIED, self.emptied)):
            setattr(builtins, name, function)

    def other(self, value: Any) -> Any:
        """Another value of the same type; the same one where there is none to be had."""
        if type(value) in _LAZY:
            return self.fewer(value)
        if type(value) in _CALLED and not _code_flags(value) & _AWAITED:
            return self._answering_otherwise(value)
        try:
            changed = changed_value(value)
        except Exception:
            # At the end of what its type can hold.
            return value
        if changed is _AS_IT_IS:
            return value
        self.note(CHANGED)
        self.tell(value, changed)
        return changed

    def fewer(self, value: Any) -> Iterator[Any]:
        """The elements without the first."""
        rest = iter(value)
        for _ in rest:
            self.note(CHANGED)
            break
        yield from rest

    def emptied(self, value: Any) -> Any:
        """The empty value of its type, else None."""
        made = type(value)() if type(value) in _EMPTY else None
        if value is not made and (type(value) not in _EMPTY or bool(value)):
            self.note(CHANGED)
            return made
        return value

    def _answering_otherwise(self, function: Any) -> Any:
        """A function whose results are other ones."""
        self.note(HELD)

        def answer(*arguments: Any, **named: Any) -> Any:
            self.note(CALLED)
            return self.other(function(*arguments, **named))

        return functools.update_wrapper(answer, function)


def had_effect(notes: bytes) -> bool:
    """True where a value changed, or a function that is another one was kept and never asked.

    A function that was called and whose answers are what they were (it has none) is no other function.
    """
    return bool(notes[CHANGED] or (notes[HELD] and not notes[CALLED]))


def described(before: Any, after: Any) -> str:
    """`41 became 42`, with its place where it lies in a collection; empty where the two look alike. Bounded.

    Asks only values of the language's own types how they look, so that code of the tested program has no part in it.
    """
    where = ""
    for _ in range(MAX_DEPTH):
        place = _changed_place(before, after)
        if place is None:
            break
        key, before, after = place
        where += f"[{_look(key)}]"
    old, new = _look(before), _look(after)
    return "" if old == new else f"{where}{': ' if where else ''}{old} became {new}"[:MAX_TOLD]


def _changed_place(before: Any, after: Any) -> tuple[Any, Any, Any] | None:
    """Index or key, value there and value now, of the first element of two collections that is another object."""
    kind = type(before)
    if kind is not type(after) or kind not in (list, tuple, dict, collections.OrderedDict) or len(before) != len(after):
        return None
    if kind in (list, tuple):
        return next(((n, old, after[n]) for n, old in enumerate(before) if old is not after[n]), None)
    now = list(after.values())
    return next(((k, old, now[n]) for n, (k, old) in enumerate(before.items()) if old is not now[n]), None)


def _look(value: Any) -> str:
    kind = type(value)
    if kind is int and value.bit_length() > 200:
        return f"a number of {value.bit_length()} bits"
    if kind in (type(None), bool, int, float, complex):
        return repr(value)
    if kind in (str, bytes):
        # What changes is at the end; no more than that of what is long, which no scanner would know as a part.
        return repr(value) if len(value) <= 50 else f"a {kind.__name__} of {len(value)} ending in {value[-6:]!r}"
    if kind in (list, tuple, dict, set, frozenset, collections.OrderedDict):
        return f"a {kind.__name__} of {len(value)}"
    if isinstance(value, enum.Enum):
        return f"{kind.__name__}.{value._name_}"
    if kind.__module__ in _STANDARD:
        return str(value)
    return f"a {kind.__name__}"


def _code_flags(function: Any) -> int:
    """Flags of the code that a call runs; none for what is not written in Python."""
    while isinstance(function, (types.MethodType, functools.partial)):
        function = function.func if isinstance(function, functools.partial) else function.__func__
    return int(getattr(getattr(function, "__code__", None), "co_flags", 0))


def changed_value(value: Any, depth: int = 0) -> Any:
    """Another value of the same type, or `_AS_IT_IS`. Raises what the value's own code raises."""
    kind = type(value)
    if depth > MAX_DEPTH or value is None:
        return _AS_IT_IS
    if kind is bool:
        return not value
    if kind in (int, float, complex):
        # Neither "not a number" nor what is too large to tell from one more.
        more = value + 1
        return _AS_IT_IS if more == value or (kind is not int and math.isnan(abs(more))) else more
    if kind is str:
        return changed_text(value)
    if kind is bytes:
        return value[:-1] + bytes([value[-1] ^ 1]) if value else b"x"
    if isinstance(value, enum.Enum):
        return _other_member(value)
    if kind in (list, tuple, dict, collections.OrderedDict, set, frozenset):
        return _changed_collection(value, depth)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        fields = changed_value(tuple(value), depth + 1)
        return _AS_IT_IS if fields is _AS_IT_IS else tuple.__new__(kind, fields)
    return _changed_standard(value)


def changed_text(value: str) -> str:
    """A text of the same length and sort of letters, where it has a last letter or digit."""
    last = value[-1:]
    if not (last.isascii() and last.isalnum()):
        return value + "x"
    return value[:-1] + {"9": "0", "z": "a", "Z": "A"}.get(last, chr(ord(last) + 1))


def _other_member(value: Any) -> Any:
    members: list[Any] = list(type(value).__members__.values())
    if len(members) < 2 or value not in members:
        return _AS_IT_IS
    return members[(members.index(value) + 1) % len(members)]


def _changed_collection(value: Any, depth: int) -> Any:
    """One element changed in what has places or keys, one element less in what has none or cannot be changed.

    What is unpacked keeps its length where it can: a wrong number of values breaks any test.
    """
    kind = type(value)
    if not value:
        return _AS_IT_IS
    if kind in (set, frozenset):
        return kind(sorted(value, key=repr)[1:])
    if kind in (dict, collections.OrderedDict):
        for key in reversed(list(value)):
            changed = changed_value(value[key], depth + 1)
            if changed is not _AS_IT_IS:
                return kind((k, changed if k is key else v) for k, v in value.items())
        return kind(list(value.items())[:-1])
    for place in range(len(value) - 1, -1, -1):
        changed = changed_value(value[place], depth + 1)
        if changed is not _AS_IT_IS:
            return kind([*value[:place], changed, *value[place + 1 :]])
    return value[:-1] if kind is list else _AS_IT_IS


def _changed_standard(value: Any) -> Any:
    """Dates, amounts and paths of the standard library."""
    kind = type(value)
    name, home = kind.__name__, kind.__module__.split(".", 1)[0]
    if home in ("datetime", "decimal", "_pydatetime", "_pydecimal", "fractions") and name in _COUNTED:
        return value + kind(1)
    if home in ("datetime", "_pydatetime") and name in ("datetime", "date"):
        return value.replace(day=value.day % 27 + 1)
    if home in ("datetime", "_pydatetime") and name == "time":
        return value.replace(minute=(value.minute + 1) % 60)
    if isinstance(value, pathlib.PurePath) and home == "pathlib":
        return value.with_name(changed_text(value.name)) if value.name else _AS_IT_IS
    return _AS_IT_IS
