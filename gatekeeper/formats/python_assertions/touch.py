"""One thing that a module sets, and what it sets it on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import StrEnum

from gatekeeper.formats.python_assertions.expression import last_name
from gatekeeper.formats.python_code import folded
from gatekeeper.records import dataclass, replace


class On(StrEnum):
    """What a name is set on."""

    UNKNOWN = "unknown"
    OWN = "own"
    """`self` or `cls` of the class `Touch.root`."""
    CLASS = "class"
    """The class `Touch.root` of the same module."""
    OBJECT = "object"
    """A function, or an object that was made here: nothing that helpers are looked up in."""
    IMPORTED = "imported"
    """What is imported from the dotted name `Touch.root`."""
    GIVEN = "given"
    """As `IMPORTED`, handed to something that may set anything on it."""
    DOTTED = "dotted"
    """What the text `Touch.root` names; it may break off after a dot."""
    MODULES = "modules"
    """The module `Touch.root` in `sys.modules`; empty for a computed one."""


@dataclass(frozen=True, slots=True)
class Touch:
    """`name` set on something; an empty name is computed."""

    name: str
    on: On
    root: str = ""


ANY = Touch("", On.UNKNOWN)
"""Anything on anything."""


def into(space: tuple[On, str], key: ast.expr | None) -> Touch:
    """The entry `key` of a namespace that belongs to `space`, set."""
    name = (folded(key) if key is not None else None) or ""
    return Touch("", On.MODULES, name) if space[0] is On.MODULES else Touch(name, *space)


def entries(space: tuple[On, str], node: ast.Call) -> Iterator[Touch]:
    """Entries that a call like `update({"a": 1}, b=2)` or `pop("a")` sets or takes away."""
    keys: list[ast.expr | None] = []
    update = last_name(node) in ("update", "dict", "multiple")
    for given in node.args if update else node.args[:1]:
        keys += given.keys if isinstance(given, ast.Dict) else [None if update else given]
    keys += [ast.Constant(k.arg) if k.arg is not None else None for k in node.keywords if k.arg != "clear"]
    if not keys and not update:
        keys = [None]
    for key in keys:
        made = into(space, key)
        yield made if made.name or made.on is not On.DOTTED else replace(made, root=made.root + ".")


def dotted(text: str) -> Touch:
    """What a whole dotted name in a text says is set."""
    root, _, name = text.rpartition(".")
    return Touch(name, On.DOTTED, root)


def broken(node: ast.expr) -> Touch:
    """A dotted name of which only the beginning is spelled out."""
    first = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
    while isinstance(first, ast.BinOp):
        first = first.left
    text = folded(first) or ""
    return Touch("", On.DOTTED, text[: text.rfind(".") + 1]) if "." in text else ANY
