"""Conditions that fail a Go test, and whether one of them fails it less often than another."""

from __future__ import annotations

import re
from collections import Counter

_LONG = 2000
_NUMBER = re.compile(r"[0-9][0-9_.]*(?:[eE][+-]?\d+)?")


def exact_sides(part: str) -> tuple[str, str] | None:
    """(what is compared, with what) of a condition that holds unless the two are the same."""
    for pattern in (_DIFFERS, _NOT_SAME, _DIFF):
        if (match := pattern.fullmatch(part)) and "nil" not in (match[1], match[2]):
            return match[1], match[2]
    return None


def parts_of(statement: str) -> tuple[str, list[str]]:
    """What an `if` sets first, and the reasons for which it fails."""
    before, _, condition = statement.removeprefix("if ").rpartition(" ; ")
    if (match := _DIFF_FIRST.fullmatch(before)) and condition == f'{match[1]} != ""':
        return "", [f'cmp . Diff ( {match[2]} ) != ""']
    return before, condition.split(" || ")


_PART = r"([^|&;]+?)"
_DIFFERS = re.compile(rf"{_PART} != {_PART}")
_NOT_SAME = re.compile(
    rf"! (?:reflect \. DeepEqual|(?:cmp|bytes|slices|maps|errors) \. (?:Equal|Is)) \( {_PART} , {_PART} \)"
)
_DIFF_FIRST = re.compile(r"(\w+) := cmp \. Diff \( (.+) \)")
_DIFF = re.compile(rf'cmp \. Diff \( {_PART} , {_PART} \) != ""')


def duller(before: str, after: str, exact: set[tuple[str, str]]) -> str:
    """Something is asked of a value that was compared as a whole, and nothing else compares it."""
    (first, old), (then, new) = parts_of(before), parts_of(after)
    if first != then or len(after) > _LONG:
        return ""
    for part in (p for p in old if p not in new):
        found = exact_sides(part)
        for side in found or ():
            if (first, side) in exact or _NUMBER.fullmatch(side) or side.startswith('"'):
                continue
            for less in (p for p in new if p not in old):
                for why, form in _LESS:
                    if re.fullmatch(form.replace("SIDE", re.escape(side)), less):
                        return why
    return ""


_LESS = (
    ("an exact comparison became a look at whether there is anything, or a bound", r'SIDE (?:==|<=?|>=?) (?:nil|0|""|-?[\d.]+)'),
    ("a comparison of the whole became one of the length", r"len \( SIDE \) (?:==|!=|<=?) .*"),
    ("an exact comparison became a look for a part", r"! (?:strings|bytes|slices) \. (?:Contains|HasPrefix|HasSuffix|ContainsAny) \( SIDE , .*"),
)  # fmt: skip


def in_parts(before: str, now: Counter[str]) -> bool:
    """The reasons to fail became conditions of their own."""
    first, reasons = parts_of(before)
    return not first and len(reasons) > 1 and all(f"if {r}" in now for r in reasons)


def looser(before: str, after: str) -> str:
    """Why the condition `after` fails a test less often than `before`; empty where that is not evident."""
    old, new = before.split(" "), after.split(" ")
    if new[: len(old)] == old and len(new) > len(old) and new[len(old)] == "&&":
        return "a further condition must hold for it to fail"
    if len(old) > len(new) and old[: len(new)] == new and old[len(new)] == "||":
        return "one of the reasons to fail is gone"
    if len(old) != len(new):
        for libraries in (("Equal", "Contains"), ("Equal", "NotNil"), ("Equal", "NotEmpty"), ("ErrorIs", "Error"), ("EqualError", "Error"), ("Equal", "True")):  # fmt: skip
            if _method(old) == libraries[0] and _method(new) == libraries[1]:
                return f"{libraries[0]} became {libraries[1]}"
        return ""
    different = [(a, b) for a, b in zip(old, new, strict=True) if a != b]
    if len(different) != 1:
        return ""
    was, now = different[0]
    if was == "!=" and now in ("<", ">"):
        return "an exact comparison became a bound"
    if was in ("Equal", "EqualValues", "Exactly") and now in ("NotEqual", "Contains", "Subset", "GreaterOrEqual", "LessOrEqual", "ObjectsAreEqual"):  # fmt: skip
        return f"{was} became {now}"
    if _NUMBER.fullmatch(was) and _NUMBER.fullmatch(now):
        at = next(i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b)
        try:
            grown = float(now.replace("_", "")) > float(was.replace("_", ""))
        except ValueError:
            return ""
        if old[at - 1] in (">", ">=") and grown and any(w in old for w in ("Abs", "Sub", "Since", "diff", "delta")):
            return "the tolerance grew"
        if _method(old) in ("InDelta", "InEpsilon", "WithinDuration") and grown and at >= len(old) - 3:
            return "the tolerance grew"
    return ""


def _method(words: list[str]) -> str:
    return words[2] if len(words) > 3 and words[1] == "." else ""
