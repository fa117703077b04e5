"""Branches that no Python which anybody still runs takes: they ask `sys.version_info` for a version long gone."""

from __future__ import annotations

import ast

from gatekeeper.formats import python_code

OLDEST = (3, 9)
"""The oldest Python that counts; one that is older than this runs no project's tests here."""


def never_taken(tree: ast.Module) -> frozenset[int]:
    """Ids of the syntax nodes within such branches; none where `sys` may be anything but the module of that name."""
    if not _is_the_module(tree):
        return frozenset()
    found: set[int] = set()
    for node in python_code.walk(tree):
        if isinstance(node, ast.If):
            always = _always(node.test)
            dead = [] if always is None else node.orelse if always else node.body
            found.update(id(n) for statement in dead for n in ast.walk(statement))
    return frozenset(found)


def _always(test: ast.expr) -> bool | None:
    """What `sys.version_info >= (3, 8)` or `sys.version_info < (3, 8)` is for every Python from `OLDEST` on."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Attribute):
        return None
    version, asked = test.left, test.comparators[0]
    if version.attr != "version_info" or not isinstance(version.value, ast.Name) or version.value.id != "sys":
        return None
    if not isinstance(asked, ast.Tuple) or not asked.elts or len(asked.elts) > len(OLDEST):
        return None
    numbers = [e.value for e in asked.elts if isinstance(e, ast.Constant) and type(e.value) is int]
    if len(numbers) != len(asked.elts) or tuple(numbers) > OLDEST[: len(numbers)]:
        return None
    return {ast.GtE: True, ast.Lt: False}.get(type(test.ops[0]))


def _is_the_module(tree: ast.Module) -> bool:
    """`import sys` at the top binds the name, and nothing in the module binds it or speaks of the version otherwise."""
    if not any(isinstance(n, ast.Import) and any(a.name == "sys" and not a.asname for a in n.names) for n in tree.body):
        return False
    for node in python_code.walk(tree):
        if isinstance(node, ast.Name) and node.id == "sys" and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Attribute) and node.attr == "version_info" and not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Constant) and node.value in ("sys", "version_info"):
            return False
        if isinstance(node, ast.alias) and (
            node.name == "*" or ((node.asname or node.name) == "sys" and (node.asname or node.name != "sys"))
        ):
            return False
        if isinstance(node, ast.ImportFrom) and any(a.name == "sys" and not a.asname for a in node.names):
            return False
        if "sys" in (getattr(node, "arg", None), getattr(node, "rest", None)):
            return False
        if not isinstance(node, ast.alias) and getattr(node, "name", None) == "sys":
            return False
    return True
