"""What a fault is, and the words for the parts of a syntax tree that several kinds of faults need."""

from __future__ import annotations

import ast

from gatekeeper.formats.python_mutants.source import SourceText
from gatekeeper.records import dataclass, replace

# Ranks: a fault that any test notices which looks at the result comes first, so that a line is not called untested for a
# subtle one alone; then other values of the same kind; then faults at the edges; last those that often change nothing, or
# that break whatever runs the line and so say nothing about what a test asserts.
GROSS, PLAIN, EDGE, WEAK = 0, 1, 2, 3
_MESSAGES = {"msg", "message", "errmsg", "err_msg", "error_message", "errormsg"}


@dataclass(frozen=True, slots=True)
class Fault:
    """Bytes `start` to `end` become `replacement`; `before` and `after` say it to people."""

    start: int
    end: int
    replacement: str
    kind: str
    before: str
    after: str
    rank: int
    by_value: bool = False
    """True where the fault changes a value as it passes, if it can: it is one only where some value did change."""

    def padded(self, filler: str) -> Fault:
        """With line ends added."""
        return replace(self, replacement=self.replacement + filler)


def swapped(node: ast.AST, text: SourceText, other: str, kind: str, rank: int) -> Fault:
    """The node replaced by `other`."""
    start, end = text.span(node)
    return Fault(start, end, other, kind, text.of(start, end), other, rank)


def is_text(node: ast.AST) -> bool:
    """A string or an f-string."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def is_message(node: ast.AST) -> bool:
    """A text for people: one that is put together (`"..." % x`, `"..." + x`, `"...".format(x)`), or named as one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add):
        return is_message(node.left) or is_message(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("format", "join", "format_map") and is_message(node.func.value)
    return is_text(node) or is_named_message(node)


def is_named_message(node: ast.AST) -> bool:
    """`msg`, `self.message`: a text for people, by its name."""
    return isinstance(node, ast.Name | ast.Attribute) and (
        (node.id if isinstance(node, ast.Name) else node.attr) in _MESSAGES
    )


def called(node: ast.Call) -> str:
    """The last name of what is called; empty where it has none."""
    function = node.func
    if isinstance(function, ast.Name):
        return function.id
    return function.attr if isinstance(function, ast.Attribute) else ""


_LOG = {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "print", "echo", "secho"}
_LOGGERS = {"logging", "logger", "log", "warnings", "_log", "_logger", "LOG", "LOGGER", "console", "click"}
TEXT_ARGUMENTS = {"help", "description", "msg", "message", "doc", "title", "epilog", "metavar", "reason", "name"}
"""Keywords whose texts are for people."""


def is_talk(statement: ast.stmt) -> bool:
    """Logging, printing, warning, and putting a message together: its texts are for people."""
    if isinstance(statement, ast.Assign):
        names = {t.id for t in statement.targets if isinstance(t, ast.Name)}
        return bool(names) and names <= _MESSAGES and is_message(statement.value)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return talks(statement.value)


def talks(call: ast.Call) -> bool:
    """A call that says something to people."""
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in ("print", "warn", "log", "debug")
    if not isinstance(function, ast.Attribute) or function.attr not in _LOG:
        return False
    owner = function.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return name in _LOGGERS or name.lower().endswith(("log", "logger"))
