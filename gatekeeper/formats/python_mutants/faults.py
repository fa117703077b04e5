"""The faults of one statement: what could be wrong in it and how that would be written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gatekeeper.formats.python_mutants.calls import of_call
from gatekeeper.formats.python_mutants.expressions import of_expression
from gatekeeper.formats.python_mutants.fault import TEXT_ARGUMENTS, Fault, called, is_message, is_talk, is_text, talks
from gatekeeper.formats.python_mutants.source import SourceText
from gatekeeper.formats.python_mutants.statements import of_statement

_TYPE_CALLS = {"cast", "TypeVar", "NewType", "ParamSpec", "NamedTuple", "TypedDict", "namedtuple", "getLogger"}


def faults(statement: ast.stmt, text: SourceText) -> Iterator[Fault]:
    """All faults of one statement; statements below it are not looked at."""
    if is_talk(statement):
        return
    yield from of_statement(statement, text)
    in_raise = isinstance(statement, ast.Raise)
    for node, parent in _expressions(statement, in_raise=in_raise):
        if isinstance(node, ast.Call):
            yield from of_call(node, text, in_raise=in_raise)
        else:
            yield from of_expression(node, parent, text)


def _expressions(statement: ast.stmt, *, in_raise: bool) -> Iterator[tuple[ast.AST, ast.AST]]:
    """(node, parent) of the statement's own expressions, without annotations, texts for people and nested statements."""
    stack: list[tuple[ast.AST, ast.AST]] = []
    for name, value in ast.iter_fields(statement):
        if name in ("annotation", "returns", "decorator_list", "type_params", "bases", "keywords", "name"):
            continue
        if name == "handlers":
            continue
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.arguments):
                stack += [(d, one) for d in (*one.defaults, *one.kw_defaults) if d is not None]
            elif isinstance(one, ast.match_case):
                if one.guard is not None:
                    stack.append((one.guard, one))
            elif isinstance(one, ast.expr | ast.withitem):
                stack.append((one, statement))
    if isinstance(statement, ast.Assert):
        stack = [(statement.test, statement)]
    while stack:
        node, parent = stack.pop()
        if in_raise and is_message(node):
            continue
        if isinstance(node, ast.JoinedStr):
            # Before Python 3.12 positions inside are not those in the file.
            yield node, parent
            continue
        if isinstance(node, ast.Call) and (talks(node) or called(node) in _TYPE_CALLS):
            continue
        yield node, parent
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.arguments):
                stack += [(d, child) for d in (*child.defaults, *child.kw_defaults) if d is not None]
            elif isinstance(child, ast.keyword) and child.arg in TEXT_ARGUMENTS and is_text(child.value):
                continue
            elif isinstance(child, ast.expr | ast.keyword | ast.comprehension):
                stack.append((child, node))
