"""Equality that looks at less than the value: what tests compare with `==` proves less then."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gatekeeper.checks.implementation_gaming.modules import Module, Modules
from gatekeeper.domain.finding import Finding, finding
from gatekeeper.formats.python_code import functions, walk

_VALUES = {"list", "tuple", "dict", "set", "frozenset", "str", "bytes", "bytearray", "int", "float", "complex", "UserList", "UserDict", "UserString", "OrderedDict", "defaultdict", "deque", "Decimal", "Fraction", "datetime", "date", "timedelta"}  # fmt: skip
_FORGETS = {"sorted", "set", "frozenset", "len", "Counter", "abs", "round", "int", "bool", "min", "max", "sum", "lower", "upper", "casefold", "strip", "lstrip", "rstrip", "isclose", "id", "any", "hash", "zip", "trunc", "floor", "ceil", "split", "partition", "rpartition", "rsplit", "startswith", "endswith", "get", "sub", "replace", "translate", "next", "isdisjoint", "issubset", "issuperset", "quantize", "first", "normalize", "removeprefix", "removesuffix", "ord", "match", "search", "fullmatch"}  # fmt: skip
"""Functions that give one answer for different values."""
_ASKED = re.compile(
    r"case[- ]?(?:in)?[- ]?sensitiv|(?:ignor|regardless)\w*.{0,20}\b(?:case|order|whitespace)|approx|toleran|epsilon|almost|\bclose\b"
    r"|equal|compar|__eq__|\bsame\b|fuzzy|\bidentity|normali[sz]",
    re.IGNORECASE,
)
"""Words of tickets that ask for another comparison."""
Method = ast.FunctionDef | ast.Lambda


def loose_equality(module: Module, modules: Modules) -> Iterator[Finding]:
    """New or changed `__eq__` and `__ne__` that forget a part, in classes whose objects are compared with plain values,
    and ones that compare fewer attributes than before. A ticket that speaks of comparing may ask for either.
    """
    ticket = modules.evidence.ticket
    asked = bool(_ASKED.search(" ".join([ticket.title, ticket.goal, *ticket.acceptance])))
    before = {c.name: c for c in walk(module.before) if isinstance(c, ast.ClassDef)}
    classes = {c.name: c for c in walk(module.after) if isinstance(c, ast.ClassDef)}
    for made in classes.values():
        old = before.get(made.name)
        had = {ast.dump(m) for _, m in _comparisons(old, module.before)} if old is not None else set()
        for name, method in _comparisons(made, module.after):
            if ast.dump(method) in had:
                continue
            value = _is_value(made, classes)
            forgets = _forgets(method)
            what = ast.unparse(forgets)[:80] if forgets is not None else ""
            doubted = value or (not asked and _foreign(method) and _given(made.name, module, modules))
            if forgets is not None and doubted and (not asked or _strict(forgets)):
                yield _found(module, made.name, name, method, f"compares {what!r} and not the value")
                continue
            lost = _lost(old, method, module) if old is not None and not asked else ""
            if lost:
                yield _found(module, made.name, name, method, f"no longer compares {lost!r}")


def _found(module: Module, owner: str, name: str, method: Method, what: str) -> Finding:
    return finding(
        "LOOSE_EQUALITY",
        f"`{owner}.{name}` {what}: a test that compares results with == proves less than it says.",
        path=module.path, line=method.lineno, key=owner, evidence=ast.unparse(method)[:300],
    )  # fmt: skip


def _strict(node: ast.AST) -> bool:
    """A part cut out: no ticket on comparing asks for that in its words."""
    return isinstance(node, ast.Subscript)


def _comparisons(made: ast.ClassDef, module: ast.Module) -> Iterator[tuple[str, Method]]:
    """`__eq__` and `__ne__` of a class, also where a lambda or a function of the module is put there."""
    known = {f.name: f for f in module.body if isinstance(f, ast.FunctionDef)}
    for node in made.body:
        if isinstance(node, ast.FunctionDef) and node.name in ("__eq__", "__ne__"):
            yield node.name, node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name) and target.id in ("__eq__", "__ne__"):
                    put = known.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
                    if isinstance(put, ast.FunctionDef | ast.Lambda):
                        yield target.id, put


def _is_value(made: ast.ClassDef, classes: dict[str, ast.ClassDef], depth: int = 0) -> bool:
    """The class is a kind of text, number or collection, perhaps through another class of the module."""
    names = [_last(b) for b in made.bases]
    return any(n in _VALUES for n in names) or (
        depth < 5 and any(_is_value(classes[n], classes, depth + 1) for n in names if n in classes and n != made.name)
    )


def _forgets(method: Method) -> ast.AST | None:
    """The first part of the method that keeps only something of a value."""
    body = method.body if isinstance(method.body, list) else [method.body]
    skipped = {id(n) for s in body for g in ast.walk(s) if isinstance(g, ast.Call) and _last(g.func) in ("isinstance", "type", "issubclass") for n in ast.walk(g)}  # fmt: skip
    ours = {a.arg for a in method.args.args}
    for node in (n for s in body for n in ast.walk(s)):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Call) and _last(node.func) in _FORGETS:
            return node
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            part = node.slice
            cut = isinstance(part, ast.Slice) and (part.lower is not None or part.upper is not None)
            if (cut or isinstance(part, ast.Constant | ast.UnaryOp)) and _root(node) in ours:
                return node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod | ast.BitAnd | ast.RShift):
            return node
        if isinstance(node, ast.Compare) and any(isinstance(o, ast.In | ast.Lt | ast.LtE | ast.Gt | ast.GtE) for o in node.ops) and _root(node.left) in ours:  # fmt: skip
            return node
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            return node
    return None


def _foreign(method: Method) -> bool:
    """The other side is compared as it is and not by attributes of its own, as only another kind of object is."""
    if len(method.args.args) != 2:
        return False
    other = method.args.args[1].arg
    body = method.body if isinstance(method.body, list) else [method.body]
    nodes = [n for s in body for n in ast.walk(s)]
    owned = {id(n.value) for n in nodes if isinstance(n, ast.Attribute) and not _called(n, nodes)}
    guards = {id(a) for n in nodes if isinstance(n, ast.Call) and _last(n.func) in ("isinstance", "type", "issubclass", "getattr", "hasattr") for a in n.args}  # fmt: skip
    return any(isinstance(n, ast.Name) and n.id == other and id(n) not in owned and id(n) not in guards for n in nodes)


def _called(node: ast.Attribute, nodes: list[ast.AST]) -> bool:
    return any(isinstance(n, ast.Call) and n.func is node for n in nodes)


def _given(name: str, module: Module, modules: Modules) -> bool:
    """A function that was there before now gives such an object, and did not."""
    for changed in (module, *modules.changed):
        before = {f.name: f for f in functions(changed.before)}
        for function in functions(changed.after):
            old = before.get(function.name)
            if old is None or name in {n.id for n in walk(old) if isinstance(n, ast.Name)}:
                continue
            if any(isinstance(n, ast.Return) and n.value is not None and any(isinstance(m, ast.Call) and _last(m.func) == name for m in ast.walk(n.value)) for n in walk(function)):  # fmt: skip
                return True
    return False


def _lost(old: ast.ClassDef, method: Method, module: Module) -> str:
    """An attribute that the class's equality looked at and no longer does, though objects still have it."""
    name = getattr(method, "name", "__eq__")
    former = next((m for n, m in _comparisons(old, module.before) if n == name), None)
    if former is None or not former.args.args or not method.args.args:
        return ""
    looked = _attributes(former)
    now = _attributes(method)
    # Another method or key that the comparison is left to may look at all of them.
    if not looked - now or now - looked:
        return ""
    set_there = {t.attr for n in walk(module.after) if isinstance(n, ast.Assign | ast.AnnAssign) for t in (n.targets if isinstance(n, ast.Assign) else [n.target]) if isinstance(t, ast.Attribute)}  # fmt: skip
    return next(iter(sorted((looked - now) & set_there)), "")


def _attributes(method: Method) -> set[str]:
    first = method.args.args[0].arg
    return {n.attr for n in ast.walk(method) if isinstance(n, ast.Attribute) and _last(n.value) == first}


def _root(node: ast.AST) -> str:
    """The name that an expression such as `str(other.x)[:1]` is about."""
    while True:
        if isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.args[0] if node.args else node.func
        else:
            return node.id if isinstance(node, ast.Name) else ""


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
