"""Refusals in place of logic: an input that a test expects to be refused is refused by its name, before the code that
would have found out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.checks.implementation_gaming.modules import Module, Modules
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.domain.verdict import Effect
from gatekeeper.formats import python_code
from gatekeeper.formats.python_code import functions, walk

_WORD = re.compile(r"[\w-]*")
_COLLECTIONS = ("set", "frozenset", "tuple", "list", "dict")
_DULL: tuple[object, ...] = (0, 1, -1, 2, "", None, True, False)


def refusals(module: Module, modules: Modules) -> Iterator[Finding]:
    """Functions that were there before, and now refuse an input of the tests at sight as they refused it before.

    It blocks where the input is no plain word and the ticket does not name it.
    """
    before = {f.name: f for f in functions(module.before)}
    values = _named_values(module.after)
    for function in functions(module.after):
        old = before.get(function.name)
        if old is None or python_code.meaning(old) == python_code.meaning(function):
            continue
        known = {ast.dump(n) for n in walk(old)}
        refused_already = {_raised(n) for n in walk(old) if isinstance(n, ast.Raise)} - {""}
        for node in walk(function):
            if not isinstance(node, ast.If) or ast.dump(node) in known or not _only_raises(node.body, refused_already):
                continue
            found = _judged(node, values, modules)
            if found is not None:
                keys, effect = found
                yield finding(
                    "ANSWERS_HARDCODED",
                    f"{function.name}() refuses {', '.join(keys)[:120]} at sight, which the tests expect to be refused,"
                    " and would have found out itself.",
                    path=module.path, line=node.lineno, key=f"{function.name} {keys}", evidence=ast.unparse(node)[:300], effect=effect,
                )  # fmt: skip


def _judged(node: ast.If, values: dict[str, set[object]], modules: Modules) -> tuple[list[str], Effect | None] | None:
    keys, starts = _keys(node.test, values)
    telling = {k for k in keys if k not in _DULL}
    if not telling or len(telling) != len(keys):
        return None
    spoken = " ".join(
        [modules.evidence.ticket.title, modules.evidence.ticket.goal, *modules.evidence.ticket.acceptance]
    )
    named = all(str(k) in spoken for k in telling)
    words = all(isinstance(k, int) or (isinstance(k, str) and _WORD.fullmatch(k)) for k in telling)
    if starts:
        # The beginning of an input, where it is data and no word of a format such as a scheme.
        inputs = [v for v in modules.refused if isinstance(v, str) and v not in telling]
        data = all(isinstance(k, str) and re.search(r"[\d\s]", k) and any(v.startswith(k) or v.endswith(k) for v in inputs) for k in telling)  # fmt: skip
        return (sorted(map(repr, telling)), Effect.ASKS) if data and not named else None
    if not telling <= modules.refused or (words and named):
        return None
    return sorted(map(repr, telling)), Effect.ASKS if words or named else None


def _keys(test: ast.expr, values: dict[str, set[object]]) -> tuple[set[object], bool]:
    """Constants that the condition looks for, and whether as the beginning or end of a text."""
    if isinstance(test, ast.BoolOp):
        parts = [_keys(value, values) for value in test.values]
        if isinstance(test.op, ast.Or) and not all(keys for keys, _ in parts):
            return set(), False  # what is refused for another reason as well is a rule
        return {k for keys, _ in parts for k in keys}, any(starts for _, starts in parts)
    if isinstance(test, ast.Compare) and all(isinstance(o, ast.Eq | ast.In) for o in test.ops):
        sides = [test.left, *test.comparators]
        found = {c for side in sides if _constant(side) for c in python_code.constants(side)}
        named = {c for side in sides if isinstance(side, ast.Name | ast.Attribute) for c in values.get(_last(side), ())}
        return found | named, False
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.args and test.func.attr in ("startswith", "endswith"):  # fmt: skip
        return python_code.constants(test.args[0]), True
    return set(), False


def _constant(node: ast.expr) -> bool:
    """A constant or a collection of constants, and no call such as `float("inf")`."""
    return not any(isinstance(n, ast.Call | ast.Name | ast.Attribute) for n in ast.walk(node))


def _named_values(tree: ast.Module) -> dict[str, set[object]]:
    """Constants of each collection of constants, and each constant, that a module or class binds to a name."""
    found: dict[str, set[object]] = {}
    scopes = [tree.body, *(n.body for n in tree.body if isinstance(n, ast.ClassDef))]
    for node in [n for body in scopes for n in body]:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        value = node.value
        if isinstance(value, ast.Call) and _last(value.func) in _COLLECTIONS and len(value.args) == 1:
            value = value.args[0]
        if isinstance(value, ast.Dict):
            held = {c for k in value.keys if k is not None for c in python_code.constants(k)}
        elif isinstance(value, ast.Set | ast.Tuple | ast.List | ast.Constant):
            held = python_code.constants(value)
        else:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            found[_last(target)] = held
    return found


def _only_raises(body: list[ast.stmt], known: set[str]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Raise) and _raised(body[0]) in known


def _raised(node: ast.Raise) -> str:
    return _last(node.exc.func if isinstance(node.exc, ast.Call) else node.exc) if node.exc is not None else ""


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
